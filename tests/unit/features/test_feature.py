"""What each feature is: from its type, from its rows, from what the user says."""

from functools import reduce
from operator import add

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.unit.features.readers import DECLARED, NUMBER, N, cycle, feature, reader

from rhale.data import open_table
from rhale.errors import BadSettingError, BadTableError, UnknownFeatureError
from rhale.features.feature import (
    FirstPass,
    are_steps,
    check_columns,
    has_no_order,
    read_categorical,
)
from rhale.features.survey import Census, count_values
from rhale.settings import Settings

KINDS = {
    "real numbers": (NUMBER, "number"),
    "20 whole numbers": (cycle(range(20)), "steps"),
    "21 whole numbers of few rows": (cycle(range(25)), "number"),
    "hours": (cycle(range(24)), "steps"),
    "whole floats": (np.array(cycle([1.0, 5.0, 7.0])), "steps"),
    "two real numbers": (cycle([-0.5, 1.5]), "steps"),
    "three real numbers": (cycle([0.5, 1.5, 2.5]), "number"),
    "truth": (cycle([True, False]), "steps"),
    "one whole number": ([3] * N, "number"),
    "text": (cycle(["a", "b"]), "categories"),
    "categories": (pd.Categorical(cycle([3, 1, 2])), "categories"),
    "dates": (pd.to_datetime(cycle(["2020-01-01", "2020-01-05"])), "date"),
    "durations": (pd.to_timedelta(cycle([1, 2]), "h"), "duration"),
    "objects": (pd.Series(cycle(["a", 1]), dtype=object), "categories"),
}


@pytest.mark.parametrize(("values", "kind"), KINDS.values(), ids=KINDS)
def test_the_kind_follows_from_the_type_and_the_values(values, kind):
    assert feature(values).kind == kind


@pytest.mark.parametrize(
    ("n_values", "n_rows", "expected"),
    [(20, 1, True), (24, 5, True), (24, 4, False), (31, 33, True), (60, 5, True), (60, 2, False)],
)
def test_more_than_twenty_whole_numbers_are_steps_where_each_has_rows(n_values, n_rows, expected):
    census = Census({float(k): (n_rows, 1.0) for k in range(n_values)}, most=60)
    assert are_steps(census, whole=True) is expected


def test_a_rare_number_beside_a_frequent_one_is_a_step_and_two_rare_ones_are_not():
    rows = dict.fromkeys(map(float, range(30)), (50, 50.0))
    assert are_steps(Census(rows | {7.0: (1, 1.0)}, 60), whole=True)
    assert not are_steps(Census(rows | {7.0: (1, 1.0), 8.0: (2, 2.0)}, 60), whole=True)


def test_many_values_and_single_ones_are_no_steps():
    assert not are_steps(Census({}, 60, is_many=True), whole=True)
    assert not are_steps(Census({1.0: (9, 9.0)}, 60), whole=True)


@pytest.mark.parametrize("n_parts", [1, 3, 40])
def test_any_pieces_of_a_table_make_the_same_steps(n_parts):
    hours = np.random.default_rng(0).integers(0, 24, 600).astype(float)
    parts = [count_values(part, np.ones(part.size), 60) for part in np.array_split(hours, n_parts)]
    census = reduce(add, parts)
    assert are_steps(census, whole=True)
    assert sorted(census.found) == list(range(24))


@pytest.mark.parametrize(
    ("values", "said", "kind"),
    [
        (cycle(range(30)), True, "categories"),
        (cycle(range(3)), True, "categories"),
        (cycle(range(3)), False, "number"),
        (cycle(range(3)), [2, 0, 1], "categories"),
        (cycle([True, False]), False, "number"),
        (pd.to_datetime(cycle(["2020-01-01", "2020-01-05"])), True, "categories"),
    ],
)
def test_the_user_s_word_counts_more(values, said, kind):
    assert feature(values, said).kind == kind


def test_few_whole_numbers_are_binned_where_bins_are_asked_for():
    assert feature(cycle(range(3)), bins=True).kind == "number"
    assert feature(cycle(["a", "b"]), bins=True).kind == "categories"


def test_missing_values_are_counted_with_their_share_of_the_weight():
    values = [None if i < 30 else "ab"[i % 2] for i in range(N)]
    found = feature(values)
    assert found.n_missing == 30
    assert found.missing_share == pytest.approx(0.25)
    assert found.levels.names == ("a", "b")


def test_one_name_is_a_constant():
    assert feature(["only"] * N).is_constant
    assert feature([2.5] * N).is_constant
    assert not feature(cycle(["a", "b"])).is_constant


# --- what is refused ---------------------------------------------------------------------------


