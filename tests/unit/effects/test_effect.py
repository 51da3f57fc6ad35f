from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

import rhale
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.fit import fit_effect
from rhale.effects.binning.gaps import NO_GAPS
from rhale.effects.binning.moments import measure_moments
from rhale.effects.binning.partition import Cuts
from rhale.effects.effect import Effect, LocalEffects
from rhale.effects.result import normal_quantile
from rhale.effects.spread import RowSpread
from rhale.effects.staircase import Staircase
from rhale.effects.table import Missing
from rhale.errors import BadEffectsError, BadSettingError, BadTableError

NAN = np.nan
X = np.array([0.0, 0.2, 0.8, 1.0, 1.5, 2.0])
D = np.array([1.0, 2.0, 3.0, -1.0, 0.0, 1.0])
EDGES = [0.0, 1.0, 2.0]
AXIS = np.linspace(0.0, 10.0, 401)
ADDED_UP = "there is no model to evaluate: the spread is computed from the deviations in the bins, as if each row deviated in the same direction in all bins"


def example(**changes):
    """Three rows of mean 2 in [0, 1), three of mean 0 in [1, 2]."""
    return replace(rhale.effect(X, D, bins=rhale.Edges(EDGES), name="age"), **changes)


def test_numbers_of_bins_are_those_of_their_rows():
    effect = example()
    assert effect.count.tolist() == [3, 3]
    assert effect.rows.tolist() == effect.weight.tolist() == [3.0, 3.0]
    np.testing.assert_allclose(effect.mean, [2.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(effect.std, [1.0, 1.0])
    np.testing.assert_allclose(effect.standard_error, 1 / np.sqrt([3.0, 3.0]))
    np.testing.assert_allclose(effect.mean_x, [1 / 3, 1.5])
    assert effect.slope.tolist() == [0.0, 0.0]
    assert (effect.name, effect.output, effect.closed) == ("age", "y0", "left")
    assert effect.notes == (ADDED_UP,)


def test_a_curve_of_a_number_is_a_number():
    effect = example()
    assert np.ndim(effect.curve(0.5)) == 0
    assert np.ndim(effect.spread(0.5)) == 0
    assert np.ndim(effect.ci(0.5)[0]) == 0
    assert effect.curve([[0.0, 1.0], [2.0, 9.0]]).shape == (2, 2)
    assert effect.curve([]).shape == (0,)


def test_the_curve_in_each_convention():
    """2x up to 1, then 2; at the rows 0, 0.4, 1.6, 2, 2, 2; over x on average 1.5."""
    effect = example()
    np.testing.assert_allclose(effect.curve([0, 0.5, 2], center="start"), [0, 1, 2])
    np.testing.assert_allclose(effect.curve([0, 0.5, 2]), [-4 / 3, -1 / 3, 2 / 3])
    np.testing.assert_allclose(effect.curve([0, 0.5, 2], center="uniform"), [-1.5, -0.5, 0.5])
    even = replace(effect, density="bins")
    np.testing.assert_allclose(even.curve([0, 0.5, 2]), [-1.5, -0.5, 0.5])


def test_both_ways_to_accumulate_spread():
    effect = example()
    np.testing.assert_allclose(effect.spread([0, 0.5, 2], center="start"), [0, 0.5, 2])
    squared = effect.spread([0, 0.5, 2], center="start", accumulate="quadrature")
    np.testing.assert_allclose(squared, [0, 0.5, 2**0.5])


def test_the_spread_is_centred_as_the_curve_is():
    """S(x) = x: at the rows 0, .2, .8, 1, 1.5, 2, on average 11 / 12; over x on average 1."""
    effect = example()
    np.testing.assert_allclose(effect.spread([0, 0.5, 2]), [11 / 12, 5 / 12, 13 / 12])
    np.testing.assert_allclose(effect.spread([0, 0.5, 2], center="uniform"), [1, 0.5, 1])
    np.testing.assert_allclose(effect.spread([-1, 3], center="start"), [1, 3])
    np.testing.assert_allclose(effect.typical_spread, np.std([0, 0.2, 0.8, 1, 1.5, 2]))
    np.testing.assert_allclose(effect.trace("start").spread[-1], 2)
    np.testing.assert_allclose(effect.trace("mean").spread[-1], 13 / 12)


def test_the_interval_is_the_curve_and_a_quantile_of_students():
    """Two bins of three rows each: 2 degrees of freedom, then 4 of both together."""
    low, high = example().ci([1.0, 2.0], level=0.95, center="start")
    error = np.array([4.302652729911275, 2.776445105198054]) * np.sqrt([1 / 3, 2 / 3])
    np.testing.assert_allclose(low, 2 - error)
    np.testing.assert_allclose(high, 2 + error)


def test_importance_and_heterogeneity_by_hand():
    """At the rows the curve is 2x up to 1, then 2."""
    effect = example()
    np.testing.assert_allclose(effect.importance, np.std([0, 0.4, 1.6, 2, 2, 2]))
    np.testing.assert_allclose(effect.heterogeneity, 1.0)
    assert effect.importance_error > 0


def test_importance_of_rows_spread_evenly_over_their_bins():
    """The centred curve has squares 1/12 * 4 + 1/4 in the first bin and 1/4 in the second."""
    size = example(density="bins").importance
    np.testing.assert_allclose(size, np.sqrt((4 / 12 + 0.25 + 0.25) / 2))


def test_heterogeneity_weighs_bins_and_skips_unknown_ones():
    effect = example(std=np.array([3.0, 1.0]), weight=np.array([1.0, 3.0]))
    np.testing.assert_allclose(effect.heterogeneity, np.sqrt((9 + 3) / 4))
    assert example(std=np.array([NAN, 2.0])).heterogeneity == 2.0
    assert np.isnan(example(std=np.array([NAN, NAN])).heterogeneity)


def test_a_linear_bin_is_read_at_its_middle():
    """d = 10 x on [0, 1], rows near the left: the mean of d is low, the line's middle is not."""
    x = np.array([0.0, 0.1, 0.2, 0.3, 1.0])
    cells = measure_moments(Grid(np.array([0.0, 1.0])), x, 10 * x)
    effect = fit_effect("x", "y", cells, Cuts(np.array([0, 1]), np.array([True])))
    np.testing.assert_allclose(effect.mean, 5.0)
    np.testing.assert_allclose(effect.slope, 10.0)
    np.testing.assert_allclose(effect.std, 0.0, atol=1e-7)
    np.testing.assert_allclose(effect.std_plain, (10 * x).std(ddof=1))
    np.testing.assert_allclose(effect.curve([0.5, 1.0], center="start"), [1.25, 5.0])


def test_the_error_at_the_middle_counts_the_lever_of_the_slope():
    x, d = np.array([0.0, 0.2, 0.4, 1.0]), np.array([1.0, 0.0, 2.0, 4.0])
    cells = measure_moments(Grid(np.array([0.0, 1.0])), x, d)
    effect = fit_effect("x", "y", cells, Cuts(np.array([0, 1]), np.array([True])))
    design = np.column_stack([np.ones(4), x - 0.5])
    answer, (squares,), *_ = np.linalg.lstsq(design, d, rcond=None)
    covariance = squares / 2 * np.linalg.inv(design.T @ design)
    np.testing.assert_allclose(effect.mean, answer[0])
    np.testing.assert_allclose(effect.standard_error**2, covariance[0, 0])


def test_thin_bins_are_noted_and_the_curve_bridges_empty_ones():
    x, d = np.array([0.1, 0.2, 2.5, 2.6, 3.5]), np.array([1.0, 1.0, 3.0, 3.0, 0.0])
    effect = rhale.effect(x, d, bins=rhale.Edges([0, 1, 2, 3, 4]))
    assert effect.notes == (
        ADDED_UP,
        "1 of 4 bins have no rows: they are interpolated",
        "1 of 4 bins have one row: their std is unknown",
    )
    assert effect.measured.tolist() == [True, False, True, True]
    np.testing.assert_allclose(effect.mean, [1.0, 2.0, 3.0, 0.0])  # halfway between 1 and 3
    assert effect.std[:3].tolist() == [0.0, 0.0, 0.0]
    assert np.isnan(effect.std).tolist() == [False, False, False, True]
    assert np.isnan(effect.standard_error).tolist() == [False, True, False, True]
    np.testing.assert_allclose(effect.curve(effect.edges, center="start"), [0, 1, 3, 6, 6])
    assert np.all(np.isfinite(effect.ci(effect.edges)))


def test_rows_outside_given_limits_are_left_out_and_noted():
    effect = rhale.effect(X, D, bins=1, limits=(0.0, 1.0))
    assert effect.edges.tolist() == [0.0, 1.0]
    assert effect.count.tolist() == [4]
    assert effect.notes == ("2 of 6 rows lie outside [0, 1] and are left out", ADDED_UP)


def test_a_feature_with_one_value_has_no_effect_and_says_so():
    effect = rhale.effect([3.0, 3.0, 3.0], [1.0, 2.0, 3.0], name="age")
    assert effect.edges.tolist() == [3.0, 3.0]
    assert effect.notes == ("constant: always 3, so no effect can be measured",)
    assert effect.importance == 0.0
    assert effect.curve(3.0) == 0.0
    assert np.isnan(effect.mean).all()


def test_the_sample_is_the_rows_where_they_are_few():
    sample = rhale.effect(X, D).sample
    order = np.argsort(sample.x)
    np.testing.assert_array_equal(sample.x[order], X)
    np.testing.assert_array_equal(sample.local_effects[order], D)
    assert sample.weight.tolist() == [1.0] * 6


def test_the_sample_is_bounded_and_its_rows_are_rows():
    x = np.random.default_rng(0).normal(size=9000)
    sample = rhale.effect(x, 2 * x).sample
    assert sample.x.size == 2000
    np.testing.assert_array_equal(sample.local_effects, 2 * sample.x)
    assert np.isin(sample.x, x).all()


def test_an_effect_is_frozen():
    effect = example()
    with pytest.raises(FrozenInstanceError):
        effect.name = "other"
    for name in ("edges", "mean", "std", "count"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(effect, name)[0] = 1


def test_freezing_leaves_the_array_of_the_caller_alone():
    std = np.array([1.0, 2.0])
    effect = example(std=std)
    std[0] = 5.0
    assert std.flags.writeable
    assert not effect.std.flags.writeable


def test_equality_compares_numbers_and_takes_nan_for_equal():
    assert example() == example()
    assert example() != example(level=np.array([2.0, 1e-12]))
    assert example() != example(local_notes=("a note",))
    assert example() != example(sample=LocalEffects(*np.ones((3, 1))))
    assert example(std=np.array([NAN, 1.0])) == example(std=np.array([NAN, 1.0]))
    missing = Missing(1, 0.5, NAN, NAN, 1.0)
    assert example(missing=missing) == example(missing=missing)
    assert example(missing=missing) != example(missing=replace(missing, mean=0.0))
    assert example() != "an effect"
    with pytest.raises(TypeError):
        hash(example())


def test_repr_is_one_line_with_the_most_important():
    text = repr(example())
    assert "\n" not in text
    assert text.startswith("Effect('age', output='prediction', 2 bins on [0, 2], importance=")


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, 95, NAN])
def test_levels_outside_zero_and_one_are_refused(level):
    with pytest.raises(BadSettingError, match="not between 0 and 1"):
        example().ci(0.5, level=level)


def test_unknown_words_are_refused():
    with pytest.raises(BadSettingError, match="accumulate='max' is not known"):
        example().spread(0.5, accumulate="max")
    with pytest.raises(BadSettingError, match="center='zero' is not known"):
        example().curve(0.5, center="zero")


def test_normal_quantiles_are_those_of_the_tables():
    np.testing.assert_allclose(normal_quantile(0.95), 1.959964, atol=1e-6)
    np.testing.assert_allclose(normal_quantile(0.99), 2.575829, atol=1e-6)


@pytest.mark.parametrize(
    ("x", "d"), [([[0.0], [1.0]], [1.0, 2.0]), ([0.0, 1.0], [1.0]), ([[0.0, 1.0]], [[1.0, 1.0]])]
)
def test_local_effects_of_another_shape_are_refused(x, d):
    with pytest.raises(BadTableError, match=r"must be \(n_rows,\)"):
        rhale.effect(x, d)


@pytest.mark.parametrize("bad", [NAN, np.inf])
def test_local_effects_that_are_not_finite_are_refused_by_name(bad):
    with pytest.raises(BadEffectsError, match="'age' must be finite; row 1 "):
        rhale.effect([0.0, 1.0, 2.0], [1.0, bad, 1.0], name="age")


def test_the_row_named_in_a_message_is_the_row_of_the_caller():
    with pytest.raises(BadEffectsError, match="row 2 "):
        rhale.effect([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, NAN, 3.0], weights=[0, 1, 1, 1])
    with pytest.raises(BadTableError, match="row 2"):
        rhale.effect([0.0, 1.0, NAN, 3.0], [0.0, 1.0, 1.0, 3.0], weights=[0, 1, 1, 1])


def test_a_bad_local_effect_of_weight_zero_does_not_matter():
    effect = rhale.effect([0.0, 1.0, 2.0], [1.0, NAN, 3.0], bins=1, weights=[1, 0, 1])
    assert effect.mean.tolist() == [2.0]


def test_effects_too_large_for_their_squares_are_refused():
    with pytest.raises(BadEffectsError, match="squares do not fit"):
        rhale.effect(X, np.full(6, 1e300))


@pytest.mark.parametrize("closed", ["left", "right"])
def test_rows_on_a_limit_go_to_the_side_that_is_closed(closed):
    effect = rhale.effect([0.0, 1.0, 1.0, 2.0], np.ones(4), bins=rhale.Edges([0, 1, 2], closed))
    assert effect.count.tolist() == ([1, 3] if closed == "left" else [3, 1])
    assert effect.closed == closed


def test_lists_and_whole_numbers_are_welcome():
    assert isinstance(rhale.effect([0, 1, 2], [1, 1, 1]), Effect)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_typical_spread_is_the_deviation_of_the_accumulated_std(weighted):
    rng = np.random.default_rng(3)
    x, d = rng.exponential(size=500), rng.normal(size=500)
    weights = rng.random(500) if weighted else np.ones(500)
    effect = rhale.effect(x, d, bins=7, weights=weights if weighted else None)
    reached = np.append(0.0, np.cumsum(effect.std * np.diff(effect.edges)))
    expected = np.sqrt(np.cov(np.interp(x, effect.edges, reached), aweights=weights, ddof=0))
    assert effect.typical_spread == pytest.approx(expected, rel=1e-3)
    few = rhale.effect(np.round(x, 1), d, bins=7, weights=weights)
    reached = np.append(0.0, np.cumsum(few.std * np.diff(few.edges)))
    at = np.interp(np.round(x, 1), few.edges, reached)
    assert few.typical_spread == pytest.approx(np.sqrt(np.cov(at, aweights=weights, ddof=0)))


def test_the_typical_spread_does_not_depend_on_the_unit_of_the_feature():
    rng = np.random.default_rng(4)
    x, d = rng.normal(size=300), rng.normal(size=300)
    dollars, cents = rhale.effect(x, d, bins=5), rhale.effect(100 * x, d / 100, bins=5)
    assert cents.typical_spread == pytest.approx(dollars.typical_spread)


# Curves that follow cells


CELL_EDGES = np.array([0.0, 0.5, 1.5, 2.0, 3.0, 4.5, 5.0, 6.0])
LIMITS = np.array([0, 4, 7])  # [0, 3) and [3, 6]


def following(trust, linear=(False, True), *, x=None, weights=None, d=None):
    """Two bins of four and three cells, the second cell empty unless told otherwise."""
    rng = np.random.default_rng(0)
    if x is None:
        x = np.append(rng.uniform(0, 6, 80), [0.2, 0.3, 4.7, 6.0])
        x = x[(x < 0.5) | (x >= 1.5)]
    d = np.sin(2 * x) + x if d is None else d
    cells = measure_moments(Grid(CELL_EDGES), x, d, weights)
    cuts = Cuts(LIMITS, np.array(linear), (), np.array(trust), np.full(7, 0.1))
    return x, d, cells, fit_effect("x", "y", cells, cuts)


@pytest.mark.parametrize("trust", [(0.0, 0.0), (0.5, 0.0), (0.3, 1.0)])
def test_a_curve_that_follows_cells_is_continuous(trust):
    *_, effect = following(trust)
    inner = effect._fit.edges[1:-1]
    for center in ("mean", "start", "uniform"):
        left, right = (effect.curve(inner + h, center=center) for h in (-1e-9, 1e-9))
        np.testing.assert_allclose(left, right, atol=1e-7)


@pytest.mark.parametrize("trust", [(0.0, 0.0), (0.5, 0.0), (0.3, 1.0)])
def test_its_derivative_in_a_cell_is_the_fit_and_a_part_of_the_residual(trust):
    """By least squares over the rows of the bin; the residual of an empty cell is interpolated."""
    x, d, cells, effect = following(trust)
    for k, (low, high) in enumerate(((0, 4), (4, 7))):
        mine = (x >= CELL_EDGES[low]) & ((x < CELL_EDGES[high]) | (k == 1))
        line = np.polyfit(x[mine], d[mine], k)
        filled = cells.count[low:high] > 0
        place = np.where(filled, cells.mean_x[low:high], cells.grid.middles[low:high])
        known = cells.mean[0][low:high][filled] - np.polyval(line, place[filled])
        residual = np.interp(place, place[filled], known)
        for cell in range(low, high):
            a, b = CELL_EDGES[cell] + np.array([0.3, 0.7]) * np.diff(CELL_EDGES)[cell]
            slope = (effect.curve(b) - effect.curve(a)) / (b - a)
            expected = np.polyval(line, (a + b) / 2) + trust[k] * residual[cell - low]
            np.testing.assert_allclose(slope, expected, rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("trust", [(0.0, 0.0), (0.5, 0.0), (0.3, 1.0)])
def test_it_is_centred_over_the_rows_exactly(trust, weighted):
    x, *_ = following(trust)
    w = np.random.default_rng(1).uniform(0.5, 2, x.size) if weighted else None
    *_, effect = following(trust, weights=w)
    assert abs(np.average(effect.curve(x), weights=w)) <= 1e-13
    start = effect.curve(x, center="start")
    np.testing.assert_allclose(effect.curve(x), start - np.average(start, weights=w), atol=1e-12)


def test_faint_cells_count_for_centring():
    """Cells of hardly any weight say nothing of the effect; their rows are averaged all the same."""
    x = np.linspace(0.05, 5.95, 60)
    w = np.where((x > 1.5) & (x < 2), 2e-3, 1.0)
    *_, effect = following((0.6, 0.8), x=x, weights=w)
    assert abs(np.average(effect.curve(x), weights=w)) <= 1e-12
    assert effect.cells.measured.tolist() == [True, True, False, True, True, True, True]
    without = replace(following((0.6, 0.8), x=x[w == 1])[3], gaps=NO_GAPS)  # rows are there
    np.testing.assert_allclose(
        effect.ci([1, 3, 6], center="start"), without.ci([1, 3, 6], center="start"), rtol=0.02
    )


def test_its_importance_is_the_deviation_over_the_rows():
    """Every cell holds one value, so its rows need no approximation."""
    value = np.array([0.2, 1.1, 1.7, 2.4, 3.9, 4.8, 5.5])
    x = np.repeat(value, [3, 1, 4, 1, 5, 9, 2])
    w = np.linspace(1, 2, x.size)
    *_, effect = following((0.6, 0.8), x=x, weights=w)
    curve = effect.curve(x)
    size = np.sqrt(np.average((curve - np.average(curve, weights=w)) ** 2, weights=w))
    np.testing.assert_allclose(effect.importance, size, rtol=1e-12)


def test_full_trust_makes_the_curve_the_sum_of_the_cells():
    """As if every cell were a constant bin, where bins are constant and no cell is empty."""
    x = np.linspace(0, 6, 90)
    x, d, _, effect = following((1.0, 1.0), (False, False), x=x)
    fine = rhale.effect(x, d, bins=rhale.Edges(CELL_EDGES))
    for center in ("mean", "start", "uniform"):
        np.testing.assert_allclose(
            effect.curve(x, center=center), fine.curve(x, center=center), rtol=1e-9, atol=1e-12
        )
    assert effect.mean.size == 2
    np.testing.assert_allclose(effect.mean[0], fine.mean[:4] @ np.diff(CELL_EDGES[:5]) / 3)
    np.testing.assert_allclose(effect.level[0], d[x < 3].mean())


def test_cells_say_what_was_measured():
    x, _, cells, effect = following((0.0, 0.25))
    followed = effect.cells
    assert followed.bin.tolist() == [1, 1, 1]
    assert followed.left.tolist() == [3.0, 4.5, 5.0]
    assert followed.right.tolist() == [4.5, 5.0, 6.0]
    assert followed.trust.tolist() == [0.25] * 3
    np.testing.assert_allclose(followed.weight, cells.weight[4:])
    np.testing.assert_allclose(followed.mean_x, cells.mean_x[4:])
    np.testing.assert_allclose(followed.error, np.sqrt(0.1 / cells.count[4:]))
    first = x[(x >= 3) & (x < 4.5)]
    np.testing.assert_allclose(followed.std_x[0], first.std())
    assert following((0.0, 0.0))[3].cells is None


# Linear bins and bins without rows


def test_a_bin_is_linear_where_its_fit_has_a_slope():
    effect = rhale.effect(X, D, bins=rhale.Edges(EDGES, linear=[False, True]))
    assert effect.linear.tolist() == [False, True]
    flat = rhale.effect(X, np.ones(6), bins=rhale.Edges(EDGES, linear=True))
    assert flat.linear.tolist() == [False, False]  # a line without slope or doubt is a constant
    assert not example().linear.any()
    level = rhale.effect(
        [0.0, 1.0, 2.0, 3.0], [1.0, 0.0, 0.0, 1.0], bins=rhale.Edges([0, 3], linear=True)
    )
    assert level.slope.tolist() == [0.0]
    assert level.linear.tolist() == [True]  # a slope of zero, but measured: n - 2 and an error


def test_a_line_through_one_value_is_a_constant():
    """Three rows at x = 0.5: their mean is 3, its error 1 / sqrt(3); no slope can be measured."""
    x, d = [0.5, 0.5, 0.5, 2.0, 2.5, 3.0], [2.0, 3.0, 4.0, 1.0, 2.0, 4.0]
    effect = rhale.effect(x, d, bins=rhale.Edges([0.5, 1.0, 3.0], linear=True))
    assert (effect.mean[0], effect.slope[0], effect.std[0]) == (3.0, 0.0, 1.0)
    np.testing.assert_allclose(effect.standard_error[0], 1 / np.sqrt(3))
    assert effect.linear.tolist() == [False, True]


def test_a_bin_without_rows_counts_for_nothing_but_the_curve():
    x, d = np.array([0.1, 0.9, 2.1, 2.9]), np.array([1.0, 2.0, 5.0, 7.0])
    effect = rhale.effect(x, d, bins=rhale.Edges([0, 1, 2, 3]))
    assert effect.count.tolist() == [2, 0, 2]
    np.testing.assert_allclose(effect.mean, [1.5, (1.5 + 6) / 2, 6.0])
    np.testing.assert_allclose(effect.std, [0.5**0.5, (0.5**0.5 + 2**0.5) / 2, 2**0.5])
    np.testing.assert_allclose(effect.std_plain, effect.std)
    np.testing.assert_allclose(effect.heterogeneity, np.sqrt((0.5 + 2) / 2))
    assert np.isnan(effect.standard_error).tolist() == [False, True, False]
    # the mean of the empty bin lies halfway between means with variances 1/4 and 1
    variance = effect._doubt.of_changes(effect.edges[:-1], effect.edges[1:]).variance
    np.testing.assert_allclose(variance, [0.25, (0.25 + 1.0) / 4, 1.0])
    values = effect.curve(x)
    assert abs(values.mean()) <= 1e-12
    np.testing.assert_allclose(effect.importance, values.std())


def test_a_bin_of_one_row_borrows_its_doubt_from_its_neighbours():
    """Variances of the means are 1/4 and 1; halfway between them lies 5/8."""
    x, d = np.array([0.2, 0.8, 1.5, 2.2, 2.8]), np.array([1.0, 2.0, 5.0, 1.0, 3.0])
    effect = rhale.effect(x, d, bins=rhale.Edges([0, 1, 2, 3]), limits=(0, 3))
    found = effect._doubt.of_curve(np.array([1.0, 2.0, 3.0]), "start")
    np.testing.assert_allclose(found.variance, np.cumsum([0.25, 0.625, 1.0]))


# The bootstrap


def noisy(weights=None, n=1000):
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 1, n)
    w = None if weights is None else weights(rng, x)
    return x, np.where(x < 0.5, 1.0, 2.0) + rng.normal(0, 1, n), w


def widths(effect, x, **settings):
    low, high = effect.ci(x, **settings)
    assert np.all(low <= high)
    return high - low


@pytest.mark.parametrize("center", ["mean", "start", "uniform"])
@pytest.mark.parametrize(
    "weights",
    [
        None,
        lambda rng, x: rng.uniform(0.5, 2, x.size),
        lambda rng, x: np.full(x.size, 2.0),  # noqa: ARG005
        lambda rng, x: np.where(x < 0.5, 1.0, 20.0),  # noqa: ARG005
        lambda rng, x: np.where(x < 0.5, 1.0, 20.0) * rng.uniform(0.9, 1.1, x.size),
    ],
)
def test_the_bootstrap_agrees_with_the_formula(weights, center):
    """Quantiles of 400 draws are good to some 4 %; the formula is exact for normal noise."""
    x, d, w = noisy(weights)
    places = np.linspace(0, 1, 15)
    effect = rhale.effect(x, d, bins=rhale.Edges([0, 0.5, 1.0]), weights=w)
    drawn = widths(effect, places, center=center, method="bootstrap", draws=400)
    formula = widths(effect, places, center=center)
    np.testing.assert_allclose(drawn.mean(), formula.mean(), rtol=0.15)


@pytest.mark.parametrize("bins", [rhale.Adaptive(), rhale.Adaptive(linear=False, penalty=50.0)])
def test_the_bootstrap_follows_cells_and_lines_too(bins):
    x, _, _ = noisy()
    d = np.sin(6 * x) + np.random.default_rng(3).normal(0, 0.3, x.size)
    effect, places = rhale.effect(x, d, bins=bins), np.linspace(0, 1, 15)
    assert effect.cells is not None
    drawn = widths(effect, places, method="bootstrap", draws=300)
    np.testing.assert_allclose(drawn.mean(), widths(effect, places).mean(), rtol=0.15)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_bootstrap_knows_rows_that_repeat(weighted):
    rng = np.random.default_rng(4)
    x, d = rng.integers(0, 5, 1000).astype(float), rng.integers(0, 2, 1000).astype(float)
    w = rng.uniform(0.5, 2, 1000) if weighted else None
    effect = rhale.effect(x, d, bins=rhale.Edges([0, 1.5, 2.5, 4]), weights=w)
    places = np.linspace(0, 4, 9)
    drawn = widths(effect, places, method="bootstrap", draws=400)
    np.testing.assert_allclose(drawn.mean(), widths(effect, places).mean(), rtol=0.15)


@pytest.mark.parametrize("limits", [None, (0.0, 0.5)])
def test_the_bootstrap_of_a_sample_speaks_for_all_rows(limits):
    """Some 2,000 of 10,000 rows are kept; half of them may lie outside the limits."""
    x, d, _ = noisy(n=10_000)
    effect = rhale.effect(x, d, bins=rhale.Edges([0, 0.25, 0.5]), limits=limits)
    places = np.linspace(0, 0.5, 9)
    drawn = widths(effect, places, method="bootstrap", draws=300)
    np.testing.assert_allclose(drawn.mean(), widths(effect, places).mean(), rtol=0.15)


def test_the_bootstrap_repeats_itself_for_a_seed():
    x, d, _ = noisy(n=60)
    effect = rhale.effect(x, d)
    one, two, other = (
        np.stack(effect.ci([0.2, 0.7], method="bootstrap", draws=20, seed=seed))
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, two)
    assert np.all(one != other)


def test_the_level_of_the_bootstrap_is_as_asked():
    x, d, _ = noisy(n=200)
    effect, places = rhale.effect(x, d, bins=3), np.array([0.2, 0.7])
    low, high = (
        widths(effect, places, method="bootstrap", draws=400, level=p) for p in (0.5, 0.99)
    )
    ratio = normal_quantile(0.99) / normal_quantile(0.5)
    np.testing.assert_allclose(high / low, ratio, rtol=0.25)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "jackknife"}, "method='jackknife' is not known; use 'formula' or 'bootstrap'"),
        ({"method": "bootstrap", "draws": 0}, "draws=0"),
        ({"method": "bootstrap", "draws": 2.5}, r"draws=2\.5"),
        ({"method": "bootstrap", "level": 1.0}, r"level=1\.0"),
        ({"method": "bootstrap", "center": "median"}, "center='median'"),
    ],
)
def test_a_bootstrap_that_makes_no_sense_is_refused(settings, message):
    with pytest.raises(BadSettingError, match=message):
        example().ci(0.5, **settings)


