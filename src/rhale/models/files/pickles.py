"""Pickles, whatever their name: found by content, refused unless their very bytes were allowed."""

from __future__ import annotations

import hashlib
import io
import lzma
import pickle
import pickletools
import struct
import zipfile
import zlib
from importlib.util import find_spec
from typing import Any

from rhale.errors import BadFileError, UnsafeFileError

MODEL_HEADER_BYTES = 2**16  # bytes that tell what a file is
OPCODES = 6  # instructions of an old pickle without a mark at its start
PICKLE_OPCODES = ("GLOBAL", "INST", "REDUCE", "PUT", "BINPUT", "STOP")
WAYS_OUT = {
    "torch": "torch.onnx.export(model, (rows,), 'model.onnx')",
    "joblib": "skops.io.dump(model, 'model.skops')",
    "pickle": "skops.io.dump(model, 'model.skops')",
}
HASH = "sha256:"
# what a damaged or encrypted archive raises; NotImplementedError is a RuntimeError
ARCHIVE_ERRORS = (
    zipfile.BadZipFile,
    RuntimeError,
    OSError,
    EOFError,
    ValueError,
    struct.error,
    zlib.error,
    lzma.LZMAError,
)


def find_pickle(content: bytes) -> str | None:
    r"""Say who wrote a pickle: pickle, joblib or torch; None for what is no pickle.

    An archive is needed whole; of other files the beginning is enough.
    """
    if content[:2] == b"PK":  # members of an archive, by name and by content
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                names = archive.namelist()
                if any(name.endswith((".pkl", ".pickle", ".joblib")) for name in names):
                    return "torch"
                if any(_begins_as_pickle(archive, name) for name in names):
                    return "pickle"
        except ARCHIVE_ERRORS:
            return None  # damaged or encrypted: its reader says so
        return None
    if not _is_stream(content[:MODEL_HEADER_BYTES]):
        return None
    if b"joblib" in content[:MODEL_HEADER_BYTES]:
        return "joblib"
    return (
        "torch"
        if b"ctorch" in content[:MODEL_HEADER_BYTES] or b"\x8a\x0al\xfc\x9c" in content[:16]
        else "pickle"
    )


def _is_stream(head: bytes) -> bool:
    """Whether bytes begin as a pickle does: the mark of protocols 2 to 5, or old instructions."""
    if head[:1] == b"\x80":
        return len(head) > 1 and head[1] <= pickle.HIGHEST_PROTOCOL + 1
    seen = []
    try:
        for opcode, _, _ in pickletools.genops(head):
            seen.append(opcode.name)
            if len(seen) == OPCODES:
                break
    except (ValueError, OverflowError, UnicodeDecodeError):
        return False
    return any(name in PICKLE_OPCODES for name in seen)


def _begins_as_pickle(archive: zipfile.ZipFile, name: str) -> bool:
    with archive.open(name) as member:
        head = member.read(2)
    return head[:1] == b"\x80" and len(head) > 1 and head[1] <= pickle.HIGHEST_PROTOCOL + 1


def hash_of(content: bytes) -> str:
    """The name of exactly these bytes.

    Examples
    --------
    >>> hash_of(b"")[:19]
    'sha256:e3b0c44298fc'
    """
    return HASH + hashlib.sha256(content).hexdigest()


def refuse_pickle(path: str, content: bytes, writer: str) -> None:
    """Say why a pickle is not read, and what to do instead."""
    msg = (
        f"{path} is a pickle (written by {writer}), and reading a pickle runs whatever code is in "
        f"it. Save the model in a format that holds no code, for example {WAYS_OUT[writer]}, or "
        "as ONNX. If you made this very file yourself: rhale explain --allow-pickle "
        f"{hash_of(content)}, or in Python load it and pass the object"
    )
    raise UnsafeFileError(msg)


def load_pickle(path: str, content: bytes, writer: str, allowed: str) -> Any:
    """Read a pickle whose exact bytes were allowed; the bytes that were hashed are the ones read."""
    found = hash_of(content)
    if allowed.lower() != found:
        msg = (
            f"--allow-pickle names {allowed:.80}, but {path} is {found}: it is another file, or it "
            "was changed"
        )
        raise UnsafeFileError(msg)
    try:
        if writer == "torch":
            import torch

            return torch.load(io.BytesIO(content), weights_only=False)  # its hash was allowed
        if find_spec("joblib"):
            import joblib

            return joblib.load(io.BytesIO(content))
        return pickle.loads(content)  # noqa: S301 - its hash was allowed
    except Exception as error:
        msg = f"{path} cannot be unpickled: {type(error).__name__}: {error}"
        raise BadFileError(msg) from error
