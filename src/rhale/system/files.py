"""Files written whole or not at all; strict JSON."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from rhale.errors import BadFileError, MissingFolderError

PART = ".part"  # ends the name of a file that is being written
NO_SUCH_CALL = (errno.EINVAL, errno.EBADF, errno.ENOTSUP)  # of disks that do not sync folders


@contextmanager
def whole(path: str | PathLike[str]) -> Iterator[Path]:
    """Give a place to write to; the file appears when it is complete, or not at all.

    Raise `MissingFolderError` if its folder is not there; `OSError` if the disk says no; it names
    `path`, whichever step failed.
    """
    target = as_path(path)
    require_folder(target)
    if target.exists() and not target.is_file():  # as root one could replace a device
        what = "a folder" if target.is_dir() else "no regular file"
        msg = f"{target} cannot be written: it is {what}; name a file"
        raise BadFileError(msg)
    part = target.with_name(f".{secrets.token_hex(8)}{PART}{target.suffix}")
    try:
        # permissions of the file that is replaced; those behind a link belong to another file
        if target.is_symlink() or not target.exists():
            mode = None
        else:
            mode = stat.S_IMODE(target.stat().st_mode) & 0o777
        os.close(
            os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if mode is None else mode)
        )
        if mode is not None:  # a file that is closed to others stays closed when it is saved again
            part.chmod(mode)
        yield part
        part.replace(target)
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(part), part):
            raise
        raise OSError(error.errno, error.strerror, str(target)) from error
    finally:
        part.unlink(missing_ok=True)


def as_path(path: Any) -> Path:
    """The path that a user named."""
    if not isinstance(path, str | PathLike):
        msg = f"{path!r:.60} is no path of a file; pass a text, or one of pathlib"
        raise BadFileError(msg)
    return Path(path)


def require_folder(path: Path) -> None:
    """Refuse a file whose folder is not there, and name the folder."""
    if not path.parent.exists():
        msg = f"{path} cannot be written: there is no folder {path.parent}; make it first"
        raise MissingFolderError(msg, str(path))


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write a text, with the same bytes on every system."""
    with whole(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def replace_durably(path: Path, data: bytes) -> None:
    """Write a file so that at any moment, power cuts included, the old or the new one is whole.

    Whoever can write to its folder cannot have another file written: the name in between is random,
    and "x" opens neither a file that is there nor a link.
    """
    part = path.with_name(f"{path.name}.{secrets.token_hex(8)}{PART}")
    try:
        with part.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    # the new name is durable once the folder is synced, too
    if sys.platform != "win32":
        place = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(place)
        except OSError as error:
            if error.errno not in NO_SUCH_CALL:
                raise
        finally:
            os.close(place)


# --- JSON as it is defined: what Python's reader lets pass is refused


def once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of names and values, for `json.loads`; ValueError for a name that comes twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        msg = "an object has a name twice"
        raise ValueError(msg)
    return found
