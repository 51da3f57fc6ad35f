"""Tables that come in pieces: brought to one set of columns, read ahead, cut to size."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from importlib.util import find_spec
from itertools import accumulate
from queue import Full, Queue
from threading import Event, Thread
from typing import Any, TypeVar

import narwhals.stable.v2 as nw
import numpy as np

from rhale.data.array import ArrayChunk, ArrayTable
from rhale.data.columns import NAME_KINDS, Holds, Labels, column_at, read_column_floats
from rhale.data.frame import Frame, FrameChunk, FrameTable
from rhale.data.open import check_pieced_weights, find_weights, recognise
from rhale.data.table import Chunk, ColumnFacts, Engine, Storage, find_columns
from rhale.errors import BadSettingError, BadTableError, RhaleError, excerpt
from rhale.naming import near_names
from rhale.stats.arrays import IntArray

Rows = tuple[Any, IntArray]  # a frame or an array, and the numbers of its rows


@contextmanager
def naming_source(where: str) -> Iterator[None]:
    """Put the name of a file or a partition before whatever goes wrong with its rows."""
    try:
        yield
    except RhaleError as error:
        if not where or str(error).startswith(where):
            raise
        msg = f"{where}: {error}"
        raise type(error)(msg) from (error.__cause__ or error)


def select_from_frame(piece: Any, everything: Sequence[str], wanted: Sequence[str]) -> Frame:
    """The wanted columns of a data frame or a record batch; or what is wrong with it."""
    if hasattr(piece, "to_struct_array") and not hasattr(piece, "combine_chunks"):
        import pyarrow as pa

        piece = pa.Table.from_batches([piece])
    frame: Frame = nw.from_native(piece, eager_only=True)
    own = {str(name): name for name in frame.columns}
    _check_names(list(own), everything, wanted)
    return frame if list(own) == wanted else frame.select([own[name] for name in wanted])


def _check_names(have: list[str], everything: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse a piece with other columns."""
    found, known = set(have), set(everything)
    lacking = [name for name in wanted if name not in found]
    if lacking:
        msg = f"there is no column {lacking[0]!r}, which other pieces of the table have; "
        raise BadTableError(msg + near_names(lacking[0], have))
    new = [name for name in have if name not in known]
    if new and len(wanted) == len(everything):
        msg = f"there is a column {new[0]!r} that other pieces of the table do not have"
        raise BadTableError(msg)


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
        whole, numbers = _join_pieces(held)
        n_cut = n_held - n_held % size
        for start in range(0, n_cut, size):
            yield whole[start : start + size], numbers[start : start + size]
        held, n_held = [(whole[n_cut:], numbers[n_cut:])], n_held - n_cut
    if n_held:
        yield _join_pieces(held)


def _join_pieces(pieces: list[Rows]) -> Rows:
    some = [piece for piece in pieces if len(piece[1])]
    if len(some) == 1:
        return some[0]
    numbers = np.concatenate([n for _, n in some])
    if isinstance(some[0][0], np.ndarray):
        return np.concatenate([array for array, _ in some]), numbers
    return nw.concat([frame for frame, _ in some]), numbers


# --- Pieces of a table as data frames of pandas, with the same column types for all of them


@dataclass(frozen=True, eq=False)
class PandasView:
    """Make a data frame of pandas, with the same column types for all pieces of a table.

    Left alone, a piece where a whole number is missing would come with other types than the next.
    Types are those that pandas would give to the whole table at once.
    """

    facts: ColumnFacts  # what all rows together tell about the columns

    def __call__(self, piece: Any) -> Any:
        """Convert a piece: a table of Arrow, or already one of pandas."""
        frame = piece.copy(deep=False) if hasattr(piece, "iloc") else self._from_arrow(piece)
        for place, categories in enumerate(self.facts.categories):
            if categories is not None:
                import pandas as pd

                dtype = pd.CategoricalDtype(categories, ordered=self.facts.ordered[place])
                column = frame.iloc[:, place]
                frame.isetitem(place, column if column.dtype == dtype else column.astype(dtype))
        return frame

    def _from_arrow(self, table: Any) -> Any:
        import pyarrow as pa

        mixed, columns = [], table.columns
        for place, stored in enumerate(table.schema):
            is_gappy = self.facts.gaps[place]
            whole, truth = pa.types.is_integer(stored.type), pa.types.is_boolean(stored.type)
            if pa.types.is_decimal(stored.type) or (whole and is_gappy):
                columns[place] = columns[place].cast(pa.float64(), safe=False)
            elif truth and is_gappy:
                mixed.append(place)
        plain = pa.table(columns, names=table.column_names)
        frame = plain.to_pandas(date_as_object=False)
        for place in mixed:
            frame.isetitem(place, frame.iloc[:, place].astype("boolean"))
        return frame


# --- Read the next chunks while the present one is worked on


Item = TypeVar("Item")
CHUNKS_READ_AHEAD = 1  # chunks, and one more that waits for its place


def read_ahead(items: Iterable[Item], n_ahead: int = CHUNKS_READ_AHEAD) -> Generator[Item]:
    """Pass items on in order, and fetch a few more in a thread meanwhile."""
    queue: Queue[tuple[str, Any]] = Queue(maxsize=n_ahead)
    is_over = Event()

    def put(kind: str, item: Any = None) -> None:
        while not is_over.is_set():
            with suppress(Full):  # the reader may have stopped meanwhile
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
        """The marker of a missing value in a column, after a first pass."""
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
            if piece.ndim != 2 or piece.shape[1] != len(self.everything):
                msg = f"shape {piece.shape}, but the table has {len(self.everything)} columns"
                raise BadTableError(msg)
            place_of = {name: place for place, name in enumerate(self.everything)}
            places = [place_of[name] for name in self.wanted]
            return piece if places == list(range(piece.shape[1])) else piece[:, places]
        frame = select_from_frame(piece, self.everything, self.wanted)
        if not frame.implementation.is_pyarrow():
            return frame
        # a piece of Arrow gets the types of the whole table
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
        msg = f"{given!r:.60} is not an engine: it {found}"
        raise BadSettingError(msg)
    head = recognise(like).take(np.arange(0))
    if head.kind not in PART_KINDS:
        msg = f"parts are arrays, pandas or Arrow tables, not {head.kind}; .to_arrow() makes such"
        raise BadTableError(msg)
    return PiecedTable(head, head.names, source, engine, n_rows)
