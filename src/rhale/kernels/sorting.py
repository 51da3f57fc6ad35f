"""Ranks of numbers, and how they are correlated."""

from __future__ import annotations

import numpy as np

from rhale.kernels import FloatArray


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
