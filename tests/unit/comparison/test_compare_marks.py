import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.compared_by_hand import drifted, straight

from rhale.comparison.plot import draw_compared_curves, draw_compared_rows, draw_difference
from rhale.plots import style
from rhale.plots.axes import ContinuousAxis


def looks(n):
    return [style.line_style(index) for index in range(n)]


def test_curves_of_one_model_on_rows_that_moved_lie_on_each_other():
    one, ax = drifted()["x0"], Figure().add_subplot()
    draw_compared_curves(ContinuousAxis(ax), one, looks(2), smooth=False)
    first, second = (np.asarray(line.get_xydata()).T for line in ax.get_lines())
    both = np.interp(second[0], *first)[second[0] < 1]
    assert second[1][second[0] < 1] == pytest.approx(both, abs=1e-6)


def test_the_line_of_the_difference_has_its_numbers():
    one, ax = straight()["x1"], Figure().add_subplot()
    draw_difference(ContinuousAxis(ax), one.against(), style.line_style(1), 0, 1)
    (line,) = [a for a in ax.get_lines() if a.get_gid() == "rhale:difference"]
    assert line.get_ydata() == pytest.approx(one.difference(line.get_xdata()))


def test_every_explanation_has_a_line_and_a_strip():
    one, ax = straight()["x1"], Figure().add_subplot()
    draw_compared_curves(ContinuousAxis(ax), one, looks(2), smooth=False)
    draw_compared_rows(ContinuousAxis(ax), one, looks(2))
    assert [a.get_gid() for a in ax.get_lines()] == ["rhale:curve"] * 2
    assert sum(a.get_gid() == "rhale:counts" for a in ax.collections) == 2
