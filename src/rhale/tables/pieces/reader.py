"""Pieces of a table that is not in memory, made into chunks: in this process or on a worker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from rhale.errors import BadSettingError, BadTableError, RhaleError, excerpt
from rhale.kernels import FloatArray, IntArray
from rhale.names import find_feature, near_names
from rhale.tables.array import ArrayChunk, ArrayTable
from rhale.tables.chunk import Chunk
from rhale.tables.columns import Holds, Labels, column_at, numbers_of
from rhale.tables.frame import Frame, FrameChunk, FrameTable
from rhale.tables.pieces.as_pandas import PandasView, ViewedChunk
from rhale.tables.pieces.facts import NOTHING_SEEN, Seen

Head = FrameTable | ArrayTable
Rows = tuple[Any, IntArray]  # a frame or an array, and the numbers of its rows
LARGEST_WEIGHT = 1e100


@dataclass(frozen=True, eq=False)
class Reading:
    """How pieces become chunks: which columns, what they hold, which rows.

    Attributes
    ----------
    head : FrameTable or ArrayTable
        The columns that the model sees; no rows.
    everything : tuple of str
        All columns of the pieces.
    weights : str or None
        The column that says how much each row matters.
    labels : mapping of int to Labels
        Columns of names that are read as numbers.
    seen : Seen
        What a first pass learned about the columns.
    is_settled : bool
        Whether there was a first pass: the model's kind of table is known.
    drawn : ndarray or None
        Places of the rows to use in the whole table, increasing; None for all.
    starts : tuple of int
        Places of the first rows of all parts, where rows are drawn.
    """

    head: Head
    everything: tuple[str, ...]
    weights: str | None = None
    labels: Mapping[int, Labels] = field(default_factory=dict)
    seen: Seen = NOTHING_SEEN
    is_settled: bool = False
    drawn: IntArray | None = None
    starts: tuple[int, ...] = ()

    # --- what the columns are ------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns that the model sees."""
        return self.head.names

    def holds(self, index: int) -> Holds | None:
        """What a column holds."""
        return self.head.holds(index)

    def is_truth(self, index: int) -> bool:
        """Whether a column holds truth values."""
        return self.head.is_truth(index)

    def declared_order(self, index: int) -> tuple[Any, ...] | None:
        """Levels of a column whose type says in which order they stand; none before the first pass."""
        if isinstance(self.head, ArrayTable):
            return None
        if self.is_settled:
            return self.seen.categories[index] if self.seen.ordered[index] else None
        native = column_at(self.head.frame, index).to_native()
        ordered = getattr(getattr(native, "type", None), "ordered", False)
        ordered = ordered or getattr(getattr(native, "cat", None), "ordered", False)
        return () if ordered else None

    def missing_value(self, index: int) -> Any:
        """What stands for a missing value in a column."""
        if isinstance(self.head, ArrayTable):
            return float("nan")
        return self.seen.missing[index] if self.is_settled else None

    def labels_of(self, index: int) -> Labels:
        """Names of a column that was labelled."""
        return self.labels[index]

    # --- what is decided about them ------------------------------------------------------------

    def with_weights(self, weights: Any) -> Reading:
        """Take a column of weights out."""
        if weights is None:
            return self
        if not isinstance(weights, str):
            msg = (
                f"weights= is a {type(weights).__name__}, but the table is not in memory; name the "
                "column that holds the weights"
            )
            raise BadSettingError(msg)
        column = find_feature(weights, self.names)
        if self.holds(column) != "numbers":
            msg = f"weights={self.names[column]!r} is a column without numbers"
            raise BadTableError(msg)
        return replace(self, head=self.head.without(column), weights=self.names[column])

    def settled(self, seen: Seen) -> Reading:
        """Fix the model's kind of table and its column types, now that all rows were seen."""
        return replace(self, seen=seen, is_settled=True)

    def settle_chunk(self, chunk: Any) -> Chunk:
        """Bring a chunk of the first pass to what was decided after it."""
        labelled: Chunk = chunk.labelled(self.labels)
        return self._shown(labelled) if isinstance(labelled, FrameChunk) else labelled

    # --- chunks --------------------------------------------------------------------------------

    def chunks(
        self,
        pieces: Iterable[Any],
        size: int,
        *,
        where: str = "",
        first_row: int = 0,
        start: int = 0,
    ) -> Iterator[Chunk]:
        """Cut pieces into chunks.

        Parameters
        ----------
        pieces : iterable of data frames, record batches or arrays
            They follow each other.
        size : int
            Rows in a chunk.
        where : str
            The file or the partition, for messages.
        first_row : int
            Number of the first row, for messages.
        start : int
            Its place in the whole table, for a draw of rows.
        """
        with naming(where):
            for rows, numbers in cut(self._rows(pieces, first_row, start), size):
                chunk = self._weighed(rows, numbers)
                if chunk.n_rows:
                    named = replace(chunk, where=where)
                    yield self._shown(named) if isinstance(named, FrameChunk) else named

    def _rows(self, pieces: Iterable[Any], first_row: int, start: int) -> Iterator[Rows]:
        """The wanted columns and rows of each piece."""
        for piece in pieces:
            rows, numbers = self._selected(piece), np.arange(first_row, first_row + len(piece))
            if self.drawn is not None:
                low, high = np.searchsorted(self.drawn, [start, start + len(piece)])
                chosen = self.drawn[low:high] - start
                rows = rows[chosen] if isinstance(rows, np.ndarray) else rows[chosen.tolist()]
                numbers = numbers[chosen]
            first_row, start = first_row + len(piece), start + len(piece)
            yield rows, numbers

    def _selected(self, piece: Any) -> Any:
        """The wanted columns of a piece, weights last; or what is wrong with it."""
        wanted = [*self.names, *([self.weights] if self.weights else [])]
        if isinstance(self.head, ArrayTable):
            if piece.ndim != 2 or piece.shape[1] != len(self.everything):
                msg = f"shape {piece.shape}, but the table has {len(self.everything)} columns"
                raise BadTableError(msg)
            place_of = {name: place for place, name in enumerate(self.everything)}
            places = [place_of[name] for name in wanted]
            return piece if places == list(range(piece.shape[1])) else piece[:, places]
        if hasattr(piece, "to_struct_array") and not hasattr(piece, "combine_chunks"):
            import pyarrow as pa

            piece = pa.Table.from_batches([piece])
        frame = nw.from_native(piece, eager_only=True)
        own = {str(name): name for name in frame.columns}
        self._check(list(own), wanted)
        if list(own) != wanted:
            frame = frame.select([own[name] for name in wanted])
        return self._typed(frame)

    def _check(self, have: list[str], wanted: list[str]) -> None:
        """Refuse a piece with other columns."""
        found, known = set(have), set(self.everything)
        lacking = [name for name in wanted if name not in found]
        if lacking:
            msg = f"there is no column {lacking[0]!r}, which other pieces of the table have; "
            raise BadTableError(msg + near_names(lacking[0], have))
        new = [name for name in have if name not in known]
        if new and len(wanted) == len(self.everything):
            msg = f"there is a column {new[0]!r} that other pieces of the table do not have"
            raise BadTableError(msg)

    def _typed(self, frame: Frame) -> Frame:
        """Bring a piece of Arrow to the types of the whole table."""
        if not frame.implementation.is_pyarrow() or isinstance(self.head, ArrayTable):
            return frame
        import pyarrow as pa

        table, schema = frame.to_native(), self.head.frame.to_native().schema
        columns, changed = table.columns, False
        for place, (found, wanted) in enumerate(zip(table.schema, schema, strict=False)):
            if found.type.equals(wanted.type):
                continue
            if pa.types.is_dictionary(wanted.type) and pa.types.is_dictionary(found.type):
                continue
            try:
                columns[place], changed = columns[place].cast(wanted.type), True
            except pa.ArrowException as error:
                msg = (
                    f"column {wanted.name!r} holds {found.type} here and {wanted.type} in other "
                    f"pieces of the table: {excerpt(error)}"
                )
                raise BadTableError(msg) from error
        if not changed:
            return frame
        return nw.from_native(pa.table(columns, names=table.column_names), eager_only=True)

    def _weighed(self, rows: Any, numbers: IntArray) -> ArrayChunk | FrameChunk:
        """The rows of positive weight."""
        is_array, weights = isinstance(rows, np.ndarray), None
        if self.weights is not None:
            column = rows[:, -1].astype(np.float64) if is_array else numbers_of(rows[:, -1])
            weights, rows = check_pieced_weights(column, numbers), rows[:, :-1]
        chunk = (
            ArrayChunk(rows, numbers, weights)
            if is_array
            else FrameChunk(rows, numbers, weights, self.labels)
        )
        if weights is None or np.all(weights > 0):
            return chunk
        return chunk.take(np.flatnonzero(weights > 0))

    def _shown(self, chunk: FrameChunk) -> Chunk:
        """The chunk as the model sees it: pandas, where it is installed."""
        if not self.is_settled:
            return chunk
        has_categories = any(c is not None for c in self.seen.categories)
        if chunk.frame.implementation.is_pandas() and not has_categories:
            return chunk
        return ViewedChunk(chunk, PandasView(self.seen)) if has_pandas() else chunk


