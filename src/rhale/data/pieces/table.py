"""Tables that are not in memory: columns that are known, and rows that come in pieces."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from importlib.util import find_spec
from itertools import accumulate
from queue import Full, Queue
from threading import Event, Thread
from typing import Any, TypeVar

import numpy as np

from rhale.data.array import ArrayChunk, ArrayTable
from rhale.data.columns import NAME_KINDS, Holds, Labels, column_at, read_column_floats
from rhale.data.frame import FrameChunk, FrameTable
from rhale.data.open import recognise
from rhale.data.pieces.reader import (
    PandasView,
    Rows,
    bring_to_types,
    cut,
    naming_source,
    select_from_array,
    select_from_frame,
)
from rhale.data.table import Chunk, ColumnFacts, Engine, Storage, find_columns
from rhale.data.weights import check_pieced_weights, find_weights
from rhale.errors import BadSettingError, BadTableError
from rhale.stats.arrays import IntArray

# --- Read the next chunks while the present one is worked on


Item = TypeVar("Item")
CHUNKS_READ_AHEAD = 1  # chunks, and one more that waits for its place


def read_ahead(items: Iterable[Item], n_ahead: int = CHUNKS_READ_AHEAD) -> Generator[Item]:
    """Pass items on in order, and fetch a few more in a thread meanwhile."""
    queue: Queue[tuple[str, Any]] = Queue(maxsize=n_ahead)
    is_over = Event()

    def put(kind: str, item: Any = None) -> None:
        while not is_over.is_set():
            with suppress(Full):  # whoever reads may have gone meanwhile
                queue.put((kind, item), timeout=0.1)
                break

    def fetch() -> None:
        try:
            with closing_of(items):
                for item in items:
                    put("item", item)
                    if is_over.is_set():
                        return
            put("end")
        except BaseException as error:  # noqa: BLE001 - it is raised where the items are used
            put("error", error)

    thread = Thread(target=fetch, name="rhale reading", daemon=True)
    thread.start()
    try:
        while True:
            kind, item = queue.get()
            if kind == "end":
                return
            if kind == "error":
                raise item
            yield item
    finally:
        is_over.set()
        thread.join()


def closing_of(items: Iterable[Any]) -> AbstractContextManager[Any]:
    """Close what is read, files above all, in the thread that reads it."""
    return closing(items) if hasattr(items, "close") else nullcontext()


PART_KINDS = ("numpy", "pandas", "pyarrow")
ENGINE_MEMBERS = ("name", "no_resume", "map_parts")


@dataclass(frozen=True, eq=False)
class PiecedTable:
    """Columns that are known, and rows that come in pieces, as often as needed."""

    head: FrameTable | ArrayTable  # the columns that the model sees; no rows
    everything: tuple[str, ...]  # all columns of the pieces
    source: Any = None  # where the pieces come from: files, or the user's Dask, Spark or Ray table
    # Who works on the parts of the source; None for files, which are read in this process
    engine: Engine | None = None
    n_rows: int | None = None  # number of rows, where it is known before they are read
    weights: str | None = None  # the column that says how much each row matters
    # Columns of names that are read as numbers
    labels: Mapping[int, Labels] = field(default_factory=dict)
    facts: ColumnFacts | None = None  # what a first pass learned about the columns; None before
    # Places of the rows to use in the whole table, increasing; None for all
    drawn: IntArray | None = None
    starts: tuple[int, ...] = ()  # places of the first rows of all parts, where rows are drawn

    # --- what the table is ---------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns that the model sees."""
        return self.head.names

    @property
    def wanted(self) -> list[str]:
        """Names of the columns that are read: weights are the last."""
        return [*self.names, *([self.weights] if self.weights else [])]

    @property
    def kind(self) -> str:
        """Files, or the engine."""
        return "files" if self.engine is None else self.engine.name

    @property
    def storage(self) -> Storage:
        """In files, or with an engine."""
        no_resume = "" if self.engine is None else self.engine.no_resume
        return Storage(is_memory=False, engine=self.engine, no_resume=no_resume)

    @property
    def identity(self) -> dict[str, Any]:
        """What tells these rows from others, as far as that is known before they are read."""
        drawn = None if self.drawn is None else blake2b(self.drawn.tobytes(), digest_size=16)
        return {
            "rows": self.source.identity if self.engine is None else None,
            "weights": self.weights,
            "drawn": None if drawn is None else drawn.hexdigest(),
        }

    def holds(self, index: int) -> Holds | None:
        """What a column holds; None for what cannot be explained."""
        return self.head.holds(index)

    def is_truth(self, index: int) -> bool:
        """Whether a column holds truth values."""
        return self.head.is_truth(index)

    def has_order(self, index: int) -> bool:
        """Whether the type of a column says in which order its levels stand."""
        if isinstance(self.head, ArrayTable):
            return False
        native = column_at(self.head.frame, index).to_native()
        of_arrow = getattr(getattr(native, "type", None), "ordered", False)
        return bool(of_arrow or getattr(getattr(native, "cat", None), "ordered", False))

    def declared_order(self, index: int) -> tuple[Any, ...] | None:
        """Levels of a column whose type says in which order they stand, after a first pass."""
        if isinstance(self.head, ArrayTable):
            return None
        return self._known.categories[index] if self._known.ordered[index] else None

    def missing_value(self, index: int) -> Any:
        """What stands for a missing value in a column, after a first pass."""
        return float("nan") if isinstance(self.head, ArrayTable) else self._known.missing[index]

    @property
    def _known(self) -> ColumnFacts:
        """What a first pass learned."""
        assert self.facts is not None  # noqa: S101 - it is asked for after that pass
        return self.facts

    def labels_of(self, index: int) -> Labels:
        """Names of a column that was labelled."""
        return self.labels[index]

    # --- what is decided about it --------------------------------------------------------------

    def label(self, labels: Mapping[int, Labels]) -> PiecedTable:
        """The same table, with these columns of names read as numbers."""
        return replace(self, labels=labels)

    def with_column_types(self, facts: ColumnFacts) -> PiecedTable:
        """The same table, after a first pass: the model's kind of table and its types are known."""
        return replace(self, facts=facts)

    def settle_chunk(self, chunk: Any) -> Chunk:
        """Bring a chunk of the first pass to what was decided after it."""
        return self._show(chunk.label(self.labels))

    def take(self, places: IntArray, part_rows: Sequence[int]) -> PiecedTable:
        """Only the rows at these places of the table, whose parts have so many rows."""
        starts = tuple(accumulate(part_rows, initial=0))
        return replace(self, drawn=places, starts=starts, n_rows=len(places))

    def only(self, columns: Sequence[str]) -> PiecedTable:
        """Only these columns, in this order."""
        return replace(self, head=self.head.select(find_columns(self.names, list(columns))))

    def weigh_by(self, weights: Any) -> PiecedTable:
        """The same table, with a column of weights taken out."""
        if weights is None:
            return self
        if not isinstance(weights, str):
            msg = (
                f"weights= is a {type(weights).__name__}, but the table is not in memory; name the "
                "column that holds the weights"
            )
            raise BadSettingError(msg)
        column = find_weights(weights, self.head)
        others = [place for place in range(len(self.names)) if place != column]
        return replace(self, head=self.head.select(others), weights=self.names[column])

    def without_rows(self) -> PiecedTable:
        """All but the source: how pieces become chunks, for workers."""
        return replace(self, source=None, engine=None)

    # --- chunks --------------------------------------------------------------------------------

    def chunks(self, size: int, first: int = 0) -> Iterator[Chunk]:
        """Read files in this process, from a chunk on."""
        found: Iterator[Chunk] = self.source.chunks(self, size, first)
        return found

    def cut(
        self,
        pieces: Iterable[Any],
        size: int,
        *,
        where: str = "",
        first_row: int = 0,
        start: int = 0,
    ) -> Iterator[Chunk]:
        """Cut pieces into chunks."""
        with naming_source(where):
            for rows, numbers in cut(self._rows(pieces, first_row, start), size):
                chunk = self._weigh(rows, numbers)
                if chunk.n_rows:
                    yield self._show(replace(chunk, where=where))

    def _rows(self, pieces: Iterable[Any], first_row: int, start: int) -> Iterator[Rows]:
        """The wanted columns and rows of each piece."""
        for piece in pieces:
            rows, numbers = self._select(piece), np.arange(first_row, first_row + len(piece))
            if self.drawn is not None:
                low, high = np.searchsorted(self.drawn, [start, start + len(piece)])
                chosen = self.drawn[low:high] - start
                rows = rows[chosen] if isinstance(rows, np.ndarray) else rows[chosen.tolist()]
                numbers = numbers[chosen]
            first_row, start = first_row + len(piece), start + len(piece)
            yield rows, numbers

    def _select(self, piece: Any) -> Any:
        """The wanted columns of a piece, in the types of the table."""
        if isinstance(self.head, ArrayTable):
            return select_from_array(piece, self.everything, self.wanted)
        frame = select_from_frame(piece, self.everything, self.wanted)
        return bring_to_types(frame, self.head.frame)

    def _weigh(self, rows: Any, numbers: IntArray) -> ArrayChunk | FrameChunk:
        """The rows of positive weight."""
        is_array, weights = isinstance(rows, np.ndarray), None
        if self.weights is not None:
            column = rows[:, -1].astype(np.float64) if is_array else read_column_floats(rows[:, -1])
            weights, rows = check_pieced_weights(column, numbers), rows[:, :-1]
        chunk = (
            ArrayChunk(rows, numbers, weights)
            if is_array
            else FrameChunk(rows, numbers, weights, self.labels)
        )
        if weights is None or np.all(weights > 0):
            return chunk
        return chunk.take(np.flatnonzero(weights > 0))

    def _show(self, chunk: Any) -> Chunk:
        """The chunk as the model sees it: pandas, where it is installed."""
        shown: Chunk = chunk
        if self.facts is None or not isinstance(chunk, FrameChunk) or find_spec("pandas") is None:
            return shown
        has_categories = any(c is not None for c in self.facts.categories)
        if chunk.frame.implementation.is_pandas() and not has_categories:
            return shown
        return replace(chunk, show=PandasView(self.facts))


