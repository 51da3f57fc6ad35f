"""Where the work runs: an engine maps a task over parts of a table and keeps their order.

| here | what it holds |
| --- | --- |
| `dask` | Dask: data frames and arrays whose partitions are worked on where Dask has them |
| `fold` | Passes over the rows of a table, as many as are needed: with progress, threads and checkpoints |
| `ray` | Ray: the blocks of a dataset are summarised by tasks, as they stream out of it |
| `spark` | Spark: the rows of a data frame are summarised where they are, partition by partition |
| `threads` | Several chunks at a time in this process, and limits on the threads of libraries |
| `worker` | Tasks in workers: packed with their model, run on a part of a table, failures reported |
| `checkpoint/` | A folder from which an interrupted run goes on: whose it is, and what it keeps |
| `gpu/` | The same work where a torch module computes: rows, slopes and moments stay on its device |
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple, cast

from rhale.data import Chunk, Table, TableInMemory
from rhale.data.pieces import PiecedTable, open_parts, read_ahead, with_numbers
from rhale.data.table import Engine, read_chunks
from rhale.execution.threads import map_in_threads
from rhale.execution.worker import AdaptiveTask, PartTask, Summary, count_task, pack, work

# First word of the module of the user's table; the module and the function here that open it.
ENGINES = {
    "dask": ("rhale.execution.dask", "open_dask_table"),
    "pyspark": ("rhale.execution.spark", "open_spark_table"),
    "ray": ("rhale.execution.ray", "open_ray_table"),
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
            module, opener = ENGINES[library]
            found: PiecedTable | None = getattr(import_module(module), opener)(data)
            return found
    return None


class Work(NamedTuple):
    """A part of the work on a table: about how many rows, where they are, and how it is done."""

    n_rows: int
    where: str
    do: Callable[[], Any]


def list_work(
    latest: AdaptiveTask, table: Table, size: int, *, first: int = 0, n_threads: int = 1
) -> Generator[Work]:
    """The work on all rows in order: chunk by chunk, or part by part where an engine has them."""
    engine = table.storage.engine
    if engine is not None:
        pieced = cast(PiecedTable, table)
        part_task = PartTask(latest.task, pieced.without_rows(), size)
        for found in engine.map_parts(part_task, pieced.source, first):
            yield Work(found.n_rows, "", found.open)
        return
    # Files are read ahead in a thread, which makes numbers of their columns, too, unless several
    # threads share that work.
    read: Generator[Chunk]
    if table.storage.is_memory:
        read = read_chunks(cast(TableInMemory, table), size, first)
    else:
        pieces = cast(PiecedTable, table).chunks(size, first)
        read = read_ahead(pieces if n_threads > 1 else with_numbers(pieces))
    with closing(read) as chunks:
        if n_threads > 1:
            for done in map_in_threads(latest.summarise, chunks, n_threads):
                yield Work(done.n_rows, "", done.open)
        else:
            for chunk in chunks:
                yield Work(chunk.n_rows, chunk.where, partial(latest.task, chunk))
                del chunk  # its memory serves the next one


def rows_of_parts(table: PiecedTable) -> tuple[int, ...]:
    """Rows of every part of a table that is not in memory; an engine has to count them."""
    if table.engine is None:
        return tuple(table.source.part_rows)
    n_rows = []
    for summary in table.engine.map_parts(count_task(table), table.source, 0):
        summary.open()  # raises what went wrong
        n_rows.append(summary.n_rows)
    return tuple(n_rows)


__all__ = [
    "Engine",
    "PartTask",
    "PiecedTable",
    "Summary",
    "Work",
    "list_work",
    "map_in_threads",
    "open_on_engine",
    "open_parts",
    "pack",
    "rows_of_parts",
    "work",
]
