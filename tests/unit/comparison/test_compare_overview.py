import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.compared_by_hand import drifted, straight, with_everything

from rhale.comparison.plot import in_few_words, plot_differences
from rhale.errors import BadSettingError


def test_the_largest_difference_comes_first_and_is_told():
    panels = plot_differences(straight().ranked())
    titles = [ax.get_title("left").split("\n") for ax in panels]
    assert [title[0] for title in titles] == ["x1", "x0"]
    assert titles[0][1].startswith("differ by 0.5")
    assert titles[1][1] == "agree"


def test_rows_that_moved_are_told_as_rows():
    assert in_few_words(drifted()["x0"]) == "agree, data drift"


def test_the_legend_names_explanations_in_their_order():
    panels = plot_differences(with_everything().ranked())
    (legend,) = panels[0].figure.legends
    assert [text.get_text() for text in legend.get_texts()][:3] == ["base", "next", "last"]


def test_some_of_many_are_counted():
    panels = plot_differences(straight().ranked(), top=1)
    assert panels[0].figure.legends[0].get_title().get_text() == "1 of 2 features"


def test_axes_may_be_given_and_must_be_enough():
    ranked = straight().ranked()
    axes = Figure().subplots(1, 2)
    assert list(plot_differences(ranked, axes=axes)) == list(np.ravel(axes))
    with pytest.raises(BadSettingError, match="2 features need as many axes"):
        plot_differences(ranked, axes=axes[0])
    with pytest.raises(BadSettingError, match="nothing to plot"):
        plot_differences([])
