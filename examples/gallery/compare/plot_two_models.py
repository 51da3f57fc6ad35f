"""
Champion and challenger
=======================

What would change for customers if the new model replaced the old one? Both are explained on the
same rows and compared at one zero. Above are the curves, below is the difference with its
interval, and where the rows are.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression

import rhale

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
champion = LinearRegression().fit(X, y)
challenger = HistGradientBoostingRegressor(max_iter=60, learning_rate=0.05, random_state=0).fit(
    X, y
)

cx = rhale.compare(
    {"champion": rhale.explain(champion, X), "challenger": rhale.explain(challenger, X)}
)
cx.plot("bmi")

# %%
# All features, the largest difference first.
cx.plot(top=6)
