"""
Any function, with and without its gradient
===========================================

A model is whatever answers rows with numbers. Without a gradient, local effects are differences of
predictions over small windows; with one they are exact. The curves of both agree, so a gradient is
worth it for speed and for fine detail.
"""

import numpy as np

import rhale

rng = np.random.default_rng(0)
X = rng.normal(size=(1_000, 2))


def model(rows):
    return np.tanh(3 * rows[:, 0]) + rows[:, 0] * rows[:, 1] / 2


def gradient(rows):
    slope = 3 / np.cosh(3 * rows[:, 0]) ** 2 + rows[:, 1] / 2
    return np.column_stack([slope, rows[:, 0] / 2])


asked = rhale.explain(model, X)
exact = rhale.explain(model, X, gradient=gradient)
exact.compare({"predictions only": asked}, "x0", name="gradient")
