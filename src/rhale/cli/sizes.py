"""How much memory and time the process of a model may take."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec

RESERVED = 2**34  # addresses beyond the memory itself: code, files and stacks that are only mapped
LEAST, SHARE = 2**31, 0.75
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


def written_size(size: int) -> str:
    """Write a size for people.

    Examples
    --------
    >>> written_size(2**29), written_size(3 * 2**29)
    ('512 MiB', '1.5 GiB')
    """
    return f"{size / 2**20:.3g} MiB" if size < 2**30 else f"{size / 2**30:.3g} GiB"


def usual_memory() -> int:
    """Three quarters of the machine's memory, at least 2 GiB."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 2**33
    return max(int(SHARE * memory), LEAST)


def can_limit() -> bool:
    """Whether this system lets a process limit its memory."""
    return find_spec("resource") is not None


def limit_this_process(max_memory: int, max_seconds: float) -> None:
    """Limit memory and processor time of this process, where the system can.

    Parameters
    ----------
    max_memory : int
        Bytes.
    max_seconds : float
        The parent ends the process after so many seconds; should the parent be gone by then,
        processor time does.

    Notes
    -----
    Data is what a process really writes to. Addresses also count what it only maps, of which
    large libraries have gigabytes, so their limit is wider; it holds where data has none.
    """
    if not can_limit():
        return
    import resource

    cores = os.cpu_count() or 1
    _lower(resource.RLIMIT_CPU, int(max_seconds * cores) + 60)
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_DATA, max_memory)
    _lower(resource.RLIMIT_AS, max_memory + RESERVED)


def _lower(which: int, limit: int) -> None:
    """Set a limit, unless a stricter one holds already."""
    import resource

    _, hard = resource.getrlimit(which)
    if hard == resource.RLIM_INFINITY or limit < hard:
        try:
            resource.setrlimit(which, (limit, limit))
        except (ValueError, OSError):  # macOS knows the name of some limits only
            return
