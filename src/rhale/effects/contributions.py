"""Contributions of every feature at every row, and how much of the model the curves explain."""

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
from rhale.effects.table import UNDEFINED
from rhale.errors import BadSettingError, BadTableError
from rhale.naming import read_word
from rhale.output.frame import as_frame
from rhale.regions.result import RegionTree
from rhale.stats.arrays import BoolArray, FloatArray

VARIANCE_ROUNDING = 1e-12  # of the predictions, or of their variance: less is rounding


@dataclass(frozen=True, eq=False)
class SampledCurves:
    """The curves of all features at sampled rows, and the predictions there."""

    effects: Sequence[Result]  # one for each feature, all of one output
    x: FloatArray  # (n_rows, n_features)
    predictions: FloatArray  # (n_rows,)
    weight: FloatArray  # (n_rows,)

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
        """Shares of the weight, of the rows inside."""
        weight = self.weight[self.inside]
        return np.asarray(weight / weight.sum())

    @cached_property
    def _variance(self) -> float:
        """Variance of the predictions; nan where it is zero up to rounding."""
        if self.inside.sum() < 2:
            return UNDEFINED
        found = self.predictions[self.inside]
        variance = float(self._shares @ (found - self._shares @ found) ** 2)
        is_constant = np.sqrt(variance) <= VARIANCE_ROUNDING * float(np.abs(found).max())
        return UNDEFINED if is_constant else variance

    @cached_property
    def _left(self) -> FloatArray:
        """Predictions less the sum of the common curves, at the rows inside."""
        return np.asarray(self.predictions[self.inside] - self.heights[self.inside].sum(axis=1))

    @property
    def _rest(self) -> FloatArray:
        """Residuals: `_left` less its mean."""
        return np.asarray(self._left - self._shares @ self._left)

    def explained(self) -> float:
        """Share of the variance of the predictions that the sum of the common curves explains."""
        if np.isnan(self._variance):
            return UNDEFINED
        return 1.0 - float(self._shares @ self._rest**2) / self._variance

    @property
    def base(self) -> float:
        """Mean prediction of all explained rows; nan if unknown."""
        # The curves are zero on average over all of these rows, so the mean of what they leave of
        # the sampled predictions estimates it with less variance than the mean of the sample.
        if not self.inside.any():
            return UNDEFINED
        return float(self._shares @ self._left)

    def explained_with_regions(self) -> float:
        """The same as `explained`, where rows may have the curves of their regions."""
        if np.isnan(self._variance):
            return UNDEFINED
        return 1.0 - float(self._shares @ self._choose_moved()[1] ** 2) / self._variance

    def moved(self) -> tuple[int, ...]:
        """Indices of the features whose rows have the curves of their regions."""
        return () if np.isnan(self._variance) else self._choose_moved()[0]

    def _choose_moved(self) -> tuple[tuple[int, ...], FloatArray]:
        """Indices of these features, and the residuals then. O(n_rows n_features) for each."""
        # Of x1 x2 either feature has regions, and both describe the same interaction: with both it
        # would be counted twice. So this is a greedy forward selection: features take the curves of
        # their regions one by one, the one that explains most first, while that explains more.
        known = {}
        for place, effect in enumerate(self.effects):
            tree, x = effect.regions, self.x[:, place]
            if tree is not None and len(tree) > 1 and tree.sampled.size == x.size:
                move = regional_move(tree, x, self.heights[:, place], self.weight)
                known[place] = move[self.inside]
        rest, weight, chosen = self._rest, self._shares, list[int]()
        left = list(known)
        moved = np.column_stack([known[place] for place in left]) if left else np.empty((0, 0))
        moved = moved - weight @ moved if left else moved
        while left:
            # with residuals r and a centred move m: E r² - E (r - m)² = 2 E r m - E m²
            gain = 2 * (weight * rest) @ moved - weight @ moved**2
            best = int(np.argmax(gain))
            if not gain[best] > VARIANCE_ROUNDING * self._variance:
                break
            rest, moved = rest - moved[:, best], np.delete(moved, best, axis=1)
            chosen.append(left.pop(best))
        return tuple(chosen), rest


def regional_move(
    tree: RegionTree, x: FloatArray, common: FloatArray, weight: FloatArray
) -> FloatArray:
    """Curves of the regions of sampled rows less the common one; all arrays of shape (n_rows,).

    Zero on average over the rows of each region, as a curve is known up to a constant; zero where a
    row is in no region, or its curve is not known.
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
    """Read the curves of one output at the rows of a table, shape (n_rows, n_features).

    A data frame has columns by name; an array has `columns`, those of the explained table, in their
    order. With `regions` rows have the curves of their regions, of features where that explains
    more.
    """
    outside = cast(Outside, read_word("outside", outside, get_args(Outside)))
    table = read_new_rows(rows, USE)
    if isinstance(table.table, np.ndarray) and table.table.shape[1] != len(columns):
        msg = (
            f"the array has {table.table.shape[1]} columns, the explained table had {len(columns)}; "
            "pass the same columns in the same order, or a data frame, whose columns have names"
        )
        raise BadTableError(msg)
    moved = curves.moved() if regions else ()
    found = np.empty((table.n_rows, len(curves.effects)))
    for place, effect in enumerate(curves.effects):
        x = locate_new_rows(effect, table, list(columns).index(effect.name), outside)
        found[:, place] = _read_contributions(effect, x, outside)
        if place not in moved:
            continue
        tree = effect.regions
        assert tree is not None  # noqa: S101 - our own mistake: only features with regions move
        # curves of regions, moved to the common one; that one where a row is in no region
        number, common = tree.locate(rows), found[:, place].copy()
        for k, region in enumerate(tree.regions):
            here = np.flatnonzero(number == k)
            own = _read_contributions(region.effect, x[here], OUTSIDE_REGION[outside]) + align(
                region.effect, effect
            )
            found[here, place] = np.where(np.isfinite(own), own, common[here])
    return found


def locate_new_rows(effect: Result, rows: NewRows, column: int, outside: Outside) -> FloatArray:
    """Positions of rows on the axis of an effect, shape (n_rows,); nan where the value is missing.

    A level that no explained row had is beyond the axis; with `outside="extend"` it is at the rare
    ones that are pooled, if there are any.
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
    known = effect.axis[np.maximum(found, 0)]
    return np.select([found == MISSING_LEVEL, found == UNSEEN_LEVEL], [np.nan, beyond], known)


def _read_contributions(effect: Result, x: FloatArray, outside: Outside) -> FloatArray:
    """The curve at positions on the axis; of rows without a value the change that was measured."""
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


def as_table_like(rows: Any, names: Sequence[str], values: FloatArray, backend: str | None) -> Any:
    """Values of shape (n_rows, n_names) as the kind of table that the rows are, with their index.

    An array for an array; `backend` asks for another kind of table.
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
