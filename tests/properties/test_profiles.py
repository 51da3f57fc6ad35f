"""Laws of profiles: what they say of rows equals what all rows, one by one, say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.strategies import FEATURES, WEIGHTS, generators

import rhale
from rhale.stats.distributions import student_quantile


@st.composite
def grids(draw):
    """Ways to choose points: equal steps, equal counts, given places, also beyond the rows."""
    n = draw(st.integers(1, 12))
    kind = draw(st.sampled_from(["steps", "counts", "given"]))
    if kind == "given":
        shares = np.unique(draw(generators).uniform(-0.2, 1.2, n + 1))
        return lambda x: rhale.Edges(x.min() + shares * np.ptp(x))
    return lambda x: rhale.Fixed(n) if kind == "steps" else rhale.Quantile(n)  # noqa: ARG005


@st.composite
def questions(draw, *, product=True):
    """A model, its rows (some without a value), their weights, and how to choose points."""
    rng, n = draw(generators), draw(st.integers(5, 120))
    x = FEATURES[draw(st.sampled_from(sorted(FEATURES)))](rng, n)
    x[:2] = np.array([0.0, 1.0]) * max(float(np.ptp(x)), 1.0) + x.min()
    scale, low, factor = float(np.ptp(x)), float(x.min()), product * rng.normal(0, 2)
    bins = draw(grids())(x)
    x[2:][rng.random(n - 2) < draw(st.sampled_from([0.0, 0.3]))] = np.nan
    rows = np.column_stack([x, rng.normal(0, 1, n) + np.nan_to_num((x - low) / scale)])

    def model(rows):
        u = np.where(np.isnan(rows[:, 0]), 0.5, (rows[:, 0] - low) / scale)
        return np.sin(5 * u) + factor * u * rows[:, 1] + rows[:, 1] ** 2

    weights = WEIGHTS[draw(st.sampled_from(sorted(WEIGHTS)))](rng, n)
    return model, rows, weights, bins


def explain(question, method="pdp", **options):
    model, rows, weights, bins = question
    return rhale.explain(model, rows, features=0, method=method, weights=weights, bins=bins,
                         **options)[0]  # fmt: skip


def known(question, found):
    """Values of the rows that have one, on the grid, and their weights."""
    _, rows, weights, _ = question
    has = ~np.isnan(rows[:, 0])
    w = np.ones(len(rows)) if weights is None else weights
    return np.clip(rows[has, 0], found.grid[0], found.grid[-1]), w[has]


def at_points(question, found):
    """Every row at every point, shape (n_rows, n_points)."""
    model, rows, _, _ = question
    copies = (np.column_stack([np.full(len(rows), p), rows[:, 1]]) for p in found.grid)
    return np.array([model(copy) for copy in copies]).T


@settings(max_examples=60)
@given(questions())
def test_curve_and_importance_are_mean_and_deviation_over_the_rows(question):
    found = explain(question)
    x, w = known(question, found)
    curve, size = found.curve(x), np.ptp(found.mean) + 1e-300
    assert np.average(curve, weights=w) == pytest.approx(0, abs=1e-11 * size)
    deviation = np.sqrt(np.average((curve - np.average(curve, weights=w)) ** 2, weights=w))
    assert found.importance == pytest.approx(deviation, abs=1e-9 * size)


@settings(max_examples=40)
@given(questions())
def test_partial_dependence_is_the_mean_of_all_rows_at_every_point(question):
    found = explain(question)
    expected = np.average(at_points(question, found), axis=0, weights=question[2])
    np.testing.assert_allclose(found.mean, expected, atol=1e-12 * np.abs(expected).max())


@settings(max_examples=40)
@given(questions())
def test_spread_is_the_deviation_of_rows_own_curves_centred_over_the_rows(question):
    found = explain(question)
    x, w = known(question, found)
    curves = at_points(question, found)
    read = np.array([np.interp(x, found.grid, curve) for curve in curves])
    read -= np.average(read, axis=1, weights=w)[:, None]
    all_w = np.ones(len(curves)) if question[2] is None else question[2]
    variance = np.diag(np.cov(read.T, aweights=all_w, ddof=0)) if x.size > 1 else np.zeros(1)
    n = all_w.sum() ** 2 / (all_w**2).sum()
    variance = variance * n / (n - 1)
    size = np.abs(curves).max()
    np.testing.assert_allclose(found.spread(x), np.sqrt(variance), atol=1e-7 * size)
    expected = np.sqrt(np.average(variance, weights=w))
    assert found.typical_spread == pytest.approx(expected, abs=1e-7 * size)


@settings(max_examples=40)
@given(questions())
def test_errors_are_those_of_what_each_row_adds(question):
    """A row moves the curve by its own, and its zero by the mean curve where the row stands."""
    found = explain(question)
    x, w = known(question, found)
    curves = at_points(question, found)
    all_w = np.ones(len(curves)) if question[2] is None else question[2]
    n, n_known = (v.sum() ** 2 / (v**2).sum() for v in (all_w, w))
    read = np.array([np.interp(x, found.grid, curve) for curve in curves])
    curves -= np.average(read, axis=1, weights=w)[:, None]
    own, own_curves = found.curve(x), curves[~np.isnan(question[1][:, 0])]
    own_curves = own_curves - np.average(own_curves, axis=0, weights=w)
    both = np.average(own_curves * own[:, None], axis=0, weights=w) * n_known / (n_known - 1)
    gaps = curves - np.average(curves, axis=0, weights=all_w)
    variance = np.average(gaps**2, axis=0, weights=all_w) / (n - 1) - 2 * both / n
    variance += np.average(own**2, weights=w) / (n_known - 1)
    low, high = np.array(found.ci(found.grid)) / student_quantile(0.95, found.rows - 1)
    size = np.abs(curves).max()
    np.testing.assert_allclose(
        ((high - low) / 2) ** 2, np.maximum(variance, 0), atol=1e-11 * size**2
    )
    if found.importance > 1e-9 * size:
        moved = np.average(read * own, axis=1, weights=w) / found.importance
        moved -= np.average(moved, weights=all_w)
        places, level = found.row_places, np.average(own**2, weights=w)
        squares = places.weight @ (found.curve(places.x) ** 2 - level) ** 2 / (4 * level * n_known)
        error = np.sqrt(np.average(moved**2, weights=all_w) / (n - 1) + squares)
        assert found.importance_error == pytest.approx(error, abs=1e-7 * size)


@settings(max_examples=30)
@given(questions(product=False))
def test_rows_of_an_additive_model_do_not_differ(question):
    found = explain(question)
    assert found.typical_spread == pytest.approx(0, abs=1e-12 * np.abs(found.mean).max())


@settings(max_examples=20)
@given(questions(), st.integers(2, 40), generators)
def test_neither_batches_nor_the_order_of_rows_matter(question, batch_size, rng):
    model, rows, weights, bins = question
    order = rng.permutation(len(rows))
    mixed = (model, rows[order], None if weights is None else weights[order], bins)
    one, other = explain(question), explain(mixed, batch_size=batch_size)
    size = np.abs(one.mean).max()
    for name in ("mean", "share", "importance", "typical_spread", "importance_error"):
        a, b = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * size)
    np.testing.assert_allclose(one.ci(one.grid), other.ci(one.grid), rtol=1e-8, atol=1e-8 * size)


@settings(max_examples=20)
@given(questions())
def test_single_curves_are_zero_on_average_over_the_rows(question):
    found = explain(question, "ice")
    x, w = known(question, found)
    read = np.array([np.interp(x, found.grid, curve) for curve in found.ice(center="mean")])
    assert np.average(read, axis=1, weights=w) == pytest.approx(
        np.zeros(len(read)), abs=1e-11 * np.abs(found.curves).max()
    )


@settings(max_examples=30)
@given(generators, st.integers(3, 12))
def test_slopes_of_single_curves_are_right_for_parabolas_on_any_grid(rng, n_points):
    points = np.cumsum(rng.uniform(0.1, 2, n_points))
    rows = np.column_stack([rng.uniform(points[0], points[-1], 20), rng.normal(size=20)])
    found = rhale.explain(lambda r: r[:, 1] * r[:, 0] ** 2 - r[:, 0], rows, features=0,
                          method="ice", bins=rhale.Edges(points))[0]  # fmt: skip
    partner = np.array([dict(rows.tolist())[x] for x in found.curve_x])
    expected = 2 * partner[:, None] * points - 1
    np.testing.assert_allclose(found.dice(), expected, atol=1e-8 * points[-1] ** 2)
