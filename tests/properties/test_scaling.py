"""Units do not matter: of the output, of the feature, of the weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.strategies import generators, matrices, models, tables

import rhale

N_CELLS = 10
POINTS = np.linspace(0, 1, 23)


def effect_of(rows, bins=None):
    return rhale.effect(rows.x, rows.d, bins=bins or rhale.Optimal(30), weights=rows.weights)


def points_on(effect):
    return effect.edges[0] + POINTS * (effect.edges[-1] - effect.edges[0])


def assert_scaled_exactly(scaled, effect, factor):
    x = np.minimum(points_on(effect), effect.edges[-1])
    np.testing.assert_array_equal(scaled.edges, effect.edges)
    for name in ("mean", "std", "std_plain", "standard_error", "slope"):
        expected = factor * getattr(effect, name)
        np.testing.assert_array_equal(getattr(scaled, name), expected, err_msg=name)
    for center in ("mean", "start", "uniform"):
        np.testing.assert_array_equal(
            scaled.curve(x, center=center), factor * effect.curve(x, center=center)
        )
        for mine, theirs in zip(
            scaled.ci(x, center=center), effect.ci(x, center=center), strict=True
        ):
            np.testing.assert_array_equal(mine, factor * theirs)
    assert scaled.importance == factor * effect.importance


@given(tables(least=5), st.integers(-60, 60))
def test_a_power_of_two_on_the_local_effects_moves_no_edge_and_scales_exactly(rows, power):
    factor = 2.0**power
    assert_scaled_exactly(effect_of(rows.times(factor)), effect_of(rows), factor)


@settings(max_examples=10)
@given(matrices(), models(), st.integers(-30, 30), st.sampled_from(["gradient", "secant"]))
def test_a_power_of_two_on_the_model_scales_exactly(table, model, power, local):
    factor = 2.0**power
    plain = rhale.explain(model.predict, table, gradient=model.gradient, local=local)
    scaled = rhale.explain(
        lambda rows: factor * model.predict(rows),
        table,
        gradient=lambda rows: factor * model.gradient(rows),
        local=local,
    )
    for mine, theirs in zip(scaled.values(), plain.values(), strict=True):
        assert_scaled_exactly(mine, theirs, factor)


@given(tables(least=5), st.integers(-40, 40))
def test_a_power_of_two_on_the_feature_scales_the_edges_exactly(rows, power):
    factor = 2.0**power
    effect = effect_of(rows)
    scaled = rhale.effect(factor * rows.x, rows.d, bins=rhale.Optimal(30), weights=rows.weights)
    np.testing.assert_array_equal(scaled.edges, factor * effect.edges)
    np.testing.assert_array_equal(scaled.mean, effect.mean)
    np.testing.assert_array_equal(scaled.std, effect.std)
    x = np.minimum(points_on(effect), effect.edges[-1])
    np.testing.assert_array_equal(scaled.curve(factor * x), factor * effect.curve(x))


@given(tables(least=5), st.sampled_from([1e9, 1e-9, 3.7]))
def test_any_factor_on_the_local_effects_moves_no_edge(rows, factor):
    effect, scaled = effect_of(rows), effect_of(rows.times(factor))
    np.testing.assert_array_equal(scaled.edges, effect.edges)
    np.testing.assert_allclose(scaled.mean, factor * effect.mean, rtol=1e-9, atol=0)
    np.testing.assert_allclose(scaled.std, factor * effect.std, rtol=1e-7, atol=0)


def rows_inside_cells(rng, n=200):
    """Feature values on [0, 1], none of them near a limit of ten equal cells but the ends."""
    x = (rng.integers(0, N_CELLS, n) + rng.uniform(0.2, 0.8, n)) / N_CELLS
    x[:2] = 0.0, 1.0
    return x, np.where(x < 0.45, 1.0, 3.0) * rng.normal(1, 0.5, n)


def affine(rng):
    return float(10.0 ** rng.uniform(-6, 6)), float(rng.normal(0, 10))


@given(generators)
def test_shifting_and_stretching_the_feature_gives_the_same_bins(rng):
    x, d = rows_inside_cells(rng)
    a, b = affine(rng)
    effect = rhale.effect(x, d, bins=rhale.Optimal(N_CELLS))
    moved = rhale.effect(a * x + b, d, bins=rhale.Optimal(N_CELLS))
    np.testing.assert_array_equal(moved.count, effect.count)
    np.testing.assert_allclose(moved.edges, a * effect.edges + b, rtol=1e-12)
    np.testing.assert_allclose(moved.mean, effect.mean, rtol=1e-12)
    np.testing.assert_allclose(moved.std, effect.std, rtol=1e-9)
    curve = moved.curve(np.clip(a * x + b, *moved.edges[[0, -1]]))
    rounding = 1e-9 * a + 1e-14 * abs(b)
    np.testing.assert_allclose(curve, a * effect.curve(x), rtol=1e-7, atol=rounding)


@pytest.mark.parametrize(("step", "start"), [(60.0, 1.7e9), (1e-3, 1e9), (1e-9, 0.0), (1e-9, 1e-3)])
@given(generators)
@settings(max_examples=5)
def test_unix_times_and_tiny_features_have_the_bins_of_ordinary_ones(step, start, rng):
    ticks = np.append(rng.integers(0, 1000, 300), [0, 1000])
    ticks = ticks[(ticks % 100 != 0) | (ticks == 0) | (ticks == 1000)]
    d = np.where(ticks < 400, 1.0, -1.0) + rng.normal(0, 0.2, ticks.size)
    plain = rhale.effect(ticks, d, bins=rhale.Optimal(10))
    moved = rhale.effect(start + step * ticks, d, bins=rhale.Optimal(10))
    np.testing.assert_array_equal(moved.count, plain.count)
    np.testing.assert_allclose((moved.edges - start) / step, plain.edges, atol=1e-3)
    np.testing.assert_allclose(moved.mean, plain.mean, rtol=1e-12)
    size = step * plain.importance
    np.testing.assert_allclose(moved.importance, size, rtol=1e-3)


@settings(max_examples=6)
@given(matrices(), models(), st.sampled_from([1e9, 1e-6]))
def test_models_of_features_in_other_units_have_the_same_shape(table, model, unit):
    """Secants too: windows follow the rows, not the unit."""

    def in_units(rows):
        return model.predict(rows / np.array([unit, 1.0, 1.0]))

    plain = rhale.explain(model.predict, table, features=0, bins=8)["x0"]
    moved = rhale.explain(in_units, table * [unit, 1.0, 1.0], features=0, bins=8)["x0"]
    np.testing.assert_allclose(moved.edges, unit * plain.edges, rtol=1e-9)
    np.testing.assert_allclose(unit * moved.mean, plain.mean, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(moved.importance, plain.importance, rtol=1e-5)
