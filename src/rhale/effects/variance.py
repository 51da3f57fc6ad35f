"""Variance of a curve (a linear map of independent estimates), and the null distribution of its size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rhale.effects.binning.noise import interpolation
from rhale.effects.curve import (
    CURVE_BLOCK_ROWS,
    BinFits,
    CellMeans,
    Center,
    Design,
    Fit,
    RowPlaces,
    known_center,
    middles,
)
from rhale.stats.arrays import BoolArray, FloatArray
from rhale.stats.distributions import f_tail


class Estimate(NamedTuple):
    """Variances of some numbers, and the degrees of freedom that these were estimated with.

    Attributes
    ----------
    variance : ndarray of shape (n,)
        Variances.
    degrees : ndarray of shape (n,)
        Degrees of freedom behind them.
    """

    variance: FloatArray
    degrees: FloatArray


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """How uncertain levels and slopes of the stretches are: the independent estimates behind them.

    Attributes
    ----------
    fit : Fit
        The stretches.
    bins : BinFits
        The fits of the bins.
    measured : ndarray of shape (n_bins,)
        Whether a bin has rows; the others are lines between their neighbours.
    level_variance, slope_variance, covariance : ndarray of shape (n_bins,)
        Of level and slope of the bins' fits.
    degrees : ndarray of shape (n_bins,)
        Degrees of freedom of these.
    cells : CellMeans or None
        Cells that the curve follows.
    n_rows : float
        Effective number of rows.
    search : float
        By how much the search for bins in the same rows raises all variances, 1 for given bins.
    """

    fit: Fit
    bins: BinFits
    measured: BoolArray
    level_variance: FloatArray
    slope_variance: FloatArray
    covariance: FloatArray
    degrees: FloatArray
    cells: CellMeans | None
    n_rows: float
    search: float

    def of_curve(self, x: FloatArray, center: Center) -> Estimate:
        """Variance of the curve at x, over rows drawn from the same population.

        Notes
        -----
        A curve that is zero on average over the rows also moves with these: their mean of it has
        the variance importance² / n_rows, whatever the fits.
        """
        known_center(center)
        variance, degrees = np.empty(x.size), np.empty(x.size)
        for start in range(0, x.size, CURVE_BLOCK_ROWS):
            part = slice(start, start + CURVE_BLOCK_ROWS)
            variance[part], degrees[part] = self.of_maps(self.fit.design(x[part], center))
        if center != "mean" or self.n_rows < 1:
            return Estimate(variance, degrees)
        # the draw of the rows that the curve is centred over
        drawn = self.fit.importance() ** 2 / self.n_rows
        total = variance + drawn
        return Estimate(total, _satterthwaite(total, (variance, degrees), (drawn, self.n_rows)))

    def of_curve_from(self, x: FloatArray, zero: RowPlaces) -> Estimate:
        """Variance of the curve at x less its mean at given places, which are no draw."""
        mean = self.fit.design(zero.x).weigh(zero.weight)
        variance, degrees = np.empty(x.size), np.empty(x.size)
        for start in range(0, x.size, CURVE_BLOCK_ROWS):
            part = slice(start, start + CURVE_BLOCK_ROWS)
            pairs = zip(self.fit.design(x[part]), mean, strict=True)
            variance[part], degrees[part] = self.of_maps(Design(*(own - m for own, m in pairs)))
        return Estimate(variance, degrees)

    def of_importance(self) -> float:
        """Variance of the standard deviation of the curve over the rows, to first order."""
        rows = self.fit.rows
        # delta method: the gradient of the deviation is the curve by its size, at the rows
        values = self.fit.curve(rows.x, "mean")
        size = float(np.sqrt(rows.weight @ values**2))
        if size == 0.0:
            return 0.0
        pull = (rows.weight * values / size)[None]
        fitted = float(self.of_maps(self.fit.design(rows.x, "mean").weigh(pull)).variance[0])
        # and of a deviation s over rows that are drawn: s² (kurtosis - 1) / (4 n)
        tails = float(rows.weight @ (values / size) ** 4) - 1.0
        return fitted + size**2 * max(tails, 0.0) / (4 * max(self.n_rows, 1.0))

    def added_square(self) -> float:
        """What the errors of the fits add, on average, to the mean square of the curve over the rows.

        Notes
        -----
        The mean over the rows of the variance of the centred curve. Which rows it is centred over
        adds nothing: it is zero on average over these, whatever they are. Neither does what gaps
        may hide: the curve is straight there, and does not scatter.
        """
        rows, added = self.fit.rows, 0.0
        for start in range(0, rows.x.size, CURVE_BLOCK_ROWS):
            part = slice(start, start + CURVE_BLOCK_ROWS)
            design = self.fit.design(rows.x[part], "mean")
            shown = design._replace(hidden=np.zeros_like(design.hidden))
            added += float(rows.weight[part] @ self.of_maps(shown).variance)
        return added

    def of_changes(self, start: FloatArray, stop: FloatArray) -> Estimate:
        """Variance of the change of the curve from each start to its stop."""
        ends = zip(self.fit.design(stop), self.fit.design(start), strict=True)
        return self.of_maps(Design(*(after - before for after, before in ends)))

    def of_maps(self, design: Design) -> Estimate:
        """Variance of linear maps."""
        fit, cells = self.fit, self.cells
        # 1. What the maps take from level and slope of the bins' fits, both (n_maps, n_bins). A
        # followed stretch is `trust` parts its cell's mean; the fit answers for the rest.
        trust, read = np.zeros(fit.bin.size), fit.origin.copy()
        if cells is not None:
            trust[np.isin(fit.bin, cells.bin)] = cells.trust
            # an empty cell has the residual of its neighbours, from the fit where these are
            for k in np.unique(cells.bin):
                x, filled = cells.mean_x[cells.bin == k], cells.measured[cells.bin == k]
                read[fit.bin == k] = interpolation(x, filled) @ x[filled]
        origin, starts = self.bins.origin[fit.bin], np.unique(fit.bin, return_index=True)[1]
        tilt = np.where(fit.is_flat, 0.0, design.slopes)
        tilt = tilt + design.levels * (fit.origin - origin - trust * (read - origin))
        of_levels = np.add.reduceat(design.levels * (1 - trust), starts, axis=1)
        of_slopes = np.add.reduceat(tilt, starts, axis=1)
        # 2. A bin without rows has no estimate of its own: what a map takes from it, it takes from
        # its measured neighbours.
        for line in find_bridges(self.bins, self.measured):
            level = of_levels[:, line.bin].copy()
            of_levels[:, line.bin] = of_slopes[:, line.bin] = 0.0
            for k, place, share in line.ends:
                of_levels[:, k] += share * level
                of_slopes[:, k] += share * level * (place - self.bins.origin[k])
        # 3. Variance from each bin; bins are independent, level and slope of one are not.
        parts = of_levels**2 * self.level_variance + of_slopes**2 * self.slope_variance
        parts += 2 * of_levels * of_slopes * self.covariance
        # Where the curve follows cells, their means are the independent estimates: the fit is made
        # of them, so taking both as independent would count the same rows twice.
        for k in map(int, np.unique(cells.bin) if cells else []):
            mine = design.levels[:, fit.bin == k]
            parts[:, k] = self._of_cells(k, mine, of_levels[:, k], of_slopes[:, k])
        parts = self.search * np.maximum(parts, 0.0)
        # 4. What gaps may hide, and what the rises of moved rows across them are off.
        if fit.asked is None:
            hidden = design.hidden**2 @ fit.gaps.variance
        else:
            hidden = np.einsum("ij,jk,ik->i", design.hidden, fit.hidden_covariance, design.hidden)
            hidden = np.maximum(hidden, 0.0)
        total = parts.sum(axis=1) + hidden
        return Estimate(total, _satterthwaite(total, *zip(parts.T, self.degrees, strict=True)))

    def _of_cells(
        self, k: int, levels: FloatArray, level: FloatArray, slope: FloatArray
    ) -> FloatArray:
        """Variance from one bin whose cells the curve follows."""
        cells = self.cells
        assert cells is not None  # noqa: S101 - for the type checker
        mine = cells.bin == k
        x, filled = cells.mean_x[mine], cells.measured[mine]
        weight = cells.weight[mine][filled]
        share, offset = weight / weight.sum(), x[filled] - self.bins.origin[k]
        # a slope is held by x between the cells and by x inside them; the second part is
        # independent of the cells' means and adds a variance of its own
        inside = share * cells.std_x[mine][filled] ** 2
        scatter = share @ offset**2 + inside.sum()  # its square may be infinite, but no error
        variance = cells.error[mine][filled] ** 2
        # what the maps take from each cell's mean: directly, by the level and by the slope
        pull = cells.trust[mine][0] * (levels @ interpolation(x, filled))
        pull = pull + level[:, None] * share
        total = np.zeros(len(level))
        if self.slope_variance[k] > 0:
            pull = pull + slope[:, None] * (share * offset / scatter)
            total = slope**2 * float(share * inside @ variance) / scatter**2
        return np.asarray(total + pull**2 @ variance)


def _satterthwaite(
    total: FloatArray, *parts: tuple[FloatArray | float, FloatArray | float]
) -> FloatArray:
    """Degrees of freedom of a sum of independent variances (Welch and Satterthwaite)."""
    # (sum v)² / sum (v² / df)
    known, inverse = total > 0, np.zeros(total.size)
    whole = np.where(known, total, 1.0)
    for variance, degrees in parts:
        inverse = inverse + (variance / whole) ** 2 / degrees  # of shares: squares would overflow
    some = known & (inverse > 0)
    return np.where(some, 1 / np.where(some, inverse, 1.0), np.inf)


class Bridge(NamedTuple):
    """A bin without rows, and the measured bins whose fits it connects (one at an end)."""

    bin: int
    # For each measured neighbour: its number, where its fit is read, and its share
    ends: tuple[tuple[int, float, float], ...]


def find_bridges(bins: BinFits, measured: BoolArray) -> list[Bridge]:
    """List the bins without rows, each with its nearest measured neighbours."""
    # The effect of an empty bin is constant: what lies at its middle on the line between the fits
    # of its neighbours, each read at its own middle, or nearer if the empty bin beside it is the
    # narrower one, and where it has rows.
    # neighbours are measured bins, however far: a chain of empty bins lies on one line
    known, found, edges = np.flatnonzero(measured), [], bins.edges
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
        clipped = [(n, float(np.clip(x, bins.low[n], bins.high[n])), p) for n, x, p in ends]
        found.append(Bridge(k, tuple(end for end in clipped if end[0] >= 0)))
    return found


def bridge_levels(bins: BinFits, measured: BoolArray) -> FloatArray:
    """Levels of all bins, those without rows from the fits of their neighbours."""
    level = bins.level.copy()
    for line in find_bridges(bins, measured):
        level[line.bin] = sum(share * bins.read(k, x) for k, x, share in line.ends)
    return level


# --- Chance in the size of a curve: what errors alone would make of its deviation over the rows


MAX_F_TEST_DEGREES = 1e7  # degrees of freedom: more make no difference


class ChanceSize(NamedTuple):
    """What the errors of a curve add to its mean square over the rows, on average, and how evenly.

    Attributes
    ----------
    square : float
        The mean square of a curve that is nothing but errors.
    spread_over : float
        Degrees of freedom of that mean square: how many independent errors it is made of.
    degrees : float
        Degrees of freedom that the errors themselves were estimated with.
    """

    square: float
    spread_over: float
    degrees: float

    def p_value(self, square: float) -> float:
        """Probability that errors alone give a larger mean square.

        Examples
        --------
        >>> round(ChanceSize(2.0, 1.0, np.inf).p_value(2.0 * 3.841458820694124), 6)
        0.05
        """
        if not np.isfinite(self.square):
            return float("nan")
        if not self.square > 0:
            return 0.0 if square > 0 else 1.0
        under = min(self.degrees, MAX_F_TEST_DEGREES)
        ratio = np.array([square / self.square])
        return float(f_tail(ratio, np.array([self.spread_over]), np.array([under]))[0])


def covariance_from_changes(changes: FloatArray, weight: FloatArray) -> FloatArray:
    """Covariance of a curve less its weighted mean, from the variances of all its changes.

    `changes` (n_places, n_places): variance of the difference of the curve between each two
    places; `weight` (n_places,): of the places in the mean, adding up to one.

    Examples
    --------
    >>> covariance_from_changes(np.array([[0.0, 4.0], [4.0, 0.0]]), np.array([0.5, 0.5]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    # Gower's formula: whatever is taken off all heights at once leaves their differences as they
    # are, so these tell all that can be told.
    shift = np.eye(weight.size) - weight
    return np.asarray(-0.5 * shift @ changes @ shift.T)


def size_by_chance(covariance: FloatArray, weight: FloatArray, degrees: float) -> ChanceSize:
    """Sum up what errors do to the mean square of a curve over the rows.

    `covariance` (n_places, n_places): of the errors at the places, centred as the curve is;
    `weight` (n_places,): shares of the rows at the places; `degrees`: degrees of freedom of the
    covariance.
    """
    # The mean square is a sum of squares of independent errors of several sizes; it has the mean
    # and the variance of a multiple of a chi-square (Satterthwaite, Box).
    square = float(weight @ np.diag(covariance))
    squares = float(weight @ covariance**2 @ weight)
    spread_over = square**2 / squares if squares > 0 else 1.0
    return ChanceSize(max(square, 0.0), spread_over, degrees)
