import pickle
from dataclasses import replace

import numpy as np
import pytest
from matplotlib import dates
from matplotlib.figure import Figure

import rhale
from rhale.plots import plot_all, plot_compare, plot_effect, plot_profile
from rhale.plots.labels import DurationFormatter, DurationLocator

X = np.linspace(0.0, 1.0, 61)
MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0


def on_axis(low, high, kind, **fields):
    effect = rhale.effect(low + (high - low) * X, np.sin(6 * X) / (high - low), name="when")
    return replace(effect, kind=kind, **fields)


def words(axis):
    axis.axes.figure.draw_without_rendering()
    return [text.get_text() for text in axis.get_ticklabels() if text.get_text()]


def test_dates_have_the_ticks_of_a_calendar():
    low, high = np.array(["2019-12-20", "2021-02-01"], "datetime64[D]").astype(float)
    top, bottom = plot_effect(on_axis(low, high, "date"))
    ticks = [str(day) for day in dates.num2date(bottom.get_xticks())]
    assert all(tick[8:10] == "01" for tick in ticks)
    assert "2021" in words(bottom.xaxis)
    assert (
        bottom.get_ylabel().endswith("d y0 / d when, per day") or "per day" in bottom.get_ylabel()
    )
    assert top.get_xlim() == bottom.get_xlim()


def test_dates_within_an_hour_show_minutes_and_say_the_day():
    effect = on_axis(19727.5, 19727.5 + 1 / 24, "date")
    _, bottom = plot_effect(effect)
    found = words(bottom.xaxis)
    assert "12:30" in found
    assert bottom.xaxis.get_offset_text().get_text() == "2024-Jan-05"


@pytest.mark.parametrize("high", [np.datetime64("9999-12-31").astype(float), 5e6])
def test_dates_at_the_end_of_the_calendar_and_beyond_are_drawn(high, render):
    top, bottom = plot_effect(on_axis(0.0, high, "date"))
    assert render(top)
    assert ("days since 1970" in bottom.get_xlabel()) == (high > 3e6)


@pytest.mark.parametrize(
    ("low", "high", "step", "text"),
    [
        (0, 0.01, 0.005, "5 ms"),
        (0, 40, 10, "10 s"),
        (0, 2 * HOUR, 30 * MINUTE, "30 min"),
        (30 * MINUTE, 5 * HOUR, 2 * HOUR, "2 h"),
        (-DAY, 3 * DAY, DAY, "1 d"),
        (0, 400 * DAY, 100 * DAY, "100 d"),
    ],
)
def test_durations_have_ticks_in_their_own_unit(low, high, step, text):
    ticks = np.asarray(DurationLocator(4).tick_values(low, high))
    np.testing.assert_allclose(np.diff(ticks), step)
    np.testing.assert_allclose(ticks / step, np.rint(ticks / step), atol=1e-9)
    assert text in DurationFormatter().format_ticks(ticks)


def test_a_duration_of_nothing_has_no_sign():
    assert DurationFormatter().format_ticks([-0.0, 60.0]) == ["0 min", "1 min"]
    assert DurationFormatter()(-90.0) == "\u221290 s"


def test_the_slope_of_a_duration_is_per_second():
    _, bottom = plot_effect(on_axis(0.0, 5 * HOUR, "duration"))
    assert "per second" in bottom.get_ylabel()
    assert "2 h" in words(bottom.xaxis)


def test_every_plot_dresses_its_axis(make_profile):
    date = on_axis(18000.0, 18800.0, "date")
    (panel,) = plot_all([date])
    compared = plot_compare({"a": date, "b": date})
    profile = plot_profile(replace(make_profile(), kind="date"))
    for ax in (panel, compared, profile):
        assert isinstance(ax.xaxis.get_major_locator(), dates.AutoDateLocator)


def test_one_date_is_said_in_words(one):
    effect = replace(rhale.effect(np.full(5, 19723.0), np.ones(5)), kind="date")
    top, _ = plot_effect(effect)
    assert "one value 2024-01-01" in one(top, "constant").get_text()


@pytest.mark.parametrize("kind", ["date", "duration"])
def test_figures_with_time_can_be_pickled_and_leave_given_axes_alone(kind, render):
    ax = Figure().subplots()
    top, _ = plot_effect(on_axis(0.0, 900.0, kind), ax=ax)
    copy = pickle.loads(pickle.dumps(top.figure))  # noqa: S301 - our own bytes
    assert render(copy.axes[0])


@pytest.mark.parametrize("days", [1.8, 45.0, 600.0, 700.0])
def test_dates_of_any_range_have_ticks_in_small_panels(days, render):
    (panel,) = plot_all([on_axis(18687.3, 18687.3 + days, "date")])
    assert render(panel)  # a warning is an error