def test_a_bootstrap_without_a_sample_is_refused():
    nothing = LocalEffects(np.empty(0), np.empty(0), np.empty(0))
    with pytest.raises(BadSettingError, match="this effect keeps 0"):
        example(sample=nothing).ci(0.5, method="bootstrap")


def test_effects_that_differ_in_cells_or_spread_bins_are_not_equal():
    *_, followed = following((0.5, 0.5))
    assert followed == following((0.5, 0.5))[3]
    assert followed != following((0.5, 0.4))[3]
    assert followed != replace(followed, cells=None)
    own = replace(followed, spread_edges=np.array([0.0, 6.0]), spread_std=np.array([1.0]))
    assert own == replace(own)
    assert own != followed


def test_own_bins_of_the_spread_are_accumulated():
    own = example(spread_edges=np.array([0.0, 0.5, 2.0]), spread_std=np.array([4.0, 2.0]))
    np.testing.assert_allclose(own.spread([0, 0.5, 2], center="start"), [0, 2, 5])
    squared = own.spread(2, center="start", accumulate="quadrature")
    np.testing.assert_allclose(squared, np.hypot(2, 3))
    np.testing.assert_allclose(own.std, [1.0, 1.0])


def test_the_error_of_a_change_is_that_of_the_mean_times_the_width():
    d = np.random.default_rng(1).normal(size=401)
    found = rhale.effect(AXIS, d, bins=1).difference(2.0, 6.0)
    assert found.size == pytest.approx(4.0 * d.mean())
    assert found.error == pytest.approx(4.0 * d.std(ddof=1) / np.sqrt(401))
    assert found.spread == pytest.approx(4.0 * d.std(ddof=1))


