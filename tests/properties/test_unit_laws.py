"""Laws of transform=: a model behind a change of units is the composed function on the raw table."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import rhale

SEEDS = st.integers(0, 2**32 - 1)


def model(rows):
    return np.sin(rows[:, 0]) + rows[:, 0] * rows[:, 1]


@settings(max_examples=8, deadline=None)
@given(SEEDS, st.integers(-6, 6), st.integers(-6, 6))
def test_lines_that_are_exact_change_no_bit(seed, exponent, shift):
    """Steps of 2**-10 and scales that are powers of two are not rounded on any way."""
    raw = np.random.default_rng(seed).integers(-2000, 2000, size=(400, 2)) / 1024
    scale, offset = 2.0**exponent, shift / 4

    def to_people(z):
        return z * scale + offset

    found = rhale.explain(model, (raw - offset) / scale, transform={0: to_people, 1: to_people})
    expected = rhale.explain(lambda rows: model((rows - offset) / scale), raw)
    assert found.effects == expected.effects


@settings(max_examples=8, deadline=None)
@given(SEEDS)
def test_logarithms_of_columns_and_answers_compose(seed):
    raw = np.random.default_rng(seed).lognormal(size=(400, 2))
    found = rhale.explain(
        model, np.log(raw), transform={"x0": np.exp, "x1": np.exp, "prediction": np.arcsinh}
    )
    expected = rhale.explain(lambda rows: np.arcsinh(model(np.log(rows))), raw)
    for name in ("x0", "x1"):
        x = np.quantile(raw[:, int(name[1])], np.linspace(0, 1, 20))
        np.testing.assert_allclose(found[name].curve(x), expected[name].curve(x), atol=1e-6)


@settings(max_examples=8, deadline=None)
@given(SEEDS, st.floats(0.1, 100), st.floats(-1e3, 1e3))
def test_a_line_has_its_slope_in_peoples_units(seed, scale, offset):
    z = np.random.default_rng(seed).normal(size=(200, 2))
    fx = rhale.explain(lambda rows: 2 * rows[:, 0], z, transform={0: lambda v: v * scale + offset})
    np.testing.assert_allclose(fx["x0"].mean, 2 / scale, rtol=1e-6)
    low, high = fx["x0"].axis[[0, -1]]
    np.testing.assert_allclose([low, high], np.sort(z[:, 0])[[0, -1]] * scale + offset, rtol=1e-9)
