"""Rows that are read from one kind of table and shown to the model as another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals.stable.v2 as nw

from rhale.kernels import FloatArray, IntArray
from rhale.tables.chunk import Change
from rhale.tables.columns import Apart, Labels
from rhale.tables.files.damage import naming_failure
from rhale.tables.frame import FrameChunk
from rhale.tables.pieces.facts import Seen

Show = Callable[[Any], Any]  # from the table as it is read to the table as the model sees it


@dataclass(frozen=True, eq=False)
class ViewedChunk:
    """Some rows, read as they are stored, and made into the model's kind of table when it is asked.

    Attributes
    ----------
    source : FrameChunk
        The rows as they are stored.
    show : callable
        Makes the model's kind of table of them.
    """

    source: FrameChunk
    show: Show

    @cached_property
    def view(self) -> FrameChunk:
        """The rows as the model sees them."""
        what = f"{self.where or 'the table'} cannot be made into a table of pandas"
        with naming_failure(what):  # an hour beyond 24, a category that stands there twice
            shown = self.show(self.source.frame.to_native())
        return replace(self.source, frame=nw.from_native(shown, eager_only=True))

    @property
    def row_numbers(self) -> IntArray:
        """Places of the rows in the user's table."""
        return self.source.row_numbers

    @property
    def weights(self) -> FloatArray | None:
        """How much each row matters."""
        return self.source.weights

    @property
    def where(self) -> str:
        """The file or the partition that they come from."""
        return self.source.where

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.source.n_rows

    @property
    def rows(self) -> Any:
        """The rows as the model sees them, a fresh copy."""
        return self.view.rows

    def column(self, index: int) -> FloatArray:
        """One column as floats; missing values are nan."""
        return self.source.column(index)

    def told_apart(self, index: int) -> Apart | None:
        """Distinct names of a column and which each row has."""
        return self.source.told_apart(index)

    def key(self, index: int) -> FloatArray:
        """Numbers that tell the values of one column apart."""
        return self.source.key(index)

    def keys(self) -> FloatArray:
        """Numbers that tell rows apart."""
        return self.source.keys()

    def seen(self) -> Seen:
        """What these rows tell about the columns."""
        return self.source.seen()

    def shown(self, index: int, value: float) -> str:
        """A value of a column as people write it."""
        return self.source.shown(index, value)

    def representable(self, index: int, values: FloatArray) -> FloatArray:
        """The values after a round trip through the column's own type."""
        return self.view.representable(index, values)

    def varied(self, changes: Sequence[Change]) -> Any:
        """Stack one copy of the rows per change, each with one column replaced."""
        return self.view.varied(changes)

    def replaced(self, changes: Sequence[Change]) -> Any:
        """One copy of the rows with all these columns replaced."""
        return self.view.replaced(changes)

    def take(self, rows: IntArray) -> ViewedChunk:
        """Some of the rows, in the given order."""
        return replace(self, source=self.source.take(rows))

    def joined(self, other: ViewedChunk) -> ViewedChunk:
        """These rows followed by the others."""
        return replace(self, source=self.source.joined(other.source))

    def labelled(self, labels: Mapping[int, Labels]) -> ViewedChunk:
        """The same rows, with these columns of names read as numbers."""
        return replace(self, source=self.source.labelled(labels))


@dataclass(frozen=True, eq=False)
class PandasView:
    """Make a data frame of pandas, with the same column types for all pieces of a table.

    Left alone, a piece where a whole number is missing would come with other types than the next.
    Types are those that pandas would give to the whole table at once.

    Attributes
    ----------
    seen : Seen
        What all rows together tell about the columns.
    """

    seen: Seen

    def __call__(self, piece: Any) -> Any:
        """Convert a piece: a table of Arrow, or already one of pandas."""
        frame = piece.copy(deep=False) if hasattr(piece, "iloc") else self._from_arrow(piece)
        for place, categories in enumerate(self.seen.categories):
            if categories is not None:
                frame.isetitem(place, self._categorical(frame.iloc[:, place], place))
        return frame

    def _from_arrow(self, table: Any) -> Any:
        import pyarrow as pa

        mixed, columns = [], table.columns
        for place, field in enumerate(table.schema):
            is_gappy = self.seen.gaps[place]
            whole, truth = pa.types.is_integer(field.type), pa.types.is_boolean(field.type)
            if pa.types.is_decimal(field.type) or (whole and is_gappy):
                columns[place] = columns[place].cast(pa.float64(), safe=False)
            elif truth and is_gappy:
                mixed.append(place)
        plain = pa.table(columns, names=table.column_names)
        frame = plain.to_pandas(date_as_object=False)
        for place in mixed:
            frame.isetitem(place, frame.iloc[:, place].astype("boolean"))
        return frame

    def _categorical(self, column: Any, place: int) -> Any:
        import pandas as pd

        dtype = pd.CategoricalDtype(self.seen.categories[place], ordered=self.seen.ordered[place])
        return column if column.dtype == dtype else column.astype(dtype)
