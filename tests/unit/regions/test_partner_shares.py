import numpy as np
import pytest

from rhale.regions.partner_shares import (
    add_up_cells,
    code_partners,
    cut_own,
    find_chances,
    measure_partners,
    split_squares,
)
from rhale.regions.settings import SearchRows, Target

stats = pytest.importorskip("scipy.stats")
SEEDS = range(500, 520)


def rows_of(values, n_levels=None, weight=None):
    n_rows, n_partners = values.shape
    return SearchRows(
        values,
        np.zeros(n_partners, dtype=int) if n_levels is None else np.array(n_levels),
        np.ones(n_rows) if weight is None else weight,
        np.zeros(n_rows, dtype=bool),
    )


def partners_of(values, effects, *, own=0, n_levels=None, weight=None):
    partners = code_partners(rows_of(values, n_levels, weight))
    at = np.arange(len(values))
    target = Target(at, values[:, own], effects, np.zeros(at.size), own=own)
    return measure_partners(partners, target)


def normal(seed, n_rows=2_000, n_columns=5):
    return np.random.default_rng(seed).normal(size=(n_rows, n_columns))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_product_goes_with_the_other_feature(seed):
    values = normal(seed)
    found = partners_of(values, values[:, 1])  # the slope of x0 x1
    assert 0.9 < found.share[1] < 1
    assert found.unexplained < 0.1
    assert np.isnan(found.share[0])
    assert np.nanmax(np.abs(found.share[2:])) < 0.05
    assert found.rows == 2_000


@pytest.mark.parametrize("seed", SEEDS)
def test_a_copy_is_a_proxy_and_the_partner_is_not(seed):
    values = normal(seed)
    values[:, 2] = 0.9 * values[:, 1] + np.sqrt(0.19) * values[:, 2]
    found = partners_of(values, values[:, 1])
    assert found.share[2] > 0.6
    assert found.proxy_of.tolist() == [-1, -1, 1, -1, -1]
    assert found.own_share[2] < 0.05


@pytest.mark.parametrize("seed", SEEDS)
def test_three_features_together_go_with_nobody(seed):
    values = normal(seed)
    found = partners_of(values, values[:, 1] * values[:, 2])
    assert np.nanmax(found.share) < 0.1
    assert found.unexplained > 0.9


@pytest.mark.parametrize("own", [np.zeros_like, np.sin, np.abs, np.sign, lambda x: np.exp(-x * x)])
def test_rows_of_an_additive_model_do_not_differ(own):
    values = normal(7)
    found = partners_of(values, own(2 * values[:, 0]))
    assert np.isnan(found.share).all()
    assert np.isnan(found.unexplained)
    assert found.rows == 2_000


def test_independent_partners_share_by_their_variances():
    values = normal(3, 20_000)
    found = partners_of(values, 2 * np.sign(values[:, 1]) + np.sign(values[:, 2]))
    np.testing.assert_allclose(found.share[1:4], [0.8, 0.2, 0], atol=0.02)
    assert found.unexplained < 0.02
    np.testing.assert_allclose(found.own_share[1:3], found.share[1:3], atol=0.02)
    assert (found.proxy_of == -1).all()


def test_bends_of_the_curve_are_no_spread():
    values = normal(3, 4_000)
    plain = partners_of(values, 0.2 * np.sign(values[:, 1]) + 0.2 * np.sign(values[:, 2]))
    bent = partners_of(
        values, 0.2 * np.sign(values[:, 1]) + 0.2 * np.sign(values[:, 2]) + np.cos(3 * values[:, 0])
    )
    np.testing.assert_allclose(plain.share[1:3], 0.5, atol=0.05)
    np.testing.assert_allclose(bent.share[1:3], plain.share[1:3], atol=0.08)
    assert bent.unexplained < 0.2


def test_a_missing_value_and_a_level_are_cells_of_their_own():
    rng = np.random.default_rng(2)
    values = normal(2, 4_000, 3)
    empty = rng.random(4_000) < 0.3
    values[:, 2] = rng.integers(7, size=4_000)
    height = np.array([0.0, 1, 0, 1, 1, 0, 1])[values[:, 2].astype(int)]
    by_level = partners_of(values, height, n_levels=[0, 0, 7])
    assert by_level.share[2] == pytest.approx(1, abs=0.01)
    values[empty, 1] = np.nan
    assert partners_of(values, empty.astype(float)).share[1] == pytest.approx(1, abs=0.01)


