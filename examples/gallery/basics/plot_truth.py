"""
A known function, and the truth over its curve
==============================================

Is the curve right? The problems in ``rhale.problems`` have an answer that follows from algebra. Of
f = sin(2πx1) + x1·x2 the mean effect of x1 is a sine, and that of x2 a straight line; the dashed
lines are these. The green bands are the part x1·x2, by which rows differ.
"""

import matplotlib.pyplot as plt

import rhale

problem = rhale.problems.sine_product()
X = problem.draw(1_000, seed=0)
fx = rhale.explain(problem.predict, X, gradient=problem.gradient, feature_names=problem.names)

figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
for ax, name in zip(axes, problem.names, strict=True):
    truth = problem.truths[name].curve
    fx.plot(name, kind="curve", ax=ax, truth=truth, limits="1%..99%", legend=name == "x1")
