"""Between two passes: what is searched, and what is measured of the rows that differ."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import rhale
from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.local.measure import Conclusion, SampleParts, SplitterColumn
from rhale.features.categories import Levels
from rhale.regions.estimate import (
    RegionSearch,
    axis_of_rows,
    count_levels,
    cut_in_thirds,
    prediction_deviations,
    read_search_rows,
    rows_with_effect,
    scale_target,
    stretches_between,
    weighted_deviation,
)
from rhale.regions.groups import GroupingRules
from rhale.regions.rules import Rule
from rhale.regions.settings import Finding, Gain, SearchRows, Target

N = 500
RNG = np.random.default_rng(41)


def feature(name="f", column=0, levels=None):
    return SimpleNamespace(name=name, column=column, levels=levels, is_constant=False)


# --- rows that are searched -----------------------------------------------------------------------


def test_searched_rows_have_all_splitters_in_their_order_and_half_of_them_check():
    features = [feature("a", 0), feature("b", 1), feature("c", 2)]
    stands = [np.array([[10.0 * k + row, 99.0] for row in range(64)]) for k in range(3)]
    done = [
        (SimpleNamespace(feature=features[2]), Conclusion(results=("effect",), targets=("t",))),
        (SplitterColumn(features[0]), Conclusion()),
        (SplitterColumn(features[1]), Conclusion()),
        (SimpleNamespace(feature=features[1]), Conclusion(results=("constant",))),
    ]
    kept = (stands[2], stands[0][:, :1], stands[1][:, :1], np.full((64, 1), -1.0))
    key = np.arange(64, dtype=np.uint64)
    sampled = SampleParts(np.zeros((64, 1)), kept, np.arange(1.0, 65.0), key)
    table = SimpleNamespace(names=tuple("abcd"))
    rows = read_search_rows(SimpleNamespace(splitters=tuple(features), table=table), done, sampled)
    assert rows.n_features == 4
    np.testing.assert_array_equal(rows.values, np.column_stack([s[:, 0] for s in stands]))
    np.testing.assert_array_equal(rows.weight, sampled.weight)
    np.testing.assert_array_equal(rows.is_holdout, key // 32 % 2 == 1)
    assert rows.n_levels.tolist() == [0, 0, 0]


def test_without_splitters_there_is_nothing_to_look_at():
    sampled = SampleParts(np.zeros((3, 1)), (), np.ones(3), np.arange(3, dtype=np.uint64))
    table = SimpleNamespace(names=("a",))
    rows = read_search_rows(SimpleNamespace(splitters=(), table=table), [], sampled)
    assert rows.values.shape == (3, 0)


def test_rows_are_sorted_once_along_each_splitter_with_an_order():
    values = np.array([[3.0, 1.0, 2.0], [1.0, 0.0, np.nan], [2.0, 1.0, 1.0]])
    rows = SearchRows(values, np.array([0, 2, 0]), np.ones(3), np.array([True, False, True]))
    along, levels, gaps = rows.orders
    assert levels is None
    assert (along.tolist(), gaps.tolist()) == ([1, 2, 0], [2, 0, 1])
    whole = Target(np.arange(3), values[:, 0], np.ones(3), np.zeros(3))
    assert scale_target(whole, rows, 1.0, 0).along is along
    part = Target(np.array([0, 1]), values[:2, 0], np.ones(2), np.zeros(2))
    assert scale_target(part, rows, 1.0, 0).along.tolist() == [1, 0]
    assert scale_target(whole, rows, 1.0, -1).along.tolist() == [1, 2, 0]


def test_a_row_with_two_effects_is_one_row():
    row = np.array([1, 1, 2, 5, 5])
    target = Target(row, np.zeros(5), np.zeros(5), np.zeros(5), step=np.zeros(5, dtype=int))
    assert rows_with_effect(target).tolist() == [1, 2, 5]


def test_levels_are_counted_where_they_have_no_order():
    places = np.arange(3.0)
    assert count_levels(feature()) == 0
    assert count_levels(feature(levels=Levels(tuple("uvw"), places))) == 0
    assert count_levels(feature(levels=Levels(tuple("uvw"), places, has_order=False))) == 3


def test_deviations_weigh_rows():
    x, w = RNG.normal(size=20), RNG.uniform(0.5, 2, 20)
    assert weighted_deviation(x, w) == pytest.approx(
        np.sqrt(np.cov(x, aweights=w, ddof=0)), rel=1e-12
    )
    assert weighted_deviation(np.empty(0), np.empty(0)) == 0.0


def test_a_target_knows_its_own_splitter_and_how_far_the_feature_moves_predictions():
    x, none = np.array([0.0, 2.0]), np.zeros(2)
    rows = SearchRows(np.empty((3, 0)), np.empty(0, dtype=int), np.array([1.0, 3.0, 1.0]), None)
    found = scale_target(Target(np.array([0, 2]), x, none, none), rows, 4.0, 4)
    assert found.own == 4
    assert found.scale == pytest.approx(1.0 / 4.0)  # 1 of x, in rows of one weight
    flat = scale_target(Target(np.array([0, 2]), x, none, none), rows, 0.0, -1)
    assert flat.scale == 0.0


def test_predictions_of_each_output_spread_over_the_rows_that_have_them():
    predictions = np.array([[1.0, 2.0], [5.0, 2.0], [9.0, 2.0], [np.nan, np.nan]])
    weight = np.array([1.0, 3.0, 1.0, 8.0])
    sampled = SampleParts(predictions, (), weight, np.arange(4, dtype=np.uint64))
    assert prediction_deviations(sampled) == pytest.approx([np.sqrt(32 / 5), 0.0])


# --- what is measured ----------------------------------------------------------------------------


def test_the_axis_of_some_rows_goes_from_the_first_to_the_last():
    whole = FeatureAxis(0.0, 9.0, np.arange(10.0), np.ones(10), 400.0)
    found = axis_of_rows(whole, np.array([3.0, 1.0, 3.0]), np.array([1.0, 2.0, 3.0]), 12.0)
    assert (found.low, found.high, found.rows) == (1.0, 3.0, 200.0)
    np.testing.assert_array_equal(found.values, [1.0, 3.0])
    assert axis_of_rows(whole, np.array([3.0, 3.0]), np.ones(2), 12.0) is whole
    assert axis_of_rows(whole, np.empty(0), np.empty(0), 12.0) is whole


def test_thirds_have_a_third_of_the_weight_each():
    values, weight = RNG.permutation(3_000).astype(float), RNG.choice([1.0, 3.0], 3_000)
    low, high = cut_in_thirds(values, weight)
    shares = [weight[np.digitize(values, [low, high], right=True) == k].sum() for k in range(3)]
    np.testing.assert_allclose(np.array(shares) / weight.sum(), 1 / 3, atol=0.03)


def test_thirds_fall_together_where_many_rows_share_a_value():
    assert len(cut_in_thirds(np.repeat([0.0, 1.0, 2.0], [10, 80, 10]), np.ones(100))) < 2
    assert cut_in_thirds(np.zeros(9), np.ones(9)) == []
    (cut,) = cut_in_thirds(np.repeat([0.0, 1.0], 50), np.ones(100))
    assert 0.0 <= cut < 1.0


def test_stretches_of_levels_are_told_by_names():
    sizes = feature(
        levels=Levels(("S", "M", "L", "rare"), np.array([0, 1, 2, np.nan]), pooled=np.ones(1))
    )
    low, high = stretches_between(sizes, [0.5])
    assert (low.levels, high.levels) == (("S",), ("M", "L", "rare"))
    assert (low.rest, high.rest) == (False, True)
    numbers = stretches_between(feature(), [1.0, 2.0])
    assert [(g.low, g.high) for g in numbers] == [(-np.inf, 1.0), (1.0, 2.0), (2.0, np.inf)]


def test_what_a_rule_explains_stays_with_it_where_other_rules_are_left_out():
    values = np.array([[-1.0, -1.0], [-1, 1], [-1, -1], [-1, 1], [-1, 1], [1, 1]])
    rows = SearchRows(values, np.zeros(2, dtype=int), np.ones(6), np.ones(6, dtype=bool))
    rules = (Rule(0, 0.0, first=1, second=-3), Rule(1, 0.0, first=-1, second=-2))
    gains = Gain(0.9, 0.01, 500), Gain(0.2, 0.02, 200)
    finding = Finding(rules, gains, share=0.9, error=0.01)
    none = np.zeros(6)
    seeker = RegionSearch(
        SimpleNamespace(splitters=()), rhale.Regions(), SimpleNamespace(rows=rows), None
    )
    every = seeker.sketch(finding, Target(np.array([0, 1, 2, 3, 4, 5, 5]), none, none, none))
    assert every.finding.rules == (Rule(1, 0.0),)  # one row behind the other, though twice
    assert every.finding.gains == gains[1:]
    assert every.n_searched == 6
    alone = seeker.sketch(finding, Target(np.array([0, 2]), none, none, none))
    assert (alone.finding.rules, alone.finding.gains) == ((), ())
    assert (alone.finding.share, np.isnan(alone.finding.error)) == (0.0, True)


def test_axes_of_groups_are_those_of_their_rows():
    values = np.column_stack([np.zeros(6), [0.0, 0, 0, 1, 1, 1]])
    rows = SearchRows(values, np.zeros(2, dtype=int), np.array([1.0, 1, 1, 2, 2, 2]), None)
    features = feature("a", 0), feature("b", 1)
    whole = FeatureAxis(0.0, 9.0, np.arange(10.0), np.ones(10), 90.0)
    seeker = RegionSearch(
        SimpleNamespace(splitters=features), None, SimpleNamespace(rows=rows), None
    )
    x = np.array([3.0, 1.0, 2.0, 7.0, 5.0])
    target = Target(np.array([0, 1, 2, 3, 5]), x, x, x)  # one has no value
    division = GroupingRules((Rule(0, 0.5),), features[1:], 2)  # of the second splitter
    low, high = seeker.list_axes(SimpleNamespace(axis=whole), target, division)
    assert (low.low, low.high, low.rows) == (1.0, 3.0, pytest.approx(90 * 3 / 7))
    assert (high.low, high.high, high.rows) == (5.0, 7.0, pytest.approx(90 * 4 / 7))


# --- with a model --------------------------------------------------------------------------------

TABLE = pd.DataFrame(
    {
        "a": RNG.normal(size=N),
        "b": RNG.uniform(-1, 1, N),
        "grade": pd.Categorical(RNG.choice(list("ABCDEFGHI"), N), list("ABCDEFGHI"), ordered=True),
    }
)
TABLE["w"] = np.where(TABLE["b"] > 0, np.nan, RNG.normal(size=N))  # known on one side only


def by_grade(rows):
    return rows["a"].to_numpy() * rows["grade"].cat.codes.to_numpy(dtype=float)


def one_gate(rows):
    w = np.nan_to_num(rows["w"].to_numpy())
    return rows["a"].to_numpy() * np.where(rows["b"].to_numpy() > 0, 5.0, -5.0) + 0.1 * w


def test_an_effect_that_changes_with_grades_is_told_in_thirds_of_them():
    tree = rhale.explain(by_grade, TABLE, features="a", regions=True)["a"].regions
    assert tree.gradual == "grade"
    codes = TABLE["grade"].cat.codes
    limits = [0]
    for third in tree.thirds:
        names = third.rule.removeprefix("grade = ").replace(" or ", ", ").split(", ")
        mine = TABLE["grade"].isin(names)
        assert third.count == mine.sum()
        assert codes[mine].min() == limits[-1]
        limits.append(codes[mine].max() + 1)
        np.testing.assert_allclose(third.effect.mean, codes[mine].mean(), rtol=0.2)
    assert limits[-1] == 9


def test_regions_in_which_a_feature_has_no_value_are_not_its_regions():
    fx = rhale.explain(
        one_gate, TABLE[["a", "b", "w"]], features=["a", "w"], regions=rhale.Regions(joint=True)
    )
    assert len(fx["a"].regions) == 2
    tree = fx["w"].regions
    assert (tree.state, len(tree), tree.splits) == ("none", 1, ())
    assert tree.why == "all rows with a value of this feature are in one region"
    assert (tree.share, tree[0].count) == (0.0, (TABLE["b"] <= 0).sum())


def test_regions_of_another_table_are_those_that_have_rows_here():
    def gates(rows):
        a, b, c = (rows[name].to_numpy() for name in "abc")
        return a * np.select([b > 0, c > 0], [4.0, 1.0], -3.0)

    table = TABLE[["a", "b"]].assign(c=RNG.uniform(-1, 1, N))
    tree = rhale.explain(gates, table, features="a", regions=True)["a"].regions
    assert sorted(tree.splitters) == ["b", "c"]
    below = table[table["b"] < -0.1].reset_index(drop=True)
    found = rhale.explain(gates, below, features="a", regions=rhale.By(tree))["a"].regions
    assert [(split.feature, split.depth) for split in found.splits] == [("c", 0)]
    assert [region.count for region in found] == np.bincount(found.locate(below)).tolist()
    assert [r.effect.mean[0] for r in found] == pytest.approx([-3.0, 1.0], abs=1e-6)
    assert len(found.sampled) == len(below)


def test_no_more_rows_are_searched_than_was_asked_for():
    few = rhale.explain(one_gate, TABLE, features="a", regions=rhale.Regions(search_rows=150))
    assert few["a"].regions.why == "there are too few rows to check a split (150)"
    assert len(few.sample_x) == N
    more = rhale.explain(one_gate, TABLE, features="a", regions=rhale.Regions(search_rows=400))
    assert more["a"].regions.splits[0].rows < 250  # half of 400 check
    assert sum(region.count for region in more["a"].regions) == N
