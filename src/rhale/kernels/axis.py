"""What is known of one feature before its cells are chosen: range, quantiles, windows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rhale.kernels import FloatArray

MANY_VALUES = 100  # up to so many distinct values a feature is a ladder, not a line
N_KNOTS = 513
FEWEST_ROWS = 4  # a window always sees some other rows
GAP_SHARE = 0.05  # of the range: an empty stretch this wide is a gap


@dataclass(frozen=True, eq=False)
class Axis:
    """What is known of a feature before its cells are chosen.

    Attributes
    ----------
    low, high : float
        Range of the feature.
    values : ndarray of shape (n_values,)
        Distinct values of a sample of the rows, increasing.
    weight : ndarray of shape (n_values,)
        Weight of the rows at each of them.
    rows : float
        Effective number of all rows.
    """

    low: float
    high: float
    values: FloatArray
    weight: FloatArray
    rows: float

    def quantiles(self, shares: FloatArray) -> FloatArray:
        """Smallest values that have at least these shares of the weight at or below them."""
        reached = np.cumsum(self.weight)
        # a share is met when it is missed by rounding alone
        wanted = np.asarray(shares) * reached[-1] * (1 - 4 * np.finfo(float).eps)
        place = np.searchsorted(reached, wanted, side="left")
        return np.asarray(self.values[np.minimum(place, self.values.size - 1)])


@dataclass(frozen=True, eq=False)
class Window:
    """The interval around a value over which a secant is taken.

    Attributes
    ----------
    share : float
        Share of the rows inside, half of them on each side, those with the very same value not
        counted; moved inside at the ends of the axis.
    low, high : float
        Range of the feature.
    knots, starts, stops : ndarray of shape (n_knots,)
        The intervals around some values; straight lines between them.
    ladder : ndarray of shape (n_values,) or None
        The only values an end may have, where there are few.
    whole : bool
        Whether ends must be whole numbers.
    gaps : ndarray of shape (n_gaps, 2)
        Wide stretches without rows. A window that crosses one goes from the value itself to the
        other side of the gap and no further, so that what happens in the gap is not diluted.
    """

    share: float
    low: float
    high: float
    knots: FloatArray
    starts: FloatArray
    stops: FloatArray
    ladder: FloatArray | None
    whole: bool
    gaps: FloatArray

    def ends(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give the interval [a, b] around every value."""
        a, b = np.interp(x, self.knots, self.starts), np.interp(x, self.knots, self.stops)
        if self.ladder is not None:
            a, b = nearest(self.ladder, a), nearest(self.ladder, b)
        elif self.whole:
            a, b = np.floor(a), np.ceil(b)
        a, b = np.minimum(np.maximum(a, self.low), x), np.maximum(np.minimum(b, self.high), x)
        for left, right in self.gaps:
            from_left, from_right = (x <= left) & (b > left), (x >= right) & (a < right)
            a = np.where(from_left, x, np.where(from_right, left, a))
            b = np.where(from_left, right, np.where(from_right, x, b))
        return np.where(b > a, a, self.low), np.where(b > a, b, self.high)


def window(axis: Axis, share: float, *, whole: bool = False, gaps: bool = False) -> Window:
    """Find, everywhere on the axis, the interval that holds a share of the rows.

    Parameters
    ----------
    axis : Axis
        The feature.
    share : float
        Share of the weight that the window holds besides the rows at its centre.
    whole : bool
        Whether the feature takes whole numbers only.
    gaps : bool
        Whether windows end at the far side of a gap.

    Notes
    -----
    O(n_values). Rows with the same value as the centre do not count: a pile of zeros must not
    shrink the window to nothing.
    """
    few = axis.values.size <= MANY_VALUES
    knots = axis.values if few else np.unique(axis.quantiles(np.linspace(0, 1, N_KNOTS)))
    reached = np.append(0.0, np.cumsum(axis.weight))
    total = reached[-1]
    needed = total * min(max(share, FEWEST_ROWS / axis.rows), 1.0)
    below = reached[np.searchsorted(axis.values, knots, "left")]
    above = total - reached[np.searchsorted(axis.values, knots, "right")]
    left = np.minimum(np.maximum(needed / 2, needed - above), below)
    right = np.minimum(np.maximum(needed / 2, needed - below), above)
    slack = 1e-9 * total
    first = np.searchsorted(reached, below - left + slack, "right") - 1
    last = np.searchsorted(reached, total - above + right - slack, "left") - 1
    most = axis.values.size - 1
    found = wide_gaps(axis, needed / 2) if gaps and not few else np.empty((0, 2))
    return Window(
        share,
        axis.low,
        axis.high,
        knots,
        axis.values[np.clip(first, 0, most)],
        axis.values[np.clip(last, 0, most)],
        knots if few else None,
        whole,
        found,
    )


def wide_gaps(axis: Axis, least: float) -> FloatArray:
    """Stretches without rows that are a good part of the range, with `least` weight on each side."""
    reached = np.cumsum(axis.weight)[:-1]
    wide = np.diff(axis.values) >= GAP_SHARE * (axis.high - axis.low)
    between = (reached >= least) & (reached <= axis.weight.sum() - least)
    place = np.flatnonzero(wide & between)
    return np.column_stack([axis.values[place], axis.values[place + 1]])


def nearest(ladder: FloatArray, x: FloatArray) -> FloatArray:
    """Nearest of some increasing values.

    Examples
    --------
    >>> nearest(np.array([0.0, 1.0, 5.0]), np.array([0.9, 4.0]))
    array([1., 5.])
    """
    place = np.searchsorted((ladder[1:] + ladder[:-1]) / 2, x)
    return np.asarray(ladder[place])