def test_the_error_of_a_change_does_not_depend_on_its_direction():
    effect = rhale.effect(AXIS, np.random.default_rng(1).normal(size=401), bins=5)
    there, back = effect.difference(1.0, 7.0), effect.difference(7.0, 1.0)
    assert there.size == pytest.approx(-back.size)
    assert (there.error, there.spread) == pytest.approx((back.error, back.spread))


def test_from_the_first_limit_the_error_is_that_of_the_curve_that_starts_there():
    effect = rhale.effect(AXIS, np.random.default_rng(2).normal(size=401), bins=5)
    found = effect._doubt.of_curve(np.array([7.3]), "start").variance[0]
    assert effect.difference(0.0, 7.3).error == pytest.approx(np.sqrt(found))


def test_sampled_rows_without_a_value_have_no_place():
    x, rows = rhale.effect(AXIS, AXIS).locate_sample(np.array([1.0, NAN, 3.0]))
    assert (x.tolist(), rows.tolist()) == ([1.0, 3.0], [0, 2])


def test_bins_that_were_searched_raise_the_variance_and_given_ones_do_not():
    """One constant bin is one parameter of 2 log N rows; two bins and the limit between are three."""
    x = np.linspace(0, 1, 400)
    one = rhale.effect(x, np.random.default_rng(3).normal(size=400))
    assert one.mean.size == 1
    assert not one.linear.any()
    assert one.search == pytest.approx(1 + 2 * np.log(400) / 400)
    two = rhale.effect(x, np.where(x < 0.5, 0.0, 9.0), bins=rhale.Optimal(2))
    assert two.search == pytest.approx(1 + 2 * 3 * np.log(400) / 400)
    given = rhale.effect(x, x, bins=rhale.Edges([0, 1], linear=True))
    assert given.search == rhale.effect(x, x, bins=5).search == 1.0


