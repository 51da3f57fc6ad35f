"""Laws of the search for regions: what may change without changing what is found."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effects_by_hand import rows_of, target_of

from rhale.regions.find import Bar, check_tree, find_joint, find_regions
from rhale.regions.residuals import CodedRows, bound_residuals, bound_spread, take_residuals
from rhale.regions.rules import Branch, Rule, list_rules, locate_rows
from rhale.regions.search import SplitSearch, find_best_split, find_first_split_of_pair, grow
from rhale.regions.settings import Regions

few = settings(max_examples=8, deadline=None)
seeds = st.integers(0, 2**32 - 1)
powers = st.integers(-20, 20).map(lambda k: 2.0**k)


def problem(seed, n_rows=600):
    """Rows with gates, a gradual partner, a category, missing values and noise, by chance."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_rows, 5))
    values[:, 2] += values[:, 1] * rng.uniform(0, 2)
    values[:, 3] = rng.integers(0, 4, n_rows)
    size = rng.normal(size=4)
    effects = size[0] * (values[:, 1] > rng.normal() / 2) + size[1] * values[:, 2] / 2
    effects = effects + size[2] * np.isin(values[:, 3], (1, 2)) + 0.3 * rng.normal(size=n_rows)
    values[rng.random(n_rows) < 0.1, 4] = np.nan
    weight = rng.uniform(0.5, 2, n_rows)
    rows = rows_of(values, n_levels=[0, 0, 0, 4, 0], weight=weight, checks=rng.random(n_rows) < 0.5)
    return rows, target_of(values[:, 0], effects + size[3] * values[:, 0])


def regions_of(found, rows):
    return locate_rows(found.rules, lambda k: rows.values[:, k], rows.weight.size)


