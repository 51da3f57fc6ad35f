"""The table of one result: missing values, and one row for each bin, step or point."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rhale.output.number_format import AxisKind, as_dates
from rhale.output.storage.values import MAX_AXIS_VALUE, STANDARD_ERROR_NUMBER, Number, stored
from rhale.stats.arrays import FloatArray

if TYPE_CHECKING:
    from rhale.effects.effect import Effect
    from rhale.effects.level_effect import LevelEffect


@dataclass(frozen=True)
class Missing:
    """What happens to predictions when the value of a feature is removed.

    Attributes
    ----------
    count : int
        Rows that have no value in the table.
    share : float
        Their share of the weight.
    mean, std : float
        Mean change of the prediction when the value is removed, over the rows that have one, and
        how much it differs between them.
    rows : float
        Effective number of rows that have a value.

    Examples
    --------
    >>> Missing(count=5, share=0.05, mean=-2.0, std=1.0, rows=100.0).standard_error
    0.1
    """

    count: int
    share: float
    mean: float = field(metadata=stored(Number(-MAX_AXIS_VALUE, MAX_AXIS_VALUE, unknown=True)))
    std: float = field(metadata=stored(STANDARD_ERROR_NUMBER))
    rows: float = field(metadata=stored(Number(least=0)))

    @property
    def standard_error(self) -> float:
        """Uncertainty of `mean`, in units of the output."""
        return self.std / self.rows**0.5 if self.rows > 0 else float("nan")


# --- Columns of the table of one result: one row for each bin, step or point


Columns = dict[str, list[Any]]
MISSING_ROW_LABEL = "missing"
UNDEFINED = float("nan")


def list_bins(
    effect: Effect | LevelEffect, edges: FloatArray, names: list[str], curve: FloatArray
) -> Columns:
    """One row for each bin between two edges, which have names and heights of the curve."""
    return {
        "bin": list(range(effect.mean.size)),
        "from": names[:-1],
        "to": names[1:],
        "left": edges[:-1].tolist(),
        "right": edges[1:].tolist(),
        "count": effect.count.tolist(),
        "weight": effect.weight.tolist(),
        "mean": effect.mean.tolist(),
        "slope": effect.slope.tolist(),
        "std": effect.std.tolist(),
        "std_plain": effect.std_plain.tolist(),
        "standard_error": effect.standard_error.tolist(),
        "curve_left": curve[:-1].tolist(),
        "curve_right": curve[1:].tolist(),
    }


def add_row(columns: Columns, known: dict[str, Any]) -> Columns:
    """Add one row: nan where nothing is known.

    Examples
    --------
    >>> add_row({"at": ["a"], "mean": [1.0]}, {"at": "b"})
    {'at': ['a', 'b'], 'mean': [1.0, nan]}
    """
    return {name: [*cells, known.get(name, UNDEFINED)] for name, cells in columns.items()}


def add_missing_bin(columns: Columns, missing: Missing | None, weight: FloatArray) -> Columns:
    """Add the row of missing values: the mean change is also their height on the centred curve.

    `weight` is that of the rows that have a value, in any number of parts.
    """
    if missing is None:
        return columns
    share = missing.share
    known = {
        "bin": len(columns["bin"]),
        "from": MISSING_ROW_LABEL,
        "to": MISSING_ROW_LABEL,
        "count": int(missing.count),
        "weight": float(weight.sum()) * share / (1 - share) if share < 1 else UNDEFINED,
        "standard_error": float(missing.standard_error),
        **dict.fromkeys(("std", "std_plain"), float(missing.std)),
        **dict.fromkeys(("mean", "curve_left", "curve_right"), float(missing.mean)),
    }
    return add_row(columns, known)


def write_place(place: float, kind: AxisKind) -> str:
    """Write a place in full: an ISO date, or all digits of a number.

    Examples
    --------
    >>> write_place(1.5, "date"), write_place(1.0, "date"), write_place(0.1, "number")
    ('1970-01-02T12:00:00', '1970-01-02', '0.1')
    """
    if kind != "date" or not np.isfinite(place):
        return f"{place:.15g}"
    date = str(as_dates(np.array([place]))[0])
    return date.removesuffix(".000000").removesuffix("T00:00:00")


def name_places(axis: FloatArray, labels: tuple[str, ...], kind: AxisKind) -> list[str]:
    """Write the places of an axis as text: labels of levels, ISO dates, numbers."""
    return [str(label) for label in labels] or [write_place(x, kind) for x in axis.tolist()]
