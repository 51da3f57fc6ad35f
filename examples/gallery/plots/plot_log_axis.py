"""
A logarithmic axis where rows need one
======================================

Incomes, areas and amounts have long tails. On a plain axis most rows stand in a corner of the
picture. Where that is so, a logarithmic axis is taken without being asked for; ``xscale="linear"``
goes back.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import rhale

rng = np.random.default_rng(0)
flats = pd.DataFrame(
    {"area": rng.lognormal(4.2, 0.9, 2_000).round(1), "floor": rng.uniform(0, 20, 2_000)}
)


def price(table):
    return 4 * np.log(table["area"]) + 0.05 * table["floor"] * np.sqrt(table["area"]) / 8


fx = rhale.explain(price, flats, features=["area"])

figure, axes = plt.subplots(1, 2, figsize=(8, 4), sharey=True, layout="constrained")
fx.plot("area", kind="curve", ax=axes[0], title="chosen by itself", legend=False)
fx.plot("area", kind="curve", ax=axes[1], xscale="linear", title="as asked: linear", legend=False)
axes[1].label_outer()
