"""
All features of a model
=======================

One call explains every feature, and one picture shows all of them, the largest effect first. All
panels share one y axis, in units of the prediction: what looks large is large. The green band says
how rows differ, the orange ribbon how well the mean curve is known.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import rhale

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = HistGradientBoostingRegressor(max_iter=60, learning_rate=0.05, random_state=0).fit(X, y)

fx = rhale.explain(model, X)
fx.plot(columns=4)

# %%
# The same as a table: the size of each effect with its error, and how far rows differ from it.
print(fx)
