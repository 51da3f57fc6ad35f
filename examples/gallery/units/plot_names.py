"""
Names and units on every axis
=============================

Columns are called bp and s5; readers want words. Give names and units once, in the call that
explains: axes, tables and pages use them, and effects are still found by the names of the table.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import rhale

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = HistGradientBoostingRegressor(max_iter=60, learning_rate=0.05, random_state=0).fit(X, y)

fx = rhale.explain(
    model,
    X,
    feature_names={"bmi": "Body mass index", "bp": "Blood pressure", "s5": "Log of triglycerides"},
    output_names="progression",
    units={"bmi": "kg/m²", "bp": "mm Hg", "progression": "points"},
)
fx.plot("bmi", kind="curve")

# %%
fx.plot(["Blood pressure", "s5"])
