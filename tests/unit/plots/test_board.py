import numpy as np
import pytest
from matplotlib.figure import Figure

from rhale.plots import style
from rhale.plots.categorical_axis import (
    LevelLayout,
    OrientedAxes,
    new_oriented_axes,
    should_turn,
    turned_height,
)

PLACES, VALUES = np.array([0.0, 1.0, 2.0]), np.array([5.0, 6.0, 7.0])


def slots_of(labels, *, is_number=False):
    places = np.arange(float(len(labels)))
    return LevelLayout(tuple(labels), places, is_number=is_number, has_missing=False)


@pytest.fixture(params=[False, True])
def oriented(request):
    return OrientedAxes(Figure().add_subplot(), horizontal=request.param)


def test_places_are_x_or_y_where_the_board_is_turned(oriented):
    pair = (VALUES, PLACES) if oriented.horizontal else (PLACES, VALUES)
    np.testing.assert_array_equal(oriented.points(PLACES, VALUES).T, pair)


def test_strokes_run_along_the_values_and_count_for_the_limits(oriented):
    lines = oriented.strokes(PLACES, VALUES - 1, VALUES + 1)
    along = 0 if oriented.horizontal else 1
    np.testing.assert_array_equal(np.array(lines.get_segments())[:, :, along][0], [4.0, 6.0])
    reached = (oriented.ax.dataLim.intervalx, oriented.ax.dataLim.intervaly)[along]
    assert reached.tolist() == [4.0, 8.0]


def test_the_axes_reach_over_all_slots_the_first_on_top(oriented):
    layout = slots_of("abc")
    oriented.strokes(PLACES, VALUES, VALUES)
    oriented.fit(layout, strip=False)
    low, high = layout.limits
    assert (oriented.ax.get_ylim() if oriented.horizontal else oriented.ax.get_xlim()) == (
        (high, low) if oriented.horizontal else (low, high)
    )


def test_long_names_are_written_below_one_another():
    assert should_turn(slots_of(["the_only_word_of_a_long_name"] * 6), None)
    assert not should_turn(slots_of(["a long name of a level"] * 3), None)  # on two lines
    assert not should_turn(slots_of("abc"), None)
    assert not should_turn(slots_of(["1000000"] * 60, is_number=True), None)


def test_a_figure_of_many_levels_is_high_but_not_too_high():
    few, many, most = (turned_height(slots_of(range(n))) for n in (10, 20, 1000))
    assert many - few == pytest.approx(10 * style.TURNED_LINE)
    assert most == style.TURNED_REACH[1]


def test_given_axes_are_used_as_they_are():
    ax = Figure().add_subplot()
    assert new_oriented_axes(slots_of("abc"), ax).ax is ax
