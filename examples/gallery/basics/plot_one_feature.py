"""
One feature and its two panels
==============================

What does the body mass index do to the prediction, and where does it do so? The upper panel has the
curve: what the feature adds to the prediction, zero on average. The lower panel has the bins that
the curve is made of: the mean change for one more unit, and how rows differ from it.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import rhale

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = HistGradientBoostingRegressor(max_iter=60, learning_rate=0.05, random_state=0).fit(X, y)

fx = rhale.explain(model, X, features=["bmi"])
fx.plot("bmi")

# %%
# The numbers behind the picture, at values of your own: the curve, the spread between rows, and the
# interval of the mean.
bmi = fx["bmi"]
print(bmi.curve([20, 30]).round(1))
print(bmi.spread([20, 30]).round(1))
low, high = bmi.ci([20, 30])
print(low.round(1), high.round(1))
