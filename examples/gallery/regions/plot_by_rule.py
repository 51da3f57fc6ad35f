"""
Regions by a rule
=================

Whose risk rises with age? The mean curve is true of nobody here: it lies between men and women.
``regions=True`` searches for rules on other features that tell apart rows whose effect differs, and
asks rows that the search did not see whether the rule holds.
"""

import numpy as np
import pandas as pd

import rhale

rng = np.random.default_rng(0)
n = 2_000
people = pd.DataFrame(
    {
        "age": rng.uniform(18, 80, n).round(1),
        "sex": rng.choice(["female", "male"], n),
        "exercise": rng.uniform(0, 10, n).round(1),
    }
)


def risk(table):
    """Risk rises twice as fast for men, from 40 on."""
    slope = np.where(table["sex"] == "male", 2.0, 1.0)
    return slope * np.maximum(table["age"] - 40, 0) - 2 * table["exercise"]


fx = rhale.explain(risk, people, regions=True)
fx.plot("age", regions=True)

# %%
# The table names the rule and the share of the spread that it explains.
print(fx)
