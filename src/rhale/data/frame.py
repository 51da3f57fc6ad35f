"""Data frames as tables: pandas, polars, pyarrow and whatever else narwhals reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np

from rhale.data.columns import (
    NAME_KINDS,
    NUMPY_TYPES,
    Distinct,
    Holds,
    Labels,
    Series,
    categories_of,
    column_at,
    columns_in,
    factorize,
    hashed,
    holds,
    is_exact,
    is_object,
    keep_own,
    missing_value,
    new_column,
    read_column_floats,
    round_as,
)
from rhale.data.files.regular import naming_failure
from rhale.data.table import (
    IN_MEMORY,
    Change,
    ColumnFacts,
    HeldColumn,
    Storage,
    numbers_at,
    numbers_between,
)
from rhale.errors import BadTableError
from rhale.output.number_format import as_axis_kind, format_axis_value
from rhale.stats.arrays import BoolArray, FloatArray, IntArray, crosses_processes

Frame = nw.DataFrame[Any]
Values = tuple[FloatArray, BoolArray]  # new ones of a column, and rows that keep their own
Show = Callable[[Any], Any]  # from rows as they are stored to rows as the model sees them


@crosses_processes
@dataclass(frozen=True, eq=False)
class FrameChunk:
    """Some rows of a data frame."""

    frame: Frame  # the rows
    row_numbers: IntArray  # (n_rows,): their places in the user's table
    weights: FloatArray | None = None  # (n_rows,): how much each row matters
    # Columns of names that are read as numbers
    labels: Mapping[int, Labels] = field(default_factory=dict)
    where: str = ""  # the file or the partition that they come from; nothing for a table in memory
    # Makes the model's kind of table of the rows, where it sees another than they are stored as
    show: Show | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.frame)

    @property
    def view(self) -> FrameChunk:
        """The rows as the model sees them."""
        return self if self.show is None else self._shown

    @cached_property
    def _shown(self) -> FrameChunk:
        """The rows made into another kind of table, when the model is asked first."""
        assert self.show is not None  # noqa: S101 - `view` checks it
        what = f"{self.where or 'the table'} cannot be made into a table of pandas"
        with naming_failure(what):  # an hour beyond 24, a category that is listed twice
            shown = self.show(self.frame.to_native())
        return replace(self, frame=nw.from_native(shown, eager_only=True), show=None)

    @property
    def rows(self) -> Any:
        """A fresh copy in the model's kind of data frame: some models write into their input."""
        return to_write_into(self.view.frame)

    def column(self, index: int) -> FloatArray:
        """One column as floats; missing values are nan."""
        apart = self.distinct(index) if index in self.labels else None
        return self._numbers(index) if apart is None else self.labels[index].read(apart)

    def _numbers(self, index: int) -> FloatArray:
        """A column of numbers, read once and not to be written into."""
        if index not in self._known_numbers:
            self._known_numbers[index] = read_column_floats(self.series(index))
            self._known_numbers[index].flags.writeable = False
        return self._known_numbers[index]

    def series(self, index: int) -> Series:
        """One column, taken out of the frame once."""
        if index not in self._columns:
            self._columns[index] = column_at(self.frame, index)
        return self._columns[index]

    def holds(self, index: int) -> Holds | None:
        """What a column holds, found out once: narwhals takes as long as for a thousand numbers."""
        if index not in self._held:
            self._held[index] = holds(self.series(index))
        return self._held[index]

    @cached_property
    def _held(self) -> dict[int, Holds | None]:
        """What columns hold that were looked at."""
        return {}

    @cached_property
    def _columns(self) -> dict[int, Series]:
        """Columns that were taken out of the frame."""
        return {}

    @cached_property
    def _known_numbers(self) -> dict[int, FloatArray]:
        """Columns of numbers, each read once."""
        return {}

    def distinct(self, index: int) -> Distinct | None:
        """Distinct names of a column and which each row has; None for a column of numbers."""
        if index not in self.labels and self.holds(index) not in NAME_KINDS:
            return None
        if index not in self._distinct:
            self._distinct[index] = factorize(self.series(index))
        return self._distinct[index]

    @cached_property
    def _distinct(self) -> dict[int, Distinct]:
        """Distinct names of columns, found once for each."""
        return {}

    def keys(self) -> list[FloatArray]:
        """Numbers that tell rows apart, column by column, whatever these hold."""
        return [self.key(index) for index in range(len(self.frame.columns))]

    def key(self, index: int) -> FloatArray:
        """Numbers that tell the values of one column apart, in all chunks alike."""
        try:
            apart = self.distinct(index)
        except BadTableError:  # it cannot be explained, but its rows differ
            return np.array([hashed(v) for v in self.series(index).to_list()])
        if apart is not None:
            return np.array([hashed(v) for v in apart[0]] + [np.nan])[apart[1]]
        return self._numbers(index) if self.holds(index) else np.zeros(self.n_rows)

    def facts(self) -> ColumnFacts:
        """What these rows tell about the columns."""
        names = tuple(str(name) for name in self.frame.columns)
        columns = [self.series(index) for index in range(len(names))]
        found = [categories_of(column) for column in columns]
        return ColumnFacts(
            names,
            tuple(bool(column.null_count()) for column in columns),
            tuple(categories for categories, _ in found),
            tuple(ordered for _, ordered in found),
            tuple(missing_value(column) for column in columns),
        )

    def write_value(self, index: int, value: float) -> str:
        """A value of a column as people write it."""
        if np.isnan(value):
            return "missing"
        if index in self.labels:
            return repr(self.labels[index].values[int(value)])
        return format_axis_value(value, as_axis_kind(self.holds(index)))

    def representable(self, index: int, values: FloatArray) -> FloatArray:
        """The values after a round trip through the column's own type."""
        if index in self.labels:
            return values
        column = self.view.series(index)
        if column.dtype in NUMPY_TYPES:
            return round_as(column.dtype, values)
        return read_column_floats(new_column(column, values))

    def vary(self, changes: Sequence[Change]) -> Any:
        """Stack one copy of the rows per change, each with one column replaced."""
        if len(changes) == 1:
            return self.substitute(changes)
        if not self.labels and (array := one_array(self.view.frame)) is not None:
            return vary_array(self.view.frame.to_native(), array, changes)
        stacked = stack_copies(self.view.frame, len(changes))
        if isinstance(changes, HeldColumn):
            # one point in each copy; rows whose value is missing keep their own
            values = np.repeat(changes.points, self.n_rows)
            own = np.isnan(values)
            if own.any():
                own &= np.tile(np.isnan(self.view.column(changes.column)), len(changes))
            return self._put(stacked, {changes.column: (values, own)})
        # values of the columns that change in some of the copies, and rows that keep their own
        columns = {i: np.tile(self.view.column(i), len(changes)) for i, _ in changes}
        owns = {i: np.ones(old.size, dtype=np.bool_) for i, old in columns.items()}
        for copy, (index, new) in enumerate(changes):
            part = slice(copy * self.n_rows, (copy + 1) * self.n_rows)
            owns[index][part] = np.isnan(new) & np.isnan(columns[index][part])
            columns[index][part] = new
        return self._put(stacked, {i: (held, owns[i]) for i, held in columns.items()})

    def substitute(self, changes: Sequence[Change]) -> Any:
        """One copy of the rows with all these columns replaced."""
        view, columns = self.view, {}
        for index, values in changes:
            own = np.isnan(values)
            columns[index] = values, own & np.isnan(view.column(index)) if own.any() else own
        return self._put(to_write_into(view.frame), columns)

    def _put(self, rows: Any, columns: Mapping[int, Values]) -> Any:
        """Rows of the caller's own, or copies of them, with other values in some columns."""
        made = {index: self._new(rows, index, *values) for index, values in columns.items()}
        if not self.view.frame.implementation.is_pandas():
            return nw.from_native(rows, eager_only=True).with_columns(*made.values()).to_native()
        for index, column in made.items():  # narwhals would go through all its columns
            rows.isetitem(index, column.to_native().set_axis(rows.index))
        return rows

    def _new(self, rows: Any, index: int, values: FloatArray, own: BoolArray) -> Series:
        """Make a column with these values; some rows keep their own, or none as they have none."""
        like = self.view.series(index)
        if index in self.labels:
            made = self.labels[index].write(like, values)
            is_kept = is_object(like) and bool(np.any(own & np.isnan(values)))  # None or nan?
        else:
            made = new_column(like, values)
            is_kept = bool(own.any()) and not is_exact(like, values)
        if not is_kept:
            return made
        return keep_own(column_at(nw.from_native(rows, eager_only=True), index), made, own)

    def take(self, rows: IntArray) -> FrameChunk:
        """Some of the rows, in the given order."""
        weights = None if self.weights is None else self.weights[rows]
        numbers = self.row_numbers[rows]
        return replace(
            self, frame=take_frame_rows(self.frame, rows), row_numbers=numbers, weights=weights
        )

    def join(self, other: FrameChunk) -> FrameChunk:
        """These rows followed by the others."""
        numbers = np.concatenate([self.row_numbers, other.row_numbers])
        frame = nw.concat([self.frame, other.frame])
        return FrameChunk(frame, numbers, labels=self.labels, show=self.show)

    def label(self, labels: Mapping[int, Labels]) -> FrameChunk:
        """The same rows, with these columns of names read as numbers."""
        return replace(self, labels=labels)


