from dataclasses import replace

import numpy as np
import pytest

import rhale
import rhale.plots
from rhale.errors import BadSettingError
from rhale.plots.view import PLAIN_VIEW, AxisView, read_axis_limits, read_shares, read_view

X = np.arange(1.0, 101.0)
TAIL = np.random.default_rng(0).lognormal(3.0, 1.2, 2_000)


@pytest.fixture
def plain(make_effect):
    return make_effect(X, np.where(X <= 50, 1.0, -2.0), [1, 50.5, 100])


@pytest.fixture
def tail(make_effect):
    edges = np.quantile(TAIL, [0, 0.2, 0.5, 0.8, 1])
    return make_effect(TAIL, 1 / TAIL, edges, linear=True)


def test_limits_are_shares_of_rows_or_values(plain):
    assert read_axis_limits(plain, "1%..99%") == (1, 99)
    assert read_axis_limits(plain, "10 % .. 50 %") == (10, 50)
    assert read_axis_limits(plain, (20, 65.5)) == (20, 65.5)
    assert read_axis_limits(plain, (None, 65)) == (1, 65)
    assert read_axis_limits(plain, np.array([0, 500])) == (0, 500)
    assert read_axis_limits(plain, None) is None


def test_limits_of_dates_are_dates(plain):
    dates = replace(plain, kind="date")
    assert read_axis_limits(dates, ("1970-01-11", None)) == (10, 100)


@pytest.mark.parametrize("text", ["99%..1%", "1..99", "", "-1%..5%", "1%..101%", "1.2.3%..5%"])
def test_what_are_no_shares_is_refused(text):
    with pytest.raises(BadSettingError, match="no shares of the rows"):
        read_shares(text)


def test_limits_that_show_nothing_are_refused(plain):
    for limits in ((200, 300), (50, 20), (-5, 1)):
        with pytest.raises(
            BadSettingError, match="leave nothing of 'age', which goes from 1 to 100"
        ):
            read_axis_limits(plain, limits)
    for limits in (3, (1, 2, 3)):
        with pytest.raises(BadSettingError, match="give two values"):
            read_axis_limits(plain, limits)


def test_the_curve_is_drawn_between_the_limits_and_the_axes_follow(plain, one):
    top, bottom = plain.plot(limits=(20, 40), center="start")
    x, y = one(top, "curve").get_data()
    assert x[[0, -1]].tolist() == [20, 40]
    np.testing.assert_allclose(y, plain.curve(x, center="start"))
    np.testing.assert_allclose(y[[0, -1]], [19, 39])
    assert top.get_xlim() == bottom.get_xlim() == (20, 40)
    assert top.get_ylim()[1] < 45  # the curve goes up to 49.5 beyond
    assert bottom.get_ylim()[0] > -0.5  # the other bar goes down to -2


def test_bars_are_cut_at_the_limits(plain, one):
    _, bottom = plain.plot(limits=(20, 70))
    left, right = (path.vertices[:, 0] for path in one(bottom, "bars").get_paths())
    assert (left.min(), left.max()) == (20, 50.5)
    assert (right.min(), right.max()) == (50.5, 70)


def test_counts_are_finer_where_a_part_is_shown(plain, one):
    top, _ = plain.plot(limits=(1, 11))
    corners = one(top, "counts").get_paths()[0].vertices
    assert corners[:, 0].min() == 1
    assert corners[:, 0].max() == 11
    assert np.unique(corners[:, 1]).size == 2  # a row, or none: whole numbers stand apart


def test_a_skewed_feature_has_a_log_axis_that_says_so(tail, one):
    top, bottom = tail.plot()
    assert (top.get_xscale(), bottom.get_xscale()) == ("log", "log")
    assert bottom.get_xlabel() == "age (log scale)"
    assert tail.plot(xscale="linear")[1].get_xlabel() == "age"
    x, y = one(top, "curve").get_data()
    np.testing.assert_allclose(y, tail.curve(x))
    assert np.diff(np.log(x)).max() < 0.05  # bends between limits that are far apart are seen


def test_what_bends_on_a_log_axis_is_drawn_bent(tail, one):
    bars = one(tail.plot()[1], "bars").get_paths()
    for k, bar in enumerate(bars):
        x, y = bar.vertices[1:-2].T
        middle = (tail.edges[k] + tail.edges[k + 1]) / 2
        np.testing.assert_allclose(y, tail.mean[k] + tail.slope[k] * (x - middle))


