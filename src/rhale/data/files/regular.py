"""Regular files, read within limits on size and expansion; damage named in one line."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

from rhale.errors import BadTableError, RhaleError, excerpt

NUMBER_BYTES = 8  # of one number in memory

Stamp = tuple[int, int]
NONBLOCKING_FLAG = getattr(os, "O_NONBLOCK", 0)  # to open a pipe would wait for a writer
SPECIAL: dict[Callable[[int], bool], str] = {
    stat.S_ISDIR: "a folder",
    stat.S_ISFIFO: "a pipe",
    stat.S_ISSOCK: "a socket",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
}


class RegularFile(FileIO):
    """A file whose kind is checked again after it was opened, so that it cannot be swapped in between."""

    def __init__(self, path: str) -> None:
        require_regular(path, stat_path(path).st_mode)  # to open a device may already do something
        self._native = list[Any]()
        super().__init__(path, opener=_open_nonblocking)
        found = os.fstat(self.fileno())
        self.stamp: Stamp = stamp(found)
        self.size = found.st_size
        try:
            require_regular(path, found.st_mode)
        except BadTableError:
            self.close()
            raise

    def native(self) -> Any:
        """The same file for pyarrow.

        It is given no file of Python: what it reads ahead in threads of its own would have to call
        Python then, and an interpreter that is about to end does not survive that.
        """
        import pyarrow as pa

        same = Path(f"/proc/self/fd/{self.fileno()}")  # whatever stands at the path by now
        self._native.append(pa.OSFile(str(same if same.exists() else self.name)))
        return self._native[-1]

    def close(self) -> None:
        """Close it for pyarrow as well."""
        for opened in self._native:
            opened.close()
        super().close()

    def read(self, size: int | None = -1, /) -> bytes:
        """Read so many bytes, or as many as are left: Python allocates all that is asked for."""
        left = max(self.size - self.tell(), 0)
        wanted = left if size is None or size < 0 else min(size, left)
        found = super().read(wanted) or b""
        while len(found) < wanted:  # systems read 2 GB at a time
            more = super().read(wanted - len(found))
            if not more:  # it became shorter meanwhile
                break
            found += more
        return found

    def peek(self, place: int, size: int) -> bytes:
        """Read so many bytes somewhere, or as many as there are."""
        if hasattr(os, "pread"):
            return os.pread(self.fileno(), min(size, max(self.size - place, 0)), place)
        self.seek(place)
        return self.read(size)

    def read_at(self, place: int, size: int) -> bytes:
        """Read bytes that must be there."""
        if place < 0 or size < 0 or place + size > self.size:
            msg = f"it says that it has {size} bytes at {place}, but it is {self.size} bytes long"
            raise ValueError(msg)
        return self.peek(place, size)


def _open_nonblocking(path: str, flags: int) -> int:
    return os.open(path, flags | NONBLOCKING_FLAG)


def stamp(found: os.stat_result) -> Stamp:
    """Size of a file in bytes, and when it was changed in nanoseconds."""
    return found.st_size, found.st_mtime_ns


def stat_path(path: str) -> os.stat_result:
    """What the system says of a path; links are followed, and named where they lead nowhere."""
    try:
        return Path(path).stat()
    except (OSError, ValueError) as error:  # ValueError: a path with the sign of zero
        raise BadTableError(_lost(path, error)) from error


def _lost(path: str, error: OSError | ValueError) -> str:
    """Say why there is no file behind a path."""
    if getattr(error, "errno", None) == errno.ELOOP:
        return f"{path} is a link that leads in a circle; link it to a table"
    if isinstance(error, FileNotFoundError) and Path(path).is_symlink():
        return f"{path} is a link to {Path(path).readlink()}, which is not there"
    return f"{path} cannot be read: {getattr(error, 'strerror', None) or error}"


def require_regular(path: str, mode: int) -> None:
    """Refuse what is no file of bytes: it may have no end, and asking for them may wait for ever."""
    if stat.S_ISREG(mode):
        return
    kind = next((words for is_kind, words in SPECIAL.items() if is_kind(mode)), "something else")
    msg = f"{path} is {kind}, no regular file; write its rows to a file, and pass that"
    raise BadTableError(msg)


# --- What libraries say about bytes that they cannot read: one line that names the file


MAX_TABLE_COLUMNS_NAMED = 10  # names of columns
# What pyarrow, narwhals and pandas raise for bytes that no writer of theirs has written.
DAMAGED_TABLE_ERRORS: tuple[type[Exception], ...] = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
)
DAMAGED_TABLE_ERRORS += (ArithmeticError, NotImplementedError, RecursionError, MemoryError)


@contextmanager
def naming_file(path: str, kind: str) -> Iterator[None]:
    """Say which file it was that could not be read."""
    with naming_failure(f"{path} cannot be read as {kind}"):
        yield


@contextmanager
def naming_failure(what: str) -> Iterator[None]:
    """Say what failed before the words of the library that did."""
    try:
        yield
    except RhaleError:
        raise
    except Exception as error:
        # damaged bytes raise these; pyarrow need not be installed to recognise its own
        is_of_arrow = any(kind.__name__ == "ArrowException" for kind in type(error).__mro__)
        if not (is_of_arrow or isinstance(error, DAMAGED_TABLE_ERRORS)):
            raise
        said = excerpt(getattr(error, "strerror", None) or error) or type(error).__name__
        msg = f"{what}: {said}"
        raise BadTableError(msg) from error


def shown_names(names: Sequence[str]) -> str:
    """Some names of columns, for a message.

    Examples
    --------
    >>> shown_names([f"x{i}" for i in range(12)])
    'x0, x1, x2, x3, x4, x5, x6, x7, x8, x9 and 2 more'
    """
    more = (
        f" and {len(names) - MAX_TABLE_COLUMNS_NAMED} more"
        if len(names) > MAX_TABLE_COLUMNS_NAMED
        else ""
    )
    return ", ".join(excerpt(name, 60) for name in names[:MAX_TABLE_COLUMNS_NAMED]) + more


# --- How much larger than its bytes a table may be: what a file says of itself is no reason for more


HELD = 2**28  # bytes that any file may ask for
MAX_TABLE_EXPANSION = (
    256  # beyond that, so many times its own bytes: more than LZ4 and snappy can do
)
ROWS_IN_BYTE = 2**20  # a column of one value takes some hundred bytes for 67 million rows


def most_from(n_bytes: int) -> int:
    """How many bytes so many compressed ones may become."""
    return max(HELD, MAX_TABLE_EXPANSION * n_bytes)


def require_likely(expanded: int, n_bytes: int, what: str) -> None:
    """Refuse what is said to become far larger than the bytes that it is made of."""
    if expanded > most_from(n_bytes):
        msg = (
            f"{what} has {n_bytes:,} bytes and says that they become {expanded:,}; it is damaged, "
            "or needs smaller parts"
        )
        raise ValueError(msg)


def require_likely_rows(path: str, n_rows: int, n_bytes: int) -> None:
    """Refuse more rows than the bytes of a file can hold."""
    if n_rows > ROWS_IN_BYTE * n_bytes:
        msg = f"{path} says that it has {n_rows:,} rows in {n_bytes:,} bytes: it is damaged"
        raise BadTableError(msg)