@dataclass(frozen=True, eq=False)
class FrameTable:
    """A data frame in memory."""

    frame: Frame
    weights: FloatArray | None = None
    row_numbers: IntArray | None = None
    labels: Mapping[int, Labels] = field(default_factory=dict)

    @cached_property
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

    @property
    def storage(self) -> Storage:
        """In memory."""
        return IN_MEMORY

    @cached_property
    def held(self) -> tuple[Holds | None, ...]:
        """What all columns hold; narwhals looks into columns of objects for that."""
        return tuple(holds(column) for column in columns_in(self.frame))

    def holds(self, index: int) -> Holds | None:
        """What a column holds."""
        return self.held[index]

    def has_order(self, index: int) -> bool:
        """Whether the type of a column says in which order its levels stand."""
        return self.declared_order(index) is not None

    def declared_order(self, index: int) -> tuple[Any, ...] | None:
        """Levels of a column whose type says in which order they stand."""
        column = column_at(self.frame, index)
        native, dtype = column.to_native(), cast(Any, column.dtype)
        if getattr(getattr(native, "type", None), "ordered", False):  # a dictionary of pyarrow
            return tuple(native.unify_dictionaries().chunk(0).dictionary.to_pylist())
        return tuple(dtype.categories) if dtype == nw.Enum else None

    def is_truth(self, index: int) -> bool:
        """Whether a column holds truth values."""
        return bool(column_at(self.frame, index).dtype == nw.Boolean)

    def chunk(self, start: int, stop: int) -> FrameChunk:
        """Rows start to stop."""
        weights = None if self.weights is None else self.weights[start:stop]
        numbers = numbers_between(self.row_numbers, start, stop)
        return FrameChunk(self.frame[start:stop], numbers, weights, self.labels)

    def take(self, rows: IntArray) -> FrameTable:
        """Some of the rows, in the given order."""
        weights = None if self.weights is None else self.weights[rows]
        numbers = numbers_at(self.row_numbers, rows)
        return FrameTable(take_frame_rows(self.frame, rows), weights, numbers, self.labels)

    def select(self, columns: Sequence[int]) -> FrameTable:
        """The same table with these columns only, in this order."""
        return replace(self, frame=self.frame[:, list(columns)])

    def missing_value(self, index: int) -> Any:
        """The marker of a missing value in a column."""
        return missing_value(column_at(self.frame, index))

    def labels_of(self, index: int) -> Labels:
        """Names of a column that was labelled."""
        return self.labels[index]

    def label(self, labels: Mapping[int, Labels]) -> FrameTable:
        """The same table, with these columns of names read as numbers."""
        return replace(self, labels=labels)

    def weigh(self, weights: FloatArray) -> FrameTable:
        """The same rows, with their weights."""
        return replace(self, weights=weights)

    def with_column_types(self, facts: ColumnFacts) -> FrameTable:  # noqa: ARG002
        """The same table: its types are known."""
        return self

    def settle_chunk(self, chunk: FrameChunk) -> FrameChunk:
        """The same rows, with columns of names read as numbers."""
        return chunk.label(self.labels)


