"""Derivatives as local effects: nothing is asked, nothing is computed, one column is taken."""

import numpy as np
from tests.unit.effects.askers import rows_of

from rhale.data import open_table
from rhale.effects.local.gradient import Gradient
from rhale.effects.local.measure import Questions, Replies
from rhale.models import meet, wrap
from rhale.stats.arrays import lay_columns

X = np.random.default_rng(0).normal(size=(20, 3))
CHUNK = open_table(X).chunk(0, len(X))


def slopes_of(column, slopes):
    """What `Gradient` makes of slopes of shape (n_rows, n_outputs, n_columns)."""
    along = dict(enumerate(lay_columns(slopes)))
    replies = Replies(np.empty((0, 0)), along, np.empty((0, 0, 0)))
    return Gradient(column).local_effects(rows_of(CHUNK), Questions(), replies)


def test_slopes_are_all_that_is_asked_for():
    measure = Gradient(1)
    assert (measure.needs, measure.n_changes) == ("slopes", 0)
    assert list(measure.questions(rows_of(CHUNK)).changes) == []


def test_each_output_is_a_series_of_the_column_s_slopes():
    slopes = np.arange(20 * 2 * 3.0).reshape(20, 2, 3)  # row, output, column
    found = slopes_of(1, slopes)
    assert found.shape == (2, 20)
    assert found[0].tolist() == [6.0 * row + 1 for row in range(20)]
    assert found[1].tolist() == [6.0 * row + 4 for row in range(20)]


def test_every_series_lies_in_one_piece_of_memory():
    assert slopes_of(2, np.zeros((20, 2, 3))).flags.c_contiguous


def test_the_slopes_of_a_model_are_its_derivatives():
    def model(rows):
        return rows[:, 0] ** 2 * rows[:, 1] + rows[:, 2]

    def gradient(rows):
        a, b, _ = rows.T
        return np.column_stack([2 * a * b, a**2, np.ones(len(rows))])

    predictor, _ = meet(wrap(model, gradient=gradient), CHUNK)
    _, slopes = predictor.gradient(CHUNK)
    assert np.array_equal(slopes_of(0, slopes)[0], 2 * X[:, 0] * X[:, 1])
    assert np.array_equal(slopes_of(1, slopes)[0], X[:, 0] ** 2)
