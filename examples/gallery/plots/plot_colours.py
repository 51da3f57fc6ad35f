"""
Own colours, title and size
===========================

Colours go by role: the effect, the spread between rows, the interval of the mean. Title, size and
legend are options of every picture, and what comes back are axes of Matplotlib for all the rest.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import rhale

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = HistGradientBoostingRegressor(max_iter=60, learning_rate=0.05, random_state=0).fit(X, y)
fx = rhale.explain(model, X, features=["bp"])

ax = fx.plot(
    "bp",
    kind="curve",
    colors={"effect": "black", "spread": "gold", "interval": "steelblue"},
    title="Blood pressure and the progress of diabetes",
    figsize=(6, 4),
)
ax.axvline(90, color="grey", linestyle=":")
ax.text(91, 0.95, "90 mm Hg", color="grey", va="top", transform=ax.get_xaxis_transform())
