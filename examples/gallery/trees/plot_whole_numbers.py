"""
Whole numbers are steps
=======================

What happens between five and six o'clock? Whole numbers with few values are no axis to be cut into
bins: each value is a dot, and below stand the steps from each to the next. A jump between two hours
is then one step, and no ramp.
"""

import numpy as np
import pandas as pd
from lightgbm import LGBMRegressor

import rhale

rng = np.random.default_rng(0)
n = 3_000
rides = pd.DataFrame({"hour": rng.integers(0, 24, n), "rain": rng.exponential(1, n)})
day = np.where(rides["hour"] < 6, 0, 8 + 6 * np.isin(rides["hour"], [8, 17, 18]))
waiting = day * (1 + rides["rain"] / 2) + rng.normal(0, 1, n)
model = LGBMRegressor(n_estimators=60, verbose=-1, n_jobs=1).fit(rides, waiting)

fx = rhale.explain(model, rides, output_names="waiting", units={"waiting": "minutes"})
fx.plot("hour")
