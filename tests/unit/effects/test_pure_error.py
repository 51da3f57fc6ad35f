import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rhale.effects.binning.axis import BatchedCells
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.moments import measure_moments
from rhale.effects.binning.noise import (
    VARIANCE_LIMIT_QUANTILE,
    NonEmptyCells,
    Pool,
    has_enough_rows,
    pure_squares,
    pure_variance,
    squared_bends,
    squared_steps,
)


def filled(moments):
    """Cells of one axis whose means count."""
    return NonEmptyCells.of(BatchedCells.of([moments]))


def in_cells(groups, weights=None):
    """Cells [0, 1), [1, 2), ... with the given local effects, spread evenly inside."""
    x = np.concatenate([k + (np.arange(len(g)) + 0.5) / len(g) for k, g in enumerate(groups)])
    d = np.concatenate(groups).astype(float)
    return measure_moments(Grid(np.arange(len(groups) + 1.0)), x, d, weights)


def test_cells_of_hardly_any_weight_are_not_heard():
    """Effective rows by weight: 2 of 2.02 rows; the cell of a hundredth of a row has 0.01."""
    moments = in_cells([[1.0], [2.0], [9.0], []], np.array([1.0, 1.0, 0.01]))
    assert has_enough_rows(moments).tolist() == [True, True, False, False]
    assert has_enough_rows(in_cells([[1.0], [], [2.0]])).tolist() == [True, False, True]


def test_bends_by_hand():
    """Means 1, 4, 2 at 0, 1, 3: the line between the outer ones is 4/3 at 1, so the bend is 8/3.

    Its variance is (2/3)² / 2 + (1/3)² / 4 + 1 of one row's.
    """
    x, mean, rows = np.array([[[0.0], [1.0], [3.0]], [[1.0], [4.0], [2.0]], [[2.0], [1.0], [4.0]]])
    expected = (8 / 3) ** 2 / ((2 / 3) ** 2 / 2 + (1 / 3) ** 2 / 4 + 1)
    np.testing.assert_allclose(squared_bends(x, mean, rows), [expected])
    assert filled(in_cells([[1.0], [4.0]])).about_lines[0].between.size == 0


def test_steps_by_hand():
    """A step of 3 between means of two rows and of one: 9 / (1/2 + 1)."""
    assert squared_steps(np.array([[2.0], [5.0]]), np.array([[2.0], [1.0]])).tolist() == [6.0]


def test_the_limit_of_a_variance_is_that_of_chi_squared():
    """Wilson and Hilferty's approximation is good to 3 % from ten free squares on."""
    free = np.array([10.0, 20.0, 100.0, 1000.0])
    lowest = stats.chi2.ppf(stats.norm.cdf(-VARIANCE_LIMIT_QUANTILE), free)
    np.testing.assert_allclose(Pool(free, free).most, free / lowest, rtol=0.03)


def test_hardly_any_free_squares_tell_nothing():
    found = Pool(np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.01, 0.0]))
    assert np.all(np.isinf(found.most))
    assert found.variance.tolist() == [1.0, 100.0, 0.0]


@given(st.integers(0, 1000), st.sampled_from([1, 2, 5, 20]))
def test_no_line_is_seen(seed, per_cell):
    """A mean effect that is a line adds nothing: not in cells, bins or windows."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 8, 40 * per_cell))
    noise = rng.normal(size=x.size)
    grid, limits = Grid(np.linspace(0, 8, 41)), np.array([0, 10, 25, 40])
    plain, tilted = (measure_moments(grid, x, noise + s * (x - 3)) for s in (0.0, 7.0))
    np.testing.assert_allclose(
        pure_variance(filled(tilted), limits),
        pure_variance(filled(plain), limits),
        rtol=1e-7,
    )
    np.testing.assert_allclose(pure_squares(filled(tilted)), pure_squares(filled(plain)), rtol=1e-7)


def test_a_jump_at_the_limit_of_a_bin_is_not_seen():
    d = np.repeat([0.0, 50.0], 60) + np.random.default_rng(0).normal(size=120)
    moments = in_cells(d.reshape(-1, 2))
    apart, together = (pure_variance(filled(moments), np.array(k)) for k in ([0, 30, 60], [0, 60]))
    assert np.all(apart < 5.0)
    assert together[0] > 20.0


@pytest.mark.parametrize("per_cell", [1, 2, 5, 20])
def test_the_variance_of_an_adequate_fit_is_below_the_limit(per_cell):
    """Mostly: neighbouring bends have rows in common, so one draw in ten may be above."""
    rng, above = np.random.default_rng(1), 0
    for _ in range(200):
        d = rng.normal(size=600)
        most = pure_variance(
            filled(in_cells(d.reshape(-1, per_cell))), np.array([0, 600 // per_cell])
        )
        above += d.var(ddof=1) > most[0]
    assert above <= 200 / 10


@pytest.mark.parametrize("per_cell", [1, 5, 20])
def test_misfit_is_not_seen(per_cell):
    """Four waves on 600 rows, noise of deviation 0.1, one bin: rows vary by 0.01, waves by 1/2."""
    x = (np.arange(600) + 0.5) / 600
    d = np.sin(8 * np.pi * x) + 0.1 * np.random.default_rng(2).normal(size=600)
    most = pure_variance(filled(in_cells(d.reshape(-1, per_cell))), np.array([0, 600 // per_cell]))
    assert d.var() > 0.4
    assert 0.008 < most[0] < 0.02


def test_weights_count_as_effective_rows():
    d = np.random.default_rng(3).normal(size=200)
    plain = pure_variance(filled(in_cells(d.reshape(-1, 5))), np.array([0, 40]))
    same = pure_variance(filled(in_cells(d.reshape(-1, 5), np.full(200, 0.3))), np.array([0, 40]))
    np.testing.assert_allclose(same, plain, rtol=1e-9)


def test_cells_without_rows_have_no_squares():
    moments = in_cells([[1.0, 2.0, 4.0], [], [3.0, 1.0, 2.5]])
    assert pure_squares(filled(moments))[1] == 0.0
