"""The curve, its centring, its uncertainty and its size, each computed another way."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.strategies import filled_bins, generators

import rhale
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.fit import fit_effect
from rhale.effects.binning.gaps import NO_GAPS
from rhale.effects.binning.moments import measure_moments
from rhale.effects.binning.partition import Cuts

CENTERS = ("mean", "start", "uniform")
centers = st.sampled_from(CENTERS)


def effect_of(edges, rows, linear=None):
    """Bins as given; some of them linear."""
    straight = np.zeros(edges.size - 1, dtype=bool) if linear is None else linear
    cells = measure_moments(Grid(edges), rows.x, rows.d, rows.weights)
    return fit_effect("x", "y", cells, Cuts(np.arange(edges.size), straight))


def effects(*, linear=True):
    """Effects with constant and linear bins, and some bins without rows."""
    return effects_and_rows(linear=linear).map(lambda pair: pair[0])


@st.composite
def effects_and_rows(draw, *, linear=True):
    edges, rows = draw(filled_bins(least_rows=4))
    rng = draw(generators)
    straight = rng.random(edges.size - 1) < 0.5 if linear else None
    if edges.size > 3 and draw(st.booleans()):
        k = int(rng.integers(1, edges.size - 2))
        rows = rows.take((rows.x < edges[k]) | (rows.x >= edges[k + 1]))
        if linear:
            straight[k] = False
    return effect_of(edges, rows, straight), rows


def fine(effect, per_bin=2001):
    """Midpoints of fine steps inside every bin, shape (n_bins, per_bin)."""
    step = (np.arange(per_bin) + 0.5) / per_bin
    return effect.edges[:-1, None] + np.diff(effect.edges)[:, None] * step


@given(effects(), centers)
def test_the_curve_is_continuous(effect, center):
    inner, size = effect.edges[1:-1], np.nanmax(np.abs(effect.mean)) + 1
    left, right = (
        effect.curve(inner - 1e-9, center=center),
        effect.curve(inner + 1e-9, center=center),
    )
    np.testing.assert_allclose(left, right, atol=1e-6 * size)


@given(effects(linear=False))
def test_the_derivative_of_the_curve_in_a_bin_is_its_mean(effect):
    a = effect.edges[:-1] + 0.2 * np.diff(effect.edges)
    b = effect.edges[:-1] + 0.8 * np.diff(effect.edges)
    slope = (effect.curve(b) - effect.curve(a)) / (b - a)
    np.testing.assert_allclose(slope, effect.mean, rtol=1e-9, atol=1e-9)


@given(effects())
def test_the_curve_adds_up_over_bins(effect):
    """Whatever the fit, a bin adds its mean times its width."""
    expected = np.append(0.0, np.cumsum(effect.mean * np.diff(effect.edges)))
    found = effect.curve(effect.edges, center="start")
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@given(effects())
def test_a_linear_bin_follows_the_integral_of_its_line_between_its_rows(effect):
    for k in np.flatnonzero(effect.measured):
        low, origin = effect.low_x[k], effect.mean_x[k]
        x = np.linspace(low, effect.high_x[k], 7)
        line = (
            effect.level[k] * (x - low)
            + effect.slope[k] * ((x - origin) ** 2 - (low - origin) ** 2) / 2
        )
        found = effect.curve(x, center="start") - effect.curve(low, center="start")
        np.testing.assert_allclose(found, line, rtol=1e-8, atol=1e-8)


@given(effects())
def test_no_bin_rises_faster_than_its_line_does_beside_its_rows(effect):
    """Not even where rows end far from its limits."""
    for k in np.flatnonzero(effect.measured):
        ends = np.array([effect.low_x[k], effect.high_x[k]])
        reach = 0.1 * np.ptp(ends) * np.array([-1.0, 1.0])
        line = effect.level[k] + effect.slope[k] * (ends + reach - effect.mean_x[k])
        slack = 1e-9 * (1 + np.abs(line).max())
        assert line.min() - slack <= effect.mean[k] <= line.max() + slack


@given(effects())
def test_spread_is_centred_as_the_curve_is(effect):
    """A row that differs by std everywhere has a curve that is off by the centred sum of it."""
    one_way = replace(effect, level=effect.level + effect.std, slope=np.zeros(effect.mean.size))
    plain = replace(effect, slope=np.zeros(effect.mean.size))
    x = fine(effect, 5).ravel()
    for center in CENTERS:
        gap = one_way.curve(x, center=center) - plain.curve(x, center=center)
        found = effect.spread(x, center=center)
        np.testing.assert_allclose(found, np.abs(gap), rtol=1e-8, atol=1e-8 * (1 + np.ptp(gap)))


@given(effects())
def test_start_is_zero_at_the_first_limit(effect):
    assert effect.curve(effect.edges[0], center="start") == 0.0


@given(effects())
def test_uniform_has_average_zero_over_x(effect):
    curve = effect.curve(fine(effect).ravel(), center="uniform").reshape(effect.mean.size, -1)
    average = np.average(curve.mean(axis=1), weights=np.diff(effect.edges))
    assert abs(average) <= 1e-5 * (1 + np.ptp(curve))


@given(effects_and_rows())
def test_mean_has_average_zero_over_the_rows(drawn):
    effect, rows = drawn
    curve = effect.curve(rows.x)
    assert abs(np.average(curve, weights=rows.w)) <= 1e-9 * (1 + np.ptp(curve))


def flat_ends(effect):
    """Whether a line ends before its bin: three places a bin are not exact then."""
    return bool(effect._fit.is_flat.any())


@given(effects())
def test_mean_over_bins_has_average_zero_over_bins_that_count_with_their_rows(effect):
    effect = replace(effect, density="bins")
    curve = effect.curve(fine(effect).ravel()).reshape(effect.mean.size, -1)
    average = np.average(curve.mean(axis=1), weights=effect.weight)
    assert abs(average) <= (1e-5 if not flat_ends(effect) else 0.05) * (1 + np.ptp(curve))


@given(effects(), centers, centers)
def test_conventions_differ_by_a_constant(effect, one, other):
    x = fine(effect, 9).ravel()
    gap = effect.curve(x, center=one) - effect.curve(x, center=other)
    np.testing.assert_allclose(gap, gap[0], atol=1e-9 * (1 + abs(gap[0])))


def with_empty_bins(effect, level, slope):
    """Levels of all bins, an empty one on the line between its neighbours.

    Each neighbour's fit is read at its own middle, or half of the empty bin beside it away from
    the limit they share if that is nearer, and where its line goes. No two bins beside each other
    are empty here.
    """
    edges, level, bins = effect.edges, level.copy(), effect._bin_fits
    middle, half = 0.5 * (edges[:-1] + edges[1:]), 0.5 * np.diff(edges)
    for k in np.flatnonzero(effect.count == 0):
        a, b = edges[k] - min(half[k - 1], half[k]), edges[k + 1] + min(half[k + 1], half[k])
        part = (middle[k] - a) / (b - a)
        a, b = min(a, bins.high[k - 1]), max(b, bins.low[k + 1])
        left = level[k - 1] + slope[k - 1] * (a - effect.mean_x[k - 1])
        right = level[k + 1] + slope[k + 1] * (b - effect.mean_x[k + 1])
        level[k] = left + (right - left) * part
    return level


@given(effects())
def test_an_empty_bin_lies_on_the_line_between_its_neighbours(effect):
    expected = with_empty_bins(effect, effect.level, effect.slope)
    np.testing.assert_allclose(effect.level, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(effect.measured, effect.count > 0)
    np.testing.assert_array_equal(effect.slope[~effect.measured], 0.0)
    assert np.all(np.isnan(effect.standard_error[~effect.measured]))


def linear_map(effect, x, center):
    """How the curve at x moves with each bin's level and slope: differences, it is linear."""
    base = effect.curve(x, center=center)
    levels, slopes = [], []
    for unit in np.eye(effect.mean.size):
        raised = with_empty_bins(effect, effect.level + unit, effect.slope)
        turned = with_empty_bins(effect, effect.level, effect.slope + unit)
        moved = replace(effect, level=raised)
        tilted = replace(effect, level=turned, slope=effect.slope + unit)
        levels.append(moved.curve(x, center=center) - base)
        slopes.append(tilted.curve(x, center=center) - base)
    return np.array(levels).T, np.array(slopes).T


