"""From bin effects to curves: integrals, centring, exact variances. All of it is linear algebra."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from rhale.errors import BadSettingError
from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.grid import Grid

Center = Literal["mean", "start", "uniform"]
NODES = np.sqrt(1.8) * np.array([-1.0, 0.0, 1.0])  # Gauss's three points, for deviation one
NODE_WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18.0
BLOCK_ROWS = 2**14


class Nodes(NamedTuple):
    """Points with weights that have the mean and the deviation of what they stand for.

    Averages of straight lines and parabolas, and of squares of straight lines, are then exact;
    those of squares of parabolas are exact for evenly spread rows.
    """

    places: FloatArray
    stretches: IntArray
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class Fit:
    """The effect as a function, stretch by stretch: mu(z) = level + slope (z - origin).

    Attributes
    ----------
    edges : ndarray of shape (n_stretches + 1,)
        Limits of the stretches: bins, or cells where the curve follows them.
    origin, level, slope : ndarray of shape (n_stretches,)
        Where the level is read, the effect there, and its slope.
    share : ndarray of shape (n_stretches,)
        Share of the weight, summing to one.
    centre, scatter : ndarray of shape (n_stretches,)
        Mean and deviation of the feature values of the rows in each stretch, as they count for
        averages over the rows.
    """

    edges: FloatArray
    origin: FloatArray
    level: FloatArray
    slope: FloatArray
    share: FloatArray
    centre: FloatArray
    scatter: FloatArray

    def nodes(self, center: Center) -> Nodes:
        """Three points a stretch that stand for its rows (or, for "uniform", for its width)."""
        width = np.diff(self.edges)
        share, middle, scatter = self.share, self.centre, self.scatter
        if center == "uniform":
            share = width / (width.sum() if width.sum() > 0 else 1.0)
            middle, scatter = middles(self.edges), width / np.sqrt(12.0)
        stretches = np.repeat(np.arange(width.size), NODES.size)
        places = middle[:, None] + scatter[:, None] * NODES
        return Nodes(places.ravel(), stretches, np.outer(share, NODE_WEIGHTS).ravel())

    def curve(self, x: FloatArray, center: Center) -> FloatArray:
        """Effect at x; outside the stretches the outermost ones go on."""
        known_center(center)
        values = self._integral(x, Grid(self.edges).locate(x).astype(np.intp))
        if center == "start":
            return values
        nodes = self.nodes(center)
        return np.asarray(values - nodes.weights @ self._integral(nodes.places, nodes.stretches))

    def _integral(self, x: FloatArray, stretches: IntArray) -> FloatArray:
        """Integral of mu from the first limit to x, read in the given stretches."""
        rise = self._rise(self.edges[1:], np.arange(self.level.size))
        return np.append(0.0, np.cumsum(rise))[stretches] + self._rise(x, stretches)

    def _rise(self, x: FloatArray, stretches: IntArray) -> FloatArray:
        """Integral of mu from the start of a stretch to x."""
        start, origin = self.edges[stretches], self.origin[stretches]
        tilt = ((x - origin) ** 2 - (start - origin) ** 2) / 2
        return np.asarray(self.level[stretches] * (x - start) + self.slope[stretches] * tilt)

    def design(self, x: FloatArray, stretches: IntArray) -> tuple[FloatArray, FloatArray]:
        """Write the curve at x as a linear map of the levels and slopes.

        Parameters
        ----------
        x : ndarray of shape (n_x,)
            Where to read the curve.
        stretches : ndarray of shape (n_x,)
            Whose fit to read there; x may lie outside its stretch.

        Returns
        -------
        levels, slopes : ndarray of shape (n_x, n_stretches)
            Weight of each stretch's level and slope.
        """
        start, stop = self.edges[:-1], self.edges[1:]
        behind = np.arange(start.size) - stretches[:, None]
        reached = np.where(behind < 0, stop, np.where(behind > 0, start, x[:, None]))
        tilt = ((reached - self.origin) ** 2 - (start - self.origin) ** 2) / 2
        return reached - start, tilt

    def centred_design(
        self, x: FloatArray, stretches: IntArray, center: Center
    ) -> tuple[FloatArray, FloatArray]:
        """`design`, shifted so that the curve is zero at the start or on average."""
        levels, slopes = self.design(x, stretches)
        if center == "start":
            return levels, slopes
        nodes = self.nodes(center)
        node_levels, node_slopes = self.design(nodes.places, nodes.stretches)
        return levels - nodes.weights @ node_levels, slopes - nodes.weights @ node_slopes

    def importance(self) -> float:
        """Standard deviation of the curve over the rows."""
        nodes = self.nodes("mean")
        values = self._integral(nodes.places, nodes.stretches)
        return float(np.sqrt(nodes.weights @ (values - nodes.weights @ values) ** 2))


@dataclass(frozen=True, eq=False)
class CellMeans:
    """Cells whose means the curve follows, wholly or in part; grouped by bin, in order.

    Attributes
    ----------
    bin : ndarray of shape (n_cells,)
        The bin that each cell belongs to.
    left, right : ndarray of shape (n_cells,)
        Limits.
    weight : ndarray of shape (n_cells,)
        Sum of the rows' weights; 0 in an empty cell.
    mean_x, std_x : ndarray of shape (n_cells,)
        Mean and deviation of the feature values; the middle and 0 in an empty cell.
    residual : ndarray of shape (n_cells,)
        Mean of the local effects minus the bin's fit at `mean_x`; interpolated in a cell without
        rows, or with hardly any weight.
    error : ndarray of shape (n_cells,)
        Standard error of the mean; not a number where the residual is interpolated.
    trust : ndarray of shape (n_cells,)
        How far the curve follows the cells of this bin, 0 to 1.
    """

    bin: IntArray
    left: FloatArray
    right: FloatArray
    weight: FloatArray
    mean_x: FloatArray
    std_x: FloatArray
    residual: FloatArray
    error: FloatArray
    trust: FloatArray

    @property
    def measured(self) -> BoolArray:
        """Whether the residual of a cell is its own, shape (n_cells,)."""
        return np.isfinite(self.error)


def refine(bins: Fit, cells: CellMeans) -> Fit:
    """Replace bins by their cells, where the curve follows them.

    Parameters
    ----------
    bins : Fit
        One stretch a bin; `share` may hold weights.
    cells : CellMeans
        The cells.

    Notes
    -----
    A cell keeps the slope of its bin's fit and is moved up or down by a part of its residual.
    """
    parts = []
    for k in range(bins.level.size):
        mine = cells.bin == k
        if not mine.any():
            one = slice(k, k + 1)
            stop, fields = bins.edges[k + 1 : k + 2], (bins.origin, bins.level, bins.slope)
            more = (bins.share, bins.centre, bins.scatter)
            parts.append([stop, *(f[one] for f in fields + more)])
            continue
        x, weight = cells.mean_x[mine], cells.weight[mine]
        fit = bins.level[k] + bins.slope[k] * (x - bins.origin[k])
        level = fit + cells.trust[mine] * cells.residual[mine]
        slope = np.full(x.size, bins.slope[k])
        parts.append([cells.right[mine], x, level, slope, weight, x, cells.std_x[mine]])
    stops, *rest = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Fit(np.append(bins.edges[0], stops), *rest)


def known_center(center: str) -> None:
    """Refuse an unknown way of centring."""
    if center not in get_args(Center):
        msg = f"center={center!r} is not known; use one of {', '.join(get_args(Center))}"
        raise BadSettingError(msg)


def middles(edges: FloatArray) -> FloatArray:
    """Middles of the bins."""
    return edges[:-1] + 0.5 * np.diff(edges)


def fill_gaps(values: FloatArray, places: FloatArray) -> FloatArray:
    """Replace nan by what interpolation between the neighbours gives; all nan stays nan."""
    known = np.isfinite(values)
    if known.all() or not known.any():
        return values
    return np.interp(places, places[known], values[known])


def accumulate_spread(
    edges: FloatArray, std: FloatArray, x: FloatArray, *, squared: bool
) -> FloatArray:
    """Accumulate the bins' deviations from the first edge to x; the outermost bins go on outside.

    Parameters
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Bin limits.
    std : ndarray of shape (n_bins,)
        Deviation in each bin; nan is bridged from the neighbours.
    x : ndarray of shape (n_x,)
        Where to read it.
    squared : bool
        Root of the sum of squares (Eq. 16 as printed) instead of the plain sum.

    Examples
    --------
    >>> accumulate_spread(np.array([0.0, 1, 2]), np.array([3.0, 4]), np.array([2.0]), squared=True)
    array([5.])
    """
    std = fill_gaps(std, middles(edges))
    starts = np.append(-np.inf, edges[1:-1])
    stops = np.append(edges[1:-1], np.inf)
    out = np.empty(x.size)
    for start in range(0, x.size, BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        length = np.abs(np.clip(x[rows, None], starts, stops) - edges[:-1])
        out[rows] = np.sqrt(length**2 @ std**2) if squared else length @ std
    return out
