import sys
import threading

import numpy as np
import pytest
from matplotlib.figure import Figure

from rhale.errors import BadSettingError
from rhale.plots import canvas
from rhale.plots.view import View


def test_room_is_a_share_of_the_interval():
    assert canvas.widen(0.0, 10.0, 0.1, 0.2) == pytest.approx((-1.0, 12.0))


def test_an_interval_without_length_gets_some():
    assert canvas.widen(3.0, 3.0, 0.0, 0.0) == (0.0, 6.0)
    assert canvas.widen(0.0, 0.0, 0.0, 0.0) == (-1.0, 1.0)
    assert canvas.widen(float("nan"), 1.0, 0.0, 0.0) == (-1.0, 1.0)


def test_a_pair_is_made_found_or_divided():
    top, bottom = canvas.find_pair(None)
    assert canvas.share_x(top, bottom)
    assert canvas.find_pair((top, bottom)) == (top, bottom)
    ax = Figure().add_subplot()
    left, right = canvas.find_pair(ax, sideways=4.0)
    assert left is ax
    assert left.get_shared_y_axes().joined(left, right)


def test_a_new_pair_side_by_side_has_the_height_asked_for():
    left, _ = canvas.find_pair(None, sideways=4.0)
    assert left.figure.get_figheight() == 4.0


def test_what_is_no_pair_is_refused():
    with pytest.raises(BadSettingError, match="a pair of them"):
        canvas.find_pair([Figure().add_subplot()])


def test_a_legend_reads_line_by_line():
    assert canvas.by_columns(list("abcde"), 3) == ["a", "d", "b", "e", "c"]


def test_a_backend_without_its_display_makes_a_figure_without_a_window(monkeypatch):
    from matplotlib import pyplot as plt

    def fail(**_):
        msg = "Cannot load backend 'TkAgg'"
        raise ImportError(msg)

    monkeypatch.setattr(plt, "figure", fail)
    before = plt.get_fignums()
    figure = canvas.new_figure((3.0, 2.0))
    assert figure.get_size_inches().tolist() == [3, 2]
    assert plt.get_fignums() == before


def test_outside_of_the_main_thread_no_window_system_is_chosen(monkeypatch):
    found = []
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    thread = threading.Thread(target=lambda: found.append(canvas.may_use_pyplot()))
    thread.start()
    thread.join()
    assert found == [False]
    assert canvas.may_use_pyplot()


def test_a_log_axis_reaches_a_little_beyond_the_data_in_logs():
    ax = Figure().add_subplot()
    ax.plot([1.0, np.exp(1.0)], [0.0, 1.0])
    canvas.fit_limits(ax, strip=False, view=View(is_log=True))
    assert np.log(ax.get_xlim()) == pytest.approx([-0.02, 1.02])
    canvas.fit_limits(ax, strip=False, view=View((2.0, 5.0), is_log=True))
    assert ax.get_xlim() == (2, 5)
