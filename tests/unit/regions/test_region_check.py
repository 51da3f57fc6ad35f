"""The honest check: curves from one half, losses of the other, and errors by row."""

from dataclasses import replace

import numpy as np
import pytest
from tests.effects_by_hand import rows_of, target_of, uniform

from rhale.regions.find import (
    Bar,
    Common,
    check_tree,
    compute_explained_share,
    drop_by_groups,
    fit_curves,
)
from rhale.regions.residuals import CodedRows, take_residuals
from rhale.regions.rules import Branch, Rule
from rhale.regions.search import Histogram, SplitSearch
from rhale.regions.settings import Regions, Target


def search_in(values, effects, **how):
    coded = CodedRows(rows_of(values))
    residuals = take_residuals(coded.rows, [target_of(values[:, 0], effects, **how)])
    return SplitSearch(coded, residuals, Regions(), np.arange(1, values.shape[1]))


def residuals_like(n_cells, n_features=1):
    values = uniform(600, n_features)
    targets = [target_of(values[:, k], values[:, k]) for k in range(n_features)]
    found = take_residuals(rows_of(values), targets)
    keep = np.arange(n_cells * n_features)
    return replace(found, feature=keep // n_cells)


def test_a_curve_is_moved_as_a_whole_and_bent_where_rows_support_it():
    weight = np.array([[10.0, 5.0]])
    histogram = Histogram(weight, np.array([[[20.0, 25.0]]]))  # means 2 and 5
    parent = np.array([[1.0, 2.0]])
    curve = fit_curves(histogram, parent, residuals_like(2), prior=5.0)
    shift = (10 * (2 - 1) + 5 * (5 - 2)) / 15
    expected = [1 + shift + 10 * (1 - shift) / 15, 2 + shift + 5 * (3 - shift) / 10]
    np.testing.assert_allclose(curve[0, 0], expected)


def test_each_feature_is_moved_by_itself_and_an_empty_group_not_at_all():
    histogram = Histogram(
        np.array([[1.0, 1, 1, 1], [0, 0, 0, 0]]), np.array([[[1.0, 1, 5, 5], [0, 0, 0, 0]]])
    )
    curve = fit_curves(histogram, np.zeros((1, 4)), residuals_like(2, 2), prior=5.0)
    np.testing.assert_allclose(curve[0], [[1, 1, 5, 5], [0, 0, 0, 0]])


def test_the_error_of_a_share_is_that_of_a_ratio_of_sums_over_rows():
    values = uniform(4_000, 2)
    gate = (values[:, 1] > 0).astype(int)
    rng = np.random.default_rng(0)
    search = search_in(values, 2.0 * gate + rng.normal(size=4_000))
    residuals = search.residuals
    drop = drop_by_groups(residuals, gate, 2, Common.of(residuals))
    gain = compute_explained_share(residuals, residuals.checking, drop)
    # by drawing the rows that check again
    spread = residuals.spreads(residuals.checking)
    drawn = rng.integers(0, 2_000, (500, 2_000))
    shares = drop[drawn].sum(axis=1) / spread[drawn].sum(axis=1)
    assert gain.error == pytest.approx(shares.std(), rel=0.15)
    assert gain.share == pytest.approx(0.5, abs=0.06)  # variances 1 and 1


def test_two_effects_of_a_row_are_one_observation_in_errors():
    values = uniform(2_000, 2)
    gate = (values[:, 1] > 0).astype(int)
    effects = gate + np.random.default_rng(0).normal(size=2_000)
    row = np.arange(2_000)
    step = np.zeros(2_000, dtype=int)
    once = Target(row, step + 0.5, effects, np.zeros(2_000), 0.0, step, 0, 1.0)
    both = np.concatenate
    twice = Target(
        both([row, row]),
        both([step, step + 1]) + 0.5,
        both([effects, effects]),
        np.zeros(4_000),
        0.0,
        both([step, step + 1]),
        0,
        1.0,
    )
    gains = []
    for target in (once, twice):
        residuals = take_residuals(rows_of(values), [target])
        drop = drop_by_groups(residuals, gate, 2, Common.of(residuals))
        gains.append(compute_explained_share(residuals, residuals.checking, drop))
    assert gains[1].share == pytest.approx(gains[0].share, abs=0.01)
    assert gains[1].error == pytest.approx(gains[0].error, rel=0.02)
    assert gains[1].rows == gains[0].rows == 1_000


def test_a_branch_that_does_not_hold_is_cut_and_what_is_above_stays():
    values = uniform(2_000, 3)
    search = search_in(values, np.where(values[:, 1] > 0, 1.0, -1.0))
    tree = Branch(Rule(1, 0.0), first=Branch(Rule(2, 0.0)))
    checked = check_tree(search, tree, Bar.of(Regions()))
    assert checked.tree == Branch(Rule(1, 0.0))
    assert len(checked.gains) == 1
    assert check_tree(search, Branch(Rule(2, 0.0)), Bar.of(Regions())).tree is None
    assert check_tree(search, None, Bar()).tree is None


def test_a_first_split_without_gain_stays_for_what_is_below_it():
    values = uniform(2_000, 3)
    search = search_in(values, np.sign(values[:, 1] * values[:, 2]))
    tree = Branch(Rule(1, 0.0), Branch(Rule(2, 0.0)), Branch(Rule(2, 0.0)))
    checked = check_tree(search, tree, Bar.of(Regions()))
    assert checked.tree == tree
    assert checked.gains[0].share > 0.9
    assert [gain.rows for gain in checked.gains] == [1_000, *(
        int(np.sum(side)) for side in (values[1::2, 1] <= 0, values[1::2, 1] > 0)
    )]  # fmt: skip


def test_a_bar_names_what_is_not_enough():
    values = uniform(2_000, 2)
    search = search_in(values, 10 + np.where(values[:, 1] > 0, 1.0, -1.0), scale=0.5)
    tree = Branch(Rule(1, 0.0))
    # gains are about 1 and squared effects about 101; times a squared scale of 1/4
    assert check_tree(search, tree, Bar(effect=0.008)).tree is not None
    assert check_tree(search, tree, Bar(effect=0.012)).tree is None
    assert check_tree(search, tree, Bar(output=0.45)).tree is not None
    assert check_tree(search, tree, Bar(output=0.55)).tree is None
    assert check_tree(search, tree, Bar(gain=0.9)).tree is not None
    assert check_tree(search, tree, Bar(confidence=3.5)).tree is not None
