"""Loops that numba compiles, and the private folder in which it keeps what it has compiled."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from functools import cache as once
from hashlib import sha256
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["INNER_FUNCTION_OPTIONS", "can_compile", "njit", "will_compile", "writable"]
# Options of a function that only compiled ones call: numba leaves out the ways to it from Python.
INNER_FUNCTION_OPTIONS = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
HOUSE = Path(__file__).parent.parent
# Compiled code holds the functions it calls and constants of these folders, and numba looks at one
# file alone: other sources have another folder.
SOURCES = (HOUSE / "models" / "trees", HOUSE / "kernels")
SETTING = RLock()


def njit(*types: Any, cache: bool = False, **options: Any) -> Callable[[Any], Any]:
    """Compile a function as `numba.njit` does; without numba leave it as it is.

    Parameters
    ----------
    *types : numba types
        Of the arguments, if it is to be compiled at once, and for no others.
    cache : bool
        Whether what is compiled is kept, where there is a private folder.
    **options
        Of `numba.njit`.
    """
    if not can_compile():
        return lambda function: function
    import numba

    def decorate(function: Any) -> Any:
        made = keep_compiled(function, options) if cache else numba.njit(**options)(function)
        if types:
            made.compile(types)
            made.disable_compile()
        return made

    return decorate


def can_compile() -> bool:
    """Tell whether numba is there, and not switched off."""
    try:
        from numba import config
    except ImportError:
        return False
    return not vars(config)["DISABLE_JIT"]


def keep_compiled(function: Any, options: dict[str, Any]) -> Any:
    """Let numba keep what it compiles of a function in the private folder, and nowhere else.

    Notes
    -----
    numba unpickles what it finds: whoever can write into the folder can have this user run what
    they like. Where it finds no place in that folder it looks for others, so that the place it
    took is looked at, too.
    """
    import numba

    made, config = numba.njit(**options)(function), vars(numba.config)
    with SETTING:
        folder, before = find_folder(), config["CACHE_DIR"]
        if folder is None:
            return made
        config["CACHE_DIR"] = str(folder)
        try:
            made.enable_caching()
        except RuntimeError:  # there is no place at all
            return made
        finally:
            config["CACHE_DIR"] = before
    is_there = Path(made.stats.cache_path).is_relative_to(folder)
    return made if is_there else numba.njit(**options)(function)


@once
def find_folder() -> Path | None:
    """The folder for what is compiled: the user's choice, or one that is made for them alone.

    None where there is no such folder: then nothing is kept, and nothing is read.
    """
    from numba import config

    if chosen := vars(config)["CACHE_DIR"]:
        return Path(chosen).absolute()
    try:
        folder = cache_home() / "rhale" / "compiled" / digest_of_sources()
        for one in (*reversed(folder.parents), folder):
            one.mkdir(mode=0o700, exist_ok=True)
        folder = folder.resolve(strict=True)  # nobody can exchange a link on the way any more
        return folder if is_private(folder) and os.access(folder, os.W_OK) else None
    except (OSError, RuntimeError):  # the latter: no home
        return None


def cache_home() -> Path:
    """The user's folder for caches."""
    if os.name == "nt":
        return Path(os.environ["LOCALAPPDATA"]) if "LOCALAPPDATA" in os.environ else Path.home()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return given if given.is_absolute() else Path.home() / ".cache"


def digest_of_sources() -> str:
    """A name for the sources that compiled code is made of."""
    found = sha256()
    for path in sorted(path for folder in SOURCES for path in folder.glob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


def is_private(folder: Path) -> bool:
    """Whether only this user can write into a folder, or put another in place of one above it."""
    if os.name == "nt":  # folders for caches lie in the user's profile
        return True
    own = folder.stat()
    if own.st_uid != os.geteuid() or own.st_mode & 0o022:
        return False
    above = [one.stat() for one in folder.parents]
    return all(
        one.st_uid in (os.geteuid(), 0) and (not one.st_mode & 0o022 or one.st_mode & stat.S_ISVTX)
        for one in above
    )


def will_compile(function: Any) -> bool:
    """Tell whether the next call of a function has to compile it: it is in no cache yet."""
    if not can_compile() or function.signatures:
        return False
    file, name = Path(function.py_func.__code__.co_filename).stem, function.__name__
    python = "py{}{}".format(*sys.version_info)  # others have code of their own there
    return not any(Path(str(function.stats.cache_path)).glob(f"{file}.{name}-*.{python}*.nbi"))


def writable(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Of one piece and writable, or a copy that is: for anything else numba compiles anew."""
    return np.require(numbers, np.float64, ["C", "W"])
