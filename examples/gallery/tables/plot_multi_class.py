"""
Several classes at once
=======================

Which class does a feature speak for? All classes come from one pass over the rows, and each
has its colour. The curves of a feature add up to zero, since probabilities add up to one.
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
fx.plot(columns=2)

# %%
# One feature, with a panel for each class and the spread between rows.
fx.plot("color_intensity")
