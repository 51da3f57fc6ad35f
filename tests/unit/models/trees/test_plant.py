import numpy as np
import pytest

from rhale.models.trees.forest import Categories, Tree, build_forest


def test_nodes_that_form_no_tree_are_refused():
    line = np.array([0, 0, -1])
    circle = Tree(
        line, np.zeros(3), np.array([1, 1, -1]), np.array([2, 2, -1]), line > 0, np.zeros((3, 1))
    )
    with pytest.raises(ValueError, match="do not form trees"):
        build_forest([circle], 1)
    bad = Tree(
        line, np.full(3, np.nan), np.array([1, 1, -1]), np.array([2, 2, -1]), line > 0,
        np.zeros((3, 1)),
    )  # fmt: skip
    with pytest.raises(ValueError, match="no threshold"):
        build_forest([bad], 1)


@pytest.mark.parametrize(
    ("changed", "value"),
    [
        ("left", [3, -1, -1]),
        ("left", [-2, -1, -1]),
        ("right", [0, -1, -1]),
        ("feature", [2, -1, -1]),
        ("threshold", [0.0]),
        ("value", [[0.0], [0.0]]),
        ("value", [[0.0] * 3] * 3),
        ("missing_left", []),
        ("sets", {1: Categories(np.array([1]), np.array([2]))}),
        ("sets", {-3: Categories(np.array([1]), np.array([2]))}),
        ("target", 2),
        ("target", -1),
    ],
)
def test_numbers_that_lead_out_of_the_arrays_are_refused(changed, value):
    """The walk is compiled and checks nothing: it would read whatever stands there."""
    whole = {
        "feature": np.array([0, -1, -1]),
        "threshold": np.zeros(3),
        "left": np.array([1, -1, -1]),
        "right": np.array([2, -1, -1]),
        "missing_left": np.zeros(3, np.bool_),
        "value": np.zeros((3, 1)),
    }
    assert build_forest([Tree(**whole)], 2, n_outputs=2).depth == 1
    is_plain = changed in ("sets", "target")
    whole[changed] = value if is_plain else np.array(value)
    with pytest.raises(ValueError, match="leads beyond its nodes, its features or the outputs"):
        build_forest([Tree(**whole)], 2, n_outputs=2)


def test_leaves_that_are_not_finite_and_mixed_splits_are_refused():
    leaf = Tree(*(np.array([v]) for v in (-1, 0.0, -1, -1, False)), np.array([[np.nan]]))
    with pytest.raises(ValueError, match="not finite"):
        build_forest([leaf], 1)
    rng = np.random.default_rng(0)
    feature, left, right = np.array([0, 0, -1, -1, -1]), [1, 3, -1, -1, -1], [2, 4, -1, -1, -1]
    tree = Tree(
        feature, np.zeros(5), np.array(left), np.array(right), feature > 0, rng.normal(size=(5, 1)),
        {0: Categories(np.array([1]), np.array([2]))},
    )  # fmt: skip
    with pytest.raises(ValueError, match="both by thresholds and by categories"):
        build_forest([tree], 1)
    far = {0: Categories(np.array([10**6]), np.array([2])), 1: Categories(feature[:1], feature[:1])}
    with pytest.raises(ValueError, match="names the category 1000000"):
        build_forest([Tree(*list(vars(tree).values())[:6], far)], 1)
