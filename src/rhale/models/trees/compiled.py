"""Walks are compiled by numba; where it is not installed they are run as they stand."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

__all__ = ["leave_as_it_is", "njit"]


def leave_as_it_is(*, inline: str = "never", **_options: Any) -> Callable[[Any], Any]:
    """Stand in for `numba.njit`: the function itself, whose unsigned numbers may wrap around."""

    def decorate(function: Any) -> Any:
        if inline == "always":  # called by others of its kind, once for each node: no frame more
            return function

        @wraps(function)
        def run(*arguments: Any) -> Any:
            with np.errstate(over="ignore"):
                return function(*arguments)

        run.__dict__["signatures"] = ("as it is",)  # as if it had been compiled
        return run

    return decorate


try:
    from numba import njit
except ImportError:
    njit: Any = leave_as_it_is  # type: ignore[no-redef]
