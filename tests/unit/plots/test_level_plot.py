import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy import stats

from rhale.plots import plot_effect, style

LEVELS = ("north", "south", "west")
LONG = tuple(f"a level with quite a long name, number {i}" for i in range(6))


@pytest.fixture
def effect(make_levels):
    return make_levels(LEVELS, [1.0, -3.0], rows=[40, 10, 20], noise=0.5)


def ends(lines):
    """Places, lowest and highest values of strokes along y."""
    segments = np.array(lines.get_segments())
    return segments[:, 0, 0], segments[:, 0, 1], segments[:, 1, 1]


def names(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def test_dots_stand_at_the_levels_on_the_curve(effect, one):
    top, _ = plot_effect(effect, center="start")
    places = one(top, "levels").get_offsets()
    np.testing.assert_allclose(places, np.column_stack([[0, 1, 2], [0, *np.cumsum(effect.step)]]))
    assert top.get_xticks().tolist() == [0, 1, 2]


def test_the_area_of_a_dot_grows_with_the_rows(effect, one):
    top, _ = plot_effect(effect)
    sizes = one(top, "levels").get_sizes()
    np.testing.assert_allclose(sizes / sizes[0], [1, 0.25, 0.5])


def test_a_rare_level_is_still_seen(make_levels, one):
    top, _ = plot_effect(make_levels(LEVELS, 1.0, rows=[10_000, 10_000, 2]))
    sizes = one(top, "levels").get_sizes()
    np.testing.assert_allclose(sizes[2] / sizes[0], style.DOT_FLOOR)


def test_whiskers_are_the_interval_of_the_asked_level(effect, one, legend):
    top, _ = plot_effect(effect, level=0.9)
    places, low, high = ends(one(top, "ci"))
    np.testing.assert_allclose(places, [0, 1, 2])
    np.testing.assert_allclose((low, high), effect.ci(level=0.9))
    assert "90 % interval of the mean" in legend(top)


def test_pale_strokes_are_the_curve_plus_and_minus_the_spread(effect, one):
    top, _ = plot_effect(effect)
    _, low, high = ends(one(top, "spread"))
    np.testing.assert_allclose(low, effect.curve() - effect.spread())
    np.testing.assert_allclose(high, effect.curve() + effect.spread())


@pytest.mark.parametrize("turned", [False, True])
def test_spread_and_uncertainty_differ_in_ink_and_in_width(effect, one, turned):
    top, bottom = plot_effect(effect, turned=turned)
    for ax, spread in ((top, "spread"), (bottom, "whiskers")):
        pale, thin = one(ax, spread), one(ax, "ci")
        assert to_hex(pale.get_color()[0]) == style.SPREAD.lower()
        assert to_hex(thin.get_color()[0]) == style.UNCERTAINTY.lower()
        assert pale.get_linewidth()[0] > 3 * thin.get_linewidth()[0]


def test_no_effect_is_drawn_as_a_bar(effect):
    for ax in plot_effect(effect):
        assert not ax.patches


def test_spread_and_uncertainty_can_be_left_out(effect, find, legend):
    top, _ = plot_effect(effect, spread=False, uncertainty=False)
    assert not find(top, "spread")
    assert not find(top, "ci")
    assert legend(top) == ["mean effect", "where rows are"]


def test_steps_stand_between_their_levels(effect, one):
    _, bottom = plot_effect(effect)
    line = one(bottom, "steps")
    np.testing.assert_allclose(line.get_xdata(), [0.5, 1.5])
    np.testing.assert_allclose(line.get_ydata(), effect.step)
    _, low, high = ends(one(bottom, "whiskers"))
    np.testing.assert_allclose((low, high), (effect.step - effect.std, effect.step + effect.std))


def test_the_strip_is_high_where_rows_are(effect, one):
    top, _ = plot_effect(effect)
    _, low, high = ends(one(top, "counts"))
    np.testing.assert_allclose(low, 0)
    np.testing.assert_allclose(high, style.STRIP_HEIGHT * np.array([1, 0.25, 0.5]))


def test_numbers_stand_at_their_values_and_are_joined(make_levels, one):
    effect = make_levels(("1", "2", "5"), [2.0, 3.0], edges=[1.0, 2.0, 5.0])
    top, bottom = plot_effect(effect, center="start")
    line = one(top, "curve")
    np.testing.assert_allclose(line.get_xdata(), [1, 2, 5])
    np.testing.assert_allclose(line.get_ydata(), [0, 2, 5])
    np.testing.assert_allclose(one(bottom, "steps").get_xdata(), [1.5, 3.5])
    np.testing.assert_allclose(one(bottom, "steps").get_ydata(), [2, 3])
    assert names(bottom.xaxis) == ["1", "2", "5"]


def test_categories_are_not_joined(effect, find):
    top, _ = plot_effect(effect)
    assert not find(top, "curve")


def test_long_names_stand_below_one_another(make_levels, one):
    effect = make_levels(LONG, 1.0)
    left, right = plot_effect(effect, center="start")
    places = one(left, "levels").get_offsets()
    np.testing.assert_allclose(places, np.column_stack([np.arange(6), np.arange(6)]))
    assert names(left.yaxis)[0].startswith("a level with")
    assert left.get_position().x1 < right.get_position().x0
    assert left.yaxis_inverted()
    np.testing.assert_allclose(one(right, "steps").get_ydata(), np.arange(5) + 0.5)


def test_many_levels_make_the_figure_higher(make_levels):
    heights = [
        plot_effect(make_levels([f"{i}" for i in range(n)], 1.0))[0].figure.get_figheight()
        for n in (17, 30, 50)
    ]
    assert heights == sorted(set(heights))


@pytest.mark.parametrize("turned", [False, True])
def test_the_direction_can_be_chosen(effect, one, turned):
    top, _ = plot_effect(effect, turned=turned)
    places = one(top, "levels").get_offsets()
    np.testing.assert_allclose(places[:, int(turned)], [0, 1, 2])


@pytest.mark.parametrize("n_levels", [2, 5, 16, 20, 50, 120])
@pytest.mark.parametrize("length", [1, 8, 1000])
def test_names_of_levels_do_not_touch(make_levels, n_levels, length):
    effect = make_levels([f"{i}".ljust(length, "m") for i in range(n_levels)], 1.0)
    top, bottom = plot_effect(effect, kind="both")
    top.figure.draw_without_rendering()
    axis = top.yaxis if top.yaxis_inverted() else bottom.xaxis
    texts = [text for text in axis.get_ticklabels() if text.get_text()]
    assert len(texts) >= min(n_levels, 10)
    if texts[0].get_rotation() in (0.0, 90.0):
        boxes = [text.get_window_extent() for text in texts]
        assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])
    whole = top.figure.bbox
    assert all(whole.x0 <= t.get_window_extent().x0 for t in texts)


