"""How much local effects vary by themselves, from the moments of the cells alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.moments import LOST, Moments
from rhale.kernels.pure_error import FilledCells, has_enough_rows, pool, squared_steps, windows
from rhale.kernels.segments import ROUNDING, TIE

WINDOW_SHARE, WINDOW_ROWS = 0.1, 30.0  # the noise is that of so many rows around a cell
HALF_MEDIAN = 10  # cells on each side of a running median
LARGEST_STEP = 20.0  # times its usual square, of a step between squares
FARTHEST = 4.0  # standard errors above it that a cell's squares may count
LEAST_NOISE = 0.1  # of the squares about means: finer bins than that are not worth reading
FOLLOWED_ROWS, FOLLOWED_SHARE = 3.5, 1 / 300  # a cell that the curve follows; all rows / 300


def local_noise(cells: FilledCells) -> FloatArray:
    """Variance of a local effect about the mean effect, around every cell.

    Parameters
    ----------
    cells : FilledCells
        Of one series.

    Returns
    -------
    ndarray of shape (n_cells,)
        0 in cells without weight.

    Notes
    -----
    Pools, in a window of a tenth of the rows and at least thirty of them, the squares inside the
    cells with the squared steps from one cell to the next, each scaled to a row's variance. What
    slopes and bends of the mean effect add to that is taken off as far as `pure_variance` shows
    it, but never more than nine parts of ten: a bin more must be worth its while. A window is moved
    inside at the ends of the axis.
    """
    low, high = windows(cells.reached, max(WINDOW_ROWS, WINDOW_SHARE * cells.reached[-1]))
    about_means = pool(cells, cells.about_means, low, high)
    noise = about_means.variance
    for squares in cells.about_lines:
        noise = np.minimum(noise, pool(cells, squares, low, high).most)
    return cells.everywhere(np.maximum(noise, LEAST_NOISE * about_means.variance))


def residual_squares(
    moments: Moments, limits: IntArray, linear: BoolArray, bins: Moments | None = None
) -> FloatArray:
    """Mean squared residual of each cell from its bin's fit; 0 in empty cells.

    Parameters
    ----------
    moments : Moments
        Of the cells; the first series counts.
    limits, linear
        The bins, as in `Cuts`.
    bins : Moments, optional
        The cells, united to these bins; they are united here if not given.

    Notes
    -----
    Scaled by n / (n - p) of the bin, so that its average over the bin is the bin's variance.
    """
    bins = moments.unite(limits) if bins is None else bins
    place = np.repeat(np.arange(linear.size), np.diff(limits))
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
    rounding = ROUNDING * (largest + 1e-4 * np.abs(slope) * far)
    squares = np.where(squares <= rounding**2, 0.0, squares)
    return np.where(moments.weight > 0, squares * rows / free, 0.0)


def cut_outliers(squares: FloatArray, rows: FloatArray) -> FloatArray:
    """Mean squares of filled cells, none far above the running median of its neighbours.

    Notes
    -----
    One odd row in a small cell must not look like a stretch of larger spread. A cell may exceed
    the median by four standard errors of normal squares, and always by as much as the median.
    """
    half = min(HALF_MEDIAN, (squares.size - 1) // 2)
    # mirrored at the ends, where a cell has neighbours on one side only
    mirrored = np.concatenate([squares[half:0:-1], squares, squares[-2 : -half - 2 : -1]])
    around = sliding_window_view(mirrored, 2 * half + 1)
    median = np.partition(around, half, axis=1)[:, half]
    most = 1 + np.maximum(FARTHEST * np.sqrt(2 / rows), 1.0)
    return np.asarray(np.minimum(squares, median * most))


def excess(squares: FloatArray, rows: FloatArray) -> float:
    """Variance of a squared residual, as a multiple of that of normal ones; at least 1."""
    # squares are squared again, which need not fit into a number; a power of two changes no digit
    squares = np.ldexp(squares, -int(np.frexp(squares.max())[1]))
    # a normal residual's square has the variance 2 v²; v is that of both neighbours, so that
    # a slow change of the spread does not look like heavy tails
    pooled = (squares[1:] * rows[1:] + squares[:-1] * rows[:-1]) / (rows[1:] + rows[:-1])
    usual = 2.0 * pooled**2
    # a jump of the spread between two cells of many rows is no tail: one step counts that much
    steps = np.minimum(squared_steps(squares, rows), LARGEST_STEP * usual)
    return max(1.0, float(steps.sum() / usual.sum())) if usual.sum() > 0 else 1.0


def pool_sparse_cells(moments: Moments, limits: IntArray) -> IntArray:
    """Limits of cells with rows enough for the curve to follow them, bin by bin.

    Parameters
    ----------
    moments : Moments
        Of the cells.
    limits : ndarray of shape (n_bins + 1,)
        The bins.

    Returns
    -------
    ndarray of shape (n_pooled + 1,)
        Limits of the bins among them. Cells without rows stay, unless they lie between cells
        that are pooled.

    Notes
    -----
    The cell with the fewest rows joins the neighbour whose rows are nearer, until all cells of
    the bin have enough.
    """
    least = min(FOLLOWED_ROWS, FOLLOWED_SHARE * moments.total_rows)
    filled = np.flatnonzero(has_enough_rows(moments))
    kept = np.ones(moments.grid.n_cells + 1, dtype=np.bool_)
    if moments.row_shares[filled].min(initial=np.inf) >= least:
        return np.flatnonzero(kept)
    for own in np.split(filled, np.searchsorted(filled, limits[1:-1])):
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


def follow_cells(
    moments: Moments, noise: FloatArray, limits: IntArray, linear: BoolArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Which cells the curve may follow, how far in each bin, and the noise of these cells.

    Parameters
    ----------
    moments, noise, limits, linear
        As of `departure`.

    Returns
    -------
    followed, trust, noise
        As in `Cuts`.
    """
    followed = pool_sparse_cells(moments, limits)
    pooled = moments.unite(followed)
    each = np.add.reduceat(moments.weight * noise, followed[:-1])
    noise = np.divide(each, pooled.weight, out=np.zeros(each.size), where=pooled.weight > 0)
    return followed, departure(pooled, noise, np.searchsorted(followed, limits), linear), noise


