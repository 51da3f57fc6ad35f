import jax.numpy as jnp
import numpy as np
import pytest

import rhale
from rhale.models.jax import JaxModel

X = np.random.default_rng(0).normal(size=(30, 2))


def test_rows_arrive_as_a_jax_array_of_the_usual_precision():
    seen = []

    def function(rows):
        seen.append((type(rows).__module__.partition(".")[0], rows.dtype))
        return rows[:, 0]

    JaxModel(function).predict(X)
    assert seen[0][0] in ("jax", "jaxlib")
    assert seen[0][1] == jnp.result_type(float)


def test_slopes_of_the_chosen_outputs_only():
    adapter = JaxModel(lambda rows: jnp.stack([rows[:, 0], rows[:, 0] * rows[:, 1]], axis=1))
    answer, slopes = adapter.gradient(X, [1])
    assert answer.shape == (30, 2)
    assert slopes[:, 0] == pytest.approx(X[:, ::-1], abs=1e-6)


def test_one_output_may_have_no_axis_of_its_own():
    for function in (lambda r: r[:, 0] ** 2, lambda r: r[:, :1] ** 2):
        _, slopes = JaxModel(function).gradient(X, [0])
        assert slopes.shape == (30, 1, 2)
        assert slopes[:, 0, 0] == pytest.approx(2 * X[:, 0], abs=1e-5)


def test_integers_are_brought_to_floats():
    rows = np.random.default_rng(0).integers(0, 9, size=(40, 2))
    fx = rhale.explain(lambda r: jnp.asarray(r)[:, 0] * 2.0, rows)
    assert fx["x0"].mean == pytest.approx(np.full(fx["x0"].mean.size, 2.0))
