import numpy as np
from matplotlib.figure import Figure

from rhale.plots import plot_all, plot_effect
from rhale.plots.canvas import AxesArray, TwoPanels, as_axes_array


def test_an_array_of_axes_prints_on_one_line_and_is_an_array(make_effect):
    x = np.linspace(0, 1, 50)
    panels = plot_all([make_effect(x, x, name=name) for name in "abcde"])
    assert repr(panels) == str(panels) == "<5 panels: a, b, c, d, ...>"
    assert isinstance(panels, np.ndarray)
    assert panels.shape == (5,)
    assert [ax.get_title("left") for ax in panels.flat] == list("abcde")
    assert panels[1].get_title("left") == "b"
    assert isinstance(panels[:2], AxesArray)


def test_axes_without_names_are_counted():
    assert repr(as_axes_array([Figure().subplots()])) == "<1 panel>"


def test_two_panels_are_a_pair_that_prints_on_one_line(effect):
    pair = plot_effect(effect)
    top, bottom = pair
    assert isinstance(pair, tuple)
    assert pair == TwoPanels(top, bottom)
    assert (pair.top, pair.bottom, len(pair)) == (top, bottom, 2)
    assert repr(pair) == "<2 panels: age>"
