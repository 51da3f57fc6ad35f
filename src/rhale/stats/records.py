"""Frozen records of arrays: read-only, compared by value, known by name to other processes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from rhale.errors import ReadOnlyError


class ReadOnlyDict(dict[str, Any]):
    """A dictionary that can be read, copied, compared, pickled and written as JSON.

    Examples
    --------
    >>> told = ReadOnlyDict({"rows": 10})
    >>> told == {"rows": 10}, {**told, "seed": 0}
    (True, {'rows': 10, 'seed': 0})
    """

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        msg = "this belongs to a finished explanation and cannot be changed; make a copy: dict(...)"
        raise ReadOnlyError(msg)

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type[ReadOnlyDict], tuple[dict[str, Any]]]:
        return ReadOnlyDict, (dict(self),)


def as_read_only(content: Mapping[str, Any]) -> ReadOnlyDict:
    """Make a mapping, and the mappings in it, read-only, without touching the caller's."""
    if isinstance(content, ReadOnlyDict):
        return content
    return ReadOnlyDict(
        {k: as_read_only(v) if isinstance(v, Mapping) else v for k, v in content.items()}
    )


# --- Frozen records of arrays: read-only, compared by value, known by name to other processes


Record = TypeVar("Record")
Array = TypeVar("Array", bound=npt.NDArray[Any])
CROSSING: dict[str, type[Any]] = {}  # by name: records that are sent or kept as bytes


def crosses_processes(record: type[Record]) -> type[Record]:
    """Make a frozen dataclass known by its name: one that adds up, or a part of one that does.

    Whoever reads its bytes, in this process or in a later one, makes nothing but such records.
    """
    known = CROSSING.setdefault(record.__name__, record)
    if known.__module__ != record.__module__:
        msg = f"{record.__name__} crosses processes by its name; {known.__module__} has one, too"
        raise TypeError(msg)
    CROSSING[record.__name__] = record
    return record


def freeze(record: Any) -> None:
    """Make the arrays of a frozen dataclass read-only, without touching the caller's."""
    for name, value in vars(record).items():
        if isinstance(value, np.ndarray) and value.flags.writeable:
            value = value.view()
            value.flags.writeable = False
            object.__setattr__(record, name, value)


def as_frozen(array: Array) -> Array:
    """Make an array of one's own read-only."""
    array.flags.writeable = False
    return array


def same_fields(a: object, b: object) -> bool:
    """Compare two dataclasses by the fields that count; arrays by value, nan equal to nan."""
    if type(a) is not type(b):
        return False
    names = [f.name for f in fields(a) if f.compare]  # type: ignore[arg-type]
    return all(same_value(getattr(a, n), getattr(b, n)) for n in names)


def same_value(a: Any, b: Any) -> bool:
    """Compare arrays, tuples, mappings and plain values; nan is equal to nan.

    Examples
    --------
    >>> same_value((1.0, float("nan")), (1.0, float("nan")))
    True
    """
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        a, b = np.asarray(a), np.asarray(b)
        return a.shape == b.shape and bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
    if is_dataclass(a) and type(a) is type(b):
        return same_fields(a, b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same_value, a, b))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same_value(value, b[key]) for key, value in a.items())
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    return bool(a == b)
