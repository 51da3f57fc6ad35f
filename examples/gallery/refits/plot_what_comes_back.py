"""
Which features come back
========================

A boosted model uses every feature a little, also one that does nothing. Dots are the importance of
each feature, bars its interval between retrainings. A full diamond is significant: the effect comes
back when the learner sees other rows; a hollow one is not significant.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import rhale

rng = np.random.default_rng(0)
n = 600
homes = pd.DataFrame(
    {
        "area": rng.uniform(30, 200, n).round(),
        "distance": rng.exponential(8, n).round(2),
        "year": rng.integers(1900, 2025, n).astype(float),
        "house_number": rng.integers(1, 120, n).astype(float),  # does nothing
    }
)
homes["rooms"] = (homes["area"] / 25 + rng.normal(0, 0.7, n)).round().clip(1)  # follows the area
price = 3 * homes["area"] * np.exp(-homes["distance"] / 10) + 0.4 * homes["year"]
price += rng.normal(0, 40, n)

learner = HistGradientBoostingRegressor(max_iter=30, random_state=0)
rx = rhale.refit(learner, homes, price, n_refits=10)
rx.plot()

# %%
print(rx)
