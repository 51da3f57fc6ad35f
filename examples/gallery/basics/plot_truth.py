"""
A known function, and the truth over its curve
==============================================

Is the curve right? For some functions the answer follows from algebra. Of f = sin(2πx1) + x1·x2,
with x1 uniform and x2 independent of it, the mean effect of x1 is a sine, and that of x2 a straight
line; the dashed lines are these. The green bands are the part x1·x2, by which rows differ.
"""

import matplotlib.pyplot as plt
import numpy as np

import rhale

rng = np.random.default_rng(0)
X = np.column_stack([rng.uniform(size=1_000), rng.normal(scale=0.5, size=1_000)])


def predict(rows):
    x1, x2 = rows.T
    return np.sin(2 * np.pi * x1) + x1 * x2


def gradient(rows):
    x1, x2 = rows.T
    return np.column_stack([2 * np.pi * np.cos(2 * np.pi * x1) + x2, x1])


truths = {"x1": lambda x1: np.sin(2 * np.pi * x1), "x2": lambda x2: x2 / 2}
fx = rhale.explain(predict, X, gradient=gradient, feature_names=list(truths))

figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
for ax, (name, truth) in zip(axes, truths.items(), strict=True):
    fx.plot(name, kind="curve", ax=ax, truth=truth, limits="1%..99%", legend=name == "x1")
