"""Arrays as tables: every value is its own number, and the array's type decides what fits."""

import pickle

import numpy as np
import pytest

from rhale.data.array import ArrayChunk, ArrayTable
from rhale.data.columns import Labels

ROWS = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0], [4.0, 40.0]])
WEIGHTS = np.array([1.0, 2.0, 4.0, 8.0])


def chunk(dtype=np.float64):
    return ArrayChunk(ROWS.astype(dtype), np.arange(4))


def test_columns_are_numbered_and_keep_their_names_when_some_are_left_out():
    table = ArrayTable(ROWS)
    assert table.names == ("x0", "x1")
    assert table.select([1]).names == ("x1",)
    assert table.select([1]).chunk(0, 4).column(0).tolist() == [10.0, 20.0, 30.0, 40.0]


def test_rows_are_taken_with_their_weights_and_their_places():
    table = ArrayTable(ROWS).weigh(WEIGHTS).take(np.array([3, 1, 0]))
    part = table.chunk(1, 3)
    assert part.column(0).tolist() == [2.0, 1.0]
    assert part.weights.tolist() == [2.0, 1.0]
    assert part.row_numbers.tolist() == [1, 0]
    assert part.take(np.array([1])).weights.tolist() == [1.0]


def test_a_value_is_its_own_key():
    np.testing.assert_array_equal(chunk("int32").keys(), ROWS.T)
    assert chunk().key(1).tolist() == ROWS[:, 1].tolist()


@pytest.mark.parametrize(
    ("dtype", "held"), [("float64", 1.3), ("float32", float(np.float32(1.3))), ("int64", 1.0)]
)
def test_a_column_can_hold_what_the_type_of_the_array_can(dtype, held):
    wanted = np.full(4, 1.3)
    assert chunk(dtype).representable(0, wanted).tolist() == [held] * 4
    assert chunk(dtype).substitute([(0, wanted)])[:, 0].tolist() == [held] * 4


def test_several_columns_are_replaced_in_one_copy():
    part = chunk()
    found = part.substitute([(0, np.zeros(4)), (1, np.arange(4.0))])
    assert found.tolist() == [[0.0, 0.0], [0.0, 1.0], [0.0, 2.0], [0.0, 3.0]]
    np.testing.assert_array_equal(part.array, ROWS)


def test_copies_for_the_model_lie_row_by_row_whatever_the_array_does():
    part = ArrayChunk(np.asfortranarray(ROWS), np.arange(4))
    assert part.rows.flags.c_contiguous
    np.testing.assert_array_equal(part.rows, ROWS)


def test_only_arrays_of_truth_values_hold_truth_and_none_holds_names():
    table, labels = ArrayTable(ROWS > 2), {0: Labels(("a",))}
    assert table.is_truth(0)
    assert not ArrayTable(ROWS).is_truth(0)
    assert table.holds(0) == "number"
    assert table.label(labels) is table
    assert chunk().distinct(0) is None
    assert np.isnan(table.missing_value(0))


def test_columns_are_made_once_and_not_to_be_written_into():
    own = chunk()
    assert own.column(1).tolist() == [10.0, 20.0, 30.0, 40.0]
    assert np.shares_memory(own.column(1), own.keys())
    with pytest.raises(ValueError, match="read-only"):
        own.column(1)[0] = 7.0


def test_a_chunk_travels_without_what_it_made():
    own = chunk()
    before = len(pickle.dumps(own))
    assert own.column(0).tolist() == [1.0, 2.0, 3.0, 4.0]
    assert len(pickle.dumps(own)) == before
    again = pickle.loads(pickle.dumps(own))  # noqa: S301 - our own bytes
    assert again.column(1).tolist() == [10.0, 20.0, 30.0, 40.0]
