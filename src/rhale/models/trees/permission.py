"""Leave to walk trees without numba: slowly, for some hundred rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

# NumPy 1 makes a float of an unsigned number and one of Python's, which is no place in an array.
KEEPS_UNSIGNED = (np.zeros(1, np.uint64)[0] + 1).dtype == np.uint64
IN_PYTHON: ContextVar[bool] = ContextVar("IN_PYTHON", default=False)


@contextmanager
def walking_without_numba() -> Iterator[None]:
    """Walk trees even where numba is not installed: a small table, and small trees.

    Notes
    -----
    The numbers are the same, about a hundred times slower than compiled. 442 rows and 60 trees of
    six leaves take 2 s, which is less than compiling takes, and 200 MB less on the disk. It needs
    NumPy 2; with an older one trees are asked as a black box, as without this leave.
    """
    before = IN_PYTHON.set(True)
    try:
        yield
    finally:
        IN_PYTHON.reset(before)


def may_walk_in_python() -> bool:
    """Tell whether trees may be walked without numba, and can be."""
    return IN_PYTHON.get() and KEEPS_UNSIGNED
