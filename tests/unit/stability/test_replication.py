import numpy as np
import pytest

from rhale.stability.replication import (
    NOT_KNOWN,
    Overlap,
    as_deviations,
    estimate_effective_rank,
    replicate,
)
from rhale.stability.splits import Scheme

stats = pytest.importorskip("scipy.stats")
N_ROWS = 60
SCHEMES = {
    "half-samples": Scheme("half-samples", 20).draw(N_ROWS, seed=4),
    "folds": Scheme("folds", 20).draw(N_ROWS, seed=4),
    "subsamples": Scheme("subsamples", 10).draw(N_ROWS, seed=4),
    "bootstraps": Scheme("bootstraps", 10).draw(N_ROWS, seed=4),
    "disjoint": np.split(np.arange(N_ROWS), 10),
}


def shares(train):
    return np.array([np.bincount(rows, minlength=N_ROWS) / rows.size for rows in train])


def test_one_number_of_independent_trainings_is_tested_as_by_student():
    values = np.array([0.3, 0.9, -0.2, 0.7, 0.5])
    found = replicate(np.outer(values, values), Overlap.independent(5))
    assert found.p_value == pytest.approx(stats.ttest_1samp(values, 0).pvalue, rel=1e-9)
    assert found.square == pytest.approx(values.mean() ** 2 - values.var(ddof=1) / 5)


def test_one_number_of_one_round_of_folds_is_tested_as_by_the_jackknife():
    """Leaving one fold out and pseudo-values of folds are the same t test (Tukey)."""
    folds = np.random.default_rng(0).normal(0.4, 1, 6)
    left_out = (folds.sum() - folds) / 5
    train = [np.delete(np.arange(6), k) for k in range(6)]
    found = replicate(np.outer(left_out, left_out), Overlap.of(train, 6))
    assert found.p_value == pytest.approx(stats.ttest_1samp(folds, 0).pvalue, rel=1e-9)
    error = stats.sem(folds)
    assert found.square == pytest.approx(folds.mean() ** 2 - error**2)


def test_what_complementary_halves_agree_on_is_their_product():
    """Of means over rows: both halves lie as far from the mean of all, on either side."""
    rows = np.random.default_rng(3).normal(0.5, 1, N_ROWS)
    means = shares(SCHEMES["half-samples"]) @ rows
    overlap = Overlap.of(SCHEMES["half-samples"], N_ROWS)
    expected = np.mean(means[::2] * means[1::2])
    assert replicate(np.outer(means, means), overlap).square == pytest.approx(expected)


def test_halves_that_disagree_have_no_size():
    curves = np.array([[1.0, 2.0], [-1.0, -2.0], [1.0, 1.5], [-1.0, -1.5]])
    train = [np.arange(5), np.arange(5, 10), np.arange(0, 10, 2), np.arange(1, 10, 2)]
    found = replicate(curves @ curves.T / 2, Overlap.of(train, 10))
    assert found.square < 0
    assert found.size == 0
    assert found.p_value == pytest.approx(1.0)


def test_what_all_trainings_have_from_the_rows_is_no_effect():
    """Curves that are one draw of noise and hardly differ: sure without `drawn`, not with it."""
    rows = np.random.default_rng(5).normal(0, 1, 40)
    curves = rows + 0.01 * np.random.default_rng(6).normal(size=(10, 40))
    gram, overlap = curves @ curves.T / 40, Overlap.independent(10)
    assert replicate(gram, overlap).p_value < 1e-6
    found = replicate(gram, overlap, drawn=1.0)
    assert found.p_value > 0.1
    assert found.square == pytest.approx(replicate(gram, overlap).square - 1.0)


def test_rows_never_make_an_effect_more_certain():
    slopes = np.array([2.0, 2.6, 1.8, 2.2])
    gram, overlap = np.outer(slopes, slopes), Overlap.independent(4)
    p = [replicate(gram, overlap, drawn).p_value for drawn in (0.0, 0.01, 0.05, 0.3, 2.0, 9.0)]
    assert p[0] == pytest.approx(stats.ttest_1samp(slopes, 0).pvalue)
    assert min(p) == pytest.approx(p[0])
    assert p[-1] > 0.3


def test_copies_of_one_curve_are_as_sure_as_their_rows():
    overlap = Overlap.independent(6)
    found = replicate(np.full((6, 6), 4.0), overlap, drawn=0.5)
    assert found.p_value == pytest.approx(stats.chi2.sf(8.0, 1), rel=1e-3)
    assert found.square == pytest.approx(3.5)


@pytest.mark.parametrize(("height", "p"), [(0.5, 0.0), (0.0, 1.0)])
@pytest.mark.parametrize("name", SCHEMES)
def test_trainings_that_are_all_the_same_are_sure(name, height, p):
    overlap = Overlap.of(SCHEMES[name], N_ROWS)
    found = replicate(np.full(overlap.shared.shape, height**2), overlap)
    assert found.p_value == p
    assert found.size == pytest.approx(height)


