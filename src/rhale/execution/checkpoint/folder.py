"""A folder from which an interrupted run goes on: sums as bytes that come back with the same bits."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from hashlib import blake2b
from itertools import islice, pairwise
from os import PathLike
from pathlib import Path
from types import NoneType, TracebackType
from typing import Any, Self, cast

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from rhale.data import Table, TableInMemory
from rhale.data.files.arrow import require_likely_stream, require_likely_values
from rhale.data.files.regular import NONBLOCKING_FLAG
from rhale.data.pieces import PiecedTable
from rhale.data.table import read_chunks
from rhale.errors import BadSettingError, CheckpointError, MissingExtraError
from rhale.models.questions import REPEATABLE
from rhale.stats.arrays import CROSSING, FloatArray
from rhale.stats.sampling import column_keys
from rhale.system.files import PART, replace_durably

Plain = Any  # what JSON has: None, bool, int, float, str, list, dict
AS_THEY_ARE = (NoneType, bool, int, float, str)  # in JSON, and from it
KEPT_PLAIN_TYPES: dict[str, type[Any]] = {kind.__name__: kind for kind in (*AS_THEY_ARE, bytes)}
KEPT_ARRAY_KINDS = "biuf"  # kinds of arrays
HEADER_LENGTH_BYTES = 8  # bytes of the number at the beginning


class NoPlainFormError(ValueError):
    """A value of the user's own table that is not kept: it would not come back as it is."""


def encode_checkpoint_value(value: Any) -> bytes:
    """Turn a value into bytes.

    Raise `NoPlainFormError` if there is anything else in it.
    """
    # JSON says what it is; the bytes of all arrays follow. Nothing is pickled: reading a file of
    # an unknown origin makes wrong numbers at worst.
    packer = Packer()
    tree = packer.plain(value)
    head = json.dumps([[len(blob) for blob in packer.blobs], tree]).encode()
    return b"".join([len(head).to_bytes(HEADER_LENGTH_BYTES, "little"), head, *packer.blobs])


def decode_checkpoint_value(data: bytes) -> Any:
    """Turn bytes back into the value."""
    start = HEADER_LENGTH_BYTES + int.from_bytes(data[:HEADER_LENGTH_BYTES], "little")
    sizes, tree = json.loads(data[HEADER_LENGTH_BYTES:start])
    limits = [start, *(start + np.cumsum(sizes, dtype=np.int64)).tolist()]
    if limits[-1] != len(data):
        msg = f"{limits[-1]} bytes were announced, {len(data)} are there"
        raise ValueError(msg)
    return Unpacker([data[a:b] for a, b in pairwise(limits)], len(data)).restore(tree)


class Packer:
    """Turn values into plain ones of JSON; bytes are collected in `blobs`."""

    def __init__(self) -> None:
        self.blobs: list[bytes] = []

    def plain(self, value: Any) -> Plain:
        """A plain value, or a dictionary of one: what it was, and the plain values in it."""
        kind = type(value)
        if kind in AS_THEY_ARE:
            return value
        if kind is tuple or kind is list:
            return {kind.__name__: self.column(value)}
        if kind is dict:
            return {"dict": [self.column(list(value)), self.column(list(value.values()))]}
        if kind is bytes:
            return {"bytes": self.put_aside(value)}
        if kind is np.ndarray:
            return {"array": self.array(value)}
        if isinstance(value, np.generic):
            return {"scalar": self.array(np.asarray(value))}
        if isinstance(value, nw.DataFrame):
            return {"frame": [str(value.implementation.value), self.put_aside(arrow_bytes(value))]}
        if kind is type and any(value is known for known in KEPT_PLAIN_TYPES.values()):
            return {"type": value.__name__}
        return self.record(value)

    def column(self, values: Sequence[Any]) -> Plain:
        """A sequence of values; many of one type are stored as one array."""
        kinds = set(map(type, values))
        if kinds == {float}:
            return {"numbers": self.array(np.array(values))}
        if kinds == {int} and max(map(abs, values)) < 2**63:
            return {"numbers": self.array(np.array(values, dtype=np.int64))}
        if kinds == {tuple} and len(set(map(len, values))) == 1 and len(values[0]):
            return {"rows": [self.column(part) for part in zip(*values, strict=True)]}
        if kinds == {type} and len(set(values)) == 1:
            return {"same": [len(values), self.plain(values[0])]}
        return list(values) if kinds <= {str, NoneType} else [self.plain(v) for v in values]

    def array(self, array: npt.NDArray[Any]) -> Plain:
        """Type, shape, order of the axes in memory (sums depend on it), and numbers."""
        if array.dtype.kind not in KEPT_ARRAY_KINDS:
            msg = f"a checkpoint keeps no arrays of type {array.dtype}"
            raise NoPlainFormError(msg)
        axes = np.argsort([-abs(step) for step in array.strides], kind="stable").tolist()
        place = self.put_aside(array.transpose(axes).tobytes())
        return [array.dtype.str, array.shape, axes, place]

    def put_aside(self, data: bytes) -> int:
        """Number of a piece of bytes."""
        self.blobs.append(data)
        return len(self.blobs) - 1

    def record(self, value: Any) -> Plain:
        """One of our own records: its name, and what is in it."""
        kind = type(value)
        if CROSSING.get(kind.__name__) is kind:
            content = {f.name: self.plain(getattr(value, f.name)) for f in fields(value)}
            return {"record": [kind.__name__, content]}
        name = f"{kind.__module__}.{kind.__name__}"
        if is_dataclass(kind) and kind.__module__.partition(".")[0] == "rhale":
            msg = f"{name} is in a sum: declare it with rhale.stats.arrays.crosses_processes"
            raise TypeError(msg)
        msg = f"a checkpoint keeps no values of type {name}"
        raise NoPlainFormError(msg)


