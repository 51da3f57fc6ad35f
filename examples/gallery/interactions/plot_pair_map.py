"""
A pair as a map
===============

What do two features do together, beyond what each does alone? The effects of the single features
are taken off, so that the map of a model that only adds up is blank. Hatched cells have no rows: the
model may say anything there.
"""

import numpy as np
import pandas as pd

import rhale

rng = np.random.default_rng(0)
n = 3_000
age = rng.uniform(20, 80, n)
people = pd.DataFrame(
    {"age": age, "pressure": 90 + 0.6 * age + rng.normal(0, 12, n), "weight": rng.normal(75, 12, n)}
)


def risk(table):
    """High pressure counts most in young people."""
    high = np.maximum(table["pressure"] - 120, 0)
    return 0.3 * table["age"] + high * (1.2 - table["age"] / 80) + 0.1 * table["weight"]


ix = rhale.interactions(risk, people, units={"age": "years", "pressure": "mm Hg"})
ix["age", "pressure"].plot()
