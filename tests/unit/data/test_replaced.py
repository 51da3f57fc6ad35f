import narwhals.stable.v2 as nw
import numpy as np
import pytest

from rhale.data import open_table
from rhale.data.replaced import RowTypes, read_numbers, replace_columns
from rhale.errors import BadTableError

FRAMES = ["pandas", "polars", "pyarrow"]


def frame_of(kind, **columns):
    pytest.importorskip(kind)
    return nw.from_dict(columns, backend=kind).to_native()


def test_an_array_becomes_float64_and_the_users_stays_as_it_is():
    own = np.arange(6, dtype=np.float32).reshape(3, 2)
    table = replace_columns(open_table(own), {1: np.array([0.1, 0.2, 0.3])})
    assert table.array.dtype == np.float64
    assert table.array[:, 1].tolist() == [0.1, 0.2, 0.3]
    assert own[:, 1].tolist() == [1.0, 3.0, 5.0]
    assert table.names == ("x0", "x1")


@pytest.mark.parametrize("kind", FRAMES)
def test_a_data_frame_keeps_its_other_columns_and_gaps_are_missing(kind):
    own = frame_of(kind, a=[1, 2, 3], b=["x", "y", "z"])
    table = replace_columns(open_table(own), {0: np.array([0.5, np.nan, 1.5])})
    found = nw.from_native(table.chunk(0, 3).rows, eager_only=True)
    assert found.columns == ["a", "b"]
    assert found["b"].to_list() == ["x", "y", "z"]
    np.testing.assert_array_equal(table.chunk(0, 3).column(0), [0.5, np.nan, 1.5])
    assert nw.from_native(own, eager_only=True)["a"].to_list() == [1, 2, 3]


def test_rows_go_back_to_the_type_of_the_array():
    own = np.ones((2, 2), dtype=np.float32)
    types = RowTypes.of(open_table(own), [0])
    rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    written = types.write(rows, {0: np.array([5.0, 6.0])})
    assert written.dtype == np.float32
    assert written.tolist() == [[5.0, 2.0], [6.0, 4.0]]
    assert rows[0, 0] == 1.0


def test_whole_numbers_go_back_as_floats_since_others_may_be_asked_about():
    types = RowTypes.of(open_table(np.ones((2, 1), dtype=np.int64)), [0])
    assert types.write(np.ones((2, 1)), {0: np.array([0.5, 1.5])}).tolist() == [[0.5], [1.5]]
    frame = frame_of("pandas", a=[1, 2])
    types = RowTypes.of(open_table(frame), [0])
    assert types.write(frame, {0: np.array([0.5, 1.5])})["a"].tolist() == [0.5, 1.5]


@pytest.mark.parametrize("kind", FRAMES)
def test_columns_go_back_to_their_own_type(kind):
    own = nw.from_native(frame_of(kind, a=[1.0, 2.0], b=[1, 2])).with_columns(
        nw.col("a").cast(nw.Float32)
    )
    types = RowTypes.of(open_table(own.to_native()), [0])
    written = types.write(frame_of(kind, a=[9.0, 9.0], b=[1, 2]), {0: np.array([0.5, np.nan])})
    found = nw.from_native(written, eager_only=True)
    assert found["a"].dtype == nw.Float32
    assert found["a"].to_numpy()[0] == 0.5
    np.testing.assert_array_equal(read_numbers(written, [0, 1]), [[0.5, 1], [np.nan, 2]])


def test_rows_of_pandas_keep_their_index():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0]}, index=[7, 7])
    types = RowTypes.of(open_table(frame), [0])
    written = types.write(frame, {0: np.array([3.0, 4.0])})
    assert written.index.tolist() == [7, 7]
    assert written["a"].tolist() == [3.0, 4.0]
    assert frame["a"].tolist() == [1.0, 2.0]


def test_another_kind_of_table_is_refused():
    class Elsewhere:
        kind = "torch"

    with pytest.raises(BadTableError, match="a table of torch cannot be replaced"):
        replace_columns(Elsewhere(), {})
