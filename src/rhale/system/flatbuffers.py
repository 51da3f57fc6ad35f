"""Tables of FlatBuffers, read within their bytes whatever they say of themselves."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import Any

import numpy as np
import numpy.typing as npt

BYTE, SHORT_FORMAT, WORD, SIZE, LONG = (Struct(f"<{letter}") for letter in "BHiIq")


@dataclass(frozen=True, eq=False)
class FlatTable:
    """A table of a flatbuffer: numbered fields, each of which may be absent.

    Whatever leads beyond the bytes is a ValueError.
    """

    content: bytes  # the whole buffer
    place: int  # where the table begins

    @staticmethod
    def root(content: bytes) -> FlatTable:
        """The table that holds all others."""
        return FlatTable(content, FlatTable(content, 0).at(0, SIZE))

    def at(self, place: int, kind: Struct) -> int:
        """A number at some place."""
        if not 0 <= place <= len(self.content) - kind.size:
            msg = f"a table in it leads to byte {place} of {len(self.content)}"
            raise ValueError(msg)
        (number,) = kind.unpack_from(self.content, place)
        return int(number)

    def find(self, slot: int) -> int | None:
        """Place of a field."""
        listed = self.place - self.at(self.place, WORD)
        entry = 4 + 2 * slot
        if entry >= self.at(listed, SHORT_FORMAT):
            return None
        away = self.at(listed + entry, SHORT_FORMAT)
        return self.place + away if away else None

    def number(self, slot: int, kind: Struct, absent: int = 0) -> int:
        """A number; `absent` if the field is not there."""
        place = self.find(slot)
        return absent if place is None else self.at(place, kind)

    def table(self, slot: int) -> FlatTable | None:
        """A table inside this one."""
        place = self.find(slot)
        return None if place is None else FlatTable(self.content, place + self.at(place, SIZE))

    def tables(self, slot: int) -> list[FlatTable]:
        """A list of tables."""
        place = self.find(slot)
        if place is None:
            return []
        begin = place + self.at(place, SIZE) + SIZE.size
        offsets = self.array(slot, np.dtype("<u4")).tolist()
        places = (begin + SIZE.size * i + offset for i, offset in enumerate(offsets))
        return [FlatTable(self.content, place) for place in places]

    def array(self, slot: int, of: npt.DTypeLike) -> npt.NDArray[Any]:
        """A list of numbers, or of several numbers each; empty where it is absent."""
        place, kind = self.find(slot), np.dtype(of)
        if place is None:
            return np.empty(0, dtype=kind)
        place += self.at(place, SIZE)
        count, start = self.at(place, SIZE), place + SIZE.size
        if count * kind.itemsize > len(self.content) - start:
            msg = f"a table in it has a list of {count} entries, which is longer than its bytes"
            raise ValueError(msg)
        return np.frombuffer(self.content, kind, count, start)

    def text(self, slot: int) -> bytes:
        """A text; empty where it is absent."""
        return self.array(slot, "u1").tobytes()

    def texts(self, slot: int) -> list[bytes]:
        """A list of texts: each has its length before it."""
        found = []
        for text in self.tables(slot):
            start = text.place + SIZE.size
            found.append(self.content[start : start + self.at(text.place, SIZE)])
        return found
