from dataclasses import replace

import numpy as np
import pytest

from rhale.effects.binning.gaps import Crossings, Gaps
from rhale.effects.curve import (
    CURVE_BLOCK_ROWS,
    BinFits,
    CellMeans,
    RowEnds,
    RowPlaces,
    accumulate_spread,
    build_fit_from_bins,
    fill_gaps,
    known_center,
    middles,
    scatter_rows,
)
from rhale.effects.variance import Uncertainty, bridge_levels
from rhale.errors import BadSettingError

NAN = np.nan


class Fitted:
    """A fit with its doubt; rows are spread evenly over bins of equal share unless told otherwise."""

    def __init__(self, edges, level, slope, origin, variance, slope_variance, rows):
        edges, level = np.asarray(edges, dtype=float), np.asarray(level, dtype=float)
        zero, known = np.zeros(level.size), np.isfinite(level)
        origin = middles(edges) if origin is None else np.asarray(origin, dtype=float)
        slope = zero if slope is None else np.asarray(slope, dtype=float)
        share = np.asarray(rows.get("share", np.full(level.size, 1 / level.size)))
        middle = np.asarray(rows.get("centre", middles(edges)))
        scatter = np.asarray(rows.get("scatter", np.diff(edges) / np.sqrt(12)))
        places = scatter_rows(middle, scatter, share)
        bins = BinFits(edges, origin, np.nan_to_num(level), slope, edges[:-1], edges[1:])
        bins = replace(bins, level=bridge_levels(bins, known))
        self.fit = build_fit_from_bins(bins, None, places)
        variance = zero + 1 if variance is None else np.asarray(variance, dtype=float)
        variance = np.where(known, fill_gaps(variance, middles(edges)), 0.0)
        slope_variance = zero if slope_variance is None else np.asarray(slope_variance, dtype=float)
        self.doubt = Uncertainty(
            fit=self.fit,
            bins=bins,
            measured=known,
            level_variance=variance,
            slope_variance=slope_variance,
            covariance=zero,
            degrees=np.full(level.size, 10.0),
            cells=None,
            n_rows=np.inf,
            search=1.0,
        )

    def curve(self, x, center):
        return self.fit.curve(x, center)

    def variance(self, x, center):
        return self.doubt.of_curve(x, center).variance

    def importance(self):
        return self.fit.importance(), np.sqrt(self.doubt.of_importance())


def fit(edges, level, slope=None, *, origin=None, variance=None, slope_variance=None, **rows):
    return Fitted(edges, level, slope, origin, variance, slope_variance, rows)


def at(*x):
    return np.array(x, dtype=float)


def test_constant_bins_give_a_broken_line():
    curve = fit([0, 1, 3], [2, -1]).curve(at(0, 0.5, 1, 2, 3), "start")
    np.testing.assert_allclose(curve, [0, 1, 2, 1, 0])


def test_a_linear_bin_gives_a_parabola():
    """mu(z) = 4 z on [0, 2], written around the mean of x at 0.5: level 2, slope 4."""
    curve = fit([0, 2], [2], [4], origin=[0.5]).curve(at(0, 1, 2), "start")
    np.testing.assert_allclose(curve, [0, 2, 8])


def test_uniform_centring_subtracts_the_average_over_x():
    """The curve from 0 is 2x then 2: its average over [0, 2] is (1 + 2) / 2."""
    curve = fit([0, 1, 2], [2, 0], share=[0.9, 0.1]).curve(at(0, 2), "uniform")
    np.testing.assert_allclose(curve, [-1.5, 0.5])


def test_mean_centring_weighs_bins_by_their_share():
    curve = fit([0, 1, 2], [2, 0], share=[0.9, 0.1]).curve(at(0, 2), "mean")
    level = 0.9 * 1 + 0.1 * 2
    np.testing.assert_allclose(curve, [-level, 2 - level])


def test_mean_centring_reads_the_curve_where_the_rows_are():
    """Rows of the first bin lie around 0.25: its average of 2x is a half."""
    curve = fit([0, 1, 2], [2, 0], centre=[0.25, 1.9], scatter=[0.1, 0.05]).curve(at(0, 2), "mean")
    level = (0.5 + 2) / 2
    np.testing.assert_allclose(curve, [-level, 2 - level])


