"""The example of the introduction: two opposite slopes that cancel on average."""

import numpy as np
import pytest

import problems
import rhale

PROBLEM = problems.intro()
TABLES = {"published": PROBLEM.paper_sample(), "fresh": PROBLEM.draw(2000, seed=5)}
TABLES |= {f"small {seed}": PROBLEM.draw(300, seed=seed) for seed in (1, 2, 3)}

each_table = pytest.mark.parametrize("rows", TABLES.values(), ids=TABLES)
SETTINGS = rhale.Optimal(max_bins=20, discount=0.5, min_points=10)


def explain(rows, **options):
    return rhale.explain(PROBLEM.predict, rows, gradient=PROBLEM.gradient, **options)


@each_table
def test_opposite_slopes_give_one_bin_without_effect_and_with_spread_five(rows):
    effect = explain(rows, bins=SETTINGS)["x1"]  # the paper counts from 1, columns from 0
    assert effect.mean.size == 1
    assert effect.count.tolist() == [len(rows)]
    assert abs(effect.mean[0]) <= 3 * effect.standard_error[0]
    # d is -5 or 5, so std² (n-1)/n + mean² is 25 exactly
    n = len(rows)
    assert effect.std[0] ** 2 * (n - 1) / n + effect.mean[0] ** 2 == pytest.approx(25, rel=1e-12)


@each_table
def test_spread_of_the_opposite_slopes_accumulates_to_five_times_the_range(rows):
    effect = explain(rows, bins=SETTINGS)["x1"]
    low, high = effect.edges[[0, -1]]
    found = effect.spread(high, center="start", accumulate="sum")
    assert found == pytest.approx(5 * (high - low), rel=0.03)
    # measured from rows moved near their own value: a hundred rows, four at a place
    assert effect.spread(high, center="start") == pytest.approx(5 * (high - low), rel=0.1)


@each_table
def test_usual_settings_find_neither_an_effect_nor_a_small_spread(rows):
    effect = explain(rows)["x1"]
    error = np.hypot.reduce(effect.standard_error * np.diff(effect.edges))
    assert abs(effect.curve(effect.edges[-1], center="start")) <= 3 * error + 1e-12
    # splitting an axis cannot take more than n/(n-bins) off the mean of std²
    assert effect.heterogeneity == pytest.approx(5, rel=0.03)


@each_table
def test_the_switch_has_no_derivative_so_no_effect_and_no_spread(rows):
    effect = explain(rows)["x2"]
    assert effect.edges.tolist() == [rows[:, 2].min(), rows[:, 2].max()]
    assert effect.mean.tolist() == [0.0]
    assert effect.std.tolist() == [0.0]
    assert effect.importance == 0.0


@each_table
@pytest.mark.parametrize("bins", [None, SETTINGS], ids=["usual", "published"])
def test_a_constant_slope_is_one_bin_in_spite_of_rounding(rows, bins):
    effect = explain(rows, bins=bins)["x0"]
    assert effect.mean.size == 1
    assert effect.mean == pytest.approx([0.2], rel=1e-14)
    assert effect.std[0] < 1e-15


@pytest.mark.parametrize("slope", [0.2, 0.25, 0.1, 1 / 3, 1e-9, 7e9, -0.7])
@pytest.mark.parametrize("ddof", [0, 1])
def test_any_constant_effect_is_one_bin(slope, ddof):
    x = np.random.default_rng(0).uniform(-1, 1, 502)
    bins = rhale.Optimal(max_bins=20, discount=0.5, min_points=10, ddof=ddof)
    effect = rhale.effect(x, np.full(502, slope), bins=bins)
    assert effect.mean.size == 1
    assert effect.mean == pytest.approx([slope], rel=1e-14)


@pytest.mark.parametrize("slope", [0.2, 1 / 3, 7e9])
def test_a_slope_that_differs_in_its_last_digit_only_is_one_bin(slope):
    x = np.random.default_rng(0).uniform(-1, 1, 502)

    def n_bins(other):
        d = np.where(x < 0.3, slope, other)
        return rhale.effect(x, d, bins=SETTINGS, limits=(-1, 1)).mean.size

    assert n_bins(np.nextafter(slope, np.inf)) == 1
    assert n_bins(1.01 * slope) == 2


def test_the_spread_printed_as_a_root_of_squares_shrinks_with_the_bins():
    rows = PROBLEM.paper_sample()
    fx = [explain(rows, bins=bins)["x1"] for bins in (rhale.Fixed(1), rhale.Fixed(20))]
    one, many = (e.spread(1.0, center="start", accumulate="quadrature") for e in fx)
    summed = fx[0].spread(1.0, center="start", accumulate="sum")
    assert one == pytest.approx(summed, rel=1e-12)
    assert many < one / 4  # 1 / sqrt(20), up to sampling
