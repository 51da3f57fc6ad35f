"""Laws of comparisons: with itself nothing differs, swapped the sign changes, sums add up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhale


def explained(seed, noise, slope, n=150):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))

    def model(rows):
        return slope * rows[:, 0] + noise * rows[:, 0] * rows[:, 1] + np.sin(rows[:, 1])

    return rhale.explain(model, x)


EXPLAINED = st.builds(explained, st.integers(0, 99), st.sampled_from([0.0, 1.0]), st.floats(-3, 3))


@settings(max_examples=15, deadline=None)
@given(EXPLAINED)
def test_nothing_differs_from_itself(fx):
    for one in rhale.compare(fx, fx).values():
        found = one.against()
        assert found.size == 0
        assert not found.differs
        assert not found.drift.moved
        path = found.trace()
        assert np.all(path.difference == 0)
        assert np.all((path.low <= 0) & (path.high >= 0))


@settings(max_examples=15, deadline=None)
@given(EXPLAINED, EXPLAINED)
def test_swapped_explanations_differ_the_other_way(first, second):
    """At the same zero: a value that both have."""
    there = rhale.compare({"a": first, "b": second}, zero={"x0": 0.0})["x0"]
    back = rhale.compare({"b": second, "a": first}, zero={"x0": 0.0})["x0"]
    x = np.linspace(-1, 1, 9)
    assert there.difference(x) == pytest.approx(-back.difference(x), abs=1e-9)
    low, high = there.ci(x)
    other_low, other_high = back.ci(x)
    assert low == pytest.approx(-other_high, abs=1e-9)
    assert high == pytest.approx(-other_low, abs=1e-9)


@settings(max_examples=10, deadline=None)
@given(st.floats(-2, 2), st.floats(0.5, 4))
def test_what_is_added_to_a_model_is_the_difference_centred(slope, scale):
    """f and f + slope x0, on the same rows: slope (x - mean of the rows), in any unit of x."""
    x = np.random.default_rng(0).uniform(0, 1, size=(300, 2)) * scale
    plain = rhale.explain(lambda r: r[:, 0] * r[:, 1], x)
    more = rhale.explain(lambda r: r[:, 0] * r[:, 1] + slope * r[:, 0], x)
    places = np.array([0.25, 0.75]) * scale
    expected = slope * (places - x[:, 0].mean())
    found = rhale.compare(plain, more)["x0"].difference(places)
    assert found == pytest.approx(expected, abs=2e-3 * scale * max(abs(slope), 1))
