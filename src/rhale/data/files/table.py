"""Tables in files, larger than memory: Parquet, CSV, Arrow and Feather, one file or many."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from glob import glob
from hashlib import blake2b
from importlib.util import find_spec
from itertools import accumulate, islice
from pathlib import Path
from stat import S_ISDIR
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from rhale.data.columns import repeated_in
from rhale.data.files import arrow, csv, parquet
from rhale.data.files.arrow import skip_rows, validate
from rhale.data.files.parquet import footer_of
from rhale.data.files.regular import (
    RegularFile,
    Stamp,
    naming_failure,
    naming_file,
    require_likely_rows,
    require_regular,
    shown_names,
    stamp,
    stat_path,
)
from rhale.data.frame import FrameTable
from rhale.data.open import require_two_rows
from rhale.data.pieces import PiecedTable, naming_source
from rhale.data.table import Chunk
from rhale.errors import BadTableError, MissingExtraError, excerpt
from rhale.stats.arrays import IntArray

# --- One file of a table: what it is, its columns, how many rows, and these in batches


TABLE_FORMATS = (
    "Parquet (.parquet), CSV (.csv, .csv.gz, .tsv), Arrow (.arrow, .ipc) and Feather (.feather)"
)
MAGIC_BYTES = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "stream",
    b"FEA1": "feather",
}
BINARY_TABLE_SUFFIXES = (".parquet", ".arrow", ".ipc", ".feather")
DELIMITED = (".csv", ".csv.gz", ".tsv", ".tsv.gz")


@dataclass(frozen=True, eq=False)
class TableFile:
    """A file that was opened once, and is read as often as needed."""

    path: str  # as the user wrote it
    kind: str  # "parquet", "csv", "arrow" (Feather, too) or "stream"
    stamp: Stamp  # size in bytes and time of the last change in nanoseconds
    schema: Any  # its columns, without what pandas calls an index
    n_rows: int  # how many rows it has

    def batches(self, schema: Any, size: int, skip: int = 0) -> Iterator[Any]:
        """Read rows in record batches of at most about `size` rows."""
        self.require_unchanged()
        n_rows = min(skip, self.n_rows)
        with naming_file(self.path, self.kind), RegularFile(self.path) as file:
            for batch in self._read(file, schema, size, skip):
                n_rows += batch.num_rows
                yield batch
        self.require_unchanged()
        if n_rows != self.n_rows:
            msg = f"{self.path} says that it has {self.n_rows:,} rows, but has {n_rows:,}"
            raise BadTableError(msg)

    def _read(self, file: RegularFile, schema: Any, size: int, skip: int) -> Iterator[Any]:
        """Batches of the file."""
        if self.kind == "parquet":
            return parquet.read_parquet_batches(file, schema.names, size, skip)
        if self.kind == "csv":
            return arrow.skip_rows(csv.open_delimited(file, schema), skip)
        return arrow.skip_rows(arrow.read_arrow_batches(file, self.kind, schema.names, size), skip)

    @property
    def identity(self) -> list[Any]:
        """What tells it from another file: a Parquet file's footer describes all of its columns.

        A damaged file that is replaced by a whole copy is then the same file.
        """
        size, changed = self.stamp
        return [self.path, size, footer_digest(self.path) if self.kind == "parquet" else changed]

    def require_unchanged(self) -> None:
        """Refuse a file that is not as it was when it was opened."""
        if stamp(stat_path(self.path)) != self.stamp:
            msg = f"{self.path} changed while it was being explained; let it rest, and start again"
            raise BadTableError(msg)


def open_file(path: str) -> TableFile:
    """Find out what a file holds; of rows, only those of CSV are read."""
    with naming_file(path, "table"), RegularFile(path) as file:
        kind = kind_of_table(file, path)
        with naming_file(path, kind):
            if kind == "csv":
                schema, n_rows = csv.measure_delimited(file)
            elif kind == "parquet":
                schema, n_rows = parquet.measure_parquet(file)
            else:
                schema, n_rows = arrow.measure_arrow(file, kind)
            schema = without_index(schema, path)
            repeated = repeated_in(schema.names)
        if repeated:
            msg = f"{path}: column names must differ; repeated: [{shown_names([repr(name) for name in repeated])}]"
            raise BadTableError(msg)
        if kind != "csv":
            require_likely_rows(path, n_rows, file.size)
        return TableFile(path, kind, file.stamp, schema, n_rows)


def footer_digest(path: str) -> str:
    """Name of the bytes at the end of a Parquet file that say where everything is, and its ranges."""
    with naming_file(path, "parquet"), RegularFile(path) as file:
        return blake2b(footer_of(file), digest_size=16).hexdigest()


def is_table(path: str) -> bool:
    """Tell whether a file is a table, or is named as one."""
    if is_named_as_table(path):
        return True
    with naming_file(path, "table"), RegularFile(path) as file:
        return _read_mark(file) is not None


def is_named_as_table(path: str) -> bool:
    """Tell whether a file is named as a table."""
    return path.lower().endswith((*BINARY_TABLE_SUFFIXES, *DELIMITED))


def kind_of_table(file: RegularFile, path: str) -> str:
    """Say what a file is, by its first bytes or by its name."""
    kind, name = _read_mark(file), path.lower()
    if kind == "feather":
        msg = f"{path} is Feather of version 1, which pyarrow gives up; write it anew (version 2)"
        raise BadTableError(msg)
    if kind is not None:
        return kind
    if file.size == 0:
        msg = f"{path} is empty: 0 bytes, not even names of columns"
        raise BadTableError(msg)
    if name.endswith(DELIMITED):
        return "csv"
    if name.endswith(BINARY_TABLE_SUFFIXES):
        msg = f"{path} is named as a table, but its content is none: it may be damaged"
        raise BadTableError(msg)
    msg = f"{path} is not a table that rhale reads; it reads {TABLE_FORMATS}"
    raise BadTableError(msg)


def _read_mark(file: RegularFile) -> str | None:
    """What the first bytes of a file say."""
    file.seek(0)
    head = file.read(8)
    return next((kind for mark, kind in MAGIC_BYTES.items() if head.startswith(mark)), None)


def without_index(schema: Any, path: str) -> Any:
    """Columns of a file alone: neither the row names of pandas nor what it notes about types."""
    import pyarrow as pa

    index = index_of_pandas(schema, path)
    for field in schema:
        getattr(field.type, "tz", None)  # a time zone that is no text says so here, not later
    return pa.schema([field.remove_metadata() for field in schema if field.name not in index])


def index_of_pandas(schema: Any, path: str) -> set[str]:
    """Names of the columns that pandas noted as names of rows."""
    try:
        noted = (schema.pandas_metadata or {}).get("index_columns", [])
        if not isinstance(noted, list) or not all(isinstance(name, str | dict) for name in noted):
            msg = f"index_columns is {noted!r:.60}"
            raise ValueError(msg)
    except (ValueError, AttributeError, RecursionError) as error:
        msg = (
            f"{path}: what pandas noted about its columns is damaged ({excerpt(error, 80)}); "
            "write the file anew, or without its metadata"
        )
        raise BadTableError(msg) from error
    return {name for name in noted if isinstance(name, str)}  # others describe numbers of rows


# --- Datasets of pyarrow: their fragments are read like files


DATASET_READ_AHEAD = 1  # batches and fragments that pyarrow reads before they are asked for


@dataclass(frozen=True, eq=False)
class Fragment:
    """One file of a dataset, with the columns that its folder gives it."""

    fragment: Any  # where its rows are
    stamp: Stamp  # size in bytes and time of the last change in nanoseconds
    schema: Any  # columns of the whole dataset
    n_rows: int  # how many rows it has

    @property
    def path(self) -> str:
        """Where it is in its file system."""
        return str(self.fragment.path)

    @property
    def identity(self) -> list[Any]:
        """What tells it from another file: size and time of the last change."""
        return [self.path, *self.stamp]

    def batches(self, schema: Any, size: int, skip: int = 0) -> Iterator[Any]:
        """Read rows in record batches of at most about `size` rows."""
        self.require_unchanged()
        with naming_file(self.path, "part of a dataset"):
            found = self.fragment.scanner(
                schema=self.schema,
                columns=schema.names,
                batch_size=size,
                batch_readahead=DATASET_READ_AHEAD,
                fragment_readahead=DATASET_READ_AHEAD,
                use_threads=False,
            )
            yield from skip_rows(map(validate, found.to_batches()), skip)
        self.require_unchanged()

    def require_unchanged(self) -> None:
        """Refuse a file that is not as it was when it was opened."""
        if stamp_of_fragment(self.fragment) != self.stamp:
            msg = f"{self.path} changed while it was being explained; let it rest, and start again"
            raise BadTableError(msg)


def is_dataset(data: Any) -> bool:
    """Tell whether an object is a dataset of pyarrow."""
    return any(
        f"{k.__module__}.{k.__name__}" == "pyarrow._dataset.Dataset" for k in type(data).__mro__
    )


def open_dataset(dataset: Any) -> list[Fragment]:
    """List the fragments; of rows, only those of CSV are read, to count them."""
    try:
        found = list(dataset.get_fragments())
    except ValueError as error:
        msg = f"the dataset is filtered; write the rows that you want to files first ({error})"
        raise BadTableError(msg) from error
    if any(not hasattr(fragment, "path") for fragment in found):
        msg = "the dataset is in memory; pass dataset.to_table()"
        raise BadTableError(msg)
    if not found:
        msg = "the dataset has no files"
        raise BadTableError(msg)
    schema = without_index(dataset.schema, found[0].path)
    return [_open_fragment(fragment, schema) for fragment in found]


def _open_fragment(fragment: Any, schema: Any) -> Fragment:
    stamp = stamp_of_fragment(fragment)  # first: to count the rows of a pipe would wait for ever
    with naming_file(fragment.path, "part of a dataset"):
        n_rows = fragment.count_rows()
    return Fragment(fragment, stamp, schema, n_rows)


def stamp_of_fragment(fragment: Any) -> Stamp:
    """Size of a file, and when it was changed; -1 where the file system does not tell."""
    with naming_file(fragment.path, "part of a dataset"):
        found = fragment.filesystem.get_file_info(fragment.path)
    if found.type.name not in ("File", "NotFound"):
        msg = f"{fragment.path} is not a regular file; leave it out of the dataset"
        raise BadTableError(msg)
    size, time = found.size, found.mtime_ns
    return -1 if size is None else size, -1 if time is None else time


Part = TableFile | Fragment


def names_files(data: Any) -> bool:
    """Tell whether the user passed paths, a dataset of files, or files that are open already."""
    if isinstance(data, list | tuple):
        return bool(data) and all(isinstance(item, str | Path) for item in data)
    is_open = isinstance(data, PiecedTable) and isinstance(data.source, Files)
    return isinstance(data, str | Path) or is_open or is_dataset(data)


def open_files(data: Any) -> PiecedTable:
    """Open files without holding their rows."""
    # Columns and numbers of rows of Parquet and Arrow files stand in their footers. CSV files are
    # read once here, because the type of a column is known after its last row only.
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
    """Files that are one table: its rows are theirs, one file after the other."""

    parts: tuple[Part, ...]  # the files
    schema: Any  # columns and types of all files together

    @cached_property
    def part_rows(self) -> tuple[int, ...]:
        """Rows of every file."""
        return tuple(part.n_rows for part in self.parts)

    @property
    def identity(self) -> list[list[Any]]:
        """What tells whether these are the same files as before."""
        return [part.identity for part in self.parts]

    def chunks(self, table: PiecedTable, size: int, first: int = 0) -> Iterator[Chunk]:
        """Read all rows in chunks."""
        if table.weights is not None:  # a chunk whose weights are all zero does not come
            yield from islice(self._chunks(table, size, 0), first, None)
        else:
            yield from self._chunks(table, size, first)

    def _chunks(self, table: PiecedTable, size: int, first: int) -> Iterator[Chunk]:
        # how many rows of each file are wanted
        if table.drawn is None:
            rows = list(self.part_rows)
        else:
            rows = [int(n) for n in np.diff(np.searchsorted(table.drawn, self._starts))]
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
            # positions of the drawn rows among the rows of these files alone
            found, before = list[IntArray](), 0
            for place in group:
                start, stop = self._starts[place], self._starts[place + 1]
                low, high = np.searchsorted(table.drawn, [start, stop])
                found.append(table.drawn[low:high] - start + before)
                before += stop - start
            drawn = np.concatenate(found)
            table, n_known = replace(table, drawn=drawn), int(drawn[n_known]) if n_known else 0
        schema = self._schema_of(table.wanted)
        assert len(parts) == 1 or not n_known  # noqa: S101 - several files together are one chunk
        batches = (batch for part in parts for batch in part.batches(schema, size, n_known))
        # what pandas noted in them about types is left out
        pieces = (batch.replace_schema_metadata(None) for batch in batches)
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
    return drawn.with_column_types(chunk.facts()).settle_chunk(chunk).rows


def read_all(table: PiecedTable) -> Any:
    """Read all rows into memory, as models see them."""
    (chunk,) = table.chunks(sum(table.source.part_rows))
    return table.with_column_types(chunk.facts()).settle_chunk(chunk).rows


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
