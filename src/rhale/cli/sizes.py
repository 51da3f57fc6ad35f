"""Sizes of memory, as people write and read them."""

from __future__ import annotations

import re

BYTE_SIZE_PATTERN = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?", re.IGNORECASE)
BYTE_UNIT_EXPONENTS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def parse_byte_size(text: str) -> int | None:
    """Read a size in bytes; None if it is none.

    Examples
    --------
    >>> parse_byte_size("512M"), parse_byte_size("1.5 GiB") == 3 * 2**29, parse_byte_size("much")
    (536870912, True, None)
    """
    found = BYTE_SIZE_PATTERN.fullmatch(text.strip())
    if found is None:
        return None
    return int(float(found[1]) * 2 ** BYTE_UNIT_EXPONENTS[found[2].upper()])
