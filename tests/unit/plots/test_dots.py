import numpy as np
from matplotlib.figure import Figure

from rhale.effects.result import Trace
from rhale.plots import style
from rhale.plots.categorical_axis import OrientedAxes

PATH = Trace(*np.array([[0.0, 1.0], [2.0, 3.0], [0.5, np.nan], [1.0, np.nan], [4.0, np.nan]]))


def oriented():
    return OrientedAxes(Figure().add_subplot())


def ends(artist):
    return [segment[:, 1].tolist() for segment in artist.get_segments()]


def test_spread_is_drawn_on_both_sides_of_the_mean_where_it_is_known():
    (strokes,) = oriented().draw_spread(PATH, 5.0)
    assert ends(strokes) == [[1.5, 2.5]]


def test_whiskers_have_two_caps_and_end_at_the_interval():
    on = oriented()
    (whiskers,) = on.draw_ci(PATH, 0.95, 5.0)
    assert ends(whiskers) == [[1.0, 4.0]]
    assert [line.get_ydata().tolist() for line in on.ax.lines] == [[1.0], [4.0]]


def test_what_is_not_known_is_not_drawn():
    unknown = PATH._replace(spread=PATH.spread * np.nan, low=PATH.low * np.nan)
    assert oriented().draw_spread(unknown, 5.0) == []
    assert oriented().draw_ci(unknown, 0.95, 5.0) == []


def test_missing_values_are_a_hollow_dot():
    on = oriented()
    dot = on.draw_missing_dot(PATH, 5.0, style.line_style(0))
    assert dot.get_gid() == "rhale:missing"
    np.testing.assert_allclose(dot.get_facecolor()[0], on.ax.patch.get_facecolor())
