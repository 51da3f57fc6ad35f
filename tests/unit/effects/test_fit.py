from dataclasses import replace

import numpy as np
import pytest

from rhale.effects.binning.adaptive import Adaptive
from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.fit import (
    FINE_CELLS,
    ModelCells,
    Unbinned,
    axis_of,
    bin_all,
    bin_cells,
    fine_grid,
    nearest_limits,
    stretch_jumps,
)
from rhale.effects.binning.moments import measure_moments
from rhale.effects.binning.optimal import Optimal
from rhale.effects.binning.partition import Edges, Fixed, Quantile
from rhale.effects.spread import RowSpread
from rhale.effects.staircase import Jump, Staircase
from rhale.errors import BadSettingError


def bin_alike(models, partition):
    """One effect of several models."""
    (made,) = bin_all([Unbinned("x", "y", models, partition)])
    return made


def axis(x):
    values, counts = np.unique(x, return_counts=True)
    return FeatureAxis(
        float(values[0]), float(values[-1]), values, counts.astype(float), float(x.size)
    )


FEATURES = {
    "uniform": np.random.default_rng(0).uniform(0, 1, 3000),
    "lognormal": np.random.default_rng(1).lognormal(0, 2, 3000),
    "unix times": 1.7e9 + np.random.default_rng(2).uniform(0, 1e6, 3000),
    "few values": np.repeat([0.0, 1.0, 5.0], 30),
    "tiny": 1e-9 * np.random.default_rng(3).normal(size=3000),
}


@pytest.mark.parametrize("partition", [Fixed(7), Optimal(100), Quantile(9), Edges([-1, 0.3, 2e9])])
@pytest.mark.parametrize("name", FEATURES)
def test_fine_cells_contain_every_candidate_exactly(name, partition):
    known = axis(FEATURES[name])
    candidates = partition.candidates(known)
    grid = fine_grid(known, candidates, "left")
    assert np.isin(candidates, grid.edges).all()
    assert (grid.edges[0], grid.edges[-1]) == (candidates.min(), candidates.max())
    assert grid.n_cells <= candidates.size + 2 * FINE_CELLS


@pytest.mark.parametrize("name", FEATURES)
def test_fine_cells_follow_the_axis_and_the_rows(name):
    """However coarse the bins, there are limits every hundredth of the axis and of the rows."""
    known = axis(FEATURES[name])
    grid = fine_grid(known, Fixed(2).candidates(known), "left")
    span = known.high - known.low
    assert grid.widths.max() <= span / FINE_CELLS * (1 + 1e-6)
    if known.values.size > 1000:
        counts = np.histogram(FEATURES[name], grid.edges)[0]
        assert counts.max() <= 2 * FEATURES[name].size / FINE_CELLS


def test_no_two_additional_limits_differ_by_rounding_only():
    x = np.linspace(0, 1, 101)  # quantiles of these are the equal limits, but for rounding
    grid = fine_grid(axis(x), Fixed(10).candidates(axis(x)), "left")
    assert grid.widths.min() > 1e-9
    assert grid.n_cells == FINE_CELLS


def test_fine_cells_keep_the_side_that_is_closed_and_survive_one_value():
    assert fine_grid(axis(FEATURES["uniform"]), np.array([0.0, 1.0]), "right").closed == "right"
    assert fine_grid(axis(np.array([3.0, 3.0])), np.array([3.0, 3.0]), "left").edges.tolist() == [
        3,
        3,
    ]


def cells(edges=(0, 1, 2, 3, 4), closed="left"):
    x = np.array([0.5, 0.6, 1.5, 1.6, 2.5, 2.6, 3.5, 3.6])
    d = np.array([1.0, 1.0, 1.0, 1.0, 5.0, 5.0, 5.0, 5.0])
    return measure_moments(Grid(np.array(edges, dtype=float), closed), x, d)


def test_a_partition_chooses_among_the_limits_of_cells():
    effect = bin_cells("x", "y", cells(), Optimal(4, min_points=2))
    assert effect.edges.tolist() == [0.0, 2.0, 4.0]
    assert effect.mean.tolist() == [1.0, 5.0]
    assert effect.notes == ()


def test_the_names_are_carried():
    effect = bin_cells("age", "y", cells(), Fixed(2))
    assert (effect.name, effect.output, effect.notes) == ("age", "y", ())


def test_limits_move_to_those_of_cells_and_the_note_says_how_far():
    effect = bin_cells("x", "y", cells(), Edges([0, 1.4, 4]))
    assert effect.edges.tolist() == [0.0, 1.0, 4.0]
    assert effect.notes == ("1 of 3 limits moved to the nearest limits of cells, by at most 0.4",)


def test_a_limit_half_way_moves_left_and_rounding_is_no_move():
    found, notes = nearest_limits(Grid(np.arange(5.0)), np.array([0.0, 1.5, 3 + 1e-12, 4.0]))
    assert found.tolist() == [0, 1, 3, 4]
    assert len(notes) == 1
    assert "1 of 4 limits" in notes[0]
    found, notes = nearest_limits(Grid(np.arange(5.0)), np.array([0.0, 3 + 1e-12, 4.0]))
    assert (found.tolist(), notes) == ([0, 3, 4], ())


