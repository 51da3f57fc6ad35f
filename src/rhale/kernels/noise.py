"""How much local effects vary by themselves, from the moments of the cells alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.moments import LOST, Moments
from rhale.kernels.segments import ROUNDING, TIE, drop_rounding

WINDOW_SHARE, WINDOW_ROWS = 0.1, 30.0  # the noise is that of so many rows around a cell
HALF_MEDIAN = 10  # cells on each side of a running median
FARTHEST = 4.0  # standard errors above it that a cell's squares may count
FAINT = 0.05  # effective rows: a cell of less weight says nothing, as if it were empty


def has_enough_rows(moments: Moments) -> BoolArray:
    """Cells whose means count by themselves, shape (n_cells,)."""
    return moments.row_shares > FAINT


def local_noise(moments: Moments) -> FloatArray:
    """Variance of a local effect about the mean effect, around every cell.

    Parameters
    ----------
    moments : Moments
        The first series counts.

    Returns
    -------
    ndarray of shape (n_cells,)
        0 in cells without weight.

    Notes
    -----
    Pools, in a window of a tenth of the rows and at least thirty of them, the squares inside the
    cells with the squared steps from one cell to the next, each scaled to a row's variance. A
    slope adds little: cells are narrow. A window is moved inside at the ends of the axis.
    """
    filled = np.flatnonzero(has_enough_rows(moments))
    rows, mean = moments.rows[filled], moments.mean[0][filled]
    weight = moments.weight[filled]
    inside = drop_rounding(weight, mean, moments.sdd[0][filled]) * rows / weight
    # cells of one row have no squares inside: there the steps alone tell the noise
    steps = _squared_steps(mean, rows)
    reached = np.append(0.0, np.cumsum(rows))
    low, high = _windows(reached)
    squares = _between(reached, inside, low, high)
    free = _between(reached, np.maximum(rows - 1.0, 0.0), low, high)
    # a step counts whole where the limit between its two cells lies in the window; ranks carry rounding
    first = np.searchsorted(reached[1:-1], low - 1e-9)
    last = np.searchsorted(reached[1:-1], high + 1e-9)
    squares += np.diff(np.append(0.0, np.cumsum(steps))[np.stack([first, last])], axis=0)[0]
    free += last - first
    noise = np.zeros(moments.weight.size)
    noise[filled] = squares / np.where(free > 0, free, 1.0)
    return noise


def _squared_steps(mean: FloatArray, rows: FloatArray) -> FloatArray:
    """Squared steps between neighbours, each scaled to the variance of one row."""
    step = np.diff(mean)
    # what a model's own arithmetic may cause is no noise: a constant must have none
    step[np.abs(step) <= ROUNDING * np.maximum(np.abs(mean[1:]), np.abs(mean[:-1]))] = 0.0
    return np.asarray(step**2 / (1 / rows[1:] + 1 / rows[:-1]))


def _windows(reached: FloatArray) -> tuple[FloatArray, FloatArray]:
    """First and last rank of the window around every cell."""
    total, middle = reached[-1], (reached[1:] + reached[:-1]) / 2
    width = min(max(WINDOW_ROWS, WINDOW_SHARE * total), total)
    # moved inside, not cut off: at the ends the estimate is as steady as elsewhere
    low = np.clip(middle - width / 2, 0.0, total - width)
    return low, low + width


def _between(
    reached: FloatArray, values: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Sum of the cells' values between two ranks, a cell in part where the window cuts it."""
    total = np.append(0.0, np.cumsum(values))
    return np.asarray(np.interp(high, reached, total) - np.interp(low, reached, total))


def residual_squares(moments: Moments, limits: IntArray, linear: BoolArray) -> FloatArray:
    """Mean squared residual of each cell from its bin's fit; 0 in empty cells.

    Notes
    -----
    Scaled by n / (n - p) of the bin, so that its average over the bin is the bin's variance.
    """
    bins = moments.unite(limits)
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
    around = sliding_window_view(np.pad(squares, half, mode="reflect"), 2 * half + 1)
    most = 1 + np.maximum(FARTHEST * np.sqrt(2 / rows), 1.0)
    return np.asarray(np.minimum(squares, np.median(around, axis=1) * most))


def excess(squares: FloatArray, rows: FloatArray) -> float:
    """Variance of a squared residual, as a multiple of that of normal ones; at least 1."""
    # a normal residual's square has the variance 2 v²; v is that of both neighbours, so that
    # a slow change of the spread does not look like heavy tails
    pooled = (squares[1:] * rows[1:] + squares[:-1] * rows[:-1]) / (rows[1:] + rows[:-1])
    usual = 2.0 * float(np.sum(pooled**2))
    return max(1.0, float(_squared_steps(squares, rows).sum()) / usual) if usual > 0 else 1.0


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
    trust = np.zeros(linear.size)
    for k, (start, stop) in enumerate(pairwise(limits)):
        cells = slice(int(start), int(stop))
        filled = has_enough_rows(moments)[cells]
        # as many parameters as means: the fit goes through all of them
        if np.count_nonzero(filled) <= 1 + linear[k]:
            continue
        widths = np.diff(moments.grid.edges)[cells]
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
