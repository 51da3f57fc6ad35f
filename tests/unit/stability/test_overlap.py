import numpy as np
import pytest

from rhale.stability.replication import Overlap, as_deviations
from rhale.stability.splits import Scheme

N_ROWS, N_DRAWS = 60, 40_000


def draw(name, n_rows=N_ROWS, n_refits=10, **options):
    return Scheme(name, n_refits, **options).draw(n_rows, seed=3)


def shares(train, n_rows):
    return np.array([np.bincount(rows, minlength=n_rows) / rows.size for rows in train])


def mixed_subsets(n_rows):
    """Trainings of different sizes that share some rows with each other."""
    rng = np.random.default_rng(5)
    return [rng.choice(n_rows, size, replace=False) for size in (10, 20, 20, 35, 50, 55)]


DESIGNS = {
    "halves": draw("half-samples"),
    "subsamples": draw("subsamples", share=0.7),
    "folds": draw("folds", folds=5),
    "bootstraps": draw("bootstraps"),
    "disjoint": np.split(np.arange(N_ROWS), 5),
    "mixed": mixed_subsets(N_ROWS),
}


def test_complementary_halves_have_the_jackknife_factor_exactly():
    overlap = Overlap.of(draw("half-samples", 400, 20), 400)
    assert overlap.factor == pytest.approx(19 / 20, rel=1e-12)  # n1 = n2: 1 less one mean
    assert overlap.degrees == pytest.approx(10, rel=0.05)  # two halves deviate alike
    assert overlap.degrees <= 10


@pytest.mark.parametrize("folds", [2, 5, 10])
def test_folds_have_the_jackknife_factor_exactly(folds):
    overlap = Overlap.of(draw("folds", 400, folds, folds=folds), 400)
    assert overlap.factor == pytest.approx((1 - 1 / folds) * (folds - 1), rel=1e-12)
    assert overlap.degrees == pytest.approx(folds - 1, rel=1e-12)


def test_trainings_that_share_nothing_are_independent():
    sets = np.split(np.arange(70), 7)
    overlap = Overlap.of(sets, 70)
    assert overlap.factor == pytest.approx(1 / 7, rel=1e-12)
    assert overlap.degrees == pytest.approx(6, rel=1e-12)
    told = Overlap.independent(7)
    assert (told.factor, told.degrees) == (pytest.approx(1 / 7), pytest.approx(6))


@pytest.mark.parametrize(
    ("name", "options", "factor"),
    [
        ("subsamples", {"share": 0.75}, 1 / 40 + 3),
        ("subsamples", {"share": 0.5}, 1 / 40 + 1),
        ("bootstraps", {}, 1 / 40 + 1),
    ],
)
def test_random_schemes_have_the_known_factor_on_average(name, options, factor):
    overlap = Overlap.of(draw(name, 20_000, 40, **options), 20_000)
    assert overlap.factor == pytest.approx(factor, rel=0.02)
    assert overlap.degrees == pytest.approx(39, rel=0.02)


@pytest.mark.parametrize("name", DESIGNS)
def test_the_deviation_between_trainings_tells_the_variance_of_their_mean(name):
    """Of means over training rows, by brute force: independent rows, many tables."""
    train = DESIGNS[name]
    overlap = Overlap.of(train, N_ROWS)
    rows = np.random.default_rng(1).normal(size=(N_DRAWS, N_ROWS))
    found = rows @ shares(train, N_ROWS).T
    square = found.var(axis=1, ddof=1)
    assert overlap.factor * square.mean() == pytest.approx(found.mean(axis=1).var(), rel=0.04)
    # a scaled chi² with n degrees of freedom has the variance 2 mean² / n
    assert overlap.degrees == pytest.approx(2 * square.mean() ** 2 / square.var(), rel=0.05)


def test_rows_of_a_group_count_as_one():
    units = np.repeat(np.arange(20), 5)
    train = draw("half-samples", 20)
    rows = [np.flatnonzero(np.isin(units, own)) for own in train]
    grouped, single = Overlap.of(rows, 100, units), Overlap.of(train, 20)
    np.testing.assert_allclose(grouped.shared, single.shared, rtol=1e-12)
    assert grouped.n_train.tolist() == [50] * 10
    assert grouped.n_rows == 100


def test_groups_in_several_trainings_are_shared_though_no_row_is():
    units = np.array([0, 1, 0, 1])
    train = [np.array([0, 1]), np.array([2, 3])]
    assert Overlap.of(train, 4).shared[0, 1] == 0
    assert Overlap.of(train, 4, units).is_same


def test_the_same_rows_tell_nothing_of_other_rows():
    overlap = Overlap.of([np.arange(10)] * 4, 20)
    assert overlap.is_same
    assert np.isnan([overlap.factor, overlap.degrees]).all()


def test_some_trainings_are_those_trainings():
    train = DESIGNS["mixed"]
    some = Overlap.of(train, N_ROWS).take([4, 1, 2])
    assert some == Overlap.of([train[4], train[1], train[2]], N_ROWS)
    assert some.n_trainings == 3


def test_rows_that_repeat_count_as_often_as_they_stand_there():
    overlap = Overlap.of([np.array([0, 0, 0, 1]), np.array([1, 2])], 3)
    np.testing.assert_allclose(overlap.shared, [[10 / 16, 1 / 8], [1 / 8, 1 / 2]], rtol=1e-15)


def test_deviations_are_those_of_the_things_themselves():
    things = np.random.default_rng(0).normal(size=(5, 3))
    off = things - things.mean(axis=0)
    np.testing.assert_allclose(as_deviations(things @ things.T), off @ off.T, atol=1e-12)
