"""Curves that are straight between points, against all rows one by one."""

import numpy as np
import pytest

from rhale.effects.binning.cells import Grid
from rhale.effects.binning.moments import measure_moments
from rhale.effects.curve import build_quadrature
from rhale.stats.interpolation import (
    interpolate_points,
    locate_between_points,
    share_out,
    variance_between,
)

RNG = np.random.default_rng(0)
POINTS = np.array([-1.0, 0.0, 0.5, 4.0])
X = RNG.normal(0.3, 1.5, 60)
W = RNG.uniform(0, 2, 60)
VALUES = RNG.normal(0, 1, 4)
PLACE = locate_between_points(X, POINTS)


def cells(x=X, w=W, series=None):
    series = np.empty((0, x.size)) if series is None else series
    return measure_moments(Grid(np.arange(4.0)), locate_between_points(x, POINTS), series, w)


def test_rows_outside_stand_at_the_nearest_end_and_missing_ones_nowhere():
    found = locate_between_points(np.array([-9.0, -1.0, 0.25, np.nan, 4.0, 9.0]), POINTS)
    np.testing.assert_array_equal(found, [0, 0, 1.5, np.nan, 3, 3])
    assert cells(np.array([-9.0, np.nan, 9.0]), None).count.sum() == 2


@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1e100, 1e200])
def test_the_unit_of_the_feature_does_not_matter(scale):
    np.testing.assert_allclose(locate_between_points(X * scale, POINTS * scale), PLACE, atol=1e-12)


def test_what_is_shared_out_has_the_same_sum_with_any_straight_curve():
    expected = W @ np.interp(X, POINTS, VALUES)
    assert share_out(PLACE, W, 4) @ VALUES == pytest.approx(expected, rel=1e-12)


def test_the_places_that_stand_for_rows_have_their_mean_and_deviation():
    """Of a curve that is straight between the points: its square is a parabola."""
    places, rows = build_quadrature(cells()), np.interp(X, POINTS, VALUES)
    mean = np.average(rows, weights=W)
    assert share_out(*places, 4) @ VALUES == pytest.approx(mean, rel=1e-12)
    read = np.interp(places.x, np.arange(4), VALUES - mean)
    assert places.weight @ read**2 == pytest.approx(np.average((rows - mean) ** 2, weights=W))


def test_rows_of_one_place_have_no_deviation_however_coarse_the_points():
    places = build_quadrature(cells(np.full(9, 2.0), None))
    read = np.interp(places.x, np.arange(4), [0.0, 0.0, 3.0, -4.0])
    assert places.weight @ read**2 == pytest.approx(0.0, abs=1e-28)


def test_the_variance_between_points_is_that_of_straight_curves():
    curves = RNG.normal(0, 1, (30, 4))
    read = np.array([np.interp(X, POINTS, curve) for curve in curves])
    found = variance_between(np.cov(curves.T), PLACE)
    np.testing.assert_allclose(found, read.var(axis=0, ddof=1))


def test_the_variance_of_curves_that_meet_between_points_is_none_there():
    found = variance_between(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([0.0, 0.5, 1.0]))
    assert found.tolist() == [1, 0, 1]


def test_a_single_point_has_all_rows():
    alone = measure_moments(Grid(np.zeros(2)), np.zeros(5), np.ones((1, 5)))
    assert share_out(*build_quadrature(alone), 1).tolist() == [1.0]
    assert variance_between(np.array([[3.0]]), np.zeros(2)).tolist() == [3, 3]


def test_several_curves_are_read_straight_between_their_points():
    curves = np.column_stack([VALUES, 2 * POINTS])
    inside = np.clip(X, POINTS[0], POINTS[-1])
    expected = np.column_stack([np.interp(inside, POINTS, VALUES), 2 * inside])
    assert interpolate_points(curves, PLACE) == pytest.approx(expected)
    assert interpolate_points(curves[:1], np.zeros(2)) == pytest.approx(curves[[0, 0]])
