"""Piecewise linear functions, read at many places in one search."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rhale.stats.arrays import FloatArray, IntArray

BUCKETS_PER_LIMIT = 16


@dataclass(frozen=True, eq=False)
class BucketedLimits:
    """Increasing numbers among which many values are to be found.

    Equal buckets tell how many limits lie below them; a binary search, in which all values take
    the same steps, looks at those in the value's own bucket. `np.searchsorted` looks at them all,
    with a branch at every step. The table of buckets is made once, in O(n_limits).

    Examples
    --------
    >>> BucketedLimits(np.array([1.0, 2.0])).locate(np.array([0.0, 1.0, 5.0]))
    array([0, 1, 2])
    """

    values: FloatArray

    def locate(self, x: FloatArray) -> IntArray:
        """Count the limits at or below each value."""
        if x.size < 2 * self.values.size:  # the table would cost more than it saves
            return np.searchsorted(self.values, x, side="right")
        below, left = self._table
        place = below.take(self._buckets(x))
        while left > 0:
            half = (left + 1) // 2
            is_above = self._padded.take(place + (half - 1)) <= x
            place += half * is_above if half > 1 else is_above
            left -= half
        return place

    @cached_property
    def _table(self) -> tuple[IntArray, int]:
        """How many limits lie below each bucket, and the most in one."""
        n_buckets = BUCKETS_PER_LIMIT * self.values.size + 1
        in_bucket = np.bincount(self._buckets(self.values), minlength=n_buckets)
        return np.cumsum(in_bucket) - in_bucket, int(in_bucket.max())

    @cached_property
    def _padded(self) -> FloatArray:
        """The limits, and none beyond them for all steps of a search."""
        return np.append(self.values, np.full(self.values.size, np.inf))

    def _buckets(self, x: FloatArray) -> IntArray:
        """Equal buckets between the outermost limits; larger values never go to a lower one."""
        limits, n_buckets = self.values, BUCKETS_PER_LIMIT * self.values.size
        with np.errstate(over="ignore"):
            span = limits[-1] - limits[0] if limits.size else 0.0
            scale = n_buckets / span if span > 0 else 0.0
            if not 0 < scale < np.inf:  # too narrow or too wide for buckets: one for all
                return np.zeros(x.size, dtype=np.intp)
            scaled = (x - limits[0]) * scale
        np.maximum(scaled, 0, out=scaled)
        return np.asarray(np.minimum(scaled, n_buckets, out=scaled).astype(np.intp))


@dataclass(frozen=True, eq=False)
class Knots:
    """Places at which broken lines bend."""

    places: FloatArray  # (n_knots,): increasing

    @cached_property
    def _limits(self) -> BucketedLimits:
        return BucketedLimits(self.places[1:])

    def read(self, x: FloatArray, *heights: FloatArray) -> list[FloatArray]:
        """Read lines, level beyond their ends.

        `x` (n,): where to read them; finite; `heights` (n_knots,): of each line at the knots;
        returns (n,).

        Examples
        --------
        >>> Knots(np.array([0.0, 1.0])).read(np.array([0.5, 3.0]), np.array([0.0, 2.0]))
        [array([1., 2.])]
        """
        # The same numbers as `np.interp`, which searches anew for every line, and with a branch
        # that a processor guesses wrong half of the time: several times slower on places in random
        # order.
        cell = self._limits.locate(x)
        step, widths = x - self.places.take(cell), np.diff(self.places)
        np.maximum(step, 0.0, out=step)
        lines = []
        for height in heights:
            slope = np.append(np.diff(height) / widths, 0.0)
            line = slope.take(cell)
            line *= step
            line += height.take(cell)
            lines.append(line)
        return lines


# --- Curves that are straight between points, read at rows between these


def locate_between_points(x: FloatArray, points: FloatArray) -> FloatArray:
    """Number the places of rows among points: 1.25 is a quarter of the way from point 1 to 2.

    `x` (n_rows,): feature values. Those outside count at the nearest end; nan stays nan; `points`
    (n_points,): increasing.

    Examples
    --------
    >>> locate_between_points(np.array([-7.0, 2.5, 4.0]), np.array([0.0, 2.0, 4.0]))
    array([0.  , 1.25, 2.  ])
    """
    return np.asarray(np.interp(x, points, np.arange(points.size, dtype=np.float64)))


def share_out(place: FloatArray, amount: FloatArray, n_points: int) -> FloatArray:
    """Share amounts out between the two points beside each place, the nearer one getting more.

    `place` (n_places,): from `locate_between_points`; `amount` (n_places,): weights of rows, for
    example. Their sum over the places, each times a curve there, is the sum over the points of
    what this returns, times the curve there; `n_points`: how many points there are.

    Examples
    --------
    >>> share_out(np.array([0.0, 1.25]), np.array([3.0, 4.0]), 3)
    array([3., 3., 1.])
    """
    first, position = split_place(place, n_points)
    second = np.minimum(first + 1, n_points - 1)
    before = np.bincount(first, amount * (1 - position), n_points)
    return np.asarray(before + np.bincount(second, amount * position, n_points))


def interpolate_points(values: FloatArray, place: FloatArray) -> FloatArray:
    """Read several curves, straight between the points, at places.

    `values` (n_points, n_curves): at the points; `place` (n_places,): from
    `locate_between_points`. Returns (n_places, n_curves).

    Examples
    --------
    >>> interpolate_points(np.array([[0.0, 1.0], [4.0, 3.0]]), np.array([0.25]))
    array([[1. , 1.5]])
    """
    first, position = split_place(place, len(values))
    second = np.minimum(first + 1, len(values) - 1)
    part = position[:, None]
    return np.asarray((1 - part) * values[first] + part * values[second])


def variance_between(covariance: FloatArray, place: FloatArray) -> FloatArray:
    """Variance of curves at places, from their covariance at the points.

    `covariance` (n_points, n_points): of the curves; `place` (n_places,): from
    `locate_between_points`.
    """
    first, position = split_place(place, len(covariance))
    second, rest = np.minimum(first + 1, len(covariance) - 1), 1 - position
    before, after = (covariance[point, point] for point in (first, second))
    both = 2 * rest * position * covariance[first, second]
    return np.maximum(rest**2 * before + both + position**2 * after, 0.0)


def split_place(place: FloatArray, n_points: int) -> tuple[IntArray, FloatArray]:
    """The point before each place, and how far it is from there to the next one."""
    first = np.clip(place.astype(np.intp), 0, max(n_points - 2, 0))
    return first, place - first
