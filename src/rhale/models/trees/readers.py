"""Which function reads the trees of which class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rhale.models.ancestry import classes_of
from rhale.models.trees.read_catboost import read_catboost
from rhale.models.trees.read_lightgbm import read_lightgbm
from rhale.models.trees.read_sklearn import (
    bags_trees,
    read_bagging,
    read_hist_boosting,
    read_sklearn_boosting,
    read_sklearn_forest,
)
from rhale.models.trees.read_xgboost import read_xgboost
from rhale.models.trees.reading import Reading

READERS: dict[str, Callable[[Any], Reading]] = {
    **dict.fromkeys(
        [
            f"sklearn.{name}{kind}"
            for name in ("DecisionTree", "ExtraTree", "RandomForest", "ExtraTrees")
            for kind in ("Regressor", "Classifier")
        ],
        read_sklearn_forest,
    ),
    "sklearn.BaggingRegressor": read_bagging,
    "sklearn.BaggingClassifier": read_bagging,
    "sklearn.GradientBoostingRegressor": read_sklearn_boosting,
    "sklearn.GradientBoostingClassifier": read_sklearn_boosting,
    "sklearn.HistGradientBoostingRegressor": read_hist_boosting,
    "sklearn.HistGradientBoostingClassifier": read_hist_boosting,
    "xgboost.XGBModel": read_xgboost,
    "xgboost.Booster": read_xgboost,
    "lightgbm.LGBMModel": read_lightgbm,
    "lightgbm.Booster": read_lightgbm,
    "catboost.CatBoost": read_catboost,
}


def reader_of(model: Any) -> Callable[[Any], Reading] | None:
    """The function that reads a model's trees; None if it has none that rhale knows."""
    name = next((n for n in classes_of(model) if n in READERS), None)
    if name is None or (READERS[name] is read_bagging and not bags_trees(model)):
        return None
    return READERS[name]
