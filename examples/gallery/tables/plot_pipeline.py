"""
A pipeline on its raw columns
=============================

The model sees one-hot columns, filled gaps and days; people see districts, areas and dates. Explain
the whole pipeline on the raw table: every raw column has one picture, whatever becomes of it on the
way.
"""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import rhale

rng = np.random.default_rng(0)
n = 1_500
flats = pd.DataFrame(
    {
        "area": rng.lognormal(4, 0.4, n).round(1),
        "rooms": rng.integers(1, 6, n),
        "district": rng.choice(["harbour", "centre", "hills", "campus"], n),
        "balcony": rng.random(n) < 0.4,
    }
)
price = 3 * flats["area"] + 10 * flats["rooms"] + 60 * (flats["district"] == "harbour")
price += 20 * flats["balcony"] + rng.normal(0, 10, n)
flats.loc[rng.random(n) < 0.1, "area"] = np.nan

model = make_pipeline(
    make_column_transformer(
        (OneHotEncoder(), ["district"]), (SimpleImputer(), ["area"]), remainder="passthrough"
    ),
    RandomForestRegressor(30, min_samples_leaf=5, random_state=0),
).fit(flats, price)

fx = rhale.explain(model, flats)
fx.plot(columns=2)
