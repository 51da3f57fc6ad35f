"""skops files: scikit-learn models that are rebuilt from a list of known types."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import skops.io

from rhale.errors import BadFileError, UnsafeFileError


def load_skops(path: Path, content: bytes, trust: Sequence[str] = ()) -> Any:
    """Load a skops file whose types are all known, or trusted by name.

    Parameters
    ----------
    path : Path
        For messages.
    content : bytes
        The whole file.
    trust : sequence of str
        Full names of further types, as in `shop.steps.Rounder`.
    """
    try:
        unknown = skops.io.get_untrusted_types(data=content)
    except Exception as error:
        raise _damaged(path, error) from error
    missing = sorted(set(unknown) - set(trust))
    if missing:
        options = " ".join(f"--trust {name}" for name in missing)
        msg = (
            f"{path} makes objects of types that skops does not know to be safe: "
            f"{', '.join(missing)}. If you trust them, pass {options}"
        )
        raise UnsafeFileError(msg)
    try:
        return skops.io.loads(content, trusted=sorted(set(unknown)))
    except Exception as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> BadFileError:
    what = "it is damaged" if isinstance(error, zipfile.BadZipFile) else type(error).__name__
    return BadFileError(f"skops cannot load {path} ({what}): {error}")
