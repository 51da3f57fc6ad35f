"""A checkpoint folder: what identifies a run, and the sums of its finished chunks."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import numpy as np

from rhale.data import Table, TableInMemory
from rhale.data.files.regular import NONBLOCKING_FLAG
from rhale.data.pieces import PiecedTable
from rhale.data.table import read_chunks
from rhale.errors import BadSettingError, CheckpointError, MissingExtraError
from rhale.execution.checkpoint.bytes import (
    NoPlainFormError,
    decode_checkpoint_value,
    encode_checkpoint_value,
)
from rhale.models.answers import REPEATABLE
from rhale.stats.arrays import FloatArray
from rhale.stats.sampling import column_keys
from rhale.system.files import PART, replace_durably

EVERY_SECONDS = 10.0  # between two checkpoints, at least
SPARED_SHARE = 20  # and so many times as long as the last one took to write
CHECKPOINT_MAGIC = b"rhale checkpoint, format 3\n"
DIGEST_BYTES = 32
CHECKPOINT_ENDING, LOCK = ".checkpoint", "lock"
RUN_FILE, PREDICTIONS_FILE = "run", "answers"
PASS: dict[str, type] = {"done": int, "folded": object, "is_last": bool}  # kept of a pass
MAX_SHOWN_RUN_DIFFERENCES = 3  # differences between two runs
NO_LINKS = getattr(os, "O_NOFOLLOW", 0)  # not on Windows


@dataclass(frozen=True, eq=False)
class KeptSum:
    """What was kept of a pass."""

    done: int  # chunks that are in it
    folded: Any  # their sum
    is_last: bool = False  # whether these are all chunks of the pass


class Checkpoint:
    """A folder that keeps the passes of one run.

    Only one process at a time has it; `close` gives it back, and so does the end of a process,
    however it ends. Use it in a `with` block.
    """

    def __init__(self, folder: Path, run: Any, lock: int) -> None:
        self._folder, self._run, self._lock = folder, run, lock
        self._mark = blake2b(_text(run).encode(), digest_size=DIGEST_BYTES).hexdigest()
        self._before = "nothing was kept before, so the same call begins anew"
        self.last_read: str | None = None  # the pass
        self._due = (
            -np.inf
        )  # the first save comes soon: a folder that cannot be written to is reported at once

    @classmethod
    def open(cls, folder: Any, run: Mapping[str, Any]) -> Checkpoint:
        """Take a folder for a run: a new one, an empty one, or the one it had before.

        Raise `CheckpointError` if the folder holds other files or another run, or another process
        has it.
        """
        if not isinstance(folder, str | PathLike):
            msg = f"checkpoint={folder!r:.60} is no folder; pass its path"
            raise BadSettingError(msg)
        place, plain = Path(folder), json.loads(_text(run))
        try:
            place.mkdir(parents=True, exist_ok=True)
            names = {p.name for p in place.iterdir()}
            _refuse_other_files(place, names)
            lock = _take_lock(place / LOCK)
            for name in filter(_is_part, names):  # of a process that was ended while it wrote
                (place / name).unlink(missing_ok=True)
        except CheckpointError:
            raise
        except OSError as error:
            msg = (
                f"the folder checkpoint={str(folder)!r} cannot be used: {_reason(error)}; name a "
                "folder that can be written to"
            )
            raise CheckpointError(msg) from error
        point = cls(place, plain, lock)
        try:
            point._claim_folder()
        except BaseException:
            point.close()
            raise
        return point

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the folder back. What is in it stays."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def load(self, name: str) -> KeptSum | None:
        """What was kept of a pass; None if nothing was.

        Raise `CheckpointError` if the file is damaged.
        """
        path = self._path(name)
        if not path.exists():
            return None
        saved = KeptSum(**self._read(path, PASS))
        if saved.done < 0:
            raise self.damaged(name, f"it has {saved.done} chunks")
        self._note(name, saved.done)
        self.last_read = name
        return saved

    def damaged(self, name: str, why: str) -> CheckpointError:
        """The error to raise where what was kept of a pass turns out to be something else."""
        return CheckpointError(_damaged(self._path(name), why))

    def save(self, name: str, done: int, folded: Any, *, is_last: bool = False) -> None:
        """Keep the sum of the first chunks of a pass, in place of what was kept of it before.

        Raise `CheckpointError` if it cannot be written. What was kept before is whole.
        """
        # A sum with rows or values of a kind that has no plain form is not kept: after an
        # interruption the pass goes on from what was kept before, or begins anew.
        start = time.monotonic()
        with suppress(NoPlainFormError):
            self._write(name, {"done": done, "folded": folded, "is_last": is_last})
            self._note(name, done)
        end = time.monotonic()
        self._due = end + max(EVERY_SECONDS, SPARED_SHARE * (end - start))

    def is_due(self) -> bool:
        """Tell whether it is time to save again: at first, then every ten seconds or less often."""
        return time.monotonic() >= self._due

    def same_answers(self, predictions: FloatArray) -> None:
        """Keep a model's answers to some rows; later, refuse a model with other answers.

        Shapes: predictions (n_rows, n_outputs).
        """
        path = self._path(PREDICTIONS_FILE)
        if not path.exists():
            self._write(PREDICTIONS_FILE, {"answers": predictions})
            return
        first = self._read(path, {"answers": np.ndarray})["answers"]
        advice = "this is another model; name another folder, or remove this one to begin anew"
        if first.ndim != 2 or first.dtype.kind != "f":
            raise self.damaged(PREDICTIONS_FILE, "it holds no predictions of a model")
        if first.shape != predictions.shape:
            was, now = (f"{len(a)} rows with {a.shape[1]}" for a in (first, predictions))
            msg = (
                f"the model returns {now} outputs, it returned {was} when the run in {self._folder} "
                f"began: {advice}"
            )
            raise CheckpointError(msg)
        gap, size = np.abs(first - predictions), np.maximum(np.abs(first), np.abs(predictions))
        differs = ~(gap <= REPEATABLE * size.max(axis=0, initial=0.0))
        if differs.any():
            at = tuple(np.argwhere(differs)[0])
            msg = (
                f"the prediction of a row is {predictions[at]:.6g}, it was {first[at]:.6g} "
                f"when the run in {self._folder} began: {advice}"
            )
            raise CheckpointError(msg)

    # --- the run -------------------------------------------------------------------------------

    def _claim_folder(self) -> None:
        """See whose folder it is; a new one is ours."""
        path = self._path(RUN_FILE)
        if not path.exists():
            self._write(RUN_FILE, {"run": self._run})
            return
        was = self._read(path, {"run": dict}, of_any_run=True)["run"]
        found = list(_differences(was, self._run))
        if found:
            more = (
                f"; and {len(found) - MAX_SHOWN_RUN_DIFFERENCES} more"
                if len(found) > MAX_SHOWN_RUN_DIFFERENCES
                else ""
            )
            msg = (
                f"the checkpoint in {self._folder} is of another run: "
                f"{'; '.join(islice(found, MAX_SHOWN_RUN_DIFFERENCES))}{more}. Name another folder, or remove this "
                "one to begin anew"
            )
            raise CheckpointError(msg)

    def _note(self, name: str, done: int) -> None:
        chunks = "1 chunk" if done == 1 else f"{done} chunks"
        self._before = (
            f"the checkpoint before ({chunks} of pass {name!r}) is whole, and the same call goes "
            "on from there"
        )

    # --- files ---------------------------------------------------------------------------------

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{CHECKPOINT_ENDING}"

    def _write(self, name: str, content: dict[str, Any]) -> None:
        """Write a file whole or not at all."""
        data = encode_checkpoint_value((self._mark, content))
        path = self._path(name)
        try:
            replace_durably(
                path, CHECKPOINT_MAGIC + blake2b(data, digest_size=DIGEST_BYTES).digest() + data
            )
        except OSError as error:
            msg = (
                f"the checkpoint {path} ({len(data):,} bytes) could not be written: "
                f"{_reason(error)}; {self._before}"
            )
            raise CheckpointError(msg) from error

    def _read(
        self, path: Path, kinds: Mapping[str, type], *, of_any_run: bool = False
    ) -> dict[str, Any]:
        """Read the fields of a file, or say that it is damaged or not of this run."""
        try:
            with os.fdopen(_open_own(path, os.O_RDONLY), "rb") as file:
                data = file.read()
        except OSError as error:
            msg = f"the checkpoint {path} cannot be read: {_reason(error)}"
            raise CheckpointError(msg) from error
        start = len(CHECKPOINT_MAGIC) + DIGEST_BYTES
        digest = blake2b(data[start:], digest_size=DIGEST_BYTES).digest()
        if data[:start] != CHECKPOINT_MAGIC + digest:
            why = "its checksum is not that of its content"
            if not data.startswith(CHECKPOINT_MAGIC):
                why = "it does not begin as those of this version of rhale do"
            raise CheckpointError(_damaged(path, why))
        try:
            owner, content = decode_checkpoint_value(data[start:])
        except ImportError as error:
            msg = f"the checkpoint {path} holds rows of {error.name}, which is not installed here"
            raise MissingExtraError(msg) from error
        except Exception as error:  # whatever a reader makes of bytes that are not ours
            raise CheckpointError(_damaged(path, f"{error!r:.100}")) from error
        if not of_any_run and owner != self._mark:
            raise CheckpointError(_damaged(path, "it is of another run than its folder"))
        if not isinstance(content, dict) or content.keys() != kinds.keys():
            raise CheckpointError(_damaged(path, f"its fields are not {', '.join(kinds)}"))
        if not all(isinstance(content[name], kind) for name, kind in kinds.items()):
            raise CheckpointError(_damaged(path, "a field is of another type than it was"))
        return content


def _refuse_other_files(folder: Path, names: set[str]) -> None:
    """Leave folders alone that are not ours."""
    ours = {n for n in names if n.endswith(CHECKPOINT_ENDING) or _is_part(n)}
    others = sorted(names - ours - {LOCK})
    is_ours = RUN_FILE + CHECKPOINT_ENDING in names
    if others and not is_ours:
        msg = (
            f"the folder {folder} holds other files ({others[0]!r}, ...) and no checkpoint; name "
            "a new or an empty folder"
        )
        raise CheckpointError(msg)
    if not is_ours and any(n.endswith(CHECKPOINT_ENDING) for n in ours):
        missing = folder / (RUN_FILE + CHECKPOINT_ENDING)
        msg = f"{missing} is missing beside other parts of a checkpoint; remove the folder"
        raise CheckpointError(msg)


def _is_part(name: str) -> bool:
    """Whether a name is that of a checkpoint which was not written to its end."""
    return f"{CHECKPOINT_ENDING}." in name and name.endswith(PART)


def _open_own(path: Path, flags: int) -> int:
    """Open a regular file of this user.

    Folders come from others, too: a link would lead to any file of the user, a pipe would be waited
    for, and what belongs to somebody else may change while it is read.
    """
    place = os.open(path, flags | NO_LINKS | NONBLOCKING_FLAG, 0o666)
    found = os.fstat(place)
    is_own = sys.platform == "win32" or found.st_uid == os.geteuid()
    if stat.S_ISREG(found.st_mode) and is_own:
        return place
    os.close(place)
    what = (
        "it belongs to another user" if stat.S_ISREG(found.st_mode) else "it is not a regular file"
    )
    raise OSError(errno.EPERM, f"{what}; name another folder, or remove this one", str(path))


def _take_lock(path: Path) -> int:
    """Keep other processes out; the system opens the lock when this process ends."""
    lock = _open_own(path, os.O_RDWR | os.O_CREAT)
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        msg = (
            f"the checkpoint in {path.parent} is in use by another run; wait for it to end, or "
            "name another folder"
        )
        raise CheckpointError(msg) from error
    return lock


def _text(run: Any) -> str:
    return json.dumps(run, sort_keys=True)


def _differences(was: Any, now: Any, name: str = "") -> Iterator[str]:
    """Say what is different between two runs, part by part."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in sorted({*was, *now}, key=str):
            here = f"{name}, {key}" if name else key
            if key not in now or key not in was:
                held = was.get(key, now.get(key))
                yield f"{here} {'is new' if key in now else 'is gone'} ({held!r:.60})"
            else:
                yield from _differences(was[key], now[key], here)
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for place, (a, b) in enumerate(zip(was, now, strict=True)):
            yield from _differences(a, b, f"{name}[{place}]")
    elif _text(was) != _text(now):
        yield f"{name} was {was!r:.60}, now {now!r:.60}"