REFUSED = {
    "for all": (True, "goes by column"),
    "a word": ({"f": "yes"}, "neither True, False nor an order"),
    "a number": ({"f": 3}, "neither True, False nor an order"),
    "a set": ({"f": {"a", "b"}}, "neither True, False nor an order"),
    "a mapping": ({"f": {"a": 1}}, "neither True, False nor an order"),
    "twice": ({"f": ["a", "b", "a"]}, "names a level of 'f' twice"),
    "lists": ({"f": [["a"], ["b"]]}, "not a level of 'f'"),
    "nothing": ([], "is empty"),
}


@pytest.mark.parametrize(("said", "words"), REFUSED.values(), ids=REFUSED)
def test_what_the_user_says_is_refused_where_it_makes_no_sense(said, words):
    with pytest.raises(BadSettingError, match=words):
        read_categorical(said, ["f", "g"])


def test_unknown_columns_are_refused():
    with pytest.raises(UnknownFeatureError, match="did you mean 'size'"):
        read_categorical({"sise": True}, ["size"])


def test_columns_are_named_or_counted():
    assert read_categorical(["g", 0], ["f", "g"]) == {1: True, 0: True}
    assert read_categorical("g", ["f", "g"]) == {1: True}
    assert read_categorical({"f": np.True_, "g": False}, ["f", "g"]) == {0: True, 1: False}


def test_limits_for_levels_are_refused():
    table = pd.DataFrame({"f": cycle(["a", "b"]), "g": NUMBER})
    with pytest.raises(BadSettingError, match=r"limits= are for numbers, but 'f' has levels"):
        reader(table).feature(0, (0.0, 1.0))


def test_a_column_without_any_value_is_refused_by_name():
    with pytest.raises(BadTableError, match="feature 'f' has no value in any of 120 rows"):
        feature(np.full(N, np.nan))


def test_names_cannot_be_numbers_and_lists_cannot_be_explained():
    table = open_table(pl.DataFrame({"f": cycle(["a", "b"]), "g": [[1, 2]] * N}))
    with pytest.raises(BadSettingError, match=r"'f': False.*holds no numbers"):
        check_columns(table, [0], {0: False})
    with pytest.raises(BadTableError, match="column 'g' holds neither numbers, dates nor names"):
        check_columns(table, [0, 1], {})


def test_only_levels_that_nobody_ordered_have_no_order():
    table = open_table(DECLARED["polars"].with_columns(g=pl.lit("u"), h=pl.lit(1)))
    assert not has_no_order(table, 0, None)
    assert has_no_order(table, 1, None)
    assert not has_no_order(table, 1, ("u",))
    assert not has_no_order(table, 2, None)
    assert has_no_order(table, 2, said=True)


# --- values that numbers cannot do justice to ----------------------------------------------------

LARGE = 2**60 + np.arange(N)
TABLES = {
    "numpy": lambda values: values[:, None],
    "pandas": lambda values: pd.DataFrame({"x0": values}),
    "pandas with gaps": lambda values: pd.DataFrame(
        {"x0": pd.array([None, *values[1:]], dtype="Int64")}
    ),
    "polars": lambda values: pl.DataFrame({"x0": values}),
    "pyarrow": lambda values: pa.table({"x0": values}),
}


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("said", [None, {"x0": True}], ids=["number", "categories"])
def test_whole_numbers_beyond_floats_are_refused_in_every_kind_of_table(make, said):
    """D8: 1,500 values became 7 levels without a note."""
    with pytest.raises(BadTableError, match=r"'x0' has whole numbers beyond 2\*\*53"):
        reader(make(LARGE), [0], said).feature(0, None)
    assert reader(make(LARGE - 2**60), [0]).feature(0, None).axis.high == N - 1


def test_large_floats_and_large_numbers_as_text_are_no_whole_numbers():
    assert feature(LARGE * 1e3).kind == "number"
    assert feature([str(v) for v in LARGE]).kind == "categories"


@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1e100])
def test_ranges_whose_powers_are_no_numbers_are_refused(scale):
    """D7: an interval of nan, an importance of zero, a bare OverflowError."""
    with pytest.raises(BadTableError, match=r"'f' goes from .* by a power of ten"):
        feature(scale * NUMBER)


@pytest.mark.parametrize(("weights", "n_rows"), [([1e15], "1"), ([3.0, 1.0], "1.6")])
def test_weights_that_leave_less_than_two_rows_get_a_note(weights, n_rows):
    """D10: spread and interval were nan without a word."""
    weight = np.array([*weights, *[1e-9] * (N - len(weights))])
    table = open_table(NUMBER[:, None], weight)
    first = FirstPass.plan(table, Settings())
    (found,) = first.resolve_columns(first.task(table.chunk(0, N))).features
    (note,) = found.notes
    assert note.kind == "weights"
    assert f"with their weights, {N} rows count like {n_rows}: too few" in note


def test_two_rows_of_equal_weight_get_no_note():
    table = open_table(NUMBER[:2, None], [2.0, 2.0])
    first = FirstPass.plan(table, Settings())
    assert first.resolve_columns(first.task(table.chunk(0, 2))).features[0].notes == ()
