"""Tables and chunks: what every kind of table must be able to do."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Protocol, Self, overload, runtime_checkable

import numpy as np

from rhale.data.columns import Distinct, Holds, Labels
from rhale.errors import BadSettingError, BadTableError
from rhale.naming import find_feature, list_asked
from rhale.stats.arrays import FloatArray, IntArray, crosses_processes

# --- Where the rows of a table are, and what a run may do with them for that reason


@runtime_checkable
class Engine(Protocol):
    """Works on the parts of a table where they are, and keeps their order.

    What has these members is taken for an engine, whoever wrote it; `rhale.execution.open_parts`
    makes a table with it. Whatever `map_parts` raises ends the run.
    """

    @property
    def name(self) -> str:
        """What to call it: the kind of its tables."""

    @property
    def no_resume(self) -> str:
        """Why an interrupted run cannot go on behind a part, after "with"; nothing if it can."""

    def map_parts(self, part_task: Any, source: Any, first: int) -> Iterator[Any]:
        """Give `part_task(index, pieces)` of every part from number `first` on, in order.

        Parameters
        ----------
        part_task : rhale.execution.worker.PartTask
            From the number of a part and its pieces (data frames, record batches or arrays that
            follow each other) to a summary. It pickles; it may run in any process.
        source : object
            What the table was opened from.
        first : int
            Parts before this one are known already.
        """


@dataclass(frozen=True, eq=False)
class Storage:
    """Where rows are."""

    # Whether this process has them all: then they can be cut anywhere, and are cheap to see
    is_memory: bool = True
    # Who works on the parts of the table; None where this process reads chunks of rows
    engine: Engine | None = None
    device: Any = None  # the device that has them; None for the memory of the host
    usual_rows: int | None = None  # rows in a chunk, where that does not depend on the model
    no_resume: str = ""  # why an interrupted run cannot go on, after "with"; nothing if it can


IN_MEMORY = Storage()


# --- What only all rows together tell about columns: gaps, categories, markers of missing values


Categories = tuple[Any, ...]


@crosses_processes
@dataclass(frozen=True)
class ColumnFacts:
    """Facts about all columns of some rows; those of two pieces of a table add up."""

    names: tuple[str, ...]  # the columns
    gaps: tuple[bool, ...]  # whether a column has rows without a value
    # Categories of each column whose type has some, in order of appearance
    categories: tuple[Categories | None, ...]
    ordered: tuple[bool, ...]  # whether the type says that their order means something
    # the marker of a missing value in a column of any type: None, nan, NA
    missing: tuple[Any, ...]

    def __add__(self, other: ColumnFacts) -> ColumnFacts:
        return ColumnFacts(
            self.names,
            tuple(a or b for a, b in zip(self.gaps, other.gaps, strict=True)),
            tuple(
                unite_categories(name, a, b, is_ordered=ordered)
                for name, a, b, ordered in zip(
                    self.names, self.categories, other.categories, self.ordered, strict=True
                )
            ),
            tuple(a or b for a, b in zip(self.ordered, other.ordered, strict=True)),
            tuple(b if a is None else a for a, b in zip(self.missing, other.missing, strict=True)),
        )


NO_FACTS = ColumnFacts((), (), (), (), ())


def unite_categories(
    name: str, first: Categories | None, second: Categories | None, *, is_ordered: bool
) -> Categories | None:
    """Categories of two pieces of a column.

    Examples
    --------
    >>> unite_categories("size", ("S", "M"), ("M", "L"), is_ordered=False)
    ('S', 'M', 'L')
    """
    if first is None or second is None or first == second:
        return second if first is None else first
    if not is_ordered:
        return tuple(dict.fromkeys(first + second))
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    rank = {value: place for place, value in enumerate(longer)}
    places = [rank.get(value, -1) for value in shorter]
    if -1 in places or places != sorted(places):
        msg = (
            f"the ordered categories of {name!r} differ from piece to piece: {list(first)} and "
            f"{list(second)}; give all pieces the same ones, or pass categorical={{{name!r}: [...]}}"
        )
        raise BadTableError(msg)
    return longer


Change = tuple[int, FloatArray]  # a column and its new values, as `Chunk.column` reads them


@dataclass(frozen=True, eq=False)
class HeldColumn(Sequence[Change]):
    """One change for each of some points, at which a column is held in all rows."""

    column: int
    points: FloatArray  # (n_points,): its values
    n_rows: int  # how many rows there are

    def __len__(self) -> int:
        return self.points.size

    def __iter__(self) -> Iterator[Change]:
        values = np.broadcast_to(self.points[:, None], (self.points.size, self.n_rows))
        return zip(repeat(self.column), values)  # one by one, they would take far longer

    @overload
    def __getitem__(self, at: int) -> Change: ...

    @overload
    def __getitem__(self, at: slice) -> HeldColumn: ...

    def __getitem__(self, at: int | slice) -> Change | HeldColumn:
        if isinstance(at, slice):
            return HeldColumn(self.column, self.points[at], self.n_rows)
        return self.column, np.broadcast_to(self.points[at], self.n_rows)


class Chunk(Protocol):
    """Some rows of a table."""

    @property
    def row_numbers(self) -> IntArray:
        """Places of the rows in the user's table, for messages."""

    @property
    def weights(self) -> FloatArray | None:
        """How much each row matters; None if all the same."""

    @property
    def where(self) -> str:
        """The file or the partition that the rows come from; nothing for a table in memory."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def rows(self) -> Any:
        """The rows as the model sees them."""

    def column(self, index: int) -> FloatArray:
        """One column as numbers, shape (n_rows,); nan where a value is missing."""

    def distinct(self, index: int) -> Distinct | None:
        """Distinct names of a column and which each row has; None for a column of numbers."""

    def key(self, index: int) -> FloatArray:
        """Numbers that tell the values of one column apart, in all chunks alike."""

    def keys(self) -> Sequence[FloatArray] | FloatArray:
        """Numbers that tell rows apart, column by column, each of shape (n_rows,)."""

    def facts(self) -> ColumnFacts:
        """What these rows tell about the columns, for tables that come in pieces."""

    def write_value(self, index: int, value: float) -> str:
        """A value of a column as people write it."""

    def representable(self, index: int, values: FloatArray) -> FloatArray:
        """The values as the column's own type can hold them."""

    def vary(self, changes: Sequence[Change]) -> Any:
        """Stack one copy of the rows per change, each with one column replaced."""

    def substitute(self, changes: Sequence[Change]) -> Any:
        """One copy of the rows with all these columns replaced."""

    def take(self, rows: IntArray) -> Chunk:
        """Some of the rows, in the given order."""

    def join(self, other: Any) -> Chunk:
        """These rows followed by the others."""

    def label(self, labels: Mapping[int, Labels]) -> Chunk:
        """The same rows, with these columns of names read as numbers."""


