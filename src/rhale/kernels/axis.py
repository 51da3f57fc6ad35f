"""What is known of one feature before its cells are chosen: range, quantiles, gaps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.grid import distinct
from rhale.kernels.interpolate import Knots

MANY_VALUES = 100  # up to so many distinct values a feature is a ladder, not a line
N_RANK_KNOTS = 513
GAP_SHARE = 0.05  # of the range: an empty stretch this wide is a gap
N_BESIDE = 30  # values beside a stretch whose extent it is compared with
MIN_VALUES_NEXT_TO_GAP, FEWEST_STEPS = (
    10,
    3,
)  # so many at least; where all values have ten rows and more
LONE = 2.0  # times as wide is the way to a few values: the last ones of a tail are far apart
MOST_EMPTY = 24  # the widest ones: of values that crowd at hundreds of places, all ways are alike


@dataclass(frozen=True, eq=False)
class FeatureAxis:
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
    ends : tuple of float
        Smallest and largest value of all rows, which the sample need not have; where they are
        within limits that the user gave.
    """

    low: float
    high: float
    values: FloatArray
    weight: FloatArray
    rows: float
    ends: tuple[float, ...] = ()

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
        return Knots(distinct(self.quantiles(np.linspace(0, 1, N_RANK_KNOTS))))

    @cached_property
    def empty(self) -> FloatArray:
        """Stretches without rows that are wider than what thirty values beside them cover.

        Notes
        -----
        Ways between clusters are such stretches, whatever their scales; steps of a grid are none.
        Ten neighbours of even density are that close with chance 2^-9; fewer count where each value
        has many rows. The way to fewer than ten values is one if it is twice as wide as what the
        thirty before it cover: in an exponential tail with a chance of 0.6 %, the product of
        k / (k + 2) from 2 to 30.

        Examples
        --------
        >>> FeatureAxis(0.0, 1e6, np.append(np.linspace(0, 1, 50), 1e6), np.ones(51), 51.0).empty.tolist()
        [[1.0, 1000000.0]]
        """
        known = np.unique(np.concatenate([self.values, self.ends]))
        is_ladder = known.size <= min(MANY_VALUES, self.rows / MIN_VALUES_NEXT_TO_GAP)
        fewest, last = FEWEST_STEPS if is_ladder else MIN_VALUES_NEXT_TO_GAP, known.size - 1
        place = np.arange(max(last, 0))
        before = known[place] - known[np.maximum(place + 1 - N_BESIDE, 0)]
        behind = known[np.minimum(place + N_BESIDE, last)] - known[place + 1]
        many_before, many_behind = place + 1 >= fewest, last - place >= fewest
        before = np.where(many_before, before, np.inf)
        behind = np.where(many_behind, behind, np.inf)
        times = np.where(many_before & many_behind, 1.0, LONE)
        wide = np.flatnonzero(np.diff(known) > times * np.minimum(before, behind))
        widest = np.argsort(-np.diff(known)[wide], kind="stable")[:MOST_EMPTY]
        wide = np.sort(wide[widest])
        return np.column_stack([known[wide], known[wide + 1]])

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


def nearest(ladder: FloatArray, x: FloatArray) -> FloatArray:
    """Nearest of some increasing values.

    Examples
    --------
    >>> nearest(np.array([0.0, 1.0, 5.0]), np.array([0.9, 4.0]))
    array([1., 5.])
    """
    place = np.searchsorted((ladder[1:] + ladder[:-1]) / 2, x)
    return np.asarray(ladder[place])
