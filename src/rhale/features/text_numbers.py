"""Text that reads as numbers: probably a number that was stored as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rhale.results.note import Note

FEW_TEXT_LEVELS = 2  # so many texts may well be two names
CASTS = {
    "pandas": "X[{name!r}] = X[{name!r}].astype(float)",
    "polars": "X = X.with_columns(pl.col({name!r}).cast(pl.Float64))",
    "pyarrow": (
        "X = X.set_column(X.column_names.index({name!r}), {name!r}, X[{name!r}].cast(pa.float64()))"
    ),
    "spark": "X = X.withColumn({name!r}, X[{name!r}].cast('double'))",
    "dask": "X[{name!r}] = X[{name!r}].astype(float)",
}


def describe_numbers(name: str, levels: Sequence[Any], table: str) -> tuple[Note, ...]:
    """Say how to make numbers of a column whose levels all read as numbers.

    Parameters
    ----------
    name : str
        The column.
    levels : sequence
        Its distinct values.
    table : str
        Kind of the table, which has its own words for a cast.

    Examples
    --------
    >>> describe_numbers("bmi", ["21.5", "30", "18.25"], "pandas")[0].rpartition(": ")[2]
    "X['bmi'] = X['bmi'].astype(float)"
    >>> describe_numbers("zip", ["01067", "99084", "10115"], "pandas")
    ()
    """
    if len(levels) <= FEW_TEXT_LEVELS or not all(reads_as_number(level) for level in levels):
        return ()
    cast = CASTS.get(table, "store column {name!r} as numbers").format(name=name)
    what = "text" if all(isinstance(level, str) for level in levels) else "of type object"
    text = (
        f"{name!r} is {what} but reads as numbers, and each of its {len(levels):,} values is a "
        f"category; to explain it as a number: {cast}"
    )
    return (Note("text", text),)


def reads_as_number(level: Any) -> bool:
    """Tell whether a value is a finite number or writes one; codes with leading zeros do not.

    Examples
    --------
    >>> [reads_as_number(v) for v in ("1.5", " -2e3", "007", "n/a", "nan", True, 3)]
    [True, True, False, False, False, False, True]
    """
    if isinstance(level, bool | np.bool_):
        return False
    if isinstance(level, str):
        digits = level.strip().lstrip("+-")
        if digits[:1] == "0" and digits[1:2].isdigit():
            return False
    try:
        return bool(np.isfinite(float(level)))
    except (TypeError, ValueError, OverflowError):
        return False
