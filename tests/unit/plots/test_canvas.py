import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rhale.errors import BadSettingError
from rhale.plots import canvas


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


@pytest.mark.parametrize("outside", [True, False])
def test_a_legend_has_columns_of_its_own_under_a_sentence(outside):
    ax = Figure(figsize=(6, 4)).subplots()
    lines = [Line2D([], [], label=name) for name in ("_a", "$b$", "c")]
    canvas.add_columns(ax, (lines[:1], lines[1:]), "who differs", outside=outside)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == (["_a", "", "$b$", "c"] if outside else ["_a", "$b$", "c"])
    assert ax.get_legend().get_title().get_text() == "who differs"


def test_room_for_a_legend_lifts_the_y_axis_and_no_curve():
    ax = Figure(figsize=(6, 4)).subplots()
    ax.set_ylim(-1, 1)
    canvas.lift_above(ax, 4)
    low, high = ax.get_ylim()
    assert low == -1
    assert 1 < high < -1 + 2 / (1 - canvas.MOST_ROOM) + 1e-9
