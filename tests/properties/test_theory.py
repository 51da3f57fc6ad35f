"""Theorem 1 and Corollary 2 of the paper, on problems whose truth is known."""

from itertools import combinations, pairwise

import numpy as np
import pytest

import problems
import rhale

N_ROWS = 200_000
CASES = [
    (problems.sine_product, "x1"),
    (problems.square, "x1"),
    (problems.product, "x1"),
    (problems.study_1, "x1"),
    (problems.study_2, "x1"),
    (problems.intro, "x2"),
]


def averages(truth, low, high):
    """Averages over [low, high] of sigma² and of (mu - its average)², by the midpoint rule."""
    z = low + (high - low) * (np.arange(40_000) + 0.5) / 40_000
    mu, sigma = np.broadcast_to(truth.mean(z), z.shape), np.broadcast_to(truth.std(z), z.shape)
    return float(np.mean(sigma**2)), float(np.var(mu)), float(np.mean(mu))


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0].__name__}/{case[1]}")
def measured(request):
    make, name = request.param
    problem = make()
    table, column = problem.draw(N_ROWS, seed=5), problem.names.index(name)
    x, d = table[:, column], problem.gradient(table)[:, column]
    return problem.truths[name], x, d


@pytest.mark.parametrize("n_bins", [1, 4, 9])
def test_the_variance_in_a_bin_is_spread_plus_the_variance_of_the_mean(measured, n_bins):
    """Theorem 1: E[s²] = average of sigma² + variance of mu, for x uniform in the bin."""
    truth, x, d = measured
    edges = np.linspace(*truth.limits, n_bins + 1)
    effect = rhale.effect(x, d, bins=rhale.Edges(edges), limits=truth.limits)
    for k, (low, high) in enumerate(pairwise(edges)):
        inside = d[(x >= low) & (x < high)]
        spread, bias, mean = averages(truth, low, high)
        squares = (inside - inside.mean()) ** 2
        error = squares.std() / np.sqrt(inside.size) + 4 * squares.mean() / inside.size
        assert abs(effect.std[k] ** 2 - (spread + bias)) <= 5 * error
        assert abs(effect.mean[k] - mean) <= 5 * inside.std() / np.sqrt(inside.size) + 1e-6


def total_bias(truth, edges):
    return sum(averages(truth, a, b)[1] * (b - a) for a, b in pairwise(edges))


def test_the_cheapest_bins_have_the_least_bias(measured):
    """Corollary 2: the sum of s² width and the bias of the spread have the same minimum."""
    truth, x, d = measured
    cells = np.linspace(*truth.limits, 7)
    bins = rhale.Optimal(6, discount=0.0, min_points=N_ROWS / 4)
    inside = (x >= truth.limits[0]) & (x <= truth.limits[1])
    effect = rhale.effect(x[inside], d[inside], bins=bins, limits=truth.limits)
    counts = np.histogram(x[inside], cells)[0]
    allowed = []
    for size in range(6):
        for kept in combinations(range(1, 6), size):
            limits = [0, *kept, 6]
            if np.add.reduceat(counts, limits[:-1]).min() >= N_ROWS / 4:
                allowed.append(total_bias(truth, cells[limits]))
    width = truth.limits[1] - truth.limits[0]
    slack = 6 * np.var(d[inside]) * width / np.sqrt(N_ROWS)
    assert total_bias(truth, effect.edges) <= min(allowed) + slack


def test_splitting_a_bin_never_adds_bias(measured):
    truth, _, _ = measured
    coarse, fine = np.linspace(*truth.limits, 4), np.linspace(*truth.limits, 13)
    assert total_bias(truth, fine) <= total_bias(truth, coarse) + 1e-12


def test_the_curve_is_the_integral_of_the_mean_effect(measured):
    truth, x, d = measured
    effect = rhale.effect(x, d, bins=50, limits=truth.limits)
    points = effect.edges[1:]
    error = np.sqrt(effect._doubt.of_curve(points, "start").variance)
    truth_there = truth.curve(points) - truth.curve(effect.edges[:1])
    inside_a_bin = 0.02 * np.abs(np.diff(effect.mean)).max(initial=0.0) * np.diff(effect.edges)[0]
    assert np.all(
        np.abs(effect.curve(points, center="start") - truth_there)
        <= 5 * error + inside_a_bin + 1e-6
    )
