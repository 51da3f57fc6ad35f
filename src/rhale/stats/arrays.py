"""Arrays: their types, numbers laid out column by column, ranks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]

LARGEST_SQUARABLE, SMALLEST_SQUARABLE = 1e150, 1e-150  # squares of these are still ordinary numbers
# So many rows stay in the processor's cache while their columns are read.
TRANSPOSE_BLOCK_ROWS = 2**9


def lay_columns(rows: npt.NDArray[np.generic]) -> FloatArray:
    """Copy numbers so that those of a column are contiguous.

    `rows` (n_rows, ..., n_columns): of any type. Returns (n_columns, ..., n_rows).

    Examples
    --------
    >>> lay_columns(np.array([[1, 2], [3, 4], [5, 6]]))
    array([[1., 3., 5.],
           [2., 4., 6.]])
    """
    # A column of a table that is stored row by row is one number in every so many bytes: to read it
    # takes as long as to read the rows. Here all columns are read at once, some rows at a time.
    if rows.T.flags.c_contiguous:
        return rows.T.astype(np.float64)
    found = np.empty(rows.shape[::-1])
    for start in range(0, len(rows), TRANSPOSE_BLOCK_ROWS):
        found[..., start : start + TRANSPOSE_BLOCK_ROWS] = rows[
            start : start + TRANSPOSE_BLOCK_ROWS
        ].T
    return found


# --- Ranks of numbers, and how they are correlated


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
