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
    bins: IntArray
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class Fit:
    """The fitted effect of every bin: mu(z) = level + slope (z - origin), and its variances.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Bin limits.
    origin, level, slope : ndarray of shape (n_bins,)
        Mean of x, mean local effect and slope; level is nan in an empty bin.
    level_variance, slope_variance : ndarray of shape (n_bins,)
        Variances of these two estimates, which are independent of each other.
    share : ndarray of shape (n_bins,)
        Share of the weight, summing to one.
    centre, scatter : ndarray of shape (n_bins,)
        Mean and deviation of the feature values of the rows in each bin, as they count for
        averages over the rows.
    """

    edges: FloatArray
    origin: FloatArray
    level: FloatArray
    slope: FloatArray
    level_variance: FloatArray
    slope_variance: FloatArray
    share: FloatArray
    centre: FloatArray
    scatter: FloatArray

    def nodes(self, center: Center) -> Nodes:
        """Three points a bin that stand for its rows (or, for "uniform", for its width)."""
        width = np.diff(self.edges)
        share, middle, scatter = self.share, self.centre, self.scatter
        if center == "uniform":
            share = width / (width.sum() if width.sum() > 0 else 1.0)
            middle, scatter = middles(self.edges), width / np.sqrt(12.0)
        bins = np.repeat(np.arange(width.size), NODES.size)
        places = middle[:, None] + scatter[:, None] * NODES
        return Nodes(places.ravel(), bins, np.outer(share, NODE_WEIGHTS).ravel())

    def design(self, x: FloatArray, bins: IntArray) -> tuple[FloatArray, FloatArray]:
        """Write the curve at x as a linear map of the measured levels and slopes.

        Parameters
        ----------
        x : ndarray of shape (n_x,)
            Where to read the curve.
        bins : ndarray of shape (n_x,)
            Whose fit to read there; x may lie outside its bin.

        Returns
        -------
        levels : ndarray of shape (n_x, n_bins)
            Weight of each bin's level; empty bins hand theirs to their neighbours.
        slopes : ndarray of shape (n_x, n_bins)
            Weight of each bin's slope.
        """
        start, stop = self.edges[:-1], self.edges[1:]
        behind = np.arange(start.size) - bins[:, None]
        reached = np.where(behind < 0, stop, np.where(behind > 0, start, x[:, None]))
        known = np.isfinite(self.level)
        fill = bridge(middles(self.edges), known)
        # a neighbour's effect is its line at the middle of its own bin
        passed_on = (reached - start)[:, ~known] @ fill[~known]
        levels = np.where(known, reached - start, 0.0) + passed_on
        tilt = ((reached - self.origin) ** 2 - (start - self.origin) ** 2) / 2
        slopes = np.where(known, tilt, 0.0) + passed_on * (middles(self.edges) - self.origin)
        return levels, slopes

    def centred_design(
        self, x: FloatArray, bins: IntArray, center: Center
    ) -> tuple[FloatArray, FloatArray]:
        """`design`, shifted so that the curve is zero at the start or on average."""
        levels, slopes = self.design(x, bins)
        if center == "start":
            return levels, slopes
        nodes = self.nodes(center)
        node_levels, node_slopes = self.design(nodes.places, nodes.bins)
        return levels - nodes.weights @ node_levels, slopes - nodes.weights @ node_slopes

    def curve(self, x: FloatArray, center: Center) -> FloatArray:
        """Effect at x; outside the bins the outermost ones go on."""
        return self._apply(x, center, np.nan_to_num(self.level), self.slope, power=1)

    def variance(self, x: FloatArray, center: Center) -> FloatArray:
        """Variance of `curve` at x: bins are independent and the map is linear."""
        return self._apply(x, center, *self._variances, power=2)

    def importance(self) -> tuple[float, float]:
        """Standard deviation of the curve over the rows, and its standard error."""
        nodes = self.nodes("mean")
        levels, slopes = self.centred_design(nodes.places, nodes.bins, "mean")
        values = levels @ np.nan_to_num(self.level) + slopes @ self.slope
        size = float(np.sqrt(nodes.weights @ values**2))
        if size == 0.0:
            return 0.0, 0.0
        pull = nodes.weights * values / size
        level, slope = self._variances
        return size, float(np.sqrt((pull @ levels) ** 2 @ level + (pull @ slopes) ** 2 @ slope))

    @property
    def _variances(self) -> tuple[FloatArray, FloatArray]:
        """Variances of levels and slopes; bins of one row borrow theirs from the neighbours."""
        known = np.isfinite(self.level)
        level = np.where(known, fill_gaps(self.level_variance, middles(self.edges)), 0.0)
        return level, np.nan_to_num(self.slope_variance)

    def _apply(
        self, x: FloatArray, center: Center, level: FloatArray, slope: FloatArray, power: int
    ) -> FloatArray:
        known_center(center)
        out, bins = np.empty(x.size), Grid(self.edges).locate(x).astype(np.intp)
        for start in range(0, x.size, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            levels, slopes = self.centred_design(x[rows], bins[rows], center)
            out[rows] = levels**power @ level + slopes**power @ slope
        return out


def known_center(center: str) -> None:
    """Refuse an unknown way of centring."""
    if center not in get_args(Center):
        msg = f"center={center!r} is not known; use one of {', '.join(get_args(Center))}"
        raise BadSettingError(msg)


def middles(edges: FloatArray) -> FloatArray:
    """Middles of the bins."""
    return edges[:-1] + 0.5 * np.diff(edges)


def bridge(places: FloatArray, known: BoolArray) -> FloatArray:
    """Weights that interpolate every place from the known ones, shape (n_places, n_places).

    Examples
    --------
    >>> bridge(np.array([0.0, 1.0, 4.0]), np.array([True, False, True]))
    array([[1.  , 0.  , 0.  ],
           [0.75, 0.  , 0.25],
           [0.  , 0.  , 1.  ]])
    """
    weights = np.zeros((places.size, places.size))
    for column in np.flatnonzero(known):
        unit = np.zeros(places.size)
        unit[column] = 1.0
        weights[:, column] = np.interp(places, places[known], unit[known])
    return weights


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
