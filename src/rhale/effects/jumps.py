"""Jumps of models that are piecewise constant: where the curve changes, and over which rows it is averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.cells import CellArray
from rhale.stats.arrays import FloatArray, IntArray, crosses_processes
from rhale.stats.sampling import KeyArray

N_JUMP_GROUPS = 32  # of rows, by their hashes: differences between them give the uncertainty
MAX_JUMP_CELLS = 1000
# Of 1,000 rows; of very many; of few.
NEIGHBOURHOOD_SHARE, MIN_NEIGHBOURHOOD_SHARE, MAX_NEIGHBOURHOOD_SHARE = 0.1, 0.02, 0.15
FEWEST_NEAR = 20  # rows in a neighbourhood
INNER, FEWEST_INNER = 0.25, 10  # of a neighbourhood: its innermost rows, and how many at least
# Units of the largest sum there can be: no sum of shares overflows.
JUMP_FIXED_POINT_SCALE = 2.0**61
Ends = tuple[FloatArray, FloatArray]
Cells = tuple[IntArray, IntArray]


@dataclass(frozen=True, eq=False)
class JumpCells:
    """Places where a stepped model may jump along a feature, each with a neighbourhood of rows."""

    # (n_cells,): where the jumps are, increasing: rows at or above a place are behind its jump
    places: FloatArray
    # starts, stops (n_cells,): smallest and largest value of the rows whose jumps are averaged
    # there; neither ever falls
    starts: FloatArray
    stops: FloatArray
    # (n_cuts,): the cell of each of the model's thresholds; -1 for those outside the range of the
    # rows
    cell_of_cut: IntArray
    # (n_cells,), or None: the same ends of the innermost rows of each neighbourhood, where these
    # are summed apart
    inner: Ends | None = None

    @property
    def n_cells(self) -> int:
        """How many there are."""
        return self.places.size

    @cached_property
    def first_cuts(self) -> IntArray:
        """First threshold of each cell, and one behind the last: shape (n_cells + 1,)."""
        inside = np.flatnonzero(self.cell_of_cut >= 0)
        behind = inside[-1] + 1 if inside.size else self.cell_of_cut.size
        first = np.searchsorted(self.cell_of_cut[inside], np.arange(self.n_cells))
        return np.append(inside[first], behind)

    @property
    def is_merged(self) -> bool:
        """Whether some cells have several thresholds."""
        return bool(np.count_nonzero(self.cell_of_cut >= 0) > self.n_cells)

    def serve(self, x: FloatArray) -> Cells:
        """The cells, first to last (exclusive), in whose neighbourhood each value lies."""
        return _serve((self.starts, self.stops), x)

    def serve_inner(self, x: FloatArray) -> Cells | None:
        """The cells among whose innermost rows each value is."""
        return None if self.inner is None else _serve(self.inner, x)


def _serve(ends: Ends, x: FloatArray) -> Cells:
    first = np.searchsorted(ends[1], x, "left")
    return first, np.maximum(np.searchsorted(ends[0], x, "right"), first)


class JumpMarks(NamedTuple):
    """What is measured of rows, by the stretch of an axis that they lie on: all on one are alike."""

    position: IntArray  # (n_marks,): how many places lie at or below each stretch
    near: Cells  # (n_marks,): cells whose mean jump its rows count for, first to last (exclusive)
    # (n_marks,): these, and the cells that lie inside the window of its rows (see
    # `find_jump_reach`)
    reach: Cells
    window: Ends  # (n_marks,): where the window of the slopes of its rows begins and ends
    # (n_marks,): the part of the rows that it belongs to: sums are kept apart by part
    part: IntArray
    # (n_marks,), or None: cells among whose innermost rows its rows are, where these are summed
    # apart
    inner: Cells | None = None

    @property
    def n_marks(self) -> int:
        """How many stretches there are."""
        return self.position.size

    def of_part(self, part: int) -> JumpMarks:
        """The same for one part of the rows."""
        return self._replace(part=np.full(self.n_marks, part))


def find_jump_reach(places: FloatArray, near: Cells, window: Ends) -> Cells:
    """Cells, first to last (exclusive), that rows count for or that lie inside their window."""
    first = np.searchsorted(places, window[0], "right")
    last = np.searchsorted(places, window[1], "left")
    is_seen, is_near = first < last, near[0] < near[1]
    first = np.where(is_seen, np.where(is_near, np.minimum(first, near[0]), first), near[0])
    last = np.where(is_seen, np.where(is_near, np.maximum(last, near[1]), last), near[1])
    return first, last


def join_marks(some: Sequence[JumpMarks]) -> JumpMarks:
    """Marks one behind the other."""
    return JumpMarks(
        position=np.concatenate([one.position for one in some]),
        near=_join_pairs([one.near for one in some]),
        reach=_join_pairs([one.reach for one in some]),
        window=_join_pairs([one.window for one in some]),
        part=np.concatenate([one.part for one in some]),
        inner=_join_pairs([one.inner or (0 * one.position, 0 * one.position) for one in some]),
    )


def _join_pairs(pairs: Sequence[tuple[Any, Any]]) -> tuple[Any, Any]:
    return np.concatenate([a for a, _ in pairs]), np.concatenate([b for _, b in pairs])


@dataclass(frozen=True, eq=False)
class JumpQuestion:
    """The jumps to be measured of some rows along one column."""

    column: int
    cells: JumpCells  # Where jumps are counted
    marks: JumpMarks
    mark: CellArray  # (n_rows,): the mark of each row; -1 for rows that do not count at all
    n_parts: int = 1  # How many parts the rows have

    @property
    def n_groups(self) -> int:
        """Groups of rows that have sums of their own: those of one part after the other."""
        return N_JUMP_GROUPS * self.n_parts


class JumpRows(NamedTuple):
    """How rows count: their group, and their share of the weight of all rows."""

    group: npt.NDArray[np.uint8]
    share: FloatArray


@crosses_processes
@dataclass(frozen=True, eq=False)
class JumpSums:
    """Sums of jumps, by group of rows and by cell: whole numbers, so that `+` is exact."""

    # (n_groups, n_cells, n_outputs): jumps of the rows near each cell, times the rows' shares, in
    # units of `unit`
    jumps: npt.NDArray[np.int64]
    # (n_groups, n_cells + 1): shares of these rows, times 2**61, as steps: their running sum
    # belongs to the cells
    near: npt.NDArray[np.int64]
    # (n_groups, n_cells + 1): shares of the rows that have so many places at or below them, times
    # 2**61
    row_shares: npt.NDArray[np.int64]
    unit: float
    # The same of the innermost rows of each neighbourhood, where these are summed apart; or None
    inner: JumpSums | None = None

    def of_part(self, part: int) -> JumpSums:
        """Sums of one part of the rows."""
        mine = slice(N_JUMP_GROUPS * part, N_JUMP_GROUPS * (part + 1))
        inner = self.inner and self.inner.of_part(part)
        return JumpSums(self.jumps[mine], self.near[mine], self.row_shares[mine], self.unit, inner)

    def between(self, first: int, last: int) -> JumpSums:
        """Keep some neighbouring cells, `last` excluded; rows beyond them count at their ends."""
        near = np.cumsum(self.near, axis=1)[:, first:last]
        row_shares = self.row_shares[:, first : last + 1].copy()
        row_shares[:, 0] += self.row_shares[:, :first].sum(axis=1)
        row_shares[:, -1] += self.row_shares[:, last + 1 :].sum(axis=1)
        near = np.diff(near, axis=1, prepend=0, append=0)
        inner = self.inner and self.inner.between(first, last)
        return JumpSums(self.jumps[:, first:last], near, row_shares, self.unit, inner)

    def __add__(self, other: JumpSums) -> JumpSums:
        if self.unit != other.unit or self.jumps.shape != other.jumps.shape:
            msg = "jumps at different places, or in different units, cannot be added"
            raise ValueError(msg)
        return JumpSums(
            self.jumps + other.jumps,
            self.near + other.near,
            self.row_shares + other.row_shares,
            self.unit,
            self.inner and other.inner and self.inner + other.inner,
        )


@dataclass(frozen=True, eq=False)
class JumpReply:
    """The jumps of some rows along one column, as a walker measured them."""

    sums: JumpSums
    # (n_outputs, n_rows): of each row's own staircase over its window, by least squares
    slopes: FloatArray


def make_jump_rows(key: KeyArray, weight: FloatArray | None, total: float) -> JumpRows:
    """Groups and shares of rows of a table whose rows weigh `total`.

    The total is rounded up to a power of two, so that rounding of sums of weights, which depends
    on the order of the rows, does not matter.
    """
    scale = np.ldexp(1.0, -int(np.ceil(np.log2(total))))
    share = np.full(key.size, scale) if weight is None else weight * scale
    return JumpRows((key & np.uint64(N_JUMP_GROUPS - 1)).astype(np.uint8), share)


def near_share(n_rows: float) -> float:
    """Share of the rows in a neighbourhood: narrower where there are more of them.

    Examples
    --------
    >>> near_share(1000), near_share(1e9), near_share(10)
    (0.1, 0.02, 0.15)
    """
    return float(
        np.clip(
            NEIGHBOURHOOD_SHARE * (1000 / n_rows) ** (1 / 3),
            MIN_NEIGHBOURHOOD_SHARE,
            MAX_NEIGHBOURHOOD_SHARE,
        )
    )


def find_jump_cells(
    axis: FeatureAxis,
    cuts: FloatArray,
    share: float,
    most: int = MAX_JUMP_CELLS,
    *,
    inner: bool = False,
) -> JumpCells:
    """Choose where jumps are counted, and the rows near each place.

    `cuts` (n_cuts,): the model's thresholds in units of the feature, never falling: a value at or
    above one is behind it; `share`: share of the rows in a neighbourhood, half of them on each
    side of its place; `most`: cells at most; thresholds that are close, among themselves and among
    the rows, share one; `inner`: whether the innermost rows of each neighbourhood are summed
    apart.
    """
    # Towards an end of the axis a neighbourhood shrinks, as many rows on both sides, down to ten on
    # each side, and 20 in all; so it never becomes one-sided. Rows that tie with the last one are
    # in.
    # cells of close thresholds have the middle one as their place
    inside = (cuts > axis.low) & (cuts <= axis.high)
    cell = np.full(cuts.size, -1)
    distinct, own = np.unique(cuts[inside], return_inverse=True)
    if distinct.size > most:
        # cells of thresholds that are close in rank among the rows, and among themselves
        below = axis.reached[np.searchsorted(axis.values, distinct, "left")] / axis.reached[-1]
        among = np.arange(distinct.size) / distinct.size
        key = np.floor(most / 2 * below) + np.floor(most / 2 * among)
        own = np.unique(key, return_inverse=True)[1][own]
    cell[inside] = own
    n_cells = int(cell.max(initial=-1)) + 1
    first = np.searchsorted(cell[inside], np.arange(n_cells))
    last = np.searchsorted(cell[inside], np.arange(n_cells), "right") - 1
    places = cuts[inside][(first + last) // 2]
    innermost = find_inner(axis, places, share) if inner else None
    return JumpCells(places, *find_near(axis, places, share), cell, innermost)


def find_inner(axis: FeatureAxis, places: FloatArray, share: float) -> Ends:
    """Smallest and largest value of the innermost rows of each neighbourhood of this share."""
    return find_near(axis, places, INNER * share, FEWEST_INNER)


def find_near(
    axis: FeatureAxis, places: FloatArray, share: float, fewest_rows: int = FEWEST_NEAR
) -> Ends:
    """Smallest and largest value of the rows near each place."""
    # ranks of the first and the last row of each neighbourhood, in weight from the left
    reached, total = axis.reached, axis.reached[-1]
    fewest = min(fewest_rows / axis.rows, 1.0) * total
    below = reached[np.searchsorted(axis.values, places, "left")]
    half = np.clip(np.minimum(below, total - below), fewest / 2, max(share * total, fewest) / 2)
    start, stop = np.maximum(below - half, 0.0), np.minimum(below + half, total)
    start, stop = np.minimum(start, total - fewest), np.maximum(stop, fewest)
    slack, last = 1e-9 * total, axis.values.size - 1
    first = np.searchsorted(reached[1:], start + slack, "right")
    final = np.searchsorted(reached[1:], stop - slack, "left")
    return axis.values[np.minimum(first, last)], axis.values[np.minimum(final, last)]
