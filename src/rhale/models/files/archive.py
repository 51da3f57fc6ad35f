"""Archives, unpacked within limits: no more bytes than their size allows, arrays that are whole."""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from typing import Any

import numpy as np

MOST_MEMBERS, ARCHIVE_READ_BYTES = 100_000, 2**20
LEAST_ROOM, MAX_ARCHIVE_EXPANSION = (
    2**26,
    100,
)  # bytes that any archive may have unpacked; more, as so many times
PACKED_ARRAYS = ".npz"


def repack(content: bytes) -> bytes:
    """Unpack an archive, check its arrays and pack it again without compression.

    Parameters
    ----------
    content : bytes
        The whole archive.

    Returns
    -------
    bytes
        An archive of the same members; a reader that unpacks it whole meets no surprise.
    """
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
    """Unpack an archive; ValueError where its members are too many or too large.

    Parameters
    ----------
    content : bytes
        The whole archive.
    room : int, optional
        Bytes that all members may have; `room_of(content)` if not given.

    Returns
    -------
    dict of str to bytes
        Members by name.
    """
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