class Unpacker:
    """Turn plain values of JSON and the collected bytes back into values."""

    def __init__(self, blobs: list[bytes], n_bytes: int) -> None:
        self.blobs = dict(enumerate(blobs))
        self.room = n_bytes  # how many repeated values may be made: no more than the file has bytes
        self.readers: dict[str, Callable[[Any], Any]] = {
            "tuple": lambda content: tuple(self.column(content)),
            "list": self.column,
            "dict": lambda content: dict(zip(*map(self.column, content), strict=True)),
            "bytes": self.take,
            "array": self.array,
            "scalar": lambda content: self.array(content)[()],
            "record": self.record,
            "frame": lambda content: read_arrow(content[0], self.take(content[1])),
            "type": lambda name: KEPT_PLAIN_TYPES[name],
        }

    def take(self, place: int) -> bytes:
        """Collected bytes; each once, since copies of them would take more memory than the file."""
        return self.blobs.pop(place)

    def restore(self, tree: Plain) -> Any:
        """The value that a plain one encodes."""
        if not isinstance(tree, dict):
            return tree
        ((name, content),) = tree.items()
        return self.readers[name](content)

    def column(self, content: Plain) -> list[Any]:
        """Values that stood side by side."""
        if isinstance(content, list):
            return [self.restore(tree) for tree in content]
        ((name, parts),) = content.items()
        if name == "rows":
            return list(zip(*map(self.column, parts), strict=True))
        if name == "same":
            n_values = int(parts[0])
            self.room -= n_values
            if n_values < 0 or self.room < 0:
                msg = f"it repeats a value {n_values:,} times in a file of fewer bytes"
                raise ValueError(msg)
            return [self.restore(parts[1])] * n_values
        values: list[Any] = self.array(parts).tolist()
        return values

    def array(self, content: Plain) -> npt.NDArray[Any]:
        """Numbers in memory as they were."""
        name, shape, axes, place = content
        dtype = np.dtype(name)
        if dtype.kind not in KEPT_ARRAY_KINDS:
            msg = f"arrays of type {name} are not read"
            raise ValueError(msg)
        held = np.ndarray([shape[a] for a in axes], dtype, self.take(place))
        return held.copy().transpose(np.argsort(axes))

    def record(self, content: Plain) -> Any:
        """One of our own records."""
        name, parts = content
        return CROSSING[name](**{field: self.restore(tree) for field, tree in parts.items()})


# --- rows ------------------------------------------------------------------------------------------


def arrow_bytes(frame: nw.DataFrame[Any]) -> bytes:
    """Write rows of pandas or pyarrow as a stream of Arrow.

    Raise `NoPlainFormError` if a column would not come back as it is.
    """
    library, native = str(frame.implementation.value), frame.to_native()
    try:
        import pyarrow as pa

        table = pa.Table.from_pandas(native) if library == "pandas" else native
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        data: bytes = sink.getvalue().to_pybytes()
        again = read_arrow(library, data).to_native()
    except (ImportError, AttributeError, TypeError, ValueError, NotImplementedError) as error:
        msg = f"a checkpoint keeps no such rows of {library}: {type(error).__name__}"
        raise NoPlainFormError(msg) from error
    if not is_same(native, again):
        msg = f"these rows of {library} would not come back from Arrow as they are"
        raise NoPlainFormError(msg)
    return data


def read_arrow(library: str, data: bytes) -> nw.DataFrame[Any]:
    """Read a stream of Arrow, and check that it is sound."""
    import pyarrow as pa

    require_likely_stream(data)
    table = pa.ipc.open_stream(data).read_all()
    table.validate(full=True)
    for batch in table.to_batches():
        require_likely_values(batch, len(data))
    return nw.from_native(table.to_pandas() if library == "pandas" else table, eager_only=True)


def is_same(native: Any, again: Any) -> bool:
    """Tell whether rows that were written and read have the same types and values."""
    if hasattr(native, "schema"):
        return bool(again.schema.equals(native.schema, check_metadata=True))
    names = [native.columns, native.index], [again.columns, again.index]
    alike = all(a.identical(b) and type(a) is type(b) for a, b in zip(*names, strict=True))
    if not alike or list(native.dtypes) != list(again.dtypes) or not native.equals(again):
        return False
    pairs = zip(native.items(), again.items(), strict=True)
    return all(kinds_in(a) == kinds_in(b) for (_, a), (_, b) in pairs)


def kinds_in(column: Any) -> list[type[Any]]:
    """Types of objects in a column of them: to pandas 2.2, None is equal to nan."""
    return list(map(type, column.to_numpy())) if column.dtype == object else []


# --- A checkpoint folder: what identifies a run, and the sums of its finished chunks


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
