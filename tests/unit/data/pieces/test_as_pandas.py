import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from rhale.data.frame import FrameChunk
from rhale.data.pieces import PandasView

WHOLE = pa.table(
    {
        "n": pa.array([1, None, 3, 4], pa.int64()),
        "t": pa.array([True, False, None, True]),
        "c": pa.array(["u", "v", None, "w"]).dictionary_encode(),
        "d": pa.array([0, 1, 2, 3], pa.date32()),
        "k": pa.array([1, 2, 3, 4], pa.int32()),
        "m": pa.array(["1.50", "2.25", "3.00", "4.75"]).cast(pa.decimal128(5, 2)),
    }
)


def seen(table):
    return FrameChunk(nw.from_native(table, eager_only=True), np.arange(len(table))).facts()


def test_pieces_get_the_types_of_the_whole_table():
    view = PandasView(seen(WHOLE))
    whole, first, last = view(WHOLE), view(WHOLE[:1]), view(WHOLE[3:])
    assert list(first.dtypes) == list(last.dtypes) == list(whole.dtypes)
    assert [str(t) for t in whole.dtypes[["n", "t", "k", "m"]]] == [
        "float64",
        "boolean",
        "int32",
        "float64",
    ]
    assert whole["d"].dtype.kind == "M"
    pd.testing.assert_frame_equal(
        pd.concat([first, view(WHOLE[1:3]), last], ignore_index=True), whole
    )


def test_without_gaps_whole_numbers_and_truth_stay_what_they_are():
    table = pa.table({"n": [1, 2], "t": [True, False]})
    assert [str(t) for t in PandasView(seen(table))(table).dtypes] == ["int64", "bool"]


def test_a_frame_of_pandas_gets_the_categories_of_all_pieces_and_is_left_as_it_was():
    first = pd.DataFrame({"c": pd.Categorical(["u", "v"])})
    second = pd.DataFrame({"c": pd.Categorical(["w", None])})
    both = seen(first) + seen(second)
    shown = PandasView(both)(second)
    assert list(shown["c"].cat.categories) == ["u", "v", "w"]
    assert shown["c"].tolist()[0] == "w"
    assert shown["c"].isna().tolist() == [False, True]
    assert list(second["c"].cat.categories) == ["w"]


def test_ordered_categories_stay_ordered():
    table = pd.DataFrame({"c": pd.Categorical(["S"], categories=["S", "M"], ordered=True)})
    assert PandasView(seen(table))(table)["c"].cat.ordered


@pytest.fixture
def chunk():
    frame = nw.from_native(WHOLE, eager_only=True)
    view = PandasView(seen(WHOLE))
    return FrameChunk(frame, np.arange(4) + 10, np.ones(4), where="file", show=view)


def test_rows_are_read_as_stored_and_shown_to_the_model_as_pandas(chunk):
    assert isinstance(chunk.rows, pd.DataFrame)
    assert chunk.column(0).tolist()[2:] == [3.0, 4.0]
    assert np.isnan(chunk.column(0)[1])
    assert chunk.distinct(2)[0] == ["u", "v", "w"]
    assert (chunk.n_rows, chunk.where, chunk.row_numbers[0]) == (4, "file", 10)
    assert chunk.facts() == seen(WHOLE)
    assert chunk.write_value(0, 3.0) == "3"


def test_changed_rows_are_shown_as_pandas(chunk):
    changed = chunk.vary([(0, np.full(4, 7.0)), (4, np.full(4, 2.4))])
    assert isinstance(changed, pd.DataFrame)
    assert changed["n"].tolist()[:4] == [7.0] * 4
    assert changed["k"].tolist() == [1, 2, 3, 4, 2, 2, 2, 2]
    assert chunk.substitute([(4, np.full(4, 9.0))])["k"].tolist() == [9] * 4
    assert chunk.representable(4, np.array([2.4])).tolist() == [2.0]


def test_some_rows_and_more_rows_keep_their_view(chunk):
    some = chunk.take(np.array([3, 0]))
    assert some.rows["k"].tolist() == [4, 1]
    assert some.join(chunk).rows["k"].tolist() == [4, 1, 1, 2, 3, 4]
    np.testing.assert_array_equal(some.keys(), np.stack(chunk.keys())[:, [3, 0]])
