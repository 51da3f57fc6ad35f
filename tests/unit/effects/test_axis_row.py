from dataclasses import replace

import numpy as np

from rhale.effects.binning.axis import MERGE_BATCH_AXES, BatchedCells, unite_all
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.moments import SUMS, Moments, measure_moments
from rhale.effects.binning.noise import has_enough_rows

LIMITS = [np.array([0, 2, 5]), np.array([0, 9]), np.array([0, 1, 2, 7])]


def cells_of(seed: int, n_cells: int) -> Moments:
    rng = np.random.default_rng(seed)
    x, weight = rng.normal(size=200), rng.uniform(0.5, 2, 200)
    edges = np.linspace(-4, 4 + seed, n_cells + 1)
    found = measure_moments(Grid(edges), x, rng.normal(size=(3, 200)), weight)
    return replace(found, is_stepped=True)


AXES = [cells_of(seed, int(own[-1])) for seed, own in enumerate(LIMITS)]


def test_bins_of_axes_in_a_row_are_those_of_each_axis():
    row = BatchedCells.of(AXES, n_series=None).unite(LIMITS)
    assert row.cells.is_stepped
    for cells, limits, part in zip(AXES, LIMITS, row.slices(), strict=True):
        alone = cells.unite(limits)
        for name in (*SUMS, "rows", "variance", "residual_variance", "slope"):
            np.testing.assert_array_equal(getattr(row.cells, name)[..., part], getattr(alone, name))
        left, right = (end[part] for end in row.ends)
        np.testing.assert_array_equal(np.append(left, right[-1]), alone.grid.edges)
        np.testing.assert_array_equal(right[:-1], left[1:])


def test_one_series_is_enough_where_no_more_is_asked_for():
    row = BatchedCells.of(AXES)
    assert row.cells.mean.shape == (1, 21)
    assert row.cells.is_stepped


def test_what_belongs_to_an_axis_is_found_again():
    row = BatchedCells.of(AXES)
    assert [part.stop - part.start for part in row.slices()] == [5, 9, 7]
    parts = row.split(row.counts)
    for cells, counts in zip(AXES, parts, strict=True):
        np.testing.assert_array_equal(counts, has_enough_rows(cells))
    assert row.join(LIMITS).tolist() == [0, 2, 5, 14, 15, 16, 21]


def test_axes_that_are_united_together_are_those_united_alone():
    plain = [replace(cells.series(0), is_stepped=False) for cells in AXES]
    batch = [cells for pair in zip(AXES, plain, strict=True) for cells in pair] * MERGE_BATCH_AXES
    every = [limits for limits in LIMITS for _ in range(2)] * MERGE_BATCH_AXES
    united = unite_all(batch, every)
    for cells, limits, found in zip(batch, every, united, strict=True):
        alone = cells.unite(limits)
        assert found.is_stepped == alone.is_stepped == cells.is_stepped
        assert found.grid == alone.grid
        for name in SUMS:
            np.testing.assert_array_equal(getattr(found, name), getattr(alone, name))
