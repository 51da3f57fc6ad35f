"""Sorting numbers by where in their range they lie, in linear time if they are spread over it; ranks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rhale.kernels import FloatArray, IntArray

BUCKETS = 2**16  # NumPy puts numbers of two bytes in order by counting them
MOST, CROWDED = 16, 0.1  # different numbers in a bucket, but for a share of them
LOOKED_AT, BESIDE = 64, 8  # one of so many numbers tells that, with so many others beside it
FEW = 2_000  # numbers, which any sort has in order as soon
NARROW = 1e-300  # range: the numbers have hardly any digits


def sort_numbers(values: FloatArray) -> FloatArray:
    """Put numbers in order, nan last.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
        Any; a column of a table will do.

    Returns
    -------
    ndarray of shape (n_values,)
        A copy.

    Notes
    -----
    Numbers of the same bucket stay in the order in which they came; a merge sort, which is quick
    where order is nearly there, does the rest. If most of them share a few buckets, as those of
    heavy-tailed columns do, that would be slow, and NumPy's usual sort is taken.

    Examples
    --------
    >>> sort_numbers(np.array([3.0, np.nan, 1.0, 2.0]))
    array([ 1.,  2.,  3., nan])
    """
    if values.size < FEW:
        return np.sort(values)
    values = np.ascontiguousarray(values)
    low = float(values.min())
    span = float(values.max()) - low
    if not NARROW < span < np.inf or _are_crowded(values, span):  # nan compares with nothing
        return np.sort(values)
    bucket = ((values - low) * ((BUCKETS - 1) / span)).astype(np.uint16)
    found = values.take(bucket.argsort(kind="stable"))
    found.sort(kind="stable")
    return found


def _are_crowded(values: FloatArray, span: float) -> bool:
    """Whether too many different numbers share their buckets, as far as some of them tell."""
    some = np.sort(values[::LOOKED_AT])
    spans = some[BESIDE:] - some[:-BESIDE]
    is_crowded = (spans > 0) & (spans < BESIDE * LOOKED_AT / MOST * (span / BUCKETS))
    return bool(np.count_nonzero(is_crowded) > CROWDED * spans.size)


def order_keys(keys: npt.NDArray[np.uint64]) -> IntArray:
    """Order in which keys increase; they look random, so that none of their buckets is crowded.

    Examples
    --------
    >>> order_keys(np.array([7, 3, 5], dtype=np.uint64))
    array([1, 2, 0])
    """
    if keys.size < FEW:
        return keys.argsort()
    shift = max(int(keys.max()).bit_length() - 16, 0)
    order = (keys >> np.uint64(shift)).astype(np.uint16).argsort(kind="stable")
    return order.take(keys.take(order).argsort(kind="stable"))


def rank_values(values: FloatArray) -> FloatArray:
    """Ranks of the values, those of equal ones averaged; nan where there is no value.

    Examples
    --------
    >>> rank_values(np.array([10.0, 30.0, 10.0, np.nan]))
    array([0.5, 2. , 0.5, nan])
    """
    known = np.isfinite(values)
    _, place, counts = np.unique(values[known], return_inverse=True, return_counts=True)
    ranks = np.full(values.shape, np.nan)
    ranks[known] = (np.cumsum(counts) - (counts + 1) / 2)[place]
    return ranks


def correlate(first: FloatArray, second: FloatArray, weight: FloatArray) -> float:
    """Weighted correlation over rows where both are known; 0 where one of them does not vary."""
    known = np.isfinite(first) & np.isfinite(second) & (weight > 0)
    if not known.any():
        return 0.0
    share = weight[known] / weight[known].sum()
    a, b = (values[known] - share @ values[known] for values in (first, second))
    scale = float(np.sqrt((share @ a**2) * (share @ b**2)))
    return float(share @ (a * b)) / scale if scale > 0 else 0.0
