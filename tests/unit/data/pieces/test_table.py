import pickle
from dataclasses import replace

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from rhale.data.array import ArrayTable
from rhale.data.frame import FrameTable
from rhale.data.pieces import PiecedTable, with_numbers
from rhale.errors import BadSettingError, BadTableError, UnknownFeatureError

FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4, 5, 6], "w": [1.0, 0.0, 2.0]})
ARROW = pa.Table.from_pandas(FRAME)


def pieced(table):
    head = FrameTable(nw.from_native(table[:0], eager_only=True))
    return PiecedTable(head, head.names)


def pieced_array(n_columns=2):
    head = ArrayTable(np.empty((0, n_columns)))
    return PiecedTable(head, head.names)


def read(table, *pieces, size=100, **place):
    return list(table.cut(pieces, size, **place))


@pytest.mark.parametrize("table", [FRAME, ARROW])
def test_small_pieces_are_gathered_and_large_ones_cut(table):
    chunks = read(pieced(table), table[:1], table[1:1], table[1:], table, size=4)
    assert [chunk.n_rows for chunk in chunks] == [4, 2]
    assert np.concatenate([c.column(0) for c in chunks]).tolist() == [1, 2, 3, 1, 2, 3]
    assert np.concatenate([c.row_numbers for c in chunks]).tolist() == list(range(6))


def test_pieces_without_rows_give_no_chunk():
    assert read(pieced(FRAME), FRAME[:0]) == []
    assert read(pieced_array(), np.empty((0, 2))) == []


def test_a_record_batch_is_a_piece():
    (chunk,) = read(pieced(ARROW), *ARROW.to_batches())
    assert chunk.column(1).tolist() == [4, 5, 6]


def test_numbers_of_rows_go_on_from_the_first():
    (chunk,) = read(pieced(FRAME), FRAME, first_row=40)
    assert chunk.row_numbers.tolist() == [40, 41, 42]


@pytest.mark.parametrize("table", [FRAME, ARROW])
def test_weights_are_taken_out_and_rows_of_weight_zero_left_out(table):
    (chunk,) = read(pieced(table).weigh_by("w"), table)
    assert chunk.weights.tolist() == [1.0, 2.0]
    assert chunk.row_numbers.tolist() == [0, 2]
    assert chunk.frame.columns == ["a", "b"]


def test_weights_of_an_array_are_a_column_too():
    (chunk,) = read(pieced_array().weigh_by("x1"), np.array([[1.0, 0.5], [2.0, 0.0]]))
    assert (chunk.rows.tolist(), chunk.weights.tolist()) == ([[1.0]], [0.5])


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf, 1e200, 1e-200])
def test_weights_that_cannot_be_used_are_refused_with_their_row(weight):
    piece = FRAME.assign(w=[1.0, weight, 1.0])
    with pytest.raises(BadTableError, match=r"file 7: weights must .* row 1 has"):
        read(pieced(FRAME).weigh_by("w"), piece, where="file 7")


def test_weights_are_named_by_a_column_of_numbers():
    text = FRAME.assign(b=["x", "y", "z"])
    with pytest.raises(BadSettingError, match="ndarray, but the table is not in memory"):
        pieced(FRAME).weigh_by(np.ones(3))
    with pytest.raises(BadTableError, match="'b' is a column without numbers"):
        pieced(text).weigh_by("b")
    with pytest.raises(UnknownFeatureError):
        pieced(FRAME).weigh_by("weight")


def test_columns_may_come_in_another_order():
    (chunk,) = read(pieced(FRAME), FRAME[["w", "b", "a"]])
    assert list(chunk.rows.columns) == ["a", "b", "w"]


def test_a_piece_that_lacks_a_column_is_refused_with_near_names():
    with pytest.raises(BadTableError, match=r"^part 2: there is no column 'b'"):
        read(pieced(FRAME), FRAME.rename(columns={"b": "B"}), where="part 2")


