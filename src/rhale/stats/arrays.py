"""Arrays: their types, ranks, and frozen records of them, compared by value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from rhale.errors import ReadOnlyError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]

LARGEST_SQUARABLE, SMALLEST_SQUARABLE = 1e150, 1e-150  # squares of these are still ordinary numbers
# So many rows stay in the processor's cache while their columns are read.
TRANSPOSE_BLOCK_ROWS = 2**9


def lay_columns(rows: npt.NDArray[np.generic]) -> FloatArray:
    """Copy numbers so that those of a column are contiguous.

    `rows` (n_rows, ..., n_columns): of any type. Returns (n_columns, ..., n_rows).

    Examples
    --------
    >>> lay_columns(np.array([[1, 2], [3, 4], [5, 6]]))
    array([[1., 3., 5.],
           [2., 4., 6.]])
    """
    # A column of a table that is stored row by row is one number in every so many bytes: to read it
    # takes as long as to read the rows. Here all columns are read at once, some rows at a time.
    if rows.T.flags.c_contiguous:
        return rows.T.astype(np.float64)
    found = np.empty(rows.shape[::-1])
    for start in range(0, len(rows), TRANSPOSE_BLOCK_ROWS):
        found[..., start : start + TRANSPOSE_BLOCK_ROWS] = rows[
            start : start + TRANSPOSE_BLOCK_ROWS
        ].T
    return found


# --- Ranks of numbers, and how they are correlated


def rank_values(values: FloatArray) -> FloatArray:
    """Ranks of the values, those of equal ones averaged; nan where there is no value.

    Examples
    --------
    >>> rank_values(np.array([10.0, 30.0, 10.0, np.nan]))
    array([0.5, 2. , 0.5, nan])
    """
    known = np.isfinite(values)
    _, place, counts = np.unique(values[known], return_inverse=True, return_counts=True)
    ranks = np.full(values.shape, np.nan)
    ranks[known] = (np.cumsum(counts) - (counts + 1) / 2)[place]
    return ranks


def correlate(first: FloatArray, second: FloatArray, weight: FloatArray) -> float:
    """Weighted correlation over rows where both are known; 0 where one of them does not vary."""
    known = np.isfinite(first) & np.isfinite(second) & (weight > 0)
    if not known.any():
        return 0.0
    share = weight[known] / weight[known].sum()
    a, b = (values[known] - share @ values[known] for values in (first, second))
    scale = float(np.sqrt((share @ a**2) * (share @ b**2)))
    return float(share @ (a * b)) / scale if scale > 0 else 0.0


# --- Frozen records of arrays: read-only, compared by value, known by name to other processes


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
