"""Processes that tests start: whether they are still there."""

import os
import time
from pathlib import Path

FOR_A_HANG = 120.0  # seconds; bounds a hang, nothing is expected to take so long


def is_running(pid):
    """Whether a process runs; one that has ended stays listed until its parent asks for it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def wait_until(happened, seconds=FOR_A_HANG):
    """Wait for what must happen; a hang is told."""
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
