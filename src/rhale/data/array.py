"""NumPy arrays as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rhale.data.columns import Labels, cast
from rhale.data.table import (
    IN_MEMORY,
    NO_FACTS,
    Change,
    ColumnFacts,
    HeldColumn,
    NumbersAlone,
    Storage,
    numbers_at,
    numbers_between,
)
from rhale.stats.arrays import FloatArray, IntArray, as_frozen, crosses_processes, lay_columns


@crosses_processes
@dataclass(frozen=True, eq=False)
class ArrayChunk:
    """Some rows of an array."""

    array: npt.NDArray[Any]
    row_numbers: IntArray
    weights: FloatArray | None = None
    where: str = ""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.array)

    @property
    def rows(self) -> npt.NDArray[Any]:
        """A fresh copy: some models write into their input."""
        return self.array.copy(order="C")

    def column(self, index: int) -> FloatArray:
        """One column as floats, not to be written into."""
        return np.asarray(self._columns[index])

    def distinct(self, index: int) -> None:
        """Arrays hold no names."""

    def key(self, index: int) -> FloatArray:
        """Numbers that tell the values of one column apart: the values."""
        return self.column(index)

    def keys(self) -> FloatArray:
        """Numbers that tell rows apart: all columns as floats."""
        return self._columns

    @cached_property
    def _columns(self) -> FloatArray:
        """All of them: rows have keys, which every pass needs."""
        return as_frozen(lay_columns(self.array))

    def __getstate__(self) -> dict[str, Any]:
        """What travels: the rows."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def facts(self) -> ColumnFacts:
        """Arrays hide nothing."""
        return NO_FACTS

    def write_value(self, index: int, value: float) -> str:  # noqa: ARG002
        """A value as people write it."""
        return f"{value:g}"

    def representable(self, index: int, values: FloatArray) -> FloatArray:  # noqa: ARG002
        """The values after a round trip through the array's own type."""
        return cast(values, self.array.dtype).astype(np.float64)

    def vary(self, changes: Sequence[Change]) -> npt.NDArray[Any]:
        """Stack one copy of the rows per change, each with one column replaced."""
        array = self.array
        stacked = np.empty((len(changes), *array.shape), dtype=array.dtype)
        stacked[:] = array
        if isinstance(changes, HeldColumn):  # all points at once
            stacked[:, :, changes.column] = cast(changes.points, array.dtype)[:, None]
        else:
            for copy, (index, values) in zip(stacked, changes, strict=True):
                copy[:, index] = cast(values, array.dtype)
        return stacked.reshape(-1, array.shape[1])

    def substitute(self, changes: Sequence[Change]) -> npt.NDArray[Any]:
        """One copy of the rows with all these columns replaced."""
        rows = self.rows
        for index, values in changes:
            rows[:, index] = cast(values, self.array.dtype)
        return rows

    def take(self, rows: IntArray) -> ArrayChunk:
        """Some of the rows, in the given order."""
        weights = None if self.weights is None else self.weights[rows]
        array = self.array.take(rows, axis=0)  # faster than an index
        return ArrayChunk(array, self.row_numbers[rows], weights, self.where)

    def join(self, other: ArrayChunk) -> ArrayChunk:
        """These rows followed by the others."""
        numbers = np.concatenate([self.row_numbers, other.row_numbers])
        return ArrayChunk(np.concatenate([self.array, other.array]), numbers)

    def label(self, labels: Mapping[int, Labels]) -> ArrayChunk:  # noqa: ARG002
        """The same rows: there are no names."""
        return self


@dataclass(frozen=True, eq=False)
class ArrayTable(NumbersAlone):
    """A two-dimensional array of numbers; columns are called x0, x1, ..."""

    array: npt.NDArray[Any]
    weights: FloatArray | None = None
    row_numbers: IntArray | None = None
    column_names: tuple[str, ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Column names."""
        return self.column_names or tuple(f"x{i}" for i in range(self.array.shape[1]))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.array)

    @property
    def kind(self) -> str:
        """The library the table comes from."""
        return "numpy"

    @property
    def storage(self) -> Storage:
        """In memory."""
        return IN_MEMORY

    def is_truth(self, index: int) -> bool:  # noqa: ARG002
        """Whether the array holds truth values."""
        return self.array.dtype.kind == "b"

    def chunk(self, start: int, stop: int) -> ArrayChunk:
        """Rows start to stop."""
        weights = None if self.weights is None else self.weights[start:stop]
        return ArrayChunk(
            self.array[start:stop], numbers_between(self.row_numbers, start, stop), weights
        )

    def take(self, rows: IntArray) -> ArrayTable:
        """Some of the rows, in the given order."""
        weights = None if self.weights is None else self.weights[rows]
        numbers = numbers_at(self.row_numbers, rows)
        return ArrayTable(self.array[rows], weights, numbers, self.column_names)

    def select(self, columns: Sequence[int]) -> ArrayTable:
        """The same table with these columns only; they keep their names."""
        names = tuple(self.names[column] for column in columns)
        return replace(self, array=self.array[:, list(columns)], column_names=names)

    def weigh(self, weights: FloatArray) -> ArrayTable:
        """The same rows, with their weights."""
        return replace(self, weights=weights)
