"""Pure error: the variance of local effects within cells, whatever the mean effect does around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np

from rhale.effects.binning.axis import FAINT, BatchedCells, slices
from rhale.effects.binning.moments import Moments, about_line
from rhale.effects.binning.segments import MODEL_ROUNDING, zero_rounding_squares
from rhale.stats.arrays import BoolArray, FloatArray, IntArray

FEWEST_POOLED = 30.0  # rows around a cell, from which its variance is estimated
VARIANCE_LIMIT_QUANTILE = 2.0  # normal quantile of the confidence limit of a variance
ENOUGH_INSIDE = 0.5  # of the rows: free squares inside cells that suffice by themselves
LEAST_FREE = 1e-9  # fewer free squares than that are none


def has_enough_rows(moments: Moments) -> BoolArray:
    """Cells whose means count by themselves, shape (n_cells,)."""
    return moments.row_shares > FAINT


def pure_squares(cells: NonEmptyCells) -> FloatArray:
    """Most that the rows of a cell vary by themselves; inf where nothing is known.

    Returns (n_cells,): A variance; 0 in cells without weight.
    """
    # As `pure_variance`, of the cell itself or of the thirty rows around it.
    around = cells.around(np.maximum(FEWEST_POOLED, cells.rows))
    most = (around.pool(squares).most for squares in cells.about_lines)
    return cells.everywhere(reduce(np.minimum, most))


def pure_variance(cells: NonEmptyCells, limits: IntArray) -> FloatArray:
    """Most that the rows of a bin vary by themselves, whatever the mean effect does in the bin.

    `limits` (n_bins + 1,): the bins of all axes. Returns (n_bins,): A variance; inf where nothing
    is known.
    """
    # Two estimates that no smooth mean effect disturbs: squares about the line of each cell
    # (where these are half of all squares), and these pooled with squared bends, the distances of
    # a cell's mean from the line between its neighbours. The smaller one of their upper confidence
    # limits counts: a fit that is adequate has a residual variance below it, and keeps it.
    # sums of squares and of degrees of freedom, bin by bin
    n_bins = limits.size - 1
    bins = np.repeat(np.arange(n_bins), limits[1:] - limits[:-1])[cells.places]
    left, middle, right = (bins[own] for own in cells.triples)
    inner = left == right  # a bend across the limit of a bin may be a jump
    middle, most = middle[inner], np.full(n_bins, np.inf)
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
        # quantile of chi-squared by Wilson and Hilferty (1931): with few free squares the limit is
        # far
        part = 2.0 / (9.0 * np.maximum(self.free, LEAST_FREE))
        lowest = np.maximum(1.0 - part - VARIANCE_LIMIT_QUANTILE * np.sqrt(part), 0.0) ** 3
        far = np.full_like(lowest, np.inf)
        return np.asarray(np.divide(self.variance, lowest, out=far, where=lowest > 0.0))


class PureErrorSquares(NamedTuple):
    """Squares for the variance between rows: inside the cells, and between neighbouring ones."""

    # inside, free (n_filled,): sum of the squares of each cell, and how many of them are free
    inside: FloatArray
    free: FloatArray
    # (n_between,): squared steps or bends, each scaled to the variance of one row
    between: FloatArray
    ranks: Sequence[FloatArray] = ()  # Their positions on each axis, in rows from the left


@dataclass(frozen=True, eq=False)
class NonEmptyCells:
    """Cells whose means count, as far as noise is concerned; those of several axes in a row."""

    n_cells: int  # All cells, empty ones included
    places: IntArray  # (n_filled,): which of all cells these are
    sizes: IntArray  # (n_axes,): how many of these each axis has
    # rows, x, mean (n_filled,): effective rows, mean feature value, mean local effect
    rows: FloatArray
    x: FloatArray
    mean: FloatArray
    # around_mean, around_line (n_filled,): squares of the local effects about the cell's mean and
    # about its line
    around_mean: FloatArray
    around_line: FloatArray
    varies: BoolArray  # (n_filled,): whether x varies in the cell

    @classmethod
    def of(cls, axes: BatchedCells) -> NonEmptyCells:
        """Take what is needed of the moments."""
        # of effective rows: squares by weight times rows for a unit of weight
        moments, counts = axes.cells, axes.counts
        places = np.flatnonzero(counts)
        weight, rows, mean = (a[places] for a in (moments.weight, moments.rows, moments.mean[0]))
        sxx, sxd = moments.sxx[places], moments.sxd[0][places]
        sdd = zero_rounding_squares(weight, mean, moments.sdd[0][places])
        line = about_line(sxx, sxd, sdd)
        each = rows / weight
        return cls(
            n_cells=moments.weight.size,
            places=places,
            sizes=np.add.reduceat(counts, np.cumsum(axes.sizes) - axes.sizes, dtype=np.intp),
            rows=rows,
            x=moments.mean_x[places],
            mean=mean,
            around_mean=sdd * each,
            around_line=line * each,
            varies=sxx > 0,
        )

    @cached_property
    def parts(self) -> list[slice]:
        """Slices of the cells of each axis."""
        return slices(self.sizes)

    @cached_property
    def axis(self) -> IntArray:
        """Which axis each cell belongs to."""
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    @cached_property
    def reached(self) -> FloatArray:
        """Rows before the first cell of an axis, up to its end, up to the end of the second, ..."""
        return running_sums(self.rows, self.parts)

    @cached_property
    def triples(self) -> tuple[IntArray, IntArray, IntArray]:
        """Cells between two others of their axis: the one before, themselves, the one behind."""
        first = np.flatnonzero(self.axis[2:] == self.axis[:-2])
        return first, first + 1, first + 2

    @property
    def about_means(self) -> PureErrorSquares:
        """Squares that see every change of the mean effect."""
        # Rice's (1984) first differences: every change of the mean effect adds to them. Cells of
        # one row have no squares inside: there the steps alone show the noise
        left = np.flatnonzero(self.axis[1:] == self.axis[:-1])
        ends = (left, left + 1)
        steps = squared_steps([self.mean[k] for k in ends], [self.rows[k] for k in ends])
        free = np.maximum(self.rows - 1.0, 0.0)
        inner = [reached[1:-1] for reached in self.reached_apart]
        return PureErrorSquares(self.around_mean, free, steps, inner)

    @cached_property
    def about_lines(self) -> tuple[PureErrorSquares, ...]:
        """Squares that see bends of the mean effect, and those that see bends inside cells only.

        The latter only where they suffice by themselves.
        """
        # pseudo-residuals of Gasser, Sroka and Jennen-Steinmetz (1986): distances from the line
        # between both neighbours vanish where the mean effect is a line
        free = np.maximum(self.rows - 1.0 - self.varies, 0.0)
        inside = np.where(free > 0, self.around_line, 0.0)
        x, mean, rows = ([own[k] for k in self.triples] for own in (self.x, self.mean, self.rows))
        middles = [((own[1:] + own[:-1]) / 2)[1:-1] for own in self.reached_apart]
        both = PureErrorSquares(inside, free, squared_bends(x, mean, rows), middles)
        # in small cells a line takes an odd row in: squares about lines alone would not see it
        inner, every = (np.bincount(self.axis, own, self.sizes.size) for own in (free, self.rows))
        known = (inner >= ENOUGH_INSIDE * every)[self.axis]
        if not known.any():
            return (both,)
        alone = PureErrorSquares(
            np.where(known, inside, 0.0), np.where(known, free, 0.0), np.empty(0)
        )
        return both, alone

    @cached_property
    def reached_apart(self) -> list[FloatArray]:
        """`reached`, axis by axis."""
        return [self.reached[part] for part in slices(self.sizes + 1)]

    def around(self, rows: FloatArray) -> Around:
        """The window of so many rows around every cell."""
        first = np.arange(self.axis.size) + self.axis
        total = np.array([own[-1] for own in self.reached_apart])[self.axis]
        middle = (self.reached[first + 1] + self.reached[first]) / 2
        width = np.minimum(rows, total)
        # moved inside, not cut off: at the ends the estimate is as steady as elsewhere
        low = np.clip(middle - width / 2, 0.0, total - width)
        return Around(self, Ranks.of(self, low), Ranks.of(self, low + width))

    def everywhere(self, values: FloatArray) -> FloatArray:
        """Values of these cells among all cells, 0 in the others."""
        full = np.zeros(self.n_cells)
        full[self.places] = values
        return full


class Ranks(NamedTuple):
    """One rank for each cell, in rows from the left of its axis, and where it lies among the cells."""

    rank: FloatArray  # (n_filled,): the rank
    # (n_filled,): the last limit of a cell at or below it, as `NonEmptyCells.reached` counts them
    place: IntArray
    # beyond, width (n_filled,): how far behind that limit it lies, and how far the next one does
    beyond: FloatArray
    width: FloatArray

    @classmethod
    def of(cls, cells: NonEmptyCells, rank: FloatArray) -> Ranks:
        """Locate ranks."""
        place = np.empty(rank.size, dtype=np.intp)
        # one search for each axis; the limits of axis `at` are shifted by the axes before it
        for at, part in enumerate(cells.parts):
            own = cells.reached_apart[at].searchsorted(rank[part], "right")
            place[part] = np.minimum(own, part.stop - part.start) + (part.start + at - 1)
        start = cells.reached[place]
        return cls(rank, place, rank - start, cells.reached[place + 1] - start)

    def read(self, sums: FloatArray) -> FloatArray:
        """Interpolate sums that are known at the limits of the cells."""
        low, high = sums[self.place], sums[self.place + 1]
        found = (high - low) / self.width * self.beyond + low
        return np.where(self.beyond >= self.width, high, found)

    def below(self, cells: NonEmptyCells, ranks: Sequence[FloatArray], slack: float) -> IntArray:
        """How many of some ranks of each axis lie below these, which carry rounding."""
        pairs = zip(ranks, cells.parts, strict=True)
        found = [own.searchsorted(self.rank[part] + slack) for own, part in pairs]
        return np.concatenate(found)


class Around(NamedTuple):
    """A window of rows around every cell, from one rank to another."""

    cells: NonEmptyCells
    low: Ranks
    high: Ranks

    def pool(self, squares: PureErrorSquares) -> Pool:
        """Add up the squares in the windows, a cell in part where a window cuts it."""
        # differences of running sums at both ends of the window, for all cells at once
        parts = self.cells.parts
        inside, free = (
            self.high.read(sums) - self.low.read(sums)
            for sums in (running_sums(own, parts) for own in (squares.inside, squares.free))
        )
        if not squares.between.size:
            return Pool(inside, free)
        # what lies between cells counts whole where it is in the window; ranks carry rounding
        first = self.low.below(self.cells, squares.ranks, -1e-9)
        last = self.high.below(self.cells, squares.ranks, 1e-9)
        sizes = np.array([own.size for own in squares.ranks])
        between = running_sums(squares.between, slices(sizes))
        start = (np.cumsum(sizes + 1) - sizes - 1)[self.cells.axis]
        return Pool(inside + between[start + last] - between[start + first], free + last - first)


def running_sums(values: FloatArray, parts: Sequence[slice]) -> FloatArray:
    """Sums of none, of the first, of the first two, ... values of each part; one part after another.

    Examples
    --------
    >>> running_sums(np.array([1.0, 2.0, 5.0]), [slice(0, 2), slice(2, 3)])
    array([0., 1., 3., 0., 5.])
    """
    sums = np.zeros(values.size + len(parts))
    for at, part in enumerate(parts):
        np.cumsum(values[part], out=sums[part.start + at + 1 : part.stop + at + 1])
    return sums


def squared_steps(mean: Sequence[FloatArray], rows: Sequence[FloatArray]) -> FloatArray:
    """Squared steps from one to its neighbour, each scaled to the variance of one row."""
    left, right = mean
    step = right - left
    # what a model's own arithmetic may cause is no noise: a constant must have none
    step[np.abs(step) <= MODEL_ROUNDING * np.maximum(np.abs(right), np.abs(left))] = 0.0
    return np.asarray(step**2 / (1 / rows[1] + 1 / rows[0]))


def squared_bends(
    x: Sequence[FloatArray], mean: Sequence[FloatArray], rows: Sequence[FloatArray]
) -> FloatArray:
    """Squared distances from the line between both neighbours, scaled to the variance of one row."""
    left = (x[2] - x[1]) / (x[2] - x[0])
    bend = left * mean[0] + (1 - left) * mean[2] - mean[1]
    largest = np.maximum(np.maximum(np.abs(mean[0]), np.abs(mean[1])), np.abs(mean[2]))
    bend[np.abs(bend) <= MODEL_ROUNDING * largest] = 0.0
    return np.asarray(bend**2 / (left**2 / rows[0] + (1 - left) ** 2 / rows[2] + 1 / rows[1]))
