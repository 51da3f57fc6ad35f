import numpy as np
import pandas as pd
import pytest
from tests.unit.effects.askers import asker_for

from rhale.data import open_table
from rhale.effects.local.profiles import complement_dependence, partial_dependence
from rhale.errors import ModelFailedError
from rhale.models.questions import normalise_row_weights

ROWS = np.random.default_rng(0).normal(size=(20, 3))


def whole(rows):
    table = open_table(rows)
    return table.chunk(0, table.n_rows)


def model(rows):
    return np.stack([rows[:, 0] * rows[:, 1] + rows[:, 2], rows[:, 1] ** 2], axis=1)


@pytest.mark.parametrize("batch_rows", [1, 45, 10_000])
def test_held_columns_are_the_same_in_all_rows(batch_rows):
    chunk, points = whole(ROWS), np.array([-1.0, 0.0, 2.0])
    shares = normalise_row_weights(20, np.arange(20.0))
    asker = asker_for(model, chunk, batch_rows=batch_rows)
    found = partial_dependence(asker, chunk, [(0, points)], shares)
    a, b, c = ROWS.T
    np.testing.assert_allclose(found[0], points * (b @ shares) + c @ shares, atol=1e-14)
    np.testing.assert_allclose(found[1], np.full(3, b**2 @ shares), atol=1e-14)
    both = partial_dependence(asker, chunk, [(0, points), (1, points)], shares)
    np.testing.assert_allclose(both, [points**2 + c @ shares, points**2], atol=1e-14)
    rest = complement_dependence(asker, chunk, 0, shares)
    np.testing.assert_allclose(rest, [(a @ shares) * b + c, b**2], atol=1e-14)


def test_a_batch_is_not_exceeded_but_for_one_copy_of_the_rows():
    sizes, chunk = [], whole(ROWS)

    def counting(rows):
        sizes.append(len(rows))
        return rows[:, 0]

    asker = asker_for(counting, chunk, batch_rows=45)
    sizes.clear()
    partial_dependence(asker, chunk, [(0, np.arange(5.0))], normalise_row_weights(20, None))
    assert sizes == [40, 40, 20]


def test_names_and_missing_values_are_held_as_rows_have_them():
    frame = pd.DataFrame(
        {
            "name": pd.Categorical(["u", "v", None, "u"]),
            "whole": pd.array([1, None, 3, 4], "Int64"),
            "number": [0.0, np.nan, 2.0, 3.0],
        }
    )
    seen = []

    def reading(rows):
        seen.append(rows)
        return np.arange(len(rows), dtype=float) * 0

    table = open_table(frame)
    chunk = table.chunk(0, 4)
    asker = asker_for(reading, chunk, tuple(frame.columns))
    for column in (1, 2):
        seen.clear()
        partial_dependence(
            asker, chunk, [(column, chunk.column(column))], normalise_row_weights(4, None)
        )
        (rows,) = seen
        name = frame.columns[column]
        expected = frame[name].repeat(4).reset_index(drop=True)
        pd.testing.assert_series_equal(rows[name].reset_index(drop=True), expected)


def test_a_model_that_rejects_a_combination_is_told_where_it_came_from():
    rows = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0]])
    chunk = whole(rows)

    def choosy(given):
        if np.any(given[:, 0] == given[:, 1]):
            msg = "equal"
            raise ValueError(msg)
        return given[:, 0]

    asker = asker_for(choosy, chunk)
    told = "'a' between 1 and 2, in rows that have other values.*'ale' stays near.*equal"
    with pytest.raises(ModelFailedError, match=told):
        partial_dependence(asker, chunk, [(0, rows[:, 0])], normalise_row_weights(2, None))
