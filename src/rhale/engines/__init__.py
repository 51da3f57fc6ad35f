"""Where the work runs: an engine maps a task over parts of a table and keeps their order."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from functools import partial
from importlib import import_module
from typing import Any

from rhale.engines.serial import map_chunks
from rhale.engines.threads import map_in_threads
from rhale.engines.worker import PartTask, Summary, Task, count_task, summarise
from rhale.tables import Chunk, Table
from rhale.tables.chunk import read_chunks
from rhale.tables.pieces.ahead import read_ahead
from rhale.tables.pieces.table import PiecedTable

ENGINES = {  # first word of the module of the user's table, and the module here that reads it
    "dask": "rhale.engines.dask",
    "pyspark": "rhale.engines.spark",
    "ray": "rhale.engines.ray",
}


def spread_table(data: Any) -> PiecedTable | None:
    """Open a table whose rows an engine holds; None for any other."""
    for kind in type(data).__mro__:
        library = kind.__module__.split(".")[0]
        if library in ENGINES:
            found: PiecedTable | None = import_module(ENGINES[library]).open_table(data)
            return found
    return None


def summaries(
    task: Task, table: Table, size: int, *, first: int = 0, n_threads: int = 1
) -> Generator[Summary]:
    """Apply a task to all rows; one summary for each chunk, or for each part on an engine.

    Parameters
    ----------
    task : callable
        From a chunk to a piece that adds up.
    table : Table
        The rows.
    size : int
        Rows in a chunk.
    first : int
        How many summaries are known already.
    n_threads : int
        How many chunks may be worked on at a time in this process.
    """
    if isinstance(table, PiecedTable) and table.kind != "files":
        part_task = PartTask(task, table.reading, size)
        for found in _engine(table).map_parts(part_task, table.source, first):
            yield found.checked()
        return
    with closing(read(table, size, first)) as chunks:
        mapped = partial(summarise, task)
        if n_threads > 1:
            yield from map_in_threads(mapped, chunks, n_threads)
        else:
            yield from map_chunks(mapped, chunks)


def rows_of_parts(table: PiecedTable) -> tuple[int, ...]:
    """Rows of every part of a table that is not in memory; an engine has to count them."""
    if table.kind == "files":
        return tuple(table.source.part_rows)
    found = _engine(table).map_parts(count_task(table.reading), table.source, 0)
    return tuple(summary.checked().n_rows for summary in found)


def read(table: Any, size: int, first: int = 0) -> Generator[Chunk]:
    """Chunks of a table that is read in this process; those of files are read ahead."""
    if isinstance(table, PiecedTable):
        return read_ahead(table.source.chunks(table.reading, size, first))
    return read_chunks(table, size, first)


def _engine(table: PiecedTable) -> Any:
    return import_module(f"rhale.engines.{table.kind}")


__all__ = ["Summary", "map_chunks", "map_in_threads", "rows_of_parts", "spread_table", "summaries"]
