import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rhale.plots.region_legend import MOST_ROOM, add_columns, find_room, lift_above


@pytest.mark.parametrize("outside", [True, False])
def test_a_legend_has_columns_of_its_own_under_a_sentence(outside):
    ax = Figure(figsize=(6, 4)).subplots()
    lines = [Line2D([], [], label=name) for name in ("_a", "$b$", "c")]
    add_columns(ax, (lines[:1], lines[1:]), "who differs", outside=outside)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == (["_a", "", "$b$", "c"] if outside else ["_a", "$b$", "c"])
    assert ax.get_legend().get_title().get_text() == "who differs"


def test_room_for_a_legend_lifts_the_y_axis_and_no_curve():
    ax = Figure(figsize=(6, 4)).subplots()
    ax.set_ylim(-1, 1)
    lift_above(ax, 4)
    low, high = ax.get_ylim()
    assert low == -1
    assert 1 < high < -1 + 2 / (1 - MOST_ROOM) + 1e-9


def test_a_narrow_legend_has_one_column_and_short_names():
    wide, narrow = (Figure(figsize=(width, 4)).subplots() for width in (8, 3))
    assert find_room(wide, outside=True).has_columns
    assert not find_room(narrow, outside=True).has_columns
    assert not find_room(wide, outside=False).has_columns
    rooms = [find_room(narrow, outside=side).label for side in (True, False)]
    assert rooms[0] < rooms[1] <= find_room(wide, outside=True).label
    lines = [Line2D([], [], label=name) for name in "abc"]
    add_columns(narrow, (lines[:1], lines[1:]), "", outside=True)
    assert [text.get_text() for text in narrow.get_legend().get_texts()] == ["a", "b", "c"]
