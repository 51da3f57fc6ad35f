"""The axis of one feature before bins are chosen (range, quantiles, gaps), and several axes in a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from rhale.effects.binning.cells import Cells, MergedCells, distinct
from rhale.effects.binning.moments import Moments
from rhale.stats.arrays import BoolArray, FloatArray, IntArray
from rhale.stats.interpolation import Knots

MANY_VALUES = 100  # up to so many distinct values a feature is a ladder, not a line
N_RANK_KNOTS = 513
GAP_SHARE = 0.05  # of the range: an empty stretch this wide is a gap
N_BESIDE = 30  # values beside a stretch whose extent it is compared with
# So many at least; where all values have ten rows and more.
MIN_VALUES_NEXT_TO_GAP, FEWEST_STEPS = 10, 3
LONE = 2.0  # times as wide is the way to a few values: the last ones of a tail are far apart
MOST_EMPTY = 24  # the widest ones: of values that crowd at hundreds of places, all ways are alike


@dataclass(frozen=True, eq=False)
class FeatureAxis:
    """What is known of a feature before its cells are chosen.

    Attributes
    ----------
    low, high : float
        Range of the feature.
    values : ndarray of shape (n_values,)
        Distinct values of a sample of the rows, increasing.
    weight : ndarray of shape (n_values,)
        Weight of the rows at each of them.
    rows : float
        Effective number of all rows.
    ends : tuple of float
        Smallest and largest value of all rows, which the sample need not have; where they are
        within limits that the user gave.
    """

    low: float
    high: float
    values: FloatArray
    weight: FloatArray
    rows: float
    ends: tuple[float, ...] = ()

    @classmethod
    def of_sample(
        cls,
        x: FloatArray,
        weight: FloatArray,
        limits: tuple[float, float],
        rows: float,
        ends: tuple[float, ...],
    ) -> FeatureAxis:
        """Count the values of sampled rows that lie within the limits."""
        low, high = limits
        if np.all(weight == weight[0]):  # counting is cheaper than adding up
            values, count = count_sorted(np.sort(x), low, high)
            return cls(low, high, values, count * weight[0], rows, ends)
        inside = (x >= low) & (x <= high)
        values, place = np.unique(x[inside], return_inverse=True)
        held = np.bincount(place, weight[inside], values.size).astype(np.float64)
        return cls(low, high, values, held, rows, ends)

    @cached_property
    def reached(self) -> FloatArray:
        """Weight before the first value, up to it, up to the second, ..."""
        return np.append(0.0, np.cumsum(self.weight))

    @cached_property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.weight.sum())

    @cached_property
    def knots(self) -> Knots:
        """Values at which windows are measured: all where they are few, some quantiles if not."""
        if self.values.size <= MANY_VALUES:
            return Knots(self.values)
        return Knots(distinct(self.quantiles(np.linspace(0, 1, N_RANK_KNOTS))))

    @cached_property
    def empty(self) -> FloatArray:
        """Stretches without rows that are wider than what thirty values beside them cover.

        Notes
        -----
        Ways between clusters are such stretches, whatever their scales; steps of a grid are none.
        Ten neighbours of even density are that close with chance 2^-9; fewer count where each value
        has many rows. The way to fewer than ten values is one if it is twice as wide as what the
        thirty before it cover: in an exponential tail with a chance of 0.6 %, the product of
        k / (k + 2) from 2 to 30.

        Examples
        --------
        >>> FeatureAxis(0.0, 1e6, np.append(np.linspace(0, 1, 50), 1e6), np.ones(51), 51.0).empty.tolist()
        [[1.0, 1000000.0]]
        """
        known = np.unique(np.concatenate([self.values, self.ends]))
        is_ladder = known.size <= min(MANY_VALUES, self.rows / MIN_VALUES_NEXT_TO_GAP)
        fewest, last = FEWEST_STEPS if is_ladder else MIN_VALUES_NEXT_TO_GAP, known.size - 1
        place = np.arange(max(last, 0))
        before = known[place] - known[np.maximum(place + 1 - N_BESIDE, 0)]
        behind = known[np.minimum(place + N_BESIDE, last)] - known[place + 1]
        many_before, many_behind = place + 1 >= fewest, last - place >= fewest
        before = np.where(many_before, before, np.inf)
        behind = np.where(many_behind, behind, np.inf)
        times = np.where(many_before & many_behind, 1.0, LONE)
        wide = np.flatnonzero(np.diff(known) > times * np.minimum(before, behind))
        widest = np.argsort(-np.diff(known)[wide], kind="stable")[:MOST_EMPTY]
        wide = np.sort(wide[widest])
        return np.column_stack([known[wide], known[wide + 1]])

    @cached_property
    def beside_knots(self) -> tuple[FloatArray, FloatArray]:
        """Weight of the rows below and above each knot."""
        return self.weight_below_and_above(self.knots.places)

    def weight_below_and_above(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weight of the rows below and above each x."""
        reached = self.reached
        below = reached[np.searchsorted(self.values, x, "left")]
        above = reached[-1] - reached[np.searchsorted(self.values, x, "right")]
        return below, above

    def quantiles(self, shares: FloatArray) -> FloatArray:
        """Smallest values that have at least these shares of the weight at or below them."""
        reached = self.reached[1:]
        # a share is met when it is missed by rounding alone
        rounding = (4 + self.values.size) * np.finfo(float).eps  # of so many additions
        wanted = np.asarray(shares) * reached[-1] * (1 - rounding)
        place = np.searchsorted(reached, wanted, side="left")
        return np.asarray(self.values[np.minimum(place, self.values.size - 1)])


