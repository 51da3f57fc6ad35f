"""Numbers that mean what they say: cases in which they once did not, against rows and algebra."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.strategies import generators, tables

import rhale

PLACES = {
    "uniform": lambda rng, n: rng.random(n),
    "normal": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "lognormal": lambda rng, n: np.exp(rng.normal(size=n)),
    "t3": lambda rng, n: rng.standard_t(3, n),
    "zeros": lambda rng, n: np.where(rng.random(n) < 0.6, 0.0, rng.normal(size=n)),
    "clusters": lambda rng, n: rng.normal(size=n) + 9 * rng.integers(0, 2, n),
}


def deviation(values, weights=None):
    mean = np.average(values, weights=weights)
    return np.sqrt(np.average((values - mean) ** 2, weights=weights))


@pytest.mark.parametrize("place", PLACES)
def test_the_size_of_a_parabola_is_that_over_its_rows(place):
    """d = 2x is one linear bin, whose three points gave 8.4 for 47.6 on a lognormal feature."""
    x = PLACES[place](np.random.default_rng(0), 5000)
    effect = rhale.effect(x, 2 * x)
    np.testing.assert_allclose(effect.importance, deviation(effect.curve(x)), rtol=1e-5)
    np.testing.assert_allclose(effect.importance, deviation(x**2), rtol=1e-3)


@settings(max_examples=60)
@given(tables(least=20, most=400), st.sampled_from([None, 5, rhale.Quantile(4), rhale.Optimal(20)]))
def test_importance_is_the_deviation_of_the_curve_over_the_rows(rows, bins):
    """Within 1 % whatever the rows, and to rounding where cells hold single values."""
    effect = rhale.effect(rows.x, rows.d, bins=bins, weights=rows.weights)
    curve = effect.curve(rows.x)
    found, expected = effect.importance, deviation(curve, rows.w)
    few = np.unique(rows.x).size <= 100
    np.testing.assert_allclose(found, expected, rtol=1e-2, atol=1e-9 * (1 + np.ptp(curve)))
    if few:
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9 * (1 + np.ptp(curve)))


@settings(max_examples=60)
@given(tables(least=20, most=400), st.sampled_from([None, rhale.Fixed(7), rhale.Optimal(20)]))
def test_means_times_widths_are_the_changes_of_the_curve(rows, bins):
    effect = rhale.effect(rows.x, rows.d, bins=bins, weights=rows.weights)
    rise = np.append(0.0, np.cumsum(effect.mean * np.diff(effect.edges)))
    curve = effect.curve(effect.edges, center="start")
    np.testing.assert_allclose(rise, curve, atol=1e-9 * (1 + np.abs(curve).max()))


def test_the_bar_of_a_wide_tail_bin_agrees_with_the_curve_above_it():
    """Boosted trees on a skewed amount: the last bin said -3.98 where the curve rose by 1.20."""
    ensemble = pytest.importorskip("sklearn.ensemble")
    rng = np.random.default_rng(1)
    amount = np.exp(rng.normal(3, 1.2, 4000))
    table = np.column_stack([amount, rng.normal(size=4000)])
    y = np.log(amount) + 0.3 * table[:, 1] + (amount > 200)
    model = ensemble.GradientBoostingRegressor(n_estimators=60, random_state=0).fit(table, y)
    effect = rhale.explain(model, table)["x0"]
    rise = np.diff(effect.curve(effect.edges))
    np.testing.assert_allclose(effect.mean * np.diff(effect.edges), rise, atol=1e-9)


def test_rows_differ_where_they_do_and_not_where_the_axis_starts():
    """x0² + x0 x1 on [-1, 1]²: rows differ by |x0| times the deviation of x1, 1 / sqrt(3)."""
    x = np.random.default_rng(2).uniform(-1, 1, (20_000, 2))
    effect = rhale.effect(x[:, 0], 2 * x[:, 0] + x[:, 1])
    np.testing.assert_allclose(effect.spread([-1, 0, 1]), [0.577, 0, 0.577], atol=0.02)
    np.testing.assert_allclose(effect.spread([-1, 1], center="start"), [0, 1.155], atol=0.02)
    np.testing.assert_allclose(effect.typical_spread, 1 / 3, rtol=0.02)


@settings(max_examples=15)
@given(generators, st.floats(0.1, 3.0), st.floats(0.1, 3.0))
def test_both_features_of_a_product_have_the_same_spread(rng, a, b):
    x = rng.normal(size=(3000, 2)) * [a, b]
    found = [rhale.effect(x[:, i], x[:, 1 - i]).typical_spread for i in (0, 1)]
    np.testing.assert_allclose(found, a * b, rtol=0.1)


def test_typical_spreads_can_be_compared_between_features():
    """.8 log a + 3 r + .1 r log a: rows differ by .1 sd(r) sd(log a) along both; .0428 and .0142."""
    rng = np.random.default_rng(3)
    log_a, r = rng.normal(0, 0.5, 20_000), rng.random(20_000)
    fx = rhale.explain(
        lambda t: 0.8 * np.log(t[:, 0]) + 3 * t[:, 1] + 0.1 * t[:, 1] * np.log(t[:, 0]),
        np.column_stack([np.exp(log_a), r]),
        gradient=lambda t: np.column_stack(
            [(0.8 + 0.1 * t[:, 1]) / t[:, 0], 3 + 0.1 * np.log(t[:, 0])]
        ),
    )
    truth = 0.1 * r.std() * log_a.std()
    for name in ("x0", "x1"):  # 2,000 rows are moved, between 24 places
        effect = fx[name]
        assert abs(effect.typical_spread - truth) < 2 * effect.typical_spread_error < 0.15 * truth


@pytest.mark.parametrize("shape", ["rise in a gap", "hump in a gap"])
def test_intervals_cover_what_a_gap_hides(shape):
    """They covered 0 % behind a rise and 30 % behind a hump."""
    rng, hits = np.random.default_rng(4), []
    slope, curve = {
        "rise in a gap": (lambda x: 1 / (1 + np.exp(-3 * x)), lambda x: np.logaddexp(0, 3 * x) / 3),
        "hump in a gap": (lambda x: 1 / np.cosh(x / 2) ** 2, lambda x: 2 * np.tanh(x / 2)),
    }[shape]
    centres = rng.normal(size=200_000) * 0.3 + rng.choice([-2, 2], 200_000)
    zero, places = curve(centres).mean(), np.array([-2.2, -1.8, 1.8, 2.2])
    for _ in range(40):
        x = rng.normal(size=500) * 0.3 + rng.choice([-2, 2], 500)
        low, high = rhale.effect(x, slope(x) + 0.3 * rng.normal(size=500)).ci(places)
        truth = curve(places) - zero
        hits.append((low <= truth) & (truth <= high))
    assert np.mean(hits) >= 0.85


def test_a_jump_beside_a_pile_keeps_its_height_and_its_spread():
    """60 % zeros, (1 + z) [x > 0] + .2 x: it rises by 1 at zero, and rows differ there by sd(z) = 1."""
    rng = np.random.default_rng(6)
    x = np.where(rng.random(2000) < 0.6, 0.0, rng.exponential(size=2000))
    table = np.column_stack([x, rng.normal(size=2000)])
    effect = rhale.explain(
        lambda t: (1 + t[:, 1]) * (t[:, 0] > 0) + 0.2 * t[:, 0], table, features=[0]
    ).effects[0]
    width = np.diff(effect.edges)
    assert effect.edges[1] < 0.05
    np.testing.assert_allclose(effect.mean[0] * width[0], 1 + 0.2 * width[0], rtol=0.1)
    np.testing.assert_allclose(effect.std[0] * width[0], 1.0, rtol=0.1)
    np.testing.assert_allclose(effect.mean[1:], 0.2, rtol=1e-6)
