"""Tasks in workers: packed with their model, run on a part of a table, failures reported."""

from __future__ import annotations

import hashlib
import pickle
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from operator import add
from threading import Lock
from typing import Any, Protocol, runtime_checkable

import numpy as np

from rhale.data import Chunk
from rhale.data.pieces import PiecedTable, naming_source
from rhale.errors import (
    BadSettingError,
    BadTableError,
    ModelFailedError,
    ModelStoppedError,
    RhaleError,
)
from rhale.models import Predictor
from rhale.system.processes import ErrorRecord

# --- A task with its model on its way to other processes: packed once, opened once in each of them


MAX_OPEN_TASKS = 2  # tasks that a process keeps open: two passes take turns, and old models must go
_open_tasks: OrderedDict[str, Any] = OrderedDict()  # by digest; the one used last is last
_opening = Lock()


@runtime_checkable
class AsksModel(Protocol):
    """A task that asks a model."""

    @property
    def predictor(self) -> Predictor | None:
        """The model, if there is one."""


@dataclass(frozen=True)
class Parcel:
    """A task as bytes, opened once in every process that gets it."""

    content: bytes = field(repr=False)  # the pickled task
    digest: str  # name of exactly these bytes
    what: str = "task"  # what is inside, for messages

    def open(self) -> Any:
        """Give the task; a process unpickles it at the first call and keeps the last two."""
        with _opening:  # others wait: they need the same model, and it must not be made twice
            if self.digest not in _open_tasks:
                while len(_open_tasks) >= MAX_OPEN_TASKS:  # before the next one takes memory
                    _open_tasks.popitem(last=False)
                try:
                    _open_tasks[self.digest] = pickle.loads(self.content)  # noqa: S301 - our own bytes
                except RhaleError:
                    raise
                except Exception as error:
                    msg = (
                        f"a worker cannot open the {self.what}: {type(error).__name__}: {error}. Workers "
                        "need the libraries and modules behind the model, in the same versions; install "
                        "them there"
                    )
                    raise ModelFailedError(msg) from error
            _open_tasks.move_to_end(self.digest)
            return _open_tasks[self.digest]


def pack(task: Any, dumps: Callable[[Any], bytes]) -> Parcel:
    """Pickle a task for other processes, inside the session of its model."""
    predictor = task.predictor if isinstance(task, AsksModel) else None
    what = "task" if predictor is None else f"model ({predictor.adapter.kind})"
    try:
        content = dumps(task)
    except RhaleError:
        raise
    except Exception as error:
        msg = (
            f"the {what} cannot be sent to workers: pickling it gives {type(error).__name__}: "
            f"{error}. Leave out what belongs to this process (open files, locks, connections, "
            "sessions), or pass a function that loads the model from a file when it is first called"
        )
        raise ModelFailedError(msg) from error
    return Parcel(content, hashlib.sha256(content).hexdigest(), what)


Task = Callable[[Chunk], Any]
KEPT_FREE = 2**25 - 2**16  # bytes: glibc learns nothing from a block of more than 32 MiB


@dataclass(frozen=True, eq=False)
class Summary:
    """What some rows of a table have to say."""

    n_rows: int  # how many rows
    term: Any = None  # adds up with the terms of other rows; None where there were none
    failure: ErrorRecord | None = None  # what went wrong

    def open(self) -> Any:
        """The term, or the error in it."""
        if self.failure is not None:
            error = self.failure.error()
            error.add_note(f"On the worker:\n{self.failure.trace}")
            raise error
        return self.term


@dataclass(eq=False)
class AdaptiveTask:
    """A task that gets easier with what is known; on workers it is what it was when it left."""

    task: Task

    def summarise(self, chunk: Chunk) -> Summary:
        """Apply the task as it is now."""
        return summarise(self.task, chunk)

    def learn(self, total: Any) -> None:
        """Let the task know what was found so far, if anything was."""
        after = getattr(self.task, "after", None)  # a task that asks less of further chunks
        if total is not None and after is not None:
            self.task = after(total)


@cache
def keep_freed_memory() -> None:
    """Let this process keep, from now on, up to 64 MiB that a pass frees, which its next chunk takes again.

    glibc gives larger blocks back to the system as soon as they are freed, and their pages come back
    one fault at a time, until a block of such a size was freed once (mallopt(3)). Nobody writes to
    this one, so that it has no pages. Limits that a user set stay, and elsewhere nothing happens.
    """
    with suppress(MemoryError):
        np.empty(KEPT_FREE, dtype=np.uint8)


