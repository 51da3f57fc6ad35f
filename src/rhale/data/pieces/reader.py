"""Pieces of a table that is not in memory, brought to its columns and types, and cut to size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from rhale.data.frame import Frame
from rhale.data.table import ColumnFacts
from rhale.errors import BadTableError, RhaleError, excerpt
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


def select_from_array(piece: Any, everything: Sequence[str], wanted: Sequence[str]) -> Any:
    """The wanted columns of an array; or what is wrong with it."""
    if piece.ndim != 2 or piece.shape[1] != len(everything):
        msg = f"shape {piece.shape}, but the table has {len(everything)} columns"
        raise BadTableError(msg)
    place_of = {name: place for place, name in enumerate(everything)}
    places = [place_of[name] for name in wanted]
    return piece if places == list(range(piece.shape[1])) else piece[:, places]


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


def bring_to_types(frame: Frame, head: Frame) -> Frame:
    """Bring a piece of Arrow to the types of the whole table."""
    if not frame.implementation.is_pyarrow():
        return frame
    import pyarrow as pa

    table, schema = frame.to_native(), head.to_native().schema
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
