"""Dask: data frames and arrays whose partitions are worked on where Dask has them."""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import islice, takewhile
from queue import Queue
from threading import Event, Thread
from typing import Any
from uuid import uuid4

import cloudpickle  # type: ignore[import-untyped]
import dask
import numpy as np
from dask.base import get_scheduler, is_dask_collection, optimize
from dask.core import flatten, get_dependencies, reverse_dict
from dask.highlevelgraph import HighLevelGraph
from dask.local import get_sync
from dask.optimization import cull
from dask.sizeof import sizeof
from dask.system import CPU_COUNT
from dask.threaded import get as get_in_threads
from dask.utils import parse_bytes

from rhale.data.open import recognise, require_two_dimensions
from rhale.data.pieces import PiecedTable
from rhale.errors import BadTableError, ModelStoppedError, RhaleError
from rhale.execution.worker import Parcel, PartTask, Summary, pack, work

Graph = dict[Any, Any]
Get = Callable[..., Any]  # one of Dask's schedulers
SUMMARIES_PER_FETCH = 16  # summaries that are fetched in one go
PARTITION_NUMBER_DIGITS = (
    9  # of a partition's number: Dask begins with the key that comes first as text
)
LARGE_GRAPH = "distributed.admin.large-graph-warning-threshold"
ADVICE = {
    "Series": "pass the data frame that it comes from, or .to_frame()",
    "Index": "pass the data frame that it comes from, or .to_frame()",
    "Bag": ".to_dataframe() makes a table of it",
    "Delayed": "make a table of such objects with dask.dataframe.from_delayed, or .compute() it",
}


# --- the table ---------------------------------------------------------------------------------


def open_dask_table(data: Any) -> PiecedTable | None:
    """Open a data frame or an array of Dask; None for what is no collection of Dask."""
    if not is_dask_collection(data):
        return None
    kinds = [kind.__name__ for kind in type(data).__mro__]
    if "Array" in kinds:
        blocks = data._meta  # noqa: SLF001 - Dask's name for it
        if type(blocks) is not np.ndarray:
            msg = (
                f"the Dask array is made of {type(blocks).__name__}; .map_blocks(np.asarray) makes "
                "plain arrays of them, where that is possible"
            )
            raise BadTableError(msg)
        require_two_dimensions("Dask array", data.shape)
        if np.isnan(data.shape[1]):
            msg = "the number of columns of the Dask array is not known; .compute_chunk_sizes() finds it"
            raise BadTableError(msg)
        head = recognise(np.empty((0, data.shape[1]), data.dtype))
        whole = data if data.numblocks[1] == 1 else data.rechunk({1: -1})
        n_rows = None if np.isnan(data.shape[0]) else int(data.shape[0])
        return PiecedTable(head, head.names, whole, Dask(), n_rows)
    if "DataFrame" not in kinds:
        kind = next((kind for kind in kinds if kind in ADVICE), kinds[0])
        msg = f"a Dask {kind} is not a table; {ADVICE.get(kind, '.compute() it')}"
        raise BadTableError(msg)
    head = recognise(data._meta.iloc[:0])  # noqa: SLF001 - Dask's name for it
    return PiecedTable(head, head.names, data, Dask())


# --- the work ----------------------------------------------------------------------------------


class Dask:
    """The engine of Dask's tables."""

    name, no_resume = "dask", ""

    def map_parts(self, part_task: PartTask, source: Any, first: int) -> Iterator[Summary]:
        """Summarise every partition from number `first` on, in order.

        All partitions are in one graph: what several of them are made of, such as a shuffle, is
        computed once a pass. The task travels as one key of that graph. Its bytes stay with the
        scheduler, so that it can be made anew wherever the workers that had it die, and a worker gets
        it once, however many partitions it works on.
        """
        get: Get = get_scheduler(collections=[source])  # type: ignore[no-untyped-call]
        is_here, client = get in (get_in_threads, get_sync), getattr(get, "__self__", None)
        sent = part_task if is_here else pack(part_task, cloudpickle.dumps)
        graph, keys = _graph(sent, _select(part_task.table, source), first)
        if not keys:
            return
        if client is not None and isinstance(sent, Parcel):
            yield from _on_cluster(client, graph, keys, len(sent.content))
        else:
            yield from _on_this_machine(get, graph, keys)


def _select(table: PiecedTable, source: Any) -> Any:
    """Only the columns that are read, so that Dask leaves the others where they are."""
    wanted = set(table.wanted)
    if hasattr(source, "rechunk") or wanted >= set(table.everything):
        return source
    return source[[name for name in source.columns if str(name) in wanted]]


def _graph(sent: PartTask | Parcel, source: Any, first: int) -> tuple[Graph, list[Any]]:
    """One graph of all partitions and what is done with them, and the keys of the summaries."""
    own = getattr(source, "optimize", None)  # data frames have their own way
    made = own() if own else optimize(source)[0]  # type: ignore[no-untyped-call]
    graph, name = dict(made.__dask_graph__()), f"rhale-{uuid4().hex}"
    graph[f"{name}-task"] = (partial(_same, sent),)
    keys = []
    for index, part in enumerate(flatten(made.__dask_keys__())):  # type: ignore[no-untyped-call]
        if index >= first:
            keys.append((name, f"{index:0{PARTITION_NUMBER_DIGITS}}"))
            graph[keys[-1]] = (_summarise, f"{name}-task", index, part)
    return dict(cull(graph, keys)[0]), keys  # type: ignore[no-untyped-call]


