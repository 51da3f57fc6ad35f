"""
Curves in a figure of your own
==============================

Every picture can be drawn on axes that you made: beside a histogram of the target, in a mosaic, in
the figure of a paper. A list of features goes to a list of axes, in the order of the list.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import rhale

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = HistGradientBoostingRegressor(max_iter=60, learning_rate=0.05, random_state=0).fit(X, y)
fx = rhale.explain(model, X)

figure, panels = plt.subplot_mosaic("AAB;CDE", figsize=(10, 6), layout="constrained")
fx.plot("bmi", kind="curve", ax=panels["A"])
panels["B"].hist(model.predict(X), bins=25, color="lightgrey", edgecolor="white")
panels["B"].set(xlabel="prediction", ylabel="rows")
fx.plot(["s5", "bp", "age"], ax=[panels[name] for name in "CDE"], legend=False)