def test_a_piece_with_another_column_is_refused():
    with pytest.raises(BadTableError, match="column 'extra' that other pieces"):
        read(pieced(FRAME), FRAME.assign(extra=1))


def test_an_array_with_another_number_of_columns_is_refused():
    with pytest.raises(BadTableError, match=r"^part 0: shape \(3, 4\), but the table has 2"):
        read(pieced_array(), np.ones((3, 4)), where="part 0")


def test_arrow_is_brought_to_the_types_of_the_table():
    piece = pa.table({"a": [7, 8], "b": [1.0, 2.0], "w": pa.array([1.0, 1.0], pa.float32())})
    (chunk,) = read(pieced(ARROW), piece)
    assert chunk.frame.to_native().schema.types == ARROW.schema.types


def test_values_that_the_type_of_the_table_cannot_hold_are_refused():
    piece = pa.table({"a": [7.0], "b": [1.5], "w": [1.0]})
    with pytest.raises(BadTableError, match="column 'b' holds double here and int64 in other"):
        read(pieced(ARROW), piece)


def test_drawn_rows_are_found_in_every_piece():
    places = np.array([1, 3, 4])  # of six, in pieces of two; this part begins at place 1
    table = replace(pieced(FRAME), drawn=places)
    big = pd.concat([FRAME, FRAME], ignore_index=True)
    (chunk,) = read(table, big[1:3], big[3:5], start=1, first_row=1)
    assert chunk.row_numbers.tolist() == [1, 3, 4]
    assert chunk.column(0).tolist() == [2.0, 1.0, 2.0]


def test_drawn_rows_of_an_array_are_found_too():
    table = replace(pieced_array(), drawn=np.array([0, 5]))
    (chunk,) = read(table, np.arange(6.0).reshape(3, 2), start=4)
    assert chunk.rows.tolist() == [[2.0, 3.0]]


def test_a_table_travels_without_its_rows():
    spoilt = replace(pieced(ARROW).weigh_by("w"), source=lambda: 0, engine=lambda: 0)
    table = pickle.loads(pickle.dumps(spoilt.without_rows()))  # noqa: S301
    (chunk,) = read(table, ARROW)
    assert chunk.weights.tolist() == [1.0, 2.0]


def test_an_ordered_type_is_known_before_its_levels_are():
    sizes = pd.Categorical(["S", "M"], categories=["S", "M"], ordered=True)
    frame = pd.DataFrame({"size": sizes, "other": pd.Categorical(["u", "v"])})
    for data in (frame, pa.Table.from_pandas(frame)):
        table = pieced(data)
        assert (table.has_order(0), table.has_order(1)) == (True, False)
        (chunk,) = read(table, data)
        settled = table.with_column_types(chunk.facts())
        assert (settled.declared_order(0), settled.declared_order(1)) == (("S", "M"), None)


def test_numbers_are_made_before_a_chunk_is_handed_over_and_names_are_not(monkeypatch):
    made, dates = [], pd.to_datetime(["2020-01-01", "2020-01-02", None])
    table = pa.Table.from_pandas(FRAME.assign(when=dates, who=["a", "b", None]))
    chunks = with_numbers(pieced(table).cut([table], 2))

    (first, second) = chunks
    monkeypatch.setattr("rhale.data.frame.read_column_floats", made.append)

    assert [first.column(index).tolist() for index in range(4)] == [
        *[[1.0, 2.0], [4.0, 5.0], [1.0, 0.0]],
        [18_262.0, 18_263.0],
    ]
    assert second.distinct(4) == ([], [-1])
    assert made == []


def test_files_are_closed_where_numbers_cannot_be_made(monkeypatch):
    closed = []

    def chunks():
        try:
            yield from read(pieced(ARROW), ARROW, size=2)
        finally:
            closed.append(True)

    def fails(column):
        raise OverflowError(column.name)

    monkeypatch.setattr("rhale.data.frame.read_column_floats", fails)
    with pytest.raises(OverflowError) as caught:  # whose traceback keeps all that was at work
        next(with_numbers(chunks()))
    assert closed == [True]
    del caught
