"""
Steps of a boosted model
========================

Is this a ramp or a jump? Trees move in steps. By default the curve is the model's own, flat but for
its steps; ``smooth=True`` evens out the small ones, which come from where rows happened to be, and
keeps the jumps that are real.
"""

import matplotlib.pyplot as plt
import numpy as np
from lightgbm import LGBMRegressor

import rhale

rng = np.random.default_rng(0)
X = rng.uniform(0, 10, (2_000, 3))
y = 0.5 * X[:, 0] + 3 * (X[:, 0] > 6) + X[:, 1] * X[:, 2] / 20 + rng.normal(0, 0.5, 2_000)
model = LGBMRegressor(n_estimators=60, num_leaves=8, verbose=-1, n_jobs=1).fit(X, y)

fx = rhale.explain(model, X, feature_names=["dose", "age", "weight"])

figure, axes = plt.subplots(1, 2, figsize=(8, 4), sharey=True, layout="constrained")
fx.plot("dose", kind="curve", ax=axes[0], title="as the trees are", legend=False)
fx.plot("dose", kind="curve", ax=axes[1], smooth=True, title="smooth=True", legend=False)