def test_a_slope_is_less_sure_where_the_outer_rows_vary_more():
    """White's sandwich: sum of (x - mean)² e² over the square of their sum, e² from fine cells."""
    x = np.repeat(np.linspace(-1, 1, 41), 50)
    e = np.abs(x) * np.tile([1.0, -1.0], x.size // 2)
    effect = rhale.effect(x, 2 * x + e, bins=rhale.Edges([-1, 1], linear=True))
    n, squares = x.size, np.sum(x**2)
    expected = np.sqrt(np.sum(x**2 * e**2) * n / (n - 2)) / squares
    np.testing.assert_allclose(effect.slope_error, expected, rtol=1e-9)
    assert effect.slope_error[0] > 1.2 * effect.std[0] / np.sqrt(squares)


def test_statistics_read_the_curve_at_the_rows():
    """2x up to 1, then 2; at the rows 0, 0.4, 1.6, 2, 2, 2, with mean 4/3."""
    found = example().statistics()
    heights = np.array([0, 0.4, 1.6, 2, 2, 2]) - 4 / 3
    assert found.read == "rows"
    assert found.aled == pytest.approx(np.abs(heights).mean())
    assert found.aler == pytest.approx((-4 / 3, 2 / 3))
    assert found.aled_sd == pytest.approx(heights.std())
    assert found.importance == example().importance


def test_statistics_of_bins_are_those_of_package_ale():
    """2x up to 1, then 2: 0, 2, 2 at the limits, 1 and 2 in the middles, with mean 1.5."""
    found = example(density="bins").statistics(y=[0.0, 1.0, 2.0, 3.0])
    assert found.read == "bins"
    assert (found.aled, found.aled_sd) == pytest.approx((0.5, 0.5))
    assert found.aler == pytest.approx((-1.5, 0.5))
    assert (found.naled, found.naler) == (0.0, (-50.0, 0.0))


def test_statistics_of_a_line_over_even_rows_have_closed_forms():
    x = (np.arange(2000) + 0.5) / 2000
    found = rhale.effect(x, np.full(x.size, 3.0), bins=rhale.Fixed(10)).statistics()
    assert found.aled == pytest.approx(3 * 0.25, rel=1e-3)  # places stand for rows
    assert found.aled_sd == pytest.approx(3 / np.sqrt(12), rel=1e-6)
    assert found.aler == pytest.approx((3 * (x[0] - 0.5), 3 * (x[-1] - 0.5)))
    assert found.importance_denoised == found.importance  # rows agree: no noise


def test_statistics_weigh_rows():
    x, d = np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.0, 1.0, 2.0, 2.0])
    weights = np.array([1.0, 2.0, 3.0, 2.0])
    repeated = np.repeat(np.arange(4), weights.astype(int))
    bins = rhale.Edges([0.0, 1.5, 3.0])
    found = rhale.effect(x, d, bins=bins, weights=weights).statistics()
    again = rhale.effect(x[repeated], d[repeated], bins=bins).statistics()
    assert (found.aled, *found.aler) == pytest.approx((again.aled, *again.aler))