def test_steps_of_levels_have_partners_and_sizes():
    rng = np.random.default_rng(4)
    values = rng.integers(2, size=(6_000, 2)).astype(float)
    up = 2 * values[:, 1] - 1  # of f = x0 (2 x1 - 1): strength 1/2
    target = Target(
        np.arange(6_000), values[:, 0], up, np.zeros(6_000), step=np.zeros(6_000, int), own=0
    )
    found = measure_partners(code_partners(rows_of(values)), target)
    assert found.share[1] == pytest.approx(1, abs=0.01)
    assert found.size[1] == pytest.approx(0.5, abs=0.02)


def test_sizes_are_deviations_of_the_pair():
    values = np.random.default_rng(5).uniform(-1, 1, size=(8_000, 3))
    found = partners_of(values, 3 * values[:, 1])
    # sd(3 x0 x1) = 3 (1/3) = 1, read in eight even cells: (1 - 1/64) of the variance along x0
    assert found.size[1] == pytest.approx(np.sqrt(63 / 64 * 99 / 100), abs=0.02)
    assert found.size[2] < 0.05


def test_chances_of_nothing_are_even():
    chances = []
    for seed in range(40):
        values = normal(seed, 600, 6)
        effects = np.random.default_rng(1_000 + seed).normal(size=600) * (1 + (values[:, 0] > 1))
        chances += list(find_chances([partners_of(values, effects)])[0][1:])
    assert stats.kstest(chances, "uniform").pvalue > 0.001
    assert np.mean(np.array(chances) < 0.05) == pytest.approx(0.05, abs=0.04)


def test_shares_lie_within_their_errors():
    inside = []
    for seed in range(60):
        values = normal(seed, 1_000, 3)
        effects = np.sign(values[:, 1]) + np.random.default_rng(seed + 99).normal(size=1_000)
        found = partners_of(values, effects)
        inside.append(abs(found.share[1] - 0.5) < 2 * found.error[1])
    assert np.mean(inside) > 0.85


def test_too_few_rows_and_lonely_features_tell_nothing():
    few = normal(0, 29)
    assert np.isnan(partners_of(few, few[:, 1]).share).all()
    alone = normal(0, 500, 1)
    assert np.isnan(partners_of(alone, normal(1, 500, 1)[:, 0]).share).all()
    same = np.column_stack([alone, np.ones(500)])
    assert np.isnan(partners_of(same, normal(1, 500, 1)[:, 0]).share).all()


def test_squares_between_and_within_are_those_of_an_analysis_of_variance():
    values = normal(6, 400, 2)
    partners = code_partners(rows_of(values))
    target = Target(np.arange(400), values[:, 0], normal(7, 400, 1)[:, 0], np.zeros(400))
    own = cut_own(target, np.ones(400))
    found = split_squares(own, add_up_cells(own, partners), partners.starts)
    for a in range(own.n_cells):
        here = own.cell == a
        groups = [
            own.values[0, here & (partners.codes[1] == c)] for c in np.unique(partners.codes[1])
        ]
        groups = [group for group in groups if group.size]
        ratio = stats.f_oneway(*groups).statistic
        between = found.between[0, a, 1] / found.degrees[a, 1]
        assert found.degrees[a, 1] == pytest.approx(len(groups) - 1)
        assert between / found.variance[0, a, 1] == pytest.approx(ratio)


def test_weights_are_repeated_rows_for_shares():
    values = normal(8, 1_500, 3)
    values[:, 0] = values[:, 0] > 0
    effects = np.sign(values[:, 1]) + 0.5 * np.sin(5 * values[:, 2])
    times = np.random.default_rng(0).integers(1, 4, size=1_500)

    def shares(rows, weight):
        at, step = np.arange(rows.size), np.zeros(rows.size, dtype=int)
        target = Target(at, values[rows, 0], effects[rows], np.zeros(rows.size), step=step, own=0)
        return measure_partners(code_partners(rows_of(values[rows], weight=weight)), target)

    weighted = shares(np.arange(1_500), times.astype(float))
    repeated = shares(np.repeat(np.arange(1_500), times), None)
    np.testing.assert_allclose(weighted.share[1:], repeated.share[1:], atol=0.03)
    np.testing.assert_allclose(weighted.size[1:], repeated.size[1:], atol=0.03)
