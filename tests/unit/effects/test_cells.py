import numpy as np
import pytest

from rhale.effects.binning.cells import Cells, Grid, as_axis_cells

FIRST, SECOND = Grid(np.array([0.0, 1.0, 3.0])), Grid(np.array([0.0, 2.0, 4.0, 6.0]), "right")
BOTH = Cells((FIRST, SECOND))


def test_a_grid_is_the_cells_of_its_one_axis():
    cells = as_axis_cells(FIRST)
    assert cells == Cells((FIRST,))
    assert as_axis_cells(cells) is cells
    assert (cells.n_cells, cells.shape) == (2, (2,))
    x = np.array([0.0, 1.0, 3.0])
    assert cells.locate(x).tolist() == FIRST.locate(x).tolist() == [0, 1, 1]
    assert cells.covers(np.array([-1.0, 0.0, 3.5])).tolist() == [False, True, False]


def test_cells_of_two_axes_are_numbered_row_by_row():
    assert (BOTH.n_cells, BOTH.shape) == (6, (2, 3))
    x = np.array([[0.5, 0.5, 0.5, 1.0, 3.0], [0.0, 2.0, 2.5, 4.0, 6.0]])
    assert BOTH.locate(x).tolist() == [0, 0, 1, 3 + 1, 3 + 2]


def test_a_row_is_covered_if_it_lies_on_every_axis():
    x = np.array([[0.5, 9.0, 0.5, np.nan], [3.0, 3.0, 9.0, 3.0]])
    assert BOTH.covers(x).tolist() == [True, False, False, False]


def test_many_cells_have_large_numbers():
    many = Grid(np.arange(301.0))
    assert Cells((many, many)).locate(np.array([[299.5], [299.5]])).tolist() == [300 * 300 - 1]


def test_a_value_for_each_axis_is_needed():
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        BOTH.locate(np.array([0.5]))


def test_cells_are_the_same_if_their_limits_are():
    assert Cells((FIRST, SECOND)) == Cells((Grid(np.array([0.0, 1.0, 3.0])), SECOND))
    assert Cells((FIRST, SECOND)) != Cells((SECOND, FIRST))


def test_an_axis_is_united_by_itself():
    wide = BOTH.unite(np.array([0, 1, 3]), 1)
    assert wide.grids == (FIRST, Grid(np.array([0.0, 2.0, 6.0]), "right"))
    assert BOTH.unite(np.array([0, 2])).shape == (1, 3)


def runs(cells, limits, axis):
    order, starts, sizes = cells.runs(np.array(limits), axis)
    listed = np.arange(cells.n_cells)[order].tolist()
    return [listed[a : a + n] for a, n in zip(starts, sizes, strict=True)]


def test_runs_are_the_cells_that_become_one():
    assert runs(as_axis_cells(SECOND), [0, 2, 3], 0) == [[0, 1], [2]]
    assert runs(BOTH, [0, 2], 0) == [[0, 3], [1, 4], [2, 5]]
    assert runs(BOTH, [0, 1, 3], 1) == [[0], [1, 2], [3], [4, 5]]


@pytest.mark.parametrize("n_axes", [1, 2])
def test_rows_of_a_cell_are_put_side_by_side_in_their_own_order(n_axes):
    x = np.random.default_rng(0).uniform(0, 3, (2, 50))
    halves = Grid(np.array([0.0, 1.0, 2.5, 3.0]))
    cells, x = (Cells((halves,)), x[0]) if n_axes == 1 else (Cells((halves, halves)), x)
    cell = cells.locate(x).tolist()
    expected = [row for k in range(cells.n_cells) for row in range(50) if cell[row] == k]
    found = cells.arrange(x)
    assert found.order.tolist() == expected
    np.testing.assert_array_equal(found.x, x[..., expected])
    assert found.sizes.tolist() == [cell.count(k) for k in range(cells.n_cells)]
