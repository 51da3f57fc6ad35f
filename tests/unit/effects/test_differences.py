import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rhale
from rhale.effects.alignment import can_compare, offset, share_places, thin_places

X = np.linspace(0, 1, 400)


def test_places_of_numbers_are_those_of_the_rows_on_the_stretch_that_both_have():
    """Rows of the first on [0, 1], the second on [0.5, 2]: half of the first stand on [0.5, 1]."""
    first, second = rhale.effect(X, X), rhale.effect(0.5 + 1.5 * X, X)
    places = share_places(first, second)
    assert places.x.min() >= 0.5
    assert places.x.max() <= 1
    assert places.part == pytest.approx(0.5, abs=0.01)
    assert places.weight.sum() == pytest.approx(1)
    assert places.weight @ places.x == pytest.approx(0.75, abs=0.005)


def test_rows_of_another_result_may_count_instead():
    first, second = rhale.effect(X, X), rhale.effect(X**2, X)
    places = share_places(first, second, second)
    assert places.weight @ places.x == pytest.approx(np.mean(X**2), abs=0.003)


def test_results_on_other_stretches_or_of_other_kinds_share_no_place(make_levels):
    number, levels = rhale.effect(X, X), make_levels(["a", "b"], 1.0)
    assert share_places(number, rhale.effect(X + 5, X)).x.size == 0
    assert share_places(number, levels).x.size == 0
    assert not can_compare(number, levels)
    assert can_compare(levels, levels)


def test_levels_are_shared_by_name_wherever_they_stand(make_levels):
    first, second = make_levels(["a", "b", "c"], 1.0), make_levels(["c", "x", "b"], 1.0)
    places = share_places(first, second)
    assert places.x.tolist() == [1.0, 2.0]  # b and c
    assert places.other_x.tolist() == [2.0, 0.0]
    assert places.part == pytest.approx(2 / 3)


def test_few_places_stand_for_as_many_rows_each():
    places = share_places(rhale.effect(X, X), rhale.effect(X, X))
    few = thin_places(places, 10)
    assert few.x.size == 10
    assert few.weight == pytest.approx(np.full(10, 0.1))
    assert few.x == pytest.approx(np.arange(0.05, 1, 0.1), abs=0.01)
    assert thin_places(few, 10) is few


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
