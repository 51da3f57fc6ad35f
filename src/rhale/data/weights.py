"""How much each row matters: the column or the numbers that say so, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rhale.data.table import Table
from rhale.errors import BadTableError
from rhale.naming import find_feature
from rhale.stats.arrays import FloatArray, IntArray

MIN_TABLE_ROWS = 2
LARGEST_WEIGHT = 1e100


def find_weights(name: str, table: Table) -> int:
    """Find the column that holds the weights."""
    column = find_feature(name, table.names)
    if table.holds(column) != "number":
        msg = f"weights={table.names[column]!r} is a column without numbers"
        raise BadTableError(msg)
    return column


def check_weights(weights: npt.ArrayLike, n_rows: int) -> FloatArray:
    """Turn weights into floats, or say what is wrong with them."""
    on_device: Any = weights
    weights = on_device.cpu() if getattr(weights, "is_cuda", False) else weights
    try:
        values = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"weights must be numbers, one per row; found {type(weights).__name__}"
        raise BadTableError(msg) from error
    if values.shape != (n_rows,):
        msg = f"weights have shape {values.shape}, the table has {n_rows} rows; give one per row"
        raise BadTableError(msg)
    if not np.all(np.isfinite(values)) or values.min() < 0:
        bad = int(np.flatnonzero(~(np.isfinite(values) & (values >= 0)))[0])
        msg = f"weights must be finite and not negative; row {bad} has {values[bad]}"
        raise BadTableError(msg)
    if not 1 / LARGEST_WEIGHT < values.max() < LARGEST_WEIGHT:
        # only ratios of weights matter; a power of two keeps them exact and their squares finite
        values = np.ldexp(values, -int(np.frexp(values.max())[1]))
    if np.count_nonzero(values) < MIN_TABLE_ROWS:
        msg = "fewer than two rows have a positive weight; nothing is left to explain"
        raise BadTableError(msg)
    return values


def check_pieced_weights(values: FloatArray, row_numbers: IntArray) -> FloatArray:
    """Refuse weights that cannot be used; those of other pieces are not known here."""
    bad = ~(np.isfinite(values) & (values >= 0) & (values < LARGEST_WEIGHT))
    bad |= (values > 0) & (values < 1 / LARGEST_WEIGHT)
    if bad.any():
        row = int(np.argmax(bad))
        msg = (
            f"weights must be finite, not negative and neither huge nor tiny; row "
            f"{row_numbers[row]} has {values[row]}"
        )
        raise BadTableError(msg)
    return values
