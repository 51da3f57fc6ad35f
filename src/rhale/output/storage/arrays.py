"""Arrays in a file: each once, packed as text, the same to the bit."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from rhale.output.storage.values import Lengths, Numbers, Put, quote_file_value, refuse_file_content
from rhale.stats.arrays import FloatArray

MAX_POOLED_SIDE, MOST_SIDES = 2**31, 2  # of arrays in results
POOL_KEY = "pooled"  # marks the index of an array in the pool
Array = np.ndarray[Any, np.dtype[Any]]
POOL_STORAGE_TYPES = {  # what arrays of a type may be written as: the first that has the same bits counts
    "float64": ("<f4", "<f8"),
    "int64": ("<i1", "<i2", "<i4", "<i8"),
    "int32": ("<i1", "<i2", "<i4"),
}


class ArrayPool:
    """A pool of arrays, each written once, and the marks that replace them.

    Examples
    --------
    >>> pool = ArrayPool()
    >>> pool.put(np.array([1.0, 0.0])), pool.put(np.array([1.0, 0.0]))
    ({'pooled': 0}, {'pooled': 0})
    >>> pool.written
    [{'base64': 'AACAPwAAAAA=', 'as': '<f4', 'type': 'float64', 'shape': [2]}]
    """

    def __init__(self) -> None:
        self.written: list[dict[str, Any]] = []
        self._places: dict[tuple[Any, ...], int] = {}

    def put(self, array: Array) -> dict[str, int]:
        """Give the mark of an array, which is written if it is new."""
        content = np.ascontiguousarray(array).tobytes()
        key = (array.dtype.name, array.shape, blake2b(content, digest_size=16).digest())
        if key not in self._places:
            self._places[key] = len(self.written)
            self.written.append(write_array(array))
        return {POOL_KEY: self._places[key]}


def write_array(array: Array) -> dict[str, Any]:
    """Write an array in as few bytes as give all its bits back: the last type always does."""
    name, given = array.dtype.name, np.ascontiguousarray(array)
    for form in POOL_STORAGE_TYPES[name]:
        with np.errstate(over="ignore", invalid="ignore"):
            short: Array = given.astype(form)
            is_same = short.astype(array.dtype).tobytes() == given.tobytes()
        if is_same:
            break
    text = b64encode(short.tobytes()).decode("ascii")
    return {"base64": text, "as": form, "type": name, "shape": list(array.shape)}


def read_arrays(listed: Any) -> list[Array]:
    """Read all arrays of a file, which may be hostile; ranges are asked where they are used."""
    if type(listed) is not list:
        refuse_file_content(f"arrays is {quote_file_value(listed)}, not a list")
    return [_read_array(value, f"arrays[{i}]") for i, value in enumerate(listed)]


def _read_array(value: Any, where: str) -> Array:
    keys = {"base64", "as", "type", "shape"}
    if type(value) is not dict or value.keys() != keys or type(value["base64"]) is not str:
        refuse_file_content(f"{where} is {quote_file_value(value)}, not an array")
    name, form, shape = value["type"], value["as"], value["shape"]
    if (
        type(name) is not str
        or type(form) is not str
        or form not in POOL_STORAGE_TYPES.get(name, ())
    ):
        refuse_file_content(
            f"{where} has numbers of the type {quote_file_value(name)}, written as {quote_file_value(form)}"
        )
    numbers = unpack_numbers(value["base64"], form, where)
    is_shape = type(shape) is list and all(
        type(n) is int and 0 <= n < MAX_POOLED_SIDE for n in shape
    )
    if not is_shape or len(shape) > MOST_SIDES or prod(shape) != numbers.size:
        refuse_file_content(
            f"{where} has {numbers.size} numbers for the shape {quote_file_value(shape)}"
        )
    return numbers.astype(name).reshape(shape)


def put_back(content: Any, arrays: Sequence[npt.NDArray[Any]]) -> None:
    """Put arrays where their marks are, within lists and dictionaries; these are changed.

    A copy would take as much memory again as a hostile file makes of lists within lists.
    """
    waiting = [content]
    while waiting:
        held = waiting.pop()
        for place, value in held.items() if type(held) is dict else enumerate(held):
            if type(value) is dict and value.keys() == {POOL_KEY}:
                number = value[POOL_KEY]
                if type(number) is not int or not 0 <= number < len(arrays):
                    refuse_file_content(
                        f"an array {quote_file_value(number)} is named, and there are {len(arrays)}"
                    )
                held[place] = arrays[number]
            elif type(value) in (dict, list) and value:
                waiting.append(value)


# --- Many numbers as one text in a file: half as long as their digits, and the same to the bit


PACKED_NUMBER_TYPE = "<f8"  # little-endian, whatever the machine


def pack_numbers(array: FloatArray) -> dict[str, Any]:
    """Write floats as base64, to be read by `Packed`.

    Examples
    --------
    >>> pack_numbers(np.array([[1.0, 0.0]]))
    {'base64': 'AAAAAAAA8D8AAAAAAAAAAA==', 'shape': [1, 2]}
    """
    text = b64encode(np.ascontiguousarray(array, dtype=PACKED_NUMBER_TYPE).tobytes()).decode(
        "ascii"
    )
    return {"base64": text, "shape": list(array.shape)}


def unpack_numbers(text: str, form: str, where: str) -> Array:
    """Read numbers of a type that were written as base64."""
    try:
        content = b64decode(text, validate=True)
    except ValueError:
        refuse_file_content(f"{where} holds {quote_file_value(text)}, which is not base64")
    width = np.dtype(form).itemsize
    if len(content) % width:
        refuse_file_content(
            f"{where} has {len(content)} bytes, which are no whole numbers of {width}"
        )
    return np.frombuffer(content, form)


@dataclass(frozen=True)
class Packed:
    """An array as `pack_numbers` writes it."""

    numbers: Numbers  # its sides, and which numbers it may hold

    def read(self, value: Any, where: str, lengths: Lengths) -> FloatArray:
        """Make an array, once its lengths are known to agree."""
        keys = {"base64", "shape"}
        if type(value) is not dict or value.keys() != keys or type(value["base64"]) is not str:
            refuse_file_content(
                f"{where} is {quote_file_value(value)}, not an array of packed numbers"
            )
        found = unpack_numbers(value["base64"], PACKED_NUMBER_TYPE, where)
        self.numbers.agree(value["shape"], found.size, where, lengths)
        array = found.astype(np.float64)
        self.numbers.check(array, where)
        return array.reshape(value["shape"])

    def write(self, value: FloatArray, put: Put | None = None) -> dict[str, Any]:  # noqa: ARG002
        """Write the numbers as one text."""
        return pack_numbers(value)
