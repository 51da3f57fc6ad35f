import numpy as np
import pytest

from rhale.kernels.grid import Grid
from rhale.kernels.moments import SUMS, Moments, empty, measure
from rhale.kernels.side_by_side import join_axes, join_limits, slices


def cells_of(seed: int, n_cells: int) -> Moments:
    rng = np.random.default_rng(seed)
    x, weight = rng.normal(size=200), rng.uniform(0.5, 2, 200)
    return measure(Grid(np.linspace(-4, 4, n_cells + 1)), x, rng.normal(size=(2, 200)), weight)


LIMITS = [np.array([0, 2, 5]), np.array([0, 9]), np.array([0, 1, 2, 7])]
AXES = [cells_of(seed, int(own[-1])) for seed, own in enumerate(LIMITS)]


def test_bins_of_axes_side_by_side_are_those_of_each_axis():
    united = join_axes(AXES).unite(join_limits(LIMITS))
    for cells, limits, part in zip(AXES, LIMITS, slices([2, 1, 3]), strict=True):
        alone = cells.unite(limits)
        for name in (*SUMS, "rows", "variance", "residual_variance", "slope"):
            np.testing.assert_array_equal(getattr(united, name)[..., part], getattr(alone, name))
        np.testing.assert_array_equal(united.grid.edges[:-1][part], alone.grid.edges[:-1])


def test_one_axis_stays_what_it_is():
    assert join_axes(AXES[:1]) is AXES[0]
    assert join_limits(LIMITS[:1]) is LIMITS[0]


def test_axes_of_another_number_of_series_are_refused():
    with pytest.raises(ValueError, match="dimension"):
        join_axes([AXES[0], empty(AXES[1].grid, n_series=3)])
