from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.figure import Figure

import rhale
from rhale.errors import BadSettingError
from rhale.output.labels import Captions
from rhale.output.number_format import write_with_error
from rhale.plots import plot_all

X = np.linspace(0, 1, 201)
SIGNS = np.where(np.arange(201) % 2, 1.0, -1.0)
LIMITS = [0, 0.5, 1]


def figure_legend(panels):
    return [text.get_text() for text in panels[0].figure.legends[0].get_texts()]


@pytest.fixture
def many(make_effect):
    def make(n_features, outputs=("y0",), spread=0.1):
        return [
            make_effect(X, (i + 1) * (1 + j) * np.ones(201) + spread * SIGNS, LIMITS,
                        name=f"x{i}", output=output)
            for i in range(n_features)
            for j, output in enumerate(outputs)
        ]  # fmt: skip

    return make


@pytest.mark.parametrize("n_features", [1, 2, 8, 40])
def test_every_feature_has_a_panel_in_the_given_order(many, n_features, render):
    effects = many(n_features)[::-1]
    panels = plot_all(effects, top=n_features)
    assert panels.shape == (n_features,)
    assert [ax.get_title("left") for ax in panels] == [effect.name for effect in effects]
    assert render(panels[0])


def test_the_figure_grows_with_the_number_of_features(many):
    heights = [plot_all(many(n), top=n)[0].figure.get_figheight() for n in (5, 20, 40)]
    assert heights == sorted(set(heights))


def test_titles_of_forty_long_names_do_not_overlap(make_effect):
    names = [f"measurement_number_{i}_of_a_long_series" for i in range(40)]
    panels = plot_all([make_effect(X, SIGNS, LIMITS, name=name) for name in names], top=40)
    panels[0].figure.draw_without_rendering()
    boxes = [ax._left_title.get_window_extent() for ax in panels]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes[:5]))


def test_each_panel_shows_curve_spread_interval_and_counts(many, one, band):
    effects = many(3)
    for ax, effect in zip(plot_all(effects, level=0.5), effects, strict=True):
        line = one(ax, "curve")
        np.testing.assert_allclose(line.get_ydata(), effect.curve(line.get_xdata()))
        x, low, high = band(ax, "ci")
        np.testing.assert_allclose((low, high), effect.ci(x, level=0.5))
        assert one(ax, "spread")
        assert one(ax, "counts")


def test_panels_share_the_y_axis_if_asked(many):
    shared = {ax.get_ylim() for ax in plot_all(many(4))}
    own = {ax.get_ylim() for ax in plot_all(many(4), sharey=False)}
    assert len(shared) == 1
    assert len(own) == 4


def test_titles_tell_importance_and_typical_spread(make_effect, one):
    effect = make_effect(X, np.full(201, 3.0), LIMITS)
    (ax,) = plot_all([effect])
    words = one(ax, "numbers").get_text()
    size = write_with_error(effect.importance, effect.importance_error)
    assert f"importance {size}\n" in words
    assert "typical spread 0" in words


def test_the_spread_does_not_flatten_the_curves(many, find):
    panels = plot_all(many(3, spread=100.0))
    low, high = panels[0].get_ylim()
    curve = max(np.ptp(find(ax, "curve")[0].get_ydata()) for ax in panels)
    whole = max(np.ptp(find(ax, "ci")[0].get_paths()[0].vertices[:, 1]) for ax in panels)
    assert high - low < 2.5 * max(curve, whole)
    assert all(len(find(ax, "cut")) == 2 for ax in panels)
    assert "spread goes on beyond" in figure_legend(panels)


def test_a_spread_that_fits_is_shown_whole(many, find, band):
    (ax,) = plot_all(many(1))
    _, low, high = band(ax, "spread")
    bottom, top = ax.get_ylim()
    assert bottom < low.min() < high.max() < top
    assert not find(ax, "cut")


def test_outputs_share_the_panel_of_their_feature(many, find):
    effects = many(2, outputs=("a", "b", "c"))
    panels = plot_all(effects)
    assert panels.shape == (2,)
    for ax in panels:
        lines = find(ax, "curve")
        assert [line.get_label() for line in lines] == ["a", "b", "c"]
        assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 3
        assert not find(ax, "spread")
    assert figure_legend(panels)[0] == "a"


def test_of_many_outputs_the_largest_are_drawn_and_the_legend_says_so(many, find):
    panels = plot_all(many(1, outputs=tuple("abcdefgh")))
    assert [line.get_label() for line in find(panels[0], "curve")] == list("cdefgh")
    assert panels[0].figure.legends[0].get_title().get_text() == "6 of 8 outputs: the largest"


def told(panels):
    return panels[0].figure.legends[0].get_title().get_text()


def test_the_largest_features_can_be_drawn_in_the_given_order(many):
    panels = plot_all(many(5), top=2)  # x4 has the largest slope
    assert [ax.get_title("left") for ax in panels] == ["x3", "x4"]
    assert told(panels) == "2 of 5 features: the largest"


