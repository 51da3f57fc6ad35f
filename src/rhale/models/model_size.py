"""How much memory models take, as far as their pickles tell."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any


class _TooLargeError(Exception):
    """More bytes than were to be counted."""


class _Counter:
    """A file that keeps nothing, and stops whoever writes too much."""

    def __init__(self, most: int) -> None:
        self.left = most

    def write(self, data: Any) -> int:
        """Count some bytes."""
        size = len(data) if isinstance(data, bytes | bytearray) else memoryview(data).nbytes
        self.left -= size
        if self.left < 0:
            raise _TooLargeError
        return size


def count_bytes(model: Any, most: int) -> int:
    """Bytes of a model as it would be pickled, counted up to `most` plus one; 0 if it cannot be.

    Examples
    --------
    >>> count_bytes(b"x" * 1000, 10**6) > 1000, count_bytes(b"x" * 1000, 100)
    (True, 101)
    """
    counter = _Counter(most)
    try:
        pickle.Pickler(counter, protocol=pickle.HIGHEST_PROTOCOL).dump(model)
    except _TooLargeError:
        return most + 1
    except Exception:  # noqa: BLE001 - functions and other models that nobody can pickle
        return 0
    return most - counter.left


def is_larger(models: Sequence[Any], most: int) -> bool:
    """Tell whether models of one kind take more bytes than `most` together, by the first of them.

    Examples
    --------
    >>> is_larger([b"x" * 1000] * 20, 30_000), is_larger([b"x" * 1000] * 20, 10_000)
    (False, True)
    """
    return bool(models) and count_bytes(models[0], most // len(models)) > most // len(models)
