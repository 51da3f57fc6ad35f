"""Columns of every type: read as numbers or names, written back in the very same type."""

import datetime as dt
from decimal import Decimal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rhale.data import open_table
from rhale.data.columns import (
    Labels,
    cast,
    column_at,
    columns_in,
    factorize,
    hashed,
    is_exact,
    make_distinct_texts,
    read_column_floats,
    repeated_in,
)
from rhale.errors import BadTableError

N = 6
WHOLE = [1, 2, None, 3, 100, 5]
REAL = [0.5, 1.5, None, 2.5, 3.5, -4.5]
TRUTH = [True, False, None, True, False, True]
TEXT = ["a", "b", None, "c", "a", "b"]
CENTS = [None if v is None else Decimal(v) for v in ("1.25", "2.50", None, "-3.75", "0.01", "9.99")]
DAYS = [
    None if v is None else dt.date(*v)
    for v in ((1969, 12, 30), (1970, 1, 2), None, (2020, 2, 29), (1901, 1, 1), (2024, 1, 1))
]
TIMES = [None if d is None else dt.datetime(d.year, d.month, d.day, 13, 37, 12) for d in DAYS]
SPANS = [
    None if v is None else dt.timedelta(**v)
    for v in ({"days": 1, "seconds": 3}, {}, None, {"seconds": -5}, {"days": 400}, {"seconds": 1})
]
FROM_1970 = np.array([-2.0, 1.0, np.nan, 18321.0, -25202.0, 19723.0])
AT_NOON = FROM_1970 + (13 * 3600 + 37 * 60 + 12) / 86_400
SECONDS = np.array([86_403.0, 0.0, np.nan, -5.0, 400 * 86_400.0, 1.0])
COMMON = pd.CategoricalDtype(["c", "b", "a", "never"], ordered=True)
UNITS = ["s", "ms", "us", "ns"]


def of_pandas(values, dtype):
    return pd.DataFrame({"x": pd.Series(values, dtype=dtype)})


def of_polars(values, dtype):
    return pl.DataFrame({"x": pl.Series(values, dtype=dtype)})


def of_arrow(values, dtype):
    return pa.table({"x": pa.array(values, dtype)})


def in_zone(values, unit, zone):
    naive = pd.Series(values, dtype=f"datetime64[{unit}]")
    return pd.DataFrame({"x": naive.dt.tz_localize("UTC").dt.tz_convert(zone)})