def _damaged(path: Path, why: str) -> str:
    is_pass = path.stem not in (RUN_FILE, PREDICTIONS_FILE)
    what = "it to begin this pass anew" if is_pass else f"the folder {path.parent} to begin anew"
    return (
        f"the checkpoint {path} is damaged ({why}); put a whole copy in its place, or remove {what}"
    )


def _reason(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "it is a link; name another folder, or remove this one"
    return error.strerror or str(error)


# --- What makes a run the same run: the settings, the table and the versions, as plain values


ROWS_AT_ONCE = 2**16


def identify(table: Table, said: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a run by plain values that differ from those of any other run."""
    return {
        "table": {"columns": list(table.names), "kind": table.kind, **_rows_of(table)},
        **{name: make_plain_setting(value) for name, value in said.items()},
    }


def make_plain_setting(value: Any) -> Any:
    """Make a setting a plain value of JSON; other objects become their `repr`.

    Examples
    --------
    >>> make_plain_setting({"a": np.float64(2.0), "b": (1, None)})
    {'a': 2.0, 'b': [1, None]}
    """
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): make_plain_setting(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [make_plain_setting(held) for held in value]
    return repr(value)


def _rows_of(table: Table) -> dict[str, Any]:
    """Tell these rows from others: files by size and time, rows in memory by what is in them."""
    if not table.storage.is_memory:
        found: dict[str, Any] = make_plain_setting(cast(PiecedTable, table).identity)
        return found
    held, digest = cast(TableInMemory, table), blake2b(digest_size=16)
    for chunk in read_chunks(held, ROWS_AT_ONCE):
        digest.update(column_keys(chunk.keys(), chunk.n_rows).tobytes())
        if chunk.weights is not None:
            digest.update(chunk.weights.tobytes())
    return {"rows": held.n_rows, "content": digest.hexdigest()}


def digest_of(data: bytes) -> str:
    """A short name of exactly these bytes."""
    return blake2b(data, digest_size=16).hexdigest()
