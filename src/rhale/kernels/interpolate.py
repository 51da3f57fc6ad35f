"""Broken lines over the same knots, read at many places: one search for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rhale.kernels import FloatArray, IntArray

BUCKETS_PER_LIMIT = 16


@dataclass(frozen=True, eq=False)
class BucketedLimits:
    """Increasing numbers among which many values are to be found.

    Notes
    -----
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
    """Places at which broken lines bend.

    Attributes
    ----------
    places : ndarray of shape (n_knots,)
        Increasing.
    """

    places: FloatArray

    @cached_property
    def _limits(self) -> BucketedLimits:
        return BucketedLimits(self.places[1:])

    def read(self, x: FloatArray, *heights: FloatArray) -> list[FloatArray]:
        """Read lines, level beyond their ends.

        Parameters
        ----------
        x : ndarray of shape (n,)
            Where to read them; finite.
        *heights : ndarray of shape (n_knots,)
            Of each line at the knots.

        Returns
        -------
        list of ndarray of shape (n,)

        Notes
        -----
        The same numbers as `np.interp`, which searches anew for every line, and with a branch
        that a processor guesses wrong half of the time: several times slower on places in random
        order.

        Examples
        --------
        >>> Knots(np.array([0.0, 1.0])).read(np.array([0.5, 3.0]), np.array([0.0, 2.0]))
        [array([1., 2.])]
        """
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
