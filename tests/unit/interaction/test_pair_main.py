import numpy as np
import pytest

from rhale.interaction.moments import CellPositions, PairAxis, find_bends, measure_main

CELLS = PairAxis(np.array([0.0, 1.0, 3.0]))
LEVELS = PairAxis(np.arange(3.0), ("a", "b", "c"))


def test_the_curve_of_a_line_is_the_line():
    x = np.array([0.0, 0.5, 1.5, 2.0, 3.0])
    positions = CELLS.locate(x)
    step = 2 * CELLS.widths[positions.cell]
    found = measure_main(CELLS, positions, step[None, :, None]).curve(CELLS, 0)
    assert found.heights == pytest.approx(2 * (CELLS.nodes - x.mean()))
    assert found.importance == pytest.approx(2 * x.std())


def test_a_step_between_levels_is_the_mean_of_the_rows_on_both_sides():
    positions = CellPositions(np.array([0, 1, 1, 2]), np.zeros(4))
    down, up = np.array([0.0, 3.0, 5.0, 1.0]), np.array([1.0, 2.0, 2.0, 0.0])
    found = measure_main(LEVELS, positions, np.stack([down, up], -1)[None]).curve(LEVELS, 0)
    heights = np.array([0.0, (1 + 3 + 5) / 3, (1 + 3 + 5) / 3 + (2 + 2 + 1) / 3])
    at_rows = heights[positions.cell]
    assert found.heights == pytest.approx(heights - at_rows.mean())
    assert found.importance == pytest.approx(at_rows.std())


def test_pieces_add_up_and_rows_without_a_value_are_left_out():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 3, 50)
    x[::7] = np.nan
    steps, weights = rng.normal(size=(2, 50, 1)), rng.uniform(0, 2, 50)

    def measure(some):
        positions = CELLS.locate(x[some])
        return measure_main(CELLS, positions, steps[:, some], weights[some])

    whole = measure(slice(None))
    parts = measure(slice(0, 20)) + measure(slice(20, 20)) + measure(slice(20, None))
    for name in ("weight", "places", "mean"):
        assert getattr(parts, name) == pytest.approx(getattr(whole, name))
    assert whole.weight.sum() == pytest.approx(weights[~np.isnan(x)].sum())


def test_a_parabola_is_read_as_one_between_the_nodes():
    x = np.random.default_rng(1).normal(size=5_000)
    axis = PairAxis(np.quantile(x, np.linspace(0, 1, 13)))
    positions = axis.locate(x)
    step = np.diff(axis.nodes**2)[positions.cell]
    found = measure_main(axis, positions, step[None, :, None]).curve(axis, 0)
    inner = np.diff(axis.nodes**2)
    assert np.all(np.abs(find_bends(axis.widths, inner)) <= np.abs(inner))  # 0 is no node
    assert found.importance == pytest.approx((x**2).std(), rel=0.01)


def test_jumps_are_not_read_as_bends_beyond_their_height():
    assert find_bends(np.ones(3), np.array([0.0, 1.0, 0.0])).tolist() == [0.0, 0.0, 0.0]
    assert find_bends(np.ones(1), np.array([5.0])).tolist() == [0.0]
