"""Noise of local effects, from the moments of the cells alone: pure error, and what bins add to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np

from rhale.effects.binning.axis import FAINT, BatchedCells, slices
from rhale.effects.binning.moments import LOST, SMALLEST_NORMAL, Moments, about_line
from rhale.effects.binning.segments import COST_TIE_TOLERANCE, MODEL_ROUNDING, zero_rounding_squares
from rhale.stats.arrays import BoolArray, FloatArray, IntArray

# --- Pure error: the variance of local effects within cells, whatever the mean effect does around them


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


WINDOW_SHARE, NOISE_WINDOW_ROWS = 0.1, 30.0  # the noise is that of so many rows around a cell
HALF_MEDIAN = 10  # cells on each side of a running median
LARGEST_STEP = 20.0  # times its usual square, of a step between squares
MAX_SQUARE_DEVIATIONS = 4.0  # standard errors above it that a cell's squares may count
LEAST_NOISE = 0.1  # of the squares about means: finer bins than that are not worth reading
FOLLOWED_ROWS, FOLLOWED_SHARE = 3.5, 1 / 300  # a cell that the curve follows; all rows / 300


def local_noise(cells: NonEmptyCells) -> FloatArray:
    """Variance of a local effect about the mean effect, around every cell.

    Returns (n_cells,): 0 in cells without weight.
    """
    # The pure error of lack-of-fit tests, with near replicates instead of exact ones. Pools, in a
    # window of a tenth of the rows and at least thirty of them, the squares inside the cells with
    # the squared steps from one cell to the next, each scaled to a row's variance. What slopes and
    # bends of the mean effect add to that is taken off as far as `pure_variance` shows it, but
    # never more than nine parts of ten: a bin more must be worth its while. A window is moved
    # inside at the ends of the axis.
    #
    # Squares about means see all of that; those about lines see bends only, and count by their
    # upper confidence limit: the smallest of the three.
    total = np.array([own[-1] for own in cells.reached_apart])
    around = cells.around(np.maximum(NOISE_WINDOW_ROWS, WINDOW_SHARE * total)[cells.axis])
    about_means = around.pool(cells.about_means)
    noise = about_means.variance
    for squares in cells.about_lines:
        noise = np.minimum(noise, around.pool(squares).most)
    return cells.everywhere(np.maximum(noise, LEAST_NOISE * about_means.variance))


def residual_squares(
    moments: Moments, limits: IntArray, linear: BoolArray, bins: Moments | None = None
) -> FloatArray:
    """Mean squared residual of each cell from its bin's fit; 0 in empty cells.

    `moments`: of the cells; the first series counts; `limits`, `linear`: the bins, as in `Cuts`;
    `bins`: the cells, united to these bins; they are united here if not given.
    """
    # Scaled by n / (n - p) of the bin, so that its average over the bin is the bin's variance.
    bins = moments.unite(limits) if bins is None else bins
    place = np.repeat(np.arange(linear.size), np.diff(limits))
    # the residual of a cell's mean from the fit of its bin
    slope = np.where(linear, bins.slope[0], 0.0)[place]
    offset = moments.mean_x - bins.mean_x[place]
    residual = moments.mean[0] - bins.mean[0][place] - slope * offset
    # about the bin's line inside each cell; between the cells it is `residual`
    inside = moments.sdd[0] - 2 * slope * moments.sxd[0] + slope**2 * moments.sxx
    rows = bins.rows[place]
    free = np.maximum(rows - 1 - linear[place], 1.0)
    weight = np.where(moments.weight > 0, moments.weight, 1.0)
    squares = np.where(inside <= LOST * moments.sdd[0], 0.0, inside) / weight + residual**2
    # rounding of a residual is that of the largest numbers it is made of
    largest = np.maximum.reduceat(np.abs(moments.mean[0]), limits[:-1])[place]
    far = np.maximum.reduceat(np.abs(moments.mean_x), limits[:-1])[place]
    rounding = MODEL_ROUNDING * (largest + 1e-4 * np.abs(slope) * far)
    squares = np.where(squares <= rounding**2, 0.0, squares)
    return np.where(moments.weight > 0, squares * rows / free, 0.0)


def cut_outliers(
    squares: FloatArray, rows: FloatArray, sizes: IntArray | None = None
) -> FloatArray:
    """Mean squares of filled cells, none far above the running median of its neighbours.

    `squares`, `rows` (n_cells,): mean squares, and rows behind them; `sizes` (n_parts,): how many
    cells each part has, where neighbours are those of the same part only.
    """
    # One odd row in a small cell must not look like a stretch of larger spread. A cell may exceed
    # the median by four standard errors of normal squares, and always by as much as the median.
    sizes = np.array([squares.size]) if sizes is None else sizes
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)[:, None]
    last = np.repeat(sizes - 1, sizes)[:, None]
    steps, half = np.arange(-HALF_MEDIAN, HALF_MEDIAN + 1), last // 2
    # mirrored at the ends, where a cell has neighbours on one side only
    place = np.abs(np.arange(squares.size)[:, None] - first + steps)
    around = squares[first + np.maximum(last - np.abs(last - place), 0)]
    # in a short part there are fewer of them: what is put in instead does not move the median
    around[steps < -half], around[steps > half] = -np.inf, np.inf
    median = np.partition(around, HALF_MEDIAN, axis=1)[:, HALF_MEDIAN]
    most = 1 + np.maximum(MAX_SQUARE_DEVIATIONS * np.sqrt(2 / rows), 1.0)
    return np.asarray(np.minimum(squares, median * most))


def excess(squares: FloatArray, rows: FloatArray) -> float:
    """Variance of a squared residual, as a multiple of that of normal ones; at least 1."""
    # squares are squared again, which need not fit into a number; a power of two changes no digit
    # (the kurtosis of residuals, estimated by first differences of their squares)
    squares = np.ldexp(squares, -int(np.frexp(squares.max())[1]))
    # a normal residual's square has the variance 2 v²; v is that of both neighbours, so that
    # a slow change of the spread does not look like heavy tails
    pooled = (squares[1:] * rows[1:] + squares[:-1] * rows[:-1]) / (rows[1:] + rows[:-1])
    usual = 2.0 * pooled**2
    # a jump of the spread between two cells of many rows is no tail: one step counts that much
    both = [squares[:-1], squares[1:]], [rows[:-1], rows[1:]]
    steps = np.minimum(squared_steps(*both), LARGEST_STEP * usual)
    return max(1.0, float(steps.sum() / usual.sum())) if usual.sum() > 0 else 1.0


def pool_sparse_cells(moments: Moments, limits: IntArray) -> IntArray:
    """Limits of cells with rows enough for the curve to follow them, bin by bin.

    `limits` (n_bins + 1,): the bins. Returns (n_pooled + 1,): limits of the bins among them. Cells
    without rows stay, unless they lie between cells that are pooled.
    """
    # The cell with the fewest rows joins the neighbour whose rows are nearer, until all cells of
    # the bin have enough.
    # Agglomerative: bins that have no such cell, most of them, are passed by.
    least = min(FOLLOWED_ROWS, FOLLOWED_SHARE * moments.total_rows)
    filled = np.flatnonzero(has_enough_rows(moments))
    kept = np.ones(moments.grid.n_cells + 1, dtype=np.bool_)
    bins = limits.searchsorted(filled, "right") - 1
    for k in np.unique(bins[moments.row_shares[filled] < least]):
        own = filled[bins == k]
        groups = [[int(k), int(k)] for k in own]
        rows, x = moments.row_shares[own].tolist(), moments.mean_x[own].tolist()
        while len(rows) > 1 and min(rows) < least:
            k = rows.index(min(rows))
            is_first, is_last = k == 0, k == len(rows) - 1
            if is_last or not (is_first or x[k + 1] - x[k] < x[k] - x[k - 1]):
                k -= 1  # joins the one before
            both = rows[k] + rows[k + 1]
            x[k] += (x[k + 1] - x[k]) * rows[k + 1] / both
            rows[k], groups[k][1] = both, groups[k + 1][1]
            del rows[k + 1], x[k + 1], groups[k + 1]
        for first, last in groups:
            kept[first + 1 : last + 1] = False
    return np.flatnonzero(kept)


class Followed(NamedTuple):
    """Which cells the curve may follow, how far in each bin, and their noise: as in `Cuts`."""

    cells: IntArray
    cell_weight: FloatArray
    noise: FloatArray


def follow_cells(
    axes: BatchedCells,
    batch: Sequence[Moments],
    noise: Sequence[FloatArray],
    limits: Sequence[IntArray],
    linear: Sequence[BoolArray],
) -> list[Followed]:
    """Pool the cells of each axis until the curve may follow them.

    `axes`, `batch`: the same axes, in a row and by themselves; `noise`, `limits`, `linear`: as of
    `departure`, axis by axis.
    """
    found = list(map(pool_sparse_cells, batch, limits))
    # noise of the pooled cells: the average by weight
    pooled, weighed = axes.unite(found), axes.cells.weight * np.concatenate(noise)
    each, weight = np.add.reduceat(weighed, axes.join(found)[:-1]), pooled.cells.weight
    pooled_noise = np.divide(each, weight, out=np.zeros(each.size), where=weight > 0)
    bins = [own.searchsorted(one) for own, one in zip(found, limits, strict=True)]
    cell_weight = departure(pooled, pooled_noise, pooled.join(bins), np.concatenate(linear))
    ends = np.cumsum([one.size for one in linear])[:-1]
    parts = zip(found, np.split(cell_weight, ends), pooled.split(pooled_noise), strict=True)
    return [Followed(*one) for one in parts]


def departure(
    axes: BatchedCells, noise: FloatArray, limits: IntArray, linear: BoolArray
) -> FloatArray:
    """How much of the way from the fits to the cells' means is more than noise, bin by bin.

    `noise` (n_cells,): variance of a local effect; `limits`, `linear`: the bins of all axes, as in
    `Cuts`. Returns (n_bins,): between 0, the fit is adequate, and 1.
    """
    # D(x) is the integral, from the bin's start to x, of the cells' residuals from the fit. It is
    # a linear map of the cells' means, so its variance V(x) under an adequate fit is known. The
    # mean of D² over the bin estimates bias² + V; the share of it that is bias² is 1 - V / D²,
    # a shrinkage weight as that of James and Stein.

    # Cells of every bin in a column, shape (most cells, n_bins); shorter bins end with cells of no
    # width. Of each: whether its mean counts, where it is, and the mean effect there.
    cells, (left, right), size = axes.cells, axes.ends, limits[1:] - limits[:-1]
    place = np.arange(size.max())[:, None]
    inside = place < size
    cell = np.where(inside, limits[:-1] + place, limits[:-1])
    filled, width = axes.counts[cell] & inside, (right - left)[cell]
    x = np.where(filled, cells.mean_x[cell], left[cell] + 0.5 * width)
    high = np.where(filled, cells.mean[0][cell], 0.0)
    width = np.where(inside, width, 0.0)

    # The fit to the means is share @ mean + offset * (tilt @ mean): least squares by the weights.
    share = np.where(filled, cells.weight[cell], 0.0)
    share /= np.maximum(_sum_bin_cells(share), SMALLEST_NORMAL)
    offset = np.where(filled & linear, x - _sum_bin_cells(share * x), 0.0)
    tilt = share * offset
    tilt /= np.maximum(_sum_bin_cells(tilt * offset), SMALLEST_NORMAL)

    # For every cell the last one up to it and the next one from it that count, as places in the
    # whole array (outside the outermost ones these go on), and how far it is from one to the other.
    n_cells, n_bins = filled.shape
    column, row = np.arange(n_bins), np.arange(n_cells)[:, None]
    last = np.maximum.accumulate(np.where(filled, row, -1), axis=0)
    following = np.minimum.accumulate(np.where(filled, row, n_cells)[::-1], axis=0)[::-1]
    before = np.where(last < 0, following, last) % n_cells * n_bins + column
    behind = np.where(following == n_cells, last, following) % n_cells * n_bins + column
    first = filled.argmax(axis=0) * n_bins + column
    start, stop = x.take(before), x.take(behind)
    part = np.where(stop > start, (x - start) / np.where(stop > start, stop - start, 1.0), 0.0)
    ends = before, behind, np.clip(part, 0.0, 1.0)

    # Means relative to the first one that counts: residuals do not see a constant, and so the
    # rounding of a high level stays out.
    mean = np.where(filled, high - high.take(first), 0.0)
    residual = mean - _sum_bin_cells(share * mean)
    residual -= offset * _sum_bin_cells(tilt * mean)
    integral = np.cumsum(width * _fill_columns(residual, *ends), axis=0)
    squared = _sum_bin_cells(width * integral**2)
    each = np.where(filled, noise[cell], 0.0) / np.where(filled, cells.rows[cell], 1.0)
    expected = _sum_bin_cells(
        width * _integral_variance(each, share, offset, tilt, width, first, ends)
    )

    # A departure within rounding is none, however small its expected size is.
    long, largest = _sum_bin_cells(width), np.abs(high).max(axis=0)
    known = squared > np.maximum(
        (1 + COST_TIE_TOLERANCE) * expected, long * (MODEL_ROUNDING * largest * long) ** 2
    )
    # as many parameters as means: the fit goes through all of them
    known &= _sum_bin_cells(filled) > 1 + linear
    return np.where(known, 1.0 - expected / np.where(known, squared, 1.0), 0.0)


def _integral_variance(
    each: FloatArray,
    share: FloatArray,
    offset: FloatArray,
    tilt: FloatArray,
    width: FloatArray,
    first: IntArray,
    ends: tuple[IntArray, IntArray, FloatArray],
) -> FloatArray:
    """Variance, under an adequate fit, of the integral D(x) of residuals up to the end of each cell.

    All as in `departure`, shape (most cells, n_bins); `each`: variance of a cell's mean.
    """
    # D is the sum over the cells j of (A_j - C s_j - O t_j) m_j, with m their means, s and t share
    # and tilt, C and O the integrals of one and of the offset, and A_j the width up to here that
    # m_j answers for: its own, and its part of cells between it and the next ones. Squared, times
    # the variances of the m_j, and multiplied out: sums of A_j² first.
    before, behind, part = ends
    left, right = width * (1 - part), width * part
    up_to_left, up_to_right = (np.cumsum(v, axis=0) - v for v in (left, right))
    # what the cell before has by now: its part of the cells before itself, and all since then;
    # the first one that counts has all cells before it
    earlier = np.concatenate([before[:1], before[:-1]])
    received = up_to_right - up_to_right.take(earlier)
    top = np.arange(first.size)
    since = up_to_left - up_to_left.take(np.where(before == first, top, before))
    held = received.take(before) + since
    coming = up_to_right - up_to_right.take(before)
    # (h + w)² - h² = w (2 h + w): the squares grow from cell to cell by these steps
    steps = each.take(before) * left * (2 * held + left)
    steps += each.take(behind) * right * (2 * coming + right)
    found = np.cumsum(steps, axis=0)
    # then -2 A_j (C s_j + O t_j), and last (C s_j + O t_j)²
    reached, leaned = (
        np.cumsum(width * values, axis=0)
        for values in (1.0, _fill_columns(offset, before, behind, part))
    )
    level, slope = each * share, each * tilt
    for own, reach in ((level, reached), (slope, leaned)):
        filled = _fill_columns(own, before, behind, part)
        found -= 2 * reach * np.cumsum(width * filled, axis=0)
    found += reached**2 * _sum_bin_cells(level * share) + leaned**2 * _sum_bin_cells(slope * tilt)
    found += 2 * reached * leaned * _sum_bin_cells(level * tilt)
    return found


def _fill_columns(
    values: FloatArray, before: IntArray, behind: IntArray, part: FloatArray
) -> FloatArray:
    """Interpolate what is known of the cells that count."""
    known = values.take(before)
    return np.asarray(known + part * (values.take(behind) - known))


def _sum_bin_cells(values: FloatArray | BoolArray) -> FloatArray:
    """Sum of each bin's cells, one after the other whatever the longest bin; shape (n_bins,)."""
    # `sum` adds in an order that hangs on the shape
    return np.asarray(np.cumsum(values, axis=0)[-1])


def interpolation(places: FloatArray, known: BoolArray) -> FloatArray:
    """Weights that interpolate every place from the known ones, shape (n_places, n_known).

    Examples
    --------
    >>> interpolation(np.array([0.0, 1.0, 4.0]), np.array([True, False, True]))
    array([[1.  , 0.  ],
           [0.75, 0.25],
           [0.  , 1.  ]])
    """
    base = places[known]
    weights = np.zeros((places.size, base.size))
    if base.size < 2:
        return weights + 1.0
    right = np.clip(np.searchsorted(base, places), 1, base.size - 1)
    part = np.clip((places - base[right - 1]) / (base[right] - base[right - 1]), 0.0, 1.0)
    row = np.arange(places.size)
    weights[row, right - 1], weights[row, right] = 1.0 - part, part
    return weights
