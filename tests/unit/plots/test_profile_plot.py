from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from rhale.errors import BadSettingError
from rhale.plots import plot_profile


def lines(one, ax):
    return np.array(one(ax, "rows").get_segments())


@pytest.mark.parametrize("center", ["mean", "start", "uniform", None])
def test_mean_and_bands_are_those_of_the_profile(make_profile, one, band, center):
    profile = make_profile()
    ax = plot_profile(profile, center=center, level=0.8)
    x = one(ax, "curve").get_xdata()
    assert set(profile.grid) < set(x)  # bands bend between points, so some are drawn there
    expected = profile.curve(x, center=center)
    np.testing.assert_allclose(one(ax, "curve").get_ydata(), expected)
    _, low, high = band(ax, "spread")
    np.testing.assert_allclose((high - low) / 2, profile.spread(x, center=center), atol=1e-12)
    _, low, high = band(ax, "ci")
    np.testing.assert_allclose((low, high), profile.ci(x, level=0.8, center=center))


@pytest.mark.parametrize("center", ["start", None])
def test_every_row_has_its_curve(make_profile, one, legend, center):
    profile = make_profile()
    ax = plot_profile(profile, center=center)
    drawn, kept = lines(one, ax)[:, :, 1], profile.ice(center=center)
    np.testing.assert_array_equal(drawn[np.lexsort(drawn.T)], kept[np.lexsort(kept.T)])
    assert "40 rows" in legend(ax)


def test_some_rows_are_chosen_evenly_along_the_feature(make_profile, one, legend):
    profile = make_profile(n_rows=41)
    ax = plot_profile(profile, center=None, max_curves=5)
    order = np.argsort(profile.curve_x)
    np.testing.assert_array_equal(
        lines(one, ax)[:, :, 1], profile.curves[order[[0, 10, 20, 30, 40]]]
    )
    assert "5 of 41 rows" in legend(ax)


def test_slopes_are_those_of_the_rows(make_profile, one, band):
    profile = make_profile()
    slopes = profile.dice()
    ax = plot_profile(profile, derivatives=True, level=0.95)
    np.testing.assert_allclose(one(ax, "curve").get_ydata(), slopes.mean(axis=0))
    _, low, high = band(ax, "spread")
    np.testing.assert_allclose((high - low) / 2, slopes.std(axis=0, ddof=1), atol=1e-12)
    _, low, high = band(ax, "ci")
    error = slopes.std(axis=0, ddof=1) / np.sqrt(40)
    np.testing.assert_allclose((high - low) / 2, 2.022691 * error, rtol=1e-6, atol=1e-12)
    assert ax.get_ylabel() == "change of y0 per unit of age"


def test_a_partial_dependence_has_slopes_without_single_rows(make_profile, one, find):
    profile = make_profile("pdp")
    ax = plot_profile(profile, derivatives=True)
    slope = 2 * (profile.mean[-1] - profile.mean[4])  # parabolas about 0, the fifth point
    expected = slope * profile.grid
    np.testing.assert_allclose(one(ax, "curve").get_ydata(), expected, atol=1e-12)
    assert not find(ax, "rows")


def test_a_marginal_plot_marks_the_points_that_have_rows(make_profile, one):
    whole = make_profile("mplot")
    mean, rows = whole.mean.copy(), whole.rows.copy()
    mean[3], rows[3] = np.nan, 0
    profile = type(whole)(
        "age", "y0", "mplot", whole.grid, mean, whole.std, whole.covariance, rows, whole.share
    )
    line = one(plot_profile(profile), "curve")
    assert line.get_marker() == "o"
    np.testing.assert_array_equal(line.get_xdata(), np.delete(whole.grid, 3))


def test_a_marginal_plot_has_no_slopes(make_profile):
    with pytest.raises(BadSettingError, match="no curves of rows"):
        plot_profile(make_profile("mplot"), derivatives=True)


def test_one_value_is_said_in_words(make_profile, one):
    ax = plot_profile(make_profile(n_points=1))
    assert "one value -1" in one(ax, "constant").get_text()


def test_given_axes_come_back(make_profile):
    ax = Figure().subplots()
    assert plot_profile(make_profile(), ax=ax) is ax


def test_the_axis_says_whether_it_is_centred(make_profile):
    profile = make_profile()
    assert plot_profile(profile, center=None).get_ylabel() == "prediction of y0"
    assert plot_profile(profile).get_ylabel() == "prediction of y0\n(centred)"


LEVELS = tuple("abcdefghi")


def with_levels(profile, levels=LEVELS):
    return replace(profile, levels=levels, grid=np.arange(9.0))


@pytest.mark.parametrize("center", ["mean", None])
def test_levels_are_dots(make_profile, one, center):
    profile = with_levels(make_profile("pdp"))
    ax = plot_profile(profile, center=center, level=0.8)
    dots = np.asarray(one(ax, "levels").get_offsets())
    np.testing.assert_allclose(dots[:, 1], profile.curve(profile.grid, center=center))
    ends = np.array(one(ax, "ci").get_segments())[:, :, 1].T
    np.testing.assert_allclose(ends, profile.ci(profile.grid, level=0.8, center=center))
    assert [text.get_text() for text in ax.get_xticklabels()] == list(LEVELS)


def test_rows_are_dashes_at_categories_and_lines_between_numbers(make_profile, one):
    profile = with_levels(make_profile())
    dashes = lines(one, plot_profile(profile, center=None))
    assert dashes.shape == (40 * 9, 2, 2)
    np.testing.assert_array_equal(dashes[:, 0, 1], dashes[:, 1, 1])
    numbers = with_levels(profile, tuple("012345678"))
    assert lines(one, plot_profile(numbers)).shape == (40, 9, 2)


def test_levels_without_rows_are_left_out_of_a_marginal_plot(make_profile, one, render):
    whole = with_levels(make_profile("mplot"))
    mean, share = whole.mean.copy(), whole.share.copy()
    mean[3], share[3] = np.nan, 0.0
    ax = plot_profile(replace(whole, mean=mean, share=share))
    places = np.asarray(one(ax, "levels").get_offsets())[:, 0]
    np.testing.assert_array_equal(places, np.delete(np.arange(9), 3))
    assert render(ax)


def test_categories_have_no_slopes(make_profile):
    with pytest.raises(BadSettingError, match="no slopes"):
        plot_profile(with_levels(make_profile()), derivatives=True)


def test_long_names_stand_below_one_another(make_profile, one):
    names = tuple(f"quite a long name of a level {i}" for i in range(9))
    ax = plot_profile(with_levels(make_profile(), names))
    np.testing.assert_array_equal(np.asarray(one(ax, "levels").get_offsets())[:, 1], np.arange(9))
    assert ax.get_ylabel() == "age"


def test_a_profile_is_drawn_as_it_is_either_way(make_profile, one):
    lines = [one(plot_profile(make_profile(), smooth=s), "curve").get_xydata() for s in (0, 1)]
    np.testing.assert_array_equal(*lines)
