"""Several chunks at a time in this process, and limits on the threads of libraries."""

from __future__ import annotations

import ctypes
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import Context, copy_context
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from threading import Event, Lock
from typing import Any, TypeVar

import numpy as np

from rhale.errors import BadSettingError, MissingExtraError
from rhale.models.adapter import Adapter
from rhale.models.predictor import STOP

# --- Threads that libraries start by themselves: one each, so that only rhale's own count


Undo = Callable[[], object]
_lock = Lock()
_limited: dict[str, Undo] = {}  # libraries that are limited in the whole process
_n_users = 0  # how many ask for that at the moment


@contextmanager
def limit_threads(adapter: Adapter, n_jobs: int | None) -> Iterator[Adapter]:
    """Limit a model, and all libraries, to the thread that calls them."""
    # Chunks are shared among `n_jobs` threads of rhale's, and each model answers in the thread
    # that asks: the same chunks give the same bits for any number. What a function of the user's
    # own starts in spite of all limits is not bounded, nor is the pool of JAX, which has the size
    # that it was started with.
    with limit_libraries(n_jobs):
        if n_jobs is None:
            yield adapter
            return
        with adapter.answer_alone() as alone:
            yield alone


@contextmanager
def limit_libraries(n_jobs: int | None) -> Iterator[None]:
    """Limit all libraries to the thread that calls them; `n_jobs=None` limits nothing."""
    if n_jobs is None:
        yield
        return
    if find_spec("threadpoolctl") is None:
        msg = (
            f"n_jobs={n_jobs} needs threadpoolctl, which bounds threads: pip install threadpoolctl"
        )
        raise MissingExtraError(msg)
    with ExitStack() as stack:
        pools = find_pools()
        stack.enter_context(_limit_process(pools))
        stack.callback(limit_this_thread(pools))
        yield


def find_pools() -> Any:
    """Threads of BLAS and OpenMP, of all libraries that are loaded; None without threadpoolctl.

    It looks through the memory of the process for them: milliseconds, so once for all that follows.
    """
    if find_spec("threadpoolctl") is None:
        return None
    return import_module("threadpoolctl").ThreadpoolController()


# --- limits of the whole process ----------------------------------------------------------------


@contextmanager
def _limit_process(pools: Any) -> Iterator[None]:
    """Limit libraries that know one number of threads for all; the last user puts it back."""
    global _n_users
    with _lock:
        _n_users += 1
    try:
        with _lock:
            for name, limit in _PROCESS_LIMITS.items():
                if name in sys.modules and name not in _limited:
                    _limited[name] = limit(sys.modules[name], pools)
        yield
    finally:
        with _lock:
            _n_users -= 1
            while _limited and not _n_users:
                _limited.popitem()[1]()


def _limit_blas(_: Any, pools: Any) -> Undo:
    restore: Undo = pools.limit(limits=1, user_api="blas").restore_original_limits
    return restore


def _limit_torch(torch: Any, _: Any) -> Undo:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    return lambda: torch.set_num_threads(before)


def _limit_lightgbm(basic: Any, _: Any) -> Undo:
    """Limit every model of LightGBM, whatever its n_jobs: they go by it rather than by OpenMP."""
    library, before = basic._LIB, ctypes.c_int()  # noqa: SLF001 - its C interface is public
    if not hasattr(library, "LGBM_SetMaxThreads"):
        msg = "n_jobs needs LightGBM 4.2 or later, whose threads can be bounded; update it"
        raise MissingExtraError(msg)
    library.LGBM_GetMaxThreads(ctypes.byref(before))
    library.LGBM_SetMaxThreads(1)
    return lambda: library.LGBM_SetMaxThreads(before)


_PROCESS_LIMITS: dict[str, Callable[[Any, Any], Undo]] = {
    "numpy": _limit_blas,
    "torch": _limit_torch,
    "lightgbm.basic": _limit_lightgbm,
}


# --- limits of one thread -----------------------------------------------------------------------


def limit_this_thread(pools: Any) -> Undo:
    """Limit libraries that know a number of threads for each thread that calls them."""
    limits = [limit for name, limit in _THREAD_LIMITS.items() if name in sys.modules]
    undo = [found for limit in limits if (found := limit(pools)) is not None]
    return lambda: [one() for one in reversed(undo)]


def _limit_openmp(pools: Any) -> Undo | None:
    """XGBoost, HistGradientBoosting, LightGBM's Booster and torch go by OpenMP's number."""
    if pools is None:
        return None
    restore: Undo = pools.limit(limits=1, user_api="openmp").restore_original_limits
    return restore


def _limit_joblib(_: Any) -> Undo:
    """Forests and others with `n_jobs` go by joblib's backend first."""
    from joblib import parallel_config

    found: Undo = parallel_config(backend="sequential").unregister
    return found


def _limit_numba(_: Any) -> Undo | None:
    """Functions of the user's own with parallel=True, once they have started numba's threads."""
    numba, pool = sys.modules["numba"], sys.modules.get("numba.np.ufunc.parallel")
    if not getattr(pool, "_is_initialized", False):  # to ask for their number would start them
        return None
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    return lambda: numba.set_num_threads(before)


_THREAD_LIMITS: dict[str, Callable[[Any], Undo | None]] = {
    "numpy": _limit_openmp,
    "joblib": _limit_joblib,
    "numba": _limit_numba,
}


Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_threads(
    task: Callable[[Item], Result], chunks: Iterable[Item], n_threads: int
) -> Iterator[Result]:
    """Apply a task to every chunk, results in order; few more chunks than threads are in memory."""
    # After an error, or when the results are not wanted any more, no task begins and those at work
    # end before their next question to the model.
    stop = Event()
    with ExitStack() as stack:
        library = sys.modules.get("sklearn")  # each thread has settings of its own
        of_sklearn = {} if library is None else library.get_config()
        begin = partial(_begin, dict(np.geterr()), of_sklearn, once(find_pools))
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
    """Read `n_jobs`: None, a number of threads, or -1 for one on each core that we may use."""
    if n_jobs is None:
        return None
    is_whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if not is_whole or (n_jobs < 1 and n_jobs != -1):
        msg = (
            f"n_jobs={n_jobs!r} is not a number of threads; use 1 or more, -1 for one on each core, or "
            "None to leave threads to the model"
        )
        raise BadSettingError(msg)
    if n_jobs == -1:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return int(n_jobs)
