"""Several chunks at a time in this process, for work that leaves the interpreter alone."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import Context, copy_context
from functools import partial
from threading import Event, Lock
from typing import Any, TypeVar

import numpy as np

from rhale.engines.thread_limits import find_pools, limit_this_thread
from rhale.errors import BadSettingError
from rhale.models.predictor import STOP

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_threads(
    task: Callable[[Item], Result], chunks: Iterable[Item], n_threads: int
) -> Iterator[Result]:
    """Apply a task to every chunk, results in order; few more chunks than threads are in memory.

    Parameters
    ----------
    task : callable
        From a chunk to a result.
    chunks : iterable
        Chunks of a table, or any other work; read in the thread of the caller.
    n_threads : int
        Chunks that are worked on at a time; what a task calls gets no threads of its own.

    Notes
    -----
    After an error, or when the results are not wanted any more, no task begins and those at work
    end before their next question to the model.
    """
    stop = Event()
    with ExitStack() as stack:
        begin = partial(_begin, dict(np.geterr()), _settings_of_sklearn(), once(find_pools))
        pool = stack.enter_context(ThreadPoolExecutor(n_threads, "rhale", begin))
        waiting: deque[Future[Result]] = deque()
        stack.callback(lambda: [one.cancel() for one in waiting])  # before the pool is left
        stack.callback(stop.set)
        for chunk in chunks:
            waiting.append(pool.submit(_context(stop).run, task, chunk))
            if len(waiting) > n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _context(stop: Event) -> Context:
    """What the caller has set for itself, such as NumPy's errstate, and how its work is stopped."""
    context = copy_context()
    context.run(STOP.set, stop)
    return context


def _settings_of_sklearn() -> dict[str, Any]:
    """Settings of scikit-learn, which each thread has for itself."""
    library = sys.modules.get("sklearn")
    return {} if library is None else library.get_config()


def once(find: Callable[[], Result]) -> Callable[[], Result]:
    """Find something when the first thread asks, for all of them: the others wait."""
    lock, found = Lock(), list[Result]()

    def get() -> Result:
        with lock:
            if not found:
                found.append(find())
        return found[0]

    return get


def _begin(of_numpy: dict[str, Any], of_sklearn: dict[str, Any], find: Callable[[], Any]) -> None:
    """Make a new thread like the one that started it, but without threads of its own."""
    np.seterr(**of_numpy)  # before NumPy 2 a setting of the thread, and not of the context
    if of_sklearn:
        sys.modules["sklearn"].set_config(**of_sklearn)
    limit_this_thread(find())


def count_jobs(n_jobs: Any) -> int | None:
    """Read `n_jobs`: None, a number of threads, or -1 for one on each core that we may use.

    Examples
    --------
    >>> count_jobs(2), count_jobs(None)
    (2, None)
    """
    if n_jobs is None:
        return None
    is_whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if not is_whole or (n_jobs < 1 and n_jobs != -1):
        msg = (
            f"n_jobs={n_jobs!r} is no number of threads; use 1 or more, -1 for one on each core, or "
            "None to leave threads to the model"
        )
        raise BadSettingError(msg)
    if n_jobs == -1:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return int(n_jobs)
