"""Rules: which rows go first, and where trees of them lead."""

from itertools import product

import numpy as np
import pytest

from rhale.regions.rules import Branch, Rule, depths_of, list_rules, locate_rows, without_regions


def read(values):
    return lambda splitter: values[:, splitter]


def test_values_up_to_a_threshold_go_first_and_missing_ones_where_they_belong():
    values = np.array([1.0, 2, 3, np.nan])
    assert Rule(0, 2.0).goes_first(values).tolist() == [True, True, False, False]
    assert Rule(0, 2.0, missing_first=True).goes_first(values).tolist() == [True, True, False, True]
    assert Rule(0, np.inf).goes_first(values).tolist() == [True, True, True, False]


def test_levels_that_are_named_go_first():
    values = np.array([0.0, 1, 2, np.nan])
    assert Rule(0, levels=(0, 2)).goes_first(values).tolist() == [True, False, True, False]


def test_a_tree_is_listed_from_its_root_and_regions_are_numbered_along_it():
    tree = Branch(Rule(0, 0.0), Branch(Rule(1, 0.0)), Branch(Rule(2, 0.0)))
    rules = list_rules(tree)
    assert [(rule.first, rule.second) for rule in rules] == [(1, 2), (-1, -2), (-3, -4)]
    assert tree.n_rules == 3
    values = np.array([[-1.0, -1, 0], [-1, 1, 0], [1, 0, -1], [1, 0, 1]])
    assert locate_rows(rules, read(values), 4).tolist() == [0, 1, 2, 3]


def test_no_rules_are_one_region():
    assert list_rules(None) == ()
    assert locate_rows((), read(np.empty((3, 0))), 3).tolist() == [0, 0, 0]


def deep():
    """Regions 0 and 1 behind the first rule, 2 and 3 behind the other side."""
    return list_rules(Branch(Rule(0, 0.0), Branch(Rule(1, 0.0)), Branch(Rule(2, 0.0))))


@pytest.mark.parametrize("kept", list(product([False, True], repeat=4)))
def test_without_some_regions_rows_of_the_others_stay_together(kept):
    values = np.array(list(product([-1.0, 1.0], repeat=3)))
    before = locate_rows(deep(), read(values), 8)
    rules, places = without_regions(deep(), kept)
    after = locate_rows(rules, read(values), 8)
    left = np.flatnonzero(kept)
    for number, region in enumerate(left):
        assert set(after[before == region].tolist()) == {number}
    assert len(rules) == max(left.size - 1, 0)
    assert [rule.splitter for rule in rules] == [deep()[place].splitter for place in places]
    assert set(after.tolist()) <= set(range(max(left.size, 1)))


def test_rules_that_lead_to_all_regions_stay_as_they_are():
    assert without_regions(deep(), [True] * 4) == (deep(), [0, 1, 2])
    assert without_regions((), [True]) == ((), [])


def test_the_depth_of_a_rule_counts_those_before_it():
    chain = list_rules(Branch(Rule(0), second=Branch(Rule(1), second=Branch(Rule(2)))))
    assert depths_of(chain) == [0, 1, 2]
    assert depths_of(deep()) == [0, 1, 1]
    assert depths_of(()) == []
