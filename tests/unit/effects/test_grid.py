import pickle

import numpy as np
import pytest

from rhale.effects.binning.cells import BUCKETS_PER_CELL, MOST_BUCKETS, Grid, uniform_edges
from rhale.errors import BadSettingError

RNG = np.random.default_rng(42)


def by_counting(edges, x, closed):
    """The definition: half-open cells, outermost limits included, values outside at the ends."""
    inner, value = edges[1:-1], x[:, None]
    return np.sum(inner <= value if closed == "left" else inner < value, axis=1)


def crowded(n):
    """Many limits in one thousandth of the axis: most buckets there hold several."""
    return np.unique(np.concatenate([[0.0], RNG.uniform(0.5, 0.501, n), [1.0]]))


GRIDS = {
    "one cell": np.array([0.0, 1.0]),
    "uniform": np.linspace(-3, 7, 21),
    "random": np.unique(RNG.normal(0, 1, 50)),
    "crowded": crowded(60),
    "lognormal": np.unique(RNG.lognormal(0, 4, 40)),
    "unix times": 1.7e9 + np.linspace(0, 1e5, 31),
    "narrow and far": 1e9 + np.arange(12) * 1e-6,
    "tiny": 1e-9 * np.arange(15),
    "neighbours": np.nextafter(1.0, 2.0) + np.arange(6) * np.spacing(1.0),
    "subnormal start": np.array([0.0, 5e-324, 1e-300, 1.0]),
    "huge": np.array([-1e150, -1.0, 0.0, 1e-5, 1e150]),
}


def probes(edges):
    """Values on limits, next to them, between them and beyond the ends; enough to use buckets."""
    span = edges[-1] - edges[0]
    near = np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)])
    n_buckets = BUCKETS_PER_CELL * (edges.size - 1)
    walls = edges[0] + span * np.arange(n_buckets + 1) / n_buckets
    inside = edges[0] + span * RNG.random(max(4 * n_buckets, MOST_BUCKETS))
    beyond = [edges[0] - span, edges[-1] + span, edges[0] - 1.0, edges[-1] + 1.0]
    return np.concatenate([near, walls, inside, beyond])


@pytest.mark.parametrize("closed", ["left", "right"])
@pytest.mark.parametrize("name", GRIDS)
def test_locate_agrees_with_counting_limits(name, closed):
    edges = GRIDS[name]
    x = probes(edges)
    assert x.size > MOST_BUCKETS
    np.testing.assert_array_equal(Grid(edges, closed).locate(x), by_counting(edges, x, closed))


def test_one_bucket_table_of_a_single_cell_needs_no_search():
    cells = Grid(np.array([0.0, 1.0])).locate(RNG.random(MOST_BUCKETS))
    assert not cells.any()


@pytest.mark.parametrize("closed", ["left", "right"])
@pytest.mark.parametrize("name", GRIDS)
def test_few_values_are_located_like_many(name, closed):
    edges = GRIDS[name]
    x, grid = probes(edges)[: 3 * edges.size], Grid(edges, closed)
    few = np.concatenate([grid.locate(part) for part in np.array_split(x, x.size)])
    np.testing.assert_array_equal(few, by_counting(edges, x, closed))


def test_a_limit_belongs_to_the_cell_on_its_right_and_the_last_to_the_last():
    grid = Grid(np.array([0.0, 1.0, 2.0]))
    assert grid.locate(np.array([0.0, 0.5, 1.0, 1.5, 2.0])).tolist() == [0, 0, 1, 1, 1]


def test_a_limit_of_a_right_closed_grid_belongs_to_the_cell_on_its_left():
    grid = Grid(np.array([0.0, 1.0, 2.0]), "right")
    assert grid.locate(np.array([0.0, 0.5, 1.0, 1.5, 2.0])).tolist() == [0, 0, 0, 1, 1]


def test_values_outside_go_to_the_outermost_cells_and_are_not_covered():
    grid = Grid(np.array([0.0, 1.0, 2.0]))
    x = np.array([-5.0, 0.0, 2.0, 9.0])
    assert grid.locate(x).tolist() == [0, 0, 1, 1]
    assert grid.covers(x).tolist() == [False, True, True, False]


def test_locate_does_not_change_its_argument():
    x = RNG.uniform(0, 1, 2000)
    copy = x.copy()
    Grid(np.linspace(0, 1, 11)).locate(x)
    np.testing.assert_array_equal(x, copy)


def test_many_cells_are_numbered_beyond_small_integers():
    edges = np.arange(40_001.0)
    x = np.array([0.0, 32_768.5, 40_000.0])
    assert Grid(edges).locate(x).tolist() == [0, 32_768, 39_999]
    many = RNG.uniform(0, 40_000, 500_000)
    np.testing.assert_array_equal(Grid(edges).locate(many), np.floor(many))


