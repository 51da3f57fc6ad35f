"""Numbers of rows, laid out column by column."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rhale.kernels import FloatArray

TRANSPOSE_BLOCK_ROWS = (
    2**9
)  # so many rows stay in the processor's cache while their columns are read


def lay_columns(rows: npt.NDArray[np.generic]) -> FloatArray:
    """Copy numbers so that those of a column stand side by side.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, ..., n_columns)
        Of any type.

    Returns
    -------
    ndarray of shape (n_columns, ..., n_rows)

    Notes
    -----
    A column of a table that stands row by row is one number in every so many bytes: to read it
    takes as long as to read the rows. Here all columns are read at once, some rows at a time.

    Examples
    --------
    >>> lay_columns(np.array([[1, 2], [3, 4], [5, 6]]))
    array([[1., 3., 5.],
           [2., 4., 6.]])
    """
    if rows.T.flags.c_contiguous:
        return rows.T.astype(np.float64)
    found = np.empty(rows.shape[::-1])
    for start in range(0, len(rows), TRANSPOSE_BLOCK_ROWS):
        found[..., start : start + TRANSPOSE_BLOCK_ROWS] = rows[
            start : start + TRANSPOSE_BLOCK_ROWS
        ].T
    return found
