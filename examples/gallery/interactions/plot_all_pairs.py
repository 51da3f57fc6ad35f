"""
Strengths of all pairs
======================

Which features act together? The matrix has the strength of every pair in units of the prediction,
and the importance of each feature on its diagonal: both are the same kind of number. The bars rank
the strongest pairs, with their errors.
"""

import numpy as np
import pandas as pd
from lightgbm import LGBMRegressor

import rhale

rng = np.random.default_rng(0)
n = 2_000
homes = pd.DataFrame(
    {
        "area": rng.uniform(30, 200, n).round(),
        "distance": rng.exponential(8, n).round(2),
        "year": rng.integers(1900, 2025, n).astype(float),
        "insulation": rng.uniform(0, 30, n),
        "floor": rng.integers(0, 12, n),
    }
)
price = 6 * homes["area"] * np.exp(-homes["distance"] / 10) + 4 * homes["floor"]
price -= (2025 - homes["year"]) * (30 - homes["insulation"]) / 12
model = LGBMRegressor(n_estimators=80, verbose=-1, n_jobs=1).fit(homes, price)

ix = rhale.interactions(model, homes)
ix.plot()
