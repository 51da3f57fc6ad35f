"""
A model of standardised columns
===============================

The network saw columns with mean 0 and deviation 1; people read years and mm Hg. Pass the table as
the model takes it, and the fitted scaler as ``transform=``: axes, bins and slopes are in the units
of the raw table.
"""

from sklearn.datasets import load_diabetes
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import StandardScaler

import rhale

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X = X[["bmi", "bp", "s5", "age"]]
scaler = StandardScaler().fit(X)
standardised = scaler.transform(X)
model = MLPRegressor(hidden_layer_sizes=[16], alpha=1, solver="lbfgs", max_iter=800, random_state=0)
model.fit(standardised, y)

fx = rhale.explain(
    model,
    standardised,
    transform=scaler,
    feature_names=list(X.columns),
    units={"bmi": "kg/m²", "bp": "mm Hg", "age": "years"},
)
fx.plot(columns=2)