def test_violins_are_as_wide_on_both_sides_on_a_log_axis(tail, one):
    for shape in one(tail.plot(kind="bins"), "violins").get_paths():
        x = np.log(shape.vertices[:-1, 0])
        half = x.size // 2
        middle = (x[:half] + x[half:][::-1]) / 2
        np.testing.assert_allclose(middle, middle[0])


def test_counts_on_a_log_axis_are_even_in_logs(tail, one):
    corners = one(tail.plot(kind="curve"), "counts").get_paths()[0].vertices
    heights = {}
    for x, y in corners:
        heights[round(np.log(x), 9)] = max(y, heights.get(round(np.log(x), 9), 0.0))
    highest = np.exp(max(heights, key=heights.get))
    assert 5 < highest < 80  # logs of a lognormal have their peak at 3


def test_ticks_of_a_log_axis_are_plain_numbers(tail):
    ax = tail.plot(kind="curve")
    ax.figure.draw_without_rendering()
    low, high = ax.get_xlim()  # Matplotlib 3.8 keeps ticks beside the axis, which it does not draw
    ticks = zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
    words = [text.get_text() for place, text in ticks if low <= place <= high and text.get_text()]
    assert {"1", "10", "100"} <= set(words)
    assert len(words) <= 10


def test_a_log_axis_is_refused_where_there_is_none(plain, make_effect, make_levels):
    zero = make_effect(X - 1, X)
    with pytest.raises(BadSettingError, match=r"above 0, and 'age' begins at 0; use .*limits="):
        zero.plot(xscale="log")
    assert zero.plot(xscale="log", limits=(1, None))[0].get_xscale() == "log"
    with pytest.raises(BadSettingError, match="has dates"):
        replace(plain, kind="date").plot(xscale="log")
    with pytest.raises(BadSettingError, match="xscale='log' needs an axis of numbers"):
        make_levels(("a", "b"), 1.0).plot(xscale="log")
    with pytest.raises(BadSettingError, match=r"limits='1%..99%' needs an axis of numbers"):
        make_levels(("a", "b"), 1.0).plot(limits="1%..99%")
    with pytest.raises(BadSettingError, match=r"xscale='lgo' is not known; did you mean 'log'"):
        plain.plot(xscale="lgo")


def test_levels_that_are_numbers_and_numbers_are_not_sorted(plain, make_levels):
    with pytest.raises(BadSettingError, match="'age' has none"):
        plain.plot(sort="effect")
    numbers = make_levels(("1", "5"), 1.0, edges=[1.0, 5.0])
    with pytest.raises(BadSettingError, match="are numbers"):
        numbers.plot(sort="effect")
    with pytest.raises(BadSettingError, match="sort='size' is not known"):
        numbers.plot(sort="size")


def test_among_others_a_feature_is_left_as_it_is(make_levels, plain):
    levels = make_levels(("a", "b"), 1.0)
    assert read_view([levels], "1%..99%", "auto", None, alone=False) == PLAIN_VIEW
    assert read_view([plain], None, "auto", "effect", alone=False) == PLAIN_VIEW


def test_a_profile_is_cut_with_the_curves_of_its_rows(make_profile, one):
    profile = make_profile()
    ax = profile.plot(limits=(-0.5, 0.3))
    assert ax.get_xlim() == (-0.5, 0.3)
    x, y = one(ax, "curve").get_data()
    np.testing.assert_allclose(y, profile.curve(x))
    assert x.min() >= -0.5
    rows = np.array(one(ax, "rows").get_segments())
    np.testing.assert_array_equal(rows[:, [0, -1], 0], np.tile([-0.5, 0.3], (40, 1)))
    slopes = profile.plot(derivatives=True, limits=(-0.5, 0.3))
    assert one(slopes, "curve").get_xdata().max() <= 0.3


def test_regions_are_cut_and_lie_where_they_lay(by_sex, find):
    whole, part = by_sex.plot(regions=True), by_sex.plot(regions=True, limits=(0.25, 0.5))
    for long, short in zip(find(whole, "curve"), find(part, "curve"), strict=True):
        x, y = short.get_data()
        assert x[[0, -1]].tolist() == [0.25, 0.5]
        np.testing.assert_allclose(y, np.interp(x, *long.get_data()))
    assert part.get_xlim() == (0.25, 0.5)


def test_trainings_are_cut_too(make_refits, one):
    refits = make_refits([1.0, 2.0, 3.0], own=1.5)
    ax = refits.plot(limits=(0.25, 0.5), rows=True)
    assert ax.get_xlim() == (0.25, 0.5)
    x, y = one(ax, "curve").get_data()
    assert x[[0, -1]].tolist() == [0.25, 0.5]
    np.testing.assert_allclose(y, 2.0 * (x - 0.5), atol=1e-12)


