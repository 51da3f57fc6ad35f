import numpy as np
import pytest

from rhale.effects.variance import ChanceSize, covariance_from_changes, size_by_chance


def test_the_covariance_follows_from_the_variances_of_differences():
    """Any covariance, centred by weights: from Var(f_i - f_j) and from the covariance itself."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(5, 5))
    own, weight = root @ root.T, rng.dirichlet(np.ones(5))
    changes = np.diag(own)[:, None] + np.diag(own) - 2 * own
    shift = np.eye(5) - weight
    assert covariance_from_changes(changes, weight) == pytest.approx(shift @ own @ shift.T)


def test_independent_errors_have_the_chance_of_a_chi_square():
    """Four places, errors of variance 4: the mean of four squares, uncentred, is 4 chi² / 4."""
    found = size_by_chance(4 * np.eye(4), np.full(4, 0.25), np.inf)
    assert found.square == pytest.approx(4)
    assert found.spread_over == pytest.approx(4)
    quantile = 9.487729036781154  # 95 % of chi-square with 4 degrees of freedom
    assert found.p_value(4 * quantile / 4) == pytest.approx(0.05, abs=1e-5)


def test_errors_of_one_kind_count_once_however_many_places_there_are():
    found = size_by_chance(np.ones((7, 7)), np.full(7, 1 / 7), np.inf)
    assert (found.square, found.spread_over) == pytest.approx((1, 1))


def test_without_errors_any_difference_is_more_than_chance():
    none = ChanceSize(0.0, 1.0, np.inf)
    assert (none.p_value(0.0), none.p_value(1e-30)) == (1.0, 0.0)
    assert np.isnan(ChanceSize(np.nan, 1.0, 1.0).p_value(1.0))


def test_few_degrees_of_freedom_make_a_difference_less_sure():
    """Student's t of 3 degrees of freedom: P(|t| > 3.182446) is 5 %."""
    assert ChanceSize(1.0, 1.0, 3.0).p_value(3.182446305284263**2) == pytest.approx(0.05, abs=1e-6)