NUMBERS = {
    **{f"pandas {t}": (of_pandas(WHOLE, t), WHOLE) for t in ("Int8", "Int64", "UInt16")},
    **{f"pandas {t}": (of_pandas(REAL, t), REAL) for t in ("float32", "float64", "Float64")},
    **{f"pandas Arrow {t}": (of_pandas(WHOLE, f"{t}[pyarrow]"), WHOLE) for t in ("int8", "int64")},
    "pandas Arrow double": (of_pandas(REAL, "double[pyarrow]"), REAL),
    "pandas boolean": (of_pandas(TRUTH, "boolean"), TRUTH),
    "pandas Arrow bool": (of_pandas(TRUTH, "bool[pyarrow]"), TRUTH),
    "pandas decimals as objects": (of_pandas(CENTS, object), CENTS),
    "pandas Arrow decimal": (of_pandas(CENTS, pd.ArrowDtype(pa.decimal128(12, 2))), CENTS),
    **{f"polars {t}": (of_polars(WHOLE, t), WHOLE) for t in (pl.Int8, pl.Int64, pl.UInt64)},
    "polars Int128": (of_polars(WHOLE, pl.Int128), WHOLE),
    **{f"polars {t}": (of_polars(REAL, t), REAL) for t in (pl.Float32, pl.Float64)},
    "polars Boolean": (of_polars(TRUTH, pl.Boolean), TRUTH),
    "polars Decimal": (of_polars(CENTS, pl.Decimal(12, 2)), CENTS),
    **{f"pyarrow {t}": (of_arrow(WHOLE, t), WHOLE) for t in (pa.int8(), pa.int64(), pa.uint64())},
    **{f"pyarrow {t}": (of_arrow(REAL, t), REAL) for t in (pa.float32(), pa.float64())},
    "pyarrow half float": (of_arrow([v and np.float16(v) for v in REAL], pa.float16()), REAL),
    "pyarrow bool": (of_arrow(TRUTH, pa.bool_()), TRUTH),
    "pyarrow decimal": (of_arrow(CENTS, pa.decimal128(12, 2)), CENTS),
}
MOMENTS = {
    **{f"pandas {u}": (of_pandas(TIMES, f"datetime64[{u}]"), AT_NOON) for u in UNITS},
    **{f"pandas zone {u}": (in_zone(TIMES, u, "Europe/Zurich"), AT_NOON) for u in UNITS},
    "pandas zone with two words": (in_zone(TIMES, "us", "America/New_York"), AT_NOON),
    **{
        f"pandas Arrow {u}": (of_pandas(TIMES, pd.ArrowDtype(pa.timestamp(u))), AT_NOON)
        for u in UNITS
    },
    "pandas Arrow zone": (
        in_zone(TIMES, "ms", "UTC").astype({"x": pd.ArrowDtype(pa.timestamp("ms", "Asia/Tokyo"))}),
        AT_NOON,
    ),
    "pandas Arrow date": (of_pandas(DAYS, pd.ArrowDtype(pa.date32())), FROM_1970),
    **{f"polars {u}": (of_polars(TIMES, pl.Datetime(u)), AT_NOON) for u in UNITS[1:]},
    "polars zone": (of_polars(TIMES, pl.Datetime("ms", "Europe/Zurich")), AT_NOON),
    "polars date": (of_polars(DAYS, pl.Date), FROM_1970),
    **{f"pyarrow {u}": (of_arrow(TIMES, pa.timestamp(u)), AT_NOON) for u in UNITS},
    **{
        f"pyarrow zone {u}": (of_arrow(TIMES, pa.timestamp(u, "America/New_York")), AT_NOON)
        for u in UNITS
    },
    "pyarrow date": (of_arrow(DAYS, pa.date32()), FROM_1970),
}
LENGTHS = {
    **{f"pandas {u}": (of_pandas(SPANS, f"timedelta64[{u}]"), SECONDS) for u in UNITS},
    **{
        f"pandas Arrow {u}": (of_pandas(SPANS, pd.ArrowDtype(pa.duration(u))), SECONDS)
        for u in UNITS
    },
    **{f"polars {u}": (of_polars(SPANS, pl.Duration(u)), SECONDS) for u in UNITS[1:]},
    **{f"pyarrow {u}": (of_arrow(SPANS, pa.duration(u)), SECONDS) for u in UNITS},
}
ENCODED = pa.array(TEXT).dictionary_encode()
NAMES = {
    **{
        f"pandas {t}": (of_pandas(TEXT, t), TEXT)
        for t in ("str", "string", "object", "string[pyarrow]", "category", COMMON)
    },
    "pandas Arrow dictionary": (of_pandas(ENCODED, pd.ArrowDtype(ENCODED.type)), TEXT),
    "pandas categories of numbers": (
        of_pandas(WHOLE, pd.CategoricalDtype([5, 3, 2, 1, 100])),
        WHOLE,
    ),
    "pandas categories of truth": (of_pandas(TRUTH, "category"), TRUTH),
    "pandas objects": (of_pandas(["a", 1, None, 1.0, True, dt.date(2020, 1, 1)], object), None),
    "pandas dates as objects": (of_pandas(DAYS, object), DAYS),
    "pandas tuples": (of_pandas([(1, 2), (1, 3), None, (1, 2), (2, 2), (1, 3)], object), None),
    "pandas cut": (pd.DataFrame({"x": pd.cut(pd.Series(REAL, dtype=float), 3)}), None),
    **{f"polars {t}": (of_polars(TEXT, t), TEXT) for t in (pl.String, pl.Categorical)},
    "polars Enum": (of_polars(TEXT, pl.Enum(["c", "b", "a", "never"])), TEXT),
    "polars named Categories": (of_polars(TEXT, pl.Categorical(pl.Categories("own"))), TEXT),
    "pyarrow string": (of_arrow(TEXT, pa.string()), TEXT),
    "pyarrow large string": (of_arrow(TEXT, pa.large_string()), TEXT),
    **{
        f"pyarrow dictionary {t}": (
            pa.table({"x": ENCODED.cast(pa.dictionary(t, pa.string()))}),
            TEXT,
        )
        for t in (pa.int8(), pa.int32(), pa.uint16())
    },
}
VALUES = {**NUMBERS, **{f"{k}, date": v for k, v in MOMENTS.items()}} | {
    f"{k}, duration": v for k, v in LENGTHS.items()
}
each_number = pytest.mark.parametrize("case", NUMBERS.values(), ids=NUMBERS)
each_moment = pytest.mark.parametrize("case", MOMENTS.values(), ids=MOMENTS)
each_length = pytest.mark.parametrize("case", LENGTHS.values(), ids=LENGTHS)
each_value = pytest.mark.parametrize("case", VALUES.values(), ids=VALUES)
each_name = pytest.mark.parametrize("case", NAMES.values(), ids=NAMES)


