"""Try a model file in a process of its own before this process reads it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rhale.errors import ModelFileError
from rhale.system.processes import (
    ExitedError,
    NotUnderstoodError,
    SilentError,
    TooLongError,
    heard,
    last_words,
    rebuilt,
    send,
    started,
)

MAX_SECONDS = 600.0  # for reading a model and asking it about a few rows
START = (  # the child finds modules where this process finds them
    "import json, sys; request = json.loads(sys.stdin.readline()); sys.path[:] = request['path'];"
    "from rhale.models.files.trial_child import main; main(request)"
)
Stamp = tuple[str, int, int, tuple[str, ...]]
SURVIVED: set[Stamp] = set()  # files, by size and time, that need no second trial


def stamp_of(place: Path, trust: Sequence[str] = ()) -> Stamp:
    """What tells a file from a later one of the same name."""
    known = place.stat()
    return str(place.resolve()), known.st_size, known.st_mtime_ns, tuple(sorted(trust))


def require_survivor(place: Path, trust: Sequence[str] = ()) -> None:
    """Have a child load a file and ask the model about a few rows; once for each file.

    Parameters
    ----------
    place : Path
        A model file.
    trust : sequence of str
        Types that a skops file may make.

    Raises
    ------
    ModelFileError
        If the child crashes, hangs or runs out of memory. What else the child says against the
        file is raised as it is, so that this process need not read the file to say it again.

    Notes
    -----
    Libraries read damaged files in native code, where a wrong number can end the whole process.
    Structure is checked before (`booster_files`); this is for what those checks do not know.
    """
    stamp = stamp_of(place, trust)
    if stamp in SURVIVED:
        return
    if not sys.executable:
        msg = (
            f"{place} cannot be tried in a process of its own, because this Python does not know "
            "its program; load the model yourself and pass the object"
        )
        raise ModelFileError(msg)
    _try(place, {"file": str(place), "trust": list(trust), "path": sys.path})
    SURVIVED.add(stamp)


def _try(place: Path, request: dict[str, Any]) -> None:
    command = (sys.executable, "-P", "-W", "ignore", "-c", START)
    surroundings = {**os.environ, "OMP_NUM_THREADS": "1"}  # a few rows need no more
    printed = bytearray()
    try:
        with started(command, env=surroundings) as child, last_words(child) as printed:
            send(child, json.dumps(request).encode() + b"\n")
            words = next(heard(child, MAX_SECONDS))
    except (
        SilentError,
        TooLongError,
        NotUnderstoodError,
    ) as error:  # all that it said is there now
        raise ModelFileError(_in_words(place, error, bytes(printed))) from error
    if isinstance(words.get("error"), dict):
        raise rebuilt(words["error"])


def _in_words(place: Path, error: Exception, printed: bytes) -> str:
    """Say what became of the process that tried a file."""
    advice = "save the model again, or load it yourself and pass the object"
    if isinstance(error, TooLongError):
        return f"{place} took its reader longer than {MAX_SECONDS:g} seconds; {advice}"
    if isinstance(error, NotUnderstoodError):
        return f"{place} makes the process that reads it write into rhale's own pipe; {advice}"
    how = str(error) or "closing its pipe"
    if isinstance(error, ExitedError):
        lines = printed.decode(errors="replace").split("\n")
        last = next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")
        how = f"{how} ({last})" if last else how
    return f"{place} crashes what reads it: a process that tried it ended with {how}; save the model again"
