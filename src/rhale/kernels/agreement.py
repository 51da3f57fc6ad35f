"""How much rows differ in their slopes where a model has steps, by the agreement of two halves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.axis_row import AxisRow, slices
from rhale.kernels.grid import distinct
from rhale.kernels.moments import Moments
from rhale.kernels.segments import ROUNDING

STEPS_IN_SLOPE, STEPS_IN_HALVES = 1 / 16, 1 / 4  # of the variance of the difference
NO_AGREEMENT, FULL_AGREEMENT = 0.25, 0.55  # below is noise, above is spread
OWN_STEPS = 1 / 4  # of the mean slope: beyond that rows differ, even if their halves do not agree
USUAL = 4.0  # times the median variance: what is beyond must be agreed upon where it is
GROUP_ROWS, MOST_GROUPS = 25.0, 20  # agreement is pooled over groups of neighbouring rows
N_WIDE = 5  # groups about as wide as the window of a slope


def staircase_slopes(
    places: FloatArray, jumps: FloatArray, starts: FloatArray, stops: FloatArray
) -> FloatArray:
    """Least-squares slopes of a staircase over windows, and over the halves of each.

    Parameters
    ----------
    places, jumps : ndarray of shape (n_jumps,)
        Where the staircase jumps, and by how much.
    starts, stops : ndarray of shape (n_windows,)
        The windows.

    Returns
    -------
    ndarray of shape (3, n_windows)
        As the series "wide", "halves" and "difference": the slope over the whole window, the mean
        of those over its left and its right half, and the right one less the left one. A window
        without width has the slope 0.

    Notes
    -----
    With m and h the middle and half width of a window and u = (t - m) / h, these are sums of
    jumps: 3/4 (1 - u²) / h over the window, 6 |u| (1 - |u|) / h over either half.
    O(n_windows n_jumps) time and memory.

    Examples
    --------
    A jump of 2 at a quarter of the window:

    >>> staircase_slopes(np.array([1.0]), np.array([2.0]), np.array([0.0]), np.array([4.0])).ravel()
    array([ 0.5625,  0.75  , -1.5   ])
    """
    half = (stops - starts) / 2
    width = np.where(half > 0, half, np.inf)[:, None]
    u = (places - ((starts + stops) / 2)[:, None]) / width
    away = np.abs(u)
    whole = np.maximum(1 - u**2, 0.0) * 0.75 / width
    either = 6 * away * np.maximum(1 - away, 0.0) / width
    return np.stack([whole @ jumps, either @ jumps / 2, np.copysign(either, u) @ jumps])


def subtract(moments: Moments, levels: FloatArray) -> Moments:
    """Take off every series what all rows of a cell have in common.

    Parameters
    ----------
    moments : Moments
        Of the cells of one axis.
    levels : ndarray of shape (n_series, n_cells)
        What it is, in each cell.

    Returns
    -------
    Moments
        Of what rows deviate from the levels.

    Notes
    -----
    Slopes over windows that all rows of a cell share are such levels: nothing is left then where
    all rows jump alike. Deviations within rounding of the largest level are none.

    Examples
    --------
    >>> from rhale.kernels.grid import Grid
    >>> from rhale.kernels.moments import measure
    >>> m = measure(Grid(np.array([0.0, 2.0])), np.array([0.0, 1.0]), np.array([3.0, 5.0]))
    >>> left = subtract(m, np.array([[1.0]]))
    >>> left.mean, left.sdd
    (array([[3.]]), array([[2.]]))
    """
    levels = np.where(moments.weight > 0, levels, 0.0)
    rounding = ROUNDING * np.abs(levels).max(initial=0.0)
    none = moments.sdd <= moments.weight * rounding**2
    mean = moments.mean - levels
    return replace(
        moments,
        mean=np.where(np.abs(mean) <= rounding, 0.0, mean),
        sxd=np.where(none, 0.0, moments.sxd),
        sdd=np.where(none, 0.0, moments.sdd),
    )


def subtract_squares(moments: Moments, squares: FloatArray) -> Moments:
    """Take off the variance of every series what is counted elsewhere, as far as there is any.

    Parameters
    ----------
    moments : Moments
        Of the cells of one axis.
    squares : ndarray of shape (n_series, n_cells)
        A variance, in each cell.

    Examples
    --------
    >>> from rhale.kernels.grid import Grid
    >>> from rhale.kernels.moments import measure
    >>> m = measure(Grid(np.array([0.0, 2.0])), np.array([0.0, 1.0]), np.array([3.0, 5.0]))
    >>> m.sdd, subtract_squares(m, np.array([[0.25]])).sdd
    (array([[2.]]), array([[1.5]]))
    """
    return replace(moments, sdd=np.maximum(moments.sdd - moments.weight * squares, 0.0))


class RowSpread(NamedTuple):
    """Deviation of the rows' slopes in each bin, and how far the halves of windows agree."""

    std: FloatArray
    agreement: float