def whole(table):
    opened = open_table(table)
    return opened.chunk(0, opened.n_rows)


def type_of(table):
    """The one column's type, as its own library names it."""
    return table.schema.types[0] if isinstance(table, pa.Table) else next(iter(table.dtypes))


def listed(table):
    """Values of the column; a missing one is None, whatever the library calls it."""
    if isinstance(table, pd.DataFrame):
        empty = table["x"].isna().tolist()
        return [None if e else v for e, v in zip(empty, table["x"].tolist(), strict=True)]
    return table["x"].to_pylist() if isinstance(table, pa.Table) else table["x"].to_list()


def named(table):
    """All rows, with the names numbered as they come."""
    chunk = whole(table)
    return chunk.label({0: Labels(tuple(chunk.distinct(0)[0]))})


def series(values, dtype=None):
    return nw.from_native(pd.Series(values, dtype=dtype, name="x"), series_only=True)


@each_number
def test_numbers_are_read_as_floats_and_missing_ones_as_nan(case):
    table, values = case
    expected = [np.nan if v is None else float(v) for v in values]
    assert open_table(table).holds(0) == "number"
    assert whole(table).column(0) == pytest.approx(np.array(expected), nan_ok=True, rel=0, abs=0)


@each_moment
def test_dates_are_read_in_days_since_1970_also_before(case):
    table, expected = case
    assert open_table(table).holds(0) == "date"
    assert whole(table).column(0) == pytest.approx(expected, nan_ok=True, rel=0, abs=1e-11)


@each_length
def test_durations_are_read_in_seconds(case):
    table, expected = case
    assert open_table(table).holds(0) == "duration"
    assert whole(table).column(0) == pytest.approx(expected, nan_ok=True, rel=0, abs=0)


@each_value
def test_values_written_back_are_the_same_in_the_same_type(case):
    table, _ = case
    chunk = whole(table)
    written = chunk.vary([(0, chunk.column(0))])
    assert type_of(written) == type_of(table)
    assert listed(written) == listed(table)


@each_value
def test_values_can_be_exchanged_and_removed_in_the_same_type(case):
    table, _ = case
    chunk, order = whole(table), [1, 0, 0, 4, 3, 1]
    moved = chunk.vary([(0, chunk.column(0)[order])])
    gone = chunk.vary([(0, np.full(N, np.nan))])
    assert type_of(moved) == type_of(gone) == type_of(table)
    assert listed(moved) == [listed(table)[i] for i in order]
    assert listed(gone) == [None] * N


@each_value
def test_what_a_column_can_hold_is_what_comes_back_from_it(case):
    table, _ = case
    chunk = whole(table)
    x = chunk.column(0)
    between = 0.7 * np.abs(x) + 0.3 * np.abs(x[1]) + 0.123456789
    asked = whole(chunk.vary([(0, between)])).column(0)
    assert chunk.representable(0, between) == pytest.approx(asked, nan_ok=True, rel=0, abs=1e-11)
    assert asked == pytest.approx(between, nan_ok=True, rel=0, abs=1.001)  # whole days at worst


@each_name
def test_names_are_told_apart_and_numbered(case):
    table, _ = case
    values, codes = whole(table).distinct(0)
    expected = listed(table)
    found = [None if c < 0 else values[c] for c in codes]
    assert [(type(v), v) for v in found] == [(type(v), v) for v in expected]


