import numpy as np
import pytest
from tests.unit.interaction.test_corners import CELLS, chunk_of, levels, number

from rhale.effects.local.queries import BatchedModel
from rhale.interaction.differences import cross_cell, predict_corners
from rhale.models import meet, wrap
from rhale.models.questions import PairSide


def model(z):
    return z[:, 0] * z[:, 1] * (1 + z[:, 2]) + z[:, 0] ** 2


def gradient(z):
    first = z[:, 1] * (1 + z[:, 2]) + 2 * z[:, 0]
    return np.stack([first, z[:, 0] * (1 + z[:, 2]), z[:, 0] * z[:, 1]], axis=1)


@pytest.fixture
def chunk():
    rng = np.random.default_rng(0)
    return chunk_of(np.column_stack([rng.uniform(0, 4, (40, 2)), rng.integers(0, 3, 40)]))


@pytest.fixture
def asker(chunk):
    return BatchedModel(meet(wrap(model, gradient=gradient), chunk)[0], ("a", "b", "c"), 1_000)


def test_slopes_at_both_ends_of_a_cell_are_the_corners_of_a_bilinear_function(chunk, asker):
    first, second = number(chunk, 0), number(chunk, 1)
    crossed = cross_cell(asker.predictor, chunk, second, (None, None))
    mixed, *_ = predict_corners(asker, chunk, first, second)
    assert crossed.change_along(first) == pytest.approx(mixed)
    area = first.axis.widths[first.positions.cell] * second.axis.widths[second.positions.cell]
    assert mixed[0, :, 0] == pytest.approx(area * (1 + chunk.column(2)))


def test_what_the_feature_does_alone_is_the_difference_of_predictions(chunk, asker):
    side = number(chunk, 0)
    crossed = cross_cell(asker.predictor, chunk, side, (None, None))
    ends = [model(chunk.substitute([(0, values)])) for values in (side.low, side.high)]
    assert crossed.single[0, :, 0] == pytest.approx(ends[1] - ends[0])


def test_levels_change_slopes_down_and_up(chunk, asker):
    first, third = number(chunk, 0), levels(chunk, 2, 3)
    own = asker.predictor.gradient(chunk)
    crossed = cross_cell(asker.predictor, chunk, third, own)
    corners, _, steps = predict_corners(asker, chunk, first, third)
    assert crossed.change_along(first) == pytest.approx(corners)
    assert crossed.single == pytest.approx(steps)


def test_rows_that_stand_nowhere_change_nothing(asker):
    chunk = chunk_of([[0.5, 2.0, 1.0], [9.0, 0.5, 1.0]])
    positions = CELLS.locate(chunk.column(0))
    side = PairSide(0, CELLS, positions, np.array([0.0, 9.0]), np.array([1.0, 9.0]))
    crossed = cross_cell(asker.predictor, chunk, side, (None, None))
    assert crossed.single[0, 0].all()
    assert not crossed.single[0, 1].any()
    assert not crossed.changes[0][1].any()
