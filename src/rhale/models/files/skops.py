"""skops files: scikit-learn models rebuilt from a list of known types, unpacked within limits."""

from __future__ import annotations

import io
import json
import math
import sys
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import skops.io

from rhale.errors import BadFileError, UnsafeFileError
from rhale.models.libraries import first_line

# --- Archives, unpacked within limits: no more bytes than their size allows, arrays that are whole


MOST_MEMBERS, ARCHIVE_READ_BYTES = 100_000, 2**20
# Bytes that any archive may have unpacked; more, as so many times.
LEAST_ROOM, MAX_ARCHIVE_EXPANSION = 2**26, 100
PACKED_ARRAYS = ".npz"


def repack(content: bytes) -> bytes:
    """Unpack an archive, check its arrays and pack it again without compression."""
    return _repack(content, room_of(content))


def room_of(content: bytes) -> int:
    """Bytes that an archive may have when it is unpacked.

    Examples
    --------
    >>> room_of(b"")
    67108864
    """
    return max(LEAST_ROOM, MAX_ARCHIVE_EXPANSION * len(content))


def _repack(content: bytes, room: int) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as packed:
        for name, member in unpack_archive(content, room).items():
            if name.endswith(".npy"):
                check_array(member)
            kept = _repack(member, room) if name.endswith(PACKED_ARRAYS) else member
            room -= len(kept)
            packed.writestr(name, kept)
    return held.getvalue()


def unpack_archive(content: bytes, room: int | None = None) -> dict[str, bytes]:
    """Unpack an archive; ValueError where its members are too many or too large."""
    room = room_of(content) if room is None else room
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            if len(members) > MOST_MEMBERS or sum(m.file_size for m in members) > room:
                msg = "its members are too many or too large for its size"
                raise ValueError(msg)
            return {member.filename: _read_member(archive, member) for member in members}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        msg = f"it is damaged: {error}"
        raise ValueError(msg) from error


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """A member as long as it says; block by block, because what it says may be too little."""
    parts = []
    with archive.open(member) as file:
        while block := file.read(ARCHIVE_READ_BYTES):
            parts.append(block)
    return b"".join(parts)


def check_array(content: bytes) -> None:
    """Refuse an array of NumPy that is not as long as it says, or holds objects: ValueError."""
    held = io.BytesIO(content)
    version = np.lib.format.read_magic(held)
    read_header: Any = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read_header is None:
        msg = "it has an array of an unknown kind"
        raise ValueError(msg)
    shape, _, dtype = read_header(held)
    n_bytes = len(content) - held.tell()
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != n_bytes or dtype.itemsize == 0:
        msg = "it has an array that is not as long as it says, or no numbers and no text"
        raise ValueError(msg)


SCHEMA = "schema.json"
FUNCTION_NODES = ("FunctionNode", "MethodNode", "OperatorFuncNode")
# of Python and of functions, what scikit-learn's own models hold
HARMLESS = (
    "collections.OrderedDict",
    "collections.defaultdict",
    "functools.partial",
    "scipy._lib.array_api_compat.numpy._aliases.asarray",
    "sklearn.utils.validation.check_array",
)


def load_skops(path: Path, content: bytes, trust: Sequence[str] = ()) -> Any:
    """Load a skops file whose types are all known, or trusted by name."""
    # The archive is unpacked here, within limits, and skops reads what was unpacked.
    try:
        whole = repack(content)
        schema = _schema_of(whole)
        unknown = set(skops.io.get_untrusted_types(data=whole))
    except Exception as error:
        raise _describe_damage(path, error) from error
    _check_trust(path, sorted(unknown - set(trust)), schema)
    try:
        return skops.io.loads(whole, trusted=sorted(unknown))
    except Exception as error:
        raise _describe_damage(path, error) from error


def _schema_of(content: bytes) -> Any:
    """What the file says it is made of."""
    return json.loads(unpack_archive(content).get(SCHEMA, b""))


def _check_trust(path: Path, missing: Sequence[str], schema: Any) -> None:
    """Refuse names that nobody trusts; only classes are worth an offer."""
    if not missing:
        return
    named = {_class_path(n) for n in _nodes_of(schema) if n.get("__loader__") in FUNCTION_NODES}
    wild = [n for n in missing if n not in HARMLESS and (n in named or not _is_plain_class(n))]
    if wild:
        msg = (
            f"{path} holds functions or types that can do anything, and that skops does not know "
            f"to be safe: {', '.join(wild)}; save the model without them"
        )
        raise UnsafeFileError(msg)
    options = " ".join(f"--trust {name}" for name in missing)
    msg = (
        f"{path} makes objects of types that skops does not know to be safe: "
        f"{', '.join(missing)}. If you trust them, pass {options}"
    )
    raise UnsafeFileError(msg)


def _class_path(node: dict[str, Any]) -> str:
    return f"{node.get('__module__')}.{node.get('__class__')}"


def _nodes_of(schema: Any) -> Iterator[dict[str, Any]]:
    """All parts of the schema that name a class or function."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if "__class__" in part:
                yield part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part


def _is_plain_class(name: str) -> bool:
    """Whether a name is one of a class, and not of Python's own; nothing is imported for it."""
    module, _, last = name.rpartition(".")
    if module.partition(".")[0] in sys.stdlib_module_names:
        return False
    found = getattr(sys.modules.get(module), last, None)
    return isinstance(found, type) if found is not None else last.lstrip("_")[:1].isupper()


def _describe_damage(path: Path, error: Exception) -> BadFileError:
    what = "" if isinstance(error, ValueError) else f" ({type(error).__name__})"
    return BadFileError(
        f"skops cannot load {path}{what}: {first_line(error)}. Save the model again with skops.io.dump"
    )
