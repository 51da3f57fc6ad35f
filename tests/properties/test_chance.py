"""How often chance makes bins, and how often intervals cover the truth."""

import numpy as np
import pytest

import rhale
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.fit import fit_effect
from rhale.effects.binning.moments import measure_moments
from rhale.effects.binning.partition import Cuts


def most(rate, runs):
    """The rate and three standard errors of a share of so many runs."""
    return rate + 3 * np.sqrt(rate * (1 - rate) / runs)


def split_share(runs, n, draw, *, weights=None, seed=0):
    """Share of constant effects that are cut."""
    rng, split = np.random.default_rng(seed), 0
    for _ in range(runs):
        x, w = rng.uniform(0, 1, n), None if weights is None else weights(rng, n)
        split += rhale.effect(x, 1 + draw(rng, n), weights=w).mean.size > 1
    return split / runs


def normal(rng, n):
    return rng.normal(0, 1, n)


def heavy(rng, n):
    return rng.standard_t(3, n)


@pytest.mark.parametrize(
    ("runs", "n", "draw", "rate"),
    [(200, 500, normal, 0.05), (400, 100, normal, 0.08), (200, 2000, heavy, 0.05)],
)
def test_a_constant_effect_is_rarely_cut(runs, n, draw, rate):
    assert split_share(runs, n, draw) <= most(rate, runs)


@pytest.mark.parametrize(
    "weights",
    [
        lambda rng, n: rng.integers(1, 5, n).astype(float),
        lambda rng, n: rng.lognormal(0, 1, n),
    ],
)
def test_weights_that_say_nothing_of_the_effect_make_no_bins(weights):
    """Rows of lognormal weights count as a third of their number: 8 % are those of 100 rows."""
    assert split_share(200, 150, normal, weights=weights) <= most(0.08, 200)


def normal_x(rng, n):
    return rng.normal(0, 1, n)


def uniform_x(rng, n):
    return rng.uniform(0, 1, n)


def sine(x):
    return np.sin(2 * np.pi * x)


def parts(n_bins, *, linear=False):
    """So many equal bins over the rows."""
    return lambda x: (np.linspace(x.min(), x.max(), n_bins + 1), np.full(n_bins, linear))


def at_the_step(x):
    return np.array([x.min(), 0.3, x.max()]), np.zeros(2, dtype=bool)


PROBLEMS = {
    "constant": (normal_x, lambda x: np.full(x.size, 2.0), lambda x: 2 * x, parts(1)),
    "line": (uniform_x, lambda x: 3 * x - 1, lambda x: 1.5 * x**2 - x, parts(1, linear=True)),
    "step": (
        uniform_x,
        lambda x: np.where(x < 0.3, -1.0, 2.0),
        lambda x: np.where(x < 0.3, -x, -0.3 + 2 * (x - 0.3)),
        at_the_step,
    ),
    "sine, 20 bins": (uniform_x, sine, lambda x: -np.cos(2 * np.pi * x) / (2 * np.pi), parts(20)),
    "sine, 50 bins": (uniform_x, sine, lambda x: -np.cos(2 * np.pi * x) / (2 * np.pi), parts(50)),
}


@pytest.mark.parametrize(
    ("problem", "n"),
    [(name, n) for name in ("constant", "line", "step") for n in (200, 5000)]
    + [("sine, 20 bins", 200), ("sine, 50 bins", 5000)],
)
def test_intervals_cover_the_truth_as_often_as_they_say(problem, n):
    """Given the bins, 95 % on average over points, give or take 2 % and the luck of the runs.

    The truth is zero on average over the population. Points of one run are not independent: the
    luck is that of the runs' shares.
    """
    draw_x, slope, true_curve, bins = PROBLEMS[problem]
    rng, shares = np.random.default_rng(1), np.empty(500)
    middles = (np.arange(100_000) + 0.5) / 100_000
    zero = true_curve(middles).mean() if draw_x is uniform_x else 0.0  # a line over normal x
    for run in range(shares.size):
        x = draw_x(rng, n)
        edges, linear = bins(x)
        cells = measure_moments(Grid(edges), x, slope(x) + rng.normal(0, 1, n))
        effect = fit_effect("x", "y", cells, Cuts(np.arange(edges.size), linear))
        places = np.quantile(x, np.linspace(0.02, 0.98, 13))
        low, high = effect.ci(places)
        truth = true_curve(places) - zero
        shares[run] = np.mean((low <= truth) & (truth <= high))
    luck = 2 * shares.std() / np.sqrt(shares.size)
    assert 0.93 - luck <= shares.mean() <= 0.97 + luck


@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_of_curves_that_follow_cells_cover_what_they_estimate(weighted):
    """One constant bin on a sine: with a trust near one the curve follows 100 cells."""
    rng, runs, n = np.random.default_rng(2), 100, 1000
    bins, shares = rhale.Adaptive(linear=False, penalty=1e4, spread_bins="mean"), np.empty(runs)
    for run in range(runs):
        x = rng.uniform(0, 2 * np.pi, n)
        w = rng.uniform(0.5, 2, n) if weighted else np.ones(n)
        effect = rhale.effect(x, np.sin(x) + rng.normal(0, 0.5, n), bins=bins, weights=w)
        assert effect.mean.size == 1
        assert effect.cells.trust[0] > 0.9
        places = np.linspace(0.3, 6, 13)
        low, high = effect.ci(places)
        truth = np.average(np.cos(x), weights=w) - np.cos(places)
        shares[run] = np.mean((low <= truth) & (truth <= high))
    luck = 2 * shares.std() / np.sqrt(runs)
    assert 0.93 - luck <= shares.mean() <= 0.97 + luck
