import numpy as np
import pytest
from tests.unit.effects.askers import asker_for

from rhale.data import open_table
from rhale.interaction.differences import n_corners, predict_corners
from rhale.interaction.moments import PairAxis
from rhale.models.questions import PairSide

CELLS = PairAxis(np.array([0.0, 1.0, 4.0]))


def chunk_of(rows):
    return open_table(np.asarray(rows, dtype=float)).chunk(0, len(rows))


def number(chunk, column, axis=CELLS):
    positions = axis.locate(chunk.column(column))
    return PairSide(
        column, axis, positions, axis.nodes[positions.cell], axis.nodes[positions.cell + 1]
    )


def levels(chunk, column, n_levels):
    axis = PairAxis(np.arange(float(n_levels)), tuple("abcdef"[:n_levels]))
    own = chunk.column(column)
    low, high = np.maximum(own - 1, 0), np.minimum(own + 1, n_levels - 1)
    return PairSide(column, axis, axis.locate(own), low, high)


def counting(model):
    asked = []

    def predict(rows):
        asked.append(len(rows))
        return model(rows)

    return predict, asked


def test_the_mixed_difference_of_a_product_is_the_area_of_the_cell():
    chunk = chunk_of([[0.5, 2.0, 9.0], [3.0, 0.5, 9.0]])
    model, asked = counting(lambda z: 2 * z[:, 0] * z[:, 1] + z[:, 2] ** 3)
    asker = asker_for(model, chunk)
    asked.clear()
    mixed, first, second = predict_corners(asker, chunk, number(chunk, 0), number(chunk, 1))
    assert mixed.tolist() == [[[6.0], [6.0]]]
    assert first[0, :, 0] == pytest.approx([2 * 2.0 * 1, 2 * 0.5 * 3])  # where the row stands
    assert second[0, :, 0] == pytest.approx([2 * 0.5 * 3, 2 * 3.0 * 1])
    assert sum(asked) == 4 * 2 == n_corners(number(chunk, 0), number(chunk, 1)) * chunk.n_rows


def test_rows_count_for_the_step_below_and_above_their_level():
    chunk = chunk_of([[0.5, 0.0], [0.5, 1.0], [3.0, 2.0]])
    asker = asker_for(lambda z: z[:, 0] * z[:, 1] ** 2, chunk, "ab")
    mixed, along, steps = predict_corners(asker, chunk, number(chunk, 0), levels(chunk, 1, 3))
    assert mixed[0].tolist() == [[0.0, 1.0], [1.0, 3.0], [9.0, 0.0]]  # width x (b² - a²)
    assert along[0, :, 0].tolist() == [0.0, 1.0, 12.0]
    assert steps[0].tolist() == [[0.0, 0.5], [0.5, 1.5], [9.0, 0.0]]


def test_two_levels_cost_two_values():
    chunk = chunk_of([[0.0, 1.0], [1.0, 0.0]])
    model, asked = counting(lambda z: z[:, 0] * z[:, 1])
    asker = asker_for(model, chunk, "ab")
    asked.clear()
    mixed, *_ = predict_corners(asker, chunk, levels(chunk, 0, 2), levels(chunk, 1, 2))
    # row 0 is at the lower level of the first and the upper one of the second: (up, down)
    assert mixed[0].tolist() == [[0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    assert sum(asked) == 4 * 2


def test_levels_of_both_sides_have_four_ways():
    chunk = chunk_of([[1.0, 1.0], [1.0, 1.0]])
    asker = asker_for(lambda z: z[:, 0] ** 2 * z[:, 1] ** 2, chunk, "ab")
    mixed, *_ = predict_corners(asker, chunk, levels(chunk, 0, 3), levels(chunk, 1, 3))
    assert mixed[0, 0].tolist() == [1.0, 3.0, 3.0, 9.0]


def test_rounding_is_no_difference():
    rng = np.random.default_rng(0)
    chunk = chunk_of(rng.uniform(0, 4, size=(200, 3)))
    asker = asker_for(lambda z: np.sin(z[:, 0]) + np.exp(z[:, 1]) * 1e3 + z[:, 2] / 3, chunk)
    mixed, *_ = predict_corners(asker, chunk, number(chunk, 0), number(chunk, 1))
    assert not mixed.any()


def test_small_batches_ask_the_same():
    rng = np.random.default_rng(0)
    chunk = chunk_of(rng.uniform(0, 4, size=(30, 3)))

    def model(z):
        return np.stack([np.sin(z[:, 0] * z[:, 1]), z[:, 2]], axis=1)

    found = [
        predict_corners(
            asker_for(model, chunk, batch_rows=n), chunk, number(chunk, 0), number(chunk, 1)
        )
        for n in (30, 10_000)
    ]
    for small, large in zip(*found, strict=True):
        assert np.array_equal(small, large)
        assert small.shape == (2, 30, 1)
