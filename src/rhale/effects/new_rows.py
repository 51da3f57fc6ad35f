"""Rows of a new table, read column by column as the explained rows were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
from narwhals.exceptions import DuplicateError

from rhale.errors import BadSettingError, BadTableError, UnknownFeatureError, excerpt
from rhale.naming import near_names
from rhale.output.number_format import (
    MICROSECONDS_PER_DAY,
    AxisKind,
    as_numbers,
    format_axis_value,
    in_full,
)
from rhale.stats.arrays import FloatArray, IntArray

MISSING_LEVEL, UNSEEN_LEVEL = -2, -1  # rows without a level, and rows with one that has no name


@dataclass(frozen=True, eq=False)
class NewRows:
    """A data frame, whose columns have names, or an array, whose columns have positions."""

    table: nw.DataFrame[Any] | npt.NDArray[Any]
    use: str = "defines regions"  # what their columns do, for messages

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return len(self.table)

    def numbers(self, feature: str, column: int, kind: AxisKind) -> FloatArray:
        """One column as numbers, shape (n_rows,): days since 1970 for dates, nan where missing.

        A data frame has it by name (`feature`), an array by position (`column`).
        """
        values = self._column(feature, column)
        try:
            return _numbers_in(values, kind)
        except BadSettingError as error:
            msg = f"column {feature!r} {self.use} as a {kind}: {error}"
            raise BadTableError(msg) from error

    def levels(self, feature: str, column: int, kind: AxisKind, names: Sequence[str]) -> IntArray:
        """Index of every row's level among names; `UNSEEN_LEVEL` for others, `MISSING_LEVEL` for none."""
        place = {name: i for i, name in enumerate(names)}
        if kind == "number":
            values = _values_in(self._column(feature, column))
        else:
            days = self.numbers(feature, column, kind).tolist()
            values = [None if day != day else _Moment(day, kind) for day in days]  # noqa: PLR0124
        known: dict[Any, int] = {}
        found = np.empty(len(values), dtype=np.int64)
        for row, value in enumerate(values):
            key = (type(value), value)  # 1 and True are equal, but have other names
            if key not in known:
                names_here = () if value is None else names_of(value)
                places = (place[name] for name in names_here if name in place)
                known[key] = MISSING_LEVEL if value is None else next(places, UNSEEN_LEVEL)
            found[row] = known[key]
        return found

    def kind(self, feature: str, column: int) -> AxisKind:
        """What a column holds by its type: dates and durations are levels by names of their own."""
        values = self._column(feature, column)
        if isinstance(values, np.ndarray):
            return "number"
        if values.dtype in (nw.Date, nw.Datetime):
            return "date"
        return "duration" if values.dtype == nw.Duration else "number"

    def _column(self, feature: str, column: int) -> Any:
        if isinstance(self.table, np.ndarray):
            if column < self.table.shape[1]:
                return self.table[:, column]
            msg = (
                f"{feature!r} is column {column} of the table that was explained, but these rows "
                f"have {self.table.shape[1]} columns; pass rows with the same columns"
            )
            raise BadTableError(msg)
        names = [str(name) for name in self.table.columns]
        if names.count(feature) == 1:
            return self.table[:, names.index(feature)]
        if feature in names:
            msg = f"these rows have {names.count(feature)} columns {feature!r}; name each once"
            raise BadTableError(msg)
        msg = f"these rows have no column {feature!r}, which {self.use}; "
        raise UnknownFeatureError(msg + near_names(feature, names))


@dataclass(frozen=True)
class _Moment:
    """A date or a duration that is a level."""

    number: float
    kind: AxisKind


def read_new_rows(rows: Any, use: str = NewRows.use) -> NewRows:
    """Read a data frame or a two-dimensional array; `use` is that of `NewRows`."""
    try:
        frame = nw.from_native(rows, eager_only=True, pass_through=True)
    except DuplicateError as error:
        msg = f"these rows cannot be read ({excerpt(error)}); give every column its own name"
        raise BadTableError(msg) from error
    if isinstance(frame, nw.DataFrame):
        return NewRows(frame, use)
    try:
        array = np.asarray(rows)
    except (ValueError, TypeError, RuntimeError):  # lists of different lengths, tensors elsewhere
        array = np.empty(0)
    if array.ndim != 2:
        shape = f" of shape {array.shape}" if isinstance(rows, np.ndarray) else ""
        msg = (
            f"a {type(rows).__name__}{shape} is not a table; pass a data frame (collected, if it is "
            "lazy) or an array of shape (n_rows, n_columns)"
        )
        raise BadTableError(msg)
    return NewRows(array, use)


def _numbers_in(column: Any, kind: AxisKind) -> FloatArray:
    """The numbers of a column of a frame or an array."""
    if isinstance(column, np.ndarray):
        return as_numbers(column, kind)
    dtype = column.dtype
    if kind == "date" and dtype in (nw.Date, nw.Datetime):
        return _numbers_in(column.dt.timestamp("us"), "number") / MICROSECONDS_PER_DAY
    if kind == "duration" and dtype == nw.Duration:
        return as_numbers(np.asarray(column.to_numpy(), dtype="timedelta64"), kind)
    values = np.empty(len(column), dtype=object)
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        values[:] = _values_in(column)
        return as_numbers(values, kind)
    empty = column.is_null().to_numpy()
    known = column.fill_null(0) if empty.any() else column
    return np.where(empty, np.nan, np.asarray(known.to_numpy(), dtype=np.float64))


def _values_in(column: Any) -> list[Any]:
    """The values of a column, None where one is missing."""
    values = column.tolist() if isinstance(column, np.ndarray) else column.to_list()
    if not isinstance(column, np.ndarray):
        empty = column.is_null().to_numpy()
        values = [None if gone else v for v, gone in zip(values, empty, strict=True)]
    return [None if isinstance(v, float) and v != v else v for v in values]  # noqa: PLR0124


def names_of(value: Any) -> list[str]:
    """Names that a level may have: its text; with its type, where other levels have that text.

    Examples
    --------
    >>> names_of("a"), names_of(1.0)
    (['a (str)', 'a'], ['1.0 (float)', '1.0', '1', 'True'])
    """
    if isinstance(value, _Moment):
        return [format_axis_value(value.number, value.kind), in_full(value.number, value.kind)]
    text = str(value)
    names = [f"{text} ({type(value).__name__})", text]
    if isinstance(value, float) and value.is_integer():
        names.append(str(int(value)))
    if isinstance(value, int | float) and value in (0, 1):
        names.append(str(bool(value)))
    return names
