"""
Your model among its trainings
==============================

Is the model in use an ordinary one of its kind? ``model=`` draws its curve over the trainings of
the same learner, and ``rows=True`` its own interval: how well its mean is known from these rows,
which is much less than what another training would change.
"""

import numpy as np
from sklearn.ensemble import RandomForestRegressor

import rhale

rng = np.random.default_rng(0)
X = rng.uniform(0, 10, (400, 3))
y = 4 * np.sin(X[:, 0]) + X[:, 1] + rng.normal(0, 2, 400)

learner = RandomForestRegressor(20, min_samples_leaf=5, random_state=0)
in_use = RandomForestRegressor(20, min_samples_leaf=5, random_state=1).fit(X, y)

rx = rhale.refit(learner, X, y, n_refits=8, features=[0], model=in_use)
rx.plot("x0", rows=True)
