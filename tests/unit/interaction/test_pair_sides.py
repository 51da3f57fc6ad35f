import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from rhale.interaction.moments import PairAxis
from rhale.interaction.plot import (
    DrawnPairFeature,
    draw_row_density,
    dress_side,
    read_drawn_pair_features,
    say_blank,
    write_only_pair_value,
)
from rhale.plots import style


@pytest.fixture
def ax():
    return Figure().add_subplot()


def side(nodes, weight=None, **fields):
    axis = PairAxis(np.asarray(nodes, float), **fields)
    weight = np.ones(axis.n_cells) if weight is None else np.asarray(weight, float)
    return DrawnPairFeature("age", axis, weight, np.zeros(axis.nodes.size))


def test_sides_have_the_rows_of_their_own_cells(make_pair):
    axes = PairAxis(np.array([0.0, 1.0, 2.0])), PairAxis(np.arange(3.0), tuple("uvw"))
    pair = make_pair(np.multiply, (np.array([0.5, 0.5, 1.5]), np.array([0.0, 2.0, 2.0])), axes)
    first, second = read_drawn_pair_features(pair)
    np.testing.assert_array_equal(first.weight, [2, 1])
    np.testing.assert_array_equal(second.weight, [1, 0, 2])
    assert (first.name, second.name) == pair.names


def test_levels_stand_evenly_whatever_their_places():
    levels = side([0, 1, 10], labels=("a", "b", "c"))
    np.testing.assert_array_equal(levels.places, [0, 1, 2])
    np.testing.assert_array_equal(levels.limits, [-0.5, 0.5, 1.5, 2.5])


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=12), st.integers(1, 200))
def test_parts_of_cells_read_straight_lines_exactly(widths, parts):
    nodes = np.cumsum([0.0, *widths])
    found = side(nodes).divide(parts)
    middles = (found.limits[1:] + found.limits[:-1]) / 2
    np.testing.assert_allclose(found.shares @ nodes, middles, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1)
    assert (middles > nodes[found.cell_index]).all()
    assert (middles < nodes[found.cell_index + 1]).all()
    assert set(found.limits[[0, -1]]) == set(nodes[[0, -1]])


def test_parts_are_of_like_width():
    found = side([0, 1, 10]).divide(100)
    np.testing.assert_allclose(np.diff(found.limits), 0.1)


def test_levels_are_not_divided():
    found = side([0, 1], labels=("a", "b")).divide(100)
    np.testing.assert_array_equal(found.shares, np.eye(2))
    np.testing.assert_array_equal(found.cell_index, [0, 1])


def test_the_strip_is_as_high_as_rows_are_dense(ax):
    ax.set(xlim=(0, 4), ylim=(0, 1))
    strip = draw_row_density(ax, side([0, 1, 3, 4], [4, 4, 0]), "x", beyond=False)
    outline = strip.get_xy()[:-1]
    wanted = np.array([0, 1, 1, 0.5, 0.5, 0, 0, 0]) * style.STRIP_HEIGHT
    np.testing.assert_allclose(outline, np.column_stack([[0, 0, 1, 1, 3, 3, 4, 4], wanted]))
    assert ax.get_xlim() == (0, 4)


def test_a_cell_with_few_rows_is_still_seen(ax):
    strip = draw_row_density(ax, side([0, 1, 2], [1000, 1]), "y", beyond=True)
    heights = strip.get_xy()[:, 0] - strip.get_xy()[0, 0]
    assert heights[3] == pytest.approx(style.STRIP_FLOOR * style.RUG_HEIGHT)


def test_a_strip_without_rows_is_flat(ax):
    strip = draw_row_density(ax, side([0, 1, 2], [0, 0]), "x", beyond=False)
    assert (strip.get_xy()[:, 1] == 0).all()


@pytest.mark.parametrize("along", ["x", "y"])
def test_durations_have_units_along_either_axis(ax, along):
    ax.set(xlim=(0, 7200), ylim=(0, 7200))
    dress_side(ax, side([0, 3600, 7200], kind="duration"), along)
    ax.figure.draw_without_rendering()
    words = [text.get_text() for text in getattr(ax, f"get_{along}ticklabels")()]
    assert "60 min" in words
    assert getattr(ax, f"get_{along}label")() == "age"


def test_dates_beyond_the_calendar_are_days(ax):
    dress_side(ax, side([0, 5e6], kind="date"), "x")
    assert ax.get_xlabel() == "age (days since 1970)"


@pytest.mark.parametrize(
    ("axis", "words"),
    [
        (PairAxis(np.array([2.5])), "2.5"),
        (PairAxis(np.array([0.0]), ("a",)), "a"),
        (PairAxis(np.array([1.0]), kind="date"), "1970-01-02"),
        (PairAxis(np.empty(0)), "no value"),
    ],
)
def test_the_value_of_a_constant_feature_is_told(axis, words):
    assert write_only_pair_value(axis) == words


def test_both_features_can_be_constant(ax, one):
    say_blank(ax, (side([1]), side([3])))
    assert one(ax, "constant").get_text().count("is constant") == 2


def test_cells_without_width_are_constant():
    assert side([3, 3]).is_constant
    assert not side([3, 4]).is_constant
