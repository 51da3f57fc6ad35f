"""Pieces of a table as data frames of pandas, with the same column types for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rhale.tables.pieces.facts import ColumnFacts


@dataclass(frozen=True, eq=False)
class PandasView:
    """Make a data frame of pandas, with the same column types for all pieces of a table.

    Left alone, a piece where a whole number is missing would come with other types than the next.
    Types are those that pandas would give to the whole table at once.

    Attributes
    ----------
    facts : ColumnFacts
        What all rows together tell about the columns.
    """

    facts: ColumnFacts

    def __call__(self, piece: Any) -> Any:
        """Convert a piece: a table of Arrow, or already one of pandas."""
        frame = piece.copy(deep=False) if hasattr(piece, "iloc") else self._from_arrow(piece)
        for place, categories in enumerate(self.facts.categories):
            if categories is not None:
                frame.isetitem(place, self._categorical(frame.iloc[:, place], place))
        return frame

    def _from_arrow(self, table: Any) -> Any:
        import pyarrow as pa

        mixed, columns = [], table.columns
        for place, field in enumerate(table.schema):
            is_gappy = self.facts.gaps[place]
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

        dtype = pd.CategoricalDtype(self.facts.categories[place], ordered=self.facts.ordered[place])
        return column if column.dtype == dtype else column.astype(dtype)
