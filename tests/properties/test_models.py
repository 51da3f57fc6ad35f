"""What a model's form says about its effects."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.strategies import generators, matrices, models

import problems
import rhale

LOCAL = st.sampled_from(["gradient", "secant"])


def explain(model, table, local="gradient", **options):
    return rhale.explain(model.predict, table, gradient=model.gradient, local=local, **options)


@settings(max_examples=25)
@given(matrices(), models(curved=False, interaction=False), LOCAL)
def test_a_linear_model_has_one_bin_and_no_spread(table, model, local):
    for effect, slope in zip(explain(model, table, local).values(), model.linear, strict=True):
        assert effect.mean.size == 1 or isinstance(effect, rhale.LevelEffect)
        np.testing.assert_allclose(effect.mean, slope, rtol=1e-6, atol=1e-9)
        assert effect.heterogeneity <= (0.0 if local == "gradient" else 1e-6)
        x = np.linspace(*effect.edges[[0, -1]], 5)
        np.testing.assert_allclose(
            effect.curve(x, center="start"), slope * (x - x[0]), rtol=1e-6, atol=1e-8
        )


@settings(max_examples=25)
@given(models(interaction=False), generators)
def test_an_additive_model_has_no_spread_where_the_feature_is_given(model, rng):
    """Rows share few feature values, a bin for each: nothing else may make them differ."""
    table = rng.integers(0, 6, (300, 3)).astype(float)
    bins = rhale.Edges(np.arange(-0.5, 6))
    for effect in explain(model, table, bins=bins).values():
        assert np.nanmax(effect.std) <= 1e-12 * np.nanmax(np.abs(effect.mean))
        assert effect.heterogeneity <= 1e-12 * np.nanmax(np.abs(effect.mean))


def test_the_spread_of_an_additive_model_shrinks_with_its_bins():
    """What is left in narrow bins is the change of the slope across them."""
    problem = problems.additive()
    table = problem.draw(20_000, seed=1)
    ask = {"gradient": problem.gradient, "features": [0]}
    limits = {"x0": (0.0, 1.0)}
    spreads = [
        rhale.explain(problem.predict, table, bins=k, limits=limits, **ask)["x0"].heterogeneity
        for k in (10, 20, 40, 80)
    ]
    ratios = np.divide(spreads[:-1], spreads[1:])
    np.testing.assert_allclose(ratios, 2.0, rtol=0.05)


@settings(max_examples=20)
@given(matrices(), models(), generators)
def test_adding_a_function_of_other_features_changes_nothing_by_gradient(table, model, rng):
    shift, scale = rng.normal(0, 3, 2)

    def predict(rows):
        return model.predict(rows) + scale * np.sin(rows[:, 1] + shift) * rows[:, 2]

    def gradient(rows):
        slopes = model.gradient(rows)
        slopes[:, 1] += scale * np.cos(rows[:, 1] + shift) * rows[:, 2]
        slopes[:, 2] += scale * np.sin(rows[:, 1] + shift)
        return slopes

    plain = explain(model, table, features=0)["x0"]
    other = rhale.explain(predict, table, gradient=gradient, features=0)["x0"]
    # increments are differences of predictions: to the rounding of what was added
    size = np.abs(plain.row_spread.rows).max() + np.abs(scale * table[:, 2]).max()
    for name in ("places", "shares", "covariance", "rows"):
        one, two = (getattr(effect.row_spread, name) for effect in (plain, other))
        np.testing.assert_allclose(two, one, rtol=1e-9, atol=1e-9 * size**2)
    assert other.typical_spread == pytest.approx(plain.typical_spread, rel=1e-9, abs=1e-9 * size)
    assert replace(other, row_spread=None) == replace(plain, row_spread=None)


@settings(max_examples=20)
@given(matrices(), models(), generators)
def test_adding_a_function_of_other_features_changes_nothing_by_secant(table, model, rng):
    shift, scale = rng.normal(0, 3, 2)

    def predict(rows):
        return model.predict(rows) + scale * np.sin(rows[:, 1] + shift) * rows[:, 2]

    plain = rhale.explain(model.predict, table, features=0)["x0"]
    other = rhale.explain(predict, table, features=0)["x0"]
    np.testing.assert_array_equal(other.edges, plain.edges)
    np.testing.assert_allclose(other.mean, plain.mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(other.std, plain.std, rtol=1e-6, atol=1e-6)


@settings(max_examples=20)
@given(matrices(), models(), st.floats(-1e3, 1e3), LOCAL)
def test_adding_a_constant_to_the_model_changes_nothing(table, model, constant, local):
    plain = explain(model, table, local)
    moved = rhale.explain(
        lambda rows: model.predict(rows) + constant, table, gradient=model.gradient, local=local
    )
    for a, b in zip(moved.values(), plain.values(), strict=True):
        np.testing.assert_array_equal(a.edges, b.edges)
        np.testing.assert_allclose(a.mean, b.mean, rtol=1e-8, atol=1e-8)


@settings(max_examples=15)
@given(matrices(least=100), models())
def test_gradient_and_secant_agree_on_a_parabola(table, model):
    """A centred secant of a parabola is its derivative at the middle of the window."""
    by_gradient = explain(model, table, features=0, bins=1)["x0"]
    by_secant = explain(model, table, "secant", features=0, bins=1, window=0.05)["x0"]
    size = np.abs(model.gradient(table)[:, 0]).max()
    np.testing.assert_allclose(by_secant.mean, by_gradient.mean, atol=0.1 * size)


@settings(max_examples=15)
@given(matrices(), models(), LOCAL)
def test_several_outputs_are_explained_as_if_each_were_alone(table, model, local):
    def both(rows):
        return np.column_stack([model.predict(rows), -3 * model.predict(rows)])

    def slopes(rows):
        one = model.gradient(rows)
        return np.stack([one, -3 * one], axis=1)

    together = rhale.explain(both, table, gradient=slopes, local=local)
    alone = explain(model, table, local)
    for name in alone.features:
        np.testing.assert_array_equal(together[name, 0].edges, alone[name].edges)
        np.testing.assert_array_equal(together[name, 0].mean, alone[name].mean)
        np.testing.assert_allclose(together[name, 1].mean, -3 * alone[name].mean, rtol=1e-9)
        np.testing.assert_allclose(together[name, 1].std, 3 * alone[name].std, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("method", ["rhale", "dale", "ale"])
def test_a_feature_that_the_model_ignores_has_no_effect(method):
    table = np.random.default_rng(0).normal(size=(300, 2))
    fx = rhale.explain(
        lambda rows: rows[:, 0] ** 2,
        table,
        gradient=lambda rows: np.column_stack([2 * rows[:, 0], np.zeros(len(rows))]),
        method=method,
    )
    assert fx["x1"].importance == fx["x1"].heterogeneity == 0.0
    assert fx["x0"].importance > 0.5
