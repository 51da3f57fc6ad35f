"""
The part of the axis that has the rows
======================================

A few far rows can take most of a picture. ``limits="1%..99%"`` shows the axis between these
quantiles, ``limits=(20, 65)`` between values; the y axis follows what is seen. Nothing is measured
anew: rows outside count as before.
"""

import numpy as np
import pandas as pd

import rhale

rng = np.random.default_rng(0)
n = 2_000
trips = pd.DataFrame(
    {
        "delay": rng.standard_t(2, n) * 10,
        "stops": rng.integers(0, 6, n),
        "km": rng.uniform(1, 60, n),
    }
)


def rating(table):
    late = np.tanh(table["delay"] / 15) + 0.004 * np.maximum(table["delay"] - 60, 0)
    return 4 - late * (1 + table["km"] / 60) - 0.1 * table["stops"]


fx = rhale.explain(rating, trips)
fx.plot("delay", limits="1%..99%")

# %%
# The same feature over its whole axis. Outside of two hours there are hardly any rows.
fx.plot("delay")
