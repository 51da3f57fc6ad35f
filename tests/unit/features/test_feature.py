"""What each feature is: from its type, from its rows, from what the user says."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rhale.errors import BadSettingError, BadTableError, UnknownFeatureError
from rhale.features.feature import Reader, check_columns, has_no_order, read_categorical
from rhale.features.first_pass import SURVEY_ROWS
from rhale.features.level_reader import plain_number, split_rare
from rhale.features.survey import survey
from rhale.settings import Settings
from rhale.tables import open_table

RNG = np.random.default_rng(5)
N = 120
NUMBER = RNG.normal(size=N)


def reader(table, columns=None, said=None, *, bins=False, size=SURVEY_ROWS):
    """All that the first pass over a table would learn."""
    opened = open_table(table)
    said = read_categorical(said, opened.names)
    columns = list(range(len(opened.names))) if columns is None else columns
    beside = [c for c in range(len(opened.names)) if c not in columns]
    chunk = opened.chunk(0, opened.n_rows)
    counted = [c for c in columns if said.get(c)]
    seen = survey(chunk, columns, opened.names, (size, 5), 0, beside=beside, counted=counted)
    asked = Settings(bins=5 if bins else None)
    first = Reader(opened, seen, columns, beside, said, asked)
    return Reader(opened.labelled(first.labels()), seen, columns, beside, said, asked)


def feature(values, said=None, beside=NUMBER, *, bins=False):
    """One feature, in a table with a column of numbers beside it."""
    table = pd.DataFrame({"f": values, "beside": beside})
    return reader(table, [0], None if said is None else {"f": said}, bins=bins).feature(0, None)


def cycle(values, n=N):
    return [values[i % len(values)] for i in range(n)]


KINDS = {
    "real numbers": (NUMBER, "number"),
    "20 whole numbers": (cycle(range(20)), "steps"),
    "21 whole numbers": (cycle(range(21)), "number"),
    "whole floats": (np.array(cycle([1.0, 5.0, 7.0])), "steps"),
    "few real numbers": (cycle([0.5, 1.5]), "number"),
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


DECLARED = {
    "pandas": pd.DataFrame(
        {"f": pd.Categorical(cycle(["a", "b", "c"]), list("czab"), ordered=True)}
    ),
    "polars": pl.DataFrame({"f": pl.Series(cycle(["a", "b", "c"]), dtype=pl.Enum(list("czab")))}),
    "pyarrow": pa.table(
        {
            "f": pa.DictionaryArray.from_arrays(
                pa.array(cycle([2, 3, 0]), pa.int8()), pa.array(list("czab")), ordered=True
            )
        }
    ),
}


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
    assert found.notes == ("levels ordered by similarity of the other columns",)


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
    assert found.notes == ("levels ordered by name, for want of other columns to compare them by",)


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
    assert "1 level that it lacks comes last" in found.notes[0]


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
    "lists": ({"f": [["a"], ["b"]]}, "no level of 'f'"),
    "nothing": ([], "asks for nothing"),
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


def test_an_order_must_list_every_level_and_says_which_it_lacks():
    with pytest.raises(
        BadSettingError, match=r"order given for 'f' leaves out 1 .* 'L'; list every"
    ):
        feature(cycle(["S", "L", "M"]), ["S", "M", "XL"])


def test_an_order_of_words_for_numbers_names_the_feature():
    with pytest.raises(BadSettingError, match=r"order given for 'f': .*'low'.*cannot be read"):
        feature(cycle([1, 2, 3]), ["low", "high"])


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


def test_numbers_are_written_in_full():
    found = [plain_number(v) for v in (3.0, -2.0, 1e15, 0.1, 1 / 3)]
    assert found == ["3", "-2", "1000000000000000", "0.1", "0.3333333333333333"]


def test_dates_as_objects_are_categories_in_words():
    days = pd.Series(cycle([dt.date(2020, 1, 2), dt.date(2020, 1, 1)]), dtype=object)
    assert feature(days).levels.names == ("2020-01-01", "2020-01-02")
