"""The compact protocol of Thrift, in which Parquet says what it holds: read, never trusted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

DEEPEST = 16  # structures in structures; Parquet has six
TRUE, FALSE, BYTE, SHORT, LONG, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 4, 6, 7, 8, 9, 10, 12
WHOLE = range(SHORT, LONG + 1)  # numbers of 16, 32 and 64 bits
FEW = 15  # elements of a list whose number stands in its first byte
Take = Callable[[int], Any]  # reads a value of some type
NOTHING: Mapping[int, Take] = {}


@dataclass
class Cursor:
    """A place in bytes; IndexError says that they end too early, ValueError that they are wrong."""

    content: bytes
    place: int = 0
    depth: int = 0

    def fields(self, taken: Mapping[int, Take] = NOTHING) -> dict[int, Any]:
        """Read a structure: its whole numbers, and the fields that somebody wants to take.

        Examples
        --------
        >>> Cursor(bytes([0x15, 4, 0x16, 5, 0])).fields()
        {1: 2, 2: -3}
        """
        self.depth += 1
        if self.depth > DEEPEST:
            msg = "it has structures in structures in structures"
            raise ValueError(msg)
        found, number, content = dict[int, Any](), 0, self.content
        while header := content[self.place]:
            self.place += 1
            kind = header & 15
            number = number + (header >> 4) if header >> 4 else self.whole()
            if number in taken:
                found[number] = taken[number](kind)
            elif kind in WHOLE:
                found[number] = self.whole()
            else:
                self.skip(kind)
        self.place += 1
        self.depth -= 1
        return found

    def length(self) -> int:
        """Read a number without sign, seven bits in a byte."""
        number = shift = 0
        while True:
            byte = self.content[self.place]
            self.place += 1
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7
            if shift > 63:
                msg = "it has a number of more than 64 bits"
                raise ValueError(msg)

    def whole(self) -> int:
        """Read a number whose last bit is its sign."""
        found = self.length()
        return (found >> 1) ^ -(found & 1)

    def skip(self, kind: int) -> None:
        """Go past a value."""
        if kind in WHOLE:
            self.length()
        elif kind == BINARY:
            size = self.length()
            self.place += size
        elif kind == STRUCT:
            self.fields()
        elif kind in (LIST, SET):
            self.each(kind, self.skip)
        elif kind in (BYTE, DOUBLE):
            self.place += 1 if kind == BYTE else 8
        elif kind not in (TRUE, FALSE):  # these are their own value
            msg = f"it has a value of type {kind}"
            raise ValueError(msg)

    def each(self, kind: int, take: Take) -> list[Any]:
        """Read a list."""
        if kind not in (LIST, SET):
            msg = f"it has a value of type {kind} where a list should be"
            raise ValueError(msg)
        header = self.content[self.place]
        self.place += 1
        count = header >> 4 if header >> 4 < FEW else self.length()
        if count > len(self.content) - self.place:  # each takes a byte at least
            raise IndexError(count)
        of = header & 15
        return [take(BYTE if of in (TRUE, FALSE) else of) for _ in range(count)]

    def text(self, kind: int) -> bytes:
        """Read bytes."""
        if kind != BINARY:
            msg = f"it has a value of type {kind} where text should be"
            raise ValueError(msg)
        size, start = self.length(), self.place
        self.place += size
        return self.content[start : self.place]
