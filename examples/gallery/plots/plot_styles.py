"""
Styles for papers, slides and dark pages
========================================

The same curve in three styles. A style holds inside of its ``with`` block and leaves nothing behind.
Styles add up: ``rhale.style("slides", "dark")`` has large letters on a dark ground.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import rhale

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = HistGradientBoostingRegressor(max_iter=60, learning_rate=0.05, random_state=0).fit(X, y)
fx = rhale.explain(model, X, features=["bmi"])

with rhale.style("slides", "dark"):
    fx.plot("bmi", kind="curve")

# %%
# For print: small letters, a figure as wide as a column.
with rhale.style("paper"):
    fx.plot("bmi", kind="curve")

# %%
# Settings of Matplotlib go along with it.
with rhale.style("paper", colors="black", legend=False, rc={"font.family": "serif"}):
    fx.plot("bmi", kind="curve")
