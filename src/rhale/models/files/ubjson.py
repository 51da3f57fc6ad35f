"""Binary JSON (UBJSON, as XGBoost writes it), read within the bytes that are there."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

from rhale.models.files.nesting import DEEPEST, check_depth
from rhale.system.strict_json import once_each

SIZE = struct.Struct(">q")
NUMBERS = {
    b"i": ">i1",
    b"U": ">u1",
    b"I": ">i2",
    b"l": ">i4",
    b"L": ">i8",
    b"d": ">f4",
    b"D": ">f8",
}
CONSTANTS = {b"Z": None, b"T": True, b"F": False}


def read_ubj(content: bytes) -> Any:
    r"""Read values, lists of numbers as arrays; ValueError for what XGBoost does not write.

    Parameters
    ----------
    content : bytes
        The whole file.

    Notes
    -----
    Every length is compared with the bytes that are left before anything of that length is made,
    and values in values are counted. O(bytes).

    Examples
    --------
    >>> read_ubj(b"{L" + SIZE.pack(1) + b"aU\x07}")
    {'a': 7}
    """
    reader = _Reader(content)
    found = reader.value(0)
    if reader.place != len(content):
        msg = "it goes on behind its end"
        raise ValueError(msg)
    return found


class _Reader:
    """Bytes and a place in them."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def check(self, size: int) -> None:
        """Refuse a size that is not left."""
        if not 0 <= size <= len(self.content) - self.place:
            msg = f"it is cut off or damaged at byte {self.place}"
            raise ValueError(msg)

    def take(self, size: int) -> bytes:
        """The next bytes."""
        self.check(size)
        self.place += size
        return self.content[self.place - size : self.place]

    def skip(self, expected: bytes) -> None:
        """Go behind a letter that must be there."""
        if self.take(1) != expected:
            msg = f"it is damaged at byte {self.place - 1}"
            raise ValueError(msg)

    def next_is(self, letter: bytes) -> bool:
        """Whether a letter follows."""
        return self.content[self.place : self.place + 1] == letter

    def length(self) -> int:
        """A length, which XGBoost writes in eight bytes."""
        self.skip(b"L")
        return int(SIZE.unpack(self.take(8))[0])

    def text(self) -> str:
        """Letters behind their number."""
        return self.take(self.length()).decode()

    def value(self, depth: int) -> Any:
        """Whatever comes next."""
        if depth > DEEPEST:
            msg = f"its values are nested more than {DEEPEST} deep"
            raise ValueError(msg)
        kind = self.take(1)
        if kind == b"{":
            return self.mapping(depth)
        if kind == b"[":
            return self.numbers() if self.next_is(b"$") else self.list(depth)
        if kind == b"S":
            return self.text()
        if kind in CONSTANTS:
            return CONSTANTS[kind]
        return self.array(kind, 1)[0].item()

    def mapping(self, depth: int) -> dict[str, Any]:
        """Names and values, each name once."""
        found: dict[str, Any] = {}
        while not self.next_is(b"}"):
            name = self.text()
            if name in found:
                msg = f"it has {name!r:.80} twice"
                raise ValueError(msg)
            found[name] = self.value(depth + 1)
        self.skip(b"}")
        return found

    def list(self, depth: int) -> list[Any]:
        """Values of any kind, with or without their number."""
        if self.next_is(b"#"):
            self.skip(b"#")
            length = self.length()
            self.check(length)
            return [self.value(depth + 1) for _ in range(length)]
        found = []
        while not self.next_is(b"]"):
            found.append(self.value(depth + 1))
        self.skip(b"]")
        return found

    def numbers(self) -> Any:
        """An array of numbers of one type."""
        self.skip(b"$")
        kind = self.take(1)
        self.skip(b"#")
        return self.array(kind, self.length())

    def array(self, kind: bytes, length: int) -> Any:
        """Numbers as they lie in the file."""
        if kind not in NUMBERS:
            msg = f"it has a value of an unknown kind at byte {self.place - 1}"
            raise ValueError(msg)
        dtype = np.dtype(NUMBERS[kind])
        begin = self.place
        self.check(length * dtype.itemsize)
        self.place += length * dtype.itemsize
        return np.frombuffer(self.content, dtype, length, begin) if length else np.empty(0, dtype)


def read_json(content: bytes) -> Any:
    """Read the same values from text; ValueError for what is no JSON, or has a name twice.

    Examples
    --------
    >>> read_json(b'{"a": [1, 2]}')
    {'a': [1, 2]}
    """
    check_depth(content)
    if not content.startswith(b"{"):
        msg = "it does not begin as JSON of XGBoost does"
        raise ValueError(msg)
    return json.loads(content.decode(), object_pairs_hook=once_each)
