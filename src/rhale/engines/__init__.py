"""Where the work runs: an engine maps a task over chunks and keeps their order."""

from rhale.engines.serial import map_chunks

__all__ = ["map_chunks"]
