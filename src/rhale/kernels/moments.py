"""Joint moments of (x, local effect) in every cell: they merge exactly, and size ends here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from rhale.errors import BadEffectsError
from rhale.kernels import FloatArray, IntArray
from rhale.kernels.grid import Grid
from rhale.kernels.records import crosses_processes

Number = TypeVar("Number", np.float64, np.intp)
BLOCK_ROWS = 2**15  # a block's columns stay in the processor's cache
LOST = 1e-13  # of the squares: what is left below that after a subtraction is rounding
LARGEST, SMALLEST = 1e150, 1e-150  # squares of these are still ordinary numbers


@crosses_processes
@dataclass(frozen=True, eq=False)
class Moments:
    """Weights, means and squared deviations of x and of one or more series, cell by cell.

    Attributes
    ----------
    grid : Grid
        The cells.
    count : ndarray of shape (n_cells,)
        Rows.
    weight, weight_squares : ndarray of shape (n_cells,)
        Sum of the rows' weights and of their squares.
    mean_x, sxx : ndarray of shape (n_cells,)
        Mean of x and sum of its weighted squared deviations; 0 where a cell is empty.
    mean, sxd, sdd : ndarray of shape (n_series, n_cells)
        Mean of each series, sum of its products with x and of its squares, as deviations.

    Notes
    -----
    `a + b` describes the rows of both (Chan, Golub and LeVeque); `empty` is the identity.
    """

    grid: Grid
    count: IntArray
    weight: FloatArray
    weight_squares: FloatArray
    mean_x: FloatArray
    sxx: FloatArray
    mean: FloatArray
    sxd: FloatArray
    sdd: FloatArray

    def __add__(self, other: Moments) -> Moments:
        if self.grid != other.grid:
            msg = "moments over different cells cannot be added"
            raise ValueError(msg)
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        leverage = self.weight * share
        step_x, step = other.mean_x - self.mean_x, other.mean - self.mean
        return Moments(
            self.grid,
            self.count + other.count,
            weight,
            self.weight_squares + other.weight_squares,
            self.mean_x + step_x * share,
            self.sxx + other.sxx + step_x**2 * leverage,
            self.mean + step * share,
            self.sxd + other.sxd + step_x * step * leverage,
            self.sdd + other.sdd + step**2 * leverage,
        )

    @property
    def rows(self) -> FloatArray:
        """Effective number of rows, (sum w)² / sum w², shape (n_cells,)."""
        squares = self.weight_squares
        return np.divide(self.weight**2, squares, out=np.zeros_like(squares), where=squares > 0)

    @property
    def total_rows(self) -> float:
        """Effective number of rows of all cells together."""
        squares = float(self.weight_squares.sum())
        return float(self.weight.sum()) ** 2 / squares if squares > 0 else 0.0

    @property
    def row_shares(self) -> FloatArray:
        """Effective rows of all cells together, shared out by weight, shape (n_cells,).

        Unlike `rows` they add up, and a cell of hardly any weight has hardly any of them.
        """
        total = float(self.weight.sum())
        return self.weight * (self.total_rows / total) if total > 0 else self.weight

    @property
    def variance(self) -> FloatArray:
        """Variance of each series about its mean, divisor n - 1; nan below two rows."""
        return self._per_row(self.sdd, 1)

    @property
    def slope(self) -> FloatArray:
        """Slope of the line through each series; 0 where x does not vary."""
        return np.divide(self.sxd, self.sxx, out=np.zeros_like(self.sxd), where=self.sxx > 0)

    @property
    def residual_variance(self) -> FloatArray:
        """Variance about that line, divisor n - 2; about the mean where x does not vary."""
        left = about_line(self.sxx, self.sxd, self.sdd)
        return np.where(self.sxx > 0, self._per_row(left, 2), self.variance)

    def _per_row(self, squares: FloatArray, used: int) -> FloatArray:
        """Squares per row, `used` parameters taken off the effective number of rows."""
        free = self.rows - used
        some = free > 1e-9
        per_row = squares * self.rows / np.where(self.weight > 0, self.weight, 1.0)
        return np.where(some, per_row / np.where(some, free, 1.0), np.nan)

    def series(self, *index: int) -> Moments:
        """Keep some of the series."""
        keep = list(index)
        return replace(self, mean=self.mean[keep], sxd=self.sxd[keep], sdd=self.sdd[keep])

    def unite(self, limits: IntArray) -> Moments:
        """Unite the cells between the chosen limits into larger ones.

        Parameters
        ----------
        limits : ndarray of shape (n_bins + 1,)
            Indices into `grid.edges`, increasing from 0 to n_cells.
        """
        starts, sizes = limits[:-1], np.diff(limits)
        weight = np.add.reduceat(self.weight, starts)
        share = self.weight / np.repeat(np.where(weight > 0, weight, 1.0), sizes)
        # means move from the first cell that has rows, so that equal means stay exactly equal
        anchor = np.repeat(first_filled(self.weight, starts), sizes)
        mean_x, step_x = _united_mean(self.mean_x, share, anchor, starts, sizes)
        mean, step = _united_mean(self.mean, share, anchor, starts, sizes)
        return Moments(
            Grid(self.grid.edges[limits], self.grid.closed),
            np.add.reduceat(self.count, starts),
            weight,
            np.add.reduceat(self.weight_squares, starts),
            mean_x,
            np.add.reduceat(self.sxx + self.weight * step_x**2, starts),
            mean,
            np.add.reduceat(self.sxd + self.weight * step_x * step, starts, axis=-1),
            np.add.reduceat(self.sdd + self.weight * step**2, starts, axis=-1),
        )


def about_line(sxx: FloatArray, sxd: FloatArray, sdd: FloatArray) -> FloatArray:
    """Squares about the line through the points, from their joint moments; rounding is none."""
    line = np.divide(
        sxd**2, sxx, out=np.zeros(np.broadcast_shapes(sxx.shape, sxd.shape)), where=sxx > 0
    )
    left = np.asarray(sdd - line)
    return np.where(left <= LOST * sdd, 0.0, left)


def empty(grid: Grid, n_series: int = 1) -> Moments:
    """Give the moments of no rows at all."""
    zeros, series = np.zeros(grid.n_cells), np.zeros((n_series, grid.n_cells))
    count = np.zeros(grid.n_cells, dtype=np.intp)
    return Moments(grid, count, zeros, zeros, zeros, zeros, series, series, series)


def measure(
    grid: Grid, x: FloatArray, values: FloatArray, weights: FloatArray | None = None
) -> Moments:
    """Measure the joint moments of x and of one or more series in every cell.

    Parameters
    ----------
    grid : Grid
        The cells; rows outside them are left out.
    x : ndarray of shape (n_rows,)
        Feature values.
    values : ndarray of shape (n_rows,) or (n_series, n_rows)
        Local effects.
    weights : ndarray of shape (n_rows,), optional
        How much each row matters.

    Returns
    -------
    Moments
        With one series per row of `values`.

    Notes
    -----
    O(n_rows) time, O(block) memory. Each block takes two passes, means first and deviations
    from them second, so that nothing is lost to cancellation.

    Examples
    --------
    >>> m = measure(Grid(np.array([0.0, 1.0, 2.0])), np.array([0.5, 1.5, 1.5]), np.array([1.0, 2, 4]))
    >>> m.mean, m.sdd
    (array([[1., 3.]]), array([[0., 2.]]))
    """
    values = np.atleast_2d(values)
    if x.size == 0:
        return empty(grid, len(values))
    check_magnitude(values)
    blocks = [slice(start, start + BLOCK_ROWS) for start in range(0, x.size, BLOCK_ROWS)]
    return reduce(
        add,
        (
            _measure_block(grid, x[b], values[:, b], None if weights is None else weights[b])
            for b in blocks
        ),
    )


def check_magnitude(values: FloatArray) -> None:
    """Refuse local effects whose squares would be infinite, zero or undefined."""
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    if not np.isfinite(largest):
        msg = "a local effect is not a finite number; check the model's predictions and gradient"
        raise BadEffectsError(msg)
    if largest > LARGEST or 0.0 < largest < SMALLEST:
        verb = "Divide" if largest > 1 else "Multiply"
        msg = (
            f"local effects reach {largest:.3g}; their squares do not fit into a number. "
            f"{verb} the model's output by a power of ten first"
        )
        raise BadEffectsError(msg)


def first_filled(weight: FloatArray, starts: IntArray) -> IntArray:
    """Index of the first cell with weight in each run of cells (the first cell if none has)."""
    index = np.arange(weight.size)
    found = np.minimum.reduceat(np.where(weight > 0, index, weight.size), starts)
    return np.where(found < weight.size, found, starts)


def _united_mean(
    mean: FloatArray, share: FloatArray, anchor: IntArray, starts: IntArray, sizes: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Mean of each run of cells, and every cell's deviation from it (0 for empty cells)."""
    base = mean[..., anchor]
    step = np.where(share > 0, mean - base, 0.0)
    shift = np.add.reduceat(share * step, starts, axis=-1)
    united = mean[..., anchor[starts]] + shift
    return united, np.where(share > 0, step - np.repeat(shift, sizes, axis=-1), 0.0)


