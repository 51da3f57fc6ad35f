"""One file of a table: what it is, its columns, how many rows, and these in batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from rhale.errors import BadTableError, excerpt
from rhale.tables.columns import repeated_in
from rhale.tables.files import arrow, delimited, parquet
from rhale.tables.files.damage import naming_file, shown_names
from rhale.tables.files.expanding import require_likely_rows
from rhale.tables.files.pages import footer_of
from rhale.tables.files.regular import RegularFile, Stamp, stamp, stat_path

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
    """A file that was opened once, and is read as often as needed.

    Attributes
    ----------
    path : str
        As the user wrote it.
    kind : str
        "parquet", "csv", "arrow" (Feather, too) or "stream".
    stamp : (int, int)
        Size in bytes and time of the last change in nanoseconds.
    schema : pyarrow.Schema
        Its columns, without what pandas calls an index.
    n_rows : int
        How many rows it has.
    """

    path: str
    kind: str
    stamp: Stamp
    schema: Any
    n_rows: int

    def batches(self, schema: Any, size: int, skip: int = 0) -> Iterator[Any]:
        """Read rows in record batches of at most about `size` rows.

        Parameters
        ----------
        schema : pyarrow.Schema
            The columns to read, no others are touched; and their types in the whole table.
        size : int
            Rows in a batch.
        skip : int
            Rows to leave out at the start.
        """
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
            return arrow.skip_rows(delimited.open_delimited(file, schema), skip)
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
            schema, n_rows = _measure_table(file, kind)
            schema = without_index(schema, path)
            repeated = repeated_in(schema.names)
        if repeated:
            msg = f"{path}: column names must differ; repeated: [{shown_names([repr(name) for name in repeated])}]"
            raise BadTableError(msg)
        if kind != "csv":
            require_likely_rows(path, n_rows, file.size)
        return TableFile(path, kind, file.stamp, schema, n_rows)


def _measure_table(file: RegularFile, kind: str) -> tuple[Any, int]:
    """Columns and number of rows."""
    if kind == "csv":
        return delimited.measure_delimited(file)
    return parquet.measure_parquet(file) if kind == "parquet" else arrow.measure_arrow(file, kind)


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
    msg = f"{path} is no table that rhale reads; it reads {TABLE_FORMATS}"
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
