"""Many numbers as one text in a file: half as long as their digits, and the same to the bit."""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Any

import numpy as np

from rhale.kernels import FloatArray
from rhale.results.plain_values import Lengths, Numbers, quote_file_value, refuse_file_content

PACKED_NUMBER_TYPE, PACKED_NUMBER_BYTES = (
    "<f8",
    8,
)  # of what is packed, whatever the machine: the lowest byte first


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


@dataclass(frozen=True)
class Packed:
    """An array as `pack_numbers` writes it.

    Attributes
    ----------
    numbers : Numbers
        Its sides, and which numbers it may hold.
    """

    numbers: Numbers

    def read(self, value: Any, where: str, lengths: Lengths) -> FloatArray:
        """Make an array, once its lengths are known to agree."""
        keys = {"base64", "shape"}
        if type(value) is not dict or value.keys() != keys or type(value["base64"]) is not str:
            refuse_file_content(
                f"{where} is {quote_file_value(value)}, not an array of packed numbers"
            )
        try:
            content = b64decode(value["base64"], validate=True)
        except ValueError:
            refuse_file_content(
                f"{where} holds {quote_file_value(value['base64'])}, which is not base64"
            )
        if len(content) % PACKED_NUMBER_BYTES:
            refuse_file_content(
                f"{where} has {len(content)} bytes, which are no whole numbers of {PACKED_NUMBER_BYTES}"
            )
        self.numbers.agree(value["shape"], len(content) // PACKED_NUMBER_BYTES, where, lengths)
        array = np.frombuffer(content, dtype=PACKED_NUMBER_TYPE).astype(np.float64)
        self.numbers.check(array, where)
        return array.reshape(value["shape"])
