"""Tables in files, larger than memory: Parquet, CSV, Arrow and Feather, one file or many."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from glob import glob
from importlib.util import find_spec
from itertools import accumulate, islice
from pathlib import Path
from stat import S_ISDIR
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from rhale.errors import BadTableError, MissingExtraError, excerpt
from rhale.kernels import IntArray
from rhale.tables.chunk import Chunk
from rhale.tables.files.damage import naming_failure, shown_names
from rhale.tables.files.datasets import Fragment, is_dataset, open_dataset
from rhale.tables.files.formats import TableFile, is_named_as_table, is_table, open_file
from rhale.tables.files.regular import require_regular, stat_path
from rhale.tables.frame import FrameTable
from rhale.tables.open import require_two_rows
from rhale.tables.pieces.reader import naming_source
from rhale.tables.pieces.table import PiecedTable

Part = TableFile | Fragment


def names_files(data: Any) -> bool:
    """Tell whether the user passed paths, a dataset of files, or files that are open already.

    Examples
    --------
    >>> names_files("rows/*.parquet"), names_files(["a.csv", Path("b.csv")]), names_files([1, 2])
    (True, True, False)
    """
    if isinstance(data, list | tuple):
        return bool(data) and all(isinstance(item, str | Path) for item in data)
    is_open = isinstance(data, PiecedTable) and isinstance(data.source, Files)
    return isinstance(data, str | Path) or is_open or is_dataset(data)


def open_files(data: Any) -> PiecedTable:
    """Open files without holding their rows.

    Parameters
    ----------
    data : str, Path, sequence of these, or pyarrow.dataset.Dataset
        Paths of files and folders, and patterns such as `rows/*.parquet`; the rows of all files
        follow each other. Of a folder, all tables below it are read in the order of their names.

    Notes
    -----
    Columns and numbers of rows of Parquet and Arrow files stand in their footers. CSV files are
    read once here, because the type of a column is known after its last row only.
    """
    if isinstance(data, PiecedTable):
        return data
    if find_spec("pyarrow") is None:
        msg = 'tables are read from files by pyarrow: pip install "rhale[files]"'
        raise MissingExtraError(msg)
    parts: list[Any]
    if is_dataset(data):
        parts = list(open_dataset(data))
    else:
        parts = [open_file(path) for path in find_files(data)]
    schema, n_rows = unite_columns(parts), sum(part.n_rows for part in parts)
    with naming_source(_describe_files(parts)):
        require_two_rows(n_rows)
    head = FrameTable(nw.from_native(empty_table(schema, parts[0].path), eager_only=True))
    return PiecedTable(head, head.names, Files(tuple(parts), schema), n_rows=n_rows)


# --- which files ---------------------------------------------------------------------------------


def find_files(asked: str | Path | Sequence[str | Path]) -> list[str]:
    """The files that paths and patterns name."""
    patterns = [asked] if isinstance(asked, str | Path) else asked
    paths = [path for pattern in patterns for path in _find_files(str(pattern))]
    known = set[Path]()
    for path in paths:
        place = Path(path).resolve()
        if place in known:
            msg = f"the file {path} is named twice; its rows would count twice"
            raise BadTableError(msg)
        known.add(place)
    return paths


def _find_files(pattern: str) -> list[str]:
    """The files that a path or a pattern names, in order of their names."""
    if os.path.lexists(pattern):
        return _below(pattern) if S_ISDIR(stat_path(pattern).st_mode) else [pattern]
    if "**" in pattern:
        require_tree(pattern[: pattern.index("**")] or ".")
    matches = sorted(glob(pattern, recursive=True))  # noqa: PTH207 - keeps paths as they are written
    if not matches:
        msg = f"the table {pattern!r} names no file"
        raise BadTableError(msg)
    paths = [path for path in matches if not S_ISDIR(stat_path(path).st_mode)]
    return paths or [path for folder in matches for path in _below(folder)]


def _below(folder: str) -> list[str]:
    """All tables below a folder."""
    paths = list[str]()
    for path in sorted(Path(folder).rglob("*")):
        below = path.relative_to(folder).parts
        if any(name.startswith((".", "_")) for name in below) or path.is_dir():
            continue
        if is_named_as_table(str(path)):
            require_regular(str(path), stat_path(str(path)).st_mode)
        elif not path.is_file():
            continue
        if any("=" in name for name in below[:-1]):
            msg = (
                f"the folder {folder} has folders such as {below[0]!r}, whose names are values of "
                f"a column; pass pyarrow.dataset.dataset({folder!r}, partitioning='hive')"
            )
            raise BadTableError(msg)
        if is_table(str(path)):
            paths.append(str(path))
    if not paths:
        msg = f"there is no table in the folder {folder}"
        raise BadTableError(msg)
    return paths


def require_tree(folder: str) -> None:
    """Refuse folders that links lead back into: a pattern with ** would go round in circles."""
    known, left = dict[tuple[int, int], str](), [folder]
    while left:
        path = left.pop()
        with suppress(OSError):  # a folder that may not be read has no tables for us
            found = Path(path).stat()
            place = (found.st_dev, found.st_ino)
            if place in known:
                msg = f"{path} leads to {known[place]} again, by a link; its rows would count twice"
                raise BadTableError(msg)
            known[place] = path
            with os.scandir(path) as entries:
                left += [entry.path for entry in entries if entry.is_dir()]


# --- their columns -------------------------------------------------------------------------------


def unite_columns(parts: Sequence[Part]) -> Any:
    """Columns of all files together; each needs the same, with types that have one in common."""
    import pyarrow as pa

    first, names = parts[0], parts[0].schema.names
    for part in parts[1:]:
        odd = sorted(set(part.schema.names) ^ set(names))
        if odd:
            msg = f"{part.path} and {first.path} have different columns: {shown_names(odd)}"
            raise BadTableError(msg)
    if not names:
        msg = f"{first.path} has no columns"
        raise BadTableError(msg)
    fields = [{field.name: field for field in part.schema} for part in parts]
    paths = [part.path for part in parts]
    return pa.schema([_unite_column([own[name] for own in fields], paths) for name in names])


def _unite_column(fields: Sequence[Any], paths: Sequence[str]) -> Any:
    """The column that holds the values of a column in all files."""
    import pyarrow as pa

    fields = [field.with_type(plain_type(field.type)) for field in fields]
    found, seen = fields[0], {fields[0].type}
    for field, path in zip(fields[1:], paths[1:], strict=True):
        if field.type in seen:
            continue
        seen.add(field.type)
        both = [pa.schema([found]), pa.schema([field])]
        try:
            found = pa.unify_schemas(both, promote_options="permissive").field(0)
        except pa.ArrowException as error:
            msg = (
                f"{path}: column {field.name!r} holds {excerpt(field.type, 60)}, and "
                f"{excerpt(found.type, 60)} in the files before it; give it the same type in all "
                "files"
            )
            raise BadTableError(msg) from error
    return found.with_type(pa.float64()) if pa.types.is_null(found.type) else found  # as pandas


def plain_type(kind: Any) -> Any:
    """A type that holds the same values and that rows can be taken from: text that is no view."""
    import pyarrow as pa

    if kind.equals(pa.string_view()):
        return pa.string()
    return pa.binary() if kind.equals(pa.binary_view()) else kind


def empty_table(schema: Any, path: str) -> Any:
    """A table of these columns without rows; refuse types that Arrow itself can do little with."""
    import pyarrow as pa

    columns, none = [], pa.array([], pa.int64())
    for field in schema:
        name, kind = excerpt(field.name, 60), excerpt(field.type, 60)
        with naming_failure(f"{path}: column {name!r} holds {kind}, write the file without it"):
            columns.append(pa.array([], field.type).take(none))
    return pa.table(columns, schema=schema)


# --- their rows ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Files:
    """Files that are one table: its rows are theirs, one file after the other.

    Attributes
    ----------
    parts : tuple of TableFile or Fragment
        The files.
    schema : pyarrow.Schema
        Columns and types of all files together.
    """

    parts: tuple[Part, ...]
    schema: Any

    @cached_property
    def part_rows(self) -> tuple[int, ...]:
        """Rows of every file."""
        return tuple(part.n_rows for part in self.parts)

    @property
    def identity(self) -> list[list[Any]]:
        """What tells whether these are the same files as before."""
        return [part.identity for part in self.parts]

    def chunks(self, table: PiecedTable, size: int, first: int = 0) -> Iterator[Chunk]:
        """Read all rows in chunks.

        Parameters
        ----------
        table : PiecedTable
            Which columns and rows, and how they become chunks.
        size : int
            Rows in a chunk; small files are read together until there are about as many.
        first : int
            How many chunks to leave out at the start; most of them are not read.
        """
        if table.weights is not None:  # a chunk whose weights are all zero does not come
            yield from islice(self._chunks(table, size, 0), first, None)
        else:
            yield from self._chunks(table, size, first)

    def _chunks(self, table: PiecedTable, size: int, first: int) -> Iterator[Chunk]:
        rows = self._wanted_rows(table)
        for group in group_small_files(rows, size):
            n_chunks = -(-sum(rows[place] for place in group) // size)
            if first < n_chunks:
                yield from self._read(group, table, size, first * size)
            first = max(first - n_chunks, 0)

    def _read(
        self, group: Sequence[int], table: PiecedTable, size: int, n_known: int
    ) -> Iterator[Chunk]:
        """Read some files as if they were one, without the first wanted rows."""
        parts = [self.parts[place] for place in group]
        if table.drawn is not None:
            drawn = self._places_in(table.drawn, group)
            table, n_known = replace(table, drawn=drawn), int(drawn[n_known]) if n_known else 0
        schema = self._schema_of(table.wanted)
        pieces = _pieces(parts, schema, size, n_known)
        where = _describe_files(parts, ", rows counted through")
        yield from table.cut(pieces, size, where=where, first_row=n_known, start=n_known)

    def _schema_of(self, names: Sequence[str]) -> Any:
        """Some of the columns."""
        import pyarrow as pa

        return pa.schema([self._fields[name] for name in names])

    @cached_property
    def _fields(self) -> dict[str, Any]:
        """Columns by their names."""
        return {field.name: field for field in self.schema}

    @cached_property
    def _starts(self) -> list[int]:
        """Places of the first rows of all files."""
        return list(accumulate(self.part_rows, initial=0))

    def _wanted_rows(self, table: PiecedTable) -> list[int]:
        """How many rows of every file are wanted."""
        if table.drawn is None:
            return list(self.part_rows)
        return [int(n) for n in np.diff(np.searchsorted(table.drawn, self._starts))]

    def _places_in(self, drawn: IntArray, group: Sequence[int]) -> IntArray:
        """Places of drawn rows among the rows of some files alone."""
        found, before = list[IntArray](), 0
        for place in group:
            start, stop = self._starts[place], self._starts[place + 1]
            low, high = np.searchsorted(drawn, [start, stop])
            found.append(drawn[low:high] - start + before)
            before += stop - start
        return np.concatenate(found)


def _describe_files(parts: Sequence[Part], more: str = "") -> str:
    """Say which files are meant."""
    first, last = parts[0].path, parts[-1].path
    return first if len(parts) == 1 else f"{first} to {last} ({len(parts)} files{more})"


def group_small_files(rows: Sequence[int], size: int) -> Iterator[list[int]]:
    """Files that are read together: neighbours of at most `size` rows in all, large ones alone.

    Examples
    --------
    >>> list(group_small_files([2, 3, 9, 1, 0, 4], 5))
    [[0, 1], [2], [3, 5]]
    """
    held, n_held = list[int](), 0
    for place, n_rows in enumerate(rows):
        if held and n_rows and n_held + n_rows > size:
            yield held
            held, n_held = [], 0
        if n_rows:
            held.append(place)
            n_held += n_rows
    if held:
        yield held


def _pieces(parts: Sequence[Part], schema: Any, size: int, skip: int) -> Iterator[Any]:
    """Batches of some files; what pandas noted in them about types is left out."""
    assert len(parts) == 1 or not skip  # noqa: S101 - several files together are one chunk
    for part in parts:
        for batch in part.batches(schema, size, skip):
            yield batch.replace_schema_metadata(None)


def read_some(table: PiecedTable, n_rows: int, settings: Mapping[str, Any]) -> Any:
    """Read a few rows into memory, drawn from all files; settings are those of `explain`."""
    columns, weights = settings.get("columns"), settings.get("weights")
    if columns is not None:
        table = table.only([*columns, *([weights] if weights else [])])
    n_all = sum(table.source.part_rows)
    rng = np.random.default_rng(settings.get("seed", 0))
    places = np.sort(rng.choice(n_all, min(n_rows, n_all), replace=False))
    drawn = table.take(places, table.source.part_rows)
    (chunk,) = drawn.chunks(n_rows)
    return drawn.settle(chunk.facts()).settle_chunk(chunk).rows


def read_all(table: PiecedTable) -> Any:
    """Read all rows into memory, as models see them.

    Parameters
    ----------
    table : PiecedTable
        Files that are open, with the columns that are wanted.

    Returns
    -------
    pandas data frame
        A table of Arrow where pandas is not installed.
    """
    (chunk,) = table.chunks(sum(table.source.part_rows))
    return table.settle(chunk.facts()).settle_chunk(chunk).rows


def least_size(table: PiecedTable) -> int:
    """Bytes that all rows take in memory, at least: what has no width, such as text, has eight."""
    widths = [_width(table.source.schema.field(name).type) for name in table.names]
    n_rows: int = sum(table.source.part_rows)
    return n_rows * sum(widths)


def _width(kind: Any) -> int:
    try:
        return -(-int(kind.bit_width) // 8)
    except ValueError:
        return 8
