"""
A model of a logged target
==========================

The model predicts the logarithm of the rent. Its own curve is in log units, where effects add up;
``transform={"rent": np.exp}`` draws it in dollars. There a room adds more to a dear flat: the same
model, with spread between rows.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import rhale

rng = np.random.default_rng(0)
n = 2_000
flats = pd.DataFrame({"area": rng.uniform(20, 150, n), "distance": rng.uniform(0, 25, n)})
rent = np.exp(5.5 + 0.9 * np.log(flats["area"] / 20) - 0.05 * flats["distance"])
model = HistGradientBoostingRegressor(max_iter=60, random_state=0).fit(flats, np.log(rent))

logs = rhale.explain(model, flats, output_names="log rent")
dollars = rhale.explain(
    model, flats, transform={"rent": np.exp}, output_names="rent", units={"rent": "$"}
)

figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
logs.plot("area", kind="curve", ax=axes[0], smooth=True, legend=False)
dollars.plot("area", kind="curve", ax=axes[1], smooth=True, legend=False)
