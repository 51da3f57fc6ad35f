import numpy as np

from rhale.models.trees.forest import LEAF, Tree, build_forest, just_above


def test_at_most_is_below_the_next_number():
    assert just_above(np.array([1.0]))[0] == np.nextafter(1.0, 2.0)
    assert just_above(np.array([np.inf]))[0] == np.inf


def test_a_forest_knows_its_size():
    """Four stumps over the last of three features."""
    stump = Tree(
        feature=np.array([2, -1, -1]),
        threshold=np.zeros(3),
        left=np.array([1, -1, -1]),
        right=np.array([2, -1, -1]),
        missing_left=np.zeros(3, np.bool_),
        value=np.array([[0.0], [1.0], [-2.0]]),
    )
    forest = build_forest([stump] * 4, 3)
    assert (forest.n_trees, forest.n_features, forest.depth) == (4, 3, 1)
    assert np.count_nonzero(forest.nodes[:, 0] == LEAF) == len(forest.leaves) == 8
    assert forest.largest_sum >= 4 * 2
