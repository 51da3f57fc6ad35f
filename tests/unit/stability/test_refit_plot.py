from dataclasses import replace

import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.figure import Figure

from rhale.effects.table import Missing
from rhale.errors import BadSettingError
from rhale.plots import plot_refits, style
from rhale.stability.plot import tell_verdict

SLOPES = [1.0, 1.4, 0.8, 1.2, 0.6]


@pytest.mark.parametrize("center", ["mean", "start", "uniform"])
def test_mean_interval_and_trainings_are_those_of_the_effect(make_refits, one, band, center):
    effect = make_refits(SLOPES)
    ax = plot_refits(effect, center=center, level=0.8)
    x = one(ax, "curve").get_xdata()
    zero = {"mean": 0.5, "start": 0.0, "uniform": 0.5}[center]
    np.testing.assert_allclose(
        one(ax, "curve").get_ydata(), np.mean(SLOPES) * (x - zero), atol=1e-9
    )
    _, low, high = band(ax, "between")
    np.testing.assert_allclose((low, high), effect.ci(x, level=0.8, center=center), atol=1e-12)
    drawn = np.array(one(ax, "trainings").get_segments())[:, :, 1]
    np.testing.assert_allclose(drawn, np.outer(SLOPES, x - zero), atol=1e-9)


def test_the_legend_says_what_is_drawn(make_refits, legend):
    effect = make_refits(SLOPES, own=1.1)
    ax = plot_refits(effect, level=0.9, rows=True)
    assert set(legend(ax)) == {
        "mean of 5 retrainings",
        "90 % interval between retrainings",
        "single retrainings",
        "your model",
        "90 % interval of your model",
        "where rows are",
    }
    assert ax.get_legend().get_title().get_text() == tell_verdict(effect, 0.9)[0]


def test_the_users_model_is_drawn_over_the_trainings(make_refits, one, find):
    ax = plot_refits(make_refits(SLOPES, own=2.0), center="start")
    x, y = one(ax, "own").get_data()
    np.testing.assert_allclose(y, 2 * x, atol=1e-9)
    assert one(ax, "own").get_zorder() > one(ax, "curve").get_zorder()
    assert not find(ax, "ci")


def test_rows_of_a_model_that_is_not_there_are_refused(make_refits):
    with pytest.raises(BadSettingError, match="model="):
        plot_refits(make_refits(SLOPES), rows=True)
    with pytest.raises(BadSettingError, match="level"):
        plot_refits(make_refits(SLOPES), level=1.0)


def test_trainings_can_be_left_out(make_refits, find, legend):
    ax = plot_refits(make_refits(SLOPES), trainings=False)
    assert not find(ax, "trainings")
    assert "single retrainings" not in legend(ax)


def test_trainings_on_the_same_rows_have_no_interval_and_it_is_said(make_refits, find, render):
    ax = plot_refits(make_refits(SLOPES, same_rows=True))
    assert not find(ax, "between")
    assert "same rows" in ax.get_legend().get_title().get_text()
    assert render(ax)
    given = plot_refits(make_refits(SLOPES, same_rows=True), ax=Figure((3, 2)).add_subplot())
    assert "same rows" in given.get_title("left")


def test_two_trainings_are_drawn(make_refits, one, render):
    ax = plot_refits(make_refits([1.0, 1.3]))
    assert len(one(ax, "trainings").get_segments()) == 2
    assert render(ax)


def test_a_very_wide_interval_is_cut_and_it_is_said(make_refits, legend):
    effect = make_refits([1.0, 1.3, 1.1])
    ax = plot_refits(effect, level=0.9999)
    low, high = effect.ci(np.array([0.0]), level=0.9999)
    assert low[0] < ax.get_ylim()[0] < -0.65
    assert high[0] > ax.get_ylim()[1]
    assert "99.99 % between retrainings, cut" in legend(ax)


def test_a_cut_interval_leaves_missing_values_in_sight(make_refits, make_effect):
    x, gone = np.linspace(0, 1, 101), Missing(10, 0.1, 5.0, 0.5, 10.0)
    results = [replace(make_effect(x, np.full(101, d)), missing=gone) for d in (1.0, 1.3, 1.1)]
    assert plot_refits(make_refits([], results=results), level=0.9999).get_ylim()[1] > 5


def test_given_axes_are_used_and_have_room_for_the_legend(make_refits, render):
    ax = Figure((4, 3)).add_subplot()
    assert plot_refits(make_refits(SLOPES), ax=ax) is ax
    assert "significant" in ax.get_title("left")
    assert ax.get_ylim()[1] > 2 * 0.7  # curves end at 0.7
    assert render(ax)


def test_levels_have_dots_bars_and_names(make_refits, make_levels, one):
    results = [make_levels(("a", "b", "c"), step) for step in SLOPES]
    ax = plot_refits(make_refits(SLOPES, results=results, own=make_levels(("a", "b", "c"), 3.0)))
    offsets = one(ax, "levels").get_offsets()
    np.testing.assert_allclose(offsets, [[0, -1], [1, 0], [2, 1]], atol=1e-9)
    np.testing.assert_allclose(one(ax, "own").get_offsets()[:, 1], [-3, 0, 3], atol=1e-9)
    assert len(one(ax, "trainings").get_offsets()) == 3 * len(SLOPES)
    assert len(one(ax, "between").get_segments()) == 3
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["a", "b", "c"]


