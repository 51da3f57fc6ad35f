"""Several chunks at a time in this process, for work that leaves the interpreter alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import TypeVar

from rhale.tables import Chunk

Result = TypeVar("Result")


def map_in_threads(
    task: Callable[[Chunk], Result], chunks: Iterable[Chunk], n_threads: int
) -> Iterator[Result]:
    """Apply a task to every chunk, results in order; few more chunks than threads are in memory."""
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(n_threads, thread_name_prefix="rhale"))
        waiting: deque[Future[Result]] = deque()
        stack.callback(lambda: [one.cancel() for one in waiting])  # before the pool is left
        for chunk in chunks:
            waiting.append(pool.submit(task, chunk))
            if len(waiting) > n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
