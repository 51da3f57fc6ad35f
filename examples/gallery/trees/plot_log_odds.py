"""
Probabilities and log-odds
==========================

On the scale of probabilities a feature seems to do nothing where the model is already sure. On the
scale of log-odds boosted trees add up. These have one split each, so that no two features act
together: there the effect is the same for all rows. ``response="log_odds"`` asks for it.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

import rhale

rng = np.random.default_rng(0)
n = 3_000
payments = pd.DataFrame(
    {"amount": rng.uniform(1, 500, n), "hour": rng.integers(0, 24, n), "age": rng.uniform(0, 9, n)}
)
logit = payments["amount"] / 60 - payments["age"] - 2 * (payments["hour"] > 5)
fraud = rng.random(n) < 1 / (1 + np.exp(-logit))
model = HistGradientBoostingClassifier(max_iter=80, max_depth=1).fit(payments, fraud)

figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
for ax, response in zip(axes, ("predict_proba", "log_odds"), strict=True):
    fx = rhale.explain(model, payments, response=response, output_names="fraud")
    fx.plot("amount", kind="curve", ax=ax, smooth=True, legend=False)
