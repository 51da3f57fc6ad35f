"""Laws of partners: what may change without changing with whom a spread goes."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effects_by_hand import rows_of, target_of

import rhale
from rhale.regions.partner_shares import code_partners, find_chances, measure_partners

few = settings(max_examples=10, deadline=None)
seeds = st.integers(0, 2**32 - 1)
powers = st.integers(-20, 20).map(lambda k: 2.0**k)


def problem(seed, n_rows=700):
    """Rows with a gate, a gradual partner, its proxy, a category, missing values and noise."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_rows, 5))
    values[:, 2] += values[:, 1] * rng.uniform(0, 2)
    values[:, 3] = rng.integers(0, 4, n_rows)
    size = rng.normal(size=3)
    effects = size[0] * values[:, 1] + size[1] * (values[:, 3] > 1) + 0.3 * rng.normal(size=n_rows)
    values[rng.random(n_rows) < 0.1, 4] = np.nan
    weight = rng.uniform(0.5, 2, n_rows)
    rows = rows_of(values, n_levels=[0, 0, 0, 4, 0], weight=weight)
    target = target_of(values[:, 0], effects + size[2] * values[:, 0])
    return rows, replace(target, own=0)


def measured(rows, target):
    return measure_partners(code_partners(rows), target)


def assert_same(one, other, scale=1.0):
    for name in ("share", "error", "own_share", "unexplained"):
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=1e-5, atol=1e-7, err_msg=name
        )
    np.testing.assert_allclose(scale * one.size, other.size, rtol=1e-5, atol=1e-5 * scale)
    np.testing.assert_array_equal(one.proxy_of, other.proxy_of)
    np.testing.assert_allclose(find_chances([one]), find_chances([other]), rtol=1e-4, atol=1e-9)


@few
@given(seeds, seeds)
def test_the_order_of_rows_does_not_matter(seed, order_seed):
    rows, target = problem(seed)
    order = np.random.default_rng(order_seed).permutation(rows.weight.size)
    moved = replace(rows, values=rows.values[order], weight=rows.weight[order])
    of_rows = replace(target, x=target.x[order], effects=target.effects[order])
    assert_same(measured(rows, target), measured(moved, of_rows))


@few
@given(seeds, st.floats(-10, 10))
def test_a_line_along_the_feature_changes_nothing(seed, slope):
    rows, target = problem(seed)
    tilted = replace(target, effects=target.effects + slope * target.x + 3)
    assert_same(measured(rows, target), measured(rows, tilted))


@few
@given(seeds)
def test_a_curve_along_the_feature_changes_little(seed):
    rows, target = problem(seed)
    bent = replace(target, effects=target.effects + np.sin(target.x))
    one, other = measured(rows, target), measured(rows, bent)
    np.testing.assert_allclose(one.share, other.share, atol=0.03)
    np.testing.assert_allclose(one.unexplained, other.unexplained, atol=0.05)


@few
@given(seeds, powers)
def test_scaling_the_effect_scales_sizes_alone(seed, factor):
    rows, target = problem(seed)
    scaled = replace(
        target,
        effects=factor * target.effects,
        scale=target.scale / factor,
    )
    one, other = measured(rows, target), measured(rows, scaled)
    np.testing.assert_array_equal(one.share, other.share)
    np.testing.assert_array_equal(one.proxy_of, other.proxy_of)
    np.testing.assert_allclose(factor * one.size, other.size, rtol=1e-12)


@few
@given(seeds, powers)
def test_scaling_the_feature_and_all_weights_changes_nothing(seed, factor):
    rows, target = problem(seed)
    wide = replace(target, x=factor * target.x)
    assert_same(measured(rows, target), measured(rows, wide), factor)
    heavy = replace(rows, weight=factor * rows.weight)
    assert_same(measured(rows, target), measured(heavy, target))


@few
@given(seeds)
def test_increasing_transforms_of_partners_change_nothing(seed):
    rows, target = problem(seed)
    values = rows.values.copy()
    values[:, 1], values[:, 2] = np.exp(values[:, 1]), values[:, 2] ** 3
    one, other = measured(rows, target), measured(replace(rows, values=values), target)
    np.testing.assert_array_equal(one.share, other.share)
    np.testing.assert_array_equal(one.own_share, other.own_share)


@few
@given(seeds, st.lists(st.floats(-2, 2), min_size=4, max_size=4))
def test_a_curve_alone_has_no_partners(seed, weights):
    values = np.random.default_rng(seed).normal(size=(800, 3))
    x = values[:, 0]
    curve = weights[0] * np.sin(x) + weights[1] * x**2 + weights[2] * np.tanh(x) + weights[3]
    found = measured(rows_of(values), replace(target_of(x, curve), own=0))
    assert np.isnan(found.share).all()
    assert np.isnan(found.unexplained)


def model(rows):
    return rows[:, 0] * rows[:, 1] + np.sin(rows[:, 2]) * (rows[:, 3] > 0)


@settings(max_examples=2, deadline=None)
@given(seeds, st.integers(50, 200))
def test_chunks_and_the_order_of_rows_in_a_table_change_nothing(seed, batch_size):
    table = np.random.default_rng(seed).normal(size=(200, 4))
    one = rhale.explain(model, table).partner_matrix
    order = np.random.default_rng(seed + 1).permutation(200)
    other = rhale.explain(model, table[order], batch_size=batch_size).partner_matrix
    np.testing.assert_allclose(one.share, other.share, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(one.proxy_of, other.proxy_of)


@settings(max_examples=2, deadline=None)
@given(seeds)
def test_functions_of_the_others_change_nothing(seed):
    table = np.random.default_rng(seed).normal(size=(200, 4))
    one = rhale.explain(model, table, features=[0, 1, 2, 3]).partner_matrix
    with_more = rhale.explain(lambda r: model(r) + 4 * r[:, 2] ** 2 * r[:, 3], table).partner_matrix
    np.testing.assert_allclose(one.share[:2], with_more.share[:2], rtol=1e-4, atol=1e-6)
