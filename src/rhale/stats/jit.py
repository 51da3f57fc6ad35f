"""Compiled loops: numba where it is installed, with a private cache."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from functools import cache as once
from hashlib import sha256
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["INNER_FUNCTION_OPTIONS", "can_compile", "njit", "will_compile", "writable"]
# Options of a function that only compiled ones call: numba leaves out the ways to it from Python.
INNER_FUNCTION_OPTIONS = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
HOUSE = Path(__file__).parent.parent
# Compiled code holds the functions it calls and constants of these folders, and numba looks at one
# file alone: other sources have another folder.
SOURCES = tuple(
    HOUSE / folder
    for folder in ("models/trees", "effects", "effects/binning", "interaction", "stats")
)
SETTING = RLock()


def njit(*types: Any, cache: bool = False, **options: Any) -> Callable[[Any], Any]:
    """Compile a function as `numba.njit` does; without numba leave it as it is.

    `types`: of the arguments, if it is to be compiled at once, and for no others; `cache`: whether
    what is compiled is kept, where there is a private folder.
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
    """Whether numba is there, and not switched off."""
    try:
        from numba import config
    except ImportError:
        return False
    return not vars(config)["DISABLE_JIT"]


def keep_compiled(function: Any, options: dict[str, Any]) -> Any:
    """Let numba keep what it compiles of a function in the private folder, and nowhere else."""
    # numba unpickles what it finds: whoever can write into the folder can have this user run what
    # they like. Where it finds no place in that folder it looks for others, so that the place it
    # took is looked at, too.
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
    """Whether the next call of a function has to compile it: it is in no cache yet."""
    if not can_compile() or function.signatures:
        return False
    file, name = Path(function.py_func.__code__.co_filename).stem, function.__name__
    python = "py{}{}".format(*sys.version_info)  # others have code of their own there
    return not any(Path(str(function.stats.cache_path)).glob(f"{file}.{name}-*.{python}*.nbi"))


def writable(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Of one piece and writable, or a copy that is: for anything else numba compiles anew."""
    return np.require(numbers, np.float64, ["C", "W"])


# --- Compiled loops, where numba is there and loading it pays


# Local effects that a process measures by NumPy first. It loses on them about as much time as
# loading numba takes: .4 s, four times as long as explaining a small table. Where numba is loaded,
# as once trees were walked, loading the loops takes a sixteenth of it.
PAYS_FROM, LOADED = 2**25, 1 / 16


@dataclass
class Measured:
    """How many local effects this process has measured. It changes times, never a bit."""

    n_numbers: int = 0


MEASURED_SO_FAR = Measured()


class Loops(NamedTuple):
    """What is compiled: moments of a block of rows, keys of rows, and the search for bins."""

    measure_block: Callable[..., Any]
    mix_hash: Callable[..., Any]
    search: Callable[..., Any]


def choose_compiled_loops(n_numbers: int) -> Loops | None:
    """Give the compiled loops if so much was measured before these numbers that they pay."""
    before = MEASURED_SO_FAR.n_numbers
    MEASURED_SO_FAR.n_numbers += n_numbers
    needed = PAYS_FROM * LOADED if "numba" in sys.modules else PAYS_FROM
    return None if before < needed else load_loops()


@cache
def load_loops() -> Loops | None:
    """Load the loops, or compile them; None without numba."""
    if not can_compile():
        return None
    from rhale.effects.binning.moments_loop import measure_block
    from rhale.effects.binning.search_loop import search
    from rhale.stats.hash_loop import mix_hash

    return Loops(measure_block, mix_hash, search)
