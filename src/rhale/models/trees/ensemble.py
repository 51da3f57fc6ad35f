"""Which function reads the trees of which class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rhale.models.libraries import classes_of
from rhale.models.trees.read_catboost import read_catboost
from rhale.models.trees.read_sklearn import (
    bags_trees,
    read_bagging,
    read_hist_boosting,
    read_sklearn_boosting,
    read_sklearn_forest,
)
from rhale.models.trees.read_treelite import read_lightgbm, read_xgboost
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


# --- The ensemble behind pipelines, searches and wrappers


# estimators that pass every question on, and where they keep the one that answers
FACES = {
    "sklearn.BaseSearchCV": "best_estimator_",
    "sklearn.FrozenEstimator": "estimator",
    "sklearn.BaseThresholdClassifier": "estimator_",
}
# where estimators keep those that they combine
INNER_ESTIMATOR_NAMES = (
    "estimators_",
    "estimator_",
    "estimator",
    "final_estimator_",
    "regressor_",
)


def is_tree_model(model: Any) -> bool:
    """Tell whether a model is a tree ensemble, ends in one, or combines some."""
    return holds_trees(split_pipeline(model)[1])


def holds_trees(model: Any, n_levels: int = 3) -> bool:
    """Tell whether a model is an ensemble that rhale reads, or has one among its parts."""
    if reader_of(model) is not None:
        return True
    if n_levels == 0 or "sklearn.BaseEstimator" not in classes_of(model):
        return False
    found = [vars(model).get(name) for name in INNER_ESTIMATOR_NAMES]
    parts = [p for f in found for p in (f if isinstance(f, list | tuple) else [f])]
    return any(holds_trees(split_pipeline(p)[1], n_levels - 1) for p in parts if p is not None)


def split_pipeline(model: Any) -> tuple[list[Any], Any]:
    """Steps before the last one of pipelines, and the estimator behind all of them."""
    steps: list[Any] = []
    while True:
        model = unwrap(model)
        if "sklearn.Pipeline" not in classes_of(model):
            return steps, model
        steps += [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
        model = model.steps[-1][1]


def unwrap(model: Any) -> Any:
    """The estimator that a search has found, or that a wrapper only passes questions on to."""
    classes = classes_of(model)
    inner = next((FACES[name] for name in classes if name in FACES), None)
    found = None if inner is None else getattr(model, inner, None)
    return model if found is None else unwrap(found)