@pytest.mark.parametrize("density", ["rows", "bins"])
@pytest.mark.parametrize("linear", [False, True])
def test_the_denoised_square_of_a_null_effect_is_zero_on_average(density, linear):
    """Local effects are noise about zero, wider at one end: the importance is noise, too."""
    rng, edges = np.random.default_rng(1), np.linspace(0.0, 1.0, 9)
    raw, squares = [], []
    for _ in range(150):
        x = rng.beta(2, 1, 160)
        d = (0.5 + 2 * x) * rng.normal(size=160)
        effect = rhale.effect(x, d, bins=rhale.Edges(edges, linear=linear))
        effect = replace(effect, density=density)
        raw.append(effect.importance**2)
        squares.append(effect.importance**2 - effect._doubt.added_square())
    error = np.std(squares) / np.sqrt(len(squares))
    assert np.mean(raw) > 10 * error
    assert abs(np.mean(squares)) < 3 * error


def test_a_constant_feature_has_statistics_of_nothing():
    fx = rhale.explain(lambda x: x[:, 0], np.column_stack([np.arange(9.0), np.ones(9)]))
    found = fx["x1"].statistics(y=[1.0, 2.0])
    assert (found.aled, found.aled_sd, found.naled, found.importance_denoised) == (0, 0, 0, 0)
    assert found.aler == found.naler == (0.0, 0.0)


