"""Residuals: what all rows share is taken off, half by half, and features stand side by side."""

import numpy as np
import pytest
from tests.effects_by_hand import rows_of, target_of, uniform

from rhale.kernels.region_finding import Target
from rhale.kernels.residuals import CELLS, FEW_CELLS, bound_spread, take_residuals


def test_curves_of_one_half_do_not_depend_on_the_other():
    values = uniform(600, 2)
    effects = np.random.default_rng(0).normal(size=600)
    rows = rows_of(values)
    one = take_residuals(rows, [target_of(values[:, 0], effects)])
    changed = np.where(rows.checks, effects + 100, effects)
    other = take_residuals(rows, [target_of(values[:, 0], changed)])
    np.testing.assert_array_equal(one.values[:, ~rows.checks], other.values[:, ~rows.checks])
    np.testing.assert_allclose(one.values, other.values, atol=1e-9)


def test_weights_add_up_to_one_in_each_half():
    values = uniform(500, 1)
    weight = np.random.default_rng(0).uniform(0.1, 3, 500)
    rows = rows_of(values, weight=weight)
    found = take_residuals(rows, [target_of(values[:, 0], values[:, 0])])
    assert found.weight[found.searched].sum() == pytest.approx(1)
    assert found.weight[found.checking].sum() == pytest.approx(1)
    np.testing.assert_allclose(found.weight[::2], weight[::2] / weight[::2].sum())


def test_steps_leave_the_mean_of_their_step():
    step = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    row = np.arange(8)
    effects = np.array([1.0, 2, 10, 20, 3, 6, 30, 60])
    target = Target(row, step + 0.5, effects, np.zeros(8), None, step, -1, 1.0)
    found = take_residuals(rows_of(uniform(8, 1)), [target])
    np.testing.assert_allclose(found.values[0], [-1, -2, -10, -20, 1, 2, 10, 20])
    assert found.n_cells == 2


def test_cells_of_several_features_stand_one_behind_the_other():
    values = uniform(600, 3)
    noise = np.random.default_rng(0).normal(size=600)
    one = target_of(values[:, 0], values[:, 1], scale=2.0, noise=noise)
    other = target_of(values[:, 1], values[:, 0], scale=3.0)
    found = take_residuals(rows_of(values), [one, other])
    assert found.n_cells == 2 * CELLS
    assert found.feature.tolist() == [0] * CELLS + [1] * CELLS
    assert found.few.max() == 2 * FEW_CELLS - 1
    assert np.unique(found.factor).tolist() == [4, 9]
    assert found.cell[:600].max() < CELLS <= found.cell[600:].min()
    assert (found.values[1, 600:] == 0).all()
    assert found.count_rows(np.arange(1_200)) == 600


def test_very_steep_cells_count_no_more_than_ten_usual_ones():
    x = np.exp(3 * np.random.default_rng(0).normal(size=4_000))
    found = take_residuals(rows_of(x[:, None]), [target_of(x, 1 / x)])
    square = np.bincount(found.cell, 1 / x**2) / np.bincount(found.cell)
    counted = square * found.factor
    assert counted.max() == pytest.approx(10 * np.median(square), rel=0.01)
    assert (found.factor[square < 9 * np.median(square)] == 1).all()


def test_a_scale_that_is_not_known_counts_as_one():
    values = uniform(100, 1)
    found = take_residuals(rows_of(values), [target_of(values[:, 0], values[:, 0], scale=np.inf)])
    assert (found.factor == 1).all()


def test_spread_is_without_steps():
    values = uniform(400, 1)
    rng = np.random.default_rng(0)
    noise, own = rng.normal(size=(2, 400))
    found = take_residuals(rows_of(values), [target_of(values[:, 0], own, noise=noise)])
    expected = found.weight * (found.values[0] ** 2 - found.values[1] ** 2)
    np.testing.assert_allclose(found.spreads(np.arange(400)), expected)


def test_means_of_steps_leave_no_more_than_there_was_whatever_the_weights():
    rng = np.random.default_rng(0)
    row, step = np.arange(400), rng.integers(0, 3, 400)
    rows = rows_of(uniform(400, 1), weight=rng.uniform(0.5, 2, 400))
    target = Target(row, step + 0.5, rng.normal(size=400), np.zeros(400), None, step, -1, 2.0)
    found = take_residuals(rows, [target])
    weight = rows.weight[rows.checks]
    most = 4 * np.sum(weight * target.effects[rows.checks] ** 2) / weight.sum()
    assert found.spreads(found.checking).sum() <= most
    assert bound_spread(rows, [target]) == pytest.approx(most)


def test_rows_of_which_none_checks_add_nothing_to_the_bound():
    rows = rows_of(uniform(4, 1))
    target = Target(np.array([0, 2]), np.ones(2), np.ones(2), np.zeros(2))
    assert bound_spread(rows, [target]) == 0