def count_sorted(ordered: FloatArray, low: float, high: float) -> tuple[FloatArray, IntArray]:
    """Distinct numbers from low to high among increasing ones, and how often each is there.

    Examples
    --------
    >>> count_sorted(np.array([0.0, 1, 1, 2, 3, np.nan]), 1, 2)
    (array([1., 2.]), array([2, 1]))
    """
    some = ordered[np.searchsorted(ordered, low) : np.searchsorted(ordered, high, side="right")]
    is_new = some[1:] != some[:-1]
    if is_new.all():
        return some, np.ones(some.size, dtype=np.intp)
    starts = np.flatnonzero(np.append(True, is_new))
    return some[starts], np.diff(starts, append=some.size)


def nearest(ladder: FloatArray, x: FloatArray) -> FloatArray:
    """Nearest of some increasing values.

    Examples
    --------
    >>> nearest(np.array([0.0, 1.0, 5.0]), np.array([0.9, 4.0]))
    array([1., 5.])
    """
    place = np.searchsorted((ladder[1:] + ladder[:-1]) / 2, x)
    return np.asarray(ladder[place])


# --- Several axes, one after the other: what looks at the cells of one bin at a time looks at all at once


Scalar = TypeVar("Scalar", bound=np.generic)
FAINT = 0.05  # effective rows: a cell of less weight counts as empty
MERGE_BATCH_AXES = 64  # axes that are united together: their cells stay in a fast cache
OF_ROWS = ("count", "weight", "weight_squares", "mean_x", "sxx", "low", "high")
OF_SERIES = ("mean", "sxd", "sdd")


@dataclass(frozen=True, eq=False)
class CellRow(Cells):
    """Cells of several axes, one axis after the other."""

    # left, right (n_cells,): limits of each cell
    left: FloatArray
    right: FloatArray

    def runs(self, limits: IntArray, axis: int = 0) -> MergedCells:  # noqa: ARG002 - all are in one row
        """Which cells become one; every axis begins at a limit."""
        return MergedCells(slice(None), limits[:-1], limits[1:] - limits[:-1])

    def unite(self, limits: IntArray, axis: int = 0) -> CellRow:  # noqa: ARG002
        """Unite the cells between the chosen limits."""
        return CellRow((), self.left[limits[:-1]], self.right[limits[1:] - 1])


