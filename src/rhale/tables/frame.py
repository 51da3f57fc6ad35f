"""Data frames as tables: pandas, polars, pyarrow and whatever else narwhals reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.tables.array import cast
from rhale.tables.chunk import Change, numbers_at, numbers_between

Frame = nw.DataFrame[Any]


@dataclass(frozen=True, eq=False)
class FrameChunk:
    """Some rows of a data frame."""

    frame: Frame
    row_numbers: IntArray
    weights: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.frame)

    @property
    def rows(self) -> Any:
        """A fresh copy in the user's own kind of data frame: some models write into their input."""
        return self.frame.clone().to_native()

    def column(self, index: int) -> FloatArray:
        """One numeric column as floats; missing values are nan."""
        return numbers_of(self.frame[:, index])

    def numbers(self) -> FloatArray:
        """All numeric columns as floats."""
        schema = self.frame.schema.values()
        columns = [self.column(i) for i, dtype in enumerate(schema) if is_number(dtype)]
        return np.stack(columns, axis=1) if columns else np.empty((self.n_rows, 0))

    def representable(self, index: int, values: FloatArray) -> FloatArray:
        """The values after a round trip through the column's own type."""
        return cast(values, numpy_type(self.frame[:, index].dtype)).astype(np.float64)

    def varied(self, changes: Sequence[Change]) -> Any:
        """Stack one copy of the rows per change, each with one column replaced."""
        stacked = nw.concat([self.frame] * len(changes))
        columns = {
            index: np.tile(numbers_of(self.frame[:, index]), len(changes)) for index, _ in changes
        }
        for i, (index, values) in enumerate(changes):
            columns[index][i * self.n_rows : (i + 1) * self.n_rows] = values
        replaced = [new_column(stacked[:, index], values) for index, values in columns.items()]
        return stacked.with_columns(*replaced).to_native()

    def replaced(self, changes: Sequence[Change]) -> Any:
        """One copy of the rows with all these columns replaced."""
        columns = [new_column(self.frame[:, index], values) for index, values in changes]
        return self.frame.with_columns(*columns).to_native()

    def take(self, rows: IntArray) -> FrameChunk:
        """Some of the rows, in the given order."""
        weights = None if self.weights is None else self.weights[rows]
        return FrameChunk(self.frame[rows.tolist()], self.row_numbers[rows], weights)

    def joined(self, other: FrameChunk) -> FrameChunk:
        """These rows followed by the others."""
        numbers = np.concatenate([self.row_numbers, other.row_numbers])
        return FrameChunk(nw.concat([self.frame, other.frame]), numbers)


@dataclass(frozen=True, eq=False)
class FrameTable:
    """A data frame in memory."""

    frame: Frame
    weights: FloatArray | None = None
    row_numbers: IntArray | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Column names."""
        return tuple(str(c) for c in self.frame.columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.frame)

    @property
    def kind(self) -> str:
        """The library the table comes from."""
        return str(self.frame.implementation.value)

    def refusal(self, index: int) -> str | None:
        """Say why a column cannot be explained: it holds no numbers."""
        dtype = self.frame[:, index].dtype
        if is_number(dtype):
            return None
        kind = "dates or times" if dtype.is_temporal() else "categories or text"
        if dtype == nw.Object:
            kind = "Python objects; convert it to a numeric type if it holds numbers"
        return f"holds {kind} ({dtype})"

    def chunk(self, start: int, stop: int) -> FrameChunk:
        """Rows start to stop."""
        weights = None if self.weights is None else self.weights[start:stop]
        numbers = numbers_between(self.row_numbers, start, stop)
        return FrameChunk(self.frame[start:stop], numbers, weights)

    def take(self, rows: IntArray) -> FrameTable:
        """Some of the rows, in the given order."""
        weights = None if self.weights is None else self.weights[rows]
        numbers = numbers_at(self.row_numbers, rows)
        return FrameTable(self.frame[rows.tolist()], weights, numbers)


def is_number(dtype: Any) -> bool:
    """Tell whether a column type holds numbers (or truth values)."""
    return bool(dtype.is_numeric() or dtype == nw.Boolean)


def numbers_of(column: nw.Series[Any]) -> FloatArray:
    """Read a column as floats; missing values become nan."""
    values = column.cast(nw.Float64).to_numpy()
    return np.array(values, dtype=np.float64)


def numpy_type(dtype: Any) -> np.dtype[Any]:
    """Say which NumPy type rounds as this column type does."""
    if dtype == nw.Boolean:
        return np.dtype(bool)
    if dtype.is_integer():
        return np.dtype(str(dtype).lower())
    return np.dtype(np.float32) if dtype == nw.Float32 else np.dtype(np.float64)


def new_column(like: nw.Series[Any], values: FloatArray) -> nw.Series[Any]:
    """Make a column of the same name and type with other values."""
    column = nw.new_series(
        like.name,
        cast(values, numpy_type(like.dtype)),
        dtype=like.dtype,
        backend=like.implementation,
    )
    native_type = getattr(like.to_native(), "dtype", None)
    if like.implementation.is_pandas_like() and column.to_native().dtype != native_type:
        # pandas has several types for the same numbers: nullable, Arrow-backed, NumPy
        return nw.from_native(column.to_native().astype(native_type), series_only=True)
    return column