def with_numbers(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """The same chunks, whose columns of numbers have been made floats: every pass needs these."""
    with closing_of(chunks):
        for chunk in chunks:
            if isinstance(chunk, FrameChunk):
                columns = range(len(chunk.frame.columns))
                for index in (i for i in columns if chunk.holds(i) not in (*NAME_KINDS, None)):
                    chunk.column(index)
            yield chunk


def open_parts(like: Any, source: Any, engine: Engine, *, n_rows: int | None = None) -> PiecedTable:
    """Open a table whose parts an engine of your own works on, for `rhale.explain`.

    Parameters
    ----------
    like : NumPy array, pandas or pyarrow table
        Columns and types of the parts: a table of their kind, whose rows (any number) are not used.
    source : object
        What `Engine.map_parts` gets: paths, handles, a table of another library.
    engine : Engine
        Who works on the parts.
    n_rows : int, optional
        Number of all rows, where it is known: progress can tell how much is left.

    Returns
    -------
    PiecedTable

    Raises
    ------
    BadSettingError
        If a member of the engine is missing.
    BadTableError
        If parts are of another kind.

    Examples
    --------
    >>> class InOrder:
    ...     name, no_resume = "arrays", ""
    ...
    ...     def map_parts(self, part_task, source, first):
    ...         for index in range(first, len(source)):
    ...             yield part_task(index, [source[index]])
    >>> parts = [np.eye(2), np.ones((3, 2))]
    >>> open_parts(parts[0], parts, InOrder()).names
    ('x0', 'x1')
    """
    given: Any = engine
    lacking = [name for name in ENGINE_MEMBERS if not hasattr(given, name)]
    if lacking or isinstance(given, type):
        found = f"has no {lacking[0]}" if lacking else "is a class; pass an instance of it"
        msg = f"{given!r:.60} is no engine: it {found}"
        raise BadSettingError(msg)
    head = recognise(like).take(np.arange(0))
    if head.kind not in PART_KINDS:
        msg = f"parts are arrays, pandas or Arrow tables, not {head.kind}; .to_arrow() makes such"
        raise BadTableError(msg)
    return PiecedTable(head, head.names, source, engine, n_rows)
