"""Parquet files: row groups and pages are checked, then read in batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from rhale.data.files.arrow import skip_rows, validate
from rhale.data.files.regular import HELD, NUMBER_BYTES, RegularFile, most_from, require_likely

# --- What a Parquet file says about its row groups, the columns stored in them, and their pages

# pyarrow sets memory aside for a page as that page says, whatever the footer says, and it ends the
# process where it is asked about a column of the footer that contradicts itself. So both are read
# here, from the compact protocol of Thrift.


PARQUET_TRAILER_BYTES = 8  # bytes behind a footer: its length, and four letters
WINDOWS = (2**8, 2**12, 2**16, 2**24)  # bytes; Arrow reads no head of a page that is larger
DICTIONARY_PAGE = 2  # a kind of page
HEADS = (5, 7, 8)  # fields of a page that hold what is said of its kind
BYTE_ARRAY_TYPE, UNPACKED = 6, 0  # a type of values, and no compression
MAX_THRIFT_NESTING = 16  # structures in structures; Parquet has six
LONG_LIST_MARK = 15  # shorter lists have their length in the first byte


@dataclass(frozen=True)
class Stored:
    """A column as it is stored in a row group."""

    path: tuple[bytes, ...]  # name of the column, and of what is inside it
    # kind, codec: what the values are, and how they are packed
    kind: int
    codec: int
    # place, size: where its pages are, and how many bytes they have
    place: int
    size: int


@dataclass(frozen=True)
class RowGroup:
    """A row group."""

    n_rows: int
    columns: tuple[Stored, ...]


@dataclass(frozen=True)
class ParquetPage:
    """A page: how many values it says it has, its bytes unpacked and as stored, where it ends."""

    is_dictionary: bool
    n_values: int
    expanded: int
    size: int
    end: int


def footer_of(file: RegularFile) -> bytes:
    """The bytes at the end of a file that say where everything is, and its ranges."""
    place = file.size - PARQUET_TRAILER_BYTES
    n_bytes = int.from_bytes(file.read_at(place, 4), "little")
    return file.read_at(place - n_bytes, n_bytes)


def read_row_groups(footer: bytes) -> list[RowGroup]:
    """Row groups of a file; columns that are encrypted are left out."""
    try:
        said, _ = read_structure(footer)
        return [
            RowGroup(group.get(3, 0), tuple(_stored(c[3]) for c in group.get(1, []) if 3 in c))
            for group in said.get(4, [])
        ]
    except (IndexError, KeyError, TypeError, AttributeError) as error:
        msg = "its footer ends too early, or contradicts itself"
        raise ValueError(msg) from error


def _stored(said: dict[int, Any]) -> Stored:
    first, dictionary = said.get(9, 0), said.get(11, 0)
    place = dictionary if 0 < dictionary < first else first
    return Stored(tuple(said.get(3, ())), said.get(1, 0), said.get(4, 0), place, said.get(7, 0))


def read_pages(file: RegularFile, column: Stored) -> Iterator[ParquetPage]:
    """Pages of a stored column; none after bytes that are no page, where Arrow stops as well."""
    place, end = column.place, min(column.place + column.size, file.size)
    while 0 <= place < end:
        page = read_page(file, place)
        if page is None:
            return
        yield page
        place = page.end


def read_page(file: RegularFile, place: int) -> ParquetPage | None:
    """Read what stands before a page; None if it is no page."""
    for window in WINDOWS:
        try:
            said, length = read_structure(file.peek(place, window))
            expanded, size = said[2], said[3]
            n_values = max(said.get(head, {}).get(1, 0) for head in HEADS)
            if min(expanded, size) < 0:
                return None
        except IndexError:  # it goes on behind the window
            if place + window >= file.size:
                return None
        except (ValueError, KeyError, TypeError, AttributeError):
            return None
        else:
            return ParquetPage(
                said.get(1) == DICTIONARY_PAGE, n_values, expanded, size, place + length + size
            )
    return None


# --- the compact protocol of Thrift ----------------------------------------------------------------


def read_structure(content: bytes, place: int = 0, depth: int = 0) -> tuple[dict[int, Any], int]:
    """Numbered values of a structure, and where it ends; IndexError where its bytes end before.

    Examples
    --------
    >>> read_structure(bytes([0x15, 4, 0x16, 5, 0]))
    ({1: 2, 2: -3}, 5)
    """
    found, number = dict[int, Any](), 0
    while header := content[place]:
        place += 1
        if header >> 4:
            number += header >> 4
        else:
            number, place = _read_zigzag_integer(content, place)
        found[number], place = _value(content, place, header & 15, depth)
    return found, place + 1


def _value(content: bytes, place: int, kind: int, depth: int) -> tuple[Any, int]:
    """A value of some type, and where it ends."""
    if depth > MAX_THRIFT_NESTING:
        msg = "it has structures in structures in structures"
        raise ValueError(msg)
    if kind in (4, 5, 6):  # numbers of 16, 32 and 64 bits
        return _read_zigzag_integer(content, place)
    if kind == 8:  # text
        size, place = _length(content, place)
        return content[place : place + size], place + size
    if kind in (9, 10):  # lists and sets
        count, of = content[place] >> 4, content[place] & 15
        count, place = (
            _length(content, place + 1) if count == LONG_LIST_MARK else (count, place + 1)
        )
        if count > len(content) - place:  # each takes a byte at least
            raise IndexError(count)
        values = []
        for _ in range(count):
            value, place = _value(content, place, 3 if of <= 2 else of, depth + 1)
            values.append(value)
        return values, place
    if kind == 12:
        return read_structure(content, place, depth + 1)
    sizes = {1: 0, 2: 0, 3: 1, 7: 8}  # True, False, a byte, a real number: no caller reads these
    if kind not in sizes:
        msg = f"it has a value of type {kind}"
        raise ValueError(msg)
    return None, place + sizes[kind]


def _read_zigzag_integer(content: bytes, place: int) -> tuple[int, int]:
    """A number whose last bit is its sign."""
    found, place = _length(content, place)
    return (found >> 1) ^ -(found & 1), place


def _length(content: bytes, place: int) -> tuple[int, int]:
    """A number without sign, seven bits in a byte."""
    number = 0
    for shift in range(0, 70, 7):
        byte = content[place]
        place += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, place
    msg = "it has a number of more than 64 bits"
    raise ValueError(msg)


PARQUET_BUFFER_BYTES = 2**20  # bytes of a column that are read at a time
PARQUET_OPTIONS = {
    "buffer_size": PARQUET_BUFFER_BYTES,
    "pre_buffer": False,
    "page_checksum_verification": True,
}


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
    """How many rows of a group can be read at a time, however long their text may turn out to be."""
    rows = size
    for column in group.columns:
        name = column.path[0].decode(errors="replace") if column.path else ""
        is_text = column.kind == BYTE_ARRAY_TYPE and name not in whole
        is_plain = column.codec == UNPACKED and len(column.path) == 1
        if name in names and (is_text or not is_plain):
            longest, total = look_at_pages(file, column, group.n_rows)
            if is_text:
                n_rows = min(size, group.n_rows)
                # Each text could be as long as the longest one of the column
                most, (entry, page) = most_from(file.size), longest
                if entry * n_rows > most:
                    entry = min(entry, longest_entry(file, column, place))
                fits = entry * n_rows + total <= most
                rows = min(rows, n_rows if fits else HELD // max(entry, page))
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
