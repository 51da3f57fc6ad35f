"""
How much of the model the curves tell
=====================================

May I read this model off its curves? The sum of all curves, at the values of each row, is compared
with the prediction. The nearer the points are to the diagonal, the less is hidden behind the means.
With the curves of each row's own regions more is told.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import rhale

rng = np.random.default_rng(0)
rows = pd.DataFrame(rng.uniform(-1, 1, (2_000, 4)), columns=["dose", "age", "weight", "pulse"])


def model(table):
    return table["dose"] * np.where(table["age"] > 0.2, 3, -1) + table["weight"] ** 2


fx = rhale.explain(model, rows, regions=True)
predictions = model(rows)
shares = {False: fx.explained_variance, True: fx.explained_with_regions}

figure, axes = plt.subplots(1, 2, figsize=(8, 4), sharey=True, layout="constrained")
for ax, (regions, share) in zip(axes, shares.items(), strict=True):
    told = fx.base() + fx.contributions(rows, regions=regions).sum(axis=1)
    ax.scatter(told, predictions, s=4, alpha=0.4, linewidth=0)
    ax.axline((0, 0), slope=1, color="black", linewidth=0.8)
    ax.set_title(f"{'with regions' if regions else 'curves alone'}: {share:.0%}", loc="left")
    ax.set_xlabel("average + sum of the curves")
axes[0].set_ylabel("prediction")
