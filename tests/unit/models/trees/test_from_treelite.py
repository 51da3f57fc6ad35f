"""What no library writes today is never walked."""

import numpy as np
import pytest

from rhale.models.trees.readers import _treelite_tree
from rhale.models.trees.reading import CannotReadError

STUMP = {
    "cleft": np.array([1, -1, -1]),
    "cright": np.array([2, -1, -1]),
    "threshold": np.array([0.5, 0.0, 0.0]),
    "cmp": np.array([2, 0, 0]),
    "node_type": np.array([1, 0, 0]),
    "split_index": np.array([0, -1, -1]),
    "default_left": np.array([1, 0, 0]),
    "leaf_value": np.array([0.0, 1.0, 2.0]),
    "leaf_vector": np.arange(4.0),
    "leaf_vector_begin": np.array([0, 0, 2]),
    "leaf_vector_end": np.array([0, 2, 4]),
}


def read(leaf_size=1, **other):
    return _treelite_tree((STUMP | other).__getitem__, leaf_size, 0, 1.0)


def test_a_stump_is_read():
    assert read().threshold[0] == 0.5
    assert read(cmp=np.array([3, 0, 0])).threshold[0] == np.nextafter(0.5, 1)
    assert read().value.tolist() == [[0.0], [1.0], [2.0]]
    assert read(leaf_size=2).value.tolist() == [[0.0, 0.0], [0.0, 1.0], [2.0, 3.0]]


@pytest.mark.parametrize(
    ("leaf_size", "other", "reason"),
    [
        (1, {"cmp": np.array([5, 0, 0])}, "compares in an unknown way"),
        (1, {"node_type": np.array([3, 0, 0])}, "neither by a threshold nor by categories"),
        (2, {"leaf_vector_end": np.array([0, 2, 3])}, "of different sizes"),
    ],
)
def test_unknown_kinds_of_splits_and_leaves_are_refused(leaf_size, other, reason):
    with pytest.raises(CannotReadError, match=reason):
        read(leaf_size, **other)
