"""Sums as bytes and back with the same bits: JSON, the numbers of arrays, and rows as Arrow."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from itertools import pairwise
from types import NoneType
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from rhale.data.files.arrow import require_likely_stream, require_likely_values
from rhale.stats.records import CROSSING

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
            msg = f"{name} is in a sum: declare it with rhale.stats.records.crosses_processes"
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
