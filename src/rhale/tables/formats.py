"""One file of a table: what it is, its columns, how many rows, and these in batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from os import SEEK_END
from pathlib import Path
from typing import Any

from rhale.errors import BadTableError, RhaleError
from rhale.tables import delimited

KINDS = "Parquet (.parquet), CSV (.csv, .csv.gz, .tsv), Arrow (.arrow, .ipc) and Feather (.feather)"
MARKS = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "stream", b"FEA1": "feather"}
NAMED = (".parquet", ".arrow", ".ipc", ".feather")
DELIMITED = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
BUFFER = 2**20  # bytes of a Parquet column that are read at a time
FOOTER_END = 8  # bytes behind a Parquet footer: its length, and four letters
Stamp = tuple[int, int]


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
        with naming_file(self.path, self.kind):
            if self.kind == "parquet":
                yield from _parquet(self.path, schema.names, size, skip)
            else:
                yield from dropped(_others(self, schema), skip)
        self.require_unchanged()

    @property
    def identity(self) -> list[Any]:
        """What tells it from another file: a Parquet file's footer describes all of its columns.

        A damaged file that is replaced by a whole copy is then the same file.
        """
        size, changed = self.stamp
        return [self.path, size, footer_digest(self.path) if self.kind == "parquet" else changed]

    def require_unchanged(self) -> None:
        """Refuse a file that is not as it was when it was opened."""
        if stamp_of(self.path) != self.stamp:
            msg = f"{self.path} changed while it was being explained; let it rest, and start again"
            raise BadTableError(msg)


def open_file(path: str) -> TableFile:
    """Find out what a file holds; of rows, only those of CSV and of Arrow streams are read."""
    stamp, kind = stamp_of(path), kind_of_table(path)
    with naming_file(path, kind):
        schema, n_rows = _measured(path, kind)
    schema = without_index(schema)
    repeated = sorted({name for name in schema.names if schema.names.count(name) > 1})
    if repeated:
        msg = f"{path}: column names must differ; repeated: {repeated}"
        raise BadTableError(msg)
    return TableFile(path, kind, stamp, schema, n_rows)


def footer_digest(path: str) -> str:
    """Name of the bytes at the end of a Parquet file that say where everything is, and its ranges."""
    with Path(path).open("rb") as file:
        file.seek(-FOOTER_END, SEEK_END)
        n_bytes = int.from_bytes(file.read(4), "little")
        file.seek(-FOOTER_END - n_bytes, SEEK_END)
        return blake2b(file.read(n_bytes), digest_size=16).hexdigest()


def stamp_of(path: str) -> Stamp:
    """Size of a file, and when it was changed."""
    try:
        found = Path(path).stat()
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}"
        raise BadTableError(msg) from error
    return found.st_size, found.st_mtime_ns


def is_table(path: str) -> bool:
    """Tell whether a file is a table, or is named as one."""
    return path.lower().endswith((*NAMED, *DELIMITED)) or _marked(path) is not None


def kind_of_table(path: str) -> str:
    """Say what a file is, by its first bytes or by its name."""
    kind, name = _marked(path), path.lower()
    if kind == "feather":
        msg = f"{path} is Feather of version 1, which pyarrow gives up; write it anew (version 2)"
        raise BadTableError(msg)
    if kind is not None:
        return kind
    if Path(path).stat().st_size == 0:
        msg = f"{path} is empty: 0 bytes, not even names of columns"
        raise BadTableError(msg)
    if name.endswith(DELIMITED):
        return "csv"
    if name.endswith(NAMED):
        msg = f"{path} is named as a table, but its content is none: it may be damaged"
        raise BadTableError(msg)
    msg = f"{path} is no table that rhale reads; it reads {KINDS}"
    raise BadTableError(msg)


def _marked(path: str) -> str | None:
    """What the first bytes of a file say."""
    with naming_file(path, "table"), Path(path).open("rb") as file:
        head = file.read(8)
    return next((kind for mark, kind in MARKS.items() if head.startswith(mark)), None)


@contextmanager
def naming_file(path: str, kind: str) -> Iterator[None]:
    """Say which file it was that could not be read."""
    from pyarrow import ArrowException

    try:
        yield
    except RhaleError:
        raise
    except (ArrowException, OSError, ValueError) as error:
        said = str(getattr(error, "strerror", None) or error)
        msg = f"{path} cannot be read as {kind}: {said}"
        raise BadTableError(msg) from error


def without_index(schema: Any) -> Any:
    """Columns of a file alone: neither the row names of pandas nor what it notes about types."""
    import pyarrow as pa

    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return pa.schema([field.remove_metadata() for field in schema if field.name not in index])


def dropped(batches: Iterable[Any], n_rows: int) -> Iterator[Any]:
    """Leave rows out at the start."""
    for batch in batches:
        if n_rows < batch.num_rows:
            yield batch.slice(n_rows) if n_rows else batch
        n_rows = max(n_rows - batch.num_rows, 0)


# --- kinds ---------------------------------------------------------------------------------------


def _measured(path: str, kind: str) -> tuple[Any, int]:
    """Columns and number of rows."""
    import pyarrow as pa

    if kind == "csv":
        return delimited.settled(path)
    if kind == "parquet":
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as table:
            return table.schema_arrow, table.metadata.num_rows
    if kind == "arrow":
        from pyarrow import dataset

        place = str(Path(path).resolve())  # no address, whatever its name looks like
        found = dataset.dataset(place, format="ipc")  # counts without reading
        return found.schema, found.count_rows()
    with pa.OSFile(path) as file:
        stream = pa.ipc.open_stream(file)
        return stream.schema, sum(batch.num_rows for batch in stream)


def _parquet(path: str, names: list[str], size: int, skip: int) -> Iterator[Any]:
    """Read row groups from the one where the first wanted row is; columns through small buffers."""
    import pyarrow.parquet as pq

    options = {"buffer_size": BUFFER, "pre_buffer": False, "page_checksum_verification": True}
    with pq.ParquetFile(path, **options) as table:
        known = table.metadata
        rows = (known.row_group(g).num_rows for g in range(known.num_row_groups))
        starts = list(accumulate(rows, initial=0))[:-1]
        first = max((g for g, start in enumerate(starts) if start <= skip), default=0)
        batches = table.iter_batches(
            size, row_groups=range(first, len(starts)), columns=names, use_threads=False
        )
        yield from dropped(batches, skip - starts[first] if starts else 0)


def _others(file: TableFile, schema: Any) -> Iterator[Any]:
    import pyarrow as pa

    if file.kind == "csv":
        yield from delimited.read(file.path, schema)
        return
    with pa.OSFile(file.path) as opened:
        kind = pa.ipc.open_file if file.kind == "arrow" else pa.ipc.open_stream
        everything = kind(opened).schema.names
        opened.seek(0)
        wanted = [everything.index(name) for name in schema.names]
        found = kind(opened, options=pa.ipc.IpcReadOptions(included_fields=wanted))
        if file.kind == "stream":
            yield from found
        else:
            yield from (found.get_batch(place) for place in range(found.num_record_batches))
