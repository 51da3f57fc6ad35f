"""How uncertain a curve is: exact variances of a linear map of independent estimates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.curve import BLOCK_ROWS, CellMeans, Center, Fit, known_center, middles
from rhale.kernels.grid import Grid
from rhale.kernels.noise import interpolation


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """How uncertain levels and slopes of the stretches are: the independent estimates behind them.

    Attributes
    ----------
    edges, origin : ndarray of shape (n_bins + 1,) and (n_bins,)
        Limits of the bins, and where the level of each bin's fit is read.
    measured : ndarray of shape (n_bins,)
        Whether a bin has rows; the others are lines between their neighbours.
    level_variance, slope_variance : ndarray of shape (n_bins,)
        Variances of level and slope of the bins' fits, which are independent of each other.
    cells : CellMeans or None
        Cells that the curve follows.
    places : ndarray of shape (n_stretches,)
        Where the level of each stretch is read.
    bins : ndarray of shape (n_stretches,)
        The bin of each stretch.
    """

    edges: FloatArray
    origin: FloatArray
    measured: BoolArray
    level_variance: FloatArray
    slope_variance: FloatArray
    cells: CellMeans | None
    places: FloatArray
    bins: IntArray

    def of_curve(self, fit: Fit, x: FloatArray, center: Center) -> FloatArray:
        """Variance of the curve at x."""
        known_center(center)
        out, stretches = np.empty(x.size), Grid(fit.edges).locate(x).astype(np.intp)
        for start in range(0, x.size, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            out[rows] = self.variance(*fit.centred_design(x[rows], stretches[rows], center))
        return out

    def of_importance(self, fit: Fit) -> float:
        """Variance of the standard deviation of the curve over the rows, to first order."""
        nodes = fit.nodes("mean")
        levels, slopes = fit.centred_design(nodes.places, nodes.stretches, "mean")
        values = levels @ fit.level + slopes @ fit.slope
        size = float(np.sqrt(nodes.weights @ values**2))
        if size == 0.0:
            return 0.0
        pull = (nodes.weights * values / size)[None]
        return float(self.variance(pull @ levels, pull @ slopes)[0])

    def variance(self, levels: FloatArray, slopes: FloatArray) -> FloatArray:
        """Variance of linear maps of the stretches' levels and slopes, both (n_maps, n_stretches)."""
        of_levels, of_slopes = self._of_fits(levels, slopes)
        self._hand_over(of_levels, of_slopes)
        plain = np.ones(self.origin.size, dtype=np.bool_)
        plain[self.cells.bin if self.cells else []] = False
        # read at the mean of x, level and slope of a fit are independent: their variances add
        total = of_levels[:, plain] ** 2 @ self.level_variance[plain]
        total += of_slopes[:, plain] ** 2 @ self.slope_variance[plain]
        # where the curve follows cells, their means are the independent estimates: the fit is made of
        # them, so taking both as independent would count the same rows twice
        for k in map(int, np.flatnonzero(~plain)):
            mine = levels[:, self.bins == k]
            total += self._of_cells(k, mine, of_levels[:, k], of_slopes[:, k])
        return np.asarray(total)

    def _of_fits(self, levels: FloatArray, slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What the maps say of level and slope of the bins' fits, both (n_maps, n_bins)."""
        cells = self.cells
        if cells is None:
            return levels.copy(), slopes.copy()
        # an empty cell has the residual of its neighbours, from the fit where these are
        trust, read = np.zeros(self.places.size), self.places.copy()
        trust[np.isin(self.bins, cells.bin)] = cells.trust
        for k in np.unique(cells.bin):
            x, filled = cells.mean_x[cells.bin == k], cells.measured[cells.bin == k]
            read[self.bins == k] = interpolation(x, filled) @ x[filled]
        origin, starts = self.origin[self.bins], np.unique(self.bins, return_index=True)[1]
        tilt = slopes + levels * (self.places - origin - trust * (read - origin))
        # a followed stretch is `trust` parts its cell's mean; the fit answers for the rest
        kept = levels * (1 - trust)
        return np.add.reduceat(kept, starts, axis=1), np.add.reduceat(tilt, starts, axis=1)

    def _hand_over(self, levels: FloatArray, slopes: FloatArray) -> None:
        """Let the measured neighbours answer for the bins without rows, in place."""
        # a bin without rows has no estimate of its own: what a map asks of it, it asks of its neighbours
        for line in find_bridges(self.edges, self.measured):
            level = levels[:, line.bin].copy()
            levels[:, line.bin] = slopes[:, line.bin] = 0.0
            for k, place, share in line.ends:
                levels[:, k] += share * level
                slopes[:, k] += share * level * (place - self.origin[k])

    def _of_cells(
        self, k: int, levels: FloatArray, level: FloatArray, slope: FloatArray
    ) -> FloatArray:
        """Variance from one bin whose cells the curve follows."""
        cells = self.cells
        assert cells is not None  # noqa: S101 - for the type checker
        mine = cells.bin == k
        x, filled = cells.mean_x[mine], cells.measured[mine]
        weight = cells.weight[mine][filled]
        share, offset = weight / weight.sum(), x[filled] - self.origin[k]
        # a slope is held by x between the cells and by x inside them; the second part is independent of
        # the cells' means and adds a variance of its own
        inside = share * cells.std_x[mine][filled] ** 2
        scatter = share @ offset**2 + inside.sum()  # its square may be infinite, but no error
        variance = cells.error[mine][filled] ** 2
        pull = cells.trust[mine][0] * (levels @ interpolation(x, filled))
        pull = pull + level[:, None] * share
        total = np.zeros(len(level))
        if self.slope_variance[k] > 0:
            pull = pull + slope[:, None] * (share * offset / scatter)
            total = slope**2 * float(share * inside @ variance) / scatter**2
        return np.asarray(total + pull**2 @ variance)


class Bridge(NamedTuple):
    """A bin without rows, and the measured bins whose fits it connects (one at an end).

    Attributes
    ----------
    bin : int
        The bin.
    ends : tuple of (int, float, float)
        For each measured neighbour: its number, where its fit is read, and its share.
    """

    bin: int
    ends: tuple[tuple[int, float, float], ...]


def find_bridges(edges: FloatArray, measured: BoolArray) -> list[Bridge]:
    """List the bins without rows, each with its nearest measured neighbours.

    Notes
    -----
    The effect of an empty bin is constant: what lies at its middle on the line between the fits
    of its neighbours, each read at its own middle, or nearer if the empty bin beside it is the
    narrower one.
    """
    # neighbours are measured bins, however far: a chain of empty bins lies on one line
    known, found = np.flatnonzero(measured), []
    middle, half = middles(edges), np.diff(edges) / 2
    for k in map(int, np.flatnonzero(~measured)):
        place = int(np.searchsorted(known, k))
        left = int(known[place - 1]) if place > 0 else -1
        right = int(known[place]) if place < known.size else -1
        start = max(middle[left], edges[left + 1] - half[left + 1]) if left >= 0 else 0.0
        stop = min(middle[right], edges[right] + half[right - 1]) if right >= 0 else 0.0
        part = 1.0 if left < 0 else 0.0
        if left >= 0 and right >= 0:
            part = float((middle[k] - start) / (stop - start))
        ends = ((left, float(start), 1 - part), (right, float(stop), part))
        found.append(Bridge(k, tuple(end for end in ends if end[0] >= 0)))
    return found


def bridge_levels(
    edges: FloatArray,
    measured: BoolArray,
    origin: FloatArray,
    level: FloatArray,
    slope: FloatArray,
) -> FloatArray:
    """Levels of all bins, those without rows from the fits of their neighbours."""
    level = level.copy()
    for line in find_bridges(edges, measured):
        fits = [share * (level[k] + slope[k] * (x - origin[k])) for k, x, share in line.ends]
        level[line.bin] = sum(fits)
    return level