def test_mean_centring_of_a_parabola_knows_how_rows_scatter():
    """The curve is z² + 2z + 1 from -1; rows have mean 0.5 and deviation 0.1."""
    curve = fit([-1, 1], [2], [2], centre=[0.5], scatter=[0.1]).curve(at(-1), "mean")
    np.testing.assert_allclose(curve, -(0.25 + 0.01 + 1 + 1))


def test_importance_follows_the_rows():
    """A line of slope 3, rows with deviation 0.1."""
    size, error = fit([0, 2], [3], variance=[4], centre=[0.3], scatter=[0.1]).importance()
    np.testing.assert_allclose((size, error), (0.3, 0.2))


def test_an_empty_bin_is_bridged_by_its_neighbours():
    """Its middle is 1.5; 1 is read at 0.5, and 6 no farther than half an empty bin away, at 2.5."""
    gap = fit([0, 1, 2, 4], [1, NAN, 6])
    np.testing.assert_allclose(gap.curve(at(1, 1.5, 2, 4), "start"), [1, 2.75, 4.5, 16.5])


def test_two_empty_bins_lie_on_one_line():
    """1 at 0.5 and 7 at 3.5: 3 at 1.5 and 5 at 2.5."""
    gap = fit([0, 1, 2, 3, 4], [1, NAN, NAN, 7])
    np.testing.assert_allclose(gap.curve(at(1, 2, 3, 4), "start"), [1, 4, 9, 16])


def test_a_wide_linear_neighbour_answers_with_its_near_end():
    """The line 2 z on [0, 9] is read at 8.5, half of the empty bin [9, 10] away: 17; then 3."""
    gap = fit([0, 9, 10, 11], [9, NAN, 3], [2, 0, 0])
    rise = gap.curve(at(9, 10), "start")
    np.testing.assert_allclose(np.diff(rise), [(17 + 3) / 2])
    doubt = fit([0, 9, 10], [9, NAN], [2, 0], variance=[0, NAN], slope_variance=[4, 0])
    np.testing.assert_allclose(doubt.variance(at(10), "start"), [4 * 4.0**2])


def test_an_empty_bin_at_an_end_takes_its_neighbour():
    np.testing.assert_allclose(fit([0, 1, 2], [NAN, 3]).curve(at(1, 2), "start"), [3, 6])


def test_a_linear_neighbour_lends_its_value_in_the_middle():
    """The line is 2 + 4 (z - 0.25): 3 at the middle 0.5 of its bin."""
    found = fit([0, 1, 2], [2, NAN], [4, 0], origin=[0.25, 1.5]).curve(at(1, 2), "start")
    np.testing.assert_allclose(found, [3, 6])


def test_without_any_rows_the_curve_is_flat_and_certain():
    nothing = fit([0, 1], [NAN], variance=[NAN])
    assert nothing.curve(at(0.5), "mean").tolist() == [0.0]
    assert nothing.importance() == (0.0, 0.0)


def test_outside_the_bins_the_outermost_ones_go_on():
    found = fit([0, 1, 3], [5, -2], variance=[4, 9])
    np.testing.assert_allclose(found.curve(at(-0.1, 3.5), "start"), [-0.5, 5 - 4 - 1])
    np.testing.assert_allclose(found.variance(at(-0.1, 3.5), "start"), [0.04, 4 + 9 * 2.5**2])
    assert np.isnan(found.curve(at(NAN), "mean")).all()


def test_variances_add_up_along_the_curve():
    found = fit([0, 1, 3], [5, 5], variance=[4, 9]).variance(at(0, 0.5, 1, 2, 3), "start")
    np.testing.assert_allclose(found, [0, 1, 4, 4 + 9, 4 + 4 * 9])


def test_the_variance_of_a_slope_counts_by_its_lever():
    """On [0, 2] around 1 a slope adds ((x - 1)² - 1) / 2: -1/2 at the middle, nothing at the end."""
    found = fit([0, 2], [1], [1], variance=[0], slope_variance=[4]).variance(at(1, 2), "start")
    np.testing.assert_allclose(found, [1, 0])


