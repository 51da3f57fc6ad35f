"""What is known of one feature before its cells are chosen: range, quantiles, gaps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.grid import distinct
from rhale.kernels.interpolate import Knots

MANY_VALUES = 100  # up to so many distinct values a feature is a ladder, not a line
N_KNOTS = 513
GAP_SHARE = 0.05  # of the range: an empty stretch this wide is a gap
N_BESIDE, FEWEST_BESIDE = 30, 10  # values beside a stretch whose extent it is compared with


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

    @cached_property
    def reached(self) -> FloatArray:
        """Weight before the first value, up to it, up to the second, ..."""
        return np.append(0.0, np.cumsum(self.weight))

    @cached_property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.weight.sum())

    @cached_property
    def knots(self) -> Knots:
        """Values at which windows are measured: all where they are few, some quantiles if not."""
        if self.values.size <= MANY_VALUES:
            return Knots(self.values)
        return Knots(distinct(self.quantiles(np.linspace(0, 1, N_KNOTS))))

    @cached_property
    def gap_places(self) -> IntArray:
        """Values that end at a gap: a stretch without rows that is a good part of the range."""
        return np.flatnonzero(np.diff(self.values) >= GAP_SHARE * (self.high - self.low))

    @cached_property
    def beside_knots(self) -> tuple[FloatArray, FloatArray]:
        """Weight of the rows below and above each knot."""
        return self.beside(self.knots.places)

    def beside(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weight of the rows below and above each x."""
        reached = self.reached
        below = reached[np.searchsorted(self.values, x, "left")]
        above = reached[-1] - reached[np.searchsorted(self.values, x, "right")]
        return below, above

    def quantiles(self, shares: FloatArray) -> FloatArray:
        """Smallest values that have at least these shares of the weight at or below them."""
        reached = self.reached[1:]
        # a share is met when it is missed by rounding alone
        rounding = (4 + self.values.size) * np.finfo(float).eps  # of so many additions
        wanted = np.asarray(shares) * reached[-1] * (1 - rounding)
        place = np.searchsorted(reached, wanted, side="left")
        return np.asarray(self.values[np.minimum(place, self.values.size - 1)])


def find_empty(values: FloatArray) -> IntArray:
    """Find stretches without rows that are wider than what thirty values beside them cover.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
        Distinct values, increasing.

    Returns
    -------
    ndarray of shape (n_stretches,)
        The value before each stretch.

    Notes
    -----
    On either side: the way to a lone far value is one, however far it is, and so are the ways
    between clusters, whatever their scales. Steps of a grid are none, nor is what is usual in the
    tail of a distribution.

    Examples
    --------
    >>> find_empty(np.append(np.linspace(0, 1, 50), 1e6))
    array([49])
    """
    place, last = np.arange(values.size - 1), values.size - 1
    before = values[place] - values[np.maximum(place + 1 - N_BESIDE, 0)]
    behind = values[np.minimum(place + N_BESIDE, last)] - values[place + 1]
    before[place + 1 < FEWEST_BESIDE] = np.inf
    behind[last - place < FEWEST_BESIDE] = np.inf
    return np.flatnonzero(np.diff(values) > np.minimum(before, behind))


def wide_gaps(axis: Axis, least: float) -> FloatArray:
    """Stretches without rows that are a good part of the range, with `least` weight on each side."""
    place = axis.gap_places
    reached = axis.reached[place + 1]
    place = place[(reached >= least) & (reached <= axis.total - least)]
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