def test_what_is_left_is_said_without_a_legend_too(many):
    with rhale.style(legend=False):
        panels = plot_all(many(3), top=2)
    assert not panels[0].figure.legends
    assert panels[0].figure.get_supxlabel().startswith("2 of 3 features")


def test_columns_can_be_chosen(many):
    panels = plot_all(many(6), columns=2)
    assert panels[0].get_subplotspec().get_gridspec().get_geometry() == (3, 2)


def test_given_axes_come_back_in_order(many):
    axes = Figure().subplots(2, 3)
    panels = plot_all(many(5), axes=axes)
    assert list(panels) == list(axes.ravel()[:5])
    assert not axes[1, 2].has_data()


def test_one_given_axes_is_enough_for_one_feature(many):
    ax = Figure().subplots()
    assert list(plot_all(many(1), axes=ax)) == [ax]


def test_too_few_axes_are_refused(many):
    with pytest.raises(BadSettingError, match="5 features"):
        plot_all(many(5), axes=Figure().subplots(2, 2))


def test_nothing_to_plot_is_refused():
    with pytest.raises(BadSettingError, match="nothing to plot"):
        plot_all([])


@pytest.mark.parametrize("setting", [{"columns": 0}, {"top": 0}, {"columns": 1.5}])
def test_numbers_must_be_positive_and_whole(many, setting):
    with pytest.raises(BadSettingError, match="positive whole number"):
        plot_all(many(2), **setting)


def test_a_constant_feature_keeps_its_panel(many, make_effect, one, render):
    constant = make_effect(np.full(5, 3.0), np.ones(5), [3, 3], name="c")
    panels = plot_all([constant, *many(3)])
    assert "one value 3" in one(panels[0], "constant").get_text()
    assert render(panels[0])


def test_profiles_and_effects_stand_side_by_side(many, make_profile, render):
    panels = plot_all([*many(2), make_profile("pdp", name="p")])
    assert panels[2].get_title("left") == "p"
    assert render(panels[2])


def test_a_new_figure_has_twenty_panels_at_most_and_says_so(many):
    panels = plot_all(many(24))
    assert [ax.get_title("left") for ax in panels] == [f"x{i}" for i in range(4, 24)]
    assert told(panels) == "20 of 24 features: the largest"
    assert len(plot_all(many(24), axes=Figure().subplots(4, 6))) == 24


def test_limits_and_scales_may_differ_by_feature(many, one):
    first, second = plot_all(many(2), limits={"x1": (0.2, 0.5)}, xscale={"x1": "log"})
    assert first.get_xlim()[0] < 0
    assert second.get_xlim() == (0.2, 0.5)
    assert (first.get_xscale(), second.get_xscale()) == ("linear", "log")
    assert second.get_xlabel() == "(log scale)"
    assert one(second, "curve").get_xdata()[[0, -1]].tolist() == [0.2, 0.5]


def test_settings_of_features_that_are_not_drawn_are_refused(many):
    with pytest.raises(
        BadSettingError, match=r"limits= names 'x7', which is not drawn; Known: 'x0', 'x1'"
    ):
        plot_all(many(2), limits={"x7": (0, 1)})
    with pytest.raises(BadSettingError, match="xscale= names 'y'"):
        plot_all(many(2), xscale={"y": "log"})


def test_shared_heights_follow_what_is_shown(make_effect):
    steep = make_effect(X, np.where(X < 0.5, 0.0, 100.0), LIMITS, name="a")
    (ax,) = plot_all([steep], limits=(0.0, 0.5), center="start")
    assert max(np.abs(ax.get_ylim())) < 2  # 50 at the end of the data


@pytest.fixture
def mixed(many, make_levels):
    number = many(1)[0]
    return [
        number,
        replace(number, name="date", kind="date", edges=19000 + 100 * number.edges),
        make_levels(("a", "b", "c"), 1.0, name="category", noise=0.3),
        make_levels(("1", "2", "5"), 1.0, name="steps", edges=[1.0, 2.0, 5.0]),
        make_levels(("only",), (), name="one level"),
    ]


def test_all_kinds_of_features_share_one_y_axis(mixed, one, render):
    panels = plot_all(mixed)
    assert len({ax.get_ylim() for ax in panels}) == 1
    dots = np.asarray(one(panels[2], "levels").get_offsets())
    np.testing.assert_allclose(dots[:, 1], mixed[2].curve())
    assert one(panels[3], "curve")
    assert "one level" in one(panels[4], "constant").get_text()
    assert render(panels[0])


def test_one_legend_explains_dots_and_lines(mixed):
    words = figure_legend(plot_all(mixed))
    assert len(words) == len(set(words))
    assert words[:3] == ["mean effect", "± spread between rows", "95 % interval of the mean"]


def test_levels_of_several_outputs_have_several_colours(make_levels, find):
    effects = [make_levels(("a", "b"), 1.0, output=output) for output in "xyz"]
    (ax,) = plot_all(effects)
    dots = find(ax, "levels")
    assert [d.get_label() for d in dots] == list("xyz")
    assert len({tuple(d.get_facecolor()[0]) for d in dots}) == 3
    whiskers = find(ax, "ci")
    assert [tuple(w.get_color()[0]) for w in whiskers] == [
        tuple(d.get_facecolor()[0]) for d in dots
    ]


