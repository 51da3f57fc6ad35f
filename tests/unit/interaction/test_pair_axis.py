import numpy as np
import pytest

from rhale.interaction.moments import PairAxis


def test_rows_of_numbers_stand_in_cells_and_rows_of_levels_on_nodes():
    cells, levels = PairAxis(np.array([0.0, 1.0, 4.0])), PairAxis(np.arange(3.0), ("a", "b", "c"))
    assert (cells.n_steps, cells.n_cells, cells.n_ways) == (2, 2, 1)
    assert (levels.n_steps, levels.n_cells, levels.n_ways) == (2, 3, 2)
    assert cells.locate(np.array([0.0, 1.0, 2.5, 4.0])).cell.tolist() == [0, 1, 1, 1]
    assert cells.locate(np.array([0.25, 1.0, 2.5, 4.0])).place.tolist() == [0.25, 0.0, 0.5, 1.0]
    assert levels.locate(np.array([2.0, 0.0, 1.0])).cell.tolist() == [2, 0, 1]
    assert levels.locate(np.array([2.0, 0.0, 1.0])).place.tolist() == [0.0, 0.0, 0.0]


def test_cells_closed_on_the_right_have_their_upper_limit():
    axis = PairAxis(np.array([0.0, 1.0, 4.0]), closed="right")
    assert axis.locate(np.array([0.0, 1.0, 4.0])).cell.tolist() == [0, 0, 1]
    assert axis.locate(np.array([0.0, 1.0, 4.0])).place.tolist() == [0.0, 1.0, 1.0]


@pytest.mark.parametrize("labels", [(), ("a", "b", "c")])
def test_rows_without_a_value_or_off_the_axis_stand_nowhere(labels):
    axis = PairAxis(np.array([0.0, 1.0, 4.0]), labels)
    found = axis.locate(np.array([np.nan, -0.1, 4.1, np.inf, -np.inf]))
    assert found.cell.tolist() == [-1] * 5
    assert found.place.tolist() == [0.0] * 5


def test_a_value_between_two_levels_is_none():
    axis = PairAxis(np.array([0.0, 1.0, 4.0]), ("a", "b", "c"))
    assert axis.locate(np.array([0.5, 1.0, 3.9])).cell.tolist() == [-1, 1, -1]


def test_axes_are_compared_by_value_and_cannot_be_changed():
    axis = PairAxis(np.array([0.0, 1.0]))
    assert axis == PairAxis(np.array([0.0, 1.0]))
    assert axis != PairAxis(np.array([0.0, 1.0]), kind="date")
    assert axis.widths.tolist() == [1.0]
    with pytest.raises(ValueError, match="read-only"):
        axis.nodes[0] = 2.0


def test_a_column_of_one_value_has_one_cell_without_width():
    axis = PairAxis(np.array([2.0, 2.0]))
    found = axis.locate(np.array([2.0, 1.0, np.nan, 2.0]))
    assert found.cell.tolist() == [0, -1, -1, 0]
    assert found.place.tolist() == [0.0] * 4
