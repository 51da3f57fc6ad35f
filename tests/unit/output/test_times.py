"""Dates and durations as numbers, and back."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rhale.errors import BadSettingError
from rhale.output.number_format import (
    as_dates,
    as_numbers,
    format_axis_value,
    in_full,
    in_seconds,
    write_short,
)

NEW_YEAR = 18_262.0  # 2020-01-01
ZONED = dt.datetime(2020, 1, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=2)))
DATES = {
    "text": "2020-01-01",
    "date": dt.date(2020, 1, 1),
    "datetime": dt.datetime(2020, 1, 1),
    "timestamp": pd.Timestamp("2020-01-01"),
    "NumPy": np.datetime64("2020-01-01", "ns"),
    "days since 1970": 18_262,
    "with a time zone": ZONED,
    "timestamp with a time zone": pd.Timestamp("2020-01-01 01:00", tz="Europe/Zurich"),
}
COLUMNS = {
    "list": ["2020-01-01", "2020-01-02"],
    "mixed": [dt.date(2020, 1, 1), dt.datetime(2020, 1, 2)],
    "pandas": pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02"])),
    "pandas with a time zone": pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02"], utc=True)),
    "polars": pl.Series([dt.date(2020, 1, 1), dt.date(2020, 1, 2)]),
    "polars with a time zone": pl.Series([ZONED, ZONED + dt.timedelta(days=1)]),
}


@pytest.mark.parametrize("date", DATES.values(), ids=DATES)
def test_every_kind_of_date_is_days_since_1970_in_utc(date):
    assert as_numbers(date, "date") == NEW_YEAR


@pytest.mark.parametrize("dates", COLUMNS.values(), ids=COLUMNS)
def test_every_kind_of_column_of_dates_is_read(dates):
    assert as_numbers(dates, "date").tolist() == [NEW_YEAR, NEW_YEAR + 1]


@pytest.mark.parametrize("unit", ["D", "h", "s", "ms", "us", "ns"])
def test_dates_before_1970_are_negative_with_their_fractions(unit):
    moment = np.array(["1969-12-31T18:00"], dtype="datetime64[s]")
    expected = -0.25 if unit != "D" else -1.0
    assert as_numbers(moment.astype(f"datetime64[{unit}]"), "date").tolist() == [expected]


def test_no_date_is_nan():
    found = as_numbers(np.array(["NaT", "1970-01-02"], dtype="datetime64[ns]"), "date")
    assert found == pytest.approx(np.array([np.nan, 1.0]), nan_ok=True)
    assert np.isnan(as_numbers(pd.NaT, "date"))


@pytest.mark.parametrize(
    "span",
    [90, dt.timedelta(seconds=90), pd.Timedelta("90s"), np.timedelta64(90_000, "ms")],
    ids=lambda s: type(s).__name__,
)
def test_every_kind_of_duration_is_seconds(span):
    assert as_numbers(span, "duration") == 90.0


def test_fractions_and_signs_of_durations_are_kept():
    spans = np.array([-1_500_000_001, 1, "NaT"], dtype="timedelta64[ns]")
    assert in_seconds(spans) == pytest.approx(
        np.array([-1.500000001, 1e-9, np.nan]), nan_ok=True, rel=1e-12
    )


@pytest.mark.parametrize("days", [0.0, NEW_YEAR + 0.25, -25_202.75, 2_932_896.0])
def test_dates_come_back_from_days(days):
    assert as_numbers(as_dates(np.array([days])), "date").tolist() == [days]


def test_nan_becomes_no_date():
    assert np.isnat(as_dates(np.array([np.nan, 1.0]))).tolist() == [True, False]


@pytest.mark.parametrize(
    ("values", "kind", "words"),
    [
        ("yesterday", "date", "'yesterday' cannot be read as dates or days since 1970"),
        (["1 day"], "duration", "cannot be read as durations or seconds"),
        (["low", "high"], "number", "cannot be read as numbers"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(values, kind, words):
    with pytest.raises(BadSettingError, match=words):
        as_numbers(values, kind)


def test_places_are_written_for_people():
    assert format_axis_value(NEW_YEAR, "date") == "2020-01-01"
    assert format_axis_value(-0.5, "date") == "1969-12-31 12:00:00"
    assert format_axis_value(90.5, "duration") == "90.5 s"
    assert format_axis_value(1234567.0, "number") == "1.23457e+06"


def test_short_places_have_four_digits_and_dates_are_whole():
    assert write_short(1234.5678, "number") == "1235"
    assert write_short(float(as_numbers("2024-01-01", "date")), "date") == "2024-01-01"


def test_places_written_in_full_differ_where_they_differ():
    second = 1 / 86_400
    assert in_full(NEW_YEAR + 0.1 * second, "date") == "2020-01-01 00:00:00.100000"
    assert in_full(1234567.0, "duration") != in_full(1234568.0, "duration")
