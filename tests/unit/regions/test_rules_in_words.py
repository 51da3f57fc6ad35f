"""Words say who is in a region: read back by a reader of their own, they pick the same rows."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhale
from rhale.output.labels import Captions
from rhale.output.text import text_width
from rhale.regions.result import Group, Groups, Partner, Region, RegionTree, Split
from rhale.regions.rules import Rule, locate_rows
from rhale.regions.wording import (
    MAX_LEVELS_IN_RULE,
    call_features,
    find_paths,
    join_words,
    rules_of,
    rules_of_groups,
    short_rules,
    write_threshold,
)

INF, NAN = float("inf"), float("nan")
LETTERS = tuple("abcdefghij")


def cut(threshold, first=-1, second=-2, feature="age", **changes):
    return Split(0, feature, 0, threshold, first=first, second=second, **changes)


def by_levels(levels, others, first=-1, second=-2, **changes):
    return Split(
        0, "city", 0, None, tuple(levels), others=tuple(others), first=first, second=second,
        **changes,
    )  # fmt: skip


def tree_of(splits, n_regions, groups=None):
    effect = rhale.effect([0.0, 1.0], [1.0, 1.0])
    rules = rules_of(splits) if splits else ("all rows",) * n_regions
    regions = tuple(Region(rule, 1, 1 / n_regions, effect) for rule in rules)
    return RegionTree("x", "y", "found", "", regions, tuple(splits), groups=groups)


def test_no_split_is_all_rows():
    assert rules_of(()) == ("all rows",)


def test_thresholds_have_the_digits_they_need():
    assert rules_of([cut(40.0)]) == ("age ≤ 40", "age > 40")
    assert rules_of([cut(-0.125)]) == ("age ≤ -0.125", "age > -0.125")
    assert write_threshold(1e7, "number") == "10000000"
    assert write_threshold(1e300, "number") == "1e+300"
    assert write_threshold(0.1 + 0.2, "number") == "0.30000000000000004"


def test_dates_and_durations_are_written_as_such():
    assert rules_of([cut(1.0, kind="date")]) == ("age ≤ 1970-01-02", "age > 1970-01-02")
    assert rules_of([cut(1.5, kind="date")])[0] == "age ≤ 1970-01-02 12:00:00"
    assert rules_of([cut(90.0, kind="duration")])[1] == "age > 90 s"


def test_conditions_on_one_feature_are_one():
    splits = [cut(5.0, first=1), cut(2.0, second=-3)]
    assert rules_of(splits) == ("age ≤ 2", "age > 5", "2 < age ≤ 5")


def test_conditions_on_several_features_are_joined():
    splits = [by_levels(["f"], ["m"], first=1, second=-3), cut(40.0)]
    assert rules_of(splits) == ("city = f and age ≤ 40", "city = f and age > 40", "city = m")


def test_missing_values_are_told_where_there_are_any():
    assert rules_of([cut(40.0, missing="first")]) == ("age ≤ 40 or missing", "age > 40")
    assert rules_of([cut(40.0, missing="second")]) == ("age ≤ 40", "age > 40 or missing")
    assert rules_of([cut(INF, missing="second")]) == ("age known", "age missing")
    assert rules_of([cut(-INF, missing="first")]) == ("age missing", "age known")


def test_missing_values_go_down_the_tree():
    splits = [cut(5.0, first=1, missing="first"), cut(2.0, second=-3, missing="second")]
    assert rules_of(splits) == ("age ≤ 2", "age > 5", "2 < age ≤ 5 or missing")


def test_missing_values_beside_other_conditions_stand_in_brackets():
    splits = [by_levels(["f"], ["m"], first=1, second=-3), cut(40.0, missing="first")]
    assert rules_of(splits)[:2] == (
        "city = f and (age ≤ 40 or missing)",
        "city = f and age > 40",
    )


def test_levels_are_named():
    assert rules_of([by_levels("ab", "c")]) == ("city = a or b", "city = c")
    assert rules_of([by_levels("abc", "d", missing="second")]) == (
        "city = a, b or c",
        "city = d or missing",
    )
    assert rules_of([by_levels("ab", "", missing="second")]) == ("city known", "city missing")


def test_many_levels_are_those_that_are_left_out_or_counted():
    many = [f"l{i}" for i in range(9)]
    assert rules_of([by_levels(["a", "b"], many)])[1] == "city = all but a and b"
    assert rules_of([by_levels(LETTERS, many)]) == (
        "city = a, b and 8 more levels",
        "city = l0, l1 and 7 more levels",
    )
    assert rules_of([by_levels("a", many, missing="second")])[1] == "city = all but a, or missing"


def test_levels_that_a_later_split_does_not_name_go_with_the_rest():
    splits = [by_levels("abcd", "e", first=1, second=-3), by_levels("a", "b", rest="first")]
    assert rules_of(splits) == ("city = a, c or d", "city = b", "city = e")


def test_names_stay_on_one_line():
    assert rules_of([by_levels(["two\nlines"], ["b"])])[0] == "city = two lines"
    assert text_width(rules_of([cut(1.0, feature="x" * 1000)])[0]) < 70


def test_groups_between_cuts():
    groups = (Group(high=30.0), Group(30.0, 50.0), Group(50.0), Group(INF, INF, missing=True))
    assert rules_of_groups(Groups("age", 0, groups, is_cut=True)) == (
        "age ≤ 30",
        "30 < age ≤ 50",
        "age > 50",
        "age missing",
    )


def test_groups_of_levels():
    plain = (Group(levels=("f",)), Group(levels=("m",)), Group(missing=True))
    assert rules_of_groups(Groups("sex", 0, plain)) == ("sex = f", "sex = m", "sex missing")
    named = (Group(levels=tuple("abcdef"), name="north"), Group(levels=("g",)), Group(rest=True))
    assert rules_of_groups(Groups("city", 0, named)) == (
        "city = north",
        "city = g",
        "city = other levels",
    )


def test_levels_that_no_group_names_are_not_among_all_but_a_few():
    groups = (Group(levels=tuple("abcdef")), Group(levels=("g",)), Group(rest=True))
    assert rules_of_groups(Groups("city", 0, groups))[0] == "city = all but g and other levels"


def test_levels_that_are_named_with_the_rest_stand_for_it():
    """Rare levels that are pooled have a name, and so has what the user left over."""
    pooled = (Group(levels=("a",)), Group(levels=("other (9 levels)",), rest=True))
    assert rules_of_groups(Groups("city", 0, pooled)) == ("city = a", "city = other (9 levels)")
    left = (Group(levels=("a",), name="A"), Group(levels=("b", "c"), rest=True, name="all others"))
    assert rules_of_groups(Groups("city", 0, left)) == ("city = A", "city = all others")


def test_short_rules_are_the_rules_where_there_is_room():
    splits = [by_levels("ab", "c", first=1, second=-3), cut(1.25)]
    assert short_rules(tree_of(splits, 3)) == rules_of(splits)
    assert short_rules(tree_of((), 1)) == ("all rows",)


def test_short_rules_leave_out_digits_then_levels_then_letters():
    many = [by_levels([f"level {i}" for i in range(4)], LETTERS)]
    assert short_rules(tree_of([cut(0.123456789)], 2), 14)[0] == "age ≤ 0.1235"
    assert short_rules(tree_of(many, 2), 25)[0] == "city = level 0 and 3 more"
    assert short_rules(tree_of([cut(1.0, feature="abcdefgh")], 2), 10) == (
        "abcde… ≤ 1",
        "abcde… > 1",
    )
    assert short_rules(tree_of(many, 2), 8)[0] == "city = …"


def test_groups_have_short_rules_too():
    groups = Groups("age", 0, (Group(high=1 / 3), Group(1 / 3)), is_cut=True)
    assert short_rules(tree_of((), 2, groups), 14) == ("age ≤ 0.3333", "age > 0.3333")


def test_words_are_joined_as_people_do():
    assert join_words(["a", "b"], "and") == "a and b"


# --- read back -----------------------------------------------------------------------------------


@st.composite
def trees(draw):
    """Splits of a column of numbers and one of levels, up to three on the way to a region."""
    splits, n_regions, has_gaps = [], iter(range(8)), draw(st.booleans())

    def grow(depth):
        if depth == 3 or (depth > 0 and draw(st.booleans())):
            return -1 - next(n_regions)
        place = len(splits)
        splits.append(None)
        missing = draw(st.sampled_from(["first", "second"])) if has_gaps else "none"
        first, second = grow(depth + 1), grow(depth + 1)
        if draw(st.booleans()):
            made = cut(draw(st.integers(-4, 4)) / 2, first, second, missing=missing)
        else:
            levels = draw(st.sets(st.sampled_from(LETTERS[:6])))
            others = sorted(set(LETTERS[:6]) - levels)
            made = by_levels(sorted(levels), others, first, second, missing=missing)
        splits[place] = replace(made, depth=depth)
        return place

    grow(0)
    return splits, has_gaps


def meets(rule, age, city):
    """Whether a row meets a rule, read word by word; None is a missing value."""
    if rule == "all rows":
        return True
    return all(meets_one(text, age, city) for text in re.split(r" and (?=.*?[≤>=]|\w+ )", rule))


def meets_one(text, age, city):
    value, text = city if "city" in text else age, text.strip("()")
    if text.startswith("no "):
        return False
    if re.fullmatch(r"\w+ (known|missing)", text):
        return (value is None) == text.endswith("missing")
    allows_missing = text.endswith("missing")
    if value is None:
        return allows_missing
    text = re.sub(r"(, or| or) missing$", "", text)
    if " = " in text:
        named = text.partition(" = ")[2]
        is_but = named.startswith("all but ")
        found = re.split(r", | or | and ", named.removeprefix("all but "))
        return (value in found) != is_but
    low = re.match(r"(\S+) < age", text) or re.search(r"age > (\S+)", text)
    high = re.search(r"≤ (\S+)", text)
    return (low is None or value > float(low[1])) and (high is None or value <= float(high[1]))


ROWS = [(a, c) for a in [None, -3.0, -1.0, 0.0, 0.25, 0.5, 2.0, 9.0] for c in [None, *LETTERS[:6]]]


@settings(max_examples=120, deadline=None)
@given(trees())
def test_words_pick_the_rows_that_the_rules_pick(tree):
    splits, has_gaps = tree
    rows = [row for row in ROWS if has_gaps or None not in row]
    age = np.array([NAN if a is None else a for a, _ in rows])
    city = np.array([NAN if c is None else LETTERS.index(c) for _, c in rows])
    rules = [
        Rule(
            int(split.threshold is None),
            NAN if split.threshold is None else split.threshold,
            tuple(map(LETTERS.index, split.levels)) or (-1,) * (split.threshold is None),
            split.missing == "first",
            split.first,
            split.second,
        )
        for split in splits
    ]
    place = locate_rows(rules, [age, city].__getitem__, len(rows))
    said = rules_of(splits)
    assert MAX_LEVELS_IN_RULE >= 3  # six levels are named one by one, or by those that are left out
    for i, (a, c) in enumerate(rows):
        assert [r for r, rule in enumerate(said) if meets(rule, a, c)] == [place[i]]


@given(trees(), st.integers(6, 40))
def test_short_rules_have_no_more_letters_than_they_may(tree, width):
    splits, _ = tree
    labels = short_rules(tree_of(splits, len(find_paths(splits))), width)
    assert all(text_width(label) <= width for label in labels)


@pytest.mark.parametrize("width", [10, 20])
def test_wide_letters_count_twice(width):
    (label, _) = short_rules(tree_of([cut(1.0, feature="日本語" * 9)], 2), width)
    assert text_width(label) <= width
    assert label.endswith("≤ 1")


def test_short_rules_of_dates_have_no_end_that_is_no_date():
    split = Split(0, "since", 0, 18_000.0, kind="date")
    halves = tuple(Region(rule, 1, 0.5, None) for rule in ("before", "after"))
    tree = RegionTree("age", "y", "found", "", halves, (split,))
    assert short_rules(tree, width=18) == ("since ≤ 2019-04-14", "since > 2019-04-14")


WORDS = Captions({"age": "Age of the owner", "city": "Town"})


def test_people_read_what_features_are_called():
    splits = [cut(40.0, 1, -3), by_levels("ab", "cd")]
    told = call_features(tree_of(splits, 3), WORDS)
    assert [region.rule for region in told] == [
        "Age of the owner ≤ 40 and Town = a or b",
        "Age of the owner ≤ 40 and Town = c or d",
        "Age of the owner > 40",
    ]
    assert told.splitters == ("Age of the owner", "Town")
    assert short_rules(told, 20)[2] == "Age of the own… > 40"


def test_groups_and_what_acts_gradually_are_called_so_too():
    groups = Groups("age", 0, (Group(high=30.0), Group(30.0)), is_cut=True)
    thirds = tree_of([cut(1.0)], 2).regions
    thirds = [replace(thirds[0], rule=rule) for rule in ("age ≤ 1", "1 < age ≤ 2", "age > 2")]
    tree = replace(
        tree_of((), 2, groups),
        gradual="age",
        thirds=tuple(thirds),
        partners=(Partner("age", 1, 0),),
    )
    told = call_features(tree, WORDS)
    assert [r.rule for r in told] == ["Age of the owner ≤ 30", "Age of the owner > 30"]
    assert [third.rule for third in told.thirds][1] == "1 < Age of the owner ≤ 2"
    assert (told.gradual, told.partners[0].feature) == ("Age of the owner", "Age of the owner")


def test_a_name_that_is_a_number_is_called_once_in_a_rule_with_numbers():
    third = replace(tree_of([cut(1.0)], 2).regions[0], rule="3 < 3 ≤ 30")
    tree = replace(tree_of((), 2), gradual="3", thirds=(third,))
    assert call_features(tree, Captions({"3": "Age"})).thirds[0].rule == "3 < Age ≤ 30"


def test_without_captions_a_tree_stays_as_it_is():
    tree = tree_of([cut(40.0)], 2)
    assert call_features(tree, Captions()) is tree


def test_an_interval_and_what_lies_on_both_sides_of_it():
    hours = Split(0, "hour", 1, 21.0, above=5.0)
    assert rules_of([hours]) == ("5 < hour ≤ 21", "hour ≤ 5 or > 21")
    gone = replace(hours, missing="second")
    assert rules_of([gone]) == ("5 < hour ≤ 21", "hour ≤ 5 or > 21 or missing")


def test_an_interval_beside_other_conditions_is_in_brackets():
    sex = Split(0, "sex", 0, None, levels=("f",), others=("m",), first=1, second=-3)
    hours = Split(1, "hour", 1, 21.0, above=5.0)
    assert rules_of([sex, hours]) == (
        "sex = f and 5 < hour ≤ 21",
        "sex = f and (hour ≤ 5 or > 21)",
        "sex = m",
    )


def test_an_interval_within_another_leaves_what_both_leave():
    outer = Split(0, "x", 0, 9.0, above=1.0, first=-1, second=1)
    inner = Split(1, "x", 0, 12.0, above=0.0, first=-2, second=-3)
    assert rules_of([outer, inner]) == ("1 < x ≤ 9", "0 < x ≤ 1 or 9 < x ≤ 12", "x ≤ 0 or > 12")
