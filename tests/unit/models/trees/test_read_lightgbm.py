import pytest

from rhale.models.trees.readers import _write_directions, _zero_is_missing
from rhale.models.trees.reading import CannotReadError


def test_zeros_that_are_missing_in_some_trees_only_are_refused():
    tree = "split_feature=0 1\ndecision_type={} 2\n"
    assert _zero_is_missing(tree.format(6) + tree.format(6)) == [0]
    assert _zero_is_missing(tree.format(10) + tree.format(2)) == []
    with pytest.raises(CannotReadError, match="mean different things"):
        _zero_is_missing(tree.format(6) + tree.format(10))


def test_zero_is_missing_is_rewritten_as_nan_is_missing():
    """Bits 2 and 3 of a decision are the kind of missing values: 1 is zero, 2 is nan."""
    assert _write_directions("a=4 6\ndecision_type=4 6 8 2\n") == "a=4 6\ndecision_type=8 10 8 2\n"
