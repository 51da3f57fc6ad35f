"""Joint moments of (x, local effect) in every cell; they merge exactly, and the number of rows ends here."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, reduce
from operator import add
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from rhale.effects.binning.cells import Cells, Grid, as_axis_cells
from rhale.errors import BadEffectsError
from rhale.stats.arrays import (
    LARGEST_SQUARABLE,
    SMALLEST_SQUARABLE,
    BoolArray,
    FloatArray,
    IntArray,
    as_frozen,
    crosses_processes,
)
from rhale.stats.jit import choose_compiled_loops

if TYPE_CHECKING:
    from rhale.output.storage.values import ArrayDimension, Numbers

MOMENT_BLOCK_ROWS = 2**16  # as many as chunks have; more would leave the processor's cache
WORSE = 16.0  # squares about a first row to those about the mean: more would cost digits
LOST = 1e-13  # of the squares: what is left below that after a subtraction is rounding
SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)


@crosses_processes
@dataclass(frozen=True, eq=False)
class Moments:
    """Weights, means and squared deviations of x and of one or more series, cell by cell.

    Attributes
    ----------
    cells : Cells
        The cells.
    count : ndarray of shape (n_cells,)
        Rows.
    weight, weight_squares : ndarray of shape (n_cells,)
        Sum of the rows' weights and of their squares.
    mean_x, sxx : ndarray of shape (n_cells,), or (n_axes, n_cells) if there are several
        Mean of x and sum of its weighted squared deviations; 0 where a cell is empty.
    low, high : ndarray of the same shape
        Smallest and largest x; inf and -inf where a cell is empty.
    mean, sdd : ndarray of shape (n_series, n_cells)
        Mean of each series, and sum of its weighted squared deviations.
    sxd : ndarray of shape (n_series, n_cells), or (n_axes, n_series, n_cells)
        Sum of the products of each series with x, as deviations.
    is_stepped : bool
        Whether the series are slopes of a model with steps: these are in the slopes, so that rows
        differ less than slopes do.

    Notes
    -----
    `a + b` describes the rows of both (Chan, Golub and LeVeque); `empty` is the identity.
    """

    cells: Cells
    count: Annotated[IntArray, Numbers.counts("cells")]
    weight: Annotated[FloatArray, Numbers.weights("cells")]
    weight_squares: Annotated[FloatArray, Numbers.weight_squares("cells")]
    mean_x: Annotated[FloatArray, Numbers.places("cells")]
    sxx: Annotated[FloatArray, Numbers.sizes("cells")]
    low: Annotated[FloatArray, Numbers.ends("cells", low=True)]
    high: Annotated[FloatArray, Numbers.ends("cells", low=False)]
    mean: Annotated[FloatArray, Numbers((ArrayDimension("series", least=1), "cells"))]
    sxd: Annotated[FloatArray, Numbers((ArrayDimension("series", least=1), "cells"))]
    sdd: Annotated[FloatArray, Numbers.sizes(ArrayDimension("series", least=1), "cells")]
    is_stepped: bool = False

    def __add__(self, other: Moments) -> Moments:
        if self.cells != other.cells:
            msg = "moments over different cells cannot be added"
            raise ValueError(msg)
        # with d the difference of the means: S = S_a + S_b + d d' n_a n_b / n
        weight = self.weight + other.weight
        is_plain = self.weight is self.weight_squares and other.weight is other.weight_squares
        share = other.weight / np.where(weight > 0, weight, 1.0)
        leverage = self.weight * share
        step_x, step = other.mean_x - self.mean_x, other.mean - self.mean
        return Moments(
            cells=self.cells,
            count=self.count + other.count,
            weight=weight,
            weight_squares=weight if is_plain else self.weight_squares + other.weight_squares,
            mean_x=self.mean_x + step_x * share,
            sxx=self.sxx + other.sxx + step_x**2 * leverage,
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
            mean=self.mean + step * share,
            sxd=self.sxd + other.sxd + step_x[..., None, :] * step * leverage,
            sdd=self.sdd + other.sdd + step**2 * leverage,
            is_stepped=self.is_stepped,
        )

    @property
    def grid(self) -> Grid:
        """The cells of moments over one axis."""
        (grid,) = self.cells.grids
        return grid

    @cached_property
    def rows(self) -> FloatArray:
        """Effective number of rows, (sum w)² / sum w², shape (n_cells,)."""
        squares = self.weight_squares
        rows = np.divide(self.weight**2, squares, out=np.zeros_like(squares), where=squares > 0)
        return as_frozen(rows)

    @cached_property
    def total_rows(self) -> float:
        """Effective number of rows of all cells together."""
        squares = float(self.weight_squares.sum())
        return float(self.weight.sum()) ** 2 / squares if squares > 0 else 0.0

    @cached_property
    def row_shares(self) -> FloatArray:
        """Effective rows of all cells together, shared out by weight, shape (n_cells,).

        Unlike `rows` they add up, and a cell of hardly any weight has hardly any of them.
        """
        return as_frozen(self.weight * self.rows_of_weight)

    @property
    def rows_of_weight(self) -> float:
        """Effective rows of all cells together, for a unit of weight."""
        total = float(self.weight.sum())
        return self.total_rows / total if total > 0 else 1.0

    @cached_property
    def variance(self) -> FloatArray:
        """Variance of each series about its mean, divisor n - 1; nan below two rows."""
        return as_frozen(self._per_row(self.sdd, 1))

    @property
    def slope(self) -> FloatArray:
        """Slope of the line through each series; 0 where x does not vary."""
        sxx = self.sxx[..., None, :]
        return np.divide(self.sxd, sxx, out=np.zeros_like(self.sxd), where=sxx > 0)

    @property
    def residual_variance(self) -> FloatArray:
        """Variance about that line, divisor n - 2; about the mean where x does not vary."""
        sxx = self.sxx[..., None, :]
        left = about_line(sxx, self.sxd, self.sdd)
        return np.where(sxx > 0, self._per_row(left, 2), self.variance)

    def _per_row(self, squares: FloatArray, used: int) -> FloatArray:
        """Squares per row, `used` parameters taken off the effective number of rows."""
        free = self.rows - used
        some = free > 1e-9
        per_row = squares * self.rows / np.where(self.weight > 0, self.weight, 1.0)
        return np.where(some, per_row / np.where(some, free, 1.0), np.nan)

    def series(self, *index: int) -> Moments:
        """Keep some of the series."""
        keep = list(index)
        return replace(
            self,
            mean=self.mean[keep],
            sxd=self.sxd[..., keep, :],
            sdd=self.sdd[keep],
        )

    def unite(self, limits: IntArray, axis: int = 0) -> Moments:
        """Unite the cells of an axis between the chosen limits into larger ones.

        Parameters
        ----------
        limits : ndarray of shape (n_bins + 1,)
            Indices into the edges of the axis, increasing from 0 to its number of cells.
        axis : int
            Which one.
        """
        # sums of the cells, and of the deviations of their means from the mean of the bin
        order, starts, sizes = self.cells.runs(limits, axis)
        count, weight, weight_squares, mean_x, sxx, low, high, mean, sxd, sdd = (
            getattr(self, name)[..., order] for name in SUMS
        )
        total = np.add.reduceat(weight, starts)
        share = weight / np.repeat(np.where(total > 0, total, 1.0), sizes)
        # means move from the first cell that has rows, so that equal means stay exactly equal
        index = np.arange(weight.size)
        first = np.minimum.reduceat(np.where(weight > 0, index, weight.size), starts)
        anchor = np.repeat(np.where(first < weight.size, first, starts), sizes)
        mean_x, step_x = _unite_means(mean_x, share, anchor, starts, sizes)
        mean, step = _unite_means(mean, share, anchor, starts, sizes)
        between = weight * step_x[..., None, :] * step
        return Moments(
            cells=self.cells.unite(limits, axis),
            count=np.add.reduceat(count, starts),
            weight=total,
            weight_squares=np.add.reduceat(weight_squares, starts),
            mean_x=mean_x,
            sxx=np.add.reduceat(sxx + weight * step_x**2, starts, axis=-1),
            low=np.minimum.reduceat(low, starts, axis=-1),
            high=np.maximum.reduceat(high, starts, axis=-1),
            mean=mean,
            sxd=np.add.reduceat(sxd + between, starts, axis=-1),
            sdd=np.add.reduceat(sdd + weight * step**2, starts, axis=-1),
            is_stepped=self.is_stepped,
        )

    def marginal(self, axis: int) -> Moments:
        """Moments over one axis of several, whatever the cell on the others."""
        if len(self.cells.grids) == 1:
            return self
        found = self
        for other, n_cells in enumerate(self.cells.shape):
            if other != axis:
                found = found.unite(np.array([0, n_cells]), other)
        places = ("mean_x", "sxx", "low", "high", "sxd")
        own = {name: getattr(found, name)[axis] for name in places}
        return replace(found, cells=Cells((self.cells.grids[axis],)), **own)

    def between(self, first: int, last: int) -> Moments:
        """Keep the cells between two limits of the one axis."""
        part = slice(first, last)
        cells = Cells((self.grid.keep(slice(first, last + 1)),))
        return replace(self, cells=cells, **{name: getattr(self, name)[..., part] for name in SUMS})


SUMS = tuple(f.name for f in fields(Moments) if f.name not in ("cells", "is_stepped"))
ADDED = ("weight", "weight_squares", "sxx", "sxd", "sdd")  # sums that are no numbers of rows


def about_line(sxx: FloatArray, sxd: FloatArray, sdd: FloatArray) -> FloatArray:
    """Squares about the line through the points, from their joint moments; rounding is none."""
    # where x does not vary there is no product either, and the line is level
    line = sxd**2 / np.maximum(sxx, SMALLEST_NORMAL)
    left = np.subtract(sdd, line, out=line)
    lost = left <= LOST * sdd
    if lost.any():
        left[lost] = 0.0
    return left


def empty(cells: Grid | Cells, n_series: int = 1) -> Moments:
    """Give the moments of no rows at all."""
    cells = as_axis_cells(cells)
    axes = (len(cells.grids),) if len(cells.grids) > 1 else ()
    zeros, series = np.zeros(cells.n_cells), np.zeros((n_series, cells.n_cells))
    places = np.zeros((*axes, cells.n_cells))
    return Moments(
        cells=cells,
        count=np.zeros(cells.n_cells, dtype=np.intp),
        weight=zeros,
        weight_squares=zeros,
        mean_x=places,
        sxx=places,
        low=places + np.inf,
        high=places - np.inf,
        mean=series,
        sxd=np.zeros((*axes, *series.shape)),
        sdd=series,
    )


def measure_moments(
    cells: Grid | Cells, x: FloatArray, values: FloatArray, weights: FloatArray | None = None
) -> Moments:
    """Measure the joint moments of x and of one or more series in every cell.

    `cells`: the cells, of one axis or several; rows outside them are left out; `x` (n_rows,) or
    (n_axes, n_rows): feature values; `values` (n_rows,) or (n_series, n_rows): local effects;
    `weights` (n_rows,): how much each row matters. Returns one series for each row of `values`.

    Examples
    --------
    >>> m = measure_moments(Grid(np.array([0.0, 1.0, 2.0])), np.array([0.5, 1.5, 1.5]), np.array([1.0, 2, 4]))
    >>> m.mean, m.sdd
    (array([[1., 3.]]), array([[0., 2.]]))
    """
    # O(n_rows) time, O(block) memory. Deviations are those from the first row of a cell, or from
    # the mean where that loses digits (`_sum_cells`). Where it pays, a compiled loop measures the
    # blocks (`stats.jit`): it adds in the same order, so the bits are the same.
    cells, values = as_axis_cells(cells), np.atleast_2d(values)
    n_rows = x.shape[-1]
    if n_rows == 0:
        return empty(cells, len(values))
    blocks = [
        slice(start, start + MOMENT_BLOCK_ROWS) for start in range(0, n_rows, MOMENT_BLOCK_ROWS)
    ]
    loops = choose_compiled_loops(values.size)
    if loops is not None and weights is None and _suits_loop(cells, x, values):
        parts = [_loop_block(loops.measure_block, cells, x[b], values[:, b]) for b in blocks]
        if not all(is_ordinary for _, is_ordinary in parts):
            check_magnitude(values)
        return reduce(add, (moments for moments, _ in parts))
    check_magnitude(values)
    return reduce(
        add,
        (
            _measure_block(cells, x[..., b], values[:, b], None if weights is None else weights[b])
            for b in blocks
        ),
    )


def average_model_moments(parts: Sequence[Moments]) -> Moments:
    """Moments of the same rows under several models, as if each model had its share of every row.

    `parts`: over the same cells, one for each model. Means are those of all models, squares hold how
    models differ, too; rows count once.
    """
    if len(parts) == 1:
        return parts[0]
    total, n_parts = reduce(add, parts), len(parts)
    shared = {name: getattr(total, name) / n_parts for name in ADDED}
    return replace(total, count=total.count // n_parts, **shared)


def check_magnitude(values: FloatArray) -> None:
    """Refuse local effects whose squares would be infinite, zero or undefined."""
    high, low = (
        float(end.reduce(values, axis=None, initial=0.0)) for end in (np.maximum, np.minimum)
    )
    largest = max(high, -low)
    if not math.isfinite(largest):
        msg = "a local effect is not a finite number; check the model's predictions and gradient"
        raise BadEffectsError(msg)
    if largest > LARGEST_SQUARABLE or 0.0 < largest < SMALLEST_SQUARABLE:
        verb = "Divide" if largest > 1 else "Multiply"
        msg = (
            f"local effects reach {largest:.3g}; their squares do not fit into a number. "
            f"{verb} the model's output by a power of ten first"
        )
        raise BadEffectsError(msg)


def _unite_means(
    mean: FloatArray, share: FloatArray, anchor: IntArray, starts: IntArray, sizes: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Mean of each run of cells, and every cell's deviation from it (0 for empty cells)."""
    base = mean[..., anchor]
    step = np.where(share > 0, mean - base, 0.0)
    shift = np.add.reduceat(share * step, starts, axis=-1)
    united = mean[..., anchor[starts]] + shift
    return united, np.where(share > 0, step - np.repeat(shift, sizes, axis=-1), 0.0)


