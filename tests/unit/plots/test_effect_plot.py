from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import rhale
from rhale.effects.effect import LocalEffects
from rhale.effects.staircase import Jump
from rhale.errors import BadSettingError
from rhale.plots import plot_effect, style
from rhale.stats.distributions import student_quantile


def test_the_line_is_the_curve_and_bends_at_every_edge(effect, one):
    top, _ = plot_effect(effect, center="start")
    line = one(top, "curve")
    assert np.isin(effect.edges, line.get_xdata()).all()
    expected = effect.curve(line.get_xdata(), center="start")
    np.testing.assert_allclose(line.get_ydata(), expected)


def test_the_band_is_the_curve_plus_and_minus_the_spread(effect, band):
    top, _ = plot_effect(effect)
    x, low, high = band(top, "spread")
    np.testing.assert_allclose(low, effect.curve(x) - effect.spread(x))
    np.testing.assert_allclose(high, effect.curve(x) + effect.spread(x))


def test_the_ribbon_is_the_interval_of_the_asked_level(effect, band, legend):
    top, _ = plot_effect(effect, level=0.9)
    x, low, high = band(top, "ci")
    np.testing.assert_allclose((low, high), effect.ci(x, level=0.9))
    assert "90 % interval of the mean" in legend(top)


def test_spread_and_uncertainty_have_different_inks(effect, one):
    top, _ = plot_effect(effect)
    inks = {to_hex(one(top, name).get_facecolor()[0]) for name in ("spread", "ci", "counts")}
    inks.add(to_hex(one(top, "curve").get_color()))
    assert len(inks) == 4


def test_spread_and_uncertainty_can_be_left_out(effect, find, legend):
    top, bottom = plot_effect(effect, spread=False, uncertainty=False, violins=False)
    assert not find(top, "spread")
    assert not find(top, "ci")
    assert not find(bottom, "violins")
    assert legend(top) == ["mean effect", "where rows are"]


def test_bars_are_as_wide_as_bins_and_as_high_as_their_effects(effect, one):
    _, bottom = plot_effect(effect)
    for k, path in enumerate(one(bottom, "bars").get_paths()):
        corners = path.vertices
        assert set(corners[:, 0]) == {effect.edges[k], effect.edges[k + 1]}
        np.testing.assert_allclose(np.unique(corners[:, 1]), np.sort([0, effect.mean[k]]))


def test_the_top_of_a_linear_bin_slopes(make_effect, one):
    x = np.linspace(0, 1, 101)
    _, bottom = plot_effect(make_effect(x, 2 * x, [0, 0.5, 1], linear=True))
    tops = np.array([path.vertices[1:3] for path in one(bottom, "bars").get_paths()])
    np.testing.assert_allclose(tops[..., 1], 2 * tops[..., 0], atol=1e-12)


def test_whiskers_reach_one_std_from_the_mean_at_the_middle(effect, one):
    _, bottom = plot_effect(effect)
    ends = np.array(one(bottom, "whiskers").get_segments())
    middle = 0.5 * (effect.edges[1:] + effect.edges[:-1])
    np.testing.assert_allclose(ends[:, :, 0], np.column_stack([middle, middle]))
    np.testing.assert_allclose(ends[:, 0, 1], effect.mean - effect.std)
    np.testing.assert_allclose(ends[:, 1, 1], effect.mean + effect.std)


def test_a_violin_stays_in_its_bin_and_within_its_rows(effect, one):
    _, bottom = plot_effect(effect)
    outlines = [path.vertices for path in one(bottom, "violins").get_paths()]
    assert len(outlines) == effect.mean.size
    for k, outline in enumerate(outlines):
        inside = (effect.sample.x >= effect.edges[k]) & (effect.sample.x < effect.edges[k + 1])
        local_effects = effect.sample.local_effects[inside]
        assert effect.edges[k] <= outline[:, 0].min() < outline[:, 0].max() <= effect.edges[k + 1]
        assert local_effects.min() <= outline[:, 1].min()
        assert outline[:, 1].max() <= local_effects.max()


def test_a_violin_is_widest_where_most_weight_is(make_effect, one):
    d = np.concatenate([np.linspace(0, 1, 90), np.linspace(9, 10, 10)])
    effect = make_effect(np.linspace(0, 1, 100), d, [0, 1])
    _, bottom = plot_effect(effect)
    outline = one(bottom, "violins").get_paths()[0].vertices
    widest = outline[np.argmax(np.abs(outline[:, 0] - 0.5)), 1]
    assert 0 <= widest <= 1


