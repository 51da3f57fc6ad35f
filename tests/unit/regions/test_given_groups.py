"""Groups that the user names, as rules; and what cannot be a group."""

import numpy as np
import pandas as pd
import pytest

import rhale
from rhale.data import open_table
from rhale.errors import BadSettingError
from rhale.features.feature import FirstPass
from rhale.regions.groups import chain, parse_user_groups
from rhale.regions.result import Group, RegionTree, Split
from rhale.regions.rules import Rule, locate_rows
from rhale.regions.settings import By
from rhale.settings import Settings

N = 300
RNG = np.random.default_rng(23)
TABLE = pd.DataFrame(
    {
        "a": RNG.normal(size=N),
        "s": pd.Series(RNG.choice(["ant", "bee", "cat", None], N), dtype="str"),
        "half": RNG.choice([0.5, 1.5, 2.25], N),
        "whole": RNG.integers(0, 4, N),
        "day": pd.Timestamp("2024-03-01") + pd.to_timedelta(RNG.integers(0, 3, N), "D"),
        "truth": RNG.random(N) < 0.4,
        "same": np.ones(N),
        "gone": np.full(N, np.nan),
        "many": pd.Series([f"v{k % 25 if k < 250 else k}" for k in range(N)], dtype="str"),
        "m": np.where(RNG.random(N) < 0.2, np.nan, RNG.normal(size=N)),
    }
)


def read(by, table=TABLE):
    opened = open_table(table)
    first = FirstPass.plan(opened, Settings(features="a", regions=by))
    columns = first.resolve_columns(first.task(opened.chunk(0, len(table))))
    return parse_user_groups(by, columns), columns.table.chunk(0, len(table))


def located(by, table=TABLE):
    given, chunk = read(by, table)
    return given, given.division.locate(chunk)


def assert_groups(by, wanted, table=TABLE):
    """Rows are in the groups of those `wanted`, whatever the groups' numbers."""
    given, found = located(by, table)
    pairs = set(zip(found.tolist(), wanted, strict=True))
    assert len(pairs) == len(set(found.tolist())) == len(set(wanted)) == given.division.n_groups
    return given


# --- groups -------------------------------------------------------------------------------------


def test_the_levels_of_a_column_are_groups_and_so_are_rows_without_one():
    given = assert_groups(By("s"), TABLE["s"].fillna("none").tolist())
    levels = [group.levels for group in given.groups.groups]
    assert sorted(levels[:-1]) == [("ant",), ("bee",), ("cat",)]
    assert given.groups.groups[-1].missing
    assert not given.groups.is_cut


@pytest.mark.parametrize("name", ["half", "whole", "day", "truth"])
def test_the_values_of_a_column_are_groups(name):
    given = assert_groups(By(name), TABLE[name].tolist())
    assert not any(group.missing for group in given.groups.groups)
    assert (given.groups.feature, given.groups.column) == (name, list(TABLE).index(name))


def test_cuts_make_groups_and_a_value_at_a_cut_lies_below_it():
    given, found = located(By("whole", cuts=[2, 0]))
    np.testing.assert_array_equal(found, np.digitize(TABLE["whole"], [0, 2], right=True))
    ends = [(group.low, group.high) for group in given.groups.groups]
    assert ends == [(-np.inf, 0.0), (0.0, 2.0), (2.0, np.inf)]
    assert given.groups.is_cut


def test_dates_are_cut_by_dates():
    given, found = located(By("day", cuts=["2024-03-01", pd.Timestamp("2024-03-02")]))
    np.testing.assert_array_equal(found, (TABLE["day"] - pd.Timestamp("2024-03-01")).dt.days)
    assert given.groups.kind == "date"


def test_rows_without_a_value_are_a_group_behind_those_between_cuts():
    given, found = located(By("m", cuts=[0.0]))
    m = TABLE["m"].to_numpy()
    np.testing.assert_array_equal(found, np.select([np.isnan(m), m <= 0], [2, 0], 1))
    assert given.groups.groups[2] == Group(np.inf, np.inf, missing=True)


def test_levels_are_united_and_the_others_are_one_more_group():
    given, found = located(By("s", groups={"wings": ["bee"]}))
    s = TABLE["s"].fillna("none")
    np.testing.assert_array_equal(found, np.select([s == "bee", s == "none"], [0, 2], 1))
    wings, others, missing = given.groups.groups
    assert (wings.name, wings.levels, wings.rest) == ("wings", ("bee",), False)
    assert (set(others.levels), others.rest) == ({"ant", "cat"}, True)
    assert missing.missing


def test_no_group_is_left_for_others_where_all_levels_are_named():
    given, found = located(By("s", groups={"insects": ["ant", "bee"], "cats": ["cat"]}))
    s = TABLE["s"].fillna("none")
    np.testing.assert_array_equal(found, np.select([s == "cat", s == "none"], [1, 2], 0))
    assert [group.name for group in given.groups.groups] == ["insects", "cats", ""]
    assert not any(group.rest for group in given.groups.groups)


def test_numbers_are_united_by_value():
    _, found = located(By("whole", groups={"ends": [0, 3]}))
    np.testing.assert_array_equal(found, np.isin(TABLE["whole"], [1, 2]).astype(int))


