"""Numbers, dates and durations as people write them: one rule for texts, notebooks, pages, pictures."""

from __future__ import annotations

import math
import unicodedata
from datetime import UTC, timedelta
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rhale.errors import BadSettingError

MINUS_SIGN = "\u2212"

PLAIN_NUMBER_RANGE = (1e-4, 1e7)  # numbers between these are written without a power of ten
THOUSANDS_APART = 10_000  # from here on: years are below
UNKNOWN_DASH = "\u2013"
ERROR_DIGITS, MAX_NUMBER_DIGITS = 2, 5  # of an error; of a number, however small its error is


def write_number(value: float, digits: int = 4) -> str:
    """Write a number with so many digits, but all that it has before the point; a dash for nan.

    Examples
    --------
    >>> write_number(0.123456), write_number(12345.6), write_number(2019.0), write_number(1.2e-7)
    ('0.1235', '12,346', '2019', '1.2e-7')
    """
    if not math.isfinite(value):
        return UNKNOWN_DASH if math.isnan(value) else f"{value}"
    if not is_plain(value):
        mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
        return f"{without_zeros(mantissa)}e{int(power)}"
    return without_zeros(write_decimals(value, max(0, decimals_of(value, digits))))


def write_with_error(value: float, error: float) -> str:
    """Write a number and its standard error: two digits of the error say how many the number has.

    The number has no more than five digits, but all that it has before the point, however small
    the error is. Where the error is not known, the number is alone.

    Examples
    --------
    >>> write_with_error(97466.3, 781.2), write_with_error(0.10934, 0.00207)
    ('97,470 ± 780', '0.1093 ± 0.0021')
    >>> write_with_error(3.14159e-9, 4e-11), write_with_error(37.68, 0.0)
    ('(3.142 ± 0.040)e-9', '37.68 ± 0')
    """
    if not (math.isfinite(value) and math.isfinite(error)):
        return write_number(value)
    if error == 0:
        return f"{write_number(value)} ± 0"
    largest = max(abs(value), abs(error))
    if not is_plain(largest) and abs(error) < PLAIN_NUMBER_RANGE[0] * largest:
        return f"{write_number(value, MAX_NUMBER_DIGITS)} ± {write_number(error, ERROR_DIGITS)}"
    if not is_plain(largest):
        power = math.floor(math.log10(largest))
        # powers of ten that floats do not have are needed for the smallest of them
        scaled = [float(Decimal(number).scaleb(-power)) for number in (value, error)]
        return f"({write_with_error(*scaled)})e{power}"
    by_error = decimals_of(error, ERROR_DIGITS)
    decimals = min(by_error, max(0, decimals_of(value, MAX_NUMBER_DIGITS))) if value else by_error
    apart = largest >= THOUSANDS_APART
    first = write_decimals(value, decimals, apart=apart)
    if decimals < by_error:  # the error is less than the last digit of the number
        return f"{first} ± {write_number(error, ERROR_DIGITS)}"
    return f"{first} ± {write_decimals(error, decimals, apart=apart)}"


