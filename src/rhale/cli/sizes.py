"""Sizes of memory, as people write and read them."""

from __future__ import annotations

import re

SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?", re.IGNORECASE)
UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def size_of(text: str) -> int | None:
    """Read a size in bytes; None if it is none.

    Examples
    --------
    >>> size_of("512M"), size_of("1.5 GiB") == 3 * 2**29, size_of("much")
    (536870912, True, None)
    """
    found = SIZE.fullmatch(text.strip())
    if found is None:
        return None
    return int(float(found[1]) * 2 ** UNITS[found[2].upper()])
