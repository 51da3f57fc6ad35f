from dataclasses import replace

import numpy as np
import pytest

import rhale
from rhale.plots import plot_effect, plot_profile
from rhale.plots.effect import LEAST_SPAN, describe_relative_importance, is_negligible_effect

X = np.linspace(-1.0, 1.0, 201)


@pytest.fixture
def straight(make_effect):
    """Straight lines through 0: their importance is their slope times the deviation of x."""
    return lambda slope: make_effect(X, np.full(X.size, float(slope)))


def test_a_small_effect_does_not_fill_its_picture(straight):
    large, small = straight(1.0), straight(0.001)
    top, _ = plot_effect(small, among=[large, small])
    low, high = top.get_ylim()
    assert high - low == pytest.approx(LEAST_SPAN * X.std())
    assert low < 0 < high
    alone, _ = plot_effect(small)
    assert np.ptp(alone.get_ylim()) < 0.003


def test_a_large_effect_keeps_its_axis(straight):
    large, small = straight(1.0), straight(0.001)
    among, _ = plot_effect(large, among=[large, small])
    alone, _ = plot_effect(large)
    assert among.get_ylim() == alone.get_ylim()


def test_rounding_is_a_flat_line_in_both_panels(straight):
    large, noise = straight(1.0), straight(1e-13)
    top, bottom = plot_effect(noise, among=[large, noise])
    assert np.ptp(top.get_ylim()) == pytest.approx(LEAST_SPAN * X.std())
    assert np.ptp(bottom.get_ylim()) == pytest.approx(LEAST_SPAN * X.std() / 2)
    assert is_negligible_effect(noise, [large, noise])
    assert not is_negligible_effect(noise, [noise])


@pytest.mark.parametrize(
    ("slope", "told"),
    [
        (2.0, ", the most important of 2 features"),
        (0.5, ", 25 % of the most important feature"),
        (0.01, ", 0.5 % of the most important feature"),
        (1e-4, ", less than 0.1 % of the most important feature"),
    ],
)
def test_the_size_is_told_beside_the_largest(straight, slope, told):
    result, other = straight(slope), straight(2.0 if slope < 2 else 0.1)
    assert describe_relative_importance(result, [other, result]).endswith(told)


def test_rounding_is_said_to_be_nothing(straight):
    noise = straight(1e-13)
    assert (
        describe_relative_importance(noise, [straight(1.0), noise])
        == "importance 0: no effect but rounding"
    )


def test_alone_nothing_is_said(straight):
    assert describe_relative_importance(straight(1.0), [straight(1.0)]) == ""
    assert describe_relative_importance(straight(1.0), ()) == ""


def test_levels_and_profiles_are_kept_in_proportion_too(straight, make_levels, make_profile):
    large = straight(1000.0)
    levels = make_levels(("a", "b"), 0.001)
    ax = plot_effect(levels, kind="curve", among=[large, levels])
    assert np.ptp(ax.get_ylim()) == pytest.approx(LEAST_SPAN * 1000 * X.std())
    profile = make_profile("pdp")
    assert np.ptp(plot_profile(profile, among=[large, profile]).get_ylim()) == pytest.approx(
        LEAST_SPAN * 1000 * X.std()
    )


def test_an_explanation_knows_its_largest_effect():
    rows = np.random.default_rng(0).normal(size=(300, 2))
    fx = rhale.explain(lambda rows: rows[:, 0] + 1e-4 * rows[:, 1], rows)
    top, _ = fx.plot("x1")
    assert np.ptp(top.get_ylim()) == pytest.approx(LEAST_SPAN * fx["x0"].importance)
    assert (
        "less than 0.1 % of the most important feature" in top.get_legend().get_title().get_text()
    )


def test_an_unknown_importance_is_left_out(straight):
    unknown = replace(straight(1.0), captions=straight(1.0).captions)
    assert describe_relative_importance(unknown, [unknown, straight(0.5)]).endswith(
        "the most important of 2 features"
    )
