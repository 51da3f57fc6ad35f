"""
Bins that are found, and bins that are given
============================================

How wide should bins be? Wide ones hide where the effect changes, narrow ones have few rows and much
noise. The usual bins of ``rhale`` may slope inside; ``rhale.Optimal`` is the choice of the paper,
with flat bins; ``rhale.Fixed`` has bins of one width. The slope is 4 up to 0.3 and 0 beyond.
"""

import matplotlib.pyplot as plt
import numpy as np

import rhale

rng = np.random.default_rng(0)
X = np.column_stack([rng.uniform(0, 1, 400), rng.normal(0, 1, 400)])


def model(rows):
    """Steep on the left, flat on the right, and rows differ by x1."""
    return 4 * np.minimum(rows[:, 0], 0.3) + rows[:, 0] * rows[:, 1]


def gradient(rows):
    return np.column_stack([4 * (rows[:, 0] < 0.3) + rows[:, 1], rows[:, 0]])


fx = rhale.explain(model, X, features=[0], gradient=gradient)
bins = {"found": None, "Optimal": rhale.Optimal(), "Fixed(40)": rhale.Fixed(40)}

figure, axes = plt.subplots(1, 3, figsize=(9.5, 4.2), sharey=True, layout="constrained")
for ax, (name, choice) in zip(axes, bins.items(), strict=True):
    again = fx if choice is None else fx.rebin(choice)
    title = f"{name}: {len(again['x0'].mean)} bins"
    again.plot("x0", kind="bins", ax=ax, title=title, legend=False)
