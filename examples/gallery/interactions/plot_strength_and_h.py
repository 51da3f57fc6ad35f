"""
Strength beside the H statistic
===============================

Friedman's and Popescu's H asks the model about combinations that no row has. Where features go
together, it counts what the model does there. Both are drawn for one product, with more and more
correlation between its factors; the dashed line is the exact strength near the data, 1 - r².
"""

import matplotlib.pyplot as plt
import numpy as np

import rhale


def predict(rows):
    return rows[:, 0] * rows[:, 1] + rows[:, 2]


rng = np.random.default_rng(0)
correlations = np.array([0.0, 0.3, 0.6, 0.9])
strengths = {"ale": [], "h": []}
for r in correlations:
    rows = rng.multivariate_normal(np.zeros(3), [[1, r, 0], [r, 1, 0], [0, 0, 1]], size=2_000)
    for method, found in strengths.items():
        ix = rhale.interactions(predict, rows, pairs=[(0, 1)], method=method)
        found.append(ix["x0", "x1"].strength)

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(correlations, strengths["ale"], "o-", label='strength (method="ale")')
ax.plot(correlations, strengths["h"], "s-", label='H, unnormalised (method="h")')
ax.plot(correlations, 1 - correlations**2, "k--", linewidth=1, label="exact")
ax.set(xlabel="correlation of x0 and x1", ylabel="strength of x0·x1", ylim=(0, None))
ax.legend()
