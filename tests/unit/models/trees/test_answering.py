import numpy as np
import pytest

from rhale.models.trees.forest import Tree, build_forest
from rhale.models.trees.links import OutputTransform, bound_jumps, bound_mapped, sum_leaves
from rhale.models.trees.reading import Reading


def stump(*leaves, target=0):
    return Tree(
        np.array([0, -1, -1]), np.array([0.0, 0, 0]), np.array([1, -1, -1]),
        np.array([2, -1, -1]), np.zeros(3, bool), np.array([[0.0], *([leaf] for leaf in leaves)]),
        target=target,
    )  # fmt: skip


def reading(link, *trees, base=0.0, n_outputs=1):
    return Reading(build_forest(trees, 1, n_outputs=n_outputs), np.full(n_outputs, base), link)


def test_the_unit_leaves_room_for_all_rows():
    answering = OutputTransform(np.zeros(1), None, 1.0, (0,), 8.0)
    assert answering.unit == 2.0**-58


@pytest.mark.parametrize("link", ["sigmoid", "softmax", "multiclass_ova"])
def test_probabilities_jump_by_one_at_most(link):
    assert bound_jumps(reading(link, stump(-99.0, 99.0))) == 1.0


def test_leaves_are_added_over_the_trees_of_each_output():
    forest = build_forest(
        [stump(1.0, 3.0), stump(-2.0, 0.0), stump(5.0, 5.0, target=1)], 1, n_outputs=2
    )
    least, mean, most = (v * 2.0**-forest.exponent for v in sum_leaves(forest))
    assert least.tolist() == [-1.0, 5.0]
    assert mean.tolist() == [1.0, 5.0]
    assert most.tolist() == [3.0, 5.0]
    assert [v.tolist() for v in sum_leaves(build_forest([], 1))] == [[0], [0.0], [0]]


@pytest.mark.parametrize(
    ("link", "largest"),
    [
        ("exponential", np.exp(5) - np.exp(-1)),
        ("signed_square", 25 + 1),
        ("logarithm_one_plus_exp", np.log1p(np.exp(5)) - np.log1p(np.exp(-1))),
    ],
)
def test_links_without_a_bound_get_that_of_their_leaves(link, largest):
    found = bound_jumps(reading(link, stump(-1.0, 2.0), stump(-1.0, 2.0), base=1.0))
    assert largest <= found <= 2 * largest
    assert np.frexp(found)[0] == 0.5


def test_exponentials_that_no_row_can_reach_do_not_make_the_unit_coarse():
    bound = bound_jumps(reading("exponential", *[stump(-9.0, 9.0)] * 200, base=2.0))
    assert 2**24 * np.exp(2) <= bound <= 2**25 * np.exp(2)


@pytest.mark.parametrize(("of", "largest"), [(np.exp, np.exp(5) - np.exp(-1)), (np.square, 25.0)])
def test_mapped_answers_jump_no_further_than_between_extreme_leaves(of, largest):
    """Sums lie between -1 and 5; a square has its smallest value in between."""
    found = bound_mapped(reading("identity", stump(-1.0, 2.0), stump(-1.0, 2.0), base=1.0), of)
    assert 0.99 * largest <= found <= 2 * largest


def test_maps_that_no_row_can_follow_do_not_make_the_unit_coarse():
    trees = [stump(-9.0, 9.0)] * 200
    bound = bound_mapped(reading("identity", *trees, base=2.0), np.exp)
    assert 2**24 * np.exp(2) <= bound <= 2**25 * np.exp(2)
    bound = bound_mapped(reading("identity", *trees), np.expm1)  # zero for mean leaves
    assert 2**24 <= bound <= 2**25