@pytest.mark.parametrize("has_missing", [False, True])
@pytest.mark.parametrize("n_tests", [0, 1, 3])
def test_who_passes_no_test_is_in_the_last_group(n_tests, has_missing):
    rules = chain([Rule(0, float(cut)) for cut in range(n_tests)], has_missing=has_missing)
    x = np.array([-1.0, 0.5, 1.5, 9.0, np.nan])
    wanted = np.digitize(x[:4], np.arange(float(n_tests)), right=True)
    found = locate_rows(rules, lambda _: x, 5)
    np.testing.assert_array_equal(found[:4], wanted)
    assert found[4] == (n_tests + 1 if has_missing else n_tests)


# --- regions that were found before --------------------------------------------------------------


def tree(*splits):
    return RegionTree("a", "y0", "found", "", tuple(f"region {k}" for k in range(len(splits) + 1)),
                      splits)  # fmt: skip


def test_regions_that_were_found_are_rules_again():
    splits = (
        Split(0, "s", 1, None, ("bee",), "second", first=-1, second=1, others=("ant", "cat")),
        Split(1, "m", 9, 0.25, missing="first", first=-2, second=-3),
    )
    given, found = located(By(tree(*splits)))
    s, m = TABLE["s"], TABLE["m"].to_numpy()
    below = ~(m > 0.25)  # or missing
    np.testing.assert_array_equal(found, np.select([s == "bee", below], [0, 1], 2))
    assert given.groups is None
    assert given.splits == splits


@pytest.mark.parametrize("rest", ["first", "second"])
def test_levels_that_a_split_does_not_name_go_where_it_says(rest):
    split = Split(0, "s", 1, None, ("bee",), others=("ant",), rest=rest)
    _, found = located(By(tree(split)))
    first = ["bee", "cat"] if rest == "first" else ["bee"]
    np.testing.assert_array_equal(found, 1 - TABLE["s"].isin(first))


def test_levels_that_no_row_has_make_no_threshold():
    _, found = located(By(tree(Split(0, "s", 1, None, ("dog",), others=("ant", "bee", "cat")))))
    assert set(found.tolist()) == {1}


REFUSED = [
    (tree(Split(0, "a", 0, None, ("bee",))), "levels of 'a', which has none in this table"),
    (tree(Split(0, "s", 1, 0.5)), "cut 's' as a number, and the column has levels"),
    (tree(Split(0, "m", 9, 5.0, kind="date")), "cut 'm' as a date, and the column has numbers"),
    (tree(Split(0, "gone", 7, 0.5)), "split by 'gone', of which no row of this table has a value"),
    (
        tree(Split(0, "hair", 3, 0.5)),
        "a splitter of regions is not a column of the table: there is no feature 'hair'",
    ),
]


@pytest.mark.parametrize(("regions", "words"), REFUSED)
def test_regions_of_another_table_are_refused(regions, words):
    with pytest.raises(BadSettingError, match=words):
        read(By(regions))


def test_groups_that_were_given_are_not_regions_that_were_found():
    given, _ = read(By("s"))
    with pytest.raises(BadSettingError, match="name the column of given groups again"):
        read(By(RegionTree("a", "y0", "given", "", (), groups=given.groups)))


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("by", "words"),
    [
        (By("a"), r"By\('a'\) has 300 values or more, and at most 20 groups .*cuts=\[\.\.\.\]"),
        (By("many"), r"By\('many'\) has 26 values or more.* groups=\{'name': \[levels\]\}"),
        (By("gone"), r"By\('gone'\) makes no groups: no row has a value there"),
        (By("sss"), "a splitter of regions is not a column of the table: .*Known: 'a', 's'"),
        (By("hal"), "there is no feature 'hal'; did you mean 'half'"),
        (By("s", cuts=[1]), r"cuts numbers, but the column has levels; unite them with groups="),
        (By("m", cuts=[]), "has 0 cuts; pass 1 to 19 of them"),
        (By("m", cuts=range(20)), "has 20 cuts; pass 1 to 19 of them"),
        (By("m", cuts=[0, np.nan]), "has a cut that is missing or infinite"),
        (By("m", cuts=["soon"]), "cannot be read as numbers"),
        (By("m", groups={"low": [0]}), r"unites levels, but the column has none; use cuts=\["),
        (By("s", groups={"x": ["be"]}), "the level 'be' in group 'x', which no row has; did you m"),
        (By("s", groups={"x": ["bee", "bee"]}), "'bee' in group 'x' a second time; name it once"),
        (By("s", groups={"x": ["bee"], "y": ["bee"]}), "'bee' in group 'y' a second time"),
        (By(rhale.Regions()), "is neither a column nor regions that were found before"),
    ],
    ids=repr,
)
def test_what_makes_no_groups_is_refused(by, words):
    with pytest.raises(BadSettingError, match=words):
        read(by)


def test_a_level_that_is_pooled_with_others_cannot_be_told_apart():
    given, found = located(By("many", groups={"one": ["v1"]}))
    np.testing.assert_array_equal(found, TABLE["many"] != "v1")
    assert given.groups.groups[1].rest
    with pytest.raises(BadSettingError, match="'v270' in group 'one', which is rare and pooled"):
        read(By("many", groups={"one": ["v270"]}))  # one row


def test_too_many_groups_are_refused():
    each = {f"group {k}": [f"v{k}"] for k in range(20)}
    with pytest.raises(BadSettingError, match="has 21 groups; at most 20 are possible"):
        read(By("many", groups=each))  # and all others


def test_a_column_of_one_value_is_one_group():
    given, found = located(By("same"))
    assert given.division.rules == ()
    assert given.groups.groups == (Group(),)
    assert set(found.tolist()) == {0}
