from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from rhale.effects.table import Missing
from rhale.plots import plot_all, plot_compare, plot_effect, plot_profile
from rhale.plots.axes import PANEL

MISSING = Missing(5, 0.2, -3.0, 0.5, 25.0)
REACH = 1.959964 * 0.1  # 95 %, standard error 0.5 / 5


@pytest.fixture
def numbers(effect):
    return replace(effect, missing=MISSING)


@pytest.fixture
def levels(make_levels):
    return make_levels(("a", "b", "c"), [1.0, 2.0], noise=0.1, missing=MISSING)


def side(ax):
    (found,) = [child for child in ax.child_axes if child.get_gid() == PANEL]
    return found


def height(artist):
    return float(np.asarray(artist.get_offsets())[0, 1])


def reach(lines):
    segment = np.array(lines.get_segments())[-1]
    return segment[:, 1].tolist()


def test_missing_values_have_a_panel_right_of_the_axes(numbers, one):
    top, bottom = plot_effect(numbers)
    beside = side(top)
    assert height(one(beside, "missing")) == -3.0
    np.testing.assert_allclose(reach(one(beside, "ci")), [-3 - REACH, -3 + REACH], rtol=1e-6)
    np.testing.assert_allclose(reach(one(beside, "spread")), [-3.5, -2.5])
    assert [text.get_text() for text in beside.get_xticklabels()] == ["missing\n20 %"]
    assert beside.get_ylim() == top.get_ylim()
    assert top.get_ylim()[0] < -3.5
    assert not bottom.child_axes


def test_the_panel_is_apart_and_inside_the_figure(numbers):
    top, _ = plot_effect(numbers)
    top.figure.draw_without_rendering()
    beside = side(top)
    assert top.get_window_extent().x1 < beside.get_window_extent().x0
    assert beside.get_tightbbox().x1 <= top.figure.bbox.x1


@pytest.mark.parametrize("center", ["mean", "start", "uniform"])
def test_the_point_moves_with_the_curve(numbers, levels, one, center):
    shift = numbers.curve(0.5, center=center) - numbers.curve(0.5)
    top, _ = plot_effect(numbers, center=center)
    assert height(one(side(top), "missing")) == pytest.approx(shift - 3.0)
    shift = (levels.curve(center=center) - levels.curve())[0]
    top, _ = plot_effect(levels, center=center)
    assert height(one(top, "missing")) == pytest.approx(shift - 3.0)


def test_missing_values_stand_after_the_last_level(levels, one):
    top, bottom = plot_effect(levels)
    place = float(np.asarray(one(top, "missing").get_offsets())[0, 0])
    assert place == 3.5
    assert bottom.get_xticks().tolist() == [0, 1, 2, 3.5]
    assert bottom.get_xticklabels()[-1].get_text() == "missing"
    assert 2 < one(top, "apart").get_xdata()[0] < 3.5
    np.testing.assert_allclose(reach(one(top, "spread")), [-3.5, -2.5])
    np.testing.assert_allclose(reach(one(top, "ci")), [-3 - REACH, -3 + REACH], rtol=1e-6)


def test_the_strip_shows_how_many_are_missing(levels, one):
    """A fifth is missing, and each level has a third of the rest."""
    top, _ = plot_effect(levels)
    heights = np.array(one(top, "counts").get_segments())[:, 1, 1]
    np.testing.assert_allclose(heights[3] / heights[0], 0.2 / (0.8 / 3))


def test_spread_and_uncertainty_can_be_left_out(numbers, find):
    top, _ = plot_effect(numbers, spread=False, uncertainty=False)
    assert not find(side(top), "spread")
    assert not find(side(top), "ci")


def test_drawing_twice_makes_no_second_panel(numbers):
    top, bottom = plot_effect(numbers)
    plot_effect(numbers, ax=(top, bottom))
    assert len(top.child_axes) == 1


