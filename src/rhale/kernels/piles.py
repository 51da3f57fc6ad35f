"""Piles: values that many rows share, and what happens right beside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.axis import FeatureAxis
from rhale.kernels.sample import KeyArray
from rhale.kernels.stretches import ReservedIntervals

PILE_SHARE = 0.05  # of the rows: a value that holds so many is a place of its own
STANDS_OUT = 10.0  # times what a value holds in the median: few values are no piles, but a ladder
BESIDE_SHARE, BESIDE_ROWS = 0.002, 5.0  # rows next to a pile that share a window with it


@dataclass(frozen=True, eq=False)
class PointMasses:
    """Values that many rows share, each with a narrow stretch on either side.

    Attributes
    ----------
    values : ndarray of shape (n_piles,)
        The piles.
    stretches : ndarray of shape (n_stretches, 2)
        From a pile to a value right beside it, or to the next pile; in order, without overlap.
        All rows in one share it as their window, so that a jump beside the pile is measured by
        its rows, and counted once.
    before : ndarray of shape (n_stretches,)
        The last values before the stretches, or their beginnings where there are none.
    high : float
        End of the axis. As cells, stretches are closed on the left, and there on both sides.
    """

    values: FloatArray
    stretches: FloatArray
    before: FloatArray
    high: float = np.inf

    @property
    def beside(self) -> ReservedIntervals:
        """The stretches as bins of their own."""
        return ReservedIntervals(self.stretches, self.before)

    @cached_property
    def divided(self) -> FloatArray:
        """Piles with a stretch on both sides: half of their rows stand on each."""
        return np.intersect1d(self.values, np.intersect1d(*self.stretches.T))

    def take_sides(self, x: FloatArray, key: KeyArray) -> FloatArray:
        """Move the rows of divided piles to one side or the other, by as little as can be."""
        for pile in self.divided:
            side = np.where(key & np.uint64(1), np.inf, -np.inf)
            x = np.where(x == pile, np.nextafter(pile, side), x)
        return x

    def shorten(self, x: FloatArray, reach: FloatArray) -> FloatArray:
        """How far even windows go to either side: no farther than to the next stretch."""
        if not self.stretches.size:
            return reach
        low, high = self._between(x)
        return np.minimum(reach, np.minimum(x - low, high - x))

    def confine(self, x: FloatArray, a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Keep windows out of the stretches; rows in one have it as their window."""
        if not self.stretches.size:
            return a, b
        low, high = self._between(x)
        a, b = np.maximum(a, low), np.minimum(b, high)
        for start, stop in self.stretches:
            inside = (x >= start) & ((x < stop) | (stop == self.high))
            a, b = np.where(inside, start, a), np.where(inside, stop, b)
        return a, b

    def offer(self, limits: FloatArray) -> FloatArray:
        """Add the ends of the stretches to limits of cells, and leave none between them.

        Nor right before them: a bin may end on either side of an empty cell, and would be too wide.
        """
        return self.beside.offer(limits)

    def _between(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The nearest stretches on both sides of values outside of them."""
        starts, stops = self.stretches.T
        place = np.searchsorted(stops, x, side="right")
        return np.append(-np.inf, stops)[place], np.append(starts, np.inf)[place]


NO_PILES = PointMasses(np.empty(0), np.empty((0, 2)), np.empty(0))


def find_point_masses(axis: FeatureAxis) -> PointMasses:
    """Find the values that hold a twentieth of the rows or more, and what lies beside them.

    Parameters
    ----------
    axis : FeatureAxis
        The feature.

    Notes
    -----
    A pile holds ten times what a value holds in the median, too: where all values are as heavy,
    the feature has few values and no piles. A stretch holds 0.2 % of the rows beside its pile, 5
    at least, and ends at the next pile.

    Examples
    --------
    >>> values = np.arange(101.0)
    >>> axis = FeatureAxis(0.0, 100.0, values, np.where(values == 0, 100.0, 1.0), 200.0)
    >>> find_point_masses(axis).stretches
    array([[0., 5.]])
    """
    weight, total = axis.weight, axis.weight.sum()
    heavy = (weight >= PILE_SHARE * total) & (weight >= STANDS_OUT * np.median(weight))
    places = np.flatnonzero(heavy)
    if not places.size or axis.values.size < 2:
        return NO_PILES
    near = max(BESIDE_SHARE, BESIDE_ROWS / axis.rows) * total
    stretches = _stretches(axis, places, near)
    for left, right in axis.empty:
        # what lies beyond a wide stretch without rows is not beside the pile
        stretches[(stretches[:, 0] == left) & (stretches[:, 1] > right), 1] = right
        stretches[(stretches[:, 1] == right) & (stretches[:, 0] < left), 0] = left
    first = np.searchsorted(axis.values, stretches[:, 0])
    before = axis.values[np.maximum(first - 1, 0)]
    return PointMasses(axis.values[places], stretches, before, axis.high)


def _stretches(axis: FeatureAxis, places: IntArray, near: float) -> FloatArray:
    """Stretches on both sides of the piles; two piles that are close share the one between them."""
    reached, last = axis.reached, axis.values.size - 1
    slack = 1e-9 * reached[-1]
    ends = [-1, *places.tolist(), last + 1]
    found = list[tuple[int, int]]()
    for before, behind in pairwise(ends):  # two piles, or a pile and an end of the axis
        has_left, has_right = before >= 0, behind <= last
        right = int(np.searchsorted(reached[1:], reached[before + 1] + near - slack))
        left = int(np.searchsorted(reached, reached[behind] - near + slack, "right")) - 1
        right, left = min(right, behind, last), max(left, before, 0)
        if has_left and has_right and right > left:
            found.append((before, behind))
            continue
        found += [(before, right)] if has_left and before < right else []
        found += [(left, behind)] if has_right and left < behind else []
    return axis.values[np.array(found, dtype=np.intp).reshape(-1, 2)]
