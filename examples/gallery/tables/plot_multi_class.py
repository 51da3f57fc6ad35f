"""
Several classes at once
=======================

Which class does a feature speak for? All classes come from one pass over the rows: one feature has
a panel for each of them, and their curves add up to zero, since probabilities add up to one.
"""

from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rhale

X, y = load_wine(return_X_y=True, as_frame=True)
X = X[["alcohol", "color_intensity", "flavanoids", "proline"]]
growers = y.map({0: "Barolo", 1: "Grignolino", 2: "Barbera"})
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, growers)

fx = rhale.explain(model, X)
fx.plot("color_intensity")

# %%
# All features, with a colour for each class.
fx.plot(columns=2)