def _same(sent: PartTask | Parcel) -> PartTask | Parcel:
    """A task as a value: were it written into the graph, each partition would get a copy."""
    return sent


@sizeof.register(Parcel)  # type: ignore[no-untyped-call, untyped-decorator]
def _size(parcel: Parcel) -> int:
    """Bytes of a task, for those who plan its way."""
    return len(parcel.content)


def _summarise(sent: PartTask | Parcel, index: int, part: Any) -> Summary:
    """Work on one partition, in whatever process it is."""
    return work(sent, index, [part]) if isinstance(sent, Parcel) else sent(index, [part])


def _on_cluster(client: Any, graph: Graph, keys: list[Any], n_bytes: int) -> Iterator[Summary]:
    """Have the workers of a cluster do it; summaries are let go as soon as they are here."""
    layer = HighLevelGraph.from_collections(keys[0][0], graph, ())
    usual = parse_bytes(dask.config.get(LARGE_GRAPH, "10MB"))
    with dask.config.set({LARGE_GRAPH: usual + n_bytes}):  # the model is in it once, not often
        waiting = deque(client.get(layer, keys, sync=False))
    try:
        while waiting:
            with naming_partition(int(waiting[0].key[1])):
                # the next summaries that are there; the next one, or its error, if none is
                done = takewhile(lambda future: future.status == "finished", waiting)
                ready = list(islice(done, SUMMARIES_PER_FETCH))
                found = client.gather(ready) or [waiting[0].result()]
            for _ in found:
                waiting.popleft().release()
            yield from found
    finally:
        if waiting:
            client.cancel(list(waiting))


def _on_this_machine(get: Get, graph: Graph, keys: list[Any]) -> Iterator[Summary]:
    """Have a scheduler of this machine do it, in a thread; summaries come as they are done."""
    done, is_over, early = Queue[Any](), Event(), dict[Any, Summary]()
    thread = Thread(target=_run, args=(get, graph, keys, done, is_over), name="rhale dask")
    thread.start()
    try:
        for key in keys:
            while key not in early:
                found, value = done.get()
                if isinstance(value, BaseException):
                    with naming_partition(_partition_of(value, graph, keys)):
                        raise value
                early[found] = value
            yield early.pop(key)
    finally:
        is_over.set()
        thread.join()


def _run(get: Get, graph: Graph, keys: Sequence[Any], done: Queue[Any], is_over: Event) -> None:
    """Compute a graph; tell every summary at once, and let it go."""
    wanted = set(keys)

    def tell(key: Any, value: Any, _graph: Any, state: Any, _worker: Any) -> None:
        if is_over.is_set():
            raise InterruptedError
        if key in wanted:
            state["cache"][key] = None
            done.put((key, value))

    options: dict[str, Any] = {"callbacks": [(None, None, None, tell, None)]}
    try:
        with ThreadPoolExecutor(dask.config.get("num_workers", None) or CPU_COUNT) as pool:
            if get is get_in_threads and dask.config.get("pool", None) is None:
                options["pool"] = pool  # Dask would keep those of this thread after its end
            results = get(graph, keys, **options)
        for key, value in zip(keys, results, strict=True):
            if value is not None:  # a scheduler of the user's own that calls nobody back
                done.put((key, value))
    except BaseException as error:  # noqa: BLE001 - it is raised where the summaries are used
        done.put((None, error))


# --- what goes wrong ---------------------------------------------------------------------------


@contextmanager
def naming_partition(index: int | None) -> Iterator[None]:
    """Say which partition Dask could not make, or lost."""
    where = "a partition" if index is None else f"partition {index}"
    try:
        yield
    except RhaleError:
        raise
    except Exception as error:
        if type(error).__name__ == "KilledWorker":
            msg = (
                f"{where}: the workers that had it died, one after the other ({error}). Out of "
                "memory? Smaller partitions, fewer threads in a worker or a smaller batch_size= "
                "need less"
            )
            raise ModelStoppedError(msg) from error
        msg = f"{where}: Dask could not compute it: {type(error).__name__}: {error}"
        raise BadTableError(msg) from error


def _partition_of(error: BaseException, graph: Graph, keys: Sequence[Any]) -> int | None:
    """The one partition that a failed task of a local scheduler belongs to; None if unknown."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    failed = [f.f_locals.get("key") for f in frames if f.f_code.co_name == "execute_task"]
    # the failed task, and all that need it
    after = reverse_dict({key: get_dependencies(graph, key) for key in graph})
    reached, new = set(failed[:1]), failed[:1]
    while new:
        more = set(after.get(new.pop(), ())) - reached
        reached |= more
        new += more
    found = [int(key[1]) for key in keys if key in reached]
    return found[0] if len(found) == 1 else None
