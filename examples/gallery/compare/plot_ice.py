"""
ICE, c-ICE and d-ICE
====================

A line for each row: its prediction as one feature moves. Centred lines (c-ICE) show who goes up and
who goes down; their slopes (d-ICE) show where. RHALE's spread tells the same in one band, without
asking about rows that do not exist.
"""

import matplotlib.pyplot as plt
import numpy as np

import rhale

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (400, 3))


def model(rows):
    return 2 * rows[:, 0] ** 2 * rows[:, 1] + rows[:, 0] + rows[:, 2]


ice = rhale.explain(model, X, features=[0], method="ice")["x0"]

figure, axes = plt.subplots(1, 3, figsize=(9.5, 4.2), layout="constrained")
ice.plot(ax=axes[0], center=None, title="ICE", legend=False)
ice.plot(ax=axes[1], title="c-ICE", legend=False)
ice.plot(ax=axes[2], derivatives=True, title="d-ICE", legend=False)