def test_what_was_not_measured_is_not_drawn(numbers, levels, find):
    unknown = Missing(5, 0.2, np.nan, np.nan, 0.0)
    top, _ = plot_effect(replace(numbers, missing=unknown))
    assert not top.child_axes
    top, _ = plot_effect(replace(levels, missing=unknown))
    assert not find(top, "missing")


def test_a_constant_feature_shows_its_missing_values(make_effect, make_levels, one, render):
    constant = make_effect(np.full(9, 3.0), np.arange(9.0), [3, 3])
    top, _ = plot_effect(replace(constant, missing=MISSING))
    assert height(one(side(top), "missing")) == -3.0
    assert top.get_ylim()[0] < -3.5
    only, _ = plot_effect(make_levels(("only",), (), missing=MISSING))
    assert height(one(only, "missing")) == -3.0
    assert "one level" in one(only, "constant").get_text()
    assert render(top)
    assert render(only)


def test_a_profile_shows_the_prediction_without_a_value(make_profile, one, find):
    profile = replace(make_profile("pdp"), missing=MISSING)
    ax = plot_profile(profile, center=None)
    assert height(one(side(ax), "missing")) == -3.0
    np.testing.assert_allclose(reach(one(side(ax), "spread")), [-3.5, -2.5])
    ax = plot_profile(profile)
    assert height(one(side(ax), "missing")) == pytest.approx(-3.0 - profile.share @ profile.mean)
    assert not find(side(ax), "spread")  # of centred curves it is not known


def test_a_profile_of_one_value_shows_its_missing_values(make_profile, one):
    constant = replace(make_profile("pdp", n_points=1), missing=MISSING)
    ax = plot_profile(constant, center=None)
    assert height(one(side(ax), "missing")) == -3.0
    ax = plot_profile(replace(constant, levels=("only",)), center=None)
    assert height(one(ax, "missing")) == -3.0


def test_slopes_have_no_missing_values(make_profile):
    profile = replace(make_profile("pdp"), missing=MISSING)
    assert not plot_profile(profile, derivatives=True).child_axes


def test_small_panels_show_missing_values_and_make_room_for_them(numbers, levels, one):
    first, second = plot_all([numbers, replace(levels, name="city")])
    assert height(one(side(first), "missing")) == -3.0
    assert height(one(second, "missing")) == -3.0
    assert first.get_ylim() == second.get_ylim()
    assert first.get_ylim()[0] < -3.0 - REACH


def test_a_cut_spread_of_missing_values_is_marked(numbers, find):
    wide = replace(numbers, missing=replace(MISSING, std=500.0, rows=1e9))
    (panel,) = plot_all([wide])
    assert find(side(panel), "cut")


def test_missing_values_of_several_results_stand_side_by_side(numbers, levels, find):
    ax = plot_compare({"a": numbers, "b": numbers})
    points = find(side(ax), "missing")
    assert len({float(p.get_offsets()[0, 0]) for p in points}) == 2
    ax = plot_compare({"a": levels, "b": levels})
    assert len({float(p.get_offsets()[0, 0]) for p in find(ax, "missing")}) == 2


def test_without_a_layout_engine_the_panel_stays_in_the_place_of_the_axes(numbers):
    figure = Figure()
    left, _ = figure.subplots(1, 2)
    place = left.get_position()
    top, bottom = plot_effect(numbers, ax=left)
    figure.draw_without_rendering()
    assert top.get_position().x1 == pytest.approx(bottom.get_position().x1)
    assert side(top).get_window_extent().x1 <= place.x1 * figure.bbox.width + 1


def test_a_later_tight_layout_finds_room_for_the_panel(numbers):
    figure = Figure()
    left, right = plot_all([numbers, replace(numbers, name="b")], axes=figure.subplots(1, 2))
    figure.tight_layout()
    figure.draw_without_rendering()
    assert side(left).get_tightbbox().x1 < right.get_tightbbox().x0
