import pickle

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from rhale.errors import BadSettingError, BadTableError, ModelFailedError, UnknownFeatureError
from rhale.tables.array import ArrayTable
from rhale.tables.frame import FrameTable
from rhale.tables.pieces.reader import Reading, cut, naming

FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4, 5, 6], "w": [1.0, 0.0, 2.0]})
ARROW = pa.Table.from_pandas(FRAME)


def reading_of(table):
    head = FrameTable(nw.from_native(table[:0], eager_only=True))
    return Reading(head, head.names)


def array_reading(n_columns=2):
    head = ArrayTable(np.empty((0, n_columns)))
    return Reading(head, head.names)


def read(reading, *pieces, size=100, **place):
    return list(reading.chunks(pieces, size, **place))


@pytest.mark.parametrize("table", [FRAME, ARROW])
def test_small_pieces_are_gathered_and_large_ones_cut(table):
    chunks = read(reading_of(table), table[:1], table[1:1], table[1:], table, size=4)
    assert [chunk.n_rows for chunk in chunks] == [4, 2]
    assert np.concatenate([c.column(0) for c in chunks]).tolist() == [1, 2, 3, 1, 2, 3]
    assert np.concatenate([c.row_numbers for c in chunks]).tolist() == list(range(6))


def test_arrays_are_cut_alike():
    pieces = [(np.full((n, 2), n), np.arange(n)) for n in (3, 0, 5)]
    assert [len(rows) for rows, _ in cut(pieces, 4)] == [4, 4]
    assert [len(rows) for rows, _ in cut(pieces, 3)] == [3, 3, 2]


def test_pieces_without_rows_give_no_chunk():
    assert read(reading_of(FRAME), FRAME[:0]) == []
    assert read(array_reading(), np.empty((0, 2))) == []


def test_a_record_batch_is_a_piece():
    (chunk,) = read(reading_of(ARROW), *ARROW.to_batches())
    assert chunk.column(1).tolist() == [4, 5, 6]


def test_numbers_of_rows_go_on_from_the_first():
    (chunk,) = read(reading_of(FRAME), FRAME, first_row=40)
    assert chunk.row_numbers.tolist() == [40, 41, 42]


@pytest.mark.parametrize("table", [FRAME, ARROW])
def test_weights_are_taken_out_and_rows_of_weight_zero_left_out(table):
    (chunk,) = read(reading_of(table).with_weights("w"), table)
    assert chunk.weights.tolist() == [1.0, 2.0]
    assert chunk.row_numbers.tolist() == [0, 2]
    assert chunk.frame.columns == ["a", "b"]


def test_weights_of_an_array_are_a_column_too():
    (chunk,) = read(array_reading().with_weights("x1"), np.array([[1.0, 0.5], [2.0, 0.0]]))
    assert (chunk.rows.tolist(), chunk.weights.tolist()) == ([[1.0]], [0.5])


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf, 1e200, 1e-200])
def test_weights_that_cannot_be_used_are_refused_with_their_row(weight):
    piece = FRAME.assign(w=[1.0, weight, 1.0])
    with pytest.raises(BadTableError, match=r"file 7: weights must .* row 1 has"):
        read(reading_of(FRAME).with_weights("w"), piece, where="file 7")


def test_weights_are_named_by_a_column_of_numbers():
    text = FRAME.assign(b=["x", "y", "z"])
    with pytest.raises(BadSettingError, match="ndarray, but the table is not in memory"):
        reading_of(FRAME).with_weights(np.ones(3))
    with pytest.raises(BadTableError, match="'b' is a column without numbers"):
        reading_of(text).with_weights("b")
    with pytest.raises(UnknownFeatureError):
        reading_of(FRAME).with_weights("weight")


def test_columns_may_come_in_another_order():
    (chunk,) = read(reading_of(FRAME), FRAME[["w", "b", "a"]])
    assert list(chunk.rows.columns) == ["a", "b", "w"]


def test_a_piece_that_lacks_a_column_is_refused_with_near_names():
    with pytest.raises(BadTableError, match=r"^part 2: there is no column 'b'"):
        read(reading_of(FRAME), FRAME.rename(columns={"b": "B"}), where="part 2")


def test_a_piece_with_another_column_is_refused():
    with pytest.raises(BadTableError, match="column 'extra' that other pieces"):
        read(reading_of(FRAME), FRAME.assign(extra=1))


def test_an_array_with_another_number_of_columns_is_refused():
    with pytest.raises(BadTableError, match=r"^part 0: shape \(3, 4\), but the table has 2"):
        read(array_reading(), np.ones((3, 4)), where="part 0")


def test_arrow_is_brought_to_the_types_of_the_table():
    piece = pa.table({"a": [7, 8], "b": [1.0, 2.0], "w": pa.array([1.0, 1.0], pa.float32())})
    (chunk,) = read(reading_of(ARROW), piece)
    assert chunk.frame.to_native().schema.types == ARROW.schema.types


def test_values_that_the_type_of_the_table_cannot_hold_are_refused():
    piece = pa.table({"a": [7.0], "b": [1.5], "w": [1.0]})
    with pytest.raises(BadTableError, match="column 'b' holds double here and int64 in other"):
        read(reading_of(ARROW), piece)


def test_drawn_rows_are_found_in_every_piece():
    places = np.array([1, 3, 4])  # of six, in pieces of two; this part begins at place 1
    reading = Reading(**{**vars(reading_of(FRAME)), "drawn": places})
    big = pd.concat([FRAME, FRAME], ignore_index=True)
    (chunk,) = read(reading, big[1:3], big[3:5], start=1, first_row=1)
    assert chunk.row_numbers.tolist() == [1, 3, 4]
    assert chunk.column(0).tolist() == [2.0, 1.0, 2.0]


def test_drawn_rows_of_an_array_are_found_too():
    reading = Reading(**{**vars(array_reading()), "drawn": np.array([0, 5])})
    (chunk,) = read(reading, np.arange(6.0).reshape(3, 2), start=4)
    assert chunk.rows.tolist() == [[2.0, 3.0]]


def test_a_reading_travels():
    reading = pickle.loads(pickle.dumps(reading_of(ARROW).with_weights("w")))  # noqa: S301
    (chunk,) = read(reading, ARROW)
    assert chunk.weights.tolist() == [1.0, 2.0]


def test_an_ordered_type_is_known_before_its_levels_are():
    sizes = pd.Categorical(["S", "M"], categories=["S", "M"], ordered=True)
    table = pd.DataFrame({"size": sizes, "other": pd.Categorical(["u", "v"])})
    for data in (table, pa.Table.from_pandas(table)):
        reading = reading_of(data)
        assert (reading.declared_order(0), reading.declared_order(1)) == ((), None)
        (chunk,) = read(reading, data)
        settled = reading.settled(chunk.seen())
        assert (settled.declared_order(0), settled.declared_order(1)) == (("S", "M"), None)


def test_errors_name_their_piece_once():
    with (
        pytest.raises(ModelFailedError, match=r"^file 1: broken$"),
        naming("file 1"),
        naming("file 1"),
    ):
        raise ModelFailedError("broken")  # noqa: EM101
    with pytest.raises(ModelFailedError, match=r"^broken$"), naming(""):
        raise ModelFailedError("broken")  # noqa: EM101
