import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rhale
from rhale.results.differences import difference_rows, distance, offset, only_in

X = np.linspace(0, 1, 400)


def test_a_curve_is_at_no_distance_from_itself():
    one = rhale.effect(X, X)
    assert distance(one, one) == 0


def test_the_distance_is_taken_where_both_are():
    """Curves x and 2 x on [0, 1] and [0.5, 2]: x on [0.5, 1], whose deviation is 0.5 / sqrt 12."""
    other = rhale.effect(0.5 + 1.5 * X, 0 * X + 2)
    assert distance(rhale.effect(X, 0 * X + 1), other) == pytest.approx(0.5 / 12**0.5, rel=1e-3)


def test_curves_without_a_common_stretch_have_no_distance():
    assert np.isnan(distance(rhale.effect(X, X), rhale.effect(X + 5, X)))


def test_levels_are_compared_by_name():
    table = pd.DataFrame({"c": ["a", "b"] * 50, "x": np.arange(100.0)})
    one, two = (
        rhale.explain(lambda t, k=k: k * (t["c"] == "b").to_numpy(), table, features="c")["c"]
        for k in (1.0, 3.0)
    )
    assert distance(one, two) == pytest.approx(1.0)  # levels at ±0.5 and ±1.5


def test_one_output_each_is_compared_whatever_its_name():
    one, two = rhale.effect(X, X, name="x"), rhale.effect(X, 2 * X, name="x")
    rows = difference_rows([one], [two])
    assert rows["feature"] == ["x"]
    assert rows["apart_share"][0] == pytest.approx(0.5, rel=0.01)
    assert only_in([one], []) == ["x"]


@given(st.floats(-3, 3), st.floats(0.2, 3), st.integers(-5, 5))
def test_a_line_over_other_rows_is_moved_back_onto_itself(start, width, slope):
    """Curves k (x - m) and k (x - n) over rows with means m and n: n - m times k apart."""
    old = rhale.effect(X, np.full(400, float(slope)))
    new = rhale.effect(start + width * X, np.full(400, float(slope)))
    apart = slope * (start + width / 2 - 0.5)
    if start > 1 or start + width < 0:
        assert offset(old, new) == 0.0
    elif min(1, start + width) - max(0, start) > 0.05:
        assert offset(old, new) == pytest.approx(apart, abs=1e-9)
    assert offset(old, old) == 0.0


def test_the_rows_of_the_first_decide():
    """Curves 0 and x - 1/2 on [0, 1]; all rows of the first but two are at 1: it goes down by 1/2."""
    flat = rhale.effect(np.append(np.ones(998), [0.0, 0.5]), np.zeros(1000), bins=1)
    line = rhale.effect(X, np.ones(400))
    assert offset(flat, line) == pytest.approx(-0.5, abs=0.02)
    assert offset(line, flat) == pytest.approx(0.0, abs=1e-9)


def test_levels_are_moved_by_the_levels_that_both_have(make_levels):
    """Levels a, b, c at -1, 0, 1 and b, c, d at the same heights: b and c are 1 too low."""
    first, second = make_levels(["a", "b", "c"], 1.0), make_levels(["b", "c", "d"], 1.0)
    assert offset(first, second) == pytest.approx(1.0)
    assert offset(first, make_levels(["x", "y"], 1.0)) == 0.0


def test_numbers_with_levels_are_moved_where_the_levels_are(make_levels):
    """Levels 0, 1, 2 of slope 1 are x - 1; x on [0, 4] is x - 2."""
    steps = make_levels(["0", "1", "2"], 1.0, edges=[0.0, 1.0, 2.0])
    assert offset(steps, rhale.effect(4 * X, np.ones(400))) == pytest.approx(1.0)
    assert offset(rhale.effect(4 * X, np.ones(400)), steps) == pytest.approx(-1.0)