@pytest.mark.parametrize("scale", [1e-250, 1e250])
def test_tiny_and_huge_curves_are_as_sure_as_others(scale):
    overlap = Overlap.of(SCHEMES["half-samples"], N_ROWS)
    curves = np.random.default_rng(1).normal(0.3, 1, size=(20, 3))
    found, scaled = (replicate(curves @ curves.T * s, overlap) for s in (1.0, scale))
    assert scaled.p_value == pytest.approx(found.p_value)
    assert scaled.square == pytest.approx(found.square * scale)


def test_trainings_on_the_same_rows_tell_nothing():
    same = Overlap.of([np.arange(10)] * 3, 20)
    assert replicate(np.eye(3), same) is NOT_KNOWN
    assert np.isnan([NOT_KNOWN.size, NOT_KNOWN.p_value]).all()


def test_curves_that_are_not_known_tell_nothing():
    assert replicate(np.full((3, 3), np.nan), Overlap.independent(3)) is NOT_KNOWN


@pytest.mark.parametrize("n_ways", [1, 2, 6])
def test_ways_to_differ_are_counted(n_ways):
    curves = np.random.default_rng(2).normal(size=(400, n_ways))
    found = estimate_effective_rank(as_deviations(curves @ curves.T), 399.0)
    assert found == pytest.approx(n_ways, rel=0.05)


def test_ways_are_at_least_one_and_bounded():
    assert estimate_effective_rank(np.outer([1.0, -1.0], [1.0, -1.0]), 1.0) == 1
    assert estimate_effective_rank(as_deviations(np.eye(5)), 4.0) == 4.0**2
    assert estimate_effective_rank(as_deviations(np.eye(50)), 49.0) == 1e3


@pytest.mark.parametrize("n_ways", [1, 2, 5, 20])
@pytest.mark.parametrize("n_trainings", [2, 3, 4, 6])
def test_a_few_trainings_do_not_make_something_of_nothing(n_trainings, n_ways):
    """Two deviations that happen to be perpendicular must not look like ways without end."""
    train = Scheme("half-samples", n_trainings).draw(N_ROWS, seed=4)
    rows = np.random.default_rng(5).normal(size=(400, N_ROWS, n_ways))
    curves = shares(train) @ rows
    p = np.array([replicate(one @ one.T, Overlap.of(train, N_ROWS)).p_value for one in curves])
    assert np.mean(p <= 0.05) < 0.05 + 0.04
    assert np.mean(p <= 0.001) < 0.001 + 0.019


@pytest.mark.parametrize("sizes", [(1,), (1, 1), (1, 0.5, 0.25)])
@pytest.mark.parametrize("name", SCHEMES)
def test_without_an_effect_one_run_in_twenty_comes_back(name, sizes):
    """Curves that are means over training rows of random curves, by brute force."""
    overlap = Overlap.of(SCHEMES[name], N_ROWS)
    rows = np.random.default_rng(6).normal(size=(600, len(sizes), N_ROWS))
    curves = (rows * np.sqrt(sizes)[:, None]) @ shares(SCHEMES[name]).T
    p = [replicate(one.T @ one, overlap).p_value for one in curves]
    assert 0.01 < np.mean(np.array(p) <= 0.05) < 0.08


@pytest.mark.parametrize("name", SCHEMES)
def test_the_square_is_right_on_average(name):
    """Of a curve of height 1 in noise, whatever the scheme."""
    overlap = Overlap.of(SCHEMES[name], N_ROWS)
    rows = np.random.default_rng(7).normal(1.0, 3.0, size=(800, N_ROWS))
    curves = rows @ shares(SCHEMES[name]).T
    found = np.array([replicate(np.outer(one, one), overlap).square for one in curves])
    assert abs(found.mean() - 1) < 4 * found.std() / np.sqrt(found.size)


@pytest.mark.parametrize("n_ways", [1, 6])
def test_the_level_is_met_where_curves_differ_by_chance_in_several_ways(n_ways):
    """Without an effect, curves whose coefficients are means over the training rows."""
    rng = np.random.default_rng(11)
    train = Scheme().draw(60, seed=3)
    overlap = Overlap.of(train, 60)
    shares = np.array([np.bincount(rows, minlength=60) / rows.size for rows in train])
    found = []
    for _ in range(1500):
        curves = shares @ rng.normal(size=(60, n_ways))
        found.append(replicate(curves @ curves.T, overlap).p_value)

    assert np.mean(np.array(found) <= 0.05) == pytest.approx(0.05, abs=0.017)  # 3 deviations
    assert np.mean(np.array(found) <= 0.5) == pytest.approx(0.5, abs=0.06)