def _measure_block(
    grid: Grid, x: FloatArray, values: FloatArray, weights: FloatArray | None
) -> Moments:
    """Measure one block: sums give the means, deviations from the means give the rest."""
    inside = grid.covers(x)
    if not inside.all():
        x, values = x[inside], values[:, inside]
        weights = None if weights is None else weights[inside]
    if x.size == 0:
        return empty(grid, len(values))
    cell = grid.locate_covered(x)
    order = np.argsort(cell, kind="stable")  # rows of a cell side by side: sums run fast
    cell = cell.take(order)
    starts = np.append(0, np.flatnonzero(cell[1:] != cell[:-1]) + 1)
    count = np.diff(np.append(starts, cell.size))
    w = None if weights is None else weights.take(order)

    def total(v: FloatArray) -> FloatArray:
        return np.add.reduceat(v, starts)

    def deviations(v: FloatArray) -> tuple[FloatArray, FloatArray]:
        # from the cell's first value first: equal values then deviate by exactly nothing
        first = v[starts]
        v -= np.repeat(first, count)
        shift = total(v if w is None else v * w) / weight
        v -= np.repeat(shift, count)
        return first + shift, v

    weight = count.astype(np.float64) if w is None else total(w)
    squares = weight if w is None else total(w * w)
    mean_x, dx = deviations(x.take(order))
    wdx = dx if w is None else dx * w
    mean, sxd, sdd = (np.empty((len(values), starts.size)) for _ in range(3))
    for i, d in enumerate(values):
        mean[i], dd = deviations(d.take(order))
        sxd[i] = total(wdx * dd)
        sdd[i] = total(dd * dd if w is None else dd * dd * w)

    def everywhere(v: npt.NDArray[Number]) -> npt.NDArray[Number]:
        full = np.zeros((*v.shape[:-1], grid.n_cells), dtype=v.dtype)
        full[..., cell[starts]] = v
        return full

    return Moments(
        grid,
        everywhere(count),
        everywhere(weight),
        everywhere(squares),
        everywhere(mean_x),
        everywhere(total(wdx * dx)),
        everywhere(mean),
        everywhere(sxd),
        everywhere(sdd),
    )
