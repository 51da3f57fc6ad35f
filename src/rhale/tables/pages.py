"""Pages of a Parquet file: what stands before each of them."""

from __future__ import annotations

from dataclasses import dataclass

from rhale.tables.regular import RegularFile

WINDOWS = (2**8, 2**12, 2**16, 2**24)  # bytes; Arrow reads no head that is larger
DEEPEST = 8  # a page holds statistics, and these hold numbers
KIND, EXPANDED, SIZE = 1, 2, 3  # fields of every page
DICTIONARY = 2  # a kind of page
# Types of the compact protocol of Thrift that are no whole numbers.
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 7, 8, 9, 10, 12  # no maps


@dataclass(frozen=True)
class Page:
    """A page.

    Attributes
    ----------
    is_dictionary : bool
        Whether it holds the values that other pages refer to.
    expanded, size : int
        Its bytes, unpacked and as they are stored.
    end : int
        Where the next one begins.
    """

    is_dictionary: bool
    expanded: int
    size: int
    end: int


def read_page(file: RegularFile, place: int) -> Page | None:
    """Read what stands before a page; None if it is no page."""
    for window in WINDOWS:
        file.seek(place)
        content = file.read(window)
        try:
            found, end = Cursor(content).fields()
        except IndexError:
            if place + window >= file.size:
                return None
            continue
        except ValueError:
            return None
        size = found.get(SIZE, -1)
        if size < 0:
            return None
        expanded = found.get(EXPANDED, 0)
        return Page(found.get(KIND) == DICTIONARY, expanded, size, place + end + size)
    return None


@dataclass
class Cursor:
    """A place in bytes of the compact protocol of Thrift."""

    content: bytes
    place: int = 0

    def fields(self) -> tuple[dict[int, int], int]:
        """Whole numbers among the fields of a structure, and where it ends."""
        found = dict[int, int]()
        number = 0
        while header := self._byte():
            kind = header & 15
            number = number + (header >> 4) if header >> 4 else self._number()
            value = self._skip(kind, 0)
            if value is not None:
                found[number] = value
        return found, self.place

    def _byte(self) -> int:
        self.place += 1
        return self.content[self.place - 1]

    def _length(self) -> int:
        """A whole number without sign, seven bits in a byte."""
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7
            if shift > 63:
                msg = "a number of more than 64 bits"
                raise ValueError(msg)

    def _number(self) -> int:
        """A whole number whose last bit is its sign."""
        found = self._length()
        return (found >> 1) ^ -(found & 1)

    def _skip(self, kind: int, depth: int) -> int | None:
        """Go past a value; whole numbers are given back."""
        if depth > DEEPEST:
            msg = "too deep for a page"
            raise ValueError(msg)
        if kind in (TRUE, FALSE):
            return None
        if BYTE < kind < DOUBLE:
            return self._number()
        if kind == STRUCT:
            while header := self._byte():
                if not header >> 4:
                    self._number()
                self._skip(header & 15, depth + 1)
        elif kind in (LIST, SET):
            self._skip_list(depth)
        elif kind in (BYTE, DOUBLE, BINARY):
            self.place += {BYTE: 1, DOUBLE: 8}.get(kind) or self._length()
        else:
            msg = f"no type {kind} in a page"
            raise ValueError(msg)
        return None

    def _skip_list(self, depth: int) -> None:
        header = self._byte()
        count = header >> 4 if header >> 4 < 15 else self._length()
        for _ in range(min(count, len(self.content))):  # each takes a byte
            if header & 15 in (TRUE, FALSE):
                self.place += 1
            else:
                self._skip(header & 15, depth + 1)
