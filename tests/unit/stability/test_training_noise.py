"""What differs between trainings: rows, and the learner's own chance."""

import numpy as np
import pytest

from rhale.stability.replication import ROW_SHARE_PRIOR, Overlap, mean_factor, row_share
from rhale.stability.splits import Scheme

N_ROWS = 200
SCHEMES = {
    "halves": Scheme(),
    "rounds": Scheme("folds"),
    "one round": Scheme("folds", n_refits=5),
    "bootstraps": Scheme("bootstraps"),
}


def overlap_of(name, seed=0):
    return Overlap.of(SCHEMES[name].draw(N_ROWS, seed=seed), N_ROWS)


def as_deviations(products):
    centre = np.eye(len(products)) - 1 / len(products)
    return centre @ products @ centre


def told_by(overlap):
    n = overlap.n_trainings
    rows = as_deviations(overlap.shared)
    return np.sum((rows * ((n - 1) / np.trace(rows)) - (np.eye(n) - 1 / n)) ** 2)


@pytest.mark.parametrize("name", SCHEMES)
def test_curves_that_differ_by_their_rows_alone_have_the_factor_of_the_overlap(name):
    overlap = overlap_of(name)

    assert row_share(3 * overlap.shared + 7, overlap) == pytest.approx(1)
    assert mean_factor(overlap.shared, overlap) == pytest.approx(overlap.factor)


@pytest.mark.parametrize("name", ["halves", "rounds", "bootstraps"])
def test_chance_of_every_training_counts_by_what_the_design_tells(name):
    overlap = overlap_of(name)
    told = told_by(overlap)

    found = row_share(np.eye(overlap.n_trainings), overlap)

    assert found == pytest.approx(ROW_SHARE_PRIOR / (told + ROW_SHARE_PRIOR))


def test_a_mixture_is_told_apart():
    overlap = overlap_of("halves")
    n, told = overlap.n_trainings, told_by(overlap)
    rows = as_deviations(overlap.shared)
    chance = np.eye(n) - 1 / n
    mixed = 0.3 * rows * ((n - 1) / np.trace(rows)) + 0.7 * chance

    assert row_share(mixed, overlap) == pytest.approx(1 - 0.7 * told / (told + ROW_SHARE_PRIOR))


def test_one_round_of_folds_tells_nothing_and_all_goes_with_the_rows():
    overlap = overlap_of("one round")

    assert told_by(overlap) == pytest.approx(0, abs=1e-12)
    assert row_share(np.eye(5), overlap) == pytest.approx(1)


@pytest.mark.parametrize("own", [0.0, 1.0])
def test_the_variance_of_a_mean_is_met_in_simulations(own):
    """Means of training rows, and chance of every training: the variance of the mean of both."""
    rng = np.random.default_rng(5)
    means, found = [], []
    for seed in range(300):
        train = Scheme(n_refits=10).draw(100, seed=seed)
        y = rng.normal(size=(100, 8))  # eight places of a curve
        chance = own * rng.normal(size=(10, 8)) / np.sqrt(50)
        curves = np.array([y[rows].mean(axis=0) for rows in train]) + chance
        overlap = Overlap.of(train, 100)
        factor = mean_factor(curves @ curves.T / 8, overlap)
        means.append(curves.mean(axis=0))
        found.append(factor * curves.var(axis=0, ddof=1))
    true = 1 / 100 + own**2 / 50 / 10
    plain = np.mean(found)

    assert np.var(means) == pytest.approx(true, rel=0.1)
    assert true * 0.9 <= plain <= true * (1.1 if own == 0 else 2)  # too wide rather than too narrow


def test_nothing_is_known_of_trainings_on_the_same_rows():
    overlap = Overlap.of([np.arange(10)] * 3, 10)

    assert np.isnan(mean_factor(np.eye(3), overlap))


def test_curves_that_do_not_differ_have_the_factor_of_the_overlap():
    overlap = overlap_of("halves")

    assert row_share(np.ones((20, 20)), overlap) == 1.0
    assert row_share(np.full((20, 20), np.nan), overlap) == 1.0
