"""Numbers to one versioned JSON file, and back exactly."""

from __future__ import annotations

import json
import os
from dataclasses import fields, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from rhale.effect import Effect, LocalEffects
from rhale.errors import BadFileError
from rhale.kernels.curve import CellMeans, fill_gaps, middles
from rhale.kernels.doubt import bridged
from rhale.kernels.grid import Grid
from rhale.kernels.moments import Moments
from rhale.profile import Profile

VERSION = "rhale_format"
FORMAT = 2
READABLE = (1, 2)
KINDS: dict[str, type[Any]] = {
    "effect": Effect,
    "profile": Profile,
    "moments": Moments,
    "grid": Grid,
    "local_effects": LocalEffects,
    "cell_means": CellMeans,
}
NAMES = {kind: name for name, kind in KINDS.items()}


def pack(explanation: Any) -> dict[str, Any]:
    """Turn an explanation into plain values."""
    return {f.name: plain(getattr(explanation, f.name)) for f in fields(explanation)}


def unpack(content: dict[str, Any]) -> dict[str, Any]:
    """Turn plain values back into the fields of an explanation."""
    found = {name: restored(value) for name, value in content.items() if name != VERSION}
    for name in ("features", "outputs", "effects", "notes"):
        found[name] = tuple(found[name])
    if content[VERSION] == 1:
        found["effects"] = tuple(map(_from_format_1, found["effects"]))
    return found


def _from_format_1(effect: Any) -> Any:
    """Interpolate bins without rows: format 1 left their mean and std open."""
    if not isinstance(effect, Effect) or effect.measured.all():
        return effect
    known, middle = effect.measured, middles(effect.edges)
    level = np.where(known, effect.mean + effect.slope * (effect.mean_x - middle), 0.0)
    level = bridged(effect.edges, known, effect.mean_x, level, effect.slope)
    return replace(
        effect,
        mean=np.where(known, effect.mean, level),
        std=np.where(known, effect.std, fill_gaps(effect.std, middle)),
        std_plain=np.where(known, effect.std_plain, fill_gaps(effect.std_plain, middle)),
    )


def plain(value: Any) -> Any:
    """Turn arrays and records into lists and dictionaries."""
    if isinstance(value, np.ndarray):
        return {"array": _numbers(value), "type": value.dtype.name, "shape": list(value.shape)}
    if type(value) in NAMES:
        names = (
            value._fields if isinstance(value, LocalEffects) else [f.name for f in fields(value)]
        )
        return {"kind": NAMES[type(value)], **{n: plain(getattr(value, n)) for n in names}}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {"mapping": [[k, plain(v)] for k, v in value.items()]}
    if isinstance(value, np.generic):
        return value.item()
    return value


def restored(value: Any) -> Any:
    """Undo `plain`."""
    if isinstance(value, list):
        return [restored(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        flat = [
            np.nan if v is None else float(v) if isinstance(v, str) else v for v in value["array"]
        ]
        return np.array(flat, dtype=value["type"]).reshape(value["shape"])
    if "mapping" in value:
        return {k: restored(v) for k, v in value["mapping"]}
    content = {name: restored(v) for name, v in value.items() if name != "kind"}
    content.update({n: tuple(v) for n, v in content.items() if isinstance(v, list)})
    return KINDS[value["kind"]](**content)


def _numbers(array: np.ndarray[Any, Any]) -> list[Any]:
    """List the numbers; nan and infinity, which JSON lacks, as null and text."""
    flat = array.ravel().tolist()
    if array.dtype.kind != "f" or np.all(np.isfinite(array)):
        return flat
    return [None if v != v else str(v) if abs(v) == np.inf else v for v in flat]  # noqa: PLR0124


def write(path: str | PathLike[str], content: dict[str, Any]) -> None:
    """Write a file whole or not at all."""
    target = Path(path)
    text = json.dumps({VERSION: FORMAT, **content}, allow_nan=False)
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """Read a file, or say why it is none of ours."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        msg = f"{path} is not a JSON file ({error}); it may be damaged or of another program"
        raise BadFileError(msg) from error
    version = content.get(VERSION) if isinstance(content, dict) else None
    if version is None:
        msg = f"{path} is JSON, but not written by Explanation.save: it has no 'rhale_format'"
        raise BadFileError(msg)
    if version not in READABLE:
        known = " and ".join(map(str, READABLE))
        msg = f"{path} has format {version}; this version of rhale reads formats {known}: upgrade"
        raise BadFileError(msg)
    return dict(content)
