"""
Which features account for the spread of a feature
==================================================

Rows differ in the effect of area: because of what? The partners of a feature are the other features
that its spread goes with. No further question is put to the model, so this is a quick screen before
``rhale.interactions`` measures pairs.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import rhale

rng = np.random.default_rng(0)
n = 2_000
homes = pd.DataFrame(
    {
        "area": rng.uniform(30, 200, n),
        "distance": rng.exponential(8, n),
        "view": rng.uniform(0, 1, n),
        "floor": rng.uniform(0, 12, n),
        "year": rng.uniform(1900, 2025, n),
    }
)


def price(table):
    per_metre = 6 * np.exp(-table["distance"] / 10) + 2 * table["view"] ** 2
    return table["area"] * per_metre + 3 * table["floor"]


fx = rhale.explain(price, homes)
partners = fx.partners("area")
shares = {one.feature: one.share for one in partners}

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.barh(list(shares), list(shares.values()), color="seagreen")
ax.invert_yaxis()
ax.set(xlabel="share of the spread of area that goes with it", xlim=(0, 1))

# %%
print(partners)
