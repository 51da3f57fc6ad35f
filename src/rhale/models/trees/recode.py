"""Categories of a data frame as the numbers that trees know them by."""

from __future__ import annotations

from typing import Any

import numpy as np

from rhale.kernels import FloatArray
from rhale.tables import as_matrix


def recode(rows: Any, *, categories: list[list[Any] | None]) -> FloatArray:
    """Read a pandas table as numbers, categories as their places in lists.

    Parameters
    ----------
    rows : pandas.DataFrame
        The rows.
    categories : list of (list or None)
        Of each column that has some; an unknown one is missing. None for those of the table
        itself, and for columns of numbers.
    """
    if not hasattr(rows, "iloc"):
        return as_matrix(rows)
    matrix = np.empty(rows.shape)
    for i, known in enumerate(categories):
        column = rows.iloc[:, i]
        if known is not None:
            column = column.astype("category").cat.set_categories(known)
        if hasattr(column, "cat"):
            matrix[:, i] = np.where(column.cat.codes < 0, np.nan, column.cat.codes)
        else:
            matrix[:, i] = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return matrix
