"""Contributions: the curve of every feature at every row of a table, old or new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast, get_args

import narwhals.stable.v2 as nw
import numpy as np

from rhale.effects.alignment import align
from rhale.effects.level_effect import LevelEffect
from rhale.effects.new_rows import MISSING_LEVEL, UNSEEN_LEVEL, NewRows, read_new_rows
from rhale.effects.result import Outside, Result, find_result_axis_kind, heights, reach
from rhale.effects.summary import as_frame
from rhale.effects.table import UNDEFINED
from rhale.errors import BadSettingError, BadTableError
from rhale.naming import read_word
from rhale.regions.result import RegionTree
from rhale.stats.arrays import BoolArray, FloatArray

# --- How much of a model its curves tell: all rows by one curve, or each by that of its region


VARIANCE_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class SampledCurves:
    """The curves of all features at sampled rows, and the predictions there.

    Attributes
    ----------
    effects : sequence of Result
        One for each feature, all of one output.
    x : ndarray of shape (n_rows, n_features)
        Feature values.
    predictions, weight : ndarray of shape (n_rows,)
        Predictions and weights of the rows.
    """

    effects: Sequence[Result]
    x: FloatArray
    predictions: FloatArray
    weight: FloatArray

    @cached_property
    def heights(self) -> FloatArray:
        """The common curves at all rows, shape (n_rows, n_features); nan where unknown."""
        found = np.empty(self.x.shape)
        for place, effect in enumerate(self.effects):
            found[:, place] = heights(effect, self.x[:, place])
        return found

    @cached_property
    def inside(self) -> BoolArray:
        """Rows at which all curves are known."""
        return np.asarray(np.isfinite(self.heights).all(axis=1))

    @cached_property
    def _shares(self) -> FloatArray:
        """Shares of the weight of the rows inside."""
        weight = self.weight[self.inside]
        return np.asarray(weight / weight.sum())

    @cached_property
    def _variance(self) -> float:
        """That of the predictions; nan where there is nothing to explain, up to rounding."""
        if self.inside.sum() < 2:
            return UNDEFINED
        found = self.predictions[self.inside]
        variance = float(self._shares @ (found - self._shares @ found) ** 2)
        is_constant = np.sqrt(variance) <= VARIANCE_ROUNDING * float(np.abs(found).max())
        return UNDEFINED if is_constant else variance

    @cached_property
    def _left(self) -> FloatArray:
        """What the common curves leave of the predictions."""
        return np.asarray(self.predictions[self.inside] - self.heights[self.inside].sum(axis=1))

    @property
    def _rest(self) -> FloatArray:
        """The same less its mean."""
        return np.asarray(self._left - self._shares @ self._left)

    def explained(self) -> float:
        """Share of the variance of the predictions that the sum of the common curves explains."""
        if np.isnan(self._variance):
            return UNDEFINED
        return 1.0 - float(self._shares @ self._rest**2) / self._variance

    @property
    def base(self) -> float:
        """What the common curves leave of the predictions on average: a constant; nan if unknown.

        The curves are zero on average over all rows that were explained, so this is the mean
        prediction of all of them, which a sample tells better so than by its own mean.
        """
        if not self.inside.any():
            return UNDEFINED
        return float(self._shares @ self._left)

    def explained_with_regions(self) -> float:
        """The same as `explained`, where rows may have the curves of their regions."""
        if np.isnan(self._variance):
            return UNDEFINED
        return 1.0 - float(self._shares @ self._choose_moved()[1] ** 2) / self._variance

    def moved(self) -> tuple[int, ...]:
        """Features whose rows have the curves of their regions, as that explains more."""
        return () if np.isnan(self._variance) else self._choose_moved()[0]

    def _choose_moved(self) -> tuple[tuple[int, ...], FloatArray]:
        """Places of these features, and what is left of the predictions then.

        Notes
        -----
        Of x1 x2 either feature has regions, and each of them tells the same: with both it would be
        counted twice. So features take the curves of their regions one by one, the one that
        explains most first, as long as more is explained. O(n_rows n_features) for each of them.
        """
        moves = {place: self._move(place) for place in range(len(self.effects))}
        known = {place: move for place, move in moves.items() if move is not None}
        rest, weight, chosen = self._rest, self._shares, list[int]()
        left = list(known)
        moved = np.column_stack([known[place] for place in left]) if left else np.empty((0, 0))
        moved = moved - weight @ moved if left else moved
        while left:
            gain = 2 * (weight * rest) @ moved - weight @ moved**2
            best = int(np.argmax(gain))
            if not gain[best] > VARIANCE_ROUNDING * self._variance:
                break
            rest, moved = rest - moved[:, best], np.delete(moved, best, axis=1)
            chosen.append(left.pop(best))
        return tuple(chosen), rest

    def _move(self, place: int) -> FloatArray | None:
        """How far the rows inside are moved from the common curve to that of their regions."""
        tree, x = self.effects[place].regions, self.x[:, place]
        if tree is None or len(tree) == 1 or tree.sampled.size != x.size:
            return None
        return regional_move(tree, x, self.heights[:, place], self.weight)[self.inside]


def regional_move(
    tree: RegionTree, x: FloatArray, common: FloatArray, weight: FloatArray
) -> FloatArray:
    """Difference between the curves of the regions of sampled rows and the common one.

    Parameters
    ----------
    tree : RegionTree
        The regions.
    x, common, weight : ndarray of shape (n_rows,)
        Feature values, the common curve there, and weights.

    Returns
    -------
    ndarray of shape (n_rows,)
        Zero on average over the rows of each region, as a curve is known up to a constant; zero
        where a row is in no region, or its curve not known.
    """
    moved = np.zeros(x.size)
    for number, region in enumerate(tree.regions):
        here = np.flatnonzero(tree.sampled == number)
        gap = heights(region.effect, x[here]) - common[here]
        known = np.isfinite(gap)
        here, gap = here[known], gap[known]
        if weight[here].sum() > 0:
            moved[here] = gap - np.average(gap, weights=weight[here])
    return moved


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
