"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from rhale.errors import BadFileError


@contextmanager
def whole(path: str | PathLike[str]) -> Iterator[Path]:
    """Give a place to write to; the file appears when it is complete, or not at all.

    Parameters
    ----------
    path : path-like
        The file; one that is there is replaced, whoever else writes it at the same time.

    Raises
    ------
    OSError
        If the disk says no; it names `path`, whichever step failed.
    """
    target = Path(path)
    if target.exists() and not target.is_file():  # as root one could replace a device
        what = "a folder" if target.is_dir() else "no regular file"
        msg = f"{target} cannot be written: it is {what}; name a file"
        raise BadFileError(msg)
    part = target.with_name(f".{secrets.token_hex(8)}.part{target.suffix}")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield part
        part.replace(target)
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(part), part):
            raise
        raise OSError(error.errno, error.strerror, str(target)) from error
    finally:
        part.unlink(missing_ok=True)


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write a text, with the same bytes on every system."""
    with whole(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
