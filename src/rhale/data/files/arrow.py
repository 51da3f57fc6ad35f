"""Arrow files, Feather and streams: sizes are checked before memory is taken, batches before use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rhale.data.files.regular import NUMBER_BYTES, RegularFile, require_likely
from rhale.errors import excerpt
from rhale.system.flatbuffers import BYTE, LONG, WORD, FlatTable

ARROW_TRAILER_BYTES = 10  # bytes behind a footer: its length, and six letters
CONTINUED = 0xFFFFFFFF  # stands before the length of a message, but not in files of old versions
PREFIX = 8  # bytes before a compressed buffer: its length when it is not
DICTIONARY_MESSAGE, RECORD_BATCH_MESSAGE = 2, 3  # kinds of messages
ARROW_BLOCK_DTYPE = np.dtype([("place", "<i8"), ("head", "<i4"), ("", "<i4"), ("body", "<i8")])
ARROW_BUFFER_DTYPE = np.dtype([("place", "<i8"), ("size", "<i8")])
Records = npt.NDArray[np.void]


def measure_arrow(file: RegularFile, kind: str) -> tuple[Any, int]:
    """Columns and number of rows; rows are not read.

    What the file says about the sizes of its parts is compared with its own size here, as Arrow
    sets memory aside for it without asking.
    """
    heads = _list_bodies(file) if kind == "arrow" else _walk_stream(file)
    n_rows = _count_rows(file, heads)
    return _open_arrow_reader(file, kind).schema, n_rows


def require_likely_stream(data: bytes) -> None:
    """Refuse a stream that says of itself that it becomes far larger than its bytes."""
    held = HeldBytes(data)
    _count_rows(held, _walk_stream(held))


class HeldBytes:
    """Bytes in memory that are read like a regular file."""

    def __init__(self, data: bytes) -> None:
        self.data, self.size = data, len(data)

    def read_at(self, place: int, size: int) -> bytes:
        """Read bytes that must be there."""
        _require_inside(self, place, size)
        return self.data[place : place + size]


def _count_rows(file: RegularFile | HeldBytes, heads: Iterable[tuple[int, bytes, int]]) -> int:
    """Rows of all batches, after a look at the sizes of each."""
    n_rows = 0
    for place, head, body in heads:
        batch = read_head(head)
        if batch is not None:
            n_rows += batch.n_rows
            # A compressed batch must not claim to become far larger than the bytes it is made of;
            # buffers that are not compressed are parts of the body
            if batch.is_compressed:
                expanded = 0
                for start, size in batch.buffers[batch.buffers["size"] > PREFIX].tolist():
                    (found,) = LONG.unpack(file.read_at(place + start, PREFIX))
                    expanded += max(found, size - PREFIX)  # -1: the buffer is not compressed
                require_likely(expanded, body, f"the batch at byte {place}")
    return n_rows


def read_arrow_batches(file: RegularFile, kind: str, names: list[str], size: int) -> Iterator[Any]:
    """Read rows in record batches of at most `size` rows; only these columns are touched."""
    # Arrow trusts the offsets and indices in a file, and reads whatever memory they lead to. They
    # are checked in full before anything looks at the values.
    import pyarrow as pa

    place = {name: place for place, name in enumerate(_open_arrow_reader(file, kind).schema.names)}
    wanted = pa.ipc.IpcReadOptions(included_fields=[place[name] for name in names])
    found = _open_arrow_reader(file, kind, options=wanted)
    batches = found if kind == "stream" else map(found.get_batch, range(found.num_record_batches))
    for batch in batches:
        require_likely_values(validate(batch), file.size)
        for start in range(0, batch.num_rows, size):
            yield batch.slice(start, size)


def validate(batch: Any) -> Any:
    """The same batch, if all that it refers to is there and its text is text."""
    batch.validate(full=True)
    return batch


def require_likely_values(batch: Any, n_bytes: int) -> None:
    """Refuse values that share their bytes, and take far more where each has its own."""
    sizes = list(map(own_bytes, batch.columns))
    if sizes:
        name = batch.schema.names[sizes.index(max(sizes))]
        require_likely(sum(sizes), n_bytes, f"the file with column {excerpt(name, 60)!r}")


def own_bytes(values: Any, *, inside: bool = False) -> int:
    """About how many bytes values take where no two share theirs, as in rows of pandas.

    Views may all show one long text, lists hold any number of missing values in no bytes, and
    categories inside lists are written out; columns of categories stay such.
    """
    import pyarrow as pa

    kind, n_values, is_a = values.type, len(values), pa.types
    if is_a.is_string_view(kind) or is_a.is_binary_view(kind):
        return int(_text_lengths(values).sum())
    if is_a.is_dictionary(kind):
        texts = values.dictionary
        longest = _text_lengths(texts).max(initial=0) if inside else 0
        return n_values * int(longest)
    if is_a.is_list_view(kind) or is_a.is_large_list_view(kind):
        return int(values.sizes.to_numpy().sum()) * (
            NUMBER_BYTES + own_bytes(values.values, inside=True)
        )
    if is_a.is_null(kind):
        return NUMBER_BYTES * n_values
    if is_a.is_struct(kind) or is_a.is_union(kind):
        parts = [values.field(i) for i in range(kind.num_fields)]
    elif is_a.is_run_end_encoded(kind):
        parts = [values.values]
    elif kind.num_fields:
        parts = [values.flatten()]
        n_values += len(parts[0])
    else:
        return int(values.nbytes)
    return NUMBER_BYTES * n_values + sum(own_bytes(part, inside=True) for part in parts)


def _text_lengths(values: Any) -> npt.NDArray[np.int64]:
    """Bytes of each text; none where the values are no texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        views = np.frombuffer(values.buffers()[1] or b"", "<i4").reshape(-1, 4)
        return views[values.offset : values.offset + len(values), 0].astype(np.int64)
    try:
        lengths = pc.binary_length(values)
    except pa.ArrowNotImplementedError:
        return np.zeros(0, dtype=np.int64)
    return np.asarray(pc.fill_null(lengths, 0).to_numpy(zero_copy_only=False), dtype=np.int64)


