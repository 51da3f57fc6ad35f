"""
A network of torch
==================

What did the network learn? Its gradients are taken for all features in one backward pass, so that
explaining costs little more than predicting. The dashed lines are the functions that the target
was made from; x2 does nothing, and the network has learned so.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch

import rhale

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (1_000, 3)).astype(np.float32)
y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.2 * rng.normal(size=1_000).astype(np.float32)

torch.manual_seed(0)
network = torch.nn.Sequential(torch.nn.Linear(3, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
optimizer = torch.optim.Adam(network.parameters(), lr=0.03)
rows, target = torch.from_numpy(X), torch.from_numpy(y)[:, None]
for _ in range(300):
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(network(rows), target).backward()
    optimizer.step()

fx = rhale.explain(network, X)
truths = {"x0": lambda x: np.sin(2 * x), "x1": lambda x: x**2, "x2": lambda x: 0 * x}
figure, axes = plt.subplots(1, 3, figsize=(9.5, 4.2), sharey=True, layout="constrained")
for ax, (name, truth) in zip(axes, truths.items(), strict=True):
    fx.plot(name, kind="curve", ax=ax, truth=truth, legend=False)
    ax.label_outer()
axes[0].set_ylim(-1.6, 3)