def test_widths_and_middles_follow_from_the_limits():
    grid = Grid(np.array([0.0, 1.0, 4.0]))
    assert grid.n_cells == 2
    assert grid.widths.tolist() == [1.0, 3.0]
    assert grid.middles.tolist() == [0.5, 2.5]


def test_two_equal_limits_stand_for_an_axis_with_one_value():
    grid = Grid(np.array([3.0, 3.0]))
    assert grid.locate(np.full(100, 3.0)).tolist() == [0] * 100
    assert grid.covers(np.array([2.9, 3.0, 3.1])).tolist() == [False, True, False]


@pytest.mark.parametrize(
    "edges",
    [
        [],
        [1.0],
        [1.0, 0.0],
        [0.0, 1.0, 1.0],
        [0.0, np.nan],
        [0.0, np.nan, 1.0],
        [-np.inf, 0.0],
        [0.0, np.inf],
        [[0.0, 1.0]],
        [[0.0], [1.0]],
    ],
)
def test_limits_that_do_not_increase_are_refused(edges):
    with pytest.raises(BadSettingError, match="increasing"):
        Grid(np.array(edges))


def test_an_unknown_side_is_refused():
    with pytest.raises(BadSettingError, match="'both' is not known"):
        Grid(np.array([0.0, 1.0]), "both")


def test_a_grid_keeps_its_own_read_only_limits():
    edges = np.array([0.0, 1.0, 2.0])
    grid = Grid(edges)
    edges[1] = 1.5
    assert grid.edges.tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        grid.edges[0] = -1.0


def test_grids_are_equal_if_limits_and_side_are():
    a = Grid(np.array([0.0, 1.0]))
    assert a == Grid(np.array([0.0, 1.0]))
    assert a != Grid(np.array([0.0, 2.0]))
    assert a != Grid(np.array([0.0, 1.0]), "right")
    assert a != "a grid"
    with pytest.raises(TypeError):
        hash(a)


@pytest.mark.parametrize("n_cells", [1, 3, 100])
def test_uniform_edges_are_equally_far_apart(n_cells):
    edges = uniform_edges(-1.0, 2.0, n_cells)
    assert edges.size == n_cells + 1
    assert (edges[0], edges[-1]) == (-1.0, 2.0)
    np.testing.assert_allclose(np.diff(edges), 3.0 / n_cells)


def test_uniform_edges_of_one_value_are_that_value_twice():
    assert uniform_edges(2.0, 2.0, 10).tolist() == [2.0, 2.0]


def test_uniform_edges_closer_than_rounding_are_one():
    high = np.nextafter(np.nextafter(1.0, 2.0), 2.0)
    edges = uniform_edges(1.0, high, 100)
    assert (edges[0], edges[-1]) == (1.0, high)
    assert edges.size <= 3
    assert np.all(np.diff(edges) > 0)


def test_an_axis_of_next_to_no_length_is_searched():
    """Buckets to a unit would be infinitely many."""
    edges = 1e-310 * np.arange(5.0)
    x = np.repeat(edges[:-1], 5_000)
    np.testing.assert_array_equal(Grid(edges).locate(x), np.repeat(np.arange(4), 5_000))


def test_a_grid_that_was_searched_in_travels_without_its_table():
    grid = Grid(np.linspace(0.0, 1.0, 101) ** 2)
    x = np.random.default_rng(0).random(50_000)
    cell, sent = grid.locate(x), pickle.dumps(grid)
    assert len(sent) < 2 * grid.edges.nbytes
    again = pickle.loads(sent)  # noqa: S301
    assert again == grid
    np.testing.assert_array_equal(again.locate(x), cell)


@pytest.mark.parametrize("closed", ["left", "right"])
def test_values_in_the_order_of_cells_are_counted_without_looking_at_all(closed):
    x = np.random.default_rng(0).integers(0, 9, 200) / 2.0  # many on limits
    grid = Grid(np.array([0.0, 1.0, 1.5, 3.0, 3.2, 4.0]), closed)
    side_by_side = x[np.argsort(grid.locate(x), kind="stable")]  # unsorted within a cell
    assert np.any(np.diff(side_by_side) < 0)
    expected = [sum(grid.locate(np.array([v]))[0] == k for v in x) for k in range(5)]
    assert grid.count_in_order(side_by_side).tolist() == expected


def test_a_value_outside_or_none_is_not_covered():
    grid = Grid(np.array([0.0, 1.0]))
    assert grid.covers_all(np.array([0.0, 1.0]))
    for other in (-0.1, 1.1, np.nan):
        assert not grid.covers_all(np.array([0.5, other]))