def test_limits_that_move_to_the_same_place_become_one():
    effect = bin_cells("x", "y", cells(), Edges([0, 1.9, 2.0, 2.1, 4]))
    assert effect.edges.tolist() == [0.0, 2.0, 4.0]


def test_bins_narrower_than_the_cells_use_the_rows_between():
    effect = bin_cells("x", "y", cells(), Edges([1, 2, 3]))
    assert effect.edges.tolist() == [1.0, 2.0, 3.0]
    assert effect.count.tolist() == [2, 2]
    assert effect.mean.tolist() == [1.0, 5.0]


def test_bins_outside_the_cells_are_refused():
    with pytest.raises(BadSettingError, match=r"outside the cells \[0, 4\]"):
        bin_cells("x", "y", cells(), Edges([10, 11]))


def test_bins_closed_on_the_other_side_are_refused():
    with pytest.raises(BadSettingError, match="'x' are closed on the right"):
        bin_cells("x", "y", cells(closed="right"), Fixed(2))


def test_one_cell_is_one_bin_whatever_is_asked():
    single = measure_moments(Grid(np.array([0.0, 1.0])), np.array([0.5, 0.6]), np.array([1.0, 2.0]))
    assert bin_cells("x", "y", single, Fixed(5)).edges.tolist() == [0.0, 1.0]


def test_the_axis_of_cells_knows_range_rows_and_weight():
    x, w = np.array([0.2, 0.4, 2.5]), np.array([1.0, 1.0, 2.0])
    found = axis_of(measure_moments(Grid(np.array([0.0, 1.0, 2.0, 3.0])), x, x, w))
    assert (found.low, found.high) == (0.0, 3.0)
    np.testing.assert_allclose(found.values, [0.3, 2.5])
    assert found.weight.tolist() == [2.0, 2.0]
    np.testing.assert_allclose(found.rows, 16 / 6)


def test_three_series_choose_by_the_first():
    x = np.repeat(np.arange(4) + 0.5, 5)
    d = np.where(x < 2, 0.0, 1.0)
    other = np.where(x < 1, 0.0, 9.0)
    series = measure_moments(Grid(np.arange(5.0)), x, np.vstack([d, other, np.zeros(20)])).series(0)
    assert bin_cells("x", "y", series, Optimal(4)).edges.tolist() == [0.0, 2.0, 4.0]


def test_a_jump_lies_between_the_limits_around_it():
    limits = np.arange(11.0)
    found = stretch_jumps(limits, [Jump(2.5, 2.5, 1.0), Jump(7.0, 7.0, 1.0)])
    np.testing.assert_array_equal(
        found.ends, [[2, 3], [6, 8]]
    )  # a limit at a jump is on neither side


def test_jumps_that_share_a_stretch_share_a_bin():
    limits = np.arange(11.0)
    found = stretch_jumps(limits, [Jump(2.2, 2.3, 1.0), Jump(2.7, 3.4, 1.0), Jump(9.5, 10.0, 1.0)])
    np.testing.assert_array_equal(found.ends, [[2, 4], [9, 10]])
    assert stretch_jumps(limits, []).ends.shape == (0, 2)


def spread_between(places, deviations):
    """Increments between places that deviate by so much, and have nothing to do with each other."""
    places, last = np.array(places), len(places) - 1
    return RowSpread(
        places=places,
        shares=np.full(last + 1, 1 / (last + 1)),
        covariance=np.diag(np.array(deviations) ** 2),
        error=0.0,
        first=np.zeros(last + 1, dtype=int),
        last=np.full(last + 1, last),
        x=np.empty(0),
        rows=np.empty((0, last)),
    )


def bin_model(moments, stairs, spread, edges):
    model = ModelCells(replace(moments, is_stepped=True), stairs, spread)
    (((made,)),) = bin_all([Unbinned("x", "y", [model], Edges(edges))])
    return made


def along_stairs(deviation, differ=0.3, spread=None, edges=(0, 1, 2, 3, 4)):
    """One jump of 2 at 1.5, which rows `differ` about; their slopes differ by ± `deviation`."""
    x = np.linspace(0, 4, 400)
    slopes = deviation * np.where(np.arange(400) % 2 == 0, 1.0, -1.0)
    moments = measure_moments(Grid(np.linspace(0, 4, 41)), x, slopes)
    near, signs = 0.1, np.where(np.arange(32) % 2 == 0, 1.0, -1.0)
    share = np.mean(x >= 1.5)
    stairs = Staircase(
        places=np.array([1.5]),
        jumps=np.array([2.0]),
        near_shares=np.array([near]),
        row_shares=np.array([1 - share, share]),
        influence=differ / np.sqrt(32 * near * 400) * signs[:, None],
        drawn=np.zeros((2, 32)),
        group_shares=np.full(32, 1 / 32),
        low=0.0,
        high=4.0,
    )
    return bin_model(moments, stairs, spread, edges)


