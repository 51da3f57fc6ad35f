"""Means and variances of curves that are straight between points, against all rows one by one."""

import numpy as np
import pytest

from rhale.kernels.grid import Grid
from rhale.kernels.moments import measure
from rhale.kernels.rows_between import (
    RowsBetween,
    place_between,
    stand_at_points,
    summarise_places,
    variance_between,
)

RNG = np.random.default_rng(0)
POINTS = np.array([-1.0, 0.0, 0.5, 4.0])
X = RNG.normal(0.3, 1.5, 60)
W = RNG.uniform(0, 2, 60)
VALUES = RNG.normal(0, 1, 4)


def cells(x=X, w=W, series=None):
    series = np.empty((0, x.size)) if series is None else series
    return measure(Grid(np.arange(4.0)), place_between(x, POINTS), series, w)


def centred(values=VALUES):
    """The curve at the points and at the rows, its weighted mean over the rows taken off."""
    rows = np.interp(X, POINTS, values)
    mean = np.average(rows, weights=W)
    return values - mean, rows - mean


def test_shares_of_points_give_the_mean_over_the_rows():
    share = summarise_places(cells()).share_points()
    assert share.sum() == pytest.approx(1)
    assert share @ VALUES == pytest.approx(np.average(np.interp(X, POINTS, VALUES), weights=W))


def test_the_variance_is_that_over_the_rows():
    points, rows = centred()
    expected = np.average(rows**2, weights=W)
    assert summarise_places(cells()).variance(points) == pytest.approx(expected, rel=1e-12)


def test_rows_of_one_place_have_no_variance_however_coarse_the_points():
    x = np.full(9, 2.0)
    places, values = summarise_places(cells(x, None)), np.array([0.0, 0.0, 3.0, -4.0])
    at = places.share_points() @ values
    assert at == pytest.approx(0.0, abs=1e-14)
    assert places.variance(values) == pytest.approx(0.0, abs=1e-28)


def test_pieces_add_up():
    parts = [cells(X[k], W[k]) for k in (slice(0, 7), slice(7, 40), slice(40, 60))]
    merged, whole = summarise_places(parts[0] + parts[1] + parts[2]), summarise_places(cells())
    for name in ("share", "position", "deviation", "rows"):
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name), rtol=1e-12)


def test_the_pull_is_half_of_the_derivative_of_the_variance():
    places, (points, _) = summarise_places(cells()), centred()

    def variance(values):
        return places.variance(values - places.share_points() @ values)

    step = 1e-6 * np.eye(4)
    slopes = [(variance(points + s) - variance(points - s)) / 4e-6 for s in step]
    np.testing.assert_allclose(places.pull(points), slopes, atol=1e-9)


def test_the_mean_variance_is_that_of_the_curves_where_rows_stand():
    curves = RNG.normal(0, 1, (30, 4))
    read = np.array([np.interp(X, POINTS, curve) for curve in curves])
    expected = np.average(read.var(axis=0, ddof=1), weights=W)
    found = summarise_places(cells()).mean_variance(np.cov(curves.T))
    assert found == pytest.approx(expected, rel=1e-12)


def test_covariances_are_those_with_the_curve_at_the_rows():
    series, (points, rows) = RNG.normal(0, 1, (3, 60)) + X, centred()
    measured = cells(series=series)
    n = W.sum() ** 2 / (W**2).sum()
    gaps = series - np.average(series, axis=1, weights=W)[:, None]
    expected = np.average(gaps * rows, axis=1, weights=W) * n / (n - 1)
    found = summarise_places(measured).covariances(points, measured)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_the_variance_between_points_is_that_of_straight_curves():
    curves = RNG.normal(0, 1, (30, 4))
    read = np.array([np.interp([-0.75, 0.1, 4.0], POINTS, curve) for curve in curves])
    found = variance_between(np.cov(curves.T), np.array([0, 1, 2]), np.array([0.25, 0.2, 1.0]))
    np.testing.assert_allclose(found, read.var(axis=0, ddof=1))


def test_rows_outside_stand_at_the_nearest_end_and_missing_ones_nowhere():
    found = place_between(np.array([-9.0, -1.0, 0.25, np.nan, 4.0, 9.0]), POINTS)
    np.testing.assert_array_equal(found, [0, 0, 1.5, np.nan, 3, 3])
    assert cells(np.array([-9.0, np.nan, 9.0]), None).count.sum() == 2


@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1e100, 1e200])
def test_the_unit_of_the_feature_does_not_matter(scale):
    found = place_between(X * scale, POINTS * scale)
    np.testing.assert_allclose(found, place_between(X, POINTS), atol=1e-12)


def test_rows_at_the_points_have_the_variance_of_the_points():
    share, values = np.array([0.5, 0.0, 0.2, 0.3]), np.array([1.0, 50.0, -1.0, 2.0])
    places = stand_at_points(share, 10.0)
    np.testing.assert_allclose(places.share_points(), share, atol=1e-15)
    mean = share @ values
    expected = share @ (values - mean) ** 2
    assert places.variance(values - mean) == pytest.approx(expected, rel=1e-12)


def test_a_single_point_has_all_rows_and_no_variance():
    alone = measure(Grid(np.zeros(2)), np.zeros(5), np.ones((1, 5)))
    for places in (summarise_places(alone), stand_at_points(np.ones(1), 5.0)):
        assert places.share_points().tolist() == [1.0]
        assert (places.variance(np.zeros(1)), places.rows) == (0.0, 5.0)
        assert places.mean_variance(np.ones((1, 1))) == 0.0
        assert places.covariances(np.zeros(1), alone).tolist() == [0.0]


def test_one_row_has_no_covariance():
    one = cells(X[:1], None, np.ones((2, 1)))
    assert np.isnan(summarise_places(one).covariances(VALUES, one)).all()


def test_records_compare_by_value_and_cannot_be_changed():
    places = summarise_places(cells())
    assert places == summarise_places(cells())
    assert places != RowsBetween(places.share, places.position, places.deviation, 3.0)
    with pytest.raises(ValueError, match="read-only"):
        places.share[0] = 1.0