@given(effects(), centers)
def test_the_interval_has_the_variance_of_the_linear_map(effect, center):
    """Level and slope of one cell a bin are independent; rows that centre it are a draw."""
    effect = replace(effect, gaps=NO_GAPS)
    x = np.append(fine(effect, 3).ravel(), effect.edges)
    # a constant bin has no slope to move, and a slope of zero no ends to flatten
    slope = np.where(effect.linear, effect.slope + 1e-3, 0.0)
    straight = replace(effect, slope=slope, level=with_empty_bins(effect, effect.level, slope))
    levels, slopes = linear_map(straight, x, center)
    variance = levels**2 @ np.nan_to_num(effect.level_error) ** 2
    variance += slopes**2 @ np.nan_to_num(effect.slope_error) ** 2
    if center == "mean":
        variance += effect.importance**2 / effect.total_rows
    found = effect._doubt.of_curve(x, center).variance
    np.testing.assert_allclose(np.sqrt(found), np.sqrt(variance), rtol=1e-5, atol=1e-7)
    low, high = effect.ci(x, center=center)
    np.testing.assert_allclose((high + low) / 2, effect.curve(x, center=center), atol=1e-9)


@given(filled_bins(least_rows=5))
def test_linear_bins_are_ordinary_least_squares(drawn):
    edges, rows = drawn
    rows = replace(rows, weights=None)
    effect = effect_of(edges, rows, np.ones(edges.size - 1, dtype=bool))
    for k, (low, high) in enumerate(pairwise(edges)):
        inside = (rows.x >= low) & ((rows.x < high) | (high == edges[-1]))
        x, d = rows.x[inside], rows.d[inside]
        design = np.column_stack([np.ones(x.size), x - x.mean()])
        answer, *_ = np.linalg.lstsq(design, d, rcond=None)
        variance = np.sum((d - design @ answer) ** 2) / (x.size - 2)
        errors = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
        found = effect.level[k], effect.slope[k], effect.std[k]
        np.testing.assert_allclose(found, (*answer, np.sqrt(variance)), rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(effect.level_error[k], errors[0], rtol=1e-6)
        np.testing.assert_allclose(effect.slope_error[k], errors[1], rtol=1e-6)
        np.testing.assert_allclose(effect.std_plain[k], d.std(ddof=1), rtol=1e-9)


@given(effects())
def test_spread_adds_up_std_times_width(effect):
    """Split bins of the same std change nothing: the plain sum does not see the number of bins."""
    middles = 0.5 * (effect.edges[:-1] + effect.edges[1:])
    std = np.interp(middles, middles[effect.measured], effect.std[effect.measured])
    np.testing.assert_allclose(effect.std, std, rtol=1e-12)
    for x in (*effect.edges, *fine(effect, 3).ravel()):
        covered = np.clip(x - effect.edges[:-1], 0, np.diff(effect.edges))
        found = effect.spread(x, center="start")
        np.testing.assert_allclose(found, covered @ std, rtol=1e-9, atol=1e-12)
        quadrature = np.sqrt(np.sum((covered * std) ** 2))
        found = effect.spread(x, center="start", accumulate="quadrature")
        np.testing.assert_allclose(found, quadrature, rtol=1e-9, atol=1e-12)


@given(effects(linear=False))
def test_the_sum_does_not_change_when_bins_are_split_and_the_quadrature_shrinks(effect):
    middles = 0.5 * (effect.edges[:-1] + effect.edges[1:])
    halves = {
        name: np.repeat(getattr(effect, name), 2)
        for name in (
            "count",
            "rows",
            "weight",
            "mean_x",
            "std_x",
            "low_x",
            "high_x",
            "level",
            "slope",
            "std",
            "std_plain",
        )
    }
    errors = {name: np.repeat(getattr(effect, name), 2) for name in ("level_error", "slope_error")}
    cut = np.sort(np.append(effect.edges, middles))
    split = replace(effect, edges=cut, fit_covariance=None, **halves, **errors)
    end = effect.edges[-1]
    sums, roots = (
        [e.spread(end, center="start", accumulate=way) for e in (split, effect)]
        for way in ("sum", "quadrature")
    )
    np.testing.assert_allclose(*sums, rtol=1e-12)
    ratio = roots[0] / roots[1]
    np.testing.assert_allclose(ratio, np.sqrt(0.5), rtol=1e-9)


@given(effects_and_rows(linear=False))
def test_importance_is_the_deviation_of_the_curve_over_the_rows(drawn):
    effect, rows = drawn
    curve = effect.curve(rows.x)
    size = np.sqrt(np.average((curve - np.average(curve, weights=rows.w)) ** 2, weights=rows.w))
    np.testing.assert_allclose(effect.importance, size, rtol=1e-9, atol=1e-12)


@given(effects(linear=False))
def test_importance_over_bins_is_the_deviation_of_the_curve_over_them(effect):
    effect = replace(effect, density="bins")
    curve = effect.curve(fine(effect).ravel(), center="start").reshape(effect.mean.size, -1)
    weights = np.repeat(effect.weight / curve.shape[1], curve.shape[1])
    average = np.average(curve.ravel(), weights=weights)
    size = np.sqrt(np.average((curve.ravel() - average) ** 2, weights=weights))
    np.testing.assert_allclose(effect.importance, size, rtol=1e-4, atol=1e-6)


@given(effects(), st.floats(0.05, 0.99))
def test_intervals_of_a_higher_level_contain_those_of_a_lower(effect, level):
    x = fine(effect, 3).ravel()
    (low, high), (lower, higher) = effect.ci(x, level=level), effect.ci(x, level=(1 + level) / 2)
    assert np.all(lower <= low)
    assert np.all(high <= higher)


@given(effects())
def test_outside_the_bins_the_curve_goes_on_as_straight_as_it_was(effect):
    low, high = effect.edges[[0, -1]]
    step = 0.1 * (high - low)
    for end, outwards in ((low, -step), (high, step)):
        value, first, second = effect.curve([end, end + outwards, end + 2 * outwards])
        bent = effect.slope[0 if outwards < 0 else -1] * step**2
        scale = abs(value) + abs(first) + abs(second)
        np.testing.assert_allclose(second - 2 * first + value, bent, atol=1e-9 * (1 + scale))


EDGES = np.array([0.0, 1.0, 1.5, 3.0, 4.0, 6.0])
LEVELS = np.array([1.0, -2.0, 0.5, 3.0, -1.0])
NOISE = np.array([1.0, 0.5, 2.0, 1.5, 1.0])


def simulated(n_runs, *, linear):
    """Effects of new rows and new noise; the effect over the population, without noise."""
    rng = np.random.default_rng(11)
    grid, cuts = Grid(EDGES), Cuts(np.arange(6), np.full(5, linear))

    def effect(x, noise):
        k = np.clip(np.searchsorted(EDGES, x, "right") - 1, 0, 4)
        mean = LEVELS[k] + (0.7 * x if linear else 0.0)
        return fit_effect(
            "x", "y", measure_moments(grid, x, mean + noise * rng.normal(0, NOISE[k])), cuts
        )

    runs = (effect(rng.uniform(0, 6, 400), 1.0) for _ in range(n_runs))
    return effect(np.linspace(0, 6, 60_001), 0.0), runs


@pytest.mark.parametrize("linear", [False, True])
def test_intervals_cover_the_truth_as_often_as_they_say(linear):
    truth, runs = simulated(800, linear=linear)
    x = np.array([0.4, 1.2, 2.0, 4.5, 6.0])
    true_curves = {center: truth.curve(x, center=center) for center in CENTERS}
    covered = {center: [] for center in CENTERS}
    for effect in runs:
        for center in CENTERS:
            low, high = effect.ci(x, center=center)
            covered[center].append((low <= true_curves[center]) & (true_curves[center] <= high))
    for center in CENTERS:
        rates = np.mean(covered[center], axis=0)
        assert np.all((rates > 0.925) & (rates < 0.975)), (center, rates)


def test_the_error_of_importance_is_its_deviation_over_repetitions():
    truth, runs = simulated(600, linear=False)
    found = np.array([(e.importance, e.importance_error) for e in runs])
    np.testing.assert_allclose(found[:, 1].mean(), found[:, 0].std(), rtol=0.12)
    assert abs(found[:, 0].mean() - truth.importance) <= found[:, 0].std()


def test_more_rows_shrink_the_uncertainty_and_not_the_spread():
    rng = np.random.default_rng(0)
    small, large = (
        rhale.effect(x, rng.normal(1, 2, x.size), bins=4)
        for x in (rng.uniform(0, 1, 1_000), rng.uniform(0, 1, 100_000))
    )
    np.testing.assert_allclose(small.standard_error / large.standard_error, 10, rtol=0.25)
    np.testing.assert_allclose(small.std, large.std, rtol=0.15)


def test_importance_of_a_parabola_by_linear_bins_is_that_of_its_rows():
    """f = x², d = 2x: one linear bin knows it all; two nodes a bin would see no effect."""
    x = np.linspace(-1, 1, 2001)
    for edges in ([-1.0, 1.0], [-1.0, 0.3, 1.0]):
        cells = measure_moments(Grid(np.array(edges)), x, 2 * x)
        n_bins = len(edges) - 1
        effect = fit_effect("x", "y", cells, Cuts(np.arange(n_bins + 1), np.ones(n_bins, bool)))
        np.testing.assert_allclose(effect.importance, np.std(x**2), rtol=0.02)


@settings(max_examples=6, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.floats(0.05, 0.95),
    st.floats(20, 1e12),
    st.booleans(),
    st.booleans(),
)
def test_across_any_gap_the_curve_changes_as_an_additive_model_does(
    seed, share, width, is_lone, by_gradient
):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=600)
    behind = np.arange(600) == 0 if is_lone else rng.random(600) < share
    rows = np.column_stack([np.where(behind, x + width, x), rng.normal(size=600)])

    def model(rows):
        return 3 * np.arctan(2 * (rows[:, 0] - width / 2) / width) + np.sin(rows[:, 1])

    def gradient(rows):
        z = 2 * (rows[:, 0] - width / 2) / width
        return np.column_stack([6 / width / (1 + z**2), np.cos(rows[:, 1])])

    ask = {"gradient": gradient} if by_gradient else {}
    effect = rhale.explain(model, rows, features=[0], **ask)["x0"]
    ends = np.array([rows[~behind, 0].max(), rows[behind, 0].min()])
    found = effect.difference(*ends)
    rise = np.diff(model(np.column_stack([ends, np.zeros(2)])))[0]
    assert abs(found.size - rise) < 1e-9
    assert found.error < 1e-9
