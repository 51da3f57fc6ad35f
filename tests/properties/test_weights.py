"""Weights say how much a row matters, not how often it was seen."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.strategies import cell_edges, generators, matrices, models, tables

import rhale
from rhale.effects.effect import Effect

NUMBERS = ("edges", "count", "mean", "slope", "std", "std_plain", "standard_error", "mean_x")


def assert_same_numbers(a: Effect, b: Effect, rtol=1e-9):
    rounding = 1e-14 * np.nanmax(np.abs(b.mean))  # std and errors cannot do better than this
    for name in [n for n in NUMBERS if hasattr(b, n)]:
        size = np.nanmax(np.abs(getattr(b, name)), initial=0.0)
        np.testing.assert_allclose(
            getattr(a, name),
            getattr(b, name),
            rtol=rtol,
            atol=1e-11 * size + rounding,
            err_msg=name,
        )


@given(st.data())
def test_weight_zero_means_that_the_row_is_absent(data):
    rows, rng = data.draw(tables(least=8, weighted="mild")), data.draw(generators)
    present = rng.random(rows.n) < 0.6
    present[[np.argmin(rows.x), np.argmax(rows.x)]] = True
    kept = rows.take(present)
    weights = np.where(present, rows.weights, 0.0)
    for bins in (rhale.Optimal(15), rhale.Quantile(4), rhale.Fixed(5)):
        zero = rhale.effect(rows.x, rows.d, bins=bins, weights=weights)
        absent = rhale.effect(kept.x, kept.d, bins=bins, weights=kept.weights)
        assert zero == absent


@settings(max_examples=8)
@given(matrices(), models(), st.sampled_from(["gradient", "secant"]), generators)
def test_a_model_is_explained_as_if_rows_of_weight_zero_were_absent(table, model, local, rng):
    present = rng.random(len(table)) < 0.7
    present[:20] = True
    ask = {"gradient": model.gradient, "local": local}
    zero = rhale.explain(model.predict, table, weights=present.astype(float), **ask)
    absent = rhale.explain(model.predict, table[present], **ask)
    for a, b in zip(zero.values(), absent.values(), strict=True):
        assert_same_numbers(a, b)


@given(tables(least=8, weighted="mild"), st.sampled_from([2.0**-40, 2.0**7, 3.7, 1e9, 1e-9]))
def test_scaling_all_weights_changes_nothing(rows, factor):
    for bins in (rhale.Optimal(15), rhale.Fixed(5)):
        first = rhale.effect(rows.x, rows.d, bins=bins, weights=rows.weights)
        other = rhale.effect(rows.x, rows.d, bins=bins, weights=factor * rows.weights)
        assert_same_numbers(other, first)
        np.testing.assert_allclose(other.importance, first.importance, rtol=1e-9)
        np.testing.assert_allclose(other.rows, first.rows, rtol=1e-9)


@given(tables(least=8, weighted="none"), st.floats(0.1, 50))
def test_equal_weights_are_no_weights(rows, weight):
    first = rhale.effect(rows.x, rows.d, bins=rhale.Optimal(15))
    other = rhale.effect(rows.x, rows.d, bins=rhale.Optimal(15), weights=np.full(rows.n, weight))
    assert_same_numbers(other, first)


@given(st.data())
def test_means_with_weight_two_are_means_of_the_row_twice(data):
    rows = data.draw(tables(least=4, weighted="whole"))
    bins = rhale.Edges(data.draw(cell_edges(rows)))
    often = np.repeat(np.arange(rows.n), rows.weights.astype(int))
    weighted = rhale.effect(rows.x, rows.d, bins=bins, weights=rows.weights)
    repeated = rhale.effect(rows.x[often], rows.d[often], bins=bins)
    x = np.linspace(rows.x.min(), rows.x.max(), 9)
    size = np.abs(rows.d).max()
    np.testing.assert_allclose(weighted.mean, repeated.mean, rtol=1e-9, atol=1e-11 * size)
    np.testing.assert_allclose(
        weighted.curve(x), repeated.curve(x), rtol=1e-9, atol=1e-9 * size * np.ptp(rows.x)
    )


@given(st.data())
def test_std_and_its_error_use_the_effective_number_of_rows(data):
    rows = data.draw(tables(least=6, most=60, kinds=("uniform", "whole"), values=("noise", "fan")))
    edges = data.draw(cell_edges(rows, most=6))
    effect = rhale.effect(rows.x, rows.d, bins=rhale.Edges(edges), weights=rows.weights)
    cell = np.clip(np.searchsorted(edges, rows.x, side="right") - 1, 0, edges.size - 2)
    for k in range(edges.size - 1):
        w, d = rows.w[cell == k], rows.d[cell == k]
        assert effect.count[k] == w.size
        if w.size < 2:
            assert w.size == 0 or np.isnan(effect.std[k])
            assert np.isnan(effect.standard_error[k])
            continue
        n = w.sum() ** 2 / (w**2).sum()
        mean = (w * d).sum() / w.sum()
        std = np.sqrt((w * (d - mean) ** 2).sum() / w.sum() * n / (n - 1))
        found = effect.rows[k], effect.mean[k], effect.std[k], effect.standard_error[k]
        np.testing.assert_allclose(found, (n, mean, std, std / np.sqrt(n)), rtol=1e-7, atol=1e-9)


@given(tables(least=8))
def test_heterogeneity_is_the_weighted_root_mean_square_of_std(rows):
    effect = rhale.effect(rows.x, rows.d, bins=3, weights=rows.weights)
    known = np.isfinite(effect.std)
    expected = np.sqrt(
        np.sum(effect.weight[known] * effect.std[known] ** 2) / effect.weight[known].sum()
    )
    np.testing.assert_allclose(effect.heterogeneity, expected, rtol=1e-12)