def test_bins_along_stairs_add_up_to_them():
    effect = along_stairs(0.0)
    np.testing.assert_allclose(effect.mean, [0, 2, 0, 0])
    np.testing.assert_allclose(effect.level, effect.mean)
    np.testing.assert_array_equal(effect.slope, 0.0)
    np.testing.assert_allclose(effect.standard_error, [0, 0.3 / np.sqrt(0.1 * 400), 0, 0])


@pytest.mark.parametrize("edges", [(0, 1, 2, 3, 4), (0, 1.4, 1.6, 3, 4)])
def test_a_bin_deviates_as_the_secants_of_rows_over_it_whatever_their_slopes_do(edges):
    """Between places 1.2 and 2 rows differ by 3, at the one threshold there is, 1.5."""
    effect = along_stairs(5.0, spread=spread_between([0, 1.2, 2, 4], [0, 3, 0]), edges=edges)
    np.testing.assert_allclose(effect.std, [0, 3 / (edges[2] - edges[1]), 0, 0])
    np.testing.assert_array_equal(effect.std_plain, effect.std)
    np.testing.assert_allclose(effect.spread([1.6, 3.9], center="start"), 3.0)
    assert effect.spread(1.4, center="start") == 0.0


def test_secants_over_bins_add_up_increments_and_parts_of_them():
    """Without a staircase an increment is even between its places: halves of 4 and of 3 in [1, 2]."""
    x = np.linspace(0, 4, 400)
    moments = measure_moments(Grid(np.linspace(0, 4, 41)), x, np.zeros(400))
    spread = spread_between([0.5, 1.5, 2.5, 4.0], [4.0, 3.0, 0.0])
    effect = bin_model(moments, None, spread, [0, 1, 2, 4])
    np.testing.assert_allclose(effect.std, [2.0, np.sqrt(4 + 2.25), 1.5 / 2])


def test_a_limit_inside_a_jump_leaves_each_bin_what_rows_differ_in_it():
    """Steps of 1 at 1.48 and 1.52, which rows differ by .3 and by .6 about, and a limit between."""
    x = np.linspace(0, 4, 400)
    moments = measure_moments(Grid(np.linspace(0, 4, 41)), x, np.zeros(400))
    near, signs = np.full(2, 0.1), np.where(np.arange(32) % 2 == 0, 1.0, -1.0)
    count = np.bincount(np.searchsorted([1.48, 1.52], x, "right"))
    stairs = Staircase(
        places=np.array([1.48, 1.52]),
        jumps=np.ones(2),
        near_shares=near,
        row_shares=count / 400,
        influence=np.outer(signs, np.array([0.3, 0.6]) / np.sqrt(32 * 0.1 * 400)),
        drawn=np.zeros((2, 32)),
        group_shares=np.full(32, 1 / 32),
        low=0.0,
        high=4.0,
    )
    effect = bin_model(
        moments, stairs, spread_between([0, 1.2, 2, 4], [0, 0.9, 0]), [0, 1, 1.5, 2, 4]
    )
    np.testing.assert_allclose(effect.std, [0, 0.3 / 0.5, 0.6 / 0.5, 0])


def several_models(*jumps, n_rows=2_000):
    """Cells of models whose effect jumps from 0 to 1 at different places, on the same rows."""
    rng = np.random.default_rng(5)
    x, noise = np.sort(rng.uniform(0, 1, n_rows)), rng.normal(0, 0.2, n_rows)
    grid = fine_grid(axis(x), Adaptive().candidates(axis(x)), "left")
    return [ModelCells(measure_moments(grid, x, (x > jump) + noise)) for jump in jumps]


@pytest.mark.parametrize("partition", [Adaptive(), Optimal(20), Fixed(7), Quantile(5)])
def test_copies_of_one_model_have_its_bins(partition):
    (one,) = several_models(0.4)
    alone = bin_cells("x", "y", one.cells, partition)
    alike = bin_alike([one] * 5, partition)
    assert all(np.array_equal(effect.edges, alone.edges) for effect in alike)
    np.testing.assert_allclose([effect.mean for effect in alike], [alone.mean] * 5, rtol=1e-12)


def test_models_that_jump_at_two_places_have_the_limits_of_both():
    first, second = bin_alike(several_models(0.3, 0.7), Adaptive())
    assert np.array_equal(first.edges, second.edges)
    for jump in (0.3, 0.7):
        assert np.abs(first.edges - jump).min() < 0.01
    assert first.mean[first.edges[:-1] >= 0.35] == pytest.approx(1, abs=0.05)
    assert second.mean[second.edges[1:] <= 0.65] == pytest.approx(0, abs=0.05)


def test_the_order_of_the_models_does_not_move_limits():
    models = several_models(0.2, 0.5, 0.6)
    forth, back = (bin_alike(order, Adaptive()) for order in (models, models[::-1]))
    for one, other in zip(forth, back[::-1], strict=True):
        np.testing.assert_allclose(one.edges, other.edges)
        np.testing.assert_allclose(one.mean, other.mean)
