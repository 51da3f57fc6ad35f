"""Bins of their own, and bins between them."""

import numpy as np

from rhale.effects.binning.adaptive import Adaptive
from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.gaps import BetweenStretches, find_point_masses, join_cuts
from rhale.effects.binning.moments import measure_moments
from rhale.effects.binning.partition import Cuts


def axis_with(*piles, n=200, weight=100.0):
    """Values 0, 1, 2, ..., n with one row each, and piles at some of them."""
    values = np.arange(n + 1.0)
    held = np.where(np.isin(values, piles), weight, 1.0)
    return FeatureAxis(0.0, float(n), values, held, float(held.sum()))


def test_every_stretch_is_a_bin_and_the_rest_is_searched_by_itself():
    axis = axis_with(50)
    piles = find_point_masses(axis)
    x = np.repeat(axis.values, 3)
    d = np.where(x < 120, 1.0, 4.0) + 500.0 * ((x >= 45) & (x < 55))
    partition = BetweenStretches(Adaptive(), piles.as_reserved_intervals)
    cells = measure_moments(Grid(partition.candidates(axis)), x, d[None])
    cuts = partition(cells)
    assert cells.grid.edges[cuts.limits].tolist() == [0, 45, 50, 55, 119.5, 200]
    assert partition.closed == "left"
    assert cuts.is_searched
    assert not cuts.linear.any()
    assert cuts.noise.size == cells.grid.n_cells
    assert cuts.trust.size == 5


def test_the_spread_keeps_bins_of_its_own_between_piles():
    axis = axis_with(50)
    x = np.repeat(axis.values, 4)
    d = np.tile([1.0, -1.0, 1.0, -1.0], axis.values.size) * np.where(x < 120, 1.0, 9.0)
    partition = BetweenStretches(
        Adaptive(spread_bins="own"), find_point_masses(axis).as_reserved_intervals
    )
    cells = measure_moments(Grid(partition.candidates(axis)), x, d[None])
    found = cells.grid.edges[partition(cells).spread_limits]
    assert {0.0, 45.0, 50.0, 55.0, 200.0} <= set(found.tolist())
    assert np.any(np.abs(found - 119.5) <= 2)


def test_bins_of_parts_stand_in_a_row():
    plain = Cuts(np.array([0, 1, 3]), np.array([True, False]), ("a",))
    found = join_cuts([plain, plain], [0, 3, 6])
    assert found.limits.tolist() == [0, 1, 3, 4, 6]
    assert found.linear.tolist() == [True, False, True, False]
    assert found.notes == ("a",)
    assert found.trust.tolist() == [0.0] * 4
    assert found.noise.tolist() == [0.0] * 6
    assert found.spread_limits is None
    assert not found.is_searched


def test_a_part_without_rows_is_one_bin():
    axis = axis_with(50)
    partition = BetweenStretches(Adaptive(), find_point_masses(axis).as_reserved_intervals)
    x = np.arange(60.0)
    cells = measure_moments(
        Grid(np.array([0.0, 45.0, 50.0, 55.0, 100.0, 200.0])), x[x < 55], np.ones((1, 55))
    )
    assert partition(cells).limits[-2:].tolist() == [3, 5]


def test_joined_parts_follow_the_cells_of_each():
    """A part that pools its cells to two, and one that follows its three as they are."""
    pooled = Cuts(
        np.array([0, 4]), np.array([False]), (), np.ones(1), np.ones(2),
        is_searched=True, followed=np.array([0, 3, 4]),
    )  # fmt: skip
    plain = Cuts(np.array([0, 3]), np.array([True]))
    both = join_cuts([pooled, plain], [0, 4])
    assert both.limits.tolist() == [0, 4, 7]
    assert both.followed.tolist() == [0, 3, 4, 5, 6, 7]
    assert both.noise.tolist() == [1, 1, 0, 0, 0]
    assert both.trust.tolist() == [1, 0]
    assert both.is_searched
