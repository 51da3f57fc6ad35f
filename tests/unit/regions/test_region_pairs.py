"""The look ahead finds the first split of the best tree of two levels, by brute force as well."""

from itertools import product

import numpy as np
import pytest
from tests.effects_by_hand import rows_of, target_of, uniform

from rhale.regions.residuals import CodedRows, take_residuals
from rhale.regions.search import find_first_split_of_pair

LEAST = 0.05


def explained(residuals, some, region):
    """Sum of squares of regions about the common mean of each wide cell."""
    w, r = residuals.weight[some], residuals.values[0, some]
    few = residuals.coarse_cell[residuals.cell[some]]
    found = 0.0
    for one in np.unique(region):
        for cell in np.unique(few):
            here = (region == one) & (few == cell)
            found += np.sum(w[here] * r[here]) ** 2 / w[here].sum() if here.any() else 0.0
    return found


def best_tree(residuals, some, values):
    """Try every tree of two levels: the first cut, and one on either side by another splitter."""
    w, cuts = residuals.weight[some], range(3)
    best, found = 0.0, None
    for k, t in product(range(1, 4), cuts):
        goes = values[some, k] <= t
        sides = []
        for side in (goes, ~goes):
            if w[side].sum() < LEAST:
                break
            options = [explained(residuals, some[side], np.zeros(side.sum(), dtype=int))]
            for other, u in product([o for o in range(1, 4) if o != k], cuts):
                second = (values[some[side], other] <= u).astype(int)
                shares = np.bincount(second, w[side], 2)
                if shares.min() >= LEAST:
                    options.append(explained(residuals, some[side], second))
            sides.append(max(options))
        if len(sides) == 2 and sum(sides) > best * (1 + 1e-9):
            best, found = sum(sides), (k, t)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_the_first_split_is_that_of_the_best_tree(seed):
    rng = np.random.default_rng(seed)
    values = uniform(600, 4, seed)
    values[:, 1:] = rng.integers(0, 4, (600, 3))
    first, second = rng.permutation([1, 2, 3])[:2]
    apart = (values[:, first] > 1) ^ (values[:, second] > 0)
    coded = CodedRows(rows_of(values))
    residuals = take_residuals(coded.rows, [target_of(values[:, 0], apart + rng.normal(size=600))])
    some = residuals.searched
    pair = find_first_split_of_pair(residuals, some, (coded.coarse, np.arange(1, 4)), LEAST)
    assert pair == best_tree(residuals, some, values)


def test_rows_without_a_value_are_together_with_the_largest_or_alone():
    values = uniform(2_000, 3)
    values[np.random.default_rng(0).random(2_000) < 0.5, 1] = np.nan
    effects = np.where(np.isnan(values[:, 1]), 1.0, -1.0) * np.sign(values[:, 2])
    coded = CodedRows(rows_of(values))
    residuals = take_residuals(coded.rows, [target_of(values[:, 0], effects)])
    pair = find_first_split_of_pair(
        residuals, residuals.searched, (coded.coarse, np.array([1, 2])), LEAST
    )
    assert pair in {(1, 7), (2, 3)}


def test_one_splitter_makes_no_pair():
    values = uniform(400, 2)
    coded = CodedRows(rows_of(values))
    residuals = take_residuals(coded.rows, [target_of(values[:, 0], values[:, 1])])
    assert (
        find_first_split_of_pair(
            residuals, residuals.searched, (coded.coarse, np.array([1])), LEAST
        )
        is None
    )
