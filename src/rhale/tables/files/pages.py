"""What a Parquet file says about its row groups, the columns stored in them, and their pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rhale.tables.files.regular import RegularFile
from rhale.tables.files.thrift import STRUCT, Cursor

FOOTER_END = 8  # bytes behind a footer: its length, and four letters
WINDOWS = (2**8, 2**12, 2**16, 2**24)  # bytes; Arrow reads no head of a page that is larger
DICTIONARY = 2  # a kind of page
TEXT, UNPACKED = 6, 0  # a type of values, and no compression


@dataclass(frozen=True)
class Stored:
    """A column as it is stored in a row group.

    Attributes
    ----------
    path : tuple of bytes
        Name of the column, and of what is inside it.
    kind, codec : int
        What the values are, and how they are packed.
    place, size : int
        Where its pages are, and how many bytes they have.
    """

    path: tuple[bytes, ...]
    kind: int
    codec: int
    place: int
    size: int


@dataclass(frozen=True)
class Group:
    """A row group."""

    n_rows: int
    columns: tuple[Stored, ...]


@dataclass(frozen=True)
class Page:
    """A page.

    Attributes
    ----------
    is_dictionary : bool
        Whether it holds the values that other pages refer to.
    n_values : int
        How many values it says it has.
    expanded, size : int
        Its bytes, unpacked and as they are stored.
    end : int
        Where the next one begins.
    """

    is_dictionary: bool
    n_values: int
    expanded: int
    size: int
    end: int


def footer_of(file: RegularFile) -> bytes:
    """The bytes at the end of a file that say where everything is, and its ranges."""
    place = file.size - FOOTER_END
    n_bytes = int.from_bytes(file.read_at(place, 4), "little")
    return file.read_at(place - n_bytes, n_bytes)


def read_groups(footer: bytes) -> list[Group]:
    """Row groups of a file.

    pyarrow has read the same bytes before, and knows them; but it ends the process where it is
    asked about a column that contradicts itself or is encrypted.
    """
    cursor = Cursor(footer)
    try:
        found = cursor.fields({4: lambda kind: cursor.each(kind, lambda of: _group(cursor, of))})
    except IndexError as error:
        msg = "its footer ends too early"
        raise ValueError(msg) from error
    groups: list[Group] = found.get(4, [])
    return groups


def _group(cursor: Cursor, kind: int) -> Group:
    _require_structure(kind)
    found = cursor.fields({1: lambda kind: cursor.each(kind, lambda of: _column(cursor, of))})
    return Group(found.get(3, 0), tuple(column for column in found.get(1, []) if column))


def _column(cursor: Cursor, kind: int) -> Stored | None:
    """A stored column; None where it is encrypted."""
    _require_structure(kind)
    return cursor.fields({3: lambda kind: _read_stored(cursor, kind)}).get(3)


def _read_stored(cursor: Cursor, kind: int) -> Stored:
    _require_structure(kind)
    found = cursor.fields({3: lambda kind: cursor.each(kind, cursor.text)})
    first, dictionary = found.get(9, 0), found.get(11, 0)
    place = dictionary if 0 < dictionary < first else first
    path = tuple(found.get(3, ()))
    return Stored(path, found.get(1, 0), found.get(4, 0), place, found.get(7, 0))


def _require_structure(kind: int) -> None:
    if kind != STRUCT:
        msg = f"it has a value of type {kind} where a structure should be"
        raise ValueError(msg)


def read_pages(file: RegularFile, column: Stored) -> Iterator[Page]:
    """Pages of a stored column; none after bytes that are no page, where Arrow stops as well."""
    place, end = column.place, min(column.place + column.size, file.size)
    while 0 <= place < end:
        page = read_page(file, place)
        if page is None:
            return
        yield page
        place = page.end


def read_page(file: RegularFile, place: int) -> Page | None:
    """Read what stands before a page; None if it is no page."""
    for window in WINDOWS:
        try:
            return _page(Cursor(file.peek(place, window)), place)
        except IndexError:
            if place + window >= file.size:
                return None
        except ValueError:
            return None
    return None


def _page(cursor: Cursor, place: int) -> Page | None:
    def inside(kind: int) -> dict[int, Any]:
        _require_structure(kind)
        return cursor.fields()

    found = cursor.fields({5: inside, 7: inside, 8: inside})
    if min(found.get(2, 0), found.get(3, -1)) < 0:
        return None
    n_values = max(found.get(kind, {}).get(1, 0) for kind in (5, 7, 8))
    is_dictionary = found.get(1) == DICTIONARY
    return Page(is_dictionary, n_values, found[2], found[3], place + cursor.place + found[3])
