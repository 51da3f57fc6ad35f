import numpy as np
import pytest

from rhale.models.trees.readers import _nested_tree, _symmetric_tree
from rhale.models.trees.reading import CannotReadError

FLOATS = {
    0: {"flat_feature_index": 0, "nan_value_treatment": "AsTrue"},
    1: {"flat_feature_index": 2},
}


def split(feature, border):
    return {"float_feature_index": feature, "border": border, "split_type": "FloatFeature"}


def test_the_last_split_of_a_symmetric_tree_is_its_root():
    tree = {"splits": [split(0, 1.0), split(1, 2.0)], "leaf_values": [1.0, 2.0, 3.0, 4.0]}
    found = _symmetric_tree(tree, FLOATS, 1, 0.5)
    assert found.feature.tolist() == [2, 0, 0, -1, -1, -1, -1]
    assert found.threshold[0] == np.nextafter(2.0, 3.0)  # values above the border go right
    assert found.missing_left.tolist()[:3] == [True, False, False]
    assert found.value[3:, 0].tolist() == [0.5, 1.0, 1.5, 2.0]


def test_nodes_within_nodes_are_numbered_as_they_are_met():
    tree = {"split": split(1, 0.0), "left": {"value": 3.0}, "right": {"value": [1.0]}}
    found = _nested_tree(tree, FLOATS, 1, 2.0)
    assert (found.left[0], found.right[0]) == (1, 2)
    assert found.value.ravel().tolist() == [0.0, 6.0, 2.0]


def test_other_splits_are_refused():
    tree = {"splits": [{"split_type": "OneHotFeature"}], "leaf_values": [0.0, 1.0]}
    with pytest.raises(CannotReadError, match="OneHotFeature"):
        _symmetric_tree(tree, FLOATS, 1, 1.0)