@each_name
def test_names_written_back_are_the_same_in_the_same_type(case):
    table, _ = case
    chunk = named(table)
    written, gone = chunk.vary([(0, chunk.column(0))]), chunk.vary([(0, np.full(N, np.nan))])
    assert type_of(written) == type_of(gone) == type_of(table)
    assert listed(written) == listed(table)
    assert listed(gone) == [None] * N


@each_name
def test_names_can_be_exchanged_in_the_same_type(case):
    table, _ = case
    chunk, order = named(table), [1, 0, 0, 4, 3, 1]
    moved = chunk.vary([(0, chunk.column(0)[order]), (0, chunk.column(0))])
    assert type_of(moved) == type_of(table)
    assert listed(moved) == [listed(table)[i] for i in order] + listed(table)


@each_name
def test_pieces_of_a_column_of_names_join(case):
    table, _ = case
    chunk = named(table)
    both = chunk.take(np.array([3, 2])).join(chunk.take(np.array([0])))
    assert both.column(0).tolist() == pytest.approx(
        chunk.column(0)[[3, 2, 0]].tolist(), nan_ok=True
    )
    assert type_of(both.rows) == type_of(table)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=lambda m: m.__module__)
def test_whole_numbers_beyond_those_of_floats_survive_changes_of_other_columns(make):
    big = [2**60 + 1, 2**60 + 3, 2**60 + 5]
    chunk = whole(make({"x": big, "y": [0.5, 1.5, 2.5]}))
    both = chunk.vary([(1, np.zeros(3)), (0, chunk.column(0)[[2, 2, 2]])])
    assert listed(both)[:3] == big


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_nanoseconds_survive_changes_of_other_columns(kind):
    moments = np.datetime64("2020-01-01", "ns") + np.arange(3).astype("timedelta64[ns]")
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[kind]
    table = make({"x": moments, "y": [0.5, 1.5, 2.5]})
    chunk = whole(table)
    both = chunk.vary([(1, np.zeros(3)), (0, chunk.column(0)[[2, 2, 2]])])
    assert np.array_equal(np.asarray(both["x"].to_numpy())[:3], moments)


def test_digits_of_decimals_survive_changes_of_other_columns():
    prices = [Decimal("12345678901234567.89"), Decimal("12345678901234567.88"), Decimal("0.01")]
    table = pl.DataFrame({"x": pl.Series(prices, dtype=pl.Decimal(30, 2)), "y": [1.0, 2.0, 3.0]})
    chunk = whole(table)
    both = chunk.vary([(1, np.zeros(3)), (0, np.full(3, 0.25))])
    assert both["x"].to_list()[:3] == prices
    assert both["x"].to_list()[3:] == [Decimal("0.25")] * 3


DECIMALS = {
    "pandas": of_pandas([Decimal("1.00")] * 8, pd.ArrowDtype(pa.decimal128(12, 2))),
    "polars": of_polars([Decimal("1.00")] * 8, pl.Decimal(12, 2)),
    "pyarrow": of_arrow([Decimal("1.00")] * 8, pa.decimal128(12, 2)),
}


@pytest.mark.parametrize("kind", DECIMALS)
def test_numbers_become_the_nearest_decimals(kind):
    chunk = whole(DECIMALS[kind])
    values = np.array([0.29, -0.29, 1.234, -1.236, 2.996, 0.0, 8_123_456_789.99, np.nan])
    nearest = ["0.29", "-0.29", "1.23", "-1.24", "3.00", "0.00", "8123456789.99"]
    found = listed(chunk.vary([(0, values)]))
    assert found == [*(Decimal(text) for text in nearest), None]


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_a_row_without_a_value_keeps_its_own_kind_of_nothing(kind):
    values = [0.5, float("nan"), None, 1.5]
    table = pl.DataFrame({"x": values}) if kind == "polars" else pa.table({"x": values})
    x = whole(table).column(0)
    for changes in ([(0, x)], [(0, x), (0, np.where(np.isnan(x), np.nan, 9.0))]):
        found = listed(whole(table).vary(changes))[-4:]
        assert np.isnan(found[1])
        assert found[2] is None


def test_an_object_that_is_nan_does_not_become_none():
    table = pd.DataFrame({"x": pd.Series(["a", np.nan, None, "b"], dtype=object)})
    chunk = named(table)
    found = chunk.vary([(0, np.array([1.0, np.nan, np.nan, 0.0]))])["x"].tolist()
    assert found[0] == "b"
    assert isinstance(found[1], float)
    assert found[2] is None


