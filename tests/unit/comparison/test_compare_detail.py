import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.compared_by_hand import drifted, straight, with_everything

from rhale.comparison.plot import plot_difference, tell_found
from rhale.errors import BadSettingError


def test_three_panels_and_words_on_what_was_found():
    curves, gaps, rows = plot_difference(straight()["x1"])
    assert curves.figure.get_suptitle().startswith("x1: the curves differ by 0.5")
    assert gaps.get_ylabel() == "difference to old"
    assert rows.get_xlabel() == "x1"


def test_the_axis_reaches_as_far_as_the_rows_of_both():
    panels = plot_difference(drifted()["x0"])
    low, high = panels[0].get_xlim()
    assert low <= 0
    assert high >= 1.5
    assert "agree; data drift" in tell_found(drifted()["x0"])


def test_differences_that_are_small_beside_the_curves_look_small():
    curves, gaps, _ = plot_difference(drifted()["x0"])
    assert np.ptp(gaps.get_ylim()) >= 0.25 * np.ptp(curves.get_ylim())


@pytest.mark.parametrize("feature", ["city", "day", "x", "one"])
def test_every_kind_of_feature_is_drawn(feature):
    panels = plot_difference(with_everything()[feature])
    panels[0].figure.canvas.draw()
    assert len(panels) == 3


def test_levels_with_long_names_stand_below_one_another():
    cx = with_everything("a_" * 10)
    one = cx["a_" * 10]
    long = [result.labels for result in one.results]
    assert long[0] == ("Bonn", "Oslo", "Rome")
    assert len(plot_difference(one)) == 3


def test_given_axes_take_curves_differences_and_rows():
    axes = Figure().subplots(3)
    one = straight()["x1"]
    assert len(plot_difference(one, axes=axes[0])) == 1
    assert len(plot_difference(one, axes=axes[:2])) == 2
    assert len(plot_difference(one, axes=axes)) == 3
    with pytest.raises(BadSettingError, match="axes are 4"):
        plot_difference(one, axes=Figure().subplots(4))
