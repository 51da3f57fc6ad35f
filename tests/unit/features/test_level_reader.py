"""Levels: what they are called, which are pooled, in which order they stand."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.unit.features.readers import DECLARED, RNG, N, cycle, feature, reader

from rhale.errors import BadSettingError
from rhale.features.categories import LevelReader, plain_key, split_rare, write_number_in_full


def test_steps_stand_at_their_values_in_increasing_order():
    levels = feature(cycle([5, -1, 2])).levels
    assert levels.names == ("-1", "2", "5")
    assert levels.edges.tolist() == [-1.0, 2.0, 5.0]
    assert levels.is_number


def test_truth_values_are_called_so_as_steps_and_as_categories():
    truth = cycle([True, False, True])
    assert feature(truth).levels.names == ("False", "True")
    assert feature(truth, said=True).levels.names == ("False", "True")
    assert feature(truth, [True, False]).levels.names == ("True", "False")


def test_an_order_given_by_the_user_is_kept_and_absent_levels_are_ignored():
    levels = feature(cycle(["S", "L", "M"]), ["S", "M", "L", "XL"]).levels
    assert levels.names == ("S", "M", "L")


ORDERS = {
    "list": ["S", "M", "L"],
    "tuple": ("S", "M", "L"),
    "array": np.array(["S", "M", "L"]),
    "pandas": pd.Series(["S", "M", "L"]),
    "index": pd.Index(["S", "M", "L"]),
    "polars": pl.Series(["S", "M", "L"]),
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_an_order_may_be_any_kind_of_list(order):
    assert feature(cycle(["S", "L", "M"]), order).levels.names == ("S", "M", "L")


@pytest.mark.parametrize("order", [[3, 1, 2], np.array([3, 1, 2])], ids=["list", "array"])
@pytest.mark.parametrize("dtype", ["category", "object", "int64"])
def test_an_order_of_numbers_fits_categories_objects_and_numbers(order, dtype):
    values = pd.Series(cycle([1, 2, 3])).astype(dtype)
    assert feature(values, order).levels.names == ("3", "1", "2")


def test_numbers_listed_in_increasing_order_keep_their_distances():
    assert feature(cycle([1, 5, 7]), [1, 5, 7]).levels.edges.tolist() == [1.0, 5.0, 7.0]
    assert feature(cycle([1, 5, 7]), [7, 5, 1]).levels.edges.tolist() == [0.0, 1.0, 2.0]


def test_dates_may_be_listed_as_text():
    values = pd.to_datetime(cycle(["2020-01-01", "2020-01-05"]))
    assert feature(values, ["2020-01-05", "2020-01-01"]).levels.names == (
        "2020-01-05",
        "2020-01-01",
    )


def test_no_two_levels_have_the_same_name():
    moments = pd.to_datetime(cycle(["2020-01-01 00:00:00.1", "2020-01-01 00:00:00.2"]))
    spans = pd.to_timedelta(cycle([1234567, 1234568]), "s")
    mixed = pd.Series(cycle([1, "1", 1.0, True, "True"]), dtype=object)
    for values in (moments, spans, mixed):
        names = feature(values, said=True).levels.names
        assert len(set(names)) == len(names) > 1


@pytest.mark.parametrize("table", DECLARED.values(), ids=DECLARED)
def test_an_order_that_the_type_declares_is_kept_and_absent_levels_are_ignored(table):
    found = reader(table).feature(0, None)
    assert found.levels.names == ("c", "a", "b")
    assert found.notes == ()


def test_an_order_that_the_user_gives_counts_more_than_a_declared_one():
    found = reader(DECLARED["pandas"], None, {"f": ["b", "c", "a"]}).feature(0, None)
    assert found.levels.names == ("b", "c", "a")


def test_levels_without_an_order_are_ordered_by_the_columns_beside_them():
    names, place = cycle(["far", "near", "middle"]), cycle([9.0, 1.0, 5.0])
    found = feature(names, beside=np.array(place) + 0.1 * RNG.normal(size=N))
    assert found.levels.names in (("near", "middle", "far"), ("far", "middle", "near"))
    assert found.notes == ("levels are ordered by similarity of the other columns",)


def test_the_order_follows_explained_columns_and_columns_beside_them_alike():
    table = pd.DataFrame(
        {
            "f": cycle(["p", "q", "r", "s"]),
            "g": cycle(["u", "v"]),
            "h": np.array(cycle([3, 1, 2, 0])),
        }
    )
    alone, all_of_them = reader(table, [0]), reader(table)
    assert alone.feature(0, None).levels.names == all_of_them.feature(0, None).levels.names


def test_levels_with_nothing_beside_them_are_ordered_by_name_and_that_is_said():
    found = reader(pd.DataFrame({"f": cycle(["c", "a", "b"])})).feature(0, None)
    assert found.levels.names == ("a", "b", "c")
    assert found.notes == (
        "levels are ordered by name, because there are no other columns to compare them by",
    )


def test_levels_that_a_sample_lacks_come_last_and_the_others_are_ordered_all_the_same():
    near = pd.DataFrame({"f": cycle(["far", "near", "middle"], 3000)})
    near["x"] = near["f"].map({"far": 9.0, "near": 1.0, "middle": 5.0}) + RNG.normal(size=3000)
    near.loc[:4, "f"] = "absent"  # five rows of 3 000: not in a sample of 40
    found = reader(near, [0], size=40).feature(0, None)
    assert found.levels.names in (
        ("near", "middle", "far", "absent"),
        ("far", "middle", "near", "absent"),
    )
    assert "in a sample of" in found.notes[0]
    assert "1 level without sampled rows comes last" in found.notes[0]


def test_two_levels_need_no_word_about_their_order():
    assert feature(cycle(["b", "a"])).notes == ()


def test_rare_levels_are_pooled_under_a_name_and_counted():
    values = ["r1", "r2", "r3", "r4", *cycle(["a", "b"], N - 4)]
    found = feature(values)
    assert set(found.levels.names) == {"a", "b", "other (4 levels)"}
    assert found.levels.pooled_names == ("r1", "r2", "r3", "r4")
    assert "4 rare levels are pooled: r1, r2, r3, ..." in found.notes


def test_the_pooled_levels_never_share_a_name_with_a_level():
    values = ["r1", "r2", *cycle(["other (2 levels)", "b"], N - 2)]
    assert set(feature(values).levels.names) == {"other (2 levels)", "other (2 levels) ", "b"}


def test_a_declared_order_pools_nothing():
    values = ["r1", "r2", *cycle(["a", "b"], N - 2)]
    assert feature(values, ["r1", "a", "r2", "b"]).levels.names == ("r1", "a", "r2", "b")


@pytest.mark.parametrize(
    ("rows", "kept", "pooled"),
    [
        ([5, 5, 5], [0, 1, 2], []),
        ([5, 4, 5], [0, 1, 2], []),  # one alone is not pooled
        ([4, 5, 4], [1], [0, 2]),
        ([1, 1], [], [0, 1]),
        ([10] * 50, list(range(50)), []),
        ([10] * 51, list(range(51)), []),
        ([10] * 52, list(range(50)), [50, 51]),
        ([6] + [10] * 51, list(range(1, 51)), [0, 51]),
    ],
)
def test_levels_of_few_rows_and_beyond_the_fiftieth_are_pooled(rows, kept, pooled):
    found = split_rare(np.array(rows), np.array(rows, dtype=float))
    assert [part.tolist() for part in found] == [kept, pooled]


def test_the_largest_levels_by_weight_are_kept():
    weight = np.arange(60.0)
    kept, pooled = split_rare(np.full(60, 10), weight)
    assert kept.tolist() == list(range(10, 60))
    assert pooled.tolist() == list(range(10))


def test_an_order_must_list_every_level_and_says_which_it_lacks():
    with pytest.raises(
        BadSettingError, match=r"order given for 'f' leaves out 1 .* 'L'; list every"
    ):
        feature(cycle(["S", "L", "M"]), ["S", "M", "XL"])


def test_an_order_of_words_for_numbers_names_the_feature():
    with pytest.raises(BadSettingError, match=r"order given for 'f': .*'low'.*cannot be read"):
        feature(cycle([1, 2, 3]), ["low", "high"])


def test_numbers_are_written_in_full():
    found = [write_number_in_full(v) for v in (3.0, -2.0, 1e15, 0.1, 1 / 3)]
    assert found == ["3", "-2", "1000000000000000", "0.1", "0.3333333333333333"]


def test_dates_as_objects_are_categories_in_words():
    days = pd.Series(cycle([dt.date(2020, 1, 2), dt.date(2020, 1, 1)]), dtype=object)
    assert feature(days).levels.names == ("2020-01-01", "2020-01-02")


def as_elsewhere(values, wanted):
    """Levels of a column in the order in which another explanation has them."""
    found = reader(pd.DataFrame({"f": values}))
    return LevelReader(found.table, found.survey, [0], [], None, wanted).categories(0)


def test_the_order_of_another_explanation_is_taken_over_and_said():
    levels, notes = as_elsewhere(cycle(["a", "b", "c"]), ("c", "gone", "a", "b"))
    assert levels.names == ("c", "a", "b")
    assert notes == ("levels are ordered as in the other explanation",)


def test_a_level_that_the_other_explanation_lacks_is_named_with_the_way_out():
    with pytest.raises(BadSettingError, match=r"no levels 'c' of 'f'; give .*categorical=\{'f'"):
        as_elsewhere(cycle(["a", "b", "c"]), ("b", "a"))


def test_values_are_told_apart_by_type_whoever_made_them():
    assert plain_key(np.float64(1)) == plain_key(1.0) != plain_key(1)
    assert plain_key(np.bool_(1)) == plain_key(True) != plain_key(1)  # noqa: FBT003 - a value
    assert plain_key(np.str_("1")) == plain_key("1") != plain_key(1)
