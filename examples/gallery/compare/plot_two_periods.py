"""
The same model on rows that moved
=================================

Incomes rose by a fifth, and predictions with them. Did the model change, or its customers? Curves
and rows are told apart: the curve is the same in both years, and the drift is seen in the rows below
it.
"""

import numpy as np
import pandas as pd

import rhale

rng = np.random.default_rng(0)


def customers(n, growth):
    income = rng.lognormal(3, 0.4, n) * growth
    return pd.DataFrame({"income": income, "age": rng.normal(45, 12, n).clip(18, 90)})


def model(rows):
    return 10 * np.log(rows["income"]) + 0.2 * rows["age"]


this_year, next_year = customers(1_500, 1.0), customers(1_500, 1.2)
cx = rhale.compare(
    {"this year": rhale.explain(model, this_year), "next year": rhale.explain(model, next_year)}
)
cx.plot("income")

# %%
print(cx)