def test_names_of_levels_get_room_below_the_panels(many, make_levels):
    names = [f"category number {i}" for i in range(9)]
    panels = plot_all([*many(5), make_levels(names, 1.0)])
    plain = plot_all(many(6))
    assert panels[0].figure.get_figheight() > plain[0].figure.get_figheight()
    panels[0].figure.draw_without_rendering()
    texts = [text for text in panels[5].get_xticklabels() if text.get_text()]
    assert all(text.get_window_extent().y0 > 0 for text in texts)


@pytest.mark.parametrize("smooth", [False, True])
def test_all_features_are_drawn_smooth_or_as_they_are(stepped, effect, one, smooth):
    panels = plot_all([stepped, replace(effect, name="height")], smooth=smooth)
    for ax, result in zip(panels, (stepped, effect), strict=True):
        line = one(ax, "curve")
        expected = result.curve(line.get_xdata(), smooth=smooth)
        np.testing.assert_array_equal(line.get_ydata(), expected)


def region_names(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_regions_are_drawn_and_named_above_their_panel(by_sex, effect, find, one, render):
    panels = plot_all([by_sex, replace(effect, name="height")], regions=True)
    assert region_names(panels[0]) == ["sex = f, 48 %", "sex = m, 52 %"]
    assert one(panels[0], "numbers").get_text().endswith("\nby sex (92 ± 1 %)")
    assert len(find(panels[0], "curve")) == 2
    assert one(panels[0], "common")
    assert not find(panels[0], "spread")
    assert panels[1].get_legend() is None
    assert one(panels[1], "spread")
    assert render(panels[0])
    low, high = panels[0].get_ylim()
    assert low < min(line.get_ydata().min() for line in find(panels[0], "curve"))
    assert high > max(line.get_ydata().max() for line in find(panels[0], "curve"))


def test_names_above_panels_do_not_touch(by_sex, one):
    (ax, _) = plot_all([by_sex, replace(by_sex, name="height")], regions=True)
    ax.figure.draw_without_rendering()
    names, numbers = ax.get_legend().get_window_extent(), one(ax, "numbers").get_window_extent()
    title = ax._left_title.get_window_extent()
    assert ax.get_window_extent().y1 <= names.y0
    assert names.y1 <= numbers.y0 + 1
    assert numbers.y1 <= title.y0 + 1
    assert title.y1 <= ax.figure.bbox.y1


def test_regions_have_wide_panels(by_sex):
    effects = [replace(by_sex, name=f"x{i}") for i in range(8)]
    panels = plot_all(effects, regions=True)
    assert panels[0].get_subplotspec().get_gridspec().ncols == 3


def test_regions_of_several_outputs_or_of_nothing_are_refused(by_sex, many):
    with pytest.raises(BadSettingError, match=r"one output a panel, and there are 2.*output='y0'"):
        plot_all([by_sex, replace(by_sex, output="y1")], regions=True)
    with pytest.raises(BadSettingError, match=r"'x0' has no regions to plot.*not requested"):
        plot_all(many(2), regions=True)


def test_given_axes_keep_the_names_of_regions(by_sex, render):
    (ax,) = plot_all([by_sex], regions=True, axes=Figure().subplots())
    assert region_names(ax) == ["sex = f, 48 %", "sex = m, 52 %"]
    assert render(ax)


def test_features_stand_by_the_importance_that_is_shown():
    # 'x2' moves most the output that is not drawn, the least important of seven
    rows = np.random.default_rng(0).normal(size=(400, 3))
    slopes = np.array([[0.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0], [0.0, 0.1, 0.2, 0.1, 0.1, 0.1, 0.1]])
    slopes = np.vstack([slopes, [0.5, 0.05, 0.0, 0.0, 0.0, 0.0, 0.0]])
    panels = rhale.explain(lambda rows: rows @ slopes, rows).plot()
    assert [ax.get_title("left") for ax in panels] == ["x0", "x1", "x2"]
    told = [t.get_text() for ax in panels for t in ax.texts if t.get_gid() == "rhale:numbers"]
    shown = [float(words.rpartition(" ")[2]) for words in told]
    assert shown == sorted(shown, reverse=True)
    assert shown[2] == pytest.approx(0.05 * rows[:, 2].std(), rel=0.05)


def test_panels_are_called_what_people_read(effect):
    captions = Captions({"age": "Age"}, {"y0": "price"}, {"age": "years", "y0": "$"})
    (ax,) = plot_all([replace(effect, captions=captions)])
    assert ax.get_title("left") == "Age (years)"
    assert ax.figure.get_supylabel() == "effect on price ($) (centred)"


def test_free_axes_do_not_magnify_rounding(make_effect):
    x = np.linspace(-1, 1, 50)
    large, noise = (make_effect(x, np.full(50, s), name=f"{s}") for s in (1.0, 1e-14))
    panels = plot_all([large, noise], sharey=False)
    assert np.ptp(panels[1].get_ylim()) > 0.1
