import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.models.questions import DependenceQuestion, Dependences, centre, normalise_row_weights


def test_rows_without_weights_count_alike():
    assert normalise_row_weights(4, None).tolist() == [0.25] * 4


@given(st.integers(0, 10**6), st.floats(-1e9, 1e9))
def test_centred_values_are_zero_on_average_wherever_they_were(seed, where):
    rng = np.random.default_rng(seed)
    values, shares = rng.normal(size=(2, 3, 20)), normalise_row_weights(20, rng.uniform(0, 2, 20))
    found = centre(values + where, shares)
    size = 1 + abs(where)
    np.testing.assert_allclose(found @ shares, 0, atol=1e-15 * size)
    np.testing.assert_allclose(
        found, values - (values @ shares)[..., None], rtol=0, atol=1e-14 * size
    )


def test_dependences_hold_one_array_for_each_kind():
    nothing = np.zeros((2, 1, 5))
    found = Dependences(nothing, nothing, np.array([[0, 1]]), np.zeros((1, 1, 5)))
    assert found.pure.shape == (1, 1, 5)
    with pytest.raises(AttributeError):
        found.pure = nothing


@pytest.mark.parametrize(("n_pairs", "sizes"), [(0, [0]), (3, [3]), (7, [3, 3, 1])])
def test_questions_are_asked_in_blocks_of_pairs(n_pairs, sizes):
    pairs = np.arange(2 * n_pairs).reshape(-1, 2)
    question = DependenceQuestion(tuple(range(14)), pairs, normalise_row_weights(2, None))
    blocks = question.in_blocks(3)
    assert [len(block.pairs) for block in blocks] == sizes
    assert np.concatenate([block.pairs for block in blocks]).tolist() == pairs.tolist()
    assert {block.columns for block in blocks} == {question.columns}
