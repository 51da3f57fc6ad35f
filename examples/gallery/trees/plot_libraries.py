"""
Four libraries, one curve each
==============================

Do XGBoost, LightGBM, CatBoost and scikit-learn learn the same from the same rows? All four are read
tree by tree, with every threshold where it is. Here three agree, and CatBoost, whose trees
ask one question per level, learns flatter peaks.
"""

import numpy as np
from catboost import CatBoostRegressor
from lightgbm import LGBMRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from xgboost import XGBRegressor

import rhale

rng = np.random.default_rng(0)
X = rng.uniform(-3, 3, (1_500, 3))
y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] / 5 + rng.normal(0, 0.3, 1_500)

models = {
    "scikit-learn": HistGradientBoostingRegressor(max_iter=60, max_depth=3),
    "XGBoost": XGBRegressor(n_estimators=60, max_depth=3, learning_rate=0.1, n_jobs=1),
    "LightGBM": LGBMRegressor(n_estimators=60, max_depth=3, verbose=-1, n_jobs=1),
    "CatBoost": CatBoostRegressor(
        n_estimators=60,
        depth=3,
        learning_rate=0.1,
        verbose=0,
        thread_count=1,
        allow_writing_files=False,
    ),
}
found = {name: rhale.explain(model.fit(X, y), X, features=0) for name, model in models.items()}

first = found.pop("scikit-learn")
first.compare(found, "x0", name="scikit-learn", smooth=True)
