"""ALE statistics: how far a curve is from zero over the rows, its range, both in percentiles of y, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rhale.kernels import FloatArray


class Heights(NamedTuple):
    """A curve, zero on average, as it is read for its statistics.

    Attributes
    ----------
    values : ndarray of shape (n_values,)
        Where rows are counted: at their places, in the middle of their bins, at their levels.
    weight : ndarray of shape (n_values,)
        How many rows, by weight.
    low, high : float
        The ends of its range, which need not be among the values.
    """

    values: FloatArray
    weight: FloatArray
    low: float
    high: float


class Sizes(NamedTuple):
    """Mean distance from zero over the rows, and the root of the mean square."""

    mean_absolute: float
    root_mean_square: float


def size_up(values: FloatArray, weight: FloatArray) -> Sizes:
    """Measure how far values are from zero: ALED, in its two forms.

    Parameters
    ----------
    values, weight : ndarray of shape (n_values,)
        Heights and how many rows have them. Those without rows do not count; without any rows
        both sizes are 0.

    Notes
    -----
    sum n |m| / sum n, and the root of sum n m² / sum n (`aled_fun = "sd"` of R's package ale).

    Examples
    --------
    >>> size_up(np.array([-3.0, 1.0]), np.array([1.0, 3.0]))
    Sizes(mean_absolute=1.5, root_mean_square=1.7320508075688772)
    """
    some = weight > 0
    if not some.any():
        return Sizes(0.0, 0.0)
    far, share = np.abs(values[some]), weight[some] / weight[some].sum()
    return Sizes(float(share @ far), float(np.sqrt(share @ far**2)))


def summarise_ale_bins(at_edges: FloatArray, weight: FloatArray) -> Heights:
    """Read a curve in the middles of its bins, and its range at their limits, as package ale does.

    Parameters
    ----------
    at_edges : ndarray of shape (n_bins + 1,)
        The curve at the limits.
    weight : ndarray of shape (n_bins,)
        Rows of the bins.

    Examples
    --------
    >>> summarise_ale_bins(np.array([-1.0, 0.0, 4.0]), np.array([2.0, 1.0])).values
    array([-0.5,  2. ])
    """
    middle = at_edges[:-1] / 2 + at_edges[1:] / 2
    return Heights(middle, weight, float(at_edges.min()), float(at_edges.max()))


def read_levels(values: FloatArray, weight: FloatArray) -> Heights:
    """Read a curve at its levels, or its steps: those without rows are not in its range."""
    held = values[weight > 0] if np.any(weight > 0) else values
    return Heights(values, weight, float(held.min()), float(held.max()))


def summarise_ale_steps(heights: FloatArray, shares: FloatArray) -> Heights:
    """Read a staircase: its range is that of all steps between the first and the last row."""
    filled = np.flatnonzero(shares > 0)
    between = heights[filled[0] : filled[-1] + 1] if filled.size else heights
    return Heights(heights, shares, float(between.min()), float(between.max()))


def read_cells(
    surface: FloatArray, weight: FloatArray, is_levels: tuple[bool, bool] = (False, False)
) -> Heights:
    """Read the surface of a pair in its cells, as package ale does; its range is that of these.

    Parameters
    ----------
    surface : ndarray of shape (n_nodes, n_nodes)
        At the limits of the cells, or at the levels.
    weight : ndarray of shape (n_stands, n_stands)
        Rows of the cells or levels.
    is_levels : pair of bool
        Which sides have levels: there the surface is read at these.

    Notes
    -----
    (A[i, j] + A[i - 1, j - 1]) / 2: the mean of **two** of the four corners. It is neither the
    mean of the cell nor the value where its rows stand, and cells without rows are in the range:
    take the numbers for what another program says, and the strength for what there is.

    Examples
    --------
    >>> read_cells(np.array([[1.0, 9.0], [9.0, 3.0]]), np.ones((1, 1))).values
    array([2.])
    """
    low, high = (
        tuple(slice(None) if levels else ends for levels in is_levels)
        for ends in (slice(None, -1), slice(1, None))
    )
    middle = (surface[low] / 2 + surface[high] / 2).ravel()
    return Heights(middle, weight.ravel(), float(middle.min()), float(middle.max()))


@dataclass(frozen=True, eq=False)
class HalfPercentiles:
    """What an effect amounts to among the observed values of the target: -50 to 50.

    Attributes
    ----------
    below, above : ndarray
        Distances from the median of the values at or below it, and at or above it, increasing.
    nearest : pair of float
        The largest value below the median and the smallest above, less the median; infinite
        where there is none.

    Notes
    -----
    With c = y - median: g(a) = 0 between the largest negative and the smallest positive c, both
    included; else -50 times the share of {c <= 0} that is at or above a < 0, or 50 times the share
    of {c >= 0} that is at or below a > 0. A step function: an effect that moves no prediction past
    the next observed value is 0, and where no value lies on one side of the median, all of that
    side is.

    Examples
    --------
    >>> percentile = HalfPercentiles.of(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    >>> percentile(np.array([-9.0, -1.0, 0.5, 1.5]))
    array([-50.        ,   0.        ,   0.        ,  33.33333333])
    """

    below: FloatArray
    above: FloatArray
    nearest: tuple[float, float]

    @classmethod
    def of(cls, y: FloatArray) -> HalfPercentiles:
        """Sort observed values about their median.

        Parameters
        ----------
        y : ndarray of shape (n_values,)
            At least one, all finite.
        """
        off = y - np.median(y)
        nearest = (
            float(off[off < 0].max(initial=-np.inf)),
            float(off[off > 0].min(initial=np.inf)),
        )
        return cls(np.sort(-off[off <= 0]), np.sort(off[off >= 0]), nearest)

    def __call__(self, heights: FloatArray) -> FloatArray:
        """Signed half percentiles of effects."""
        low, high = self.nearest
        down = -_shares_up_to(self.below, -heights)
        up = _shares_up_to(self.above, heights)
        inside = (heights >= low) & (heights <= high)
        return 50.0 * np.where(inside, 0.0, np.where(heights < 0, down, up))


def _shares_up_to(ordered: FloatArray, limits: FloatArray) -> FloatArray:
    """Share of some values at or below each limit; 0 of none."""
    return np.asarray(np.searchsorted(ordered, limits, "right") / max(ordered.size, 1))