def test_centring_spreads_the_variance():
    """One bin [0, 1], equal rows: the centred curve is level (x - 1/2)."""
    found = fit([0, 1], [1], variance=[4]).variance(at(0, 0.5, 1), "uniform")
    np.testing.assert_allclose(found, [1, 0, 1], atol=1e-15)


def test_a_bridged_bin_takes_its_variance_from_its_neighbours():
    """The gap's effect is half of each neighbour's; both levels have variance 1."""
    found = fit([0, 1, 2, 3], [1, NAN, 1], variance=[1, NAN, 1]).variance(at(2, 3), "start")
    np.testing.assert_allclose(found, [1.5**2 + 0.5**2, 1.5**2 + 1.5**2])


def test_an_unknown_variance_is_bridged_too():
    """One row in the middle bin: its error is guessed from bins on both sides."""
    found = fit([0, 1, 2, 3], [1, 1, 1], variance=[2, NAN, 4]).variance(at(3), "start")
    np.testing.assert_allclose(found, [2 + 3 + 4])


def test_an_unknown_variance_everywhere_stays_unknown():
    assert np.isnan(fit([0, 1], [1], variance=[NAN]).variance(at(1), "start")).all()


def test_importance_of_a_straight_line_over_one_bin():
    """A line of slope 3 over [0, 2]: deviation of a uniform x is 2 / sqrt(12)."""
    size, error = fit([0, 2], [3], variance=[4]).importance()
    np.testing.assert_allclose(size, 3 * 2 / np.sqrt(12))
    np.testing.assert_allclose(error, 2 * 2 / np.sqrt(12))


def test_importance_of_a_parabola_over_one_bin():
    """2 z integrates to z² on [-1, 1]: E z⁴ - (E z²)² = 1/5 - 1/9."""
    size, error = fit([-1, 1], [0], [2], variance=[0], slope_variance=[1]).importance()
    np.testing.assert_allclose(size, np.sqrt(1 / 5 - 1 / 9))
    np.testing.assert_allclose(error, size / 2)


def test_no_effect_has_no_importance_and_no_error():
    assert fit([0, 1, 2], [0, 0]).importance() == (0.0, 0.0)


def test_blocks_of_points_are_read_alike():
    x = np.linspace(0, 3, CURVE_BLOCK_ROWS + 1000)
    curve = fit([0, 1, 3], [2, -1])
    np.testing.assert_allclose(
        curve.curve(x, "start"), np.interp(x, [0, 1, 3], [0, 2, 0]), atol=1e-12
    )
    spread = accumulate_spread(at(0, 1, 3), at(1, 2), x, squared=False)
    np.testing.assert_allclose(spread, np.interp(x, [0, 1, 3], [0, 1, 5]), atol=1e-12)


def test_one_value_has_a_curve_of_one_point():
    found = fit([3, 3], [NAN], variance=[NAN])
    for center in ("mean", "start", "uniform"):
        assert found.curve(at(3), center).tolist() == [0.0]


@pytest.mark.parametrize("read", ["curve", "variance"])
def test_an_unknown_centre_is_refused(read):
    with pytest.raises(BadSettingError, match="center='median' is not known; use one of mean"):
        getattr(fit([0, 1], [1]), read)(at(0.5), "median")


def test_known_centres_are_known():
    for center in ("mean", "start", "uniform"):
        known_center(center)


def test_fill_gaps_replaces_nan_only():
    assert fill_gaps(at(1, NAN, 3), at(0, 1, 4)).tolist() == [1.0, 1.5, 3.0]
    assert fill_gaps(at(1, 2), at(0, 1)).tolist() == [1.0, 2.0]
    assert np.isnan(fill_gaps(at(NAN, NAN), at(0, 1))).all()


def test_spread_accumulates_from_the_first_edge():
    edges, std, x = at(0, 1, 3), at(2, 1), at(0, 0.5, 1, 3)
    plain = accumulate_spread(edges, std, x, squared=False)
    squared = accumulate_spread(edges, std, x, squared=True)
    np.testing.assert_allclose(plain, [0, 1, 2, 4])
    np.testing.assert_allclose(squared, [0, 1, 2, np.sqrt(8)])