class Table(Protocol):
    """A table whose columns are known and whose rows can be read as often as needed."""

    @property
    def names(self) -> tuple[str, ...]:
        """Column names."""

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None where that is not known before they are read."""

    @property
    def kind(self) -> str:
        """What the table is: numpy, pandas, polars, pyarrow, files, dask, spark, ray, ..."""

    @property
    def storage(self) -> Storage:
        """Where the rows are, and what may be done with them for that reason."""

    def holds(self, index: int) -> Holds | None:
        """What a column holds; None for what cannot be explained."""

    def has_order(self, index: int) -> bool:
        """Whether the type of a column says in which order its levels stand."""

    def declared_order(self, index: int) -> tuple[Any, ...] | None:
        """Levels of such a column in this order, once all rows were seen; None for any other."""

    def is_truth(self, index: int) -> bool:
        """Whether a column holds truth values."""

    def missing_value(self, index: int) -> Any:
        """The marker of a missing value in a column, once all rows were seen."""

    def labels_of(self, index: int) -> Labels:
        """Names of a column that was labelled."""

    def label(self, labels: Mapping[int, Labels]) -> Table:
        """The same table, with these columns of names read as numbers."""

    def with_column_types(self, facts: ColumnFacts) -> Table:
        """The same table, now that all rows were seen."""

    def settle_chunk(self, chunk: Any) -> Chunk:
        """Bring a chunk that was read before to what was decided about the table since."""


@runtime_checkable
class TableInMemory(Table, Protocol):
    """A table that can be cut anywhere."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    def chunk(self, start: int, stop: int) -> Chunk:
        """Rows start to stop."""

    def take(self, rows: IntArray) -> TableInMemory:
        """Some of the rows, in the given order."""

    def select(self, columns: Sequence[int]) -> TableInMemory:
        """The same table with these columns only, in this order; they keep their names."""

    def weigh(self, weights: FloatArray) -> TableInMemory:
        """The same rows, with their weights."""

    def label(self, labels: Mapping[int, Labels]) -> TableInMemory:
        """The same table, with these columns of names read as numbers."""

    def with_column_types(self, facts: ColumnFacts) -> TableInMemory:
        """The same table, now that all rows were seen."""


class NumbersAlone:
    """What a table of numbers answers about names, levels and types: that it has none."""

    def holds(self, index: int) -> Holds:  # noqa: ARG002
        """What a column holds: numbers."""
        return "number"

    def has_order(self, index: int) -> bool:  # noqa: ARG002
        """There are no levels in an order of their own."""
        return False

    def declared_order(self, index: int) -> None:
        """No order of levels is declared."""

    def missing_value(self, index: int) -> float:  # noqa: ARG002
        """The marker of a missing value: nan."""
        return float("nan")

    def labels_of(self, index: int) -> Labels:  # noqa: ARG002
        """There are no names."""
        return Labels(())

    def label(self, labels: Mapping[int, Labels]) -> Self:  # noqa: ARG002
        """The same table: it has no names."""
        return self

    def with_column_types(self, facts: ColumnFacts) -> Self:  # noqa: ARG002
        """The same table: it hides nothing."""
        return self

    def settle_chunk(self, chunk: Any) -> Any:
        """The same chunk: nothing is decided about numbers."""
        return chunk


def numbers_between(numbers: IntArray | None, start: int, stop: int) -> IntArray:
    """Row numbers of consecutive rows; None means 0, 1, 2, ..."""
    return np.arange(start, stop) if numbers is None else numbers[start:stop]


def numbers_at(numbers: IntArray | None, rows: IntArray) -> IntArray:
    """Row numbers of some rows; None means 0, 1, 2, ..."""
    return rows if numbers is None else numbers[rows]


def read_chunks(table: TableInMemory, size: int, first: int = 0) -> Generator[Chunk]:
    """Read a table from top to bottom, a number of rows at a time, from the first chunk on."""
    for start in range(first * size, table.n_rows, size):
        yield table.chunk(start, min(start + size, table.n_rows))


def find_columns(names: Sequence[str], wanted: Any) -> list[int]:
    """Turn names and positions into positions."""
    if wanted is None:
        return list(range(len(names)))
    found = [find_feature(feature, names) for feature in list_asked(wanted, "features")]
    if len(set(found)) < len(found):
        msg = f"features={wanted!r} names a feature twice"
        raise BadSettingError(msg)
    return found