def spread_of_rows(cells: Moments, limits: IntArray) -> RowSpread:
    """Deviation between the slopes of rows, without what the steps of a model add to it.

    Parameters
    ----------
    cells : Moments
        Of one output, with series "effect", slopes of rows as they are, and "wide", "halves" and
        "difference": what rows deviate from the slopes of the mean staircase (see `subtract`).
    limits : ndarray of shape (n_bins + 1,)
        The bins among the cells.

    Returns
    -------
    std : ndarray of shape (n_bins,)
        nan where rows are too few to tell.
    agreement : float
        Of the whole axis, whatever the bins, at most 1; 0 where nothing varies.

    Notes
    -----
    Steps at single thresholds are noise that the halves of a window do not share; an interaction
    is the same slope in both. With variances about the line in a bin,

        V = Var(wide) - Var(difference) / 16,    S = Cov(left, right)
                                                   = Var(halves) - Var(difference) / 4,

    1/16 because the difference of white noise has 16 times the variance of the slope. Rows that
    deviate in the mean, by M² = mean(wide)² - Var(wide) / n, show an interaction too: their
    slopes over the window are not those of the rows that stand there, as where features are
    correlated. So

        agreement = sum (S + M²) / s / sum (V + M²) / s

    over up to twenty groups of neighbouring rows, where s, the variance of a group or the median
    if that is larger, lets no group speak for all. Halves that contradict each other are noise,
    and outweigh no mean: the sum of S is at least a quarter of that of V below zero. With r
    rising from 0 to 1 between two agreements and T four times the median of V, a bin has

        std² = min(V, T) (r + (1 - r) q) + max(V - T, 0) max(r(min(agreement, S / V)), q'),

    V and S being those inside the groups, so that a mean that bends in the bin is no spread.

    A model of few thresholds lets rows differ at single ones, where no two halves can agree.
    Boosted trees of additive functions have V up to about a quarter of the mean slope E, squared,
    and so q = max(0, 1 - E² / 16 V), with means of both along the axis: what rows differ beyond
    that is the model's own. q' is the same in the bin itself, E being the steepest mean slope of
    its groups: at one threshold, as of (x1 > 0) x2, rows may jump by 1 and by -1 where hardly any
    jump elsewhere. O(n_cells) time.
    """
    (found,) = spreads_of_rows(AxisRow.of([cells], n_series=None), [limits])
    return found


def spreads_of_rows(axes: AxisRow, limits: Sequence[IntArray]) -> list[RowSpread]:
    """Deviations between the slopes of rows on many axes, on each as if it were alone.

    Parameters
    ----------
    axes : AxisRow
        Cells of the axes, each as in `spread_of_rows`.
    limits : sequence of ndarray of shape (n_bins + 1,)
        The bins among the cells of each.

    Notes
    -----
    Most of what few cells cost is the calls of NumPy, so the cells of all axes are united together.
    """
    groups = even_groups(axes)
    parts = _Parts.of(axes.unite(groups).cells)
    inside = _inside(axes, axes.join(limits), axes.join(groups))
    own = zip(
        slices(np.array([one.size - 1 for one in groups])),
        slices(np.array([one.size - 1 for one in limits])),
        shared_squares(axes),
        strict=True,
    )
    return [
        _spread(parts.take(group), _Inside(*(one[part] for one in inside)), squares)
        for group, part, squares in own
    ]


def _spread(groups: _Parts, bins: _Inside, squares: FloatArray) -> RowSpread:
    """Deviation in the bins of one axis, see `spread_of_rows`."""
    agreement, usual = _pool(groups)
    slope = np.maximum(bins.slope, 0.0)
    some = np.where(slope > 0, slope, np.inf)
    within = np.minimum(slope, USUAL * usual)
    more = np.clip(1.0 - OWN_STEPS**2 * bins.steepest / some, 0.0, 1.0)
    beyond = (slope - within) * np.maximum(_rise(np.minimum(agreement, bins.shared / some)), more)
    agreed = _rise(agreement)
    counted = agreed + (1 - agreed) * _beyond_steps(groups, squares)
    return RowSpread(np.sqrt(within * counted + beyond), agreement)


def shared_squares(axes: AxisRow) -> list[FloatArray]:
    """Squares of the slopes that rows share, in groups about as wide as the window of a slope."""
    wide = axes.unite(even_groups(axes, N_WIDE))
    groups = wide.cells.named("effect")
    by_chance = groups.variance[0] / np.where(groups.rows > 0, groups.rows, np.nan)
    squares = np.maximum(groups.mean[0] ** 2 - np.nan_to_num(by_chance), 0.0)
    return [squares[part][groups.weight[part] > 0] for part in wide.slices()]


def _beyond_steps(groups: _Parts, squares: FloatArray) -> float:
    """Share of the variance of slopes that is more than steps of an additive function make."""
    slope = groups.slope[np.isfinite(groups.whole)]
    if not (slope.size and squares.size and slope.mean() > 0):
        return 0.0
    return max(1.0 - OWN_STEPS**2 * float(squares.mean() / slope.mean()), 0.0)