def two_stairs():
    """Two of six rows stand before the jump by 3 at 0.5, none between it and that by -1 at 0.7."""
    return Staircase(
        places=np.array([0.5, 0.7]),
        jumps=np.array([3.0, -1.0]),
        near_shares=np.ones(2),
        row_shares=np.array([2.0, 0.0, 4.0]) / 6,
        influence=np.zeros((4, 2)),
        drawn=np.zeros((2, 4)),
        group_shares=np.full(4, 0.25),
        low=0.0,
        high=2.0,
    )


def test_stairs_have_statistics_of_their_steps():
    found = example(stairs=two_stairs()).statistics()
    assert found.read == "rows"
    assert found.aled == pytest.approx((2 * 4 / 3 + 4 * 2 / 3) / 6)
    assert found.aled_sd == pytest.approx(np.sqrt(8 / 9))
    assert found.aler == pytest.approx((-4 / 3, 5 / 3))
    assert found.importance_denoised == pytest.approx(found.importance)  # rows jump alike


def spread_of(curves, places, shares):
    """How rows differ whose own curves, rows by places, are all known."""
    places, last = np.array(places), len(places) - 1
    return RowSpread(
        places=places,
        shares=np.array(shares),
        covariance=np.atleast_2d(np.cov(np.diff(curves, axis=1).T)),
        error=0.25,
        first=np.zeros(last + 1, dtype=int),
        last=np.full(last + 1, last),
        x=np.empty(0),
        rows=np.empty((0, last)),
    )