def test_a_value_that_is_removed_is_missing_even_among_objects():
    chunk = named(pd.DataFrame({"x": pd.Series(["a", 1, "b", 2], dtype=object)}))
    assert chunk.vary([(0, np.full(4, np.nan))])["x"].isna().all()


def test_one_and_true_are_different_names_however_late_they_come():
    values = ["text"] * 200 + [1, True, 1.0]
    found, codes = factorize(series(values, object))
    assert [type(v) for v in found] == [str, int, bool, float]
    assert codes.tolist() == [0] * 200 + [1, 2, 3]


def test_levels_that_no_row_has_are_no_obstacle():
    values, codes = factorize(series(pd.Categorical(["b", None], categories=["a", "b", "c"])))
    assert values == ["a", "b", "c"]
    assert codes.tolist() == [1, -1]


def test_lists_in_a_column_of_objects_are_refused_by_name():
    with pytest.raises(BadTableError, match=r"column 'x' holds values .* features="):
        factorize(series([[1], [2]], object))


@pytest.mark.parametrize(
    "dtype", [pl.List(pl.Int64), pl.Binary, pl.Struct({"u": pl.Int64}), pl.Time]
)
def test_columns_that_cannot_be_explained_hold_nothing(dtype):
    assert open_table(pl.DataFrame({"x": pl.Series([None, None], dtype=dtype)})).holds(0) is None


@pytest.mark.parametrize("value", ["a", 1, 1.5, True, None, (1, 2)])
def test_hashes_are_whole_numbers_that_floats_hold(value):
    found = hashed(value)
    assert 0 <= found < 2**52
    assert found == int(found) == hashed(value)


def test_hashes_depend_on_the_type_and_on_the_text():
    values = ["1", 1, 1.0, True, "True", "", "\ud800"]
    assert len({hashed(v) for v in values}) == len(values)


def test_hashes_are_the_same_in_every_run():
    import hashlib

    digest = hashlib.blake2b(b"str:Bern", digest_size=8).digest()
    assert hashed("Bern") == int.from_bytes(digest, "little") >> 12


def test_names_not_among_the_labels_are_read_as_nan():
    labels = Labels(("a", 1))
    found = labels.read((["a", 1, True, "z"], np.array([0, 1, 2, 3, -1])))
    assert found == pytest.approx(np.array([0.0, 1.0, np.nan, np.nan, np.nan]), nan_ok=True)


def test_texts_of_different_values_differ():
    assert make_distinct_texts(["a", 1, "1", 2]) == ("a", "1 (int)", "1 (str)", "2")
    assert make_distinct_texts([True, "True"]) == ("True (bool)", "True (str)")


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([1.5, 2.5], "float64", True),
        ([1, 2**53 - 1], "int64", True),
        ([1, 2**53], "int64", False),
        ([1.5, None], "float64", True),
        ([1.5, None], "Float64", False),
        ([1.5, None], "double[pyarrow]", False),
        ([1, 2], "datetime64[ns]", False),
        ([], "int64", True),
    ],
)
def test_columns_that_floats_describe_in_full_are_known(values, dtype, expected):
    column = series(values, dtype)
    assert is_exact(column, read_column_floats(column)) is expected


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("float32", np.float32(0.1)), ("int8", 0), ("bool", False), ("float64", 0.1)],
)
def test_a_number_is_cast_to_the_type_of_its_column(dtype, expected):
    assert cast(np.array([0.1]), np.dtype(dtype)).tolist() == [expected]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=lambda m: m.__module__)
def test_a_column_by_its_place_is_the_column_that_narwhals_gives(make):
    table = nw.from_native(make({f"c{i}": [i, i + 1] for i in range(5)}), eager_only=True)
    for index in range(5):
        found, wanted = column_at(table, index), table[:, index]
        assert found.name == wanted.name
        assert found.dtype == wanted.dtype
        assert found.to_list() == wanted.to_list()
    assert [column.name for column in columns_in(table)] == table.columns


def test_repeated_names_are_found_once_each():
    assert repeated_in(["b", "a", "b", "c", "a", "b"]) == ["a", "b"]
    assert repeated_in(str(i) for i in range(10**5)) == []  # squared, these were 10 ** 10 steps
