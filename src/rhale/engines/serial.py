"""One chunk after the other, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from rhale.tables import Chunk

Result = TypeVar("Result")


def map_chunks(task: Callable[[Chunk], Result], chunks: Iterable[Chunk]) -> Iterator[Result]:
    """Apply a task to every chunk, in order."""
    return map(task, chunks)
