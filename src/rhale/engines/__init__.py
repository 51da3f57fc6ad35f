"""Where the work runs: an engine maps a task over parts of a table and keeps their order."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from functools import partial
from importlib import import_module
from typing import Any, cast

from rhale.engines.serial import map_chunks
from rhale.engines.threads import map_in_threads
from rhale.engines.worker import PartTask, Summary, Task, count_task, summarise
from rhale.tables import Chunk, Table, TableInMemory
from rhale.tables.chunk import read_chunks
from rhale.tables.pieces.ahead import read_ahead
from rhale.tables.pieces.table import PiecedTable

ENGINES = {  # first word of the module of the user's table, and the module here that reads it
    "dask": "rhale.engines.dask",
    "pyspark": "rhale.engines.spark",
    "ray": "rhale.engines.ray",
}


def open_on_engine(data: Any) -> PiecedTable | None:
    """Open a table whose parts an engine works on; None for any other.

    One that is open already stays as it is, whoever wrote its engine.
    """
    if isinstance(data, PiecedTable):
        return data
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
    engine = table.storage.engine
    if engine is not None:
        pieced = cast(PiecedTable, table)
        part_task = PartTask(task, pieced.without_rows(), size)
        for found in engine.map_parts(part_task, pieced.source, first):
            yield found.check()
        return
    with closing(read(table, size, first)) as chunks:
        mapped = partial(summarise, task)
        if n_threads > 1:
            yield from map_in_threads(mapped, chunks, n_threads)
        else:
            yield from map_chunks(mapped, chunks)


def rows_of_parts(table: PiecedTable) -> tuple[int, ...]:
    """Rows of every part of a table that is not in memory; an engine has to count them."""
    if table.engine is None:
        return tuple(table.source.part_rows)
    found = table.engine.map_parts(count_task(table), table.source, 0)
    return tuple(summary.check().n_rows for summary in found)


def read(table: Table, size: int, first: int = 0) -> Generator[Chunk]:
    """Chunks of a table that is read in this process; those of files are read ahead."""
    if table.storage.is_memory:
        return read_chunks(cast(TableInMemory, table), size, first)
    return read_ahead(cast(PiecedTable, table).chunks(size, first))


__all__ = [
    "Summary",
    "map_chunks",
    "map_in_threads",
    "open_on_engine",
    "rows_of_parts",
    "summaries",
]
