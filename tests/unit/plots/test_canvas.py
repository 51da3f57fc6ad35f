import sys
import threading

import numpy as np
import pytest
from matplotlib.figure import Figure

from rhale.errors import BadSettingError
from rhale.plots import canvas
from rhale.plots.view import AxisView


def test_room_is_a_share_of_the_interval():
    assert canvas.widen_interval(0.0, 10.0, 0.1, 0.2) == pytest.approx((-1.0, 12.0))


def test_an_interval_without_length_gets_some():
    assert canvas.widen_interval(3.0, 3.0, 0.0, 0.0) == (0.0, 6.0)
    assert canvas.widen_interval(0.0, 0.0, 0.0, 0.0) == (-1.0, 1.0)
    assert canvas.widen_interval(float("nan"), 1.0, 0.0, 0.0) == (-1.0, 1.0)


def test_a_pair_is_made_found_or_divided():
    top, bottom = canvas.open_two_panels(None)
    assert canvas.share_x(top, bottom)
    assert canvas.open_two_panels((top, bottom)) == (top, bottom)
    ax = Figure().add_subplot()
    left, right = canvas.open_two_panels(ax, sideways=4.0)
    assert left is ax
    assert left.get_shared_y_axes().joined(left, right)


def test_a_new_pair_side_by_side_has_the_height_asked_for():
    left, _ = canvas.open_two_panels(None, sideways=4.0)
    assert left.figure.get_figheight() == 4.0


def test_what_is_no_pair_is_refused():
    with pytest.raises(BadSettingError, match="a pair of them"):
        canvas.open_two_panels([Figure().add_subplot()])


def test_a_legend_reads_line_by_line():
    assert canvas.by_columns(list("abcde"), 3) == ["a", "d", "b", "e", "c"]


@pytest.mark.parametrize("n_entries", range(1, 12))
@pytest.mark.parametrize("line", [10.0, 25.0, 45.0, 200.0])
def test_no_entry_of_a_legend_is_alone_in_its_line(n_entries, line):
    columns = canvas.balance([10.0] * n_entries, line)
    assert columns == 1 or n_entries == columns or n_entries % columns != 1
    assert 10.0 * columns <= line


def test_widths_of_entries_are_those_that_are_drawn():
    ax = canvas.new_axes((6.4, 4.0))
    lines = [ax.plot([0, 1], label=label)[0] for label in ("$a$", "a wide label, wwwwwwwww")]
    canvas.add_legend(ax, lines, outside=True)
    ax.figure.canvas.draw()
    drawn = [text.get_window_extent().width / ax.figure.dpi for text in ax.get_legend().texts]
    widths = canvas.entry_widths(lines)
    assert widths[1] - widths[0] == pytest.approx(drawn[1] - drawn[0], rel=0.08)  # but for hinting


def test_the_title_of_a_legend_is_no_mathematics():
    ax = canvas.new_axes((6.4, 4.0))
    canvas.add_legend(ax, ax.plot([0, 1], label="a"), outside=True, title="$x$ held at")
    assert not ax.get_legend().get_title().get_parse_math()


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
    canvas.fit_limits(ax, strip=False, view=AxisView(is_log=True))
    assert np.log(ax.get_xlim()) == pytest.approx([-0.02, 1.02])
    canvas.fit_limits(ax, strip=False, view=AxisView((2.0, 5.0), is_log=True))
    assert ax.get_xlim() == (2, 5)
