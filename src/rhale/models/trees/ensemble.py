"""The tree ensemble inside pipelines, searches and wrappers, and who reads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rhale.models.libraries import classes_of
from rhale.models.trees.combined import COMBINED
from rhale.models.trees.links import LINKS
from rhale.models.trees.readers import (
    read_catboost,
    read_hist_boosting,
    read_lightgbm,
    read_sklearn_boosting,
    read_sklearn_forest,
    read_xgboost,
)
from rhale.models.trees.reading import CannotReadError, Reading
from rhale.stats.arrays import IntArray

MAX_COMBINED_LEVELS = 4  # estimators that combine estimators that combine ...
READERS: dict[str, Callable[[Any], Reading]] = {
    **dict.fromkeys(
        [
            f"sklearn.{name}{kind}"
            for name in ("DecisionTree", "ExtraTree", "RandomForest", "ExtraTrees")
            for kind in ("Regressor", "Classifier")
        ],
        read_sklearn_forest,
    ),
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
    return next((READERS[name] for name in classes_of(model) if name in READERS), None)


def read_trees(model: Any, response: str, n_levels: int = MAX_COMBINED_LEVELS) -> Reading:
    """Read the trees of an estimator that has some, or combines others that have."""
    combined = next((COMBINED[name] for name in classes_of(model) if name in COMBINED), None)
    reader = reader_of(model)
    if reader is not None:
        return reader(model)
    if combined is None or n_levels == 0:
        what = type(model).__name__
        msg = f"they are parts of {what}, which rhale cannot read exactly"
        raise CannotReadError(msg)

    def read_part(part: Any, wanted: str) -> Reading:
        steps, inner = split_pipeline(part)
        if steps or not holds_trees(inner):
            what = "a pipeline" if steps else f"a {type(inner).__name__}"
            msg = f"one of the parts of {type(model).__name__} is {what}, which is no tree ensemble"
            raise CannotReadError(msg)
        found = read_trees(inner, wanted, n_levels - 1)
        is_label = wanted == "predict" and hasattr(inner, "classes_")
        if found.combine is None and (is_label or found.link not in LINKS):
            msg = f"a {type(inner).__name__} in it answers by class labels"
            raise CannotReadError(msg)
        return found

    return combined(model, response, read_part)


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
    if reader_of(model) is not None or "sklearn.IsolationForest" in classes_of(model):
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


# --- The steps of a pipeline before its last: which column goes where, if each goes its own way


DROPPED_COLUMN, MIXED = -1, -2
# transformers of scikit-learn that treat every column by itself and keep their number and order
COLUMN_BY_COLUMN = {
    "Binarizer",
    "MaxAbsScaler",
    "MinMaxScaler",
    "OrdinalEncoder",
    "PowerTransformer",
    "QuantileTransformer",
    "RobustScaler",
    "StandardScaler",
}
Sources = list[frozenset[int]]  # for each column that comes out, those that went in


def where_columns_go(steps: Sequence[Any], n_columns: int, names: Sequence[str]) -> IntArray:
    """Follow the columns of a table through some steps.

    Shapes: result (n_columns,).
    """
    sources: Sources = [frozenset([i]) for i in range(n_columns)]
    for step in steps:
        found = find_step_sources(step, len(sources), names)
        sources = [frozenset().union(*(sources[i] for i in one)) for one in found]
    places = np.full(n_columns, DROPPED_COLUMN, dtype=np.int64)
    for place, one in enumerate(sources):
        for column in one:
            alone = len(one) == 1 and places[column] == DROPPED_COLUMN
            places[column] = place if alone else MIXED
    return places


def find_step_sources(step: Any, n_columns: int, names: Sequence[str]) -> Sources:
    """For each column that a step gives, the columns that it depends on."""
    same: Sources = [frozenset([i]) for i in range(n_columns)]
    name = type(step).__name__
    if (
        step is None
        or step == "passthrough"
        or type(step).__module__.partition(".")[0] != "sklearn"
    ):
        return same if step is None or isinstance(step, str) else _unknown(step, n_columns)
    if name == "Pipeline":
        for _, inner in step.steps:
            found = find_step_sources(inner, len(same), names)
            same = [frozenset().union(*(same[i] for i in one)) for one in found]
        return same
    if name == "FrozenEstimator":
        return find_step_sources(step.estimator, n_columns, names)
    if name == "ColumnTransformer":
        return _column_transformer(step, [*getattr(step, "feature_names_in_", names)])
    if name in COLUMN_BY_COLUMN or _is_column_by_column(step, name, n_columns):
        return same
    if hasattr(step, "get_support"):
        return [same[i] for i in np.flatnonzero(step.get_support())]
    return _unknown(step, n_columns)


def _is_column_by_column(step: Any, name: str, n_columns: int) -> bool:
    """Those that are so with some settings only."""
    if name == "SimpleImputer":
        return not step.add_indicator and len(step.get_feature_names_out()) == n_columns
    if name == "TargetEncoder":
        return len(step.get_feature_names_out()) == n_columns
    if name == "KBinsDiscretizer":
        return bool(step.encode == "ordinal")
    if name == "FunctionTransformer":
        return step.func is None or isinstance(step.func, np.ufunc)
    return False


def _column_transformer(step: Any, names: Sequence[str]) -> Sources:
    """Each part takes some columns and gives a stretch of the result."""
    stretches = step.output_indices_
    n_out = max(s.stop for s in stretches.values())
    sources: Sources = [frozenset()] * n_out
    for label, part, wanted in step.transformers_:
        columns, stretch = _positions(wanted, names), stretches[label]
        if stretch.stop == stretch.start:
            continue
        inner = find_step_sources(part, len(columns), [names[i] for i in columns])
        if len(inner) != stretch.stop - stretch.start:
            inner = [frozenset(range(len(columns)))] * (stretch.stop - stretch.start)
        for place, one in zip(range(stretch.start, stretch.stop), inner, strict=True):
            sources[place] = frozenset(columns[i] for i in one)
    return sources


def _positions(wanted: Any, names: Sequence[str]) -> list[int]:
    """Columns of a part, as positions."""
    if isinstance(wanted, slice):
        bounds = [names.index(w) if isinstance(w, str) else w for w in (wanted.start, wanted.stop)]
        if isinstance(wanted.stop, str):
            bounds[1] += 1
        return list(range(len(names)))[slice(bounds[0], bounds[1], wanted.step)]
    listed = [wanted] if isinstance(wanted, str | int) else list(wanted)
    if listed and isinstance(listed[0], bool | np.bool_):
        return np.flatnonzero(listed).tolist()
    return [names.index(w) if isinstance(w, str) else range(len(names))[int(w)] for w in listed]


def _unknown(step: Any, n_columns: int) -> Sources:
    """Whatever comes out may depend on everything."""
    n_out = n_columns
    if hasattr(step, "get_feature_names_out"):
        n_out = len(step.get_feature_names_out())
    return [frozenset(range(n_columns))] * n_out
