"""Laws of ALE statistics: units, order, weights, bounds."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.strategies import generators, tables

import rhale

densities = st.sampled_from(["rows", "bins"])
powers = st.integers(-20, 20)
whole = st.integers(-50, 50).map(float)
targets = st.lists(whole, min_size=1, max_size=30)


def effect_of(rows, density="rows", n_bins=7):
    made = rhale.effect(rows.x, rows.d, bins=rhale.Fixed(n_bins), weights=rows.weights)
    return replace(made, density=density)


def numbers_of(found):
    return np.array([found.aled, found.aled_sd, *found.aler])


def percentiles_of(found):
    return np.array([found.naled, found.naled_sd, *found.naler])


@given(tables(least=5), densities, powers)
def test_they_scale_with_the_output(rows, density, power):
    found = effect_of(rows, density).statistics()
    scaled = effect_of(rows.times(2.0**power), density).statistics()
    np.testing.assert_array_equal(numbers_of(scaled), 2.0**power * numbers_of(found))
    expected = 2.0**power * found.importance_denoised  # not known where no bin has two rows
    np.testing.assert_array_equal(scaled.importance_denoised, expected)


@given(tables(least=5), densities)
def test_an_effect_turned_over_has_its_range_turned_over(rows, density):
    found = effect_of(rows, density).statistics()
    turned = effect_of(rows.times(-1.0), density).statistics()
    assert turned.aled == found.aled
    assert turned.aler == (-found.aler[1], -found.aler[0])


@given(tables(least=5, values=("noise", "line")), targets, powers, whole)
def test_percentiles_stay_where_effect_and_target_have_other_units(rows, y, power, shift):
    other = [2.0**power * value for value in y]
    found = effect_of(rows).statistics(y)
    scaled = effect_of(rows.times(2.0**power)).statistics(other)
    np.testing.assert_array_equal(percentiles_of(scaled), percentiles_of(found))
    moved = effect_of(rows).statistics([value + shift for value in y])
    np.testing.assert_array_equal(percentiles_of(moved), percentiles_of(found))


@given(tables(least=5), densities, targets)
def test_they_keep_their_bounds(rows, density, y):
    found = effect_of(rows, density).statistics(y)
    low, high = found.aler
    slack = 1e-9 * (high - low) + 1e-300
    assert low <= slack
    assert high >= -slack
    assert found.aled <= found.aled_sd * (1 + 1e-12)
    assert found.aled_sd <= max(-low, high) + slack
    assert 0 <= found.naled <= found.naled_sd * (1 + 1e-12) <= 50 * (1 + 2e-12)
    assert -50 <= found.naler[0] <= found.naler[1] <= 50
    assert np.isnan(found.importance_denoised) or found.importance_denoised <= found.importance


@given(tables(least=5, weighted="none"), generators, densities)
def test_rows_in_any_order_and_weights_of_any_unit_say_the_same(rows, rng, density):
    found = numbers_of(effect_of(rows, density).statistics())
    mixed = numbers_of(effect_of(rows.take(rng.permutation(rows.n)), density).statistics())
    weighed = replace(rows, weights=np.full(rows.n, 4.0))
    close = {"rtol": 1e-6, "atol": 1e-6 * np.abs(found).max()}
    np.testing.assert_allclose(mixed, found, **close)
    np.testing.assert_allclose(numbers_of(effect_of(weighed, density).statistics()), found, **close)


@given(generators, st.booleans())
def test_at_the_rows_is_at_every_row_where_cells_hold_one_value(rng, weighted):
    x = np.append([0.0, 5.0], rng.integers(0, 6, 40)).astype(float)
    d, w = rng.normal(size=x.size), rng.uniform(1, 2, x.size) if weighted else np.ones(x.size)
    edges = np.arange(-0.5, 6.0)
    effect = rhale.effect(x, d, bins=rhale.Edges(edges), weights=w)
    heights, found = effect.curve(x), effect.statistics()
    assert found.aled == pytest.approx(np.average(np.abs(heights), weights=w))
    assert found.aled_sd == pytest.approx(np.sqrt(np.average(heights**2, weights=w)))
    assert found.aler == pytest.approx((heights.min(), heights.max()))


@given(st.integers(2, 6), st.integers(1, 40), generators)
def test_a_linear_effect_on_even_rows_is_the_mean_distance_times_its_slope(n_bins, per_bin, rng):
    slope, n = rng.normal(), n_bins * per_bin
    x = (np.arange(n) + 0.5) / n
    bins = rhale.Edges(np.linspace(0, 1, n_bins + 1))
    made = rhale.effect(x, np.full(n, slope), bins=bins)
    found = replace(made, density="bins").statistics()
    middles = (np.arange(n_bins) + 0.5) / n_bins - 0.5
    assert found.aled == pytest.approx(abs(slope) * np.abs(middles).mean(), abs=1e-12)
    assert found.aler == pytest.approx((-abs(slope) / 2, abs(slope) / 2))