def test_spread_bridges_bins_whose_std_is_unknown():
    found = accumulate_spread(at(0, 1, 2, 3), at(1, NAN, 3), at(3), squared=False)
    assert found.tolist() == [6.0]


def test_spread_goes_on_outside_and_is_undefined_where_no_bin_has_one():
    found = accumulate_spread(at(0, 1, 2), at(3, 5), at(-0.5, 2.5), squared=False)
    np.testing.assert_allclose(found, [-1.5, 3 + 7.5])
    assert np.isnan(accumulate_spread(at(0, 1), at(NAN), at(0.5), squared=True)).all()


ONE_ROW = RowPlaces(np.zeros(1), np.ones(1))


def test_a_line_is_not_read_beyond_its_rows():
    """2 (z - 3) between rows at 2 and 4 of [0, 10]: -2 before, 2 behind."""
    bins = BinFits(at(0, 10), at(3), at(0), at(2), at(2), at(4))
    found = build_fit_from_bins(bins, None, ONE_ROW)
    assert found.edges.tolist() == [0.0, 2.0, 4.0, 10.0]
    assert found.is_flat.tolist() == [True, False, True]
    np.testing.assert_allclose(found.curve(at(0, 2, 3, 4, 10), "start"), [0, -4, -5, -4, 8])


def test_a_constant_needs_no_ends_and_full_bins_stay_whole():
    bins = BinFits(at(0, 4, 6), at(3, 5), at(1, 2), at(0, 3), at(2, 4), at(3.5, 6))
    found = build_fit_from_bins(bins, None, ONE_ROW)
    assert found.edges.tolist() == [0.0, 4.0, 6.0]
    assert found.bin.tolist() == [0, 1]


def test_a_line_may_reach_a_tenth_of_its_rows_beyond_them():
    """Rows from 1 to 3: 2 wide, so a limit .2 away is read, one .3 away is not."""
    ends = RowEnds(at(2), at(1), at(3))
    bins = BinFits.of(at(0.8, 3.3), at(0), at(1), ends)
    assert (bins.low.tolist(), bins.high.tolist()) == ([0.8], [3.0])


def test_cells_beyond_the_rows_of_their_bin_are_flat():
    """Rows of [0, 4] end at 2: the empty cell [2, 4] has the line's value there, and no slope."""
    cells = CellMeans(
        bin=np.array([0, 0, 0]),
        left=at(0, 1, 2),
        right=at(1, 2, 4),
        weight=at(2, 2, 0),
        mean_x=at(0.5, 1.5, 3),
        std_x=at(0.1, 0.1, 0),
        residual=at(1, -1, -1),
        error=at(1, 1, NAN),
        trust=at(0.5, 0.5, 0.5),
    )
    bins = BinFits(at(0, 4), at(1), at(10), at(4), at(0.2), at(2))
    found = build_fit_from_bins(bins, cells, ONE_ROW)
    assert found.edges.tolist() == [0.0, 1.0, 2.0, 4.0]
    np.testing.assert_allclose(found.level, [10 - 2 + 0.5, 10 + 2 - 0.5, 10 + 4 - 0.5])
    assert found.slope.tolist() == [4.0, 4.0, 0.0]


def test_what_a_gap_hides_moves_the_curve_behind_it():
    """A variance of 3 in the gap [1, 3]: over half of it 3, over all of it 12."""
    bins = BinFits(at(0, 4), at(2), at(1), at(0), at(0), at(4))
    hidden = Gaps(at(1), at(3), at(3))
    doubt = replace(
        fit([0, 4], [1], variance=[0]).doubt, fit=build_fit_from_bins(bins, None, ONE_ROW, hidden)
    )
    found = doubt.of_curve(at(0.5, 2, 3, 4), "start")
    np.testing.assert_allclose(found.variance, [0, 3, 12, 12])
    assert np.all(np.isinf(found.degrees))
    np.testing.assert_allclose(doubt.of_changes(at(0, 2), at(4, 3)).variance, [12, 3])


