import numpy as np
import pandas as pd
import pytest

import rhale
from rhale.results.differences import difference_rows, distance, only_in

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
