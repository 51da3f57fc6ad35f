"""Numbers to one versioned JSON file, and back exactly."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from rhale.effect import Effect, LocalEffects, Missing
from rhale.errors import BadFileError
from rhale.kernels.curve import CellMeans, fill_gaps, middles
from rhale.kernels.doubt import bridged
from rhale.kernels.grid import Grid
from rhale.kernels.moments import Moments
from rhale.level_effect import LevelEffect
from rhale.profile import Profile
from rhale.writing import write_text

VERSION = "rhale_format"
FORMAT = 3
READABLE = (1, 2, 3)
RECORD, OLD_RECORD = "record", "kind"  # results have a field "kind" since format 3
RECORDS: dict[str, type[Any]] = {
    "effect": Effect,
    "level_effect": LevelEffect,
    "profile": Profile,
    "moments": Moments,
    "grid": Grid,
    "local_effects": LocalEffects,
    "cell_means": CellMeans,
    "missing": Missing,
}
NAMES = {record: name for name, record in RECORDS.items()}


def pack(explanation: Any) -> dict[str, Any]:
    """Turn an explanation into plain values."""
    return {f.name: _field(getattr(explanation, f.name)) for f in fields(explanation)}


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
    """Turn arrays and records into lists and dictionaries, so that `restored` can undo it."""
    if isinstance(value, np.ndarray):
        return {"array": _numbers(value), "type": value.dtype.name, "shape": list(value.shape)}
    if type(value) in NAMES:
        names = [f.name for f in fields(value)] if is_dataclass(value) else value._fields
        return {RECORD: NAMES[type(value)], **{n: _field(getattr(value, n)) for n in names}}
    if isinstance(value, dict):
        return {"mapping": [[k, plain(v)] for k, v in value.items()]}
    if isinstance(value, tuple):
        return {"tuple": _field(value)}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return {"number": str(value)}
    return value


def _field(value: Any) -> Any:
    """Write a field of a record: a list there is always a tuple, so that it needs no mark."""
    return [plain(v) for v in value] if type(value) is tuple else plain(value)


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
    if "tuple" in value:
        return tuple(restored(value["tuple"]))
    if "number" in value:
        return float(value["number"])
    return _record(value)


def _record(value: dict[str, Any]) -> Any:
    """Restore a result, or a part of one."""
    tag = RECORD if RECORD in value else OLD_RECORD
    content = {name: restored(v) for name, v in value.items() if name != tag}
    content.update({n: tuple(v) for n, v in content.items() if isinstance(v, list)})
    return RECORDS[value[tag]](**content)


def _numbers(array: np.ndarray[Any, Any]) -> list[Any]:
    """List the numbers; nan and infinity, which JSON lacks, as null and text."""
    flat = array.ravel().tolist()
    if array.dtype.kind != "f" or np.all(np.isfinite(array)):
        return flat
    return [None if v != v else str(v) if abs(v) == np.inf else v for v in flat]  # noqa: PLR0124


def write(path: str | PathLike[str], content: dict[str, Any]) -> None:
    """Write an explanation whole or not at all."""
    write_text(path, json.dumps({VERSION: FORMAT, **content}, allow_nan=False))


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
        msg = (
            f"{path} has format {version}; "
            f"this version of rhale reads formats 1 to {FORMAT}: upgrade"
        )
        raise BadFileError(msg)
    return dict(content)