@contextmanager
def naming(where: str) -> Iterator[None]:
    """Put the name of a file or a partition before whatever goes wrong with its rows."""
    try:
        yield
    except RhaleError as error:
        if not where or str(error).startswith(where):
            raise
        msg = f"{where}: {error}"
        raise type(error)(msg) from (error.__cause__ or error)


def has_pandas() -> bool:
    """Whether pandas is installed."""
    from importlib.util import find_spec

    return find_spec("pandas") is not None


def cut(rows: Iterable[Rows], size: int) -> Iterator[Rows]:
    """Gather small pieces and cut large ones: chunks of `size` rows, and a rest.

    Examples
    --------
    >>> pieces = [(np.zeros((n, 1)), np.arange(n)) for n in (1, 5, 2)]
    >>> [len(numbers) for _, numbers in cut(pieces, 3)]
    [3, 3, 2]
    """
    held, n_held = list[Rows](), 0
    for piece in rows:
        held.append(piece)
        n_held += len(piece[1])
        if n_held < size:
            continue
        whole, numbers = _joined(held)
        n_cut = n_held - n_held % size
        for start in range(0, n_cut, size):
            yield whole[start : start + size], numbers[start : start + size]
        held, n_held = [(whole[n_cut:], numbers[n_cut:])], n_held - n_cut
    if n_held:
        yield _joined(held)


def _joined(pieces: list[Rows]) -> Rows:
    some = [piece for piece in pieces if len(piece[1])]
    if len(some) == 1:
        return some[0]
    numbers = np.concatenate([n for _, n in some])
    if isinstance(some[0][0], np.ndarray):
        return np.concatenate([array for array, _ in some]), numbers
    return nw.concat([frame for frame, _ in some]), numbers


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
