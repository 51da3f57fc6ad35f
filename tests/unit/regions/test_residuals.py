"""Residuals: what all rows share is taken off, half by half, and features stand side by side."""

import numpy as np
import pytest
from tests.effects_by_hand import rows_of, target_of, uniform

from rhale.regions.residuals import (
    MAX_CURVE_CELLS,
    N_PAIR_SEARCH_CELLS,
    bound_residuals,
    bound_spread,
    take_residuals,
)
from rhale.regions.settings import Target


def test_curves_of_one_half_do_not_depend_on_the_other():
    values = uniform(600, 2)
    effects = np.random.default_rng(0).normal(size=600)
    rows = rows_of(values)
    one = take_residuals(rows, [target_of(values[:, 0], effects)])
    changed = np.where(rows.is_holdout, effects + 100, effects)
    other = take_residuals(rows, [target_of(values[:, 0], changed)])
    np.testing.assert_array_equal(
        one.values[:, ~rows.is_holdout], other.values[:, ~rows.is_holdout]
    )
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
    target = Target(row, step + 0.5, effects, np.zeros(8), 0.0, step, -1, 1.0)
    found = take_residuals(rows_of(uniform(8, 1)), [target])
    np.testing.assert_allclose(found.values[0], [-1, -2, -10, -20, 1, 2, 10, 20])
    assert found.n_cells == 2


def test_cells_of_several_features_stand_one_behind_the_other():
    values = uniform(600, 3)
    one = target_of(values[:, 0], values[:, 1], scale=2.0, roughness=1.0)
    other = target_of(values[:, 1], values[:, 0], scale=3.0)
    found = take_residuals(rows_of(values), [one, other])
    assert found.n_cells == 2 * MAX_CURVE_CELLS
    assert found.feature.tolist() == [0] * MAX_CURVE_CELLS + [1] * MAX_CURVE_CELLS
    assert found.coarse_cell.max() == 2 * N_PAIR_SEARCH_CELLS - 1
    assert np.unique(found.factor).tolist() == [4, 9]
    assert found.cell[:600].max() < MAX_CURVE_CELLS <= found.cell[600:].min()
    assert found.count_rows(np.arange(1_200)) == 600


def test_very_steep_cells_count_no_more_than_ten_usual_ones():
    x = np.exp(3 * np.random.default_rng(0).normal(size=4_000))
    found = take_residuals(rows_of(x[:, None]), [target_of(x, 1 / x)])
    square = np.bincount(found.cell, 1 / x**2) / np.bincount(found.cell)
    counted = square * found.factor
    assert counted.max() == pytest.approx(10 * np.median(square), rel=0.01)
    assert (found.factor[square < 9 * np.median(square)] == 1).all()


def jump_at_zero(x):
    """Effects over windows at a jump, next to nothing elsewhere: steep in a few of the cells."""
    return np.where(np.abs(x) < 0.25, 1.0, 1e-3)


def test_cells_in_which_predictions_jump_count_wholly_where_slopes_are_over_windows():
    x = np.linspace(-1, 1, 1_200)
    found = take_residuals(rows_of(x[:, None]), [target_of(x, jump_at_zero(x), roughness=1.0)])
    np.testing.assert_allclose(found.factor, 1, rtol=1e-9)
    of_rows = take_residuals(rows_of(x[:, None]), [target_of(x, jump_at_zero(x))])
    assert of_rows.factor.min() == pytest.approx(1e-5, rel=0.01)


@pytest.mark.parametrize("part", [1, 1 / 2, 1 / 4, 2, 4])
def test_a_steep_cell_counts_by_how_far_its_width_is_from_the_usual_one_squared(part):
    x = np.linspace(0, 1, 1_200) * 12
    x[600:700] = 6 + (x[600:700] - 6) * part
    x[700:] -= 1 - part
    effects = np.where((x > 6) & (x < 6 + part), 1.0, 1e-3)
    found = take_residuals(rows_of(x[:, None]), [target_of(x, effects, roughness=1.0)])
    assert found.factor[6] == pytest.approx(min(part, 1 / part) ** 2, rel=0.05)
    assert (np.delete(found.factor, 6) == 1).all()


def test_a_pile_of_steep_rows_stays_bounded():
    x = np.maximum(np.linspace(-0.5, 1, 1_200), 0)
    effects = np.where(x == 0, 1.0, 1e-3)
    found = take_residuals(rows_of(x[:, None]), [target_of(x, effects, roughness=1.0)])
    assert found.factor[0] == pytest.approx(1e-5)
    assert (found.factor[1:] == 1).all()


def test_cells_count_what_their_squares_and_widths_say_by_brute_force():
    rng = np.random.default_rng(1)
    x = np.exp(rng.normal(size=2_000))
    effects = rng.normal(size=2_000) / x**2
    target = target_of(x, effects, roughness=1.0, scale=3.0)
    found = take_residuals(rows_of(x[:, None]), [target])
    cells = [np.flatnonzero(found.cell == one) for one in range(MAX_CURVE_CELLS)]
    square = np.array([np.mean(effects[one] ** 2) for one in cells])
    last = np.array([x[one].max() for one in cells])
    width = np.diff(last, prepend=x.min())
    by_square = np.minimum(10 * np.median(square) / square, 1)
    by_width = np.exp(-2 * np.abs(np.log(width / np.median(width))))
    np.testing.assert_allclose(found.factor, 9 * np.maximum(by_square, by_width))
    assert np.unique(by_square < by_width).size == 2
    bound = bound_residuals(rows_of(x[:, None]), [target])
    np.testing.assert_array_equal(bound.factor, found.factor)


def test_one_value_has_no_width():
    x = np.ones(100)
    found = take_residuals(rows_of(x[:, None]), [target_of(x, x, roughness=1.0)])
    assert found.factor.tolist() == [1]


def test_a_scale_that_is_not_known_counts_as_one():
    values = uniform(100, 1)
    found = take_residuals(rows_of(values), [target_of(values[:, 0], values[:, 0], scale=np.inf)])
    assert (found.factor == 1).all()


def test_spread_is_the_squares_that_curves_leave():
    values, own = uniform(400, 1), np.random.default_rng(0).normal(size=400)
    found = take_residuals(rows_of(values), [target_of(values[:, 0], own, scale=3.0)])
    expected = 9 * found.weight * found.values[0] ** 2
    np.testing.assert_allclose(found.spreads(np.arange(400)), expected)


def test_means_of_steps_leave_no_more_than_there_was_whatever_the_weights():
    rng = np.random.default_rng(0)
    row, step = np.arange(400), rng.integers(0, 3, 400)
    rows = rows_of(uniform(400, 1), weight=rng.uniform(0.5, 2, 400))
    target = Target(row, step + 0.5, rng.normal(size=400), np.zeros(400), 0.0, step, -1, 2.0)
    found = take_residuals(rows, [target])
    weight = rows.weight[rows.is_holdout]
    most = 4 * np.sum(weight * target.effects[rows.is_holdout] ** 2) / weight.sum()
    assert found.spreads(found.checking).sum() <= most
    assert bound_spread(rows, [target]) == pytest.approx(most)


def test_rows_of_which_none_checks_add_nothing_to_the_bound():
    rows = rows_of(uniform(4, 1))
    target = Target(np.array([0, 2]), np.ones(2), np.ones(2), np.zeros(2))
    assert bound_spread(rows, [target]) == 0
