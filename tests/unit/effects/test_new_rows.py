from datetime import UTC, date, datetime, timedelta, timezone

import narwhals.stable.v2 as nw
import numpy as np
import pytest

from rhale.effects.new_rows import MISSING_LEVEL, UNSEEN_LEVEL, names_of, read_new_rows
from rhale.errors import BadTableError, UnknownFeatureError

NAN = float("nan")


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def frame(request):
    """Make a table of one of the kinds."""
    pytest.importorskip(request.param)
    return lambda **columns: nw.from_dict(columns, backend=request.param).to_native()


def test_numbers_are_read_by_name_and_missing_ones_are_nan(frame):
    rows = read_new_rows(frame(b=["x", "y", "z"], a=[1.5, None, 3.0], n=[1, 2, None], t=[True] * 3))
    np.testing.assert_array_equal(rows.numbers("a", 0, "number"), [1.5, NAN, 3.0])
    np.testing.assert_array_equal(rows.numbers("n", 0, "number"), [1.0, 2.0, NAN])
    np.testing.assert_array_equal(rows.numbers("t", 0, "number"), [1.0, 1.0, 1.0])


def test_dates_are_days_since_1970_and_durations_seconds(frame):
    noon = [datetime(1970, 1, 2, 12), None]
    rows = read_new_rows(frame(day=noon, took=[timedelta(seconds=1.5), None]))
    np.testing.assert_array_equal(rows.numbers("day", 0, "date"), [1.5, NAN])
    np.testing.assert_array_equal(rows.numbers("took", 0, "duration"), [1.5, NAN])


def test_dates_that_know_their_zone_are_those_of_utc(frame):
    east = datetime(1970, 1, 2, 12, tzinfo=timezone(timedelta(hours=12)))
    rows = read_new_rows(frame(day=[east, datetime(1970, 1, 3, tzinfo=UTC)]))
    np.testing.assert_array_equal(rows.numbers("day", 0, "date"), [1.0, 2.0])


def test_zones_with_names_of_pandas_are_read():
    pd = pytest.importorskip("pandas")
    day = pd.to_datetime(["1970-01-02 00:00", None]).tz_localize("America/New_York")
    rows = read_new_rows(pd.DataFrame({"day": day}))
    np.testing.assert_allclose(rows.numbers("day", 0, "date"), [1 + 5 / 24, NAN])


def test_days_and_dates_as_text_are_dates(frame):
    rows = read_new_rows(
        frame(day=[date(1970, 1, 2), None], text=["1970-01-02", None], n=[1.0, 2.0])
    )
    np.testing.assert_array_equal(rows.numbers("day", 0, "date"), [1.0, NAN])
    np.testing.assert_array_equal(rows.numbers("text", 0, "date"), [1.0, NAN])
    np.testing.assert_array_equal(rows.numbers("n", 0, "date"), [1.0, 2.0])


def test_levels_are_found_by_their_names(frame):
    rows = read_new_rows(frame(city=["b", "a", None, "c", "b"]))
    found = rows.levels("city", 0, "number", ("a", "b"))
    assert found.tolist() == [1, 0, MISSING_LEVEL, UNSEEN_LEVEL, 1]


def test_levels_that_are_numbers_are_found(frame):
    rows = read_new_rows(frame(zip=[1.0, 2.5, None, 7.0], truth=[True, False, None, True]))
    assert rows.levels("zip", 0, "number", ("1", "2.5")).tolist() == [
        0,
        1,
        MISSING_LEVEL,
        UNSEEN_LEVEL,
    ]
    assert rows.levels("truth", 0, "number", ("False", "True")).tolist() == [1, 0, MISSING_LEVEL, 1]


def test_levels_that_are_dates_are_found(frame):
    rows = read_new_rows(frame(day=[date(1970, 1, 2), None, date(1970, 1, 3)]))
    assert rows.levels("day", 0, "date", ("1970-01-02",)).tolist() == [
        0,
        MISSING_LEVEL,
        UNSEEN_LEVEL,
    ]


def test_categories_of_pandas_and_values_of_two_types_are_found():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"c": pd.Categorical([1, 2, None]), "o": ["1", 1, None]})
    rows = read_new_rows(frame)
    assert rows.levels("c", 0, "number", ("1", "2")).tolist() == [0, 1, MISSING_LEVEL]
    assert rows.levels("o", 0, "number", ("1 (int)", "1 (str)")).tolist() == [1, 0, MISSING_LEVEL]


def test_arrays_have_their_columns_by_place():
    rows = read_new_rows(np.array([[1.0, 0.0], [NAN, 1.0]]))
    np.testing.assert_array_equal(rows.numbers("any", 0, "number"), [1.0, NAN])
    assert rows.levels("any", 1, "number", ("0", "1")).tolist() == [0, 1]
    assert rows.levels("any", 1, "number", ("False", "True")).tolist() == [0, 1]
    assert rows.levels("any", 0, "number", ("1",)).tolist() == [0, MISSING_LEVEL]


def test_arrays_of_objects_hold_anything():
    rows = read_new_rows(np.array([["a", None], [None, 2]], dtype=object))
    assert rows.levels("any", 0, "number", ("a",)).tolist() == [0, MISSING_LEVEL]
    np.testing.assert_array_equal(rows.numbers("any", 1, "number"), [NAN, 2.0])


def test_a_column_that_is_not_there_is_named_with_near_ones(frame):
    with pytest.raises(UnknownFeatureError, match=r"no column 'age'.*did you mean 'agee'"):
        read_new_rows(frame(agee=[1.0])).numbers("age", 0, "number")
    with pytest.raises(BadTableError, match=r"'age' is column 2 .* have 2 columns"):
        read_new_rows(np.ones((3, 2))).numbers("age", 2, "number")


def test_a_column_that_is_there_twice_is_refused():
    pd = pytest.importorskip("pandas")
    with pytest.raises(BadTableError, match=r"'a' 2 times.*its own name"):
        read_new_rows(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    rows = read_new_rows(pd.DataFrame([[1, 2]], columns=[1, "1"]))
    with pytest.raises(BadTableError, match="2 columns '1'"):
        rows.numbers("1", 0, "number")


def test_text_where_numbers_belong_is_refused_by_the_name_of_the_column(frame):
    with pytest.raises(BadTableError, match="column 'age' defines regions as a number"):
        read_new_rows(frame(age=["young"])).numbers("age", 0, "number")


@pytest.mark.parametrize("rows", [3, "file.csv", [1.0, 2.0], [[1.0], [1.0, 2.0]], np.ones(3), None])
def test_what_is_no_table_is_refused(rows):
    with pytest.raises(BadTableError, match=f"a {type(rows).__name__}.* is not a table"):
        read_new_rows(rows)


def test_lazy_frames_are_to_be_collected():
    pl = pytest.importorskip("polars")
    with pytest.raises(BadTableError, match=r"LazyFrame is not a table.*collected"):
        read_new_rows(pl.LazyFrame({"a": [1]}))


def test_names_of_values_are_those_that_features_give_them():
    """`features` calls levels by texts_of, by plain_number and by str(bool)."""
    from rhale.data.columns import make_distinct_texts
    from rhale.features.categories import write_number_in_full

    for value in (3.0, 2.5, 1e7, 1, -4):
        assert write_number_in_full(value) in names_of(value)
    for values in (["a", 1, "1"], [True, "True"], [1.5, 2]):
        assert all(
            t in names_of(v) for t, v in zip(make_distinct_texts(values), values, strict=True)
        )