def test_a_violin_shows_deviations_from_a_linear_fit(make_effect, one):
    x = np.linspace(0, 1, 100)
    signs = np.tile([1.0, -1.0, -1.0, 1.0], 25)
    effect = make_effect(x, 100 * x + signs, [0, 1], linear=True)
    _, bottom = plot_effect(effect)
    outline = one(bottom, "violins").get_paths()[0].vertices
    np.testing.assert_allclose([outline[:, 1].min(), outline[:, 1].max()], [49, 51], atol=0.1)


def test_few_rows_are_dots(make_effect, one, find):
    _, bottom = plot_effect(make_effect([0, 0.4, 1], [1, 2, 4], [0, 1]))
    np.testing.assert_allclose(one(bottom, "dots").get_offsets(), [[0, 1], [0.4, 2], [1, 4]])
    assert not find(bottom, "violins")


def test_rows_that_agree_have_no_violin(make_effect, find):
    x = np.linspace(0, 1, 50)
    _, bottom = plot_effect(make_effect(x, np.full(50, 0.1), [0, 1]))
    assert not find(bottom, "violins")


def test_an_empty_bin_is_hatched_and_has_no_bar(make_effect, one, legend):
    effect = make_effect([0, 0.5, 2, 2.5, 3], [1, 2, 3, 4, 5], [0, 1, 2, 3])
    top, bottom = plot_effect(effect)
    assert len(one(bottom, "bars").get_paths()) == 2
    for ax in (top, bottom):
        gap = one(ax, "empty")
        assert gap.get_hatch()
        corners = gap.get_patch_transform().transform(gap.get_path().vertices)  # of any patch
        assert (corners[:, 0].min(), corners[:, 0].max()) == (1, 2)
    assert "no rows" in legend(bottom)


def test_the_strip_is_high_where_rows_are(make_effect, one):
    x = np.concatenate([np.zeros(1), np.full(9, 1.0)])
    top, _ = plot_effect(make_effect(x, x, [0, 0.5, 1]))
    corners = one(top, "counts").get_paths()[0].vertices
    reach = {side: corners[near, 1].max() for side, near in sides(corners)}
    assert reach["right"] == style.STRIP_HEIGHT
    assert reach["left"] == style.STRIP_FLOOR * style.STRIP_HEIGHT  # 1 / 9 would hardly be seen
    assert corners[np.abs(corners[:, 0] - 0.5) < 0.4, 1].max() == 0


def sides(corners):
    return [("left", corners[:, 0] < 0.05), ("right", corners[:, 0] > 0.95)]


def test_without_a_sample_the_strip_shows_the_bins(make_effect, one):
    effect = make_effect([0, 0.5, 1, 1.5, 2, 2.5, 3], np.ones(7), [0, 1, 3], sample=False)
    top, _ = plot_effect(effect)
    corners = one(top, "counts").get_paths()[0].vertices
    density = effect.count / np.diff(effect.edges)
    inside = [corners[np.isclose(corners[:, 0], x), 1].max() for x in (0, 3)]
    np.testing.assert_allclose(inside, style.STRIP_HEIGHT * density / density.max())


@pytest.mark.parametrize("center", ["mean", "start", "uniform"])
def test_an_exact_truth_lies_on_the_curve_whatever_its_level(make_effect, one, center):
    x = np.random.default_rng(2).random(200) ** 2
    effect = make_effect(x, 2 * x, [x.min(), 0.1, 0.5, x.max()], linear=True)
    top, _ = plot_effect(effect, truth=lambda z: z**2 + 7, center=center)
    truth, curve = one(top, "truth"), one(top, "curve")
    np.testing.assert_allclose(truth.get_ydata(), curve.get_ydata(), atol=1e-12)


def test_the_curve_and_the_strip_do_not_overlap(effect, one):
    top, _ = plot_effect(effect)
    low, high = top.get_ylim()
    lowest = one(top, "spread").get_paths()[0].vertices[:, 1].min()
    assert (lowest - low) / (high - low) > style.STRIP_HEIGHT


