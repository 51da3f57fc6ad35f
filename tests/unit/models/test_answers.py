import numpy as np
import pytest

import rhale
from rhale.errors import BadPredictionError, WrongShapeError
from rhale.models.questions import check_answer, check_repeatable


@pytest.mark.parametrize(
    "answer",
    [[1, 2, 3], (1.0, 2.0, 3.0), np.array([[1], [2], [3]]), np.array([1, 2, 3], dtype=object)],
)
def test_answers_become_floats_with_one_column_per_output(answer):
    found = check_answer(answer, 3)
    assert found.dtype == np.float64
    assert found.tolist() == [[1.0], [2.0], [3.0]]


def test_truth_values_are_numbers():
    assert check_answer(np.array([True, False]), 2).tolist() == [[1.0], [0.0]]


@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (3, 0), (3, 1, 1)])
def test_a_wrong_shape_is_named_with_the_right_ones(shape):
    with pytest.raises(WrongShapeError) as caught:
        check_answer(np.zeros(shape), 3, "with 'a' between 0 and 1")
    for part in (str(shape), "3 rows with 'a' between 0 and 1", "(n_rows, n_outputs)"):
        assert part in str(caught.value)


def test_answers_that_are_not_finite_are_counted():
    with pytest.raises(BadPredictionError, match=r"for 2 of 4 rows.*first: row 1"):
        check_answer([0.0, np.nan, 1.0, np.inf], 4)


def test_answers_in_words_are_refused():
    with pytest.raises(BadPredictionError, match=r"such as.*'yes'.*predict_proba"):
        check_answer(["yes", "no"], 2)


def test_an_answer_does_not_change_the_model_s_own_array():
    own = np.array([1.0, 2.0])
    check_answer(own, 2)[0] = 9
    assert own.tolist() == [1.0, 2.0]


def test_rounding_is_no_randomness_and_a_thousandth_is():
    answer = np.array([[1.0], [-1000.0]])
    check_repeatable(answer, answer * (1 + 1e-7))
    with pytest.raises(BadPredictionError, match="different predictions"):
        check_repeatable(answer, answer * (1 + 1e-3))


def test_randomness_of_one_output_is_found_beside_a_large_one():
    steady = np.full(4, 1e9)
    rng = np.random.default_rng(0)
    first, again = (np.column_stack([steady, rng.normal(size=4)]) for _ in range(2))
    with pytest.raises(BadPredictionError, match="different predictions"):
        check_repeatable(first, again)


def test_a_list_of_different_lengths_is_a_wrong_shape():
    with pytest.raises(WrongShapeError, match="a list that is not an array"):
        check_answer([np.ones((3, 2)), np.ones((3, 4))], 3)


def test_a_tensor_that_knows_its_gradient_is_taken_for_its_values():
    torch = pytest.importorskip("torch")
    weight = torch.tensor([2.0], requires_grad=True)
    rows = np.random.default_rng(0).normal(size=(50, 1)).astype(np.float32)
    answer = torch.tensor(rows) @ weight
    assert np.array_equal(check_answer(answer, 50)[:, 0], 2 * rows[:, 0].astype(np.float64))
    fx = rhale.explain(
        lambda x: torch.tensor(x) @ weight, rows, gradient=lambda x: weight.expand(len(x), 1)
    )
    assert fx["x0"].mean == pytest.approx([2.0])