def test_of_hundreds_of_levels_only_those_with_a_name_have_a_tick(make_levels):
    left, _ = plot_effect(make_levels([f"{i}" for i in range(150)], 1.0))
    assert len(left.get_yticks()) < 100
    assert "" not in names(left.yaxis)
    np.testing.assert_array_equal([float(name) for name in names(left.yaxis)], left.get_yticks())


def test_a_hostile_name_is_shown_letter_by_letter(make_levels):
    levels = ("$\\frac{a}{b}$", "<script>", "", "a\nb", "\U0001f995", "עברית", "_x")
    top, bottom = plot_effect(make_levels(levels, 1.0))
    ticks = (top.yaxis if top.yaxis_inverted() else bottom.xaxis).get_ticklabels()
    assert not any(text.get_parse_math() or text.get_usetex() for text in ticks)
    found = [text.get_text() for text in ticks]
    assert found[:4] == ["$\\frac{a}{b}$", "<script>", "(empty)", "a b"]
    assert found[6] == "_x"


def test_axes_say_what_they_show(effect):
    top, bottom = plot_effect(effect)
    assert top.get_ylabel() == "effect on y0\n(centred)"
    assert bottom.get_ylabel() == "step to the next\nlevel, change of y0"
    assert bottom.get_xlabel() == "city"
    left, right = plot_effect(effect, turned=True)
    assert left.get_xlabel() == "effect on y0\n(centred)"
    assert right.get_xlabel() == "step to the next level, change\nof y0"
    assert left.get_ylabel() == "city"


def test_one_level_is_said_in_words(make_levels, one, find, render):
    top, bottom = plot_effect(make_levels(("only",), ()))
    assert one(top, "constant").get_text() == "constant: one level 'only',\nno curve"
    assert not find(top, "levels")
    assert names(bottom.xaxis) == ["only"]
    assert render(top)


def test_a_truth_lies_on_the_dots_whatever_its_level(effect, one):
    known = dict(zip(LEVELS, effect.curve() + 7, strict=True))
    for center in ("mean", "start", "uniform"):
        top, _ = plot_effect(effect, truth=lambda levels: [known[n] for n in levels], center=center)
        dots = np.asarray(one(top, "levels").get_offsets())
        np.testing.assert_allclose(one(top, "truth").get_ydata(), dots[:, 1], atol=1e-12)


def test_a_pair_of_axes_comes_back_and_is_not_turned(make_levels, one):
    pair = tuple(Figure().subplots(2, 1))
    assert plot_effect(make_levels(LONG, 1.0), ax=pair) == pair
    assert one(pair[0], "levels").get_offsets()[:, 0].tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("layout", [None, "constrained", "tight"])
@pytest.mark.parametrize("levels", [LEVELS, LONG])
def test_one_axes_is_divided_in_its_own_place(make_levels, layout, levels):
    figure = Figure(layout=layout, figsize=(12, 5))
    left, _ = figure.subplots(1, 2)
    place = left.get_position()
    pair = plot_effect(make_levels(levels, 1.0), ax=left)
    for ax in pair:
        box = ax.get_position()
        assert place.x0 - 1e-9 <= box.x0 < box.x1 <= place.x1 + 1e-9
        assert place.y0 - 1e-9 <= box.y0 < box.y1 <= place.y1 + 1e-9
    figure.draw_without_rendering()
    assert not pair[0].get_window_extent().overlaps(pair[1].get_window_extent())


def test_axes_placed_by_hand_are_divided_sideways(make_levels, render):
    ax = Figure().add_axes((0.4, 0.2, 0.5, 0.7))
    left, right = plot_effect(make_levels(LONG, 1.0), ax=ax)
    assert left.get_position().x1 < right.get_position().x0
    assert right.get_position().x1 == pytest.approx(0.9)
    assert render(left)


def test_steps_have_the_intervals_of_student_s_t(effect, one):
    _, bottom = plot_effect(effect, level=0.9)
    _, low, high = ends(one(bottom, "ci"))
    # 50 rows on both sides of the first step, 30 of the second
    half = stats.t.ppf(0.95, [49, 29]) * effect.standard_error
    np.testing.assert_allclose(low, effect.step - half)
    np.testing.assert_allclose(high, effect.step + half)
