"""Parquet files: pages are looked at before they are unpacked, and read in batches of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any

from rhale.tables.files.arrow import skip_rows, validate
from rhale.tables.files.expanding import HELD, most_from, require_likely
from rhale.tables.files.pages import (
    BYTE_ARRAY_TYPE,
    UNPACKED,
    RowGroup,
    Stored,
    footer_of,
    read_pages,
    read_row_groups,
)
from rhale.tables.files.regular import RegularFile

PARQUET_BUFFER_BYTES = 2**20  # bytes of a column that are read at a time
PARQUET_OPTIONS = {
    "buffer_size": PARQUET_BUFFER_BYTES,
    "pre_buffer": False,
    "page_checksum_verification": True,
}
NUMBER_BYTES = 8  # bytes


def measure_parquet(file: RegularFile) -> tuple[Any, int]:
    """Columns and number of rows, from the footer."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(file.native()) as table:
        schema, said = table.schema_arrow, table.metadata.num_rows
    rows = [group.n_rows for group in read_row_groups(footer_of(file))]
    if said != sum(rows) or min(rows, default=0) < 0:
        msg = f"it says that it has {said:,} rows, and {sum(rows):,} in its row groups"
        raise ValueError(msg)
    return schema, said


def read_parquet_batches(
    file: RegularFile, names: list[str], size: int, skip: int
) -> Iterator[Any]:
    """Read row groups from the one where the first wanted row is; columns through small buffers."""
    import pyarrow.parquet as pq

    groups = read_row_groups(footer_of(file))
    starts = list(accumulate((group.n_rows for group in groups), initial=0))
    first = max((g for g, start in enumerate(starts[:-1]) if start <= skip), default=0)
    with pq.ParquetFile(file.native(), **PARQUET_OPTIONS) as table:
        whole = {field.name for field in table.schema_arrow if is_dictionary(field.type)}
        safe = size
        wanted = range(first, len(groups))
        for place in wanted:
            safe = min(safe, safe_rows(file, groups[place], place, set(names), whole, size))
        batches = table.iter_batches(safe, row_groups=wanted, columns=names, use_threads=False)
        if safe < size:
            batches = _require_narrow_rows(batches, min(size, starts[-1]), file.size)
        yield from skip_rows(map(validate, batches), skip - starts[first])


def _require_narrow_rows(batches: Iterable[Any], size: int, n_bytes: int) -> Iterator[Any]:
    """Refuse rows so large that as many as are worked on together cannot come from these bytes."""
    for batch in batches:
        plain = [column for column in batch.columns if not is_dictionary(column.type)]
        width = sum(column.nbytes for column in plain) // max(batch.num_rows, 1)
        require_likely(width * size, n_bytes, f"the file with rows of {width:,} bytes")
        yield batch


# --- how large rows can become -------------------------------------------------------------------


def safe_rows(
    file: RegularFile, group: RowGroup, place: int, names: set[str], whole: set[str], size: int
) -> int:
    """How many rows of a group can be read at a time, however long their text may turn out to be.

    Parameters
    ----------
    file : RegularFile
        The file.
    group : RowGroup
        One of its row groups.
    place : int
        Which one.
    names : set of str
        The columns that are read.
    whole : set of str
        Those that stay dictionaries: their text is not repeated for every row.
    size : int
        Rows that are wanted at a time.
    """
    rows = size
    for column in group.columns:
        name = column.path[0].decode(errors="replace") if column.path else ""
        is_text = column.kind == BYTE_ARRAY_TYPE and name not in whole
        is_plain = column.codec == UNPACKED and len(column.path) == 1
        if name in names and (is_text or not is_plain):
            longest, total = look_at_pages(file, column, group.n_rows)
            if is_text:
                n_rows = min(size, group.n_rows)
                rows = min(rows, _rows_of_text(file, column, place, n_rows, longest, total))
    return max(rows, 1)


def look_at_pages(file: RegularFile, column: Stored, n_rows: int) -> tuple[tuple[int, int], int]:
    """Bytes of the dictionary and of the largest other page of a column, and of all of these.

    A page is refused that says it becomes far larger than its bytes; and so are lists that have
    far more elements than that.
    """
    dictionary = largest = total = n_values = 0
    what = f"column {b'.'.join(column.path).decode(errors='replace')!r}"
    for page in read_pages(file, column):
        require_likely(page.expanded, page.size, f"a page of {what}")
        if page.is_dictionary:
            dictionary = max(dictionary, page.expanded)
            continue
        n_values += page.n_values
        total, largest = total + page.expanded, max(largest, page.expanded)
    if n_values > n_rows:
        require_likely(NUMBER_BYTES * n_values, file.size, what)
    return (dictionary, largest), total


def _rows_of_text(
    file: RegularFile, column: Stored, place: int, n_rows: int, longest: tuple[int, int], total: int
) -> int:
    """Rows of text that can be read at a time: each could be as long as the longest there is."""
    most, (entry, page) = most_from(file.size), longest
    if entry * n_rows > most:
        entry = min(entry, longest_entry(file, column, place))
    return n_rows if entry * n_rows + total <= most else HELD // max(entry, page)


def longest_entry(file: RegularFile, column: Stored, place: int) -> int:
    """Bytes of the longest text in the dictionary of a stored column; many where it is nested."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    if len(column.path) > 1:
        return HELD
    name = column.path[0].decode()
    with pq.ParquetFile(file.native(), read_dictionary=[name], **PARQUET_OPTIONS) as table:
        batches = table.iter_batches(1, row_groups=[place], columns=[name], use_threads=False)
        first = next(batches).column(0)
    if not is_dictionary(first.type):
        return HELD
    return pc.max(pc.binary_length(first.dictionary)).as_py() or 0


def is_dictionary(kind: Any) -> bool:
    """Whether values of a type refer to a dictionary, and stay so when they are read."""
    import pyarrow as pa

    return bool(pa.types.is_dictionary(kind))
