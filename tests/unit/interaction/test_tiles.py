import numpy as np
import pytest
from matplotlib.figure import Figure

from rhale.interaction.plot import has_room, hatch_tiles, write_tiles


@pytest.fixture
def ax():
    return Figure((4, 4)).add_subplot()


def test_the_tiles_that_are_asked_for_are_hatched_and_no_others(ax):
    wanted = np.array([[True, False], [False, True], [False, False]])
    hatched = hatch_tiles(ax, np.arange(4.0), np.array([0.0, 1, 5]), wanted, "no rows")
    corners = [path.vertices[:4].tolist() for path in hatched.get_paths()]
    assert corners == [
        [[0, 0], [1, 0], [1, 1], [0, 1]],
        [[1, 1], [2, 1], [2, 5], [1, 5]],
    ]
    assert hatched.get_label() == "no rows"
    assert hatched.get_facecolor().size == 0  # paper


def test_numbers_are_white_on_dark_tiles_and_left_out_where_unknown(ax, find):
    write_tiles(ax, np.array([[1.0, 0.1], [np.nan, -0.9]]), 1.0)
    told = {
        text.get_position(): (text.get_text(), text.get_color()) for text in find(ax, "numbers")
    }
    assert told == {
        (0, 0): ("1", "white"), (0, 1): ("0.1", "black"), (1, 1): ("\u22120.9", "white"),
    }  # fmt: skip


@pytest.mark.parametrize(("n", "fits"), [(2, True), (8, True), (60, False)])
def test_numbers_need_room(ax, n, fits):
    assert has_room(ax, n, n) is fits


def test_only_nothing_is_written_as_zero(ax, find):
    write_tiles(ax, np.array([[27_051.0, 41.0, 1e-7, 0.0]]), 27_051.0)
    assert [text.get_text() for text in find(ax, "numbers")] == ["27,000", "40", "0", "0"]
