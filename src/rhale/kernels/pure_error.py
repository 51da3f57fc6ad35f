"""Pure error: how much rows vary by themselves, whatever the mean effect does around them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np

from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.moments import Moments, about_line
from rhale.kernels.segments import ROUNDING, drop_rounding

FEWEST_POOLED = 30.0  # rows around a cell that tell how rows vary there
SURE = 2.0  # normal quantile of the confidence limit of a variance
ENOUGH_INSIDE = 0.5  # of the rows: free squares inside cells that tell the noise by themselves
LEAST_FREE = 1e-9  # fewer free squares than that are none
FAINT = 0.05  # effective rows: a cell of less weight says nothing, as if it were empty


def has_enough_rows(moments: Moments) -> BoolArray:
    """Cells whose means count by themselves, shape (n_cells,)."""
    return moments.row_shares > FAINT


def pure_squares(cells: FilledCells) -> FloatArray:
    """Most that the rows of a cell vary by themselves; inf where nothing is known.

    Parameters
    ----------
    cells : FilledCells
        Of one series.

    Returns
    -------
    ndarray of shape (n_cells,)
        A variance; 0 in cells without weight.

    Notes
    -----
    As `pure_variance`, of the cell itself or of the thirty rows around it.
    """
    low, high = windows(cells.reached, np.maximum(FEWEST_POOLED, cells.rows))
    most = (pool(cells, squares, low, high).most for squares in cells.about_lines)
    return cells.everywhere(reduce(np.minimum, most))


def pure_variance(cells: FilledCells, limits: IntArray) -> FloatArray:
    """Most that the rows of a bin vary by themselves, whatever the mean effect does in the bin.

    Parameters
    ----------
    cells : FilledCells
        Of one series.
    limits : ndarray of shape (n_bins + 1,)
        The bins.

    Returns
    -------
    ndarray of shape (n_bins,)
        A variance; inf where nothing is known.

    Notes
    -----
    Two estimates that no smooth mean effect disturbs: squares about the line of each cell
    (where these are half of all squares), and these pooled with squared bends, the distances of
    a cell's mean from the line between its neighbours. The smaller one of their upper confidence
    limits counts: a fit that is adequate has a residual variance below it, and keeps it.
    """
    n_bins = limits.size - 1
    bins = np.repeat(np.arange(n_bins), limits[1:] - limits[:-1])[cells.places]
    inner = bins[2:] == bins[:-2]  # a bend across the limit of a bin may be a jump
    middle, most = bins[1:-1][inner], np.full(n_bins, np.inf)
    for squares in cells.about_lines:
        total: FloatArray = np.bincount(bins, squares.inside, n_bins).astype(np.float64)
        free: FloatArray = np.bincount(bins, squares.free, n_bins).astype(np.float64)
        if squares.between.size:
            total = total + np.bincount(middle, squares.between[inner], n_bins)
            free = free + np.bincount(middle, minlength=n_bins)
        most = np.minimum(most, Pool(total, free).most)
    return most


class Pool(NamedTuple):
    """Sums of squares, each of the variance of one row, and how many of them are free."""

    squares: FloatArray
    free: FloatArray

    @property
    def variance(self) -> FloatArray:
        """Squares for each free one; 0 where there is none."""
        return np.asarray(self.squares / np.where(self.free > LEAST_FREE, self.free, 1.0))

    @property
    def most(self) -> FloatArray:
        """Upper confidence limit of the variance; inf where nothing is known."""
        # quantile of chi-squared by Wilson and Hilferty: with few free squares the limit is far
        part = 2.0 / (9.0 * np.maximum(self.free, LEAST_FREE))
        lowest = np.maximum(1.0 - part - SURE * np.sqrt(part), 0.0) ** 3
        far = np.full_like(lowest, np.inf)
        return np.asarray(np.divide(self.variance, lowest, out=far, where=lowest > 0.0))


class Squares(NamedTuple):
    """What tells how rows vary: squares inside the cells, and between neighbouring ones.

    Attributes
    ----------
    inside, free : ndarray of shape (n_filled,)
        Sum of the squares of each cell, and how many of them are free.
    between : ndarray of shape (n_between,)
        Squared steps or bends, each scaled to the variance of one row.
    ranks : ndarray of shape (n_between,)
        Where they stand, in rows from the left.
    """

    inside: FloatArray
    free: FloatArray
    between: FloatArray
    ranks: FloatArray


@dataclass(frozen=True, eq=False)
class FilledCells:
    """Cells whose means count, as far as noise is concerned.

    Attributes
    ----------
    n_cells : int
        All cells, empty ones included.
    places : ndarray of shape (n_filled,)
        Which of all cells these are.
    rows, x, mean : ndarray of shape (n_filled,)
        Effective rows, mean feature value, mean local effect.
    around_mean, around_line : ndarray of shape (n_filled,)
        Squares of the local effects about the cell's mean and about its line.
    varies : ndarray of shape (n_filled,)
        Whether x varies in the cell.
    """

    n_cells: int
    places: IntArray
    rows: FloatArray
    x: FloatArray
    mean: FloatArray
    around_mean: FloatArray
    around_line: FloatArray
    varies: BoolArray

    @classmethod
    def of(cls, moments: Moments) -> FilledCells:
        """Take what is needed of the moments."""
        places = np.flatnonzero(has_enough_rows(moments))
        weight, rows, mean = (a[places] for a in (moments.weight, moments.rows, moments.mean[0]))
        sxx, sxd = moments.sxx[places], moments.sxd[0][places]
        sdd = drop_rounding(weight, mean, moments.sdd[0][places])
        line = about_line(sxx, sxd, sdd)
        each = rows / weight
        return cls(
            n_cells=moments.weight.size,
            places=places,
            rows=rows,
            x=moments.mean_x[places],
            mean=mean,
            around_mean=sdd * each,
            around_line=line * each,
            varies=sxx > 0,
        )

    @cached_property
    def reached(self) -> FloatArray:
        """Rows before the first cell, up to its end, up to the end of the second, ..."""
        return running_sum(self.rows)

    @property
    def about_means(self) -> Squares:
        """Squares that see every change of the mean effect."""
        # cells of one row have no squares inside: there the steps alone tell the noise
        steps = squared_steps(self.mean, self.rows)
        free = np.maximum(self.rows - 1.0, 0.0)
        return Squares(self.around_mean, free, steps, self.reached[1:-1])

    @cached_property
    def about_lines(self) -> tuple[Squares, ...]:
        """Squares that see bends of the mean effect, and those that see bends inside cells only.

        The latter only where they tell enough by themselves.
        """
        free = np.maximum(self.rows - 1.0 - self.varies, 0.0)
        inside, none = np.where(free > 0, self.around_line, 0.0), np.empty(0)
        middle = (self.reached[1:] + self.reached[:-1]) / 2
        bends = squared_bends(self.x, self.mean, self.rows)
        both = Squares(inside, free, bends, middle[1:-1])
        # in small cells a line takes an odd row in: squares about lines alone would not see it
        is_known = free.sum() >= ENOUGH_INSIDE * self.rows.sum()
        return (both, Squares(inside, free, none, none)) if is_known else (both,)

    def everywhere(self, values: FloatArray) -> FloatArray:
        """Values of these cells among all cells, 0 in the others."""
        full = np.zeros(self.n_cells)
        full[self.places] = values
        return full


def pool(cells: FilledCells, squares: Squares, low: FloatArray, high: FloatArray) -> Pool:
    """Add up the squares between two ranks, a cell in part where the window cuts it."""
    reached = cells.reached
    inside = _between(reached, squares.inside, low, high)
    free = _between(reached, squares.free, low, high)
    if not squares.ranks.size:
        return Pool(inside, free)
    # what lies between cells counts whole where it stands in the window; ranks carry rounding
    first = squares.ranks.searchsorted(low - 1e-9)
    last = squares.ranks.searchsorted(high + 1e-9)
    between = running_sum(squares.between)
    return Pool(inside + between[last] - between[first], free + last - first)


def running_sum(values: FloatArray) -> FloatArray:
    """Sums of none, of the first, of the first two, ... values."""
    sums = np.zeros(values.size + 1)
    np.cumsum(values, out=sums[1:])
    return sums


def squared_steps(mean: FloatArray, rows: FloatArray) -> FloatArray:
    """Squared steps between neighbours, each scaled to the variance of one row."""
    step = mean[1:] - mean[:-1]
    # what a model's own arithmetic may cause is no noise: a constant must have none
    step[np.abs(step) <= ROUNDING * np.maximum(np.abs(mean[1:]), np.abs(mean[:-1]))] = 0.0
    return np.asarray(step**2 / (1 / rows[1:] + 1 / rows[:-1]))


def squared_bends(x: FloatArray, mean: FloatArray, rows: FloatArray) -> FloatArray:
    """Squared distances from the line between both neighbours, scaled to the variance of one row."""
    if x.size < 3:
        return np.empty(0)
    left = (x[2:] - x[1:-1]) / (x[2:] - x[:-2])
    bend = left * mean[:-2] + (1 - left) * mean[2:] - mean[1:-1]
    size = np.abs(mean)
    largest = np.maximum(np.maximum(size[:-2], size[1:-1]), size[2:])
    bend[np.abs(bend) <= ROUNDING * largest] = 0.0
    return np.asarray(bend**2 / (left**2 / rows[:-2] + (1 - left) ** 2 / rows[2:] + 1 / rows[1:-1]))


def windows(reached: FloatArray, rows: FloatArray | float) -> tuple[FloatArray, FloatArray]:
    """First and last rank of the window of so many rows around every cell."""
    total, middle = reached[-1], (reached[1:] + reached[:-1]) / 2
    width = np.minimum(rows, total)
    # moved inside, not cut off: at the ends the estimate is as steady as elsewhere
    low = np.clip(middle - width / 2, 0.0, total - width)
    return low, low + width


def _between(
    reached: FloatArray, values: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Sum of the cells' values between two ranks, a cell in part where the window cuts it."""
    total = running_sum(values)
    return np.asarray(np.interp(high, reached, total) - np.interp(low, reached, total))
