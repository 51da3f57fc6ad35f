"""Compiled functions are kept in one folder of the user, for all environments of theirs (numba)."""

from __future__ import annotations

import os
import stat
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba
from numba.core import caching
from numba.misc.appdirs import AppDirs

HOUSE = Path(__file__).parent.parent
# Compiled code holds the functions it calls and constants of these rooms: who changes one of their
# files compiles anew.
ROOMS = (HOUSE / "models" / "trees", HOUSE / "kernels")


def keep_for_all(function: Any) -> None:
    """Let numba keep what it compiles of a function: in the user's folder, where that is safe."""
    kept = SharedCache(function.py_func)  # type: ignore[no-untyped-call]
    function._cache = kept  # noqa: SLF001 - as its `enable_caching` does


@cache
def find_folder() -> Path | None:
    """The folder for these sources and this numba; None where numba shall choose.

    Notes
    -----
    numba unpickles what it finds there: whoever can write into the folder can have this user run
    what they like. So it is made for the user alone, and not used if anybody else could write.
    """
    if vars(numba.config)["CACHE_DIR"]:  # the user has chosen
        return None
    top = Path(AppDirs("rhale", appauthor=False).user_cache_dir)  # type: ignore[no-untyped-call]
    if not top.is_absolute():  # no home
        return None
    try:
        folder = top / "compiled" / f"numba-{numba.__version__}-{digest_of_sources()}"
        for one in (*reversed(folder.parents), folder):
            one.mkdir(mode=0o700, exist_ok=True)
        return folder if is_private(folder) else None
    except OSError:
        return None


def digest_of_sources() -> str:
    """A name for the sources that compiled code is made of."""
    found = sha256()
    for path in sorted(path for room in ROOMS for path in room.glob("*.py")):
        found.update(sha256(path.read_bytes()).digest())
    return found.hexdigest()[:16]


def is_private(folder: Path) -> bool:
    """Whether only this user can write into a folder, or put another in place of one above it."""
    if os.name == "nt":  # folders for caches lie in the user's profile
        return True
    folder = folder.resolve()
    own = folder.stat()
    if own.st_uid != os.geteuid() or own.st_mode & 0o022:
        return False
    above = [one.stat() for one in folder.parents]
    return all(
        one.st_uid in (os.geteuid(), 0) and (not one.st_mode & 0o022 or one.st_mode & stat.S_ISVTX)
        for one in above
    )


class SharedLocator(caching._CacheLocator):  # noqa: SLF001 - numba's seam
    """Where numba finds what was compiled of one function."""

    def __init__(self, function: Any, file: str, folder: Path) -> None:
        self._py_file, self._folder = file, folder  # numba reads the first for its warnings
        self._line = function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        """The folder."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """The name of the folder says what the code was made of."""
        return self._folder.name

    def get_disambiguator(self) -> str:
        """What tells functions of one name apart."""
        return str(self._line)

    @classmethod
    def from_function(cls, function: Any, file: str) -> SharedLocator | None:
        """A locator, or None where numba shall choose."""
        folder = find_folder()
        return None if folder is None else cls(function, file, folder)


class SharedCacheImpl(caching.CompileResultCacheImpl):
    """Look in the user's folder first."""

    _locator_classes = [SharedLocator, *caching.CacheImpl._locator_classes]  # type: ignore[list-item]  # noqa: RUF012, SLF001


class SharedCache(caching.FunctionCache):
    """What numba keeps of one function."""

    _impl_class = SharedCacheImpl
