"""Any table as chunks of rows: it is opened by its type, and rows have weights that were checked."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from rhale.data.array import ArrayTable
from rhale.data.columns import holds, is_numeric_dtype, read_column_floats, repeated_in
from rhale.data.frame import FrameTable
from rhale.data.table import Table, TableInMemory
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


# --- Recognise a table and refuse what is none, with the reason


def open_table(data: Any, weights: npt.ArrayLike | str | None = None) -> TableInMemory:
    """Open a table in memory; rows of weight zero are left out.

    Shapes: weights (n_rows,).
    """
    table: TableInMemory
    if isinstance(data, TableInMemory):  # it is open already
        table = data
    elif getattr(data, "is_cuda", False):
        table = import_module("rhale.execution.gpu.table").open_tensor(data)
    else:
        table = recognise(data)
    if isinstance(weights, str):
        column = find_weights(weights, table)
        weights = table.chunk(0, table.n_rows).column(column)
        table = table.select([place for place in range(len(table.names)) if place != column])
    if not table.names:
        msg = "the table has no columns"
        raise BadTableError(msg)
    require_two_rows(table.n_rows)
    if weights is None:
        return table
    checked = check_weights(weights, table.n_rows)
    table = table.weigh(checked)
    return table if np.all(checked > 0) else table.take(np.flatnonzero(checked > 0))


def require_two_rows(n_rows: int) -> None:
    """Refuse a table that has too few rows for any effect."""
    if n_rows < MIN_TABLE_ROWS:
        found = "no rows" if n_rows == 0 else "one row"
        msg = f"the table has {found}; an effect needs at least two rows with different values"
        raise BadTableError(msg)


def require_two_dimensions(what: str, shape: Sequence[float]) -> None:
    """Refuse an array that is no table."""
    if len(shape) != 2:
        msg = f"the {what} has shape {tuple(shape)}; pass one of shape (n_rows, n_features)"
        if len(shape) == 1:
            msg += ", .reshape(-1, 1) makes a table of one feature"
        raise BadTableError(msg)


def as_matrix(rows: Any) -> FloatArray:
    """Read rows of any supported kind as a matrix of floats, all columns."""
    if isinstance(rows, np.ndarray):
        return np.asarray(rows)
    frame = nw.from_native(rows, eager_only=True)
    for name, dtype in frame.schema.items():
        if not (is_numeric_dtype(dtype) or holds(frame[name]) == "number"):
            msg = f"the model takes a matrix of numbers, but column {name!r} holds {dtype}"
            raise BadTableError(msg)
    return np.stack([read_column_floats(s) for s in frame.iter_columns()], axis=1)


def recognise(data: Any) -> ArrayTable | FrameTable:
    """A table in memory, with any number of rows."""
    try:
        frame = nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        msg = f"column names must differ, so that one feature is meant: {error}"
        raise BadTableError(msg) from error
    if isinstance(frame, nw.LazyFrame):
        msg = f"{type(data).__name__} is lazy; call .collect() (or the like) and pass the result"
        raise BadTableError(msg)
    if isinstance(frame, nw.DataFrame):
        if getattr(getattr(frame.to_native(), "columns", None), "nlevels", 1) > 1:
            msg = "the table has several levels of column names; join them into one name each"
            raise BadTableError(msg)
        table = FrameTable(frame)
        repeated = repeated_in(table.names)
        if repeated:
            msg = f"column names must differ, also as text; repeated: {repeated}"
            raise BadTableError(msg)
        return table
    return ArrayTable(_as_checked_array(data))


def _as_checked_array(data: Any) -> npt.NDArray[Any]:
    if not hasattr(data, "__array__") or hasattr(data, "tocsr"):
        hint = ".toarray()" if hasattr(data, "tocsr") else "np.asarray or pandas.DataFrame"
        msg = (
            f"{type(data).__name__} is not a table that rhale reads; pass a NumPy array or a pandas, "
            f"polars or pyarrow table ({hint} may help)"
        )
        raise BadTableError(msg)
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        msg = "the masked array has masked values; fill them or drop these rows first"
        raise BadTableError(msg)
    try:
        array = np.asarray(data)
    except (TypeError, RuntimeError) as error:  # a tensor on another device, or with a graph
        msg = f"this {type(data).__name__} cannot be read as an array: {error}"
        raise BadTableError(msg) from error
    require_two_dimensions("array", array.shape)
    if array.dtype.kind not in "fiub":
        msg = f"the array has type {array.dtype}; rhale needs real numbers, try .astype(float)"
        raise BadTableError(msg)
    return array
