"""Noise of local effects, estimated from the moments of the cells alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rhale.effects.binning.axis import BatchedCells
from rhale.effects.binning.moments import LOST, SMALLEST_NORMAL, Moments
from rhale.effects.binning.pure_error import NonEmptyCells, has_enough_rows, squared_steps
from rhale.effects.binning.segments import COST_TIE_TOLERANCE, MODEL_ROUNDING
from rhale.stats.arrays import BoolArray, FloatArray, IntArray

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