def assert_same(one, other):
    assert [r.splitter for r in one.rules] == [r.splitter for r in other.rules]
    assert one.reason == other.reason
    assert one.gradual == other.gradual
    np.testing.assert_allclose(one.share, other.share, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(one.error, other.error, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(one.partner_share, other.partner_share, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(one.unexplained, other.unexplained, rtol=1e-5, atol=1e-7)


@few
@given(seeds, st.sampled_from([0.0, 0.5, 3.0]), st.integers(0, 2))
def test_the_bound_of_a_spread_is_never_below_it(seed, roughness, digits):
    rows, target = problem(seed)
    targets = [replace(target, x=target.x.round(digits), roughness=roughness), target]
    for asked in (targets, targets[:1], targets[1:]):
        bound, whole = (take(rows, asked) for take in (bound_residuals, take_residuals))
        np.testing.assert_array_equal(bound.checking, whole.checking)
        some = whole.checking
        np.testing.assert_array_equal(bound.values[0, some], whole.values[0, some])
        assert np.all(whole.spreads(some) <= bound.spreads(some))
        assert whole.spreads(some).sum() <= bound.spreads(some).sum()
        np.testing.assert_array_equal(bound.measure(some), whole.measure(some))


@settings(max_examples=60, deadline=None)
@given(
    seeds,
    st.integers(44, 900),
    st.sampled_from([None, 0, 1, 2]),
    st.sampled_from([1.0, 4.0, 12.0]),
    st.sampled_from(["noise", "one", "ends", "line", "few"]),
)
def test_lines_leave_no_more_than_the_bound_says(seed, n_rows, digits, skew, kind):
    rng = np.random.default_rng(seed)
    x = np.sign(rng.normal(size=n_rows)) * np.abs(rng.normal(size=n_rows)) ** skew
    x = x if digits is None else np.clip(x, -1e3, 1e3).round(digits)
    noise = rng.normal(size=n_rows)
    effects = {
        "noise": noise,
        "one": np.where(np.arange(n_rows) == seed % n_rows, 1.0, 0.0),
        "ends": np.where(np.argsort(np.argsort(x)) < 3, 1.0, 0.0),
        "line": x,
        "few": noise * (rng.random(n_rows) < 0.02),
    }[kind]
    rows = rows_of(x[:, None])
    found = take_residuals(rows, [target_of(x, effects)])
    spread = found.spreads(found.checking).sum()
    assert spread <= bound_spread(rows, [target_of(x, effects)])
    uneven = replace(rows, weight=rng.uniform(0.5, 2, n_rows))
    assert bound_spread(uneven, [target_of(x, noise)]) == np.inf


@few
@given(seeds, seeds)
def test_the_order_of_rows_does_not_matter(seed, order_seed):
    rows, target = problem(seed)
    order = np.random.default_rng(order_seed).permutation(rows.weight.size)
    moved = replace(
        rows,
        values=rows.values[order],
        weight=rows.weight[order],
        is_holdout=rows.is_holdout[order],
    )
    other = replace(target, x=target.x[order], effects=target.effects[order])
    one, two = find_regions(rows, target, Regions()), find_regions(moved, other, Regions())
    assert_same(one, two)
    np.testing.assert_array_equal(regions_of(one, rows)[order], regions_of(two, moved))


@few
@given(seeds, st.floats(-0.95, 0.95), st.sampled_from(["normal", "skewed", "heavy"]))
def test_additive_effects_have_no_regions(seed, rho, margin):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(1_000, 4))
    x[:, 1:] = rho * x[:, :1] + np.sqrt(1 - rho**2) * x[:, 1:]
    margins = {"normal": x, "skewed": np.exp(x), "heavy": x**3}[margin]
    slope = rng.normal() + rng.normal() * x[:, 0] + rng.normal() * x[:, 0] ** 2
    found = find_regions(rows_of(margins), target_of(margins[:, 0], slope), Regions())
    assert found.rules == ()


@few
@given(seeds)
def test_what_the_feature_does_alone_changes_no_rule(seed):
    rows, target = problem(seed)
    plain = Regions(min_effect=0.0)
    one = find_regions(rows, target, plain)
    line = replace(target, effects=target.effects + 3.0 - 2.0 * target.x)
    # a line is taken off wholly; its squares only bound cells that are steep
    residuals = [take_residuals(rows, [each]) for each in (target, line)]
    np.testing.assert_allclose(residuals[0].values, residuals[1].values, atol=1e-9)
    shared = replace(target, effects=target.effects + 5.0, shared=target.shared + 5.0)
    np.testing.assert_allclose(
        take_residuals(rows, [shared]).values, residuals[0].values, atol=1e-9
    )
    assert [rule.splitter for rule in one.rules] == [
        rule.splitter for rule in find_regions(rows, shared, plain).rules
    ]


@few
@given(seeds)
def test_a_monotone_map_of_splitters_changes_no_region(seed):
    rows, target = problem(seed)
    values = rows.values.copy()
    values[:, 1], values[:, 2], values[:, 4] = (
        np.exp(values[:, 1]),
        values[:, 2] ** 3,
        5 * values[:, 4] - 7,
    )
    mapped = replace(rows, values=values)
    one, two = find_regions(rows, target, Regions()), find_regions(mapped, target, Regions())
    assert_same(one, two)
    np.testing.assert_array_equal(regions_of(one, rows), regions_of(two, mapped))


@few
@given(seeds, st.permutations(range(4)))
def test_renaming_levels_changes_no_region(seed, names):
    rows, target = problem(seed)
    values = rows.values.copy()
    values[:, 3] = np.array(names)[values[:, 3].astype(int)]
    renamed = replace(rows, values=values)
    settings = Regions(look_ahead=False)  # which knows levels in their order
    one, two = find_regions(rows, target, settings), find_regions(renamed, target, settings)
    assert np.isclose(one.share, two.share, rtol=1e-6)
    regions = regions_of(one, rows), regions_of(two, renamed)
    assert len(set(zip(*regions, strict=True))) == len(set(regions[0])) == len(set(regions[1]))


@few
@given(seeds, powers, powers, st.sampled_from([-1.0, 1.0]))
def test_units_change_nothing(seed, unit, weight_unit, sign):
    rows, target = problem(seed)
    one = find_regions(rows, target, Regions())
    effects = replace(target, effects=sign * unit * target.effects, scale=target.scale / unit)
    assert_same(one, find_regions(rows, effects, Regions()))
    along = replace(target, x=target.x * unit)
    assert_same(one, find_regions(rows, along, Regions()))
    heavier = replace(rows, weight=rows.weight * weight_unit)
    assert_same(one, find_regions(heavier, target, Regions()))


def test_an_axis_far_from_zero_changes_nothing():
    rows, target = problem(7)
    far = replace(target, x=np.round(target.x, 3) + 1e9)
    near = replace(target, x=np.round(target.x, 3))
    one, two = find_regions(rows, near, Regions()), find_regions(rows, far, Regions())
    assert one.rules == two.rules
    assert one.share == pytest.approx(two.share, rel=1e-4)


@few
@given(seeds)
def test_a_weight_of_two_counts_twice_in_shares_but_not_in_errors(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(600, 3))
    checks, heavy = np.arange(600) % 2 == 1, rng.random(600) < 0.3
    effects = np.sign(values[:, 1]) + rng.normal(size=600)
    step = np.zeros(600, dtype=int)  # one step: no windows, which are counted in rows
    weight = np.where(heavy, 2.0, 1.0)
    twice = np.concatenate([np.arange(600), np.flatnonzero(heavy)])
    weighted = rows_of(values, weight=weight, checks=checks)
    doubled = rows_of(values[twice], checks=checks[twice])
    target = replace(target_of(values[:, 0], effects), step=step)
    copied = replace(target_of(values[twice, 0], effects[twice]), step=step[twice])
    one, two = (
        take_residuals(rows, [each]) for rows, each in ((weighted, target), (doubled, copied))
    )
    np.testing.assert_allclose(one.values[0][twice], two.values[0], atol=1e-12)
    gains = []
    for rows, residuals in ((weighted, one), (doubled, two)):
        search = SplitSearch(CodedRows(rows), residuals, Regions(), np.array([1, 2]))
        gains.append(check_tree(search, Branch(Rule(1, 0.0)), Bar()).gains[0])
    assert gains[0].share == pytest.approx(gains[1].share)
    assert gains[0].error > gains[1].error


@few
@given(seeds, st.sampled_from([1, 2, 3]))
def test_regions_cover_every_row_once_and_are_large_enough(seed, depth):
    rows, target = problem(seed)
    found = find_regions(rows, target, Regions(depth=depth))
    region = regions_of(found, rows)
    assert set(region) == set(range(len(found.rules) + 1))
    assert len(found.gains) == len(found.rules) <= 2**depth - 1
    searched = np.bincount(region[~rows.is_holdout], minlength=len(found.rules) + 1)
    if found.rules:
        assert searched.min() >= 10  # 30 by weight, of both halves, before thresholds settle


@few
@given(seeds)
def test_explained_and_left_are_all_in_rows_that_are_searched(seed):
    rows, target = problem(seed)
    coded = CodedRows(rows)
    residuals = take_residuals(rows, [target])
    search = SplitSearch(coded, residuals, Regions(), np.arange(1, 5))
    some = residuals.searched
    tree = grow(search, search.part(some))
    region = search.locate(tree, some)
    w, r = residuals.measure(some), residuals.values[0, some]
    group = region * residuals.n_cells + residuals.cell[some]
    mass = np.bincount(group, w)
    means = np.bincount(group, w * r) / np.where(mass > 0, mass, 1)
    left = np.sum(w * (r - means[group]) ** 2)
    cells = np.bincount(residuals.cell[some], w)
    common = np.bincount(residuals.cell[some], w * r) / cells
    total = np.sum(w * (r - common[residuals.cell[some]]) ** 2)
    assert search.explained(tree, some) + left == pytest.approx(total)


@few
@given(seeds)
def test_an_honest_share_is_at_most_one(seed):
    found = find_regions(*problem(seed), Regions())
    assert found.share <= 1
    assert not np.any(found.partner_share > 1)
    assert 0 <= found.unexplained <= 1
    assert found.unexplained <= 1 - found.share + 1e-12


@few
@given(seeds)
def test_copies_and_constants_change_nothing(seed):
    rows, target = problem(seed)
    one = find_regions(rows, target, Regions())
    extra = np.column_stack([rows.values, rows.values[:, 1], np.full(rows.weight.size, 3.0)])
    more = replace(rows, values=extra, n_levels=np.append(rows.n_levels, [0, 0]))
    two = find_regions(more, target, Regions())
    assert [r.splitter for r in one.rules] == [r.splitter for r in two.rules]
    assert one.share == pytest.approx(two.share)
    np.testing.assert_allclose(two.partner_share[:5], one.partner_share)
    assert two.partner_share[5] == pytest.approx(one.partner_share[1], nan_ok=True)
    assert np.isnan(two.partner_share[6])


@few
@given(seeds)
def test_one_level_is_the_first_split_of_a_greedy_tree(seed):
    rows, target = problem(seed)
    coded, residuals = CodedRows(rows), take_residuals(rows, [target])
    trees = []
    for depth in (1, 2):
        plain = Regions(depth=depth, look_ahead=False)
        search = SplitSearch(coded, residuals, plain, np.arange(1, 5))
        trees.append(grow(search, search.part(residuals.searched)))
    assert trees[0].rule == trees[1].rule
    assert len(list_rules(trees[0])) == 1


@few
@given(seeds)
def test_the_look_ahead_is_the_best_of_all_trees_of_two_levels(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(300, 5))
    values[:, 1:] = rng.integers(0, 3, (300, 4))
    effects = rng.normal(size=300) + (values[:, 1] > 0) * (values[:, 2] > 1)
    coded = CodedRows(rows_of(values))
    residuals = take_residuals(coded.rows, [target_of(values[:, 0], effects)])
    some, least = residuals.searched, 0.0967
    few_cell, w, r = (
        residuals.coarse_cell[residuals.cell[some]],
        residuals.weight[some],
        residuals.values[0],
    )

    def explained(group):
        key = group * 3 + few_cell
        mass, sums = np.bincount(key, w, 12), np.bincount(key, w * r[some], 12)
        return np.sum(np.divide(sums**2, mass, out=np.zeros(12), where=mass > 0))

    def goes(k, t):
        return values[some, k] <= t

    cuts = list(product(range(1, 5), (0, 1)))
    best = {}
    for k, t in cuts:
        first = goes(k, t)
        if min(w[first].sum(), w[~first].sum()) < least:
            continue
        sides = []
        for side in (first, ~first):
            options = [np.zeros(some.size, dtype=int)]
            for other, u in cuts:
                second = side & goes(other, u)
                if other != k and min(w[second].sum(), w[side & ~second].sum()) >= least:
                    options.append(second.astype(int))
            sides.append(options)
        best[k, t] = max(explained(np.where(first, one, 2 + two)) for one, two in product(*sides))
    pair = find_first_split_of_pair(residuals, some, (coded.coarse, np.arange(1, 5)), least)
    assert best[pair] == pytest.approx(max(best.values()))


@few
@given(seeds)
def test_one_feature_together_with_none_is_itself(seed):
    rows, target = problem(seed)
    target = replace(target, own=-1)
    assert_same(find_regions(rows, target, Regions()), find_joint(rows, [target], Regions()))


@few
@given(seeds)
def test_a_feature_twice_is_one_tree_with_the_same_share(seed):
    rows, target = problem(seed)
    target = replace(target, own=-1)
    one, two = (find_joint(rows, [target] * n, Regions()) for n in (1, 2))
    assert one.rules == two.rules
    assert one.share == pytest.approx(two.share, abs=0.02)
    assert one.error == pytest.approx(two.error, rel=0.2, nan_ok=True)


def test_splits_are_searched_without_randomness():
    rows, target = problem(11)
    search = SplitSearch(
        CodedRows(rows), take_residuals(rows, [target]), Regions(), np.arange(1, 5)
    )
    part = search.part(search.residuals.searched)
    assert find_best_split(search, part) == find_best_split(search, part)
