import numpy as np
import pytest
from tests.pair_rows_by_hand import fill_of, levels_of, random_rows, twisted

from rhale.interaction.moments import PairAxis, PairSteps
from rhale.interaction.strength import SMOOTHING_PRICES, Smoothing, smooth_steps

CELLS = PairAxis(np.array([0.0, 1.0, 3.0, 4.0, 10.0]))


def smoothed(axes, mean, weight):
    filling = fill_of(axes, weight)
    return smooth_steps(axes, PairSteps(mean, weight), filling)


def slopes_by_hand(slopes, weight, price, *, across=True):
    """Solve the normal equations, cell by cell and neighbour by neighbour."""
    n, m = slopes.shape
    scaled = weight / weight[weight > 0].mean()
    left = np.diag(scaled.ravel())
    for a, b in np.ndindex(n, m):
        for c, d in ([(a + 1, b)] if across else []) + [(a, b + 1)]:
            if c < n and d < m:
                i, j = a * m + b, c * m + d
                left[i, i] += price
                left[j, j] += price
                left[i, j] -= price
                left[j, i] -= price
    inverse = np.linalg.inv(left) * scaled.ravel()
    found = inverse @ slopes.ravel()
    known = np.count_nonzero(weight)
    misfit = np.sum(scaled.ravel() * (slopes.ravel() - found) ** 2)
    return misfit / (known - np.trace(inverse)) ** 2, found.reshape(n, m)


@pytest.mark.parametrize("seed", range(3))
def test_slopes_minimise_misfit_and_roughness_at_the_price_of_cross_validation(seed):
    rng = np.random.default_rng(seed)
    area = np.outer(CELLS.widths, CELLS.widths)
    weight = rng.integers(0, 5, (4, 4)).astype(float)
    slopes = np.where(weight > 0, np.arange(16).reshape(4, 4) / 8 + rng.normal(size=(4, 4)), 0.0)
    found = smoothed((CELLS, CELLS), slopes * area, weight).fill(slopes * area) / area
    by_price = [slopes_by_hand(slopes, weight, price) for price in SMOOTHING_PRICES]
    expected = min(by_price, key=lambda pair: pair[0])[1]
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_levels_keep_their_own_slopes_and_cells_beside_them_are_evened_out():
    rng = np.random.default_rng(5)
    axes, weight = (levels_of(3), CELLS), rng.integers(1, 5, (2, 4)).astype(float)
    area = np.outer(axes[0].widths, axes[1].widths)
    slopes = rng.normal(size=(2, 4)) + np.array([[0.0], [9.0]])
    found = smoothed(axes, slopes * area, weight).fill(slopes * area) / area
    by_price = [slopes_by_hand(slopes, weight, price, across=False) for price in SMOOTHING_PRICES]
    np.testing.assert_allclose(found, min(by_price, key=lambda p: p[0])[1], atol=1e-8)


def test_a_step_of_levels_without_rows_has_the_slopes_of_the_nearest():
    weight = np.ones((4, 4))
    weight[2:] = 0.0
    axes, mean = (levels_of(5), CELLS), np.where(weight > 0, np.arange(16.0).reshape(4, 4), 0.0)
    filled = smoothed(axes, mean, weight).fill(mean)
    np.testing.assert_allclose(filled[2:], [filled[1]] * 2)


def test_two_sides_of_levels_have_nothing_to_even_out():
    axes, weight = (levels_of(3), levels_of(4)), np.ones((2, 3))
    mean = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(smoothed(axes, mean, weight).fill(mean), mean)


def test_one_slope_everywhere_stays_and_fills_the_holes():
    area, weight = np.outer(CELLS.widths, CELLS.widths), np.eye(4)
    found = smoothed((CELLS, CELLS), area * weight, weight)
    np.testing.assert_allclose(found.fill(area * weight), area, rtol=1e-9)


def test_one_measured_cell_gives_its_slope_to_all_and_none_gives_none():
    area, weight = np.outer(CELLS.widths, CELLS.widths), np.zeros((4, 4))
    mean = np.zeros((4, 4))
    assert not smoothed((CELLS, CELLS), mean, weight).fill(mean).any()
    weight[1, 2], mean[1, 2] = 2.0, 3.0 * area[1, 2]
    np.testing.assert_allclose(smoothed((CELLS, CELLS), mean, weight).fill(mean), 3 * area)


def test_gathering_is_filling_the_other_way():
    rows = random_rows(("numbers", "numbers"))
    fit, rng = rows.fit(twisted, smooth=True), np.random.default_rng(0)
    assert isinstance(fit.filling, Smoothing)
    mean, effects = fit.stack.steps.mean[0], rng.normal(size=(2, 25))
    measured = mean.ravel()[fit.filling.known]
    np.testing.assert_allclose(
        fit.filling.gather(effects) @ measured, effects @ fit.filling.fill(mean).ravel()
    )
