"""Memory that was freed, and is soon needed again."""

from __future__ import annotations

import numpy as np

MOST = 2**25 - 2**16  # bytes: glibc learns nothing from a block of more than 32 MiB


def keep_freed_memory() -> None:
    """Let the process keep memory that it frees, up to 64 MiB, instead of asking for it anew.

    Notes
    -----
    glibc gives freed memory back as soon as it is more than twice the largest block that was mapped
    by itself and freed, 128 kB at first (mallopt(3)). Its pages then come back one fault at a time:
    a quarter of the time that secants of a cheap function take. So a large block is freed here.
    Nobody writes to it, so that it never has a page. Limits that a user set stay, and elsewhere
    nothing happens.
    """
    np.empty(MOST, dtype=np.uint8)