def test_long_names_of_levels_stand_below_one_another(make_refits, make_levels, one, render):
    names = [f"level {i} of a feature with long names" for i in range(20)]
    results = [make_levels(names, step) for step in SLOPES]
    ax = plot_refits(make_refits(SLOPES, results=results))
    assert ax.yaxis_inverted()
    assert ax.get_xlabel().startswith("effect on y0")
    assert one(ax, "levels").get_offsets()[3, 1] == 3
    assert render(ax)


def test_profiles_are_drawn(make_refits, make_profile, one):
    profile = make_profile("pdp")
    results = [replace(profile, mean=scale * profile.mean) for scale in (1.0, 2.0, 3.0)]
    ax = plot_refits(make_refits([], results=results))
    x = one(ax, "curve").get_xdata()
    np.testing.assert_allclose(one(ax, "curve").get_ydata(), 2 * profile.curve(x), atol=1e-9)
    assert ax.get_ylabel().startswith("prediction of y0")


def test_a_constant_feature_is_said_to_be_one(make_refits, make_effect, one, find, render):
    results = [make_effect([2.0, 2.0], [d, d], [2.0, 2.0]) for d in (1.0, 2.0, 3.0)]
    ax = plot_refits(make_refits([], results=results))
    assert one(ax, "constant").get_text() == "constant: one value 2,\nno curve"
    assert not find(ax, "trainings")
    assert render(ax)


@pytest.mark.parametrize("kind", ["numbers", "levels"])
def test_missing_values_are_drawn_aside(kind, make_refits, make_effect, make_levels, find):
    gone = [Missing(10, 0.1, change, 0.5, 10.0) for change in (0.2, 0.4, 0.6)]
    if kind == "numbers":
        x = np.linspace(0, 1, 101)
        results = [replace(make_effect(x, x + 1), missing=m) for m in gone]
    else:
        results = [make_levels(("a", "b"), 1.0, missing=m) for m in gone]
    effect = make_refits([], results=results)
    ax = plot_refits(effect, level=0.8)
    (dot,) = find(ax, "missing")
    assert dot.get_offsets()[0, 1] == pytest.approx(0.4)
    point = effect.missing_point(level=0.8)
    (ends,) = find(ax, "between")[-1].get_segments()
    assert ends[:, 1] == pytest.approx([point.low, point.high])
    assert point.low < 0.2
    aside = find(ax, "trainings")[-1].get_offsets()
    assert sorted(aside[:, 1]) == pytest.approx([0.2, 0.4, 0.6])


@pytest.mark.parametrize("name", ["$\\frac{", "\U0001f995", "", "_", "long " * 40])
def test_any_name_is_drawn_without_a_warning(make_refits, render, name):
    assert render(plot_refits(make_refits(SLOPES, name=name, output=name)))


@pytest.mark.parametrize("size", [0.0, 1e-60, 1e60])
def test_any_size_is_drawn_without_a_warning(make_refits, render, size):
    assert render(plot_refits(make_refits(size * np.array(SLOPES))))


def test_rows_are_shown_as_in_other_pictures(make_refits, one):
    assert one(plot_refits(make_refits(SLOPES)), "counts").get_facecolor()[0, :3] == pytest.approx(
        [int(style.COUNT[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    )


def test_large_letters_leave_room_for_the_curves(make_refits):
    with rc_context({"font.size": 16}):
        ax = plot_refits(make_refits(SLOPES, own=1.0), rows=True)
        ax.figure.canvas.draw()
    assert ax.get_window_extent().width > 0.6 * ax.figure.bbox.width


@pytest.mark.parametrize("kind", ["numbers", "levels"])
def test_a_constant_feature_shows_what_happens_without_a_value(
    kind, make_refits, make_effect, make_levels, find, render
):
    gone = [Missing(10, 0.1, change, 0.5, 10.0) for change in (0.2, 0.4, 0.6)]
    if kind == "numbers":
        flat = [make_effect([2.0, 2.0], [d, d], [2.0, 2.0]) for d in (1.0, 2.0, 3.0)]
        results = [replace(one, missing=m) for one, m in zip(flat, gone, strict=True)]
    else:
        results = [make_levels(("a",), (), missing=m) for m in gone]
    ax = plot_refits(make_refits([], results=results))
    (dots,) = find(ax, "trainings")
    assert sorted(dots.get_offsets()[:, 1]) == pytest.approx([0.2, 0.4, 0.6])
    assert find(ax, "constant")
    low, high = ax.get_ylim()
    assert low < 0.2
    assert high > 0.6
    assert render(ax)


def test_bins_without_rows_are_hatched(make_refits, make_effect, find):
    x = np.append(np.linspace(0, 0.29, 50), np.linspace(0.7, 1, 50))
    results = [make_effect(x, np.full(100, d), [0, 0.3, 0.7, 1]) for d in SLOPES]
    assert find(plot_refits(make_refits([], results=results)), "empty")
