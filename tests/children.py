"""Processes that tests start: whether they are still there."""

import os
import time
from pathlib import Path

PATIENCE = 600.0  # seconds: they bound a hang, and nothing else


def is_running(pid):
    """Whether a process is there and has not ended; some systems let none collect orphans."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # it has ended meanwhile, or there is no /proc
        return not Path("/proc/self/stat").exists()


def wait_until(happened):
    """Wait for what must happen; a hang is told."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
