"""Parquet files: pages are looked at before they are unpacked, and read in batches of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from rhale.tables.arrow import dropped
from rhale.tables.expanding import HELD, most_from, require_likely
from rhale.tables.pages import Page, read_page
from rhale.tables.regular import RegularFile

BUFFER = 2**20  # bytes of a column that are read at a time
OPTIONS = {"buffer_size": BUFFER, "pre_buffer": False, "page_checksum_verification": True}
NUMBER = 8  # bytes


def measure(file: RegularFile) -> tuple[Any, int]:
    """Columns and number of rows, from the footer."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as table:
        said, rows = table.metadata.num_rows, _rows_of_groups(table.metadata)
        if said != sum(rows) or min(rows, default=0) < 0:
            msg = f"it says that it has {said:,} rows, and {sum(rows):,} in its row groups"
            raise ValueError(msg)
        return table.schema_arrow, said


def read(file: RegularFile, names: list[str], size: int, skip: int) -> Iterator[Any]:
    """Read row groups from the one where the first wanted row is; columns through small buffers."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(file, **OPTIONS) as table:
        rows = _rows_of_groups(table.metadata)
        starts = list(accumulate(rows, initial=0))[:-1]
        first = max((g for g, start in enumerate(starts) if start <= skip), default=0)
        groups = range(first, len(starts))
        safe = safe_rows(file, table, groups, names, size)
        batches = table.iter_batches(safe, row_groups=groups, columns=names, use_threads=False)
        if safe < size:
            batches = _narrow(batches, min(size, sum(rows)), file.size)
        yield from dropped(batches, skip - starts[first] if starts else 0)


def _narrow(batches: Iterable[Any], size: int, n_bytes: int) -> Iterator[Any]:
    """Refuse rows so large that as many as are worked on together cannot come from these bytes."""
    for batch in batches:
        plain = [column for column in batch.columns if not is_dictionary(column.type)]
        width = sum(column.nbytes for column in plain) // max(batch.num_rows, 1)
        require_likely(width * size, n_bytes, f"the file with rows of {width:,} bytes")
        yield batch


def _rows_of_groups(metadata: Any) -> list[int]:
    """Rows of every row group."""
    return [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]


# --- how large rows can become -------------------------------------------------------------------


def safe_rows(
    file: RegularFile, table: Any, groups: Sequence[int], names: Sequence[str], size: int
) -> int:
    """How many rows can be read at a time, however large their text may turn out to be."""
    leaves, rows = leaves_of(table.metadata.schema, names), size
    whole = {field.name for field in table.schema_arrow if is_dictionary(field.type)}
    for group in groups:
        known = table.metadata.row_group(group)
        for leaf, is_nested in leaves.items():
            column = known.column(leaf)
            if is_nested:
                what = f"column {column.path_in_schema!r}"
                require_likely(NUMBER * column.num_values, file.size, what)
            is_text = column.physical_type == "BYTE_ARRAY" and column.path_in_schema not in whole
            if column.compression == "UNCOMPRESSED" and not is_text:
                continue
            pages = Pages.of(file, column)
            if is_text:
                at_a_time = min(size, known.num_rows)
                rows = min(rows, _rows_of_text(file, pages, column, group, at_a_time))
    return max(rows, 1)


def leaves_of(schema: Any, names: Sequence[str]) -> dict[int, bool]:
    """Places of the stored columns that make up these columns, and whether each is one of lists."""
    wanted, found = set(names), dict[int, bool]()
    for leaf in range(len(schema)):
        column = schema.column(leaf)
        path = column.path
        ends = [place for place, sign in enumerate(path) if sign == "."]  # names may have dots, too
        if any(path[:end] in wanted for end in (*ends, len(path))):
            found[leaf] = column.max_repetition_level > 0
    return found


@dataclass(frozen=True)
class Pages:
    """What the pages of a stored column say of themselves.

    Attributes
    ----------
    dictionary : int
        Bytes of its dictionary, unpacked.
    data : int
        Bytes of all other pages, unpacked.
    largest : int
        Bytes of the largest of them.
    """

    dictionary: int
    data: int
    largest: int

    @staticmethod
    def of(file: RegularFile, column: Any) -> Pages:
        """Look at all pages; refuse one that says it becomes far larger than its bytes."""
        dictionary, data = [0], [0]
        for page in listed_pages(file, column):
            require_likely(page.expanded, page.size, f"a page of column {column.path_in_schema!r}")
            (dictionary if page.is_dictionary else data).append(page.expanded)
        return Pages(max(dictionary), sum(data), max(data))


def listed_pages(file: RegularFile, column: Any) -> Iterator[Page]:
    """Pages of a stored column; none after bytes that are no page, where Arrow stops as well."""
    first = column.dictionary_page_offset
    place = column.data_page_offset
    place = min(first, place) if first else place
    end = min(place + column.total_compressed_size, file.size)
    while 0 <= place < end:
        page = read_page(file, place)
        if page is None:
            return
        yield page
        place = page.end


def _rows_of_text(file: RegularFile, pages: Pages, column: Any, group: int, n_rows: int) -> int:
    """Rows of text that can be read at a time: each could be as long as the longest there is."""
    most, longest = most_from(file.size), pages.dictionary
    if longest * n_rows > most:
        longest = min(longest, longest_entry(file, column.path_in_schema, group))
    if longest * n_rows + pages.data <= most:
        return n_rows
    return HELD // max(longest, pages.largest)


def longest_entry(file: RegularFile, path: str, group: int) -> int:
    """Bytes of the longest text in the dictionary of a stored column; many for a column of lists."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    with pq.ParquetFile(file, read_dictionary=[path], **OPTIONS) as table:
        batches = table.iter_batches(1, row_groups=[group], columns=[path], use_threads=False)
        first = next(batches).column(0)
    if not is_dictionary(first.type):
        return HELD
    return pc.max(pc.binary_length(first.dictionary)).as_py() or 0


def is_dictionary(kind: Any) -> bool:
    """Whether values of a type refer to a dictionary, and stay so when they are read."""
    import pyarrow as pa

    return bool(pa.types.is_dictionary(kind))
