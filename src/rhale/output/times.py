"""Dates and durations as numbers: days since 1970, seconds."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rhale.errors import BadSettingError

MICROSECONDS_PER_DAY = 86_400e6

FloatArray = npt.NDArray[np.float64]
AxisKind = Literal["number", "date", "duration"]  # how places on an axis are written
ColumnKind = AxisKind | Literal["steps", "categories"]  # how a feature is explained
SECONDS_PER_DAY = 86_400.0
AXIS_KIND_UNITS = {"number": "", "date": "day", "duration": "second"}


def as_axis_kind(kind: str | None) -> AxisKind:
    """How places are written on the axis of a feature of this kind; those of levels are numbers.

    Examples
    --------
    >>> as_axis_kind("date"), as_axis_kind("categories"), as_axis_kind(None)
    ('date', 'number', 'number')
    """
    match kind:
        case "date" | "duration":
            return kind
    return "number"


def as_numbers(values: Any, kind: AxisKind) -> FloatArray:
    """Read places on an axis: numbers as they are, dates in days since 1970, durations in seconds."""
    array = np.asarray(values)
    try:
        if kind == "date" and array.dtype.kind not in "fiu":
            dates = np.asarray(_without_zone(array), dtype="datetime64")
            # whole days and their fraction apart: nanoseconds since 1970 may overflow
            days = dates.astype("datetime64[D]")
            rest = np.array((dates - days).astype("timedelta64[ns]").astype(np.float64))
            whole = days.astype(np.int64).astype(np.float64)
            return np.where(np.isnat(dates), np.nan, whole + rest / (SECONDS_PER_DAY * 1e9))
        if kind == "duration" and array.dtype.kind not in "fiu":
            return in_seconds(np.asarray(values, dtype="timedelta64"))
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        wanted = {"number": "numbers", "date": "dates or days since 1970"}
        msg = (
            f"{values!r:.80} cannot be read as {wanted.get(kind, 'durations or seconds')}: {error}"
        )
        raise BadSettingError(msg) from error


def kind_of(values: Any) -> AxisKind:
    """Say what places on an axis are, by their looks; text is taken for dates.

    Examples
    --------
    >>> kind_of([1, 2]), kind_of(["2020-01-01"]), kind_of([np.timedelta64(1, "s")])
    ('number', 'date', 'duration')
    """
    array = np.asarray(values)
    if array.dtype.kind in "fiub":
        return "number"
    is_duration = array.dtype.kind == "m" or isinstance(array.flat[0], timedelta)
    return "duration" if is_duration else "date"


def _without_zone(dates: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Turn dates that know their time zone into UTC; others are UTC already.

    NumPy knows neither these nor pandas' NaT, which is no number equal to itself.
    """
    if dates.dtype.kind != "O":
        return dates
    plain = np.empty(dates.shape, dtype=object)
    for place, date in np.ndenumerate(dates):
        has_zone = getattr(date, "tzinfo", None) is not None
        plain[place] = date.astimezone(UTC).replace(tzinfo=None) if has_zone else date
    plain[dates != dates] = None  # noqa: PLR0124
    return plain


def in_seconds(durations: npt.NDArray[np.timedelta64]) -> FloatArray:
    """Seconds with their fractions; nan for no duration."""
    whole = durations.astype("timedelta64[s]")
    rest = (durations - whole).astype("timedelta64[ns]").astype(np.float64)
    seconds = whole.astype(np.int64).astype(np.float64) + rest / 1e9
    return np.where(np.isnat(durations), np.nan, seconds)


def as_dates(days: FloatArray) -> npt.NDArray[np.datetime64]:
    """Turn days since 1970 into dates, to the microsecond; nan into no date."""
    whole = np.floor(np.nan_to_num(days))
    rest = np.rint((np.nan_to_num(days) - whole) * SECONDS_PER_DAY * 1e6).astype("timedelta64[us]")
    dates = whole.astype("datetime64[D]") + rest
    return np.where(np.isnan(days), np.datetime64("NaT", "us"), dates)


def format_axis_value(value: float, kind: AxisKind) -> str:
    """Write a place on an axis for people.

    Examples
    --------
    >>> format_axis_value(1.0, "date"), format_axis_value(1.5, "date"), format_axis_value(90.0, "duration"), format_axis_value(2.5, "number")
    ('1970-01-02', '1970-01-02 12:00:00', '90 s', '2.5')
    """
    if kind == "date":
        date = np.datetime_as_string(as_dates(np.array([value]))[0], unit="s")
        return str(date).removesuffix("T00:00:00").replace("T", " ")
    return f"{value:g} s" if kind == "duration" else f"{value:g}"


def write_short(value: float, kind: AxisKind) -> str:
    """Write a place on an axis with few digits."""
    return f"{value:.4g}" if kind == "number" else format_axis_value(value, kind)


def in_full(value: float, kind: AxisKind) -> str:
    """Write a date or a duration so that no other one is written alike.

    Examples
    --------
    >>> in_full(0.5, "date"), in_full(1234567.0, "duration")
    ('1970-01-01 12:00:00.000000', '1234567.0 s')
    """
    if kind == "date":
        return str(as_dates(np.array([value]))[0]).replace("T", " ")
    return f"{value!r} s"
