"""
An effect that changes gradually
================================

Many differences have no edge: here exercise helps the more, the higher the income. Any rule would
cut that somewhere. The result says "gradually with income" instead, and the picture shows the curve
in thirds of it, from light to dark.
"""

import numpy as np
import pandas as pd

import rhale

rng = np.random.default_rng(0)
n = 2_000
people = pd.DataFrame(
    {
        "exercise": rng.uniform(0, 10, n).round(1),
        "income": rng.uniform(10, 90, n).round(),
        "height": rng.normal(170, 10, n).round(1),
    }
)


def risk(table):
    return 50 - table["exercise"] * table["income"] / 10 + table["height"] / 50


fx = rhale.explain(risk, people, regions=True)
fx.plot("exercise", regions=True)

# %%
print(fx["exercise"].regions.gradual)
