"""Contributions: the curve of every feature at every row of a table, old or new."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast, get_args

import narwhals.stable.v2 as nw
import numpy as np

from rhale.errors import BadSettingError, BadTableError
from rhale.kernels import FloatArray
from rhale.names import read_word
from rhale.results.explained import SampledCurves
from rhale.results.level_effect import LevelEffect
from rhale.results.new_rows import MISSING_LEVEL, UNSEEN_LEVEL, NewRows, read_new_rows
from rhale.results.region_heights import align
from rhale.results.result import Outside, Result, find_result_axis_kind, heights, reach
from rhale.results.summary import as_frame

# a region may end before its feature does, and has the common curve there
OUTSIDE_REGION: dict[Outside, Outside] = {"nan": "nan", "extend": "extend", "raise": "nan"}
USE = "is explained"  # what the columns do, for messages


def contribute(
    curves: SampledCurves,
    rows: Any,
    columns: Sequence[str],
    *,
    outside: Outside = "nan",
    regions: bool = False,
) -> FloatArray:
    """Read the curves at the rows of a table.

    Parameters
    ----------
    curves : SampledCurves
        The curves of all features, of one output.
    rows : data frame or array of shape (n_rows, n_columns)
        A data frame has columns by name; an array has those of the explained table, in its order.
    columns : sequence of str
        Columns of the explained table.
    outside : {"nan", "extend", "raise"}
        What a row beyond the ends of a curve gets: nothing, or the curve as it goes on; or it is
        refused.
    regions : bool
        Whether rows have the curves of their regions, of features where that explains more.

    Returns
    -------
    ndarray of shape (n_rows, n_features)
        One column for each feature.
    """
    outside = cast(Outside, read_word("outside", outside, get_args(Outside)))
    table = read_new_rows(rows, USE)
    _require_columns(table, columns)
    moved = curves.moved() if regions else ()
    found = np.empty((table.n_rows, len(curves.effects)))
    for place, effect in enumerate(curves.effects):
        x = locate_new_rows(effect, table, list(columns).index(effect.name), outside)
        found[:, place] = _read_contributions(effect, x, outside)
        if place in moved:
            found[:, place] = _read_regions(effect, x, rows, found[:, place], outside)
    return found


def locate_new_rows(effect: Result, rows: NewRows, column: int, outside: Outside) -> FloatArray:
    """Where rows stand on the axis of an effect, shape (n_rows,); nan where they have no value.

    A level that is nowhere named stands beyond the axis; with `outside="extend"` at the rare ones
    that are pooled, if there are any.
    """
    if effect.column_kind != "categories":
        return rows.numbers(effect.name, column, find_result_axis_kind(effect))
    rare: tuple[str, ...] = ()
    other: int | None = None
    if isinstance(effect, LevelEffect) and effect.pooled:  # profiles do not keep their names
        rare, other = effect.pooled, effect.find(effect.pooled[0])
    kind = rows.kind(effect.name, column)
    found = rows.levels(effect.name, column, kind, (*effect.labels, *rare))
    beyond = np.inf
    if other is not None:
        found = np.where(found >= len(effect.labels), other, found)
        beyond = effect.axis[other] if outside == "extend" else np.inf
    stand = effect.axis[np.maximum(found, 0)]
    return np.select([found == MISSING_LEVEL, found == UNSEEN_LEVEL], [np.nan, beyond], stand)


def _read_contributions(effect: Result, x: FloatArray, outside: Outside) -> FloatArray:
    """The curve at places on the axis, of rows without a value at the point of their own."""
    found, (low, high) = heights(effect, x), reach(effect)
    beyond = np.flatnonzero((x < low) | (x > high))
    if outside == "raise" and beyond.size:
        msg = (
            f"{beyond.size} of {x.size} rows lie beyond the values of {effect.name!r} that were "
            f"explained, the first is row {beyond[0]}; outside='nan' leaves them out"
        )
        raise BadSettingError(msg)
    if outside == "extend" and effect.parts == "bins":  # levels and points cannot go on
        found[beyond] = effect.height(x[beyond])
    return found


def _read_regions(
    effect: Result, x: FloatArray, rows: Any, common: FloatArray, outside: Outside
) -> FloatArray:
    """The curves of the rows' regions, moved to the common one; that one where a row is in none."""
    tree = effect.regions
    assert tree is not None  # noqa: S101 - our own mistake: only features with regions move
    number, found = tree.locate(rows), common.copy()
    for place, region in enumerate(tree.regions):
        here = np.flatnonzero(number == place)
        own = _read_contributions(region.effect, x[here], OUTSIDE_REGION[outside]) + align(
            region.effect, effect
        )
        found[here] = np.where(np.isfinite(own), own, common[here])
    return found


def _require_columns(rows: NewRows, columns: Sequence[str]) -> None:
    """Refuse an array whose columns are not those of the explained table: they have no names."""
    if not isinstance(rows.table, np.ndarray) or rows.table.shape[1] == len(columns):
        return
    msg = (
        f"the array has {rows.table.shape[1]} columns, the explained table had {len(columns)}; "
        "pass the same columns in the same order, or a data frame, whose columns have names"
    )
    raise BadTableError(msg)


def as_table_like(rows: Any, names: Sequence[str], values: FloatArray, backend: str | None) -> Any:
    """One column for each name, as the kind of table that the rows are; an array for an array.

    Parameters
    ----------
    rows : data frame or array
        The rows, whose index is kept, if they have one.
    names : sequence of str
        Names of the columns.
    values : ndarray of shape (n_rows, n_names)
        What stands in them.
    backend : {"pandas", "polars", "pyarrow"} or None
        Kind of table; that of the rows if not given.
    """
    frame = nw.from_native(rows, eager_only=True, pass_through=True)
    is_frame = isinstance(frame, nw.DataFrame)
    if backend is None and not is_frame:
        return values
    own = str(frame.implementation.value) if is_frame else None
    made = as_frame(dict(zip(names, values.T, strict=True)), backend, own)
    index = nw.maybe_get_index(frame) if is_frame else None
    if index is None or backend not in (None, own):
        return made
    return made.set_axis(index)
