"""Rules: which rows go first, and where trees of them lead."""

import numpy as np

from rhale.kernels.rules import Branch, Rule, list_rules, locate_rows


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
