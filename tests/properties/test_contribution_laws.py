"""Laws of contributions: they add up, average to zero, and do not mind the order of rows."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import rhale

SEEDS = st.integers(0, 2**32 - 1)


def bent(rows):
    """A sum of functions of one column each: a square, a kink, a line."""
    return rows[:, 0] ** 2 + np.abs(rows[:, 1]) - 3 * rows[:, 2]


def slopes(rows):
    return np.column_stack([2 * rows[:, 0], np.sign(rows[:, 1]), np.full(len(rows), -3.0)])


@settings(max_examples=10, deadline=None)
@given(SEEDS, st.integers(50, 3000))
def test_base_and_contributions_of_lines_are_the_predictions(seed, n_rows):
    rng = np.random.default_rng(seed)
    x, weight, slope = rng.normal(size=(n_rows, 3)), rng.uniform(0.1, 5, n_rows), rng.normal(size=3)
    fx = rhale.explain(lambda rows: rows @ slope + 7, x, weights=weight)
    found = fx.contributions(x)
    np.testing.assert_allclose(fx.base() + found.sum(axis=1), x @ slope + 7, atol=1e-9)
    np.testing.assert_allclose(weight @ found / weight.sum(), 0, atol=1e-9)


@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_curves_of_a_sum_add_up_to_its_predictions(seed):
    """Curves are drawn in bins: they miss a square and a kink by little."""
    x = np.random.default_rng(seed).uniform(-1, 1, size=(1500, 3))
    fx = rhale.explain(bent, x, gradient=slopes)
    rest = bent(x) - fx.base() - fx.contributions(x).sum(axis=1)
    assert np.abs(rest).max() < 0.05
    np.testing.assert_allclose(fx.contributions(x).mean(axis=0), 0, atol=1e-6)


def shapley(model, rows, background):
    """Shapley values of three features by all their coalitions, over a background of rows."""
    found = np.zeros((len(rows), 3))
    for i in range(3):
        others = [j for j in range(3) if j != i]
        for size in range(3):
            for chosen in combinations(others, size):
                share = 1 / (3 * len(list(combinations(others, size))))
                gain = worth(model, rows, background, [*chosen, i])
                found[:, i] += share * (gain - worth(model, rows, background, list(chosen)))
    return found


def worth(model, rows, background, chosen):
    """Mean prediction of the background with some columns of each row."""
    mixed = np.repeat(background[None], len(rows), axis=0)
    mixed[:, :, chosen] = rows[:, None, chosen]
    return model(mixed.reshape(-1, 3)).reshape(len(rows), -1).mean(axis=1)


@settings(max_examples=5, deadline=None)
@given(SEEDS)
def test_contributions_of_a_sum_are_its_shapley_values(seed):
    rng = np.random.default_rng(seed)
    x, slope = rng.normal(size=(200, 3)), rng.normal(size=3)
    fx = rhale.explain(lambda rows: rows @ slope, x)
    expected = shapley(lambda rows: rows @ slope, x[:5], x)
    np.testing.assert_allclose(fx.contributions(x[:5]), expected, atol=1e-9)


@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_the_order_of_the_rows_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(300, 3))
    fx, order = rhale.explain(bent, x), rng.permutation(300)
    np.testing.assert_array_equal(fx.contributions(x[order]), fx.contributions(x)[order])
