"""Tables with other numbers in some of their columns, and rows as they were before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from rhale.data.array import ArrayTable
from rhale.data.columns import Series, column_at, new_column, read_column_floats
from rhale.data.frame import FrameTable
from rhale.data.table import TableInMemory
from rhale.errors import BadTableError
from rhale.stats.arrays import FloatArray


def replace_columns(table: TableInMemory, columns: Mapping[int, FloatArray]) -> TableInMemory:
    """The same table with other numbers in some columns, which are then of type float64.

    Shapes: columns (n_rows,).
    """
    if isinstance(table, ArrayTable):
        array = table.array.astype(np.float64)
        for index, values in columns.items():
            array[:, index] = values
        return replace(table, array=array)
    if isinstance(table, FrameTable):
        wide = {i: column_at(table.frame, i).cast(nw.Float64) for i in columns}
        made = {i: new_column(like, columns[i]) for i, like in wide.items()}
        frame = nw.from_native(_with_columns(table.frame.to_native(), made), eager_only=True)
        return replace(table, frame=frame)
    msg = (
        f"the columns of a table of {table.kind} cannot be replaced; pass a NumPy array or a "
        "pandas, polars or pyarrow table (of a tensor on a device: data.cpu())"
    )
    raise BadTableError(msg)


@dataclass(frozen=True, eq=False)
class RowTypes:
    """Types of rows before some of their columns were replaced."""

    dtype: np.dtype[Any]  # of an array
    columns: Mapping[int, Series]  # of a data frame: the replaced columns, without rows

    @classmethod
    def of(cls, table: TableInMemory, columns: Sequence[int]) -> RowTypes:
        """Types of a table; whole numbers become float64, since others may be asked about."""
        if not isinstance(table, FrameTable):
            dtype = table.array.dtype if isinstance(table, ArrayTable) else np.dtype(np.float64)
            return cls(dtype if dtype.kind == "f" else np.dtype(np.float64), {})
        found = {i: column_at(table.frame, i)[:0] for i in columns}
        floats = (nw.Float32, nw.Float64)
        return cls(
            np.dtype(np.float64),
            {i: c if c.dtype in floats else c.cast(nw.Float64) for i, c in found.items()},
        )

    def write(self, rows: Any, columns: Mapping[int, FloatArray]) -> Any:
        """Rows of the same kind, with other values in the columns, of the types from before."""
        if isinstance(rows, np.ndarray):
            written = rows.astype(self.dtype)
            for index, values in columns.items():
                written[:, index] = values
            return written
        return _with_columns(rows, {i: new_column(self.columns[i], v) for i, v in columns.items()})


def read_numbers(rows: Any, columns: Sequence[int]) -> FloatArray:
    """Some columns of rows of any kind as floats, shape (n_rows, n_columns); missing is nan."""
    if isinstance(rows, np.ndarray):
        found: npt.NDArray[Any] = rows[:, list(columns)]
        return found.astype(np.float64)
    frame = nw.from_native(rows, eager_only=True)
    return np.stack([read_column_floats(column_at(frame, i)) for i in columns], axis=1)


def _with_columns(rows: Any, columns: Mapping[int, Series]) -> Any:
    """A data frame with some columns replaced, each by one of its name."""
    frame = nw.from_native(rows, eager_only=True)
    if not frame.implementation.is_pandas():
        return frame.with_columns(*columns.values()).to_native()
    fresh = rows.copy(deep=False)  # narwhals would go through all its columns
    for index, column in columns.items():
        fresh.isetitem(index, column.to_native().set_axis(fresh.index))
    return fresh
