import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.report.refit_cases import SLOPES, straight, with_levels, with_missing

from rhale.stability.charts import (
    MAX_REFIT_CURVE_POINTS,
    choose_even_positions,
    shape_of_refits,
    thin_curves,
    trace_refits,
)
from rhale.stability.refit_effect import RefitTrace


def shape_of(effect):
    return shape_of_refits(effect, trace_refits(effect))


def test_straight_lines_have_two_points_each():
    shape = shape_of(straight(own=True)["age"])
    assert shape.form == "curve"
    assert len(shape.grid) == 2
    for curve, slope in zip(shape.curves, SLOPES, strict=True):
        assert np.array(curve.y) == pytest.approx([-slope / 2, slope / 2], abs=0.005)
    assert np.array(shape.own.y) == pytest.approx([-1.25, 1.25], abs=0.005)


def test_the_mean_its_interval_and_the_deviation_are_those_of_the_effect():
    effect = straight()["age"]
    shape = shape_of(effect)
    x = np.array(shape.x)
    low, high = effect.ci(x)
    for shown, true in (
        (shape.y, effect.curve(x)),
        (shape.low, low),
        (shape.high, high),
        (shape.between, effect.between(x)),
    ):
        assert np.array(shown) == pytest.approx(true, abs=1e-3)


def test_levels_stand_below_one_another_and_keep_all_their_points():
    rx = with_levels()
    shape = shape_of(rx["city"])
    assert shape.form == "levels"
    assert sorted(shape.labels) == sorted(rx["city"].labels)
    assert list(shape.y) == sorted(shape.y, reverse=True)  # they have no order of their own
    assert shape.x == shape.grid == (0, 1, 2)
    assert all(curve.at == (0, 1, 2) for curve in shape.curves)
    south, north = shape.labels.index("south"), shape.labels.index("north")
    apart = [curve.y[south] - curve.y[north] for curve in shape.curves]
    assert np.array(apart) == pytest.approx(SLOPES, abs=0.02)


def test_dates_are_milliseconds():
    shape = shape_of(with_levels()["day"])
    assert shape.form == "dates"
    assert 1.70e12 < shape.x[0] < shape.x[-1] < 1.74e12


def test_few_numbers_keep_their_lines_and_one_value_has_none():
    rx = with_levels()
    assert shape_of(rx["rooms"]).dots
    assert shape_of(rx["rooms"]).labels == ()
    assert shape_of(rx["one"]).form == "constant"


def test_missing_values_are_a_point_beside_the_curve():
    rx = with_missing()
    point = shape_of(rx["x"]).missing
    known = np.delete(np.linspace(0.0, 1.0, 80), np.arange(0, 80, 4))
    assert point.y == pytest.approx(SLOPES.mean() * (3.0 - known.mean()))
    assert point.between == pytest.approx(SLOPES.std(ddof=1) * (3.0 - known.mean()))
    assert point.low < point.y < point.high
    assert shape_of(rx["city"]).missing is not None
    assert shape_of(straight()["age"]).missing is None


@given(st.integers(1, 200), st.integers(1, 30))
def test_some_of_many_are_chosen_evenly_and_with_both_ends(n, most):
    chosen = choose_even_positions(n, most)
    assert len(chosen) == min(n, most)
    assert chosen == sorted(set(chosen))
    assert chosen[0] == 0
    assert most == 1 or chosen[-1] == n - 1


@given(st.integers(0, 1000), st.integers(1, 30), st.booleans())
def test_thin_curves_stay_where_the_curves_are(seed, n_steps, has_own):
    rng = np.random.default_rng(seed)
    x = np.linspace(0, 1, 121)
    curves = np.cumsum(rng.normal(size=(3, 121)) * (rng.uniform(size=(3, 121)) < n_steps / 400), 1)
    path = RefitTrace(x, x, x, x, x, curves, curves[0] if has_own else None)
    used, thinned = thin_curves(path, None)
    assert len(thinned) == 3 + has_own
    span = max(float(np.ptp(curves)), 1e-9)
    for curve, true in zip(thinned, curves, strict=False):
        assert len(curve.at) <= MAX_REFIT_CURVE_POINTS
        drawn = np.interp(x, x[used][list(curve.at)], np.array(curve.y, dtype=float))
        if len(curve.at) < MAX_REFIT_CURVE_POINTS:
            assert np.abs(drawn - true).max() <= 0.011 * span