def test_degrees_of_freedom_are_those_of_satterthwaite():
    """Variances 1 and 4 with 10 degrees each: 25 / (1 / 10 + 16 / 10)."""
    found = fit([0, 1, 2], [1, 1], variance=[1, 4]).doubt.of_curve(at(1, 2), "start")
    np.testing.assert_allclose(found.degrees, [10, 25 / 1.7])


def test_a_searched_fit_is_less_sure_and_so_is_a_centre_over_drawn_rows():
    """A line of slope 3 over even rows on [0, 2]: its mean over n rows varies by 9 (4 / 12) / n."""
    one = fit([0, 2], [3], variance=[4])
    searched = replace(one.doubt, search=1.5, n_rows=50.0)
    np.testing.assert_allclose(searched.of_curve(at(2), "start").variance, 1.5 * 16)
    np.testing.assert_allclose(searched.of_curve(at(2), "mean").variance, 1.5 * 4 + 3 / 50)


def crossed(covariance=((0.04, 0.01), (0.01, 0.02)), far=6.0):
    """Two bins of slopes 1 and 3 with rows from 0 to 2 and beyond 6; rows were moved across 1-2-6."""
    made = Fitted([0.0, 4.0, far + 2], [1.0, 3.0], None, None, None, None, {})
    asked = Crossings(
        left=np.array([1.0, 2.0]),
        right=np.array([2.0, far]),
        rise=np.array([0.5, -7.0]),
        covariance=np.array(covariance),
        empty=np.array([1]),
    )
    fit = replace(made.fit, asked=asked)
    return fit, replace(made.doubt, fit=fit)


def test_across_a_gap_the_curve_is_what_rows_say_and_beside_it_keeps_its_shape():
    fit, _ = crossed()
    found = fit.curve(np.array([0.0, 1, 1.5, 2, 4, 6, 7, 8]), "start")
    np.testing.assert_allclose(found, [0, 1, 1.25, 1.5, -2, -5.5, -2.5, 0.5], atol=1e-14)
    bent = replace(fit, slope=np.array([2.0, 0.0]))  # levels in the middles: 1 + 2 (z - 2)
    np.testing.assert_allclose(
        bent.curve(np.array([0.0, 1, 2]), "start"), [0, -2, -1.5], atol=1e-14
    )
    inside = bent.curve(np.array([1.5]), "start")  # -2 on to half of .5, below its chord by 1/4
    np.testing.assert_allclose(inside, [-2 + 0.25 - 0.25], atol=1e-14)


@pytest.mark.parametrize("far", [1e15, 1e30, 1e150])
def test_a_gap_may_be_so_wide_that_nothing_else_is_left_beside_it(far):
    fit, _ = crossed(far=far)
    found = fit.curve(np.array([0.0, 1, 2, far]), "start")
    np.testing.assert_allclose(found, [0, 1, 1.5, -5.5], atol=1e-12)


@pytest.mark.parametrize("center", ["start", "mean", "uniform"])
def test_the_design_with_gaps_that_rows_crossed_is_that_of_the_curve(center):
    fit, doubt = crossed()
    x = np.array([0.0, 0.7, 1.4, 2.0, 3.0, 4.5, 6.0, 7.3])
    design = fit.design(x, center)
    asked = fit.asked.rise
    drawn = design.levels @ fit.level + design.slopes @ fit.slope + design.hidden @ asked
    np.testing.assert_allclose(drawn, fit.curve(x, center), atol=1e-12)
    shares = np.zeros((x.size, 2))
    for k in range(2):  # bump one level: what the curve moves by is its weight
        moved = replace(fit, level=fit.level + np.eye(2)[k])
        shares[:, k] = moved.curve(x, center) - fit.curve(x, center)
    rises = np.column_stack(
        [
            replace(fit, asked=fit.asked._replace(rise=asked + np.eye(2)[k])).curve(x, center)
            - fit.curve(x, center)
            for k in range(2)
        ]
    )
    covariance = fit.asked.covariance
    expected = (shares**2).sum(axis=1) + np.einsum("ij,jk,ik->i", rises, covariance, rises)
    np.testing.assert_allclose(doubt.of_maps(design).variance, expected, atol=1e-12)