def _suits_loop(cells: Cells, x: FloatArray, values: FloatArray) -> bool:
    """Whether the compiled loop knows these rows: one axis, and a table of few buckets."""
    if len(cells.grids) > 1 or not x.dtype == values.dtype == np.float64:
        return False
    buckets = cells.grids[0].buckets_for(x.size)
    return bool(buckets.size) and buckets.dtype == np.int16


def _loop_block(
    loop: Callable[..., Any], cells: Cells, x: FloatArray, values: FloatArray
) -> tuple[Moments, bool]:
    """Measure one block by the compiled loop: the bits of `_measure_block`.

    Return, too, whether `check_magnitude` may be left out: where the sum of their
    squares is an ordinary number, none of them is too large, and the largest is not too small.
    """
    (grid,) = cells.grids
    x = np.ascontiguousarray(x)  # to copy a column is quicker than to walk down a table
    some = values if len(values) else x[None]  # places are measured along with a series
    count, (low, high, mean_x, sxx), series, square = loop(
        grid.edges, grid.closed == "left", grid.buckets_for(x.size), x, some, WORSE
    )
    mean, sxd, sdd = series[: len(values)].swapaxes(0, 1)
    weight = count.astype(np.float64)
    moments = Moments(
        cells=cells,
        count=count,
        weight=weight,
        weight_squares=weight,
        mean_x=mean_x,
        sxx=sxx,
        low=low,
        high=high,
        mean=mean,
        sxd=sxd,
        sdd=sdd,
    )
    # twice and half: the sum is rounded, too
    return moments, 2 * SMALLEST_SQUARABLE**2 * values.size < square < LARGEST_SQUARABLE**2 / 2


