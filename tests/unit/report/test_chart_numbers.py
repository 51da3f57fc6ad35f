from dataclasses import replace

import numpy as np
import pytest

import rhale
from rhale.report.chart_numbers import TOLERANCE, rounded, shape_of
from rhale.results.missing import Missing

X = np.linspace(0.0, 10.0, 401)


def test_a_straight_curve_needs_few_points():
    shape = shape_of(rhale.effect(X, np.ones(401), bins=20))
    assert shape.form == "curve"
    assert shape.x == (0, 10)
    assert shape.y == (-5, 5)


def test_what_is_left_out_cannot_be_seen():
    effect = rhale.effect(X, np.sin(X) + 0.1 * np.cos(7 * X))
    shape, x = shape_of(effect), np.linspace(0, 10, 1_000)
    height = np.ptp([*shape.low, *shape.high, *np.add(shape.y, shape.spread)])
    off = np.abs(np.interp(x, shape.x, shape.y) - effect.curve(x))
    assert off.max() < 2 * TOLERANCE * height
    assert len(shape.x) < 120


def test_a_shape_is_small():
    shape = shape_of(rhale.effect(X, np.sin(X) + np.random.default_rng(0).normal(size=401)))
    assert len(repr(shape)) < 6_000


def test_bins_are_those_of_the_effect():
    effect = rhale.effect(X, np.where(X < 5, 1.0, -1.0), bins=4)
    bins = shape_of(effect).bins
    assert bins.left == (0, 2.5, 5, 7.5)
    assert bins.right == (2.5, 5, 7.5, 10)
    assert bins.mean == (1, 1, -1, -1)
    assert bins.count == tuple(effect.count)


def test_dates_are_drawn_in_milliseconds():
    shape = shape_of(replace(rhale.effect(X, np.ones(401), bins=1), kind="date"))
    assert (shape.form, shape.unit) == ("dates", "day")
    assert shape.x == (0, 10 * 86_400_000)


def test_durations_are_drawn_in_a_unit_that_people_use():
    effect = rhale.effect(3_600 * X, np.full(401, 1 / 3_600), bins=1)
    shape = shape_of(replace(effect, kind="duration"))
    assert (shape.form, shape.unit, shape.x) == ("curve", "h", (0, 10))
    assert shape.bins.mean == (1,)


def test_categories_stand_at_whole_numbers_with_whole_steps(make_levels):
    shape = shape_of(make_levels(["a", "b", "c"], [2.0, -1.0]))
    assert (shape.form, shape.labels, shape.x) == ("levels", ("a", "b", "c"), (0, 1, 2))
    assert shape.bins.mean == (2, -1)
    assert shape.rows == (10, 10, 10)


def test_few_numbers_are_named_and_their_steps_are_whole(make_levels):
    shape = shape_of(make_levels(["0", "10"], [5.0], edges=[0.0, 10.0]))
    assert (shape.form, shape.labels, shape.bins.mean) == ("levels", ("0", "10"), (5,))


def test_more_numbers_have_an_axis(make_levels):
    levels = [str(n) for n in range(6)]
    shape = shape_of(make_levels(levels, 1.0, edges=np.arange(6.0)))
    assert (shape.form, shape.dots, shape.labels) == ("curve", True, ())


def test_missing_values_are_a_point():
    effect = replace(rhale.effect(X, np.ones(401)), missing=Missing(50, 0.1, -2.0, 0.5, 400.0))
    point = shape_of(effect).missing
    assert (point.y, point.spread, point.share) == (-2, 0.5, 0.1)
    assert point.high - point.y == pytest.approx(1.96 * 0.025, rel=1e-3)


def test_a_constant_feature_has_nothing_to_draw():
    fx = rhale.explain(lambda r: r[:, 0], np.column_stack([X, np.ones(401)]))
    shape = shape_of(fx["x1"])
    assert (shape.form, shape.x) == ("constant", ())


@pytest.mark.parametrize("method", ["pdp", "ice", "mplot"])
def test_profiles_have_no_bins_and_a_bounded_number_of_single_curves(method):
    rows = np.random.default_rng(0).uniform(size=(200, 2))
    shape = shape_of(rhale.explain(lambda r: np.sin(3 * r[:, 0]), rows, method=method)["x0"])
    assert shape.bins.mean == ()
    assert len(shape.singles) == (40 if method == "ice" else 0)
    assert all(len(curve) == len(shape.x) for curve in shape.singles)


def test_unknown_numbers_are_none():
    assert rounded(np.array([np.nan, np.inf, 2.0]), 1.0) == (None, None, 2)


@pytest.mark.parametrize("span", [0.0, np.nan, 1e-300, 1e300])
def test_any_scale_can_be_rounded(span):
    assert len(rounded(np.array([1e-300, 1e300, 0.0]), span)) == 3