def summarise(task: Task, chunk: Chunk) -> Summary:
    """Apply a task to a chunk; what goes wrong names the file or the partition."""
    with naming_source(chunk.where):
        return Summary(chunk.n_rows, task(chunk))


@dataclass(frozen=True, eq=False)
class PartTask:
    """Summarise one part of a table, chunk by chunk; travels to workers."""

    task: Task  # from a chunk to a term that adds up
    table: PiecedTable  # how pieces become chunks; it has no rows
    size: int  # rows in a chunk

    @property
    def predictor(self) -> Predictor | None:
        """The model in it, if there is one."""
        task: Any = self.task
        return task.predictor if isinstance(task, AsksModel) else None

    def __call__(self, index: int, pieces: Iterable[Any]) -> Summary:
        """Work through the pieces of a part; errors of ours come back as a summary."""
        try:
            predictor = self.predictor  # a model may need something around its predictions
            with nullcontext() if predictor is None else predictor.adapter.session():
                starts, found, where = self.table.starts, Summary(0), f"partition {index}"
                start = starts[min(index, len(starts) - 1)] if starts else 0
                pieces = self._count(index, pieces) if starts else pieces
                now = AdaptiveTask(self.task)
                keep_freed_memory()
                for chunk in self.table.cut(pieces, self.size, where=where, start=start):
                    found = unite(found, now.summarise(chunk))
                    now.learn(found.term)
                # a task that need not send back all it knows
                trim = getattr(self.task, "trim", None)
                if found.term is None or trim is None:
                    return found
                return replace(found, term=trim(found.term, index))
        except RhaleError as error:
            return Summary(0, failure=ErrorRecord.of(error))

    def _count(self, index: int, pieces: Iterable[Any]) -> Iterator[Any]:
        """Pass pieces on; rows are drawn by their places, so parts must have as many as before."""
        starts, n_rows = self.table.starts, 0
        for piece in pieces:
            n_rows += len(piece)
            yield piece
        before = starts[index + 1] - starts[index] if index + 1 < len(starts) else 0
        if n_rows != before:
            msg = (
                f"{n_rows} rows here, and {before} when they were counted: the engine cut the "
                "table anew, so no rows can be drawn from it; write it to Parquet files and pass "
                "their path, or leave n_rows= out"
            )
            raise BadTableError(msg)


def unite(found: Summary, more: Summary) -> Summary:
    """Both summaries as one, the rows of the first before those of the second."""
    terms = [term for term in (found.term, more.term) if term is not None]
    return Summary(found.n_rows + more.n_rows, reduce(add, terms) if terms else None)


def work(parcel: Parcel, index: int, pieces: Iterable[Any]) -> Summary:
    """Open the task that was sent to this process, and apply it to a part."""
    try:
        task: PartTask = parcel.open()
    except RhaleError as error:
        return Summary(0, failure=ErrorRecord.of(error))
    return task(index, pieces)


def count_task(table: PiecedTable) -> PartTask:
    """A task that counts the rows of every part, whatever their weight."""
    plain = replace(table.without_rows(), weights=None, drawn=None, starts=())
    return PartTask(_skip_chunk, plain, 2**16)


def _skip_chunk(_: Chunk) -> None:
    """Tell nothing about a chunk."""


# --- What it means that an engine gave up on a part of a table


ERROR_LINE_PATTERN = re.compile(r"^(?:[\w.]+\.)?(\w*(?:Error|Exception): .+)$", re.MULTILINE)


def describe_loss(engine: str, trace: str, *, is_dead: bool) -> RhaleError:
    """The error to raise for one of an engine, which has done what it could by then."""
    if "No module named 'rhale" in trace:
        msg = f"the workers of {engine} do not have rhale; install the version that is used here"
        return BadSettingError(msg)
    if is_dead:
        msg = (
            f"the workers of {engine} died, one after the other. Out of memory? Smaller "
            "partitions, fewer tasks at a time or a smaller batch_size= need less"
        )
        return ModelStoppedError(msg)
    msg = f"{engine} could not compute it: {find_error_line(trace)}"
    return BadTableError(msg)


def find_error_line(trace: str) -> str:
    r"""The line of a trace that says what went wrong first."""
    said = ERROR_LINE_PATTERN.search(trace)
    lines = [line.strip() for line in trace.splitlines() if line.strip()]
    return said.group(1).strip() if said else (lines or ["no reason was given"])[-1]
