import numpy as np
import pandas as pd
import pytest

import rhale
from rhale.errors import NotDifferentiableError, WrongShapeError
from rhale.models.function import FunctionModel

X = np.random.default_rng(0).normal(size=(30, 3))


def test_a_function_without_derivative_says_so():
    adapter = FunctionModel(lambda rows: rows[:, 0])
    assert not adapter.is_differentiable
    with pytest.raises(NotDifferentiableError, match="pass gradient=, or use local='secant'"):
        adapter.gradient(X, [0])


def test_a_gradient_of_several_outputs_gives_the_chosen_ones():
    slopes = np.random.default_rng(1).normal(size=(30, 2, 3))
    adapter = FunctionModel(lambda rows: rows[:, :2], lambda _: slopes)
    answer, found = adapter.gradient(X, [1])
    assert answer.tolist() == X[:, :2].tolist()
    assert found.tolist() == slopes[:, 1:].tolist()


def test_the_order_of_the_chosen_outputs_is_that_of_the_slopes():
    slopes = np.random.default_rng(1).normal(size=(30, 2, 3))
    adapter = FunctionModel(lambda rows: rows[:, :2], lambda _: slopes)
    assert adapter.gradient(X, [0, 1])[1].tolist() == slopes.tolist()
    assert adapter.gradient(X, [1, 0])[1].tolist() == slopes[:, ::-1].tolist()


def test_slopes_that_the_user_holds_stay_as_they_are():
    held = {}  # by what was asked: the same array again and again

    def gradient(rows):
        return held.setdefault(rows.tobytes(), 2 * rows)

    rhale.explain(lambda rows: (rows**2).sum(axis=1), X, gradient=gradient)
    for asked, slopes in held.items():
        assert (2 * np.frombuffer(asked).reshape(-1, 3)).tolist() == slopes.tolist()


@pytest.mark.parametrize("shape", [(30,), (30, 2), (30, 1, 2), (30, 1, 1, 3)])
def test_a_gradient_without_one_number_per_column_is_refused(shape):
    adapter = FunctionModel(lambda rows: rows[:, 0], lambda _: np.zeros(shape))
    with pytest.raises(WrongShapeError) as caught:
        adapter.gradient(X, [0])
    assert str(shape) in str(caught.value)
    for part in ("30 rows", "3 columns", "return"):
        assert part in str(caught.value)


def test_a_gradient_may_be_a_data_frame_in_the_order_of_the_columns():
    table = pd.DataFrame(X, columns=list("abc"))
    fx = rhale.explain(
        lambda rows: rows["a"] * rows["b"],
        table,
        gradient=lambda rows: pd.DataFrame({"a": rows["b"], "b": rows["a"], "c": 0.0}),
    )
    order = np.argsort(fx["a"].sample.x)
    expected = X[np.argsort(X[:, 0]), 1]
    assert fx["a"].sample.local_effects[order] == pytest.approx(expected)


def test_a_derivative_is_only_asked_for_where_it_is_used():
    def never(_):
        pytest.fail("the derivative was asked for")

    rhale.explain(lambda rows: rows[:, 0], X, gradient=never, local="secant")
    rhale.explain(lambda rows: rows[:, 0], X, gradient=never, method="ale")
    rhale.explain(lambda rows: rows[:, 0], X, gradient=never, method="pdp")
