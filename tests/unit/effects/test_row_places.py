"""Averages over row places against averages over the rows."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rhale.effects.binning.cells import Grid
from rhale.effects.binning.moments import measure_moments
from rhale.effects.curve import build_quadrature, scatter_rows, spread_evenly

values = st.floats(0, 4, allow_nan=False, width=32)
EDGES = np.array([0.0, 1.0, 1.5, 3.0, 4.0])


def placed(x, weights=None):
    return build_quadrature(measure_moments(Grid(EDGES), x, x, weights))


@given(arrays(float, st.integers(1, 40), elements=values), st.integers(0, 2**32 - 1))
@example(np.array([0.5, 1e-35]), 0)  # the mean less its distance from the smallest is 0
def test_mean_and_deviation_are_those_of_the_rows_and_no_place_is_elsewhere(x, seed):
    weights = np.random.default_rng(seed).lognormal(0, 2, x.size)
    rows = placed(x, weights)
    mean = np.average(x, weights=weights)
    np.testing.assert_allclose(rows.weight.sum(), 1.0)
    np.testing.assert_allclose(rows.mean(rows.x), mean, atol=1e-12)
    expected = np.sqrt(np.average((x - mean) ** 2, weights=weights))
    np.testing.assert_allclose(rows.deviation(rows.x), expected, atol=1e-7)
    assert np.all(rows.weight >= 0)
    assert rows.x.min() >= x.min()
    assert rows.x.max() <= x.max()


@given(st.lists(st.sampled_from([0.2, 0.9, 1.2, 2.0, 2.9, 3.5]), min_size=1, max_size=30))
def test_where_cells_hold_two_values_the_places_are_the_rows(x):
    """Any function has the same mean and deviation over both."""
    x = np.array(x)
    rows = placed(x)
    expected = np.sin(7 * x)
    np.testing.assert_allclose(rows.mean(np.sin(7 * rows.x)), expected.mean(), atol=1e-9)
    np.testing.assert_allclose(rows.deviation(np.sin(7 * rows.x)), expected.std(), atol=1e-7)


def test_evenly_spread_rows_are_gausss_three_points():
    x = np.linspace(0.0, 1.0, 100_001)
    rows = build_quadrature(measure_moments(Grid(np.array([0.0, 1.0])), x, x))
    np.testing.assert_allclose(rows.x, 0.5 + np.array([-1, 0, 1]) * np.sqrt(0.15), atol=1e-5)
    np.testing.assert_allclose(rows.weight, [5 / 18, 8 / 18, 5 / 18], atol=1e-5)


def test_cells_without_rows_have_no_places():
    assert placed(np.array([0.5, 3.7])).x.tolist() == [0.5, 3.7]


def test_rows_spread_over_bins_have_the_squares_of_parabolas():
    """E x² and E x⁴ of [0, 2] are 4/3 and 16/5."""
    rows = spread_evenly(np.array([0.0, 2.0]), np.array([3.0]))
    np.testing.assert_allclose([rows.mean(rows.x**2), rows.mean(rows.x**4)], [4 / 3, 16 / 5])


def test_bins_without_any_weight_count_alike():
    rows = scatter_rows(np.array([1.0, 3.0]), np.zeros(2), np.zeros(2))
    np.testing.assert_allclose(rows.mean(rows.x), 2.0)
