"""Read the next chunks while the present one is worked on."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from queue import Full, Queue
from threading import Event, Thread
from typing import Any, TypeVar

Item = TypeVar("Item")
CHUNKS_READ_AHEAD = 1  # chunks, and one more that waits for its place


def read_ahead(items: Iterable[Item], n_ahead: int = CHUNKS_READ_AHEAD) -> Generator[Item]:
    """Pass items on in order, and fetch a few more in a thread meanwhile.

    Examples
    --------
    >>> list(read_ahead(range(5)))
    [0, 1, 2, 3, 4]
    """
    queue: Queue[tuple[str, Any]] = Queue(maxsize=n_ahead)
    is_over = Event()

    def put(kind: str, item: Any = None) -> None:
        while not is_over.is_set():
            with suppress(Full):  # whoever reads may have gone meanwhile
                queue.put((kind, item), timeout=0.1)
                break

    def fetch() -> None:
        try:
            with closing_of(items):
                for item in items:
                    put("item", item)
                    if is_over.is_set():
                        return
            put("end")
        except BaseException as error:  # noqa: BLE001 - it is raised where the items are used
            put("error", error)

    thread = Thread(target=fetch, name="rhale reading", daemon=True)
    thread.start()
    try:
        while True:
            kind, item = queue.get()
            if kind == "end":
                return
            if kind == "error":
                raise item
            yield item
    finally:
        is_over.set()
        thread.join()


def closing_of(items: Iterable[Any]) -> AbstractContextManager[Any]:
    """Close what is read, files above all, in the thread that reads it."""
    return closing(items) if hasattr(items, "close") else nullcontext()
