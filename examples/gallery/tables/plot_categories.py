"""
Categories, by effect and in an order of their own
==================================================

Which district is dear? Names have no order, so levels are sorted by their effect: the larger the
dot, the more rows it has. Levels with an order keep it, and the second panel has the steps from
each level to the next.
"""

import numpy as np
import pandas as pd

import rhale

rng = np.random.default_rng(0)
n = 2_000
flats = pd.DataFrame(
    {
        "district": rng.choice(
            ["harbour", "centre", "hills", "campus", "airport"], n, p=[0.2, 0.35, 0.3, 0.1, 0.05]
        ),
        "energy": rng.choice(list("ABCDE"), n),
        "area": rng.uniform(30, 120, n),
    }
)
VALUE = {"harbour": 2.0, "centre": 3.0, "hills": 2.2, "campus": 1.6, "airport": 1.2}


def price(table):
    wasted = table["energy"].map({"A": 0, "B": 5, "C": 8, "D": 20, "E": 30})
    return table["district"].map(VALUE) * table["area"] - wasted


fx = rhale.explain(price, flats, categorical={"energy": list("ABCDE")})
fx.plot("district")

# %%
# Energy classes have an order: the step from C to D costs most.
fx.plot("energy")
