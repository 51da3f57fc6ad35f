import pytest
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rhale.plots import canvas
from rhale.regions.plot import (
    MOST_ROOM,
    LegendSpace,
    add_columns,
    lift_above,
    room_above,
    room_inside,
)


@pytest.mark.parametrize("outside", [True, False])
def test_a_legend_has_columns_of_its_own_under_a_sentence(outside):
    ax = Figure(figsize=(6, 4)).subplots()
    lines = [Line2D([], [], label=name) for name in ("_a", "$b$", "c")]
    add_columns(ax, (lines[:1], lines[1:]), "who differs", LegendSpace(outside=outside, line=90))
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == (["_a", "", "$b$", "c"] if outside else ["_a", "$b$", "c"])
    assert ax.get_legend().get_title().get_text() == "who differs"


def test_room_for_a_legend_lifts_the_y_axis_and_no_curve():
    ax = Figure(figsize=(6, 4)).subplots()
    ax.set_ylim(-1, 1)
    lift_above(ax, 4)
    assert ax.get_ylim() == (-1, 1)  # there is none
    ax.legend([Line2D([], [])], ["a"])
    lift_above(ax, 4)
    low, high = ax.get_ylim()
    assert low == -1
    assert 1 < high < -1 + 2 / (1 - MOST_ROOM) + 1e-9


def test_a_narrow_legend_has_one_column_and_short_names():
    assert room_above(turned=False).has_columns
    assert room_above(turned=True).label < room_above(turned=False).label
    wide, narrow = (Figure(figsize=(width, 4)).subplots() for width in (8, 3))
    assert not room_inside(wide).has_columns
    assert room_inside(narrow).label < room_inside(wide).label
    lines = [Line2D([], [], label=name) for name in "abc"]
    add_columns(narrow, (lines[:1], lines[1:]), "", LegendSpace(outside=True, line=40))
    assert [text.get_text() for text in narrow.get_legend().get_texts()] == ["a", "b", "c"]


def test_figures_grow_with_letters_and_legends_with_figures():
    usual = room_above(turned=False)
    with rc_context({"font.size": 20}):
        assert canvas.magnify() == 2
        assert abs(room_above(turned=False).line - usual.line) <= 1
    with rc_context({"font.size": 6}):
        assert canvas.magnify() == 1
