"""
All features of a model
=======================

One call explains every feature; one picture shows them, the largest effect first.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import rhale

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = HistGradientBoostingRegressor(max_iter=60, learning_rate=0.05, random_state=0).fit(X, y)
fx = rhale.explain(model, X)
fx.plot()