def test_axes_say_what_they_show(effect):
    top, bottom = plot_effect(effect)
    assert top.get_ylabel() == "effect on y0\n(centred)"
    assert bottom.get_ylabel() == "change of y0 per unit\nof age"
    assert bottom.get_xlabel() == "age"


def test_a_pair_of_axes_comes_back(effect):
    pair = tuple(Figure().subplots(2, 1))
    assert plot_effect(effect, ax=pair) == pair


@pytest.mark.parametrize("layout", [None, "constrained", "tight"])
def test_one_axes_is_divided_in_its_own_place(effect, layout):
    figure = Figure(layout=layout)
    left, right = figure.subplots(1, 2)
    place = left.get_position()
    top, bottom = plot_effect(effect, ax=left)
    assert top is left
    for ax in (top, bottom):
        box = ax.get_position()
        assert place.x0 <= box.x0 < box.x1 <= place.x1
        assert place.y0 - 1e-9 <= box.y0 < box.y1 <= place.y1 + 1e-9
    figure.draw_without_rendering()
    assert bottom.get_position().y1 < top.get_position().y0
    assert top.get_tightbbox().x1 < right.get_position().x0 * figure.bbox.width


def test_axes_placed_by_hand_are_divided_too(effect, render):
    ax = Figure().add_axes((0.1, 0.2, 0.8, 0.7))
    top, bottom = plot_effect(effect, ax=ax)
    assert top.get_position().y1 == pytest.approx(0.9)
    assert bottom.get_position().y0 == pytest.approx(0.2)
    assert bottom.get_position().y1 < top.get_position().y0
    assert render(top)


@pytest.mark.parametrize("ax", [[], "ax", (1, 2)])
def test_something_else_than_axes_is_refused(effect, ax):
    with pytest.raises(BadSettingError, match="pair"):
        plot_effect(effect, ax=ax)


def test_inset_axes_are_refused(effect):
    inset = Figure().subplots().inset_axes((0.1, 0.1, 0.5, 0.5))
    with pytest.raises(BadSettingError, match="pair of axes"):
        plot_effect(effect, ax=inset)


def test_a_constant_feature_is_said_in_words(make_effect, one, find, render):
    effect = make_effect(np.full(9, 3.0), np.arange(9.0), [3, 3])
    top, bottom = plot_effect(effect)
    assert one(top, "constant").get_text() == "constant: one value 3,\nno curve"
    assert not find(top, "curve")
    assert one(bottom, "bars").get_ydata() == [4.0]
    assert render(top)


def test_bounds_do_not_grow_when_drawn_twice(effect):
    pair = Figure().subplots(2, 1)
    top, _ = plot_effect(effect, ax=pair)
    once = top.get_ylim()
    plot_effect(effect, ax=pair)
    assert top.get_ylim() == once


def test_a_feature_of_two_values_has_ticks_at_both_and_none_between():
    x = np.repeat([1.0, 2.0], 30)
    top, bottom = plot_effect(rhale.effect(x, np.linspace(0, 1, 60), name="sex"))
    assert top.get_xticks().tolist() == bottom.get_xticks().tolist() == [1.0, 2.0]


HEIGHTS = [-1.25, 0.75, -0.25]  # of the stepped effect: before, between and behind its jumps


def test_a_staircase_is_drawn_with_flat_treads_and_vertical_jumps(stepped, one):
    x, y = one(plot_effect(stepped)[0], "curve").get_data()
    turns = np.flatnonzero(np.diff(y))
    np.testing.assert_array_equal(x[turns + 1], [1.0, 3.0])
    np.testing.assert_array_equal(x[turns], np.nextafter([1.0, 3.0], -np.inf))
    np.testing.assert_allclose(y[[0, *(turns + 1)]], HEIGHTS)


def test_band_and_ribbon_of_a_staircase_jump_with_it(stepped, band):
    top, _ = plot_effect(stepped, center="start")
    half = student_quantile(0.95, np.array([1.0]))[0] * 0.1 * np.sqrt(2)
    for name, reach in (("spread", [0.0, 0.0, 0.0]), ("ci", [0.0, half, half])):
        x, low, high = band(top, name)
        tread = np.searchsorted([1.0, 3.0], x, "right")
        np.testing.assert_allclose(low, np.array([0.0, 2.0, 1.0])[tread] - np.array(reach)[tread])
        np.testing.assert_allclose(high, np.array([0.0, 2.0, 1.0])[tread] + np.array(reach)[tread])