CURVES = np.array([[0.0, 2.0, 1.0], [3.0, 3.0, 9.0], [1.0, 5.0, 2.0], [4.0, 2.0, 2.0]])
SHARES = np.array([0.5, 0.25, 0.25])


def test_the_measured_spread_is_the_deviation_of_the_rows_own_curves():
    """Straight between places; centred over the rows, at the first limit, or over x."""
    effect = example(row_spread=spread_of(CURVES, EDGES, SHARES))
    at = np.column_stack([CURVES[:, :2].mean(axis=1), CURVES])  # at 0.5, 0, 1 and 2
    x = [0.5, 0.0, 1.0, 2.0]
    over_x = (CURVES[:, 0] + 2 * CURVES[:, 1] + CURVES[:, 2]) / 4
    for center, zero in (("mean", CURVES @ SHARES), ("start", CURVES[:, 0]), ("uniform", over_x)):
        expected = (at - zero[:, None]).std(axis=0, ddof=1)
        np.testing.assert_allclose(effect.spread(x, center=center), expected, rtol=1e-12)
    centred = CURVES - (CURVES @ SHARES)[:, None]
    expected = np.sqrt(SHARES @ centred.var(axis=0, ddof=1))
    assert effect.typical_spread == pytest.approx(expected, rel=1e-12)
    assert effect.typical_spread_error == 0.25
    np.testing.assert_allclose(
        effect.spread(x, accumulate="sum", center="start"), [0.5, 0.0, 1.0, 2.0]
    )  # the deviations of the bins, whatever was measured