def departure(
    moments: Moments, noise: FloatArray, limits: IntArray, linear: BoolArray
) -> FloatArray:
    """How much of the way from the fits to the cells' means is more than noise, bin by bin.

    Parameters
    ----------
    moments : Moments
        Of the cells; the first series counts.
    noise : ndarray of shape (n_cells,)
        Variance of a local effect.
    limits, linear
        The bins, as in `Cuts`.

    Returns
    -------
    ndarray of shape (n_bins,)
        Between 0, the fit is adequate, and 1.

    Notes
    -----
    D(x) is the integral, from the bin's start to x, of the cells' residuals from the fit. It is
    a linear map of the cells' means, so its variance V(x) under an adequate fit is known. The
    mean of D² over the bin estimates bias² + V; the share of it that is bias² is 1 - V / D².
    """
    trust, every, known = np.zeros(linear.size), moments.grid.widths, has_enough_rows(moments)
    for k, (start, stop) in enumerate(pairwise(limits.tolist())):
        cells = slice(start, stop)
        filled, widths = known[cells], every[cells]
        # as many parameters as means: the fit goes through all of them
        if np.count_nonzero(filled) <= 1 + linear[k]:
            continue
        gap = np.cumsum(widths[:, None] * residual_map(moments, cells, linear=linear[k]), axis=0)
        mean, rows = moments.mean[0][cells][filled], moments.rows[cells][filled]
        # residuals do not see a constant; without it, the rounding of a high level stays out
        squared = widths @ (gap @ (mean - mean[0])) ** 2
        expected = widths @ (gap**2 @ (noise[cells][filled] / rows))
        scale = float(np.abs(mean).max()) * float(widths.sum())
        # a departure within rounding is none, however small its expected size is
        if squared > max((1 + TIE) * expected, widths.sum() * (ROUNDING * scale) ** 2):
            trust[k] = 1.0 - expected / squared
    return trust


def residual_map(moments: Moments, cells: slice, *, linear: bool) -> FloatArray:
    """Weights that turn the means of filled cells into residuals from the fit to these means.

    Returns
    -------
    ndarray of shape (n_cells, n_filled)
        An empty cell has the residual of its neighbours in the bin, interpolated.
    """
    filled = has_enough_rows(moments)[cells]
    weight, x = moments.weight[cells][filled], moments.mean_x[cells][filled]
    # identity less the hat matrix of weighted least squares, written out for one or two parameters
    share = weight / weight.sum()
    residual: FloatArray = np.eye(share.size) - share
    if linear:
        offset = x - share @ x
        residual -= np.outer(offset, share * offset / (share @ offset**2))
    if filled.all():
        return residual
    places = np.where(filled, moments.mean_x[cells], moments.grid.middles[cells])
    return np.asarray(interpolation(places, filled) @ residual)


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