def test_places_that_are_not_shown_are_none():
    view = AxisView((2.0, 3.0))
    effect = rhale.effect(np.linspace(0, 1, 50), np.ones(50))
    assert view.places(effect).size == 0


def test_where_no_rows_were_kept_their_bins_are_counted(make_effect):
    effect = make_effect(X, X, [1, 21, 100], sample=False)  # 20 and 80 rows
    limits, density = AxisView((11.0, 100.0)).count_rows(effect)
    np.testing.assert_array_equal(limits, [11, 21, 100])
    np.testing.assert_allclose(density, [20 / 20, 80 / 79])
    limits, density = AxisView(is_log=True).count_rows(effect)
    np.testing.assert_allclose(density, [20 / np.log(21), 80 / np.log(100 / 21)])


FAR = np.append(np.random.default_rng(4).normal(5.7, 0.9, 1_999), 58.9)
N_BEYOND = 20  # of 2,000 rows: one in a hundred


@pytest.fixture
def stretched(make_effect):
    """A slope of 1 near the rows, and of -30 on the way to a lone far value."""
    cut = np.sort(FAR)[-21]
    return make_effect(FAR, np.where(cut < FAR, -30.0, 1.0), [FAR.min(), 5.0, cut, 58.9])


def test_an_axis_ends_before_few_far_values_and_says_so(stretched, one, find):
    cut = np.sort(FAR)[-1 - N_BEYOND]
    top, bottom = stretched.plot()
    assert top.get_xlim()[1] == bottom.get_xlim()[1] == cut
    assert top.get_xlim()[0] == pytest.approx(FAR.min() - 0.02 * (cut - FAR.min()))
    assert bottom.get_xlabel() == f"age ({N_BEYOND} rows beyond, up to 58.9)"
    for ax in (top, bottom):
        (mark,) = find(ax, "beyond")
        assert (mark.get_marker(), mark.get_xydata().tolist()) == (">", [[1.0, 0.0]])
    x, y = one(top, "curve").get_data()
    np.testing.assert_allclose(y, stretched.curve(x))
    assert top.get_ylim()[0] > -10  # the curve goes down to -1,500 beyond


def test_on_both_sides_there_are_two_marks(make_effect, find):
    x = np.append(FAR, -50.0)
    ax = make_effect(x, np.ones(x.size)).plot(kind="curve")
    assert [mark.get_marker() for mark in find(ax, "beyond")] == ["<", ">"]
    assert ax.get_xlabel().endswith("rows beyond, from \u221250 to 58.9)")


def test_limits_of_the_user_win_and_all_shows_all(stretched, find):
    ax = stretched.plot(kind="curve", limits="all", xscale="linear")
    assert ax.get_xlim()[1] > 58.9
    assert not find(ax, "beyond")
    assert ax.get_xlabel() == "age"
    ax = stretched.plot(kind="curve", limits=(None, 30))
    assert ax.get_xlim() == (FAR.min(), 30)
    assert not find(ax, "beyond")


def test_all_panels_share_the_y_axis_of_what_they_show(make_effect, stretched, find):
    x = np.linspace(0.0, 1.0, 500)
    other = make_effect(x, np.full(500, 4.0), name="other")
    first, second = rhale.plots.plot_all([stretched, other])
    cut = np.sort(FAR)[-1 - N_BEYOND]
    heights = [stretched.ci(np.linspace(FAR.min(), cut, 20_001)), other.ci(np.linspace(0, 1, 101))]
    low, high = min(np.min(h) for h in heights), max(np.max(h) for h in heights)
    shown = first.get_ylim()
    assert shown == second.get_ylim()
    room = high - low
    assert low - 0.2 * room < shown[0] < low  # the strip of rows, and a margin
    assert high < shown[1] < high + 0.1 * room
    assert first.get_xlabel() == f"({N_BEYOND} rows beyond, up to 58.9)"
    assert second.get_xlabel() == ""
    assert not find(second, "beyond")


def test_long_words_below_a_small_panel_are_folded(stretched):
    from matplotlib.figure import Figure

    named = replace(
        stretched, name="width of the stone, measured by hand in the workshop of the jeweller"
    )
    figure = Figure(figsize=(3, 3))
    ax = named.plot(ax=figure.add_subplot(), kind="curve")
    name, *told = ax.get_xlabel().split("\n")
    assert name.startswith("width of the")
    assert " ".join(told) == f"{N_BEYOND} rows beyond, up to 58.9"