def _measure_block(
    cells: Cells, x: FloatArray, values: FloatArray, weights: FloatArray | None
) -> Moments:
    """Measure one block, in the order of cells."""
    if not cells.covers_all(x):
        inside = cells.covers(x)
        x, values = x[..., inside], values[:, inside]
        weights = None if weights is None else weights[inside]
    if x.size == 0:
        return empty(cells, len(values))
    rows = _Sorted.of(cells, x, weights)
    sums = _sum_cells(rows, values).spread(rows.filled, cells.n_cells)
    weight = rows.count.astype(np.float64)
    squares = weight
    if rows.w is not None:
        weight, squares = np.zeros_like(weight), np.zeros_like(weight)
        weight[rows.filled], squares[rows.filled] = rows.weight, rows.total(rows.w * rows.w)
    return Moments(
        cells=cells,
        count=rows.count,
        weight=weight,
        weight_squares=squares,
        mean_x=sums.mean_x,
        sxx=sums.sxx,
        low=sums.low,
        high=sums.high,
        mean=sums.mean,
        sxd=sums.sxd,
        sdd=sums.sdd,
    )


@dataclass(frozen=True, eq=False)
class _Sorted:
    """Rows of a block in the order of their cells: those of a cell side by side."""

    order: IntArray  # (n_rows,)
    x: FloatArray  # (n_rows,) or (n_axes, n_rows): their places, in this order
    count: IntArray  # (n_cells,): how many each cell has
    # filled, starts, sizes (n_filled,): the cells that have rows, where these begin in this order,
    # and how many they are
    filled: IntArray
    starts: IntArray
    sizes: IntArray
    w: FloatArray | None  # (n_rows,): weights of the rows in this order
    weight: FloatArray  # (n_filled,): their sums

    @classmethod
    def of(cls, cells: Cells, x: FloatArray, weights: FloatArray | None) -> _Sorted:
        order, x, count = cells.arrange(x)  # sums of neighbours run fast
        (filled,) = count.nonzero()
        sizes = count[filled]
        starts = sizes.cumsum() - sizes
        w = None if weights is None else weights.take(order)
        weight = sizes.astype(np.float64) if w is None else np.add.reduceat(w, starts)
        return cls(
            order=order,
            x=x,
            count=count,
            filled=filled,
            starts=starts,
            sizes=sizes,
            w=w,
            weight=weight,
        )

    def only(self, which: BoolArray) -> _Sorted:
        """Keep the rows of some of the filled cells."""
        inside, sizes = which.repeat(self.sizes), self.sizes[which]
        return replace(
            self,
            order=self.order[inside],
            x=self.x[..., inside],
            filled=self.filled[which],
            starts=sizes.cumsum() - sizes,
            sizes=sizes,
            w=None if self.w is None else self.w[inside],
            weight=self.weight[which],
        )

    def weigh(self, v: FloatArray) -> FloatArray:
        """Values times weights."""
        return v if self.w is None else v * self.w

    def total(self, v: FloatArray) -> FloatArray:
        """Sum over the rows of each cell."""
        return np.add.reduceat(v, self.starts)

    def deviate(self, v: FloatArray, *, exactly: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Take the first value of its cell off every value, in place, or exactly: their mean.

        Returns `mean, shift, total` (n_filled,): means of the values; means of what is left of
        them, and its sums.
        """
        # from the cell's first value first: equal values then deviate by exactly nothing
        first = v[self.starts]
        v -= first.repeat(self.sizes)
        total = self.total(self.weigh(v))
        shift = total / self.weight
        mean = first + shift
        if exactly:
            v -= shift.repeat(self.sizes)
            shift = total = np.zeros_like(shift)
        return mean, shift, total


class _Sums(NamedTuple):
    """Numbers of cells, as in `Moments`, that are parts of one array."""

    whole: FloatArray  # (n_numbers, n_cells): all of them
    # low, high, mean_x (n_cells,), or (n_axes, n_cells) if there are several: of the places
    low: FloatArray
    high: FloatArray
    mean_x: FloatArray
    mean: FloatArray  # (n_series, n_cells): of the series
    squares: FloatArray  # (n_axes + n_series, n_cells): of both, as deviations
    # sxx, sdd, sxd: parts of them, and products
    sxx: FloatArray
    sdd: FloatArray
    sxd: FloatArray

    @classmethod
    def of(cls, whole: FloatArray, axes: tuple[int, ...], n_series: int) -> _Sums:
        """Take one array for the numbers of so many axes, and series."""
        n_axes, n_cells = math.prod(axes), whole.shape[1]
        first, second = 3 * n_axes + n_series, 4 * n_axes + 2 * n_series
        low, high, mean_x = whole[: 3 * n_axes].reshape(3, *axes, n_cells)
        squares = whole[first:second]
        return cls(
            whole=whole,
            low=low,
            high=high,
            mean_x=mean_x,
            mean=whole[3 * n_axes : first],
            squares=squares,
            sxx=squares[:n_axes].reshape(*axes, n_cells),
            sdd=squares[n_axes:],
            sxd=whole[second:].reshape(*axes, n_series, n_cells),
        )

    def spread(self, filled: IntArray, n_cells: int) -> _Sums:
        """Put the numbers of the filled cells among those of all cells, which have none."""
        if filled.size == n_cells:
            return self
        whole = np.zeros((len(self.whole), n_cells))
        spread = _Sums.of(whole, self.low.shape[:-1], len(self.mean))
        spread.low.fill(np.inf)
        spread.high.fill(-np.inf)
        whole[:, filled] = self.whole
        return spread


def _sum_cells(rows: _Sorted, values: FloatArray, *, exactly: bool = False) -> _Sums:
    """Add up the rows of each cell about the first of them, or exactly: about their mean."""
    # Squares S about the mean m are less than those about a first row a, by n (a - m)². Sums are
    # rounded by some 30 units in their last place at most, since they are added in halves, and so
    # S has that error times the ratio of both, which is two on average. As a is one of the rows,
    # (a - m)² <= S, and the ratio is never above n + 1 where rows count alike. Where it is above
    # `WORSE`, because the first row is four deviations out, the cell is added up exactly. So twelve
    # digits are right, whatever the rows.
    axes, n_series = rows.x.shape[:-1], len(values)
    n_axes = math.prod(axes)
    n_numbers = 4 * n_axes + 2 * n_series + n_axes * n_series
    sums = _Sums.of(np.empty((n_numbers, rows.starts.size)), axes, n_series)
    about, sides = np.empty_like(sums.squares), []
    each: list[tuple[int, ...]] = [(a,) for a in range(n_axes)] if axes else [()]
    for i, a in enumerate(each):
        dx = rows.x[a]
        np.minimum.reduceat(dx, rows.starts, out=sums.low[a])
        np.maximum.reduceat(dx, rows.starts, out=sums.high[a])
        sums.mean_x[a], shift, total = rows.deviate(dx, exactly=exactly)
        gap = rows.weigh(dx)
        about[i] = rows.total(gap * dx)
        sums.sxx[a] = about[i] - shift * total
        sides.append((a, gap, shift))
    for i, d in enumerate(values, start=n_axes):
        dd = d.take(rows.order)
        sums.mean[i - n_axes], shift, total = rows.deviate(dd, exactly=exactly)
        for a, gap, shift_x in sides:
            sums.sxd[(*a, i - n_axes)] = rows.total(gap * dd) - shift_x * total
        dd *= dd
        about[i] = rows.total(rows.weigh(dd))
        sums.squares[i] = about[i] - shift * total
    if not exactly:
        is_fine = about <= WORSE * sums.squares  # an undefined number is not
        if not is_fine.all():
            # squares about the first row are too large: add these cells up about their means
            lost = np.asarray((~is_fine).any(axis=0))
            again = _sum_cells(rows.only(lost), values, exactly=True)
            sums.squares[:, lost] = again.squares
            sums.sxd[..., lost] = again.sxd
    sums.whole[: 2 * n_axes] += 0.0  # of 0 and -0 neither is smaller: 0 it is, on every machine
    return sums
