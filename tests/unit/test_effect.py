from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

import rhale
from rhale.effect import Effect, LocalEffects, fit_effect, normal_quantile
from rhale.errors import BadEffectsError, BadSettingError, BadTableError
from rhale.kernels.grid import Grid
from rhale.kernels.moments import measure
from rhale.kernels.partition import Cuts

NAN = np.nan
X = np.array([0.0, 0.2, 0.8, 1.0, 1.5, 2.0])
D = np.array([1.0, 2.0, 3.0, -1.0, 0.0, 1.0])
EDGES = [0.0, 1.0, 2.0]


def example(**changes):
    """Three rows of mean 2 in [0, 1), three of mean 0 in [1, 2]."""
    return replace(rhale.effect(X, D, bins=rhale.Edges(EDGES), name="age"), **changes)


def three_series(d, wide, noise):
    """An effect as secants of a stepped model give it."""
    x = np.linspace(0.0, 1.0, d.size)
    cells = measure(Grid(np.array([0.0, 1.0])), x, np.vstack([d, wide, noise]))
    return x, fit_effect("x", "y", cells, Cuts(np.array([0, 1]), np.array([False])))


def test_numbers_of_bins_are_those_of_their_rows():
    effect = example()
    assert effect.count.tolist() == [3, 3]
    assert effect.rows.tolist() == effect.weight.tolist() == [3.0, 3.0]
    np.testing.assert_allclose(effect.mean, [2.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(effect.std, [1.0, 1.0])
    np.testing.assert_allclose(effect.standard_error, 1 / np.sqrt([3.0, 3.0]))
    np.testing.assert_allclose(effect.mean_x, [1 / 3, 1.5])
    assert effect.slope.tolist() == [0.0, 0.0]
    assert (effect.name, effect.output, effect.closed, effect.notes) == ("age", "y0", "left", ())


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
    np.testing.assert_allclose(effect.spread([0, 0.5, 2]), [0, 0.5, 2])
    np.testing.assert_allclose(
        effect.spread([0, 0.5, 2], accumulate="quadrature"), [0, 0.5, 2**0.5]
    )


def test_the_interval_is_the_curve_and_its_normal_quantile():
    low, high = example().ci([1.0, 2.0], level=0.95, center="start")
    error = 1.959963984540054 * np.sqrt([1 / 3, 2 / 3])
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
    cells = measure(Grid(np.array([0.0, 1.0])), x, 10 * x)
    effect = fit_effect("x", "y", cells, Cuts(np.array([0, 1]), np.array([True])))
    np.testing.assert_allclose(effect.mean, 5.0)
    np.testing.assert_allclose(effect.slope, 10.0)
    np.testing.assert_allclose(effect.std, 0.0, atol=1e-7)
    np.testing.assert_allclose(effect.std_plain, (10 * x).std(ddof=1))
    np.testing.assert_allclose(effect.curve([0.5, 1.0], center="start"), [1.25, 5.0])


def test_the_error_at_the_middle_counts_the_lever_of_the_slope():
    x, d = np.array([0.0, 0.2, 0.4, 1.0]), np.array([1.0, 0.0, 2.0, 4.0])
    cells = measure(Grid(np.array([0.0, 1.0])), x, d)
    effect = fit_effect("x", "y", cells, Cuts(np.array([0, 1]), np.array([True])))
    design = np.column_stack([np.ones(4), x - 0.5])
    answer, (squares,), *_ = np.linalg.lstsq(design, d, rcond=None)
    covariance = squares / 2 * np.linalg.inv(design.T @ design)
    np.testing.assert_allclose(effect.mean, answer[0])
    np.testing.assert_allclose(effect.standard_error**2, covariance[0, 0])


def test_spread_of_stepped_models_takes_the_noise_of_the_steps_off():
    """std² = Var(e) - mean of squares of the noise, both about the bin's own line."""
    rng = np.random.default_rng(0)
    d, wide, noise = rng.normal(0, 1, (3, 60))
    wide = 3 * wide
    x, effect = three_series(d, wide, noise)
    design = np.column_stack([np.ones(60), x])

    def residual(v):
        return np.linalg.lstsq(design, v, rcond=None)[1][0] / 58

    np.testing.assert_allclose(effect.mean, d.mean())
    np.testing.assert_allclose(effect.std**2, residual(wide) - residual(noise))
    np.testing.assert_allclose(effect.std_plain**2, wide.var(ddof=1) - noise.var(ddof=1))
    np.testing.assert_allclose(effect.standard_error, d.std(ddof=1) / np.sqrt(60))


def test_spread_of_stepped_models_is_never_negative():
    rng = np.random.default_rng(0)
    d, wide, noise = rng.normal(0, 1, (3, 60))
    _, effect = three_series(d, 0.1 * wide, noise)
    assert effect.std.tolist() == effect.std_plain.tolist() == [0.0]


def test_thin_bins_are_noted_and_the_curve_bridges_empty_ones():
    x, d = np.array([0.1, 0.2, 2.5, 2.6, 3.5]), np.array([1.0, 1.0, 3.0, 3.0, 0.0])
    effect = rhale.effect(x, d, bins=rhale.Edges([0, 1, 2, 3, 4]))
    assert effect.notes == (
        "1 of 4 bins have no rows: the curve bridges them",
        "1 of 4 bins have one row: their std is unknown",
    )
    assert np.isnan(effect.mean).tolist() == [False, True, False, False]
    assert np.isnan(effect.std).tolist() == [False, True, False, True]
    np.testing.assert_allclose(effect.curve(effect.edges, center="start"), [0, 1, 3, 6, 6])
    assert np.all(np.isfinite(effect.ci(effect.edges)))


def test_rows_outside_given_limits_are_left_out_and_noted():
    effect = rhale.effect(X, D, bins=1, limits=(0.0, 1.0))
    assert effect.edges.tolist() == [0.0, 1.0]
    assert effect.count.tolist() == [4]
    assert effect.notes == ("2 of 6 rows lie outside [0, 1] and are left out",)


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
    assert example() != example(mean=np.array([2.0, 1e-12]))
    assert example() != example(local_notes=("a note",))
    assert example() != example(sample=LocalEffects(*np.ones((3, 1))))
    assert example(std=np.array([NAN, 1.0])) == example(std=np.array([NAN, 1.0]))
    assert example() != "an effect"
    with pytest.raises(TypeError):
        hash(example())


def test_repr_is_one_line_with_the_most_important():
    text = repr(example())
    assert "\n" not in text
    assert text.startswith("Effect('age', output='y0', 2 bins on [0, 2], importance=")


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


def test_the_typical_spread_is_the_heterogeneity_over_one_deviation_of_the_feature():
    rng = np.random.default_rng(3)
    x, d = rng.exponential(size=500), rng.normal(size=500)
    effect = rhale.effect(x, d, bins=7)
    assert effect.typical_spread == pytest.approx(effect.heterogeneity * x.std(), rel=1e-12)
    weights = rng.random(500)
    weighted = rhale.effect(x, d, bins=7, weights=weights)
    deviation = np.sqrt(np.cov(x, aweights=weights, ddof=0))
    assert weighted.typical_spread == pytest.approx(weighted.heterogeneity * deviation, rel=1e-12)


def test_the_typical_spread_does_not_depend_on_the_unit_of_the_feature():
    rng = np.random.default_rng(4)
    x, d = rng.normal(size=300), rng.normal(size=300)
    dollars, cents = rhale.effect(x, d, bins=5), rhale.effect(100 * x, d / 100, bins=5)
    assert cents.typical_spread == pytest.approx(dollars.typical_spread)
