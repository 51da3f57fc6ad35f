"""The steps of a pipeline before its last: which column goes where, if each goes its own way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rhale.stats.arrays import IntArray

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
