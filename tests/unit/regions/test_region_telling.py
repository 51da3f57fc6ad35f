"""Regions as they are told: splits by names, regions with rows, and why there are none."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rhale.effects.binning.fit import MOVED_LIMITS
from rhale.effects.local.measure import PartResult
from rhale.features.categories import Levels
from rhale.output.text import Note
from rhale.regions.estimate import (
    RegionTreeBuilder,
    Sketch,
    count_of,
    keep_groups,
    write_split,
    write_splits,
)
from rhale.regions.groups import UserGroups
from rhale.regions.result import Group, Groups, Split
from rhale.regions.rules import Rule
from rhale.regions.settings import Finding, Gain


@dataclass(frozen=True)
class Told:
    """As much of an effect as is told."""

    count: Any
    weight: Any
    name: str = "a"
    output: str = "y0"
    parts: str = "bins"
    local_notes: tuple[str, ...] = ()
    bin_notes: tuple[Note, ...] = ()


def of_rows(n_rows, weight, **more):
    return Told(np.array([n_rows]), np.array([weight]), **more)


WHOLE = of_rows(100, 50.0, local_notes=("by gradient",))


def feature(name, column, levels=None, n_missing=0, kind="number"):
    return SimpleNamespace(
        name=name, column=column, levels=levels, n_missing=n_missing, axis_kind=kind
    )


NUMBER = feature("age", 0)
GAPS = feature("income", 1, n_missing=4)
NAMES = feature("city", 2, Levels(("Bern", "Rome", "other (3 levels)"), np.array([0, 1, np.nan]),
                                  has_order=False, pooled=np.array([2.0, 3.0, 4.0]),
                                  pooled_weight=np.ones(3), pooled_names=("x", "y", "z")))  # fmt: skip
STEPS = feature("rooms", 3, Levels(("1", "2", "4"), np.array([1.0, 2.0, 4.0]), is_number=True))
TRUTH = feature("new", 4, Levels(("False", "True"), np.array([0.0, 1.0]), is_number=True))
SIZES = feature("size", 5, Levels(("S", "M", "L"), np.array([0.0, 1.0, 2.0])))
DATES = feature("sold", 6, kind="date")
SPLITTERS = (NUMBER, GAPS, NAMES, STEPS, TRUTH, SIZES, DATES)


# --- splits by names ----------------------------------------------------------------------------


def test_a_threshold_is_told_as_it_is():
    assert write_split(Rule(0, 4.5), NUMBER, 1) == Split(1, "age", 0, 4.5)
    assert write_split(Rule(3, 2.5), STEPS, 0) == Split(0, "rooms", 3, 2.5)
    assert write_split(Rule(6, 9.0), DATES, 0) == Split(0, "sold", 6, 9.0, kind="date")


@pytest.mark.parametrize(("first", "side"), [(True, "first"), (False, "second")])
def test_rows_without_a_value_go_where_the_rule_says(first, side):
    assert write_split(Rule(1, 0.5, missing_first=first), GAPS, 0).missing == side
    assert write_split(Rule(0, 0.5, missing_first=first), NUMBER, 0).missing == "none"


def test_levels_are_told_by_their_names():
    found = write_split(Rule(2, levels=(1,)), NAMES, 0)
    assert (found.threshold, found.levels) == (None, ("Rome",))
    assert (found.others, found.rest) == (("Bern", "other (3 levels)"), "second")
    pooled = write_split(Rule(2, levels=(0, 2)), NAMES, 0)
    assert (pooled.levels, pooled.rest) == (("Bern", "other (3 levels)"), "first")


def test_levels_in_order_are_cut_but_told_by_their_names():
    found = write_split(Rule(5, 0.5), SIZES, 0)
    assert (found.threshold, found.levels, found.others) == (None, ("S",), ("M", "L"))
    truth = write_split(Rule(4, 0.5), TRUTH, 0)
    assert (truth.threshold, truth.levels, truth.others) == (None, ("False",), ("True",))


def test_splits_know_their_depth_and_what_they_explain():
    rules = (Rule(0, 1.0, first=1, second=-3), Rule(1, 2.0, first=-1, second=-2))
    finding = Finding(rules, gains=(Gain(0.9, 0.01, 500), Gain(0.2, 0.02, 200)))
    top, below = write_splits(rules, finding, SPLITTERS)
    assert (top.depth, top.share, top.standard_error, top.rows) == (0, 0.9, 0.01, 500)
    assert (below.depth, below.share, below.standard_error, below.rows) == (1, 0.2, 0.02, 200)
    assert (top.first, top.second, below.first, below.second) == (1, -3, -1, -2)
    doubtful = write_splits((Rule(0, 1.0),), finding, SPLITTERS)
    assert np.isnan(doubtful[0].share)


# --- regions ------------------------------------------------------------------------------------


def told(finding, parts=(), given=None, output=0, **known):
    sketch = Sketch(finding, **known)
    return RegionTreeBuilder(sketch, SPLITTERS, given, WHOLE, output, tuple(parts))


RULES = (Rule(0, 40.0),)
FOUND = Finding(RULES, gains=(Gain(0.9, 0.01, 50),), share=0.9, error=0.01)


def test_regions_have_rules_rows_and_their_share_of_the_weight():
    parts = [PartResult(0, 0, 0, of_rows(30, 10.0)), PartResult(0, 1, 0, of_rows(70, 40.0)),
             PartResult(1, 0, 0, of_rows(1, 1.0)), PartResult(0, 0, 1, of_rows(2, 2.0))]  # fmt: skip
    tree = told(FOUND, parts, regions=0).tree()
    assert (tree.feature, tree.output, tree.state, tree.why) == ("a", "y0", "found", "")
    assert [r.rule for r in tree] == ["age ≤ 40", "age > 40"]
    assert [(r.count, r.share_of_rows) for r in tree] == [(30, 0.2), (70, 0.8)]
    assert all(region.effect.local_notes == WHOLE.local_notes for region in tree)
    assert (tree.share, tree.standard_error) == (0.9, 0.01)


def test_regions_do_not_tell_of_limits_that_moved():
    notes = Note(MOVED_LIMITS, "limits moved"), Note("gap", "a gap")
    parts = [PartResult(0, k, 0, of_rows(50, 25.0, bin_notes=notes)) for k in (0, 1)]
    tree = told(FOUND, parts, regions=0).tree()
    assert [region.effect.bin_notes for region in tree] == [notes[1:]] * 2


def test_regions_of_another_output_are_its_own():
    parts = [PartResult(0, k, 0, of_rows(5, 5.0)) for k in (0, 1)]
    parts += [PartResult(1, 0, 1, of_rows(60, 20.0)), PartResult(1, 1, 1, of_rows(40, 30.0))]
    tree = told(FOUND, parts, output=1, regions=1).tree()
    assert [region.count for region in tree] == [60, 40]


def test_thirds_are_told_where_an_effect_changes_gradually():
    groups = Groups("income", 1, (Group(high=1.0), Group(1.0, 2.0), Group(2.0)), is_cut=True)
    parts = [PartResult(d, g, 0, of_rows(10 * d + g, 5.0)) for d, g in
             ((0, 0), (0, 1), (1, 0), (1, 1), (1, 2))]  # fmt: skip
    finding = replace(FOUND, gradual=1)
    tree = told(finding, parts, regions=0, thirds=1, third_groups=groups).tree()
    assert tree.gradual == "income"
    assert [third.rule for third in tree.thirds] == ["income ≤ 1", "1 < income ≤ 2", "income > 2"]
    assert [third.count for third in tree.thirds] == [10, 11, 12]


def given_groups():
    groups = Groups("age", 0, (Group(high=1.0), Group(1.0, 2.0), Group(2.0)), is_cut=True)
    return UserGroups(SimpleNamespace(splitters=(NUMBER,)), groups)


def test_groups_without_rows_are_left_out_and_the_sampled_rows_follow():
    parts = [PartResult(0, 0, 0, of_rows(30, 20.0)), PartResult(0, 1, 0, None),
             PartResult(0, 2, 0, of_rows(70, 30.0))]  # fmt: skip
    telling = told(FOUND, parts, given_groups(), regions=0)
    tree = telling.tree()
    assert (tree.state, tree.why) == ("given", "")
    assert [r.rule for r in tree] == ["age ≤ 1", "age > 2"]
    assert [group.low for group in tree.groups.groups] == [-np.inf, 2.0]
    assert telling.locate_sampled(np.array([2, 0, 1, -1])).tolist() == [1, 0, -1, -1]
    assert tree.locate(np.array([[0.0], [1.5], [5.0]])).tolist() == [0, -1, 1]


@pytest.mark.parametrize(("has_pooled", "rest"), [(False, False), (True, True)])
def test_levels_of_a_group_without_rows_are_in_no_other(has_pooled, rest):
    some = Group(levels=("u",)), Group(levels=("v",)), Group(levels=("w",), rest=True)
    found = keep_groups(Groups("k", 0, some), [0, 2], has_pooled=has_pooled)
    assert [group.levels for group in found.groups] == [("u",), ("w",)]
    assert found.groups[1].rest == rest
    assert keep_groups(Groups("k", 0, some), [0, 1, 2], has_pooled=False).groups == some


def test_regions_that_were_found_before_keep_their_splits():
    splits = (Split(0, "age", 0, 40.0, share=0.5),)
    parts = [PartResult(0, k, 0, of_rows(50, 25.0)) for k in (0, 1)]
    given = UserGroups(SimpleNamespace(), splits=splits)
    tree = told(FOUND, parts, given, regions=0, splits=splits).tree()
    assert (tree.state, tree.splits, tree.groups) == ("given", splits, None)
    assert [r.rule for r in tree] == ["age ≤ 40", "age > 40"]


def test_partners_come_by_what_they_explain():
    share = np.array([0.2, np.nan, 0.6, -0.1])
    finding = Finding(reason="alike", partner_share=share, partner_error=share / 10)
    tree = told(finding).tree()
    assert [(p.feature, p.share) for p in tree.partners] == [
        ("city", 0.6), ("age", 0.2), ("rooms", 0.0),
    ]  # fmt: skip
    assert tree.partners[0].standard_error == 0.06


# --- and why there are none ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("few rows", "there are too few rows to check a split (1,234)"),
        ("no splitter", "there is no other feature to split by"),
        ("alike", "rows hardly differ"),
        ("itself", "the groups are made of this feature itself"),
        ("nothing found", "no split separates rows with different effects"),
        ("not confirmed", "no split was confirmed on held-out rows"),
        (
            "too little",
            "splitting the rows explains almost none of the spread (checked on held-out rows)",
        ),
        ("", "all rows with a value of this feature are in one region"),
    ],
)
def test_why_there_are_no_regions(reason, words):
    tree = told(Finding(reason=reason), n_searched=1234).tree()
    assert (tree.state, tree.why, len(tree)) == ("none", words, 1)
    assert (tree[0].rule, tree[0].count, tree[0].share_of_rows) == ("all rows", 100, 1.0)
    assert tree[0].effect is WHOLE


def test_rows_of_levels_are_counted_once():
    levels = SimpleNamespace(parts="levels", level_count=np.array([3, 4]), count=np.array([7]),
                             level_weight=np.array([1.0, 2.0]), weight=np.array([3.0]))  # fmt: skip
    assert count_of(levels) == (7, 3.0)
    assert count_of(Told(np.array([10, 20]), np.array([1.0, 3.0]))) == (30, 4.0)


def test_groups_of_one_value_say_so():
    tree = told(Finding(), given=UserGroups(SimpleNamespace(), Groups("k", 1, (Group(),)))).tree()
    assert (tree.state, tree.why) == (
        "none",
        "all rows with a value of this feature are in one region",
    )
