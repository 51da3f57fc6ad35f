"""
The tree of rules
=================

Who differs may take two conditions. Here a cold day costs three times as much in homes that are old
*and* large. The picture has a curve for each region, and beside it the tree of rules that leads
there.
"""

import numpy as np
import pandas as pd

import rhale

rng = np.random.default_rng(0)
n = 3_000
homes = pd.DataFrame(
    {
        "cold days": rng.uniform(0, 120, n),
        "year": rng.integers(1900, 2025, n).astype(float),
        "area": rng.uniform(30, 200, n).round(),
        "floor": rng.uniform(0, 12, n),
    }
)


def bill(table):
    leaky = (table["year"] < 1970) & (table["area"] > 100)
    return table["cold days"] * np.where(leaky, 12, 4) + 2 * table["area"]


fx = rhale.explain(bill, homes, features=["cold days"], regions=True, units={"prediction": "€"})
fx.plot("cold days", regions=True)

# %%
for region in fx["cold days"].regions:
    print(f"{region.rule}: {region.effect.mean[0]:.1f} € a day")
