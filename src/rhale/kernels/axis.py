"""What is known of one feature before its cells are chosen: range, quantiles, windows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rhale.kernels import FloatArray

MANY_VALUES = 100  # up to so many distinct values a feature is a ladder, not a line
N_KNOTS = 513
FEWEST_ROWS = 4  # a window always sees some other rows


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
        return self.values[np.minimum(place, self.values.size - 1)]


@dataclass(frozen=True, eq=False)
class Window:
    """The interval around a value over which a secant is taken.

    Attributes
    ----------
    share : float
        Share of the rows inside, those with the very same value not counted.
    low, high : float
        Range of the feature; intervals are moved inside it.
    knots, reach : ndarray of shape (n_knots,)
        Half the width of the interval at some values; straight lines between them.
    ladder : ndarray of shape (n_values,) or None
        The only values an end may have, where there are few.
    whole : bool
        Whether ends must be whole numbers.
    """

    share: float
    low: float
    high: float
    knots: FloatArray
    reach: FloatArray
    ladder: FloatArray | None
    whole: bool

    def ends(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give the interval [a, b] around every value."""
        half = np.minimum(np.interp(x, self.knots, self.reach), (self.high - self.low) / 2)
        centre = np.clip(x, self.low + half, self.high - half)
        a, b = centre - half, centre + half
        slack = 1e-9 * (self.high - self.low)
        if self.ladder is not None:
            last = self.ladder.size - 1
            a = self.ladder[np.minimum(np.searchsorted(self.ladder, a - slack, "left"), last)]
            b = self.ladder[np.maximum(np.searchsorted(self.ladder, b + slack, "right") - 1, 0)]
        elif self.whole:
            a, b = np.ceil(a - slack), np.floor(b + slack)
        a, b = np.minimum(np.maximum(a, self.low), x), np.maximum(np.minimum(b, self.high), x)
        return np.where(b > a, a, self.low), np.where(b > a, b, self.high)


def window(axis: Axis, share: float, *, whole: bool = False) -> Window:
    """Measure how far a window must reach, everywhere on the axis, to hold a share of the rows.

    Parameters
    ----------
    axis : Axis
        The feature.
    share : float
        Share of the weight that the window holds besides the rows at its centre.
    whole : bool
        Whether the feature takes whole numbers only.

    Notes
    -----
    O(n_knots log n_values). Rows with the same value as the centre do not count: a pile of zeros
    must not shrink the window to nothing.
    """
    few = axis.values.size <= MANY_VALUES
    knots = axis.values if few else np.unique(axis.quantiles(np.linspace(0, 1, N_KNOTS)))
    reached = np.append(0.0, np.cumsum(axis.weight))
    needed = reached[-1] * min(max(share, FEWEST_ROWS / axis.rows), 1.0) * (1 - 1e-12)
    own = _weight_between(axis.values, reached, knots, knots)
    most = max(axis.high - axis.low, 0.0)
    short, far = np.zeros(knots.size), np.full(knots.size, most)
    for _ in range(64):
        half = 0.5 * (short + far)
        enough = _weight_between(axis.values, reached, knots - half, knots + half) - own >= needed
        short, far = np.where(enough, short, half), np.where(enough, half, far)
    reach = np.maximum(far, 1e-6 * most)
    return Window(share, axis.low, axis.high, knots, reach, knots if few else None, whole)


def _weight_between(
    values: FloatArray, reached: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Weight of the values in [low, high]."""
    above = reached[np.searchsorted(values, high, "right")]
    return np.asarray(above - reached[np.searchsorted(values, low, "left")])
