"""A table that is not in memory: files, or the table of an engine that spreads its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from rhale.kernels import IntArray
from rhale.tables.chunk import Chunk, find_columns
from rhale.tables.columns import Holds, Labels
from rhale.tables.pieces.facts import Seen
from rhale.tables.pieces.reader import Reading


@dataclass(frozen=True, eq=False)
class PiecedTable:
    """Columns that are known, and rows that come in pieces, as often as needed.

    Attributes
    ----------
    reading : Reading
        How pieces become chunks.
    source : object
        Where the pieces come from: files, or the user's Dask, Spark or Ray table.
    kind : str
        "files", or the engine.
    n_rows : int or None
        Number of rows, where it is known before they are read.
    """

    reading: Reading
    source: Any
    kind: str
    n_rows: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Column names."""
        return self.reading.names

    def holds(self, index: int) -> Holds | None:
        """What a column holds; None for what cannot be explained."""
        return self.reading.holds(index)

    def declared_order(self, index: int) -> tuple[Any, ...] | None:
        """Levels of a column whose type says in which order they stand."""
        return self.reading.declared_order(index)

    def is_truth(self, index: int) -> bool:
        """Whether a column holds truth values."""
        return self.reading.is_truth(index)

    def missing_value(self, index: int) -> Any:
        """What stands for a missing value in a column."""
        return self.reading.missing_value(index)

    def labels_of(self, index: int) -> Labels:
        """Names of a column that was labelled."""
        return self.reading.labels_of(index)

    def labelled(self, labels: Mapping[int, Labels]) -> PiecedTable:
        """The same table, with these columns of names read as numbers."""
        return replace(self, reading=replace(self.reading, labels=labels))

    def settled(self, seen: Seen) -> PiecedTable:
        """The same table, after a first pass: the model's kind of table and its types are known."""
        return replace(self, reading=self.reading.settled(seen))

    def drawn(self, places: IntArray, part_rows: Sequence[int]) -> PiecedTable:
        """Only the rows at these places of the table, whose parts have so many rows."""
        starts = tuple(accumulate(part_rows, initial=0))
        reading = replace(self.reading, drawn=places, starts=starts)
        return replace(self, reading=reading, n_rows=len(places))

    def only(self, columns: Sequence[str]) -> PiecedTable:
        """Only these columns, in this order."""
        reading = self.reading
        head = reading.head.select(find_columns(reading.names, list(columns)))
        return replace(self, reading=replace(reading, head=head))

    def weighed(self, weights: Any) -> PiecedTable:
        """The same table, with a column of weights taken out."""
        return replace(self, reading=self.reading.with_weights(weights))


def settled_chunk(chunk: Chunk, table: Any) -> Chunk:
    """Bring a chunk of a first pass to what was decided about its table after it."""
    if isinstance(table, PiecedTable):
        return table.reading.settle_chunk(chunk)
    labelled: Chunk = chunk.labelled(getattr(table, "labels", {}))
    return labelled