def median(values: FloatArray) -> float:
    """Give the median of some finite numbers: `np.median` without its price for few of them."""
    ordered = np.sort(values)
    return float(ordered[(values.size - 1) // 2] + ordered[values.size // 2]) / 2


@dataclass(frozen=True, eq=False)
class _Parts:
    """Variances in each of some bins; nan where rows are too few.

    Attributes
    ----------
    weight, rows : ndarray of shape (n_bins,)
        Sum of the rows' weights, and their effective number.
    whole : ndarray of shape (n_bins,)
        Of the slopes over whole windows.
    slope : ndarray of shape (n_bins,)
        The same without the noise of steps.
    shared : ndarray of shape (n_bins,)
        Covariance of the slopes over the two halves.
    shift : ndarray of shape (n_bins,)
        Square of the mean of the slopes, without what chance adds to it.
    """

    weight: FloatArray
    rows: FloatArray
    whole: FloatArray
    slope: FloatArray
    shared: FloatArray
    shift: FloatArray

    def take(self, part: slice) -> _Parts:
        """Some neighbouring bins."""
        return _Parts(*(getattr(self, one.name)[part] for one in fields(self)))

    @classmethod
    def of(cls, bins: Moments) -> _Parts:
        used = bins.named("wide", "halves", "difference")
        whole, halves, difference = used.residual_variance
        return cls(
            weight=bins.weight,
            rows=bins.rows,
            whole=whole,
            slope=whole - STEPS_IN_SLOPE * difference,
            shared=halves - STEPS_IN_HALVES * difference,
            shift=used.mean[0] ** 2 - whole / np.where(bins.rows > 0, bins.rows, np.nan),
        )


def _pool(groups: _Parts) -> tuple[float, float]:
    """Agreement of all groups, and the median of the variance of their slopes."""
    known = np.isfinite(groups.whole)
    if not known.any():
        return 0.0, 0.0
    usual = max(median(groups.slope[known]), 0.0)
    scale = np.maximum(groups.whole, median(groups.whole[known]))
    known &= scale > 0
    share = np.divide(groups.weight, scale, out=np.zeros_like(scale), where=known)[known]
    slope, shared, shift = (
        float(share @ part[known]) for part in (groups.slope, groups.shared, groups.shift)
    )
    if slope <= 0:
        return 0.0, usual
    shift, shared = max(shift, 0.0), max(shared, -NO_AGREEMENT * slope)
    return min((shared + shift) / (slope + shift), 1.0), usual


class _Inside(NamedTuple):
    """Of each bin, inside its groups: variance of slopes, what halves share of it, and E²."""

    slope: FloatArray
    shared: FloatArray
    steepest: FloatArray


def _inside(axes: AxisRow, limits: IntArray, groups: IntArray) -> _Inside:
    """Variance of the slopes of each bin, and what the halves share of it, inside the groups."""
    bins = _Parts.of(axes.cells.unite(limits))
    every = np.union1d(limits, groups)
    united, first = axes.cells.unite(every), np.searchsorted(every, limits[:-1])
    parts = _Parts.of(united)
    free = np.where(np.isfinite(parts.whole), np.maximum(parts.rows - 2, 0.0), 0.0)
    total = np.add.reduceat(free, first)
    slope, shared = (
        np.add.reduceat(np.where(free > 0, free * part, 0.0), first)
        for part in (parts.slope, parts.shared)
    )
    # rows that are too few in each of a bin's groups may be enough in the bin
    some = np.where(total > 0, total, 1.0)
    return _Inside(
        slope=np.where(total > 0, slope / some, bins.slope),
        shared=np.where(total > 0, shared / some, bins.shared),
        steepest=np.maximum.reduceat(united.named("effect").mean[0] ** 2, first),
    )


def even_groups(axes: AxisRow, most: int = MOST_GROUPS) -> list[IntArray]:
    """Limits of groups of cells with equal numbers of rows, as far as cells allow, for each axis."""
    shares = axes.split(axes.cells.weight * np.repeat(axes.each, axes.sizes))
    return [_even_groups(np.cumsum(own), most) for own in shares]


def _even_groups(reached: FloatArray, most: int) -> IntArray:
    """The same for one axis, whose cells end after so many rows."""
    n_groups = int(min(max(reached[-1] / GROUP_ROWS, 1), most))
    inner = np.searchsorted(reached, reached[-1] * np.arange(1, n_groups) / n_groups) + 1
    return distinct(np.concatenate([[0], inner, [reached.size]]))


def _rise(agreement: float | FloatArray) -> FloatArray:
    """Share of the variance that is spread."""
    risen = (agreement - NO_AGREEMENT) / (FULL_AGREEMENT - NO_AGREEMENT)
    return np.minimum(np.maximum(risen, 0.0), 1.0)
