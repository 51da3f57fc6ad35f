"""How much memory models take, as far as their pickles tell."""

import pickle

import numpy as np
import pytest

from rhale.models.training import count_bytes, is_larger


@pytest.mark.parametrize("model", [b"x" * 1000, np.arange(1e5), {"deep": [1, 2.0, "three"]}])
def test_the_size_is_that_of_the_pickle(model):
    size = len(pickle.dumps(model, protocol=pickle.HIGHEST_PROTOCOL))
    assert count_bytes(model, 10**7) == size
    assert count_bytes(model, size) == size
    assert count_bytes(model, size - 1) == size


def test_counting_ends_where_it_is_too_much():
    assert count_bytes(np.arange(1e5), 100) == 101


def test_a_model_that_cannot_be_pickled_counts_nothing():
    assert count_bytes(lambda rows: rows, 100) == 0


def test_models_count_together():
    model = np.arange(1000.0)
    size = count_bytes(model, 10**6)
    assert not is_larger([model] * 3, 3 * size)
    assert is_larger([model] * 3, 3 * size - 1)
    assert not is_larger([], 0)


def test_one_model_stands_for_those_of_its_kind():
    asked = []

    class Counted:
        def __reduce__(self):
            asked.append(self)
            return (bytes, (100,))

    assert not is_larger([Counted() for _ in range(50)], 10**6)
    assert len(asked) == 1
