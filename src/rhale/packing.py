"""Numbers, texts, tables and our own records as bytes, and back with the same bits."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from decimal import Decimal
from importlib import import_module
from itertools import pairwise
from types import NoneType
from typing import Any
from zoneinfo import ZoneInfo

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from rhale.errors import CheckpointError
from rhale.features.levels import Levels
from rhale.features.survey import Census, Probe, Survey
from rhale.kernels.cells import Cells
from rhale.kernels.curve_moments import Scatter
from rhale.kernels.grid import Grid
from rhale.kernels.level_moments import LevelMoments
from rhale.kernels.moments import Moments
from rhale.kernels.sample import Sample
from rhale.measures.measure import Sums
from rhale.measures.tracing import Traces
from rhale.packed_frames import blaming, put_together, taken_apart
from rhale.tables.array import ArrayChunk
from rhale.tables.columns import Labels
from rhale.tables.frame import FrameChunk
from rhale.tables.pieces.facts import Seen

Plain = Any  # what JSON has: None, bool, int, float, str, list, dict
Value = tuple[type[Any], Callable[[Any], Plain], Callable[[Any], Any]]

RECORDS: dict[str, type[Any]] = {
    record.__name__: record
    for record in (
        *(ArrayChunk, FrameChunk, Labels, Levels, Census, Probe, Sample, Seen, Survey),
        *(Grid, Cells, Moments, LevelMoments, Scatter, Sums, Traces),
    )
}
AS_THEY_ARE = (NoneType, bool, int, float, str)  # in JSON, and from it
NUMBERS = "biufcmMSU"  # kinds of arrays: all but objects
PANDAS = ("Timestamp", "Timedelta", "Interval")
WORD = 8  # bytes of the number at the beginning


def pack(value: Any) -> bytes:
    """Turn a value into bytes.

    Parameters
    ----------
    value : object
        One of our records (`RECORDS`), an array, a table, or a plain value: None, truth, number,
        text, bytes, date, time, duration, decimal; tuples, lists and dictionaries of these.

    Raises
    ------
    CheckpointError
        If there is anything else in it.

    Notes
    -----
    JSON says what it is; the bytes of all arrays follow. Nothing is pickled: reading a file of
    an unknown origin makes wrong numbers at worst.

    Examples
    --------
    >>> unpack(pack({"a": (1, float("inf"))}))
    {'a': (1, inf)}
    """
    packer = Packer()
    tree = packer.plain(value)
    head = json.dumps([[len(blob) for blob in packer.blobs], tree]).encode()
    return b"".join([len(head).to_bytes(WORD, "little"), head, *packer.blobs])


def unpack(data: bytes) -> Any:
    """Turn bytes back into the value."""
    start = WORD + int.from_bytes(data[:WORD], "little")
    sizes, tree = json.loads(data[WORD:start])
    limits = [start, *(start + np.cumsum(sizes, dtype=np.int64)).tolist()]
    if limits[-1] != len(data):
        msg = f"{limits[-1]} bytes were announced, {len(data)} are there"
        raise ValueError(msg)
    return Unpacker([data[a:b] for a, b in pairwise(limits)]).restored(tree)


class Packer:
    """Makes plain values of all others; bytes are put aside."""

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
        if RECORDS.get(kind.__name__) is kind:
            content = {f.name: self.plain(getattr(value, f.name)) for f in fields(value)}
            return {"record": [kind.__name__, content]}
        if isinstance(value, nw.DataFrame):
            return {"frame": self.frame(value)}
        if isinstance(value, type):
            return {"type": name_of_type(value)}
        return self.other(value)

    def column(self, values: Sequence[Any]) -> Plain:
        """Values side by side; many of one type take little time and room."""
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
        if array.dtype.kind not in NUMBERS:
            msg = f"a checkpoint keeps no arrays of type {array.dtype}"
            raise CheckpointError(msg)
        axes = np.argsort([-abs(step) for step in array.strides], kind="stable").tolist()
        place = self.put_aside(array.transpose(axes).tobytes())
        return [array.dtype.str, array.shape, axes, place]

    def put_aside(self, data: bytes) -> int:
        """Number of a piece of bytes."""
        self.blobs.append(data)
        return len(self.blobs) - 1

    def frame(self, frame: nw.DataFrame[Any]) -> Plain:
        """The library, and the columns one by one."""
        library, names, columns, rest = taken_apart(frame)
        packed = []
        for name, column in zip(names, columns, strict=True):
            with blaming(name):
                packed.append(self.plain(column))
        return [library, packed, self.plain(rest)]

    def other(self, value: Any) -> Plain:
        """Values of other libraries that stand in tables."""
        for name, (kind, written, _) in VALUES.items():
            if type(value) is kind:
                return {name: written(value)}
        name = type(value).__name__
        if type(value).__module__.partition(".")[0] == "pandas":
            if name == "Interval":
                parts = value.left, value.right, value.closed
                return {"interval": [self.plain(part) for part in parts]}
            if name in ("NaTType", "NAType"):
                return {"missing": name[:-4]}
            if name in ("Timestamp", "Timedelta") and getattr(value, "tzinfo", None) is None:
                return {"moment": [name, self.plain(value.asm8)]}
        msg = (
            f"a checkpoint keeps no values of type {type(value).__module__}.{name} (found "
            f"{value!r:.60}); turn them into text, numbers or dates, or do without checkpoint="
        )
        raise CheckpointError(msg)


class Unpacker:
    """Undoes what a `Packer` did."""

    def __init__(self, blobs: list[bytes]) -> None:
        self.blobs = blobs
        self.readers: dict[str, Callable[[Any], Any]] = {
            "tuple": lambda content: tuple(self.column(content)),
            "list": self.column,
            "dict": lambda content: dict(zip(*map(self.column, content), strict=True)),
            "bytes": lambda place: self.blobs[place],
            "array": self.array,
            "scalar": lambda content: self.array(content)[()],
            "record": self.record,
            "frame": self.frame,
            "type": type_of_name,
            "interval": lambda parts: _pandas("Interval")(*map(self.restored, parts)),
            "missing": lambda name: _pandas(name),
            "moment": lambda content: _pandas(content[0])(self.restored(content[1])),
            **{name: read for name, (_, _, read) in VALUES.items()},
        }

    def restored(self, tree: Plain) -> Any:
        """The value that a plain one stands for."""
        if not isinstance(tree, dict):
            return tree
        ((name, content),) = tree.items()
        return self.readers[name](content)

    def column(self, content: Plain) -> list[Any]:
        """Values that stood side by side."""
        if isinstance(content, list):
            return [self.restored(tree) for tree in content]
        ((name, parts),) = content.items()
        if name == "rows":
            return list(zip(*map(self.column, parts), strict=True))
        if name == "same":
            return [self.restored(parts[1])] * int(parts[0])
        values: list[Any] = self.array(parts).tolist()
        return values

    def array(self, content: Plain) -> npt.NDArray[Any]:
        """Numbers in memory as they were."""
        name, shape, axes, place = content
        dtype = np.dtype(name)
        if dtype.kind not in NUMBERS:
            msg = f"arrays of type {name} are not read"
            raise ValueError(msg)
        held = np.ndarray([shape[a] for a in axes], dtype, self.blobs[place])
        return held.copy().transpose(np.argsort(axes))

    def record(self, content: Plain) -> Any:
        """One of our own records."""
        name, parts = content
        return RECORDS[name](**{field: self.restored(tree) for field, tree in parts.items()})

    def frame(self, content: Plain) -> Any:
        """A table."""
        library, columns, rest = content
        return put_together(library, [self.restored(c) for c in columns], self.restored(rest))


# --- single values -----------------------------------------------------------------------------


def _written_moment(value: dt.datetime) -> Plain:
    zone: Any = value.tzinfo
    if isinstance(zone, ZoneInfo) and zone.key is not None:
        zone = zone.key
    elif isinstance(zone, dt.timezone):
        zone = zone.utcoffset(None).total_seconds()
    elif zone is not None:
        msg = (
            f"a checkpoint keeps no times in a zone of type {type(zone).__name__} (found "
            f"{value!r:.60}); use zoneinfo.ZoneInfo, or do without checkpoint="
        )
        raise CheckpointError(msg)
    return [value.replace(tzinfo=None).isoformat(), zone, value.fold]


def _read_moment(content: Plain) -> dt.datetime:
    text, zone, fold = content
    if isinstance(zone, str):
        zone = ZoneInfo(zone)
    elif zone is not None:
        zone = dt.timezone(dt.timedelta(seconds=zone))
    return dt.datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold)


VALUES: dict[str, Value] = {
    "date": (dt.date, dt.date.isoformat, dt.date.fromisoformat),
    "datetime": (dt.datetime, _written_moment, _read_moment),
    "timedelta": (
        dt.timedelta,
        lambda value: [value.days, value.seconds, value.microseconds],
        lambda parts: dt.timedelta(*parts),
    ),
    "decimal": (Decimal, str, Decimal),
}
TYPES: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (*AS_THEY_ARE, bytes, *(kind for kind, _, _ in VALUES.values()))
}


def name_of_type(kind: type[Any]) -> str:
    """Name of a type whose values stand in tables."""
    name = kind.__name__
    library = kind.__module__.partition(".")[0]
    if TYPES.get(name) is kind:
        return name
    is_number = library == "numpy" and np.dtype(kind).kind in NUMBERS
    if is_number or (library == "pandas" and name in PANDAS):
        return f"{library}.{name}"
    msg = (
        f"a checkpoint keeps no values of type {kind.__module__}.{name}; turn them into text, "
        "numbers or dates, or do without checkpoint="
    )
    raise CheckpointError(msg)


def type_of_name(name: str) -> type[Any]:
    """The type of such a name."""
    library, _, rest = name.rpartition(".")
    if library == "pandas":
        kind: type[Any] = _pandas(rest)
        return kind
    return np.dtype(rest).type if library == "numpy" else TYPES[rest]


def _pandas(name: str) -> Any:
    """A type of pandas, or what stands there for nothing."""
    if name not in (*PANDAS, "NaT", "NA"):
        msg = f"pandas.{name} is not read"
        raise ValueError(msg)
    return getattr(import_module("pandas"), name)
