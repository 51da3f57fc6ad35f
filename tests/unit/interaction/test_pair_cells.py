import numpy as np
import pytest
from tests.pair_rows_by_hand import PairRows

from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.partition import Quantile
from rhale.interaction.moments import PairAxis, PairCells, cell_shares


def axis_of(x):
    values, count = np.unique(np.asarray(x, dtype=float), return_counts=True)
    return FeatureAxis(values[0], values[-1], values, count.astype(float), float(count.sum()))


@pytest.mark.parametrize("n_cells", [1, 2, 5, 10, 13, 14, 17, 18, 20, 40])
def test_shares_are_as_many_as_asked_increasing_and_the_same_from_both_ends(n_cells):
    shares = cell_shares(n_cells)
    assert shares.size == n_cells + 1
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert np.all(np.diff(shares) > 0)
    np.testing.assert_allclose(shares, 1 - shares[::-1], atol=1e-15)


def test_few_cells_are_equal_and_of_many_the_outermost_are_halved():
    np.testing.assert_allclose(np.diff(cell_shares(13)), 1 / 13)
    np.testing.assert_allclose(np.diff(cell_shares(14)) * 12, [0.5, 0.5, *[1] * 10, 0.5, 0.5])
    found = np.diff(cell_shares(20)) * 16
    np.testing.assert_allclose(found, [0.25, 0.25, 0.5, *[1] * 14, 0.5, 0.25, 0.25])


def test_limits_are_values_of_the_rows_with_these_shares_at_or_below():
    axis = axis_of(np.arange(640))
    expected = np.ceil(cell_shares(20)[1:-1] * 640 - 1e-9) - 1
    assert PairCells(20).candidates(axis).tolist() == [0, *expected, 639]
    assert np.array_equal(PairCells(10).candidates(axis), Quantile(10).candidates(axis))


def test_values_that_repeat_give_fewer_cells():
    assert PairCells(20).candidates(axis_of([0] * 50 + [1] * 30 + [7])).tolist() == [0, 1, 7]


def test_features_that_go_together_have_their_strength():
    """x0 x1 at correlation .9: the truth is 1 - .9^2."""
    found = {PairCells: [], Quantile: []}
    for seed in range(10):
        x, z = np.random.default_rng(seed).normal(size=(2, 2000))
        y = 0.9 * x + np.sqrt(1 - 0.81) * z
        for cells, strengths in found.items():
            axes = tuple(PairAxis(cells(20).candidates(axis_of(v))) for v in (x, y))
            square = PairRows(x, y, z, axes).fit(lambda x, y, z: x * y + 0 * z).square
            strengths.append(np.sqrt(square.raw - square.noise) / 0.19)
    assert 0.97 <= np.mean(found[PairCells]) <= 1.1
    assert np.mean(found[Quantile]) > np.mean(found[PairCells]) + 0.05