def write_between(value: float, low: float, high: float) -> str:
    """Write a number and its interval, as many digits as the width of that leaves.

    Examples
    --------
    >>> write_between(97466.3, 95935.1, 98997.5), write_between(0.25, float("nan"), float("nan"))
    ('97,500 [95,900, 99,000]', '0.25')
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return write_number(value)
    half, largest = (high - low) / 2, max(abs(low), abs(high), abs(value))
    if half == 0 or not is_plain(largest):
        return "{} [{}, {}]".format(*map(write_number, (value, low, high)))
    decimals = min(decimals_of(half, ERROR_DIGITS), max(0, decimals_of(largest, MAX_NUMBER_DIGITS)))
    apart = largest >= THOUSANDS_APART
    first, *ends = (write_decimals(v, decimals, apart=apart) for v in (value, low, high))
    return f"{first} [{', '.join(ends)}]"


def write_decimals(value: float, decimals: int, *, apart: bool | None = None) -> str:
    """Write a finite number with so many decimals; below zero, round digits before the point.

    `apart` sets thousands apart; by default from 10,000 on.

    Examples
    --------
    >>> write_decimals(1.0, 2), write_decimals(65432.1, -2), write_decimals(-0.001, 1)
    ('1.00', '65,400', '0.0')
    """
    rounded = round(float(value), decimals) + 0.0  # zero has no sign
    shown = f"{rounded:,.{max(decimals, 0)}f}"
    is_apart = abs(rounded) >= THOUSANDS_APART if apart is None else apart
    return shown if is_apart else shown.replace(",", "")


def decimals_of(value: float, digits: int) -> int:
    """Decimals of a number that has so many digits in all; below zero where it needs fewer.

    Examples
    --------
    >>> decimals_of(0.0996, 2), decimals_of(781.0, 2), decimals_of(0.0, 3)
    (2, -1, 2)
    """
    power = int(f"{value:.{digits - 1}e}".partition("e")[2])
    return digits - 1 - power


def is_plain(value: float) -> bool:
    """Tell whether a number is written without a power of ten."""
    return value == 0 or PLAIN_NUMBER_RANGE[0] <= abs(value) < PLAIN_NUMBER_RANGE[1]


def without_zeros(text: str) -> str:
    """Leave out zeros behind the point that say nothing."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def write_digits(value: float, digits: int = 3) -> str:
    """Write a number with so many digits, zeros at its end among them: numbers of one column.

    Examples
    --------
    >>> write_digits(1.0), write_digits(0.11), write_digits(0.10649), write_digits(0.0)
    ('1.00', '0.110', '0.106', '0')
    """
    if not math.isfinite(value) or value == 0 or not is_plain(value):
        return write_number(value, digits)
    return write_decimals(value, max(0, decimals_of(value, digits)))


MOST_PERCENT = 1e4  # what is more is no share of anything
SMALL_PERCENT = 9.95  # below it, two digits; from it on, whole per cent


def write_share(share: float, error: float = float("nan")) -> str:
    """Write a share and its error in per cent; nothing where it is not known.

    A share of less than one in a thousand is never written as 0 %, and a decimal stands where the
    error leaves one.

    Examples
    --------
    >>> write_share(0.921, 0.012), write_share(0.9921, 0.0031), write_share(0.4)
    ('92 ± 1 %', '99.2 ± 0.3 %', '40 %')
    >>> write_share(0.0123), write_share(0.00096), write_share(0.0)
    ('1.2 %', '< 0.1 %', '0 %')
    """
    if not math.isfinite(share):
        return ""
    percent, off = 100 * share, 100 * error
    if abs(percent) >= MOST_PERCENT:
        return f"{percent:.3g} %"
    if 0 < off < MOST_PERCENT:
        if off >= 0.95:
            return f"{round(percent):d} ± {off:.0f} %"
        return f"{round(percent, 1) + 0.0:.1f} ± {max(off, 0.1):.1f} %"  # zero has no sign
    if 0 < abs(percent) < 0.1:
        return f"{'< ' if percent > 0 else '> -'}0.1 %"
    return f"{percent:.2g} %" if abs(percent) < SMALL_PERCENT else f"{percent:.0f} %"


def write_with_unit(number: str, unit: str) -> str:
    r"""Write a unit with a number, which may have an error: currencies before it, others behind.

    Examples
    --------
    >>> write_with_unit("343,700 ± 3,700", "$"), write_with_unit("-5", "€"), write_with_unit("5", "")
    ('$343,700 ± 3,700', '-€5', '5')
    >>> write_with_unit("1.5", "kg") == "1.5\u00a0kg", write_with_unit("12", "$/m²")
    (True, '$12/m²')
    """
    if not unit:
        return number
    if unicodedata.category(unit[0]) != "Sc":
        return f"{number}\u00a0{unit}"
    sign = number[:1] if number[:1] in ("-", MINUS_SIGN, "+") else ""
    return f"{sign}{unit[0]}{number.removeprefix(sign)}{unit[1:]}"


# --- Dates and durations as numbers: days since 1970, seconds


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
