"""Broken lines over the same knots, read at many places: one search for all of them."""

from __future__ import annotations

import numpy as np

from rhale.kernels import FloatArray, IntArray

BUCKETS_PER_LIMIT = 4


def read_lines(x: FloatArray, knots: FloatArray, *heights: FloatArray) -> list[FloatArray]:
    """Read broken lines, level beyond their ends.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Where to read them; finite.
    knots : ndarray of shape (n_knots,)
        Increasing.
    *heights : ndarray of shape (n_knots,)
        Of each line at the knots.

    Returns
    -------
    list of ndarray of shape (n,)

    Notes
    -----
    The same numbers as `np.interp`, which searches anew for every line, and with a branch that a
    processor guesses wrong half of the time: several times slower on places in random order.

    Examples
    --------
    >>> read_lines(np.array([0.5, 3.0]), np.array([0.0, 1.0]), np.array([0.0, 2.0]))
    [array([1., 2.])]
    """
    if knots.size < 2:
        return [np.full(x.shape, height[0]) for height in heights]
    cell = locate(x, knots[1:-1])
    step, is_after = np.maximum(x - knots[cell], 0.0), x >= knots[-1]
    lines = []
    for height in heights:
        slope = np.diff(height) / np.diff(knots)
        lines.append(np.where(is_after, height[-1], slope[cell] * step + height[cell]))
    return lines


def locate(x: FloatArray, limits: FloatArray) -> IntArray:
    """Count the limits at or below each value.

    Notes
    -----
    Equal buckets tell how many limits lie below them; a binary search, in which all values take
    the same steps, looks at those in the value's own bucket. `np.searchsorted` looks at them all,
    with a branch at every step.

    Examples
    --------
    >>> locate(np.array([0.0, 1.0, 5.0]), np.array([1.0, 2.0]))
    array([0, 1, 2])
    """
    bucket, of_limits = _buckets(x, limits), _buckets(limits, limits)
    in_bucket = np.bincount(of_limits, minlength=BUCKETS_PER_LIMIT * limits.size + 1)
    place = np.cumsum(np.append(0, in_bucket))[bucket]
    left = int(in_bucket.max(initial=0))
    padded = np.append(limits, np.full(left, np.inf))
    while left > 0:
        half = (left + 1) // 2
        place += half * (padded[place + (half - 1)] <= x)
        left -= half
    return place


def _buckets(x: FloatArray, limits: FloatArray) -> IntArray:
    """Equal buckets between the outermost limits; larger values never go to a lower one."""
    n_buckets = BUCKETS_PER_LIMIT * limits.size
    span = limits[-1] - limits[0] if limits.size else 0.0
    if not span > 0:
        return np.zeros(x.size, dtype=np.intp)
    with np.errstate(over="ignore"):  # a span next to nothing: all values go to the ends
        scaled = (x - limits[0]) * (n_buckets / span)
    return np.asarray(np.clip(scaled, 0, n_buckets).astype(np.intp))
