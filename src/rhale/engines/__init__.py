"""Where the work runs: an engine maps a task over chunks and keeps their order."""

from rhale.engines.serial import map_chunks
from rhale.engines.threads import map_in_threads

__all__ = ["map_chunks", "map_in_threads"]
