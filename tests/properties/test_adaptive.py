"""`Adaptive`: what must not move its bins, and what its bins must give back."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.strategies import generators, matrices, models, tables

import rhale
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.fit import fit_effect
from rhale.effects.binning.moments import measure_moments

KINDS = [
    rhale.Adaptive(),
    rhale.Adaptive(n_limits=15, spread_bins="own"),
    rhale.Adaptive(linear=False, spread_bins="mean"),
    rhale.Adaptive(weight="geometric", min_rows=8),
]
partitions = st.sampled_from(KINDS)
FEW = settings(max_examples=8)


def effect_of(rows, bins=KINDS[0]):
    return rhale.effect(rows.x, rows.d, bins=bins, weights=rows.weights)


def points_on(effect):
    return np.linspace(effect.edges[0], effect.edges[-1], 17)


def assert_same_effect(a, b, rows):
    """Same bins of the same kind; numbers to rounding."""
    np.testing.assert_allclose(a.edges, b.edges, rtol=1e-12)
    np.testing.assert_array_equal(a.linear, b.linear)
    np.testing.assert_array_equal(a.count, b.count)
    size = np.abs(rows.d).max()
    np.testing.assert_allclose(a.mean, b.mean, rtol=1e-9, atol=1e-9 * size)
    np.testing.assert_allclose(a.std, b.std, rtol=1e-6, atol=1e-7 * size)
    assert (a.cells is None) == (b.cells is None)
    assert (a.spread_edges is None) == (b.spread_edges is None)
    if b.spread_edges is not None:
        np.testing.assert_allclose(a.spread_edges, b.spread_edges, rtol=1e-12)
        np.testing.assert_allclose(a.spread_std, b.spread_std, rtol=1e-6, atol=1e-7 * size)
    x, rise = points_on(b), 1e-7 * size * np.ptp(b.edges)
    np.testing.assert_allclose(a.curve(x), b.curve(x), rtol=1e-6, atol=rise)
    np.testing.assert_allclose(a.ci(x), b.ci(x), rtol=1e-5, atol=10 * rise)


@given(tables(least=5, most=500), partitions, generators)
def test_the_order_of_the_rows_does_not_matter(rows, bins, rng):
    other = effect_of(rows.take(rng.permutation(rows.n)), bins)
    assert_same_effect(other, effect_of(rows, bins), rows)


@given(tables(least=5, most=500), partitions, generators)
def test_moments_added_in_any_order_give_the_same_bins(rows, bins, rng):
    edges = np.linspace(rows.x.min(), rows.x.max(), 40)
    grid = Grid(edges)

    def fitted(moments):
        return fit_effect("x", "y", moments, bins(moments))

    whole = measure_moments(grid, rows.x, rows.d, rows.weights)
    pieces = [measure_moments(grid, p.x, p.d, p.weights) for p in rows.pieces(rng)]
    assert_same_effect(fitted(reduce(add, pieces)), fitted(whole), rows)


@FEW
@given(matrices(most=150), models())
@pytest.mark.parametrize("batch_size", [1, 7, 100])
def test_the_size_of_chunks_does_not_matter(batch_size, table, model):
    ask = {"gradient": model.gradient, "features": [0, 2]}
    whole = rhale.explain(model.predict, table, **ask)
    parts = rhale.explain(model.predict, table, batch_size=batch_size, **ask)
    for a, b in zip(parts.values(), whole.values(), strict=True):
        np.testing.assert_allclose(a.edges, b.edges, rtol=1e-12)
        np.testing.assert_array_equal(a.linear, b.linear)
        np.testing.assert_allclose(a.mean, b.mean, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(a.std, b.std, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(a.curve(points_on(b)), b.curve(points_on(b)), atol=1e-7)


@given(tables(least=5, most=500), partitions, st.integers(-60, 60))
def test_a_power_of_two_on_the_local_effects_moves_nothing(rows, bins, power):
    factor = 2.0**power
    scaled, plain = effect_of(rows.times(factor), bins), effect_of(rows, bins)
    np.testing.assert_array_equal(scaled.edges, plain.edges)
    x = points_on(plain)
    for name in ("mean", "slope", "std", "std_plain", "standard_error"):
        np.testing.assert_array_equal(
            getattr(scaled, name), factor * getattr(plain, name), err_msg=name
        )
    np.testing.assert_array_equal(scaled.curve(x), factor * plain.curve(x))
    np.testing.assert_array_equal(np.stack(scaled.ci(x)), factor * np.stack(plain.ci(x)))
    if plain.spread_std is not None:
        np.testing.assert_array_equal(scaled.spread_edges, plain.spread_edges)
        np.testing.assert_array_equal(scaled.spread_std, factor * plain.spread_std)


@given(tables(least=5, most=500), partitions, st.sampled_from([1e9, 1e-9, -3.7]))
def test_any_factor_on_the_local_effects_gives_the_same_bins(rows, bins, factor):
    scaled, plain = effect_of(rows.times(factor), bins), effect_of(rows, bins)
    np.testing.assert_array_equal(scaled.edges, plain.edges)
    size = abs(factor) * np.abs(rows.d).max()
    np.testing.assert_allclose(scaled.mean, factor * plain.mean, rtol=1e-9, atol=1e-9 * size)
    np.testing.assert_allclose(scaled.std, abs(factor) * plain.std, rtol=1e-6, atol=1e-9 * size)


@given(
    tables(least=5, most=500, kinds=("uniform", "skewed", "whole", "piled")),
    partitions,
    st.sampled_from([(1000.0, 3.0), (1e-4, 0.0), (3.7, -50.0)]),
)
def test_stretching_and_shifting_the_feature_gives_the_same_bins(rows, bins, line):
    a, b = line
    plain = effect_of(rows, bins)
    moved = rhale.effect(a * rows.x + b, rows.d, bins=bins, weights=rows.weights)
    np.testing.assert_array_equal(moved.count, plain.count)
    np.testing.assert_allclose((moved.edges - b) / a, plain.edges, rtol=1e-9, atol=1e-9)
    size = np.abs(rows.d).max()
    np.testing.assert_allclose(moved.mean, plain.mean, rtol=1e-7, atol=1e-8 * size)
    x = points_on(plain)
    rise = 1e-7 * size * np.ptp(plain.edges)
    np.testing.assert_allclose(moved.curve(a * x + b) / a, plain.curve(x), atol=rise)


@given(tables(least=2, most=500), partitions, st.sampled_from([0.0, 0.1, -1e9, 1e-9]))
def test_a_constant_effect_is_one_bin_without_spread_or_doubt(rows, bins, value):
    effect = rhale.effect(rows.x, np.full(rows.n, value), bins=bins, weights=rows.weights)
    assert effect.edges.tolist() == [rows.x.min(), rows.x.max()]
    assert effect.mean.tolist() == [value]
    assert not effect.linear.any()
    assert effect.cells is None
    if effect.rows[0] > 1 + 1e-6:
        assert effect.std.tolist() == effect.standard_error.tolist() == [0.0]
        x = points_on(effect)
        np.testing.assert_array_equal(*effect.ci(x, center="start"))
        np.testing.assert_array_equal(effect.spread(x), 0.0)


@given(tables(least=30, most=1500, weighted="none"), st.sampled_from([1.0, 1e6, 1e-9]), generators)
def test_a_line_is_one_linear_bin_wherever_it_crosses_zero(rows, scale, rng):
    low, high = rows.x.min(), rows.x.max()
    unit = (rows.x - low) / (high - low)
    effect = rhale.effect(rows.x, scale * (3 * unit - rng.uniform(0, 3)))
    assert effect.edges.tolist() == [low, high]
    assert effect.linear.tolist() == [True]
    np.testing.assert_allclose(effect.slope * (high - low), 3 * scale, rtol=1e-6)
    np.testing.assert_allclose(effect.std, 0.0, atol=1e-6 * scale)
    assert effect.cells is None


@given(st.data(), partitions)
def test_weight_zero_means_that_the_row_is_absent(data, bins):
    rows, rng = data.draw(tables(least=8, most=400, weighted="mild")), data.draw(generators)
    present = rng.random(rows.n) < 0.6
    present[[np.argmin(rows.x), np.argmax(rows.x)]] = True
    zero = rhale.effect(rows.x, rows.d, bins=bins, weights=np.where(present, rows.weights, 0.0))
    assert zero == effect_of(rows.take(present), bins)


@given(tables(least=8, most=500), partitions, st.sampled_from([2.0**-40, 3.7, 1e9, 1e-9]))
def test_scaling_all_weights_changes_nothing(rows, bins, factor):
    other = rhale.effect(rows.x, rows.d, bins=bins, weights=factor * rows.w)
    assert_same_effect(other, effect_of(rows, bins), rows)


@given(tables(least=8, most=400, weighted="whole"), partitions)
def test_means_with_whole_weights_are_those_of_repeated_rows(rows, bins):
    weighted = effect_of(rows, bins)
    often = np.repeat(np.arange(rows.n), rows.weights.astype(int))
    given_bins = rhale.Edges(weighted.edges, linear=weighted.linear)
    repeated = rhale.effect(rows.x[often], rows.d[often], bins=given_bins)
    size = np.abs(rows.d).max()
    np.testing.assert_allclose(repeated.level, weighted.level, rtol=1e-9, atol=1e-9 * size)
    np.testing.assert_allclose(
        repeated.slope * np.ptp(rows.x),
        weighted.slope * np.ptp(rows.x),
        rtol=1e-6,
        atol=1e-6 * size,
    )


@given(tables(least=5, most=500), partitions)
def test_the_edges_of_a_finished_effect_reproduce_it(rows, bins):
    """Its fits; what these leave over is all spread there, and here no more than that."""
    effect = effect_of(rows, bins)
    again = effect_of(rows, rhale.Edges(effect.edges, effect.closed, linear=effect.linear))
    size = np.abs(rows.d).max()
    np.testing.assert_array_equal(again.edges, effect.edges)
    np.testing.assert_array_equal(again.count, effect.count)
    np.testing.assert_allclose(again.level, effect.level, rtol=1e-9, atol=1e-10 * size)
    np.testing.assert_allclose(again.std_plain, effect.std_plain, rtol=1e-6, atol=1e-8 * size)
    known = np.isfinite(again.std) & (effect.rows >= 150)  # fewer rows ask their neighbours
    assert np.all(effect.std[known] <= again.std[known] * (1 + 1e-6) + 1e-8 * size)
    tilt, reach = again.slope - effect.slope, np.diff(effect.edges)
    np.testing.assert_allclose(tilt * reach, 0.0, atol=1e-6 * size)


@FEW
@given(matrices(), models(), st.sampled_from(["gradient", "secant"]))
def test_the_bins_of_another_explanation_reproduce_it(table, model, local):
    ask = {"gradient": model.gradient, "local": local}
    first = rhale.explain(model.predict, table, **ask)
    again = rhale.explain(model.predict, table, bins=first, **ask)
    for a, b in zip(again.values(), first.values(), strict=True):
        np.testing.assert_array_equal(a.edges, b.edges)
        np.testing.assert_array_equal(a.linear, b.linear)
        # steps between levels have no fit; a fit is the same, its curve may have followed cells
        same = ("level", "slope", "std_plain") if isinstance(b, rhale.Effect) else ("mean", "std")
        for name in same:
            np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-6, atol=1e-8)


@FEW
@given(generators, st.sampled_from(["joint", "own"]))
def test_a_saved_explanation_is_the_same_with_its_cells_and_spread_bins(
    tmp_path_factory, rng, kind
):
    table = rng.uniform(0, 6, (300, 2))

    def model(rows):
        a, b = rows.T
        return -np.cos(3 * a) + (0.05 * np.minimum(a, 2) + np.maximum(a - 2, 0)) * (b - 3)

    def gradient(rows):
        a, b = rows.T
        spread = np.where(a < 2, 0.05, 1.0) * (b - 3)
        own = 0.05 * np.minimum(a, 2) + np.maximum(a - 2, 0)
        return np.column_stack([3 * np.sin(3 * a) + spread, own])

    fx = rhale.explain(
        model,
        table,
        gradient=gradient,
        bins=rhale.Adaptive(spread_bins=kind, penalty=20.0),
    )
    assert fx["x0"].cells is not None
    assert (fx["x0"].spread_edges is None) == (kind == "joint")
    path = tmp_path_factory.mktemp("saved") / "fx.json"
    fx.save(path)
    again = rhale.load(path)
    assert again == fx
    x = np.linspace(0, 6, 30)
    np.testing.assert_array_equal(again["x0"].curve(x), fx["x0"].curve(x))
    np.testing.assert_array_equal(np.stack(again["x0"].ci(x)), np.stack(fx["x0"].ci(x)))
    np.testing.assert_array_equal(again["x0"].spread(x), fx["x0"].spread(x))


@FEW
@given(matrices(), models(interaction=False), st.sampled_from(["gradient", "secant"]))
def test_a_function_of_other_features_changes_nothing(table, model, local):
    def more(rows):
        return model.predict(rows) + np.sin(5 * rows[:, 1]) * rows[:, 2]

    def gradient(rows):
        slopes = model.gradient(rows)
        slopes[:, 1] += 5 * np.cos(5 * rows[:, 1]) * rows[:, 2]
        slopes[:, 2] += np.sin(5 * rows[:, 1])
        return slopes

    ask = {"features": 0, "local": local}
    plain = rhale.explain(model.predict, table, gradient=model.gradient, **ask)["x0"]
    other = rhale.explain(more, table, gradient=gradient, **ask)["x0"]
    np.testing.assert_array_equal(other.edges, plain.edges)
    size = np.abs(plain.mean).max() + 1
    np.testing.assert_allclose(other.mean, plain.mean, rtol=1e-7, atol=1e-7 * size)
    np.testing.assert_allclose(other.std, plain.std, atol=1e-6 * size)


CONVERSIONS = {
    "float32": lambda x: x.astype(np.float32),
    "int16": lambda x: x.astype(np.int16),
    "int64": lambda x: x.astype(np.int64),
    "list": lambda x: x.tolist(),
    "reversed view": lambda x: x[::-1].copy()[::-1],
    "strided": lambda x: np.repeat(x, 3)[::3],
    "column of Fortran": lambda x: np.asfortranarray(np.column_stack([x, x]))[:, 1],
}


@pytest.mark.parametrize("convert", CONVERSIONS.values(), ids=CONVERSIONS)
@FEW
@given(generators)
def test_other_types_of_arrays_give_the_same_numbers(convert, rng):
    """Whole numbers are exact in all of these types."""
    x, d, w = (rng.integers(0, high, 150).astype(float) for high in (200, 9, 5))
    x[:2], w[:2] = (0, 200), 1
    assert rhale.effect(convert(x), convert(d), weights=convert(w)) == rhale.effect(x, d, weights=w)


@FEW
@given(generators)
def test_truth_values_are_numbers_and_arrays_that_cannot_be_written_will_do(rng):
    x, d = rng.random(80) < 0.5, rng.integers(0, 3, 80)
    x[:2] = False, True
    plain = rhale.effect(x.astype(float), d.astype(float))
    locked = [x.copy(), d.copy()]
    for array in locked:
        array.flags.writeable = False
    assert rhale.effect(*locked) == plain
    assert set(plain.edges.tolist()) <= {0.0, 0.5, 1.0}