@dataclass(frozen=True, eq=False)
class BatchedCells:
    """Several axes, one axis after the other."""

    cells: Moments
    sizes: IntArray  # (n_axes,): how many of them each axis has
    each: FloatArray  # (n_axes,): effective rows of an axis, for a unit of weight

    @classmethod
    def of(cls, batch: Sequence[Moments], n_series: int | None = 1) -> BatchedCells:
        """Put axes in a row, with their first series; with all, which are then the same ones."""
        edges = [moments.grid.edges for moments in batch]
        left, right = (
            np.concatenate([e[part] for e in edges]) for part in (slice(-1), slice(1, None))
        )
        joined: dict[str, Any] = {
            n: np.concatenate([getattr(m, n) for m in batch]) for n in OF_ROWS
        }
        joined |= {
            n: np.concatenate([getattr(m, n)[:n_series] for m in batch], axis=1) for n in OF_SERIES
        }
        stepped = batch[0].is_stepped
        cells = Moments(cells=CellRow((), left, right), is_stepped=stepped, **joined)
        sizes = np.array([moments.weight.size for moments in batch])
        return cls(cells, sizes, np.array([m.rows_of_weight for m in batch]))

    @property
    def counts(self) -> BoolArray:
        """Whether the mean of a cell counts by itself, shape (n_cells,)."""
        return self.cells.weight * np.repeat(self.each, self.sizes) > FAINT

    @property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """Limits of each cell."""
        row = cast(CellRow, self.cells.cells)
        return row.left, row.right

    @property
    def spans(self) -> FloatArray:
        """How wide each axis is, shape (n_axes,)."""
        last, (left, right) = np.cumsum(self.sizes), self.ends
        return np.asarray(right[last - 1] - left[last - self.sizes])

    def join(self, limits: Sequence[IntArray]) -> IntArray:
        """Limits of each axis among the cells of all."""
        return join_batch_limits(limits, self.sizes)

    def slices(self) -> list[slice]:
        """Slices of the cells of each axis among all."""
        return slices(self.sizes)

    def split(self, values: npt.NDArray[Scalar]) -> list[npt.NDArray[Scalar]]:
        """What was found for the cells of all axes, axis by axis."""
        return np.split(values, np.cumsum(self.sizes)[:-1])

    def unite(self, limits: Sequence[IntArray]) -> BatchedCells:
        """Unite the cells of each axis between limits."""
        united = self.cells.unite(self.join(limits))
        return replace(self, cells=united, sizes=np.array([one.size - 1 for one in limits]))


def join_batch_limits(limits: Sequence[IntArray], sizes: IntArray) -> IntArray:
    """Limits of axes of so many cells, among the cells of all.

    Examples
    --------
    >>> join_batch_limits([np.array([0, 1, 3]), np.array([0, 2])], np.array([3, 2]))
    array([0, 1, 3, 5])
    """
    starts = np.cumsum(sizes) - sizes
    own = [one[:-1] + start for one, start in zip(limits, starts, strict=True)]
    return np.concatenate([*own, [sizes.sum()]])


def pad_batch_values(values: FloatArray, sizes: IntArray) -> FloatArray:
    """Values of all axes as a table, axis by axis, shape (..., n_axes, most cells); 0 behind the last cell.

    Examples
    --------
    >>> pad_batch_values(np.array([1.0, 2.0, 3.0]), np.array([2, 1]))
    array([[1., 2.],
           [3., 0.]])
    """
    is_cell = np.arange(sizes.max()) < sizes[:, None]
    whole = np.zeros((*values.shape[:-1], *is_cell.shape))
    whole[..., is_cell] = values
    return whole


def slices(sizes: IntArray) -> list[slice]:
    """Slices of parts of so many numbers, one after another."""
    ends = np.cumsum(sizes).tolist()
    return [slice(end - size, end) for size, end in zip(sizes.tolist(), ends, strict=True)]


def unite_all(batch: Sequence[Moments], limits: Sequence[IntArray]) -> list[Moments]:
    """Unite the cells of each axis between its limits, as `Moments.unite` does, for all together.

    Examples
    --------
    >>> from rhale.effects.binning.cells import Grid
    >>> from rhale.effects.binning.moments import measure_moments
    >>> x = np.arange(4.0)
    >>> cells = [measure_moments(Grid(np.arange(0.0, 4.0, step)), x, x) for step in (1.0, 1.5)]
    >>> [m.count.tolist() for m in unite_all(cells, [np.array([0, 1, 3]), np.array([0, 2])])]
    [[1, 3], [4]]
    """
    found, alike = dict[int, Moments](), dict[tuple[object, ...], list[int]]()
    for at, moments in enumerate(batch):
        alike.setdefault((len(moments.mean), moments.is_stepped), []).append(at)
    for places in alike.values():
        for first in range(0, len(places), MERGE_BATCH_AXES):
            some = places[first : first + MERGE_BATCH_AXES]
            row = BatchedCells.of([batch[at] for at in some], n_series=None)
            row = row.unite([limits[at] for at in some])
            for at, part in zip(some, row.slices(), strict=True):
                sums: dict[str, Any] = {
                    n: getattr(row.cells, n)[..., part] for n in OF_ROWS + OF_SERIES
                }
                cells = batch[at].cells.unite(limits[at])
                found[at] = Moments(cells=cells, is_stepped=batch[at].is_stepped, **sums)
    return [found[at] for at in range(len(batch))]
