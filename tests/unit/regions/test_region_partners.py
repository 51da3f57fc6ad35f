"""Partners: shares of the spread, and what all of them leave."""

import numpy as np
import pytest
from tests.effects_by_hand import rows_of, target_of, uniform

from rhale.regions.find import find_partners
from rhale.regions.residuals import CodedRows, take_residuals


def partners_of(values, effects, n_levels=None):
    coded = CodedRows(rows_of(values, n_levels=n_levels))
    residuals = take_residuals(coded.rows, [target_of(values[:, 0], effects)])
    return find_partners(coded, residuals, np.arange(1, values.shape[1]))


def test_independent_partners_share_the_spread_by_their_variances():
    values = uniform(8_000, 4)
    found = partners_of(values, 2 * values[:, 1] + values[:, 2])
    # eight cells explain 1 - 1/64 of a uniform variance
    assert found.partner_share[1] == pytest.approx(0.8 * 63 / 64, abs=0.03)
    assert found.partner_share[2] == pytest.approx(0.2 * 63 / 64, abs=0.04)
    assert abs(found.partner_share[3]) < 0.03
    assert np.isnan(found.partner_share[0])
    assert (found.partner_error[1:] > 0).all()
    assert found.unexplained == pytest.approx(1 / 64, abs=0.02)


def test_what_no_sum_of_partners_explains_is_told():
    values = uniform(8_000, 4)
    found = partners_of(values, np.sign(values[:, 1] * values[:, 2]) + np.sign(values[:, 3]))
    assert found.unexplained == pytest.approx(0.5, abs=0.05)


def test_noise_is_unexplained():
    values = uniform(2_000, 10)
    found = partners_of(values, np.random.default_rng(0).normal(size=2_000))
    assert found.unexplained > 0.97
    assert np.abs(found.partner_share[1:]).max() < 0.1


def test_each_level_and_missing_values_are_groups_of_their_own():
    values = uniform(6_000, 3)
    values[:, 1] = np.random.default_rng(0).integers(0, 12, 6_000)
    values[values[:, 1] == 11, 1] = np.nan
    height = np.random.default_rng(1).normal(size=12)
    level = np.where(np.isnan(values[:, 1]), 11, values[:, 1]).astype(int)
    found = partners_of(values, height[level], n_levels=[0, 11, 0])
    assert found.partner_share[1] > 0.95
    assert found.unexplained < 0.05
