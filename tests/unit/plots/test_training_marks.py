import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from rhale.effects.result import Trace
from rhale.plots import style
from rhale.plots.axes import ContinuousAxis, LineMarks, PointMarks
from rhale.plots.categorical_axis import OrientedAxes
from rhale.stability.refit_effect import RefitTrace

X = np.array([0.0, 1.0, 2.0])
CURVES = np.array([[0.0, 1.0, 2.0], [0.0, 3.0, 4.0]])
PATH = RefitTrace(X, CURVES.mean(0), X - 5, X + 5, CURVES.std(0, ddof=1), CURVES, X**2)
UNKNOWN = PATH._replace(low=X + np.nan, high=X + np.nan, own=None)


@pytest.fixture
def ax():
    return Figure().add_subplot()


def test_every_training_is_a_line_of_its_own(ax):
    (lines,) = LineMarks(ContinuousAxis(ax)).draw_trainings(PATH, "each")
    np.testing.assert_array_equal([path[:, 1] for path in lines.get_segments()], CURVES)
    np.testing.assert_array_equal(lines.get_segments()[1][:, 0], X)
    assert to_rgb(lines.get_color()[0]) == to_rgb(style.BETWEEN)


def test_lines_carry_the_inks_of_what_they_show(ax):
    marks = LineMarks(ContinuousAxis(ax))
    (mean,), (own,) = marks.draw_mean(PATH, "mean"), marks.draw_own(PATH, "own")
    (band,) = marks.draw_interval(PATH)
    assert mean.get_color() == style.EFFECT
    np.testing.assert_array_equal(own.get_ydata(), X**2)
    assert own.get_color() == style.TRUTH
    assert own.is_dashed()
    assert to_rgb(band.get_facecolor()[0]) == to_rgb(style.BETWEEN)
    ends = band.get_paths()[0].vertices[:, 1]
    assert (ends.min(), ends.max()) == (-5, 7)


def test_rows_of_one_model_have_the_ink_of_its_interval(ax):
    own = Trace(X, X, X, X - 1, X + 1)
    for marks in (LineMarks(ContinuousAxis(ax)), PointMarks(OrientedAxes(ax), 8.0, 0.4)):
        (drawn,) = marks.draw_rows(own, "rows")
        ink = drawn.get_facecolor() if isinstance(marks, LineMarks) else drawn.get_color()
        assert to_rgb(ink[0]) == to_rgb(style.UNCERTAINTY)
        assert drawn.get_label() == "rows"


@pytest.mark.parametrize("turned", [False, True])
def test_dots_of_trainings_stand_around_their_level(ax, turned):
    (dots,) = PointMarks(OrientedAxes(ax, turned), 8.0, 0.4).draw_trainings(PATH, "each")
    places, values = dots.get_offsets().T[:: -1 if turned else 1].reshape(2, 2, 3)
    np.testing.assert_array_equal(values, CURVES)
    np.testing.assert_allclose(places.mean(axis=0), X)
    assert np.abs(places - X).max() < 0.2


@pytest.mark.parametrize("turned", [False, True])
def test_bars_reach_over_the_interval(ax, turned):
    (bars,) = PointMarks(OrientedAxes(ax, turned), 8.0, 0.4).draw_interval(PATH)
    ends = np.array(bars.get_segments())[:, :, 0 if turned else 1]
    np.testing.assert_array_equal(ends, np.column_stack([X - 5, X + 5]))


def test_numbers_are_joined_and_names_are_not(ax, find):
    PointMarks(OrientedAxes(ax), 8.0, 0.4).draw_mean(PATH, "mean")
    assert not find(ax, "curve")
    PointMarks(OrientedAxes(ax), 8.0, 0.4, joined=True).draw_mean(PATH, "mean")
    (line,) = find(ax, "curve")
    np.testing.assert_array_equal(line.get_ydata(), PATH.curve)


def test_what_is_not_known_is_not_drawn(ax):
    for marks in (LineMarks(ContinuousAxis(ax)), PointMarks(OrientedAxes(ax), 8.0, 0.4)):
        assert marks.draw_interval(UNKNOWN) == []
        assert marks.draw_own(UNKNOWN, "own") == []
