"""Loops that numba compiles; walks are run as they stand where it is not installed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "INSIDE",
    "CompiledOnce",
    "can_compile",
    "compile_for",
    "leave_as_it_is",
    "njit",
    "will_compile",
    "writable",
]
# Options of a function that only compiled ones call: numba leaves out the ways to it from Python.
INSIDE = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
LOADING = Lock()


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


def njit(*, cache: bool = False, **options: Any) -> Callable[[Any], Any]:
    """Compile a function as `numba.njit` does; what is kept of it serves all environments."""
    try:
        import numba
    except ImportError:
        return leave_as_it_is(**options)

    def decorate(function: Any) -> Any:
        made = numba.njit(**options)(function)
        if cache:
            keep(made)
        return made

    return decorate


def can_compile() -> bool:
    """Tell whether numba is there, and not switched off."""
    try:
        from numba import config
    except ImportError:
        return False
    return not vars(config)["DISABLE_JIT"]


@dataclass(frozen=True)
class CompiledOnce:
    """A function for arguments of certain types, and what can be taken for them.

    Attributes
    ----------
    made : callable
        What numba makes of it.
    types : tuple
        Of its arguments.
    """

    made: Any
    types: tuple[Any, ...]

    @property
    def is_kept(self) -> bool:
        """Whether it was compiled before, by this process or another."""
        return not will_compile(self.made)

    def load(self) -> Any:
        """Compile it, or find it compiled; from then on it is never compiled anew."""
        with LOADING:  # threads that need it may come at the same time
            if not self.made.signatures:
                self.made.compile(self.types)
                self.made.disable_compile()
        return self.made


def compile_for(*types: Any) -> Callable[[Any], CompiledOnce]:
    """Have a function compiled for arguments of these types when it is loaded, not sooner."""
    return lambda function: CompiledOnce(njit(cache=True, nogil=True)(function), types)


def keep(made: Any) -> None:
    """Keep what is compiled where all environments find it, or where numba likes."""
    try:
        from rhale.system.shared_cache import keep_for_all
    except (ImportError, AttributeError):  # a numba with other names inside
        made.enable_caching()
    else:
        keep_for_all(made)


def will_compile(function: Any) -> bool:
    """Tell whether the next call of a function has to compile it: it is in no cache yet."""
    if function.signatures:
        return False
    file, name = Path(function.py_func.__code__.co_filename).stem, function.__name__
    python = "py{}{}".format(*sys.version_info)  # others have code of their own there
    return not any(Path(str(function.stats.cache_path)).glob(f"{file}.{name}-*.{python}*.nbi"))


def writable(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Of one piece and writable, or a copy that is: for anything else numba compiles anew."""
    return np.require(numbers, np.float64, ["C", "W"])
