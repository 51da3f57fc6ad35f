"""The search: the best split is the best of all, thresholds lie between rows, sides are large enough."""

import numpy as np
import pytest
from tests.effects_by_hand import rows_of, target_of, uniform

from rhale.regions.residuals import CodedRows, take_residuals
from rhale.regions.rules import Branch, Rule, list_rules
from rhale.regions.search import (
    Cut,
    Histogram,
    SearchNode,
    SplitSearch,
    best_of,
    find_best_split,
    grow,
    grow_greedily,
    order_levels_by_residual,
    refine_thresholds,
)
from rhale.regions.settings import Regions


def search_in(values, effects, *, n_levels=None, settings=None):
    coded = CodedRows(rows_of(values, n_levels=n_levels))
    residuals = take_residuals(coded.rows, [target_of(values[:, 0], effects)])
    splitters = np.arange(1, values.shape[1])
    return SplitSearch(coded, residuals, settings or Regions(), splitters)


def searched(search):
    return search.part(search.residuals.searched)


def explained_by(search, part, first):
    """Sum of squares between two groups, cell by cell, as it is defined."""
    r, w = search.residuals.values[0, part.some], search.residuals.weight[part.some]
    cell, found = search.residuals.cell[part.some], 0.0
    for one in range(search.residuals.n_cells):
        for side in (first & (cell == one), ~first & (cell == one)):
            if side.any():
                found += np.sum(w[side] * r[side]) ** 2 / w[side].sum()
        here = cell == one
        found -= np.sum(w[here] * r[here]) ** 2 / w[here].sum()
    return found


def test_the_best_split_of_few_values_is_the_best_of_all():
    rng = np.random.default_rng(0)
    values = uniform(600, 4)
    values[:, 1:] = rng.integers(0, 5, (600, 3))
    search = search_in(values, rng.normal(size=600) + (values[:, 2] > 2))
    part = searched(search)
    cut = find_best_split(search, part)
    gains = {
        (k, t): explained_by(search, part, values[search.residuals.row[part.some], k] <= t)
        for k in (1, 2, 3)
        for t in range(4)
    }
    best = max(gains, key=gains.get)
    assert (cut.rule.splitter, cut.rule.threshold) == best
    assert cut.gain == pytest.approx(gains[best])


def test_the_best_group_of_levels_is_the_best_of_all_where_effects_have_one_direction():
    rng = np.random.default_rng(1)
    values = uniform(3_000, 2)
    values[:, 1] = rng.integers(0, 5, 3_000)
    search = search_in(values, rng.normal(size=5)[values[:, 1].astype(int)], n_levels=[0, 5])
    part = searched(search)
    level = values[search.residuals.row[part.some], 1].astype(int)
    groups = [np.array([bit >> k & 1 for k in range(5)], dtype=bool) for bit in range(1, 16)]
    best = max(explained_by(search, part, group[level]) for group in groups)
    assert find_best_split(search, part).gain == pytest.approx(best)


def test_levels_are_ordered_across_cells_of_opposite_sign():
    sums = np.array([[[1.0, -1], [-1, 1], [3, -3], [0, 0]]])
    order = order_levels_by_residual(Histogram(np.ones((4, 2)), sums), np.ones(2)).tolist()
    assert order in ([1, 3, 0, 2], [2, 0, 3, 1])


def test_no_side_is_smaller_than_asked_for():
    values = uniform(2_000, 2)
    effects = np.where(values[:, 1] > 0.97, 10.0, 0.0)
    search = search_in(values, effects)
    small = find_best_split(search, searched(search))
    goes = small.rule.goes_first(values[::2, 1])
    assert min(goes.sum(), (~goes).sum()) >= 30
    assert small.rule.threshold < 0.97


def test_nothing_is_split_where_nothing_differs():
    search = search_in(uniform(400, 2), np.ones(400))
    assert find_best_split(search, searched(search)) is None
    assert grow(search, searched(search)) is None
    assert find_best_split(search, SearchNode(np.empty(0, dtype=int), 0.1)) is None


def test_a_threshold_lies_between_the_rows_that_differ():
    values = uniform(2_000, 2, seed=5)
    search = search_in(values, np.where(values[:, 1] > 0.2345, 1.0, -1.0))
    tree = grow_greedily(search, searched(search), 1)
    x = values[::2, 1]
    assert x[x <= 0.2345].max() <= tree.rule.threshold < x[x > 0.2345].min()


def test_settling_uses_all_rows():
    values = uniform(2_000, 2, seed=6)
    search = search_in(values, np.where(values[:, 1] > -0.4, 1.0, -1.0))
    everything = search.part(np.arange(2_000))
    tree = refine_thresholds(search, Branch(Rule(1, -0.41)), everything)
    x = values[:, 1]
    assert x[x <= -0.4].max() <= tree.rule.threshold < x[x > -0.4].min()
    assert refine_thresholds(search, None, everything) is None


def test_the_first_of_equal_cuts_is_taken():
    one, same, less = (Cut(g, Rule(k, 0.0)) for k, g in enumerate((1.0, 1.0 + 1e-15, 0.5)))
    assert best_of([one, same, less]) is one
    assert best_of([less, Cut(0.6, Rule(3, 0.0))]).gain == 0.6
    assert best_of([]) is None
    assert best_of([Cut(-1.0, Rule(0, 0.0))]) is None


def test_trees_are_no_deeper_than_asked_for():
    values = uniform(4_000, 4)
    effects = values[:, 1] + 2 * np.sign(values[:, 2]) * (values[:, 3] > 0)
    for depth in (1, 2, 3):
        search = search_in(values, effects, settings=Regions(depth=depth))
        assert len(list_rules(grow(search, searched(search)))) <= 2**depth - 1


def test_many_splitters_are_looked_at_in_pairs_by_what_they_explain(monkeypatch):
    monkeypatch.setattr("rhale.regions.search.MOST_PAIRED", 4)
    monkeypatch.setattr("rhale.regions.search.LOOKED_AT", 300)
    values = uniform(2_000, 8, seed=3)
    effects = np.sign(values[:, 1]) * np.sign(values[:, 2]) + 0.3 * np.sign(values[:, 1])
    effects += 0.3 * np.sign(values[:, 2])
    search = search_in(values, effects)
    used = {rule.splitter for rule in list_rules(grow(search, searched(search)))}
    assert used >= {1, 2}


def test_a_threshold_beside_a_value_that_most_rows_share_is_found():
    rng = np.random.default_rng(0)
    values = uniform(4_000, 2)
    values[:, 1] = np.where(rng.random(4_000) < 0.7, 0.0, rng.exponential(size=4_000))
    search = search_in(values, np.where(values[:, 1] > 0, 1.0, -1.0))
    tree = grow_greedily(search, searched(search), 1)
    assert tree.rule.threshold == 0
    everything = search.part(np.arange(4_000))
    assert refine_thresholds(search, Branch(Rule(1, 0.001)), everything).rule.threshold == 0
