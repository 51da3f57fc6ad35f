"""
A pair as lines
===============

What is a square metre worth, near the centre and far out? The curve of one feature is drawn at low,
middle and high values of the other. Lines that run in parallel would mean that the two do not act
together. Nothing is drawn where no rows are.
"""

import numpy as np
import pandas as pd

import rhale

rng = np.random.default_rng(0)
n = 2_000
homes = pd.DataFrame(
    {"area": rng.uniform(30, 200, n).round(), "distance": rng.exponential(8, n).round(2)}
)


def price(table):
    return 6 * table["area"] * np.exp(-table["distance"] / 10)


ix = rhale.interactions(price, homes, units={"area": "m²", "distance": "km"})
ix["area", "distance"].plot(kind="lines", by="distance")