def skip_rows(batches: Iterable[Any], n_rows: int) -> Iterator[Any]:
    """Leave rows out at the start."""
    for batch in batches:
        if n_rows < batch.num_rows:
            yield batch.slice(n_rows) if n_rows else batch
        n_rows = max(n_rows - batch.num_rows, 0)


def _open_arrow_reader(file: RegularFile, kind: str, **options: Any) -> Any:
    """The reader of pyarrow."""
    import pyarrow as pa

    read_kind = pa.ipc.open_file if kind == "arrow" else pa.ipc.open_stream
    return read_kind(file.native(), **options)


# --- where the batches are -----------------------------------------------------------------------


def _list_bodies(file: RegularFile) -> Iterator[tuple[int, bytes, int]]:
    """Places of the bodies of a file, their heads and sizes, from the footer."""
    (size,) = WORD.unpack(file.read_at(file.size - ARROW_TRAILER_BYTES, WORD.size))
    footer = FlatTable.root(file.read_at(file.size - ARROW_TRAILER_BYTES - size, size))
    for slot in (2, 3):  # dictionaries, then rows
        for place, head, body in footer.array(slot, ARROW_BLOCK_DTYPE)[
            ["place", "head", "body"]
        ].tolist():
            message = _after_length(file.read_at(place, head))
            if FlatTable.root(message).number(3, LONG) != body:
                msg = f"its footer and the batch at byte {place} say different sizes"
                raise ValueError(msg)
            _require_inside(file, place + head, body)
            yield place + head, message, body


def _after_length(head: bytes) -> bytes:
    """The message behind its length."""
    (first,) = WORD.unpack(head[: WORD.size].ljust(WORD.size, b"\0"))
    return head[2 * WORD.size :] if first % 2**32 == CONTINUED else head[WORD.size :]


def _walk_stream(file: RegularFile | HeldBytes) -> Iterator[tuple[int, bytes, int]]:
    """Places of the bodies of a stream, their heads and sizes, from one message to the next."""
    place = 0
    while place + WORD.size <= file.size:
        (size,) = WORD.unpack(file.read_at(place, WORD.size))
        place += WORD.size
        if size % 2**32 == CONTINUED:
            (size,) = WORD.unpack(file.read_at(place, WORD.size))
            place += WORD.size
        if size == 0:  # says that the stream is over
            return
        head = file.read_at(place, size)
        body = FlatTable.root(head).number(3, LONG)
        place += size
        _require_inside(file, place, body)
        yield place, head, body
        place += body


def _require_inside(file: RegularFile | HeldBytes, place: int, size: int) -> None:
    """Refuse bytes that a file does not have."""
    if place < 0 or size < 0 or place + size > file.size:
        msg = f"it says that it has {size} bytes at {place}, but it is {file.size} bytes long"
        raise ValueError(msg)


# --- what a message says -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Head:
    """What stands before the bytes of a batch."""

    n_rows: int  # how many rows; none for a dictionary
    is_compressed: bool  # whether its buffers are
    buffers: Records  # their places in the body, and sizes


def read_head(message: bytes) -> Head | None:
    """Read what Arrow writes before a batch; None for messages of other kinds."""
    root = FlatTable.root(message)
    kind = root.number(1, BYTE)
    if kind not in (DICTIONARY_MESSAGE, RECORD_BATCH_MESSAGE):
        return None
    batch = root.table(2)
    if batch is not None and kind == DICTIONARY_MESSAGE:
        batch = batch.table(1)
    if batch is None:
        return None
    n_rows = batch.number(0, LONG)
    if n_rows < 0:
        msg = f"it has a batch of {n_rows} rows"
        raise ValueError(msg)
    is_compressed = batch.table(3) is not None
    return Head(
        n_rows if kind == RECORD_BATCH_MESSAGE else 0,
        is_compressed,
        batch.array(2, ARROW_BUFFER_DTYPE),
    )