@pytest.mark.parametrize("smooth", [False, True])
def test_smooth_chooses_the_line_and_its_interval(stepped, one, band, smooth):
    top, _ = plot_effect(stepped, smooth=smooth)
    line = one(top, "curve")
    expected = stepped.curve(line.get_xdata(), smooth=smooth)
    np.testing.assert_array_equal(line.get_ydata(), expected)
    x, low, high = band(top, "ci")
    np.testing.assert_allclose((low, high), stepped.ci(x, smooth=smooth))


def test_a_smooth_model_is_drawn_the_same_either_way(effect, one):
    lines = [one(plot_effect(effect, smooth=s)[0], "curve").get_xydata() for s in (False, True)]
    np.testing.assert_array_equal(*lines)


def rough(effect, std):
    """Sampled slopes that differ far more than `std` says, as steps of a model make them."""
    x = np.sort(effect.sample.x)
    slopes = np.resize([5.0, -5.0, -5.0, 5.0], x.size)  # no line leans on such rows
    sample = LocalEffects(x, slopes, np.ones(x.size))
    return replace(effect, sample=sample, std=np.full(effect.mean.size, std))


def test_rows_that_do_not_differ_have_no_violin(stepped, find):
    _, bottom = plot_effect(rough(stepped, 0.0))
    assert not find(bottom, "violins")
    (whiskers,) = find(bottom, "whiskers")
    assert all(np.ptp(ends[:, 1]) == 0 for ends in whiskers.get_segments())


def test_a_violin_of_a_staircase_is_as_wide_as_its_whisker(stepped, one):
    _, bottom = plot_effect(rough(stepped, 0.25))
    bodies = one(bottom, "violins").get_paths()
    assert len(bodies) == 4
    for body, mean in zip(bodies, stepped.mean, strict=True):  # two values, one std either side
        low, high = body.vertices[:, 1].min(), body.vertices[:, 1].max()
        np.testing.assert_allclose((low, high), (mean - 0.25, mean + 0.25), atol=0.02)


def test_bars_of_a_staircase_are_flat(stepped, one):
    leaning = replace(stepped, slope=np.full(4, 0.5))
    _, bottom = plot_effect(leaning)
    tops = np.array([path.vertices[1:3, 1] for path in one(bottom, "bars").get_paths()])
    np.testing.assert_allclose(tops, np.column_stack([stepped.mean] * 2))
    np.testing.assert_allclose(stepped.mean, [2.0, 0.0, -1.0, 0.0])


def narrow(stepped):
    """The stepped effect with a narrow bin around its first jump, and how its axis is cut."""
    x = np.linspace(0.0, 4.0, 401)
    bins = rhale.Edges([0, 0.985, 1.005, 2, 4])
    made = replace(rhale.effect(x, np.zeros(x.size), bins=bins), stairs=stepped.stairs)
    vars(made)["jumps"] = (Jump(1.0, 1.0, 2.0),)
    return made


def test_a_bar_that_holds_a_jump_is_cut_and_says_how_far_it_goes(stepped, one):
    _, bottom = plot_effect(narrow(stepped))
    low, high = bottom.get_ylim()
    assert -0.7 < low < -0.5
    assert 0.25 < high < 0.4
    assert one(bottom, "jumps").get_text().strip() == "jumps by 2"
    tops = [path.vertices[1, 1] for path in one(bottom, "bars").get_paths()]
    np.testing.assert_allclose(tops, [0, 100, 0, -0.5], atol=1e-9)


def test_slopes_of_other_effects_are_shown_whole(effect, find):
    _, bottom = plot_effect(effect)
    assert not find(bottom, "jumps")


def test_bars_of_a_staircase_are_known_without_rows(stepped, one):
    x = np.concatenate([np.linspace(0, 0.9, 50), np.linspace(2, 4, 50)])
    made = rhale.effect(x, np.zeros(x.size), bins=rhale.Edges([0, 0.95, 1.5, 4]))
    _, bottom = plot_effect(replace(made, stairs=stepped.stairs))
    tops = [path.vertices[1, 1] for path in one(bottom, "bars").get_paths()]
    np.testing.assert_allclose(tops, [0, 2 / 0.55, -1 / 2.5])