def test_a_secant_deviates_as_the_changes_of_rows_over_a_bin_do():
    effect = example(row_spread=spread_of(CURVES, EDGES, SHARES))
    halves = (
        (CURVES[:, 1] - CURVES[:, 0]) / 2,
        (CURVES[:, 2] - CURVES[:, 0]) - (CURVES[:, 1] - CURVES[:, 0]) / 2,
    )
    expected = [halves[0].std(ddof=1) / 0.5, halves[1].std(ddof=1) / 1.5]
    found = effect.secant_deviation(np.array([0.0, 0.5, 2.0]))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_spread_of_stairs_moves_at_thresholds():
    """By how much rows differ there: 1 and 2 parts of what they differ by between places 0 and 1."""
    influence = np.array([[1.0, 2.0], [-1.0, -2.0], [1.0, 2.0], [-1.0, -2.0]])
    stairs = replace(two_stairs(), influence=influence)
    effect = example(stairs=stairs, row_spread=spread_of(CURVES, EDGES, SHARES))
    change = (CURVES[:, 1] - CURVES[:, 0]).std(ddof=1)
    x = [0.0, 0.49, 0.5, 0.69, 0.7, 1.0]
    expected = change * np.array([0, 0, 1 / 3, 1 / 3, 1, 1])
    np.testing.assert_allclose(effect.spread(x, center="start"), expected, atol=1e-12)
    # no threshold between 1 and 2: straight
    half = CURVES[:, 1] + (CURVES[:, 2] - CURVES[:, 1]) / 2 - CURVES[:, 0]
    assert effect.spread(1.5, center="start") == pytest.approx(half.std(ddof=1), rel=1e-12)


def test_a_word_for_adding_up_that_is_not_known_is_refused():
    with pytest.raises(BadSettingError, match="accumulate='total' is not known"):
        example().spread(0.5, accumulate="total")


def test_without_a_model_no_rows_are_kept_and_no_error_is_known():
    effect = example()
    assert effect.row_spread is None
    assert effect.row_curves().row.size == 0
    assert np.isnan(effect.typical_spread_error)


@pytest.mark.parametrize("stairs", [None, two_stairs()], ids=["bins", "stairs"])
@pytest.mark.parametrize("outside", ["extend", "nan", "raise"])
def test_at_a_value_that_is_missing_nothing_is_known(stairs, outside):
    effect = example(stairs=stairs)
    x = [np.nan, 1.0]
    for values in (
        effect.curve(x, outside=outside),
        effect.spread(x, outside=outside),
        *effect.ci(x, outside=outside),
    ):
        assert np.isnan(values).tolist() == [True, False]