def to_write_into(frame: Frame) -> Any:
    """The rows for a model that may write into them; pandas from 3 on copies what is written to."""
    if frame.implementation.is_pandas() and copies_on_write(frame):
        return frame.to_native().copy(deep=False)
    return frame.clone().to_native()


def copies_on_write(frame: Frame) -> bool:
    """Tell whether rows of pandas are copied when somebody writes into them, as from 3 on."""
    return int(frame.implementation.to_native_namespace().__version__.split(".")[0]) >= 3


def stack_copies(frame: Frame, n_copies: int) -> Any:
    """Copies of the rows one below the other; row numbers are not repeated, other indices are."""
    rows, index = frame.to_native(), nw.maybe_get_index(frame)
    if frame.implementation.is_pandas():  # in a third of the time that narwhals takes
        copies = rows.take(np.tile(np.arange(len(rows)), n_copies))
        copies.index = range(len(copies)) if is_numbered(index) else copies.index
        return copies
    stacked = nw.concat([frame] * n_copies)
    return (nw.maybe_reset_index(stacked) if is_numbered(index) else stacked).to_native()


def is_numbered(index: Any) -> bool:
    """Tell whether an index only numbers the rows."""
    return index is not None and index.name is None and index.dtype.kind in "iu"


def one_array(frame: Frame) -> FloatArray | None:
    """Rows of pandas that are one array of floats of NumPy, of either precision; None for others."""
    rows, library = frame.to_native(), frame.implementation
    if not library.is_pandas() or type(rows) is not library.to_native_namespace().DataFrame:
        return None
    kinds = set(rows.dtypes)
    if kinds != {np.dtype(np.float64)} and kinds != {np.dtype(np.float32)}:
        return None
    array: FloatArray = rows.to_numpy()
    # an array that pandas puts together is the model's own to write into; that of one block is not
    return None if copies_on_write(frame) and array.flags.writeable else array


def vary_array(rows: Any, array: FloatArray, changes: Sequence[Change]) -> Any:
    """Stack copies of such rows, each with one column replaced, in the single block of a new frame."""
    columns, index = array.T, rows.index
    stacked = np.empty((len(columns), len(changes), len(rows)), dtype=columns.dtype)
    stacked[:] = columns[:, None]
    if isinstance(changes, HeldColumn):  # all points at once
        stacked[changes.column] = changes.points[:, None]
    else:
        for copy, (column, values) in enumerate(changes):
            stacked[column, copy] = values
    numbers = stacked.reshape(len(columns), -1).T
    named = None if is_numbered(index) else index.take(np.tile(np.arange(len(rows)), len(changes)))
    made = type(rows)(numbers, index=named, columns=rows.columns, copy=False)
    made.attrs = rows.attrs
    return made


def take_frame_rows(frame: Frame, rows: IntArray) -> Frame:
    """Some of the rows, in the given order."""
    taken: Frame = (
        nw.from_native(frame.to_native().take(rows), eager_only=True)
        if frame.implementation.is_pandas()  # narwhals wants a list
        else frame[rows.tolist()]
    )
    return taken
