"""Data frames as tables: what the frame's own types say, and rows in the caller's kind."""

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rhale.data import frame
from rhale.data.columns import Labels
from rhale.data.frame import FrameChunk, FrameTable, stack_copies
from rhale.data.table import HeldColumn
from rhale.errors import BadTableError

COLOURS = Labels(("red", "green"))
LEVELS = ("b", "a")
LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
each_library = pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)


def framed(native):
    return nw.from_native(native, eager_only=True)


def chunk_of(native, **more):
    frame = framed(native)
    return FrameChunk(frame, np.arange(len(frame)), **more)


@each_library
def test_names_that_are_labelled_are_read_and_written_as_their_numbers(make):
    chunk = chunk_of(make({"c": ["green", "red", "blue"]})).label({0: COLOURS})
    np.testing.assert_array_equal(chunk.column(0), [1.0, 0.0, np.nan])
    found = chunk.substitute([(0, np.array([0.0, 1.0, 1.0]))])
    assert framed(found)["c"].to_list() == ["red", "green", "green"]


@each_library
def test_rows_are_taken_with_weights_labels_and_places(make):
    table = FrameTable(framed(make({"c": ["red", "green", "red"]})), labels={0: COLOURS})
    part = table.weigh(np.array([1.0, 2.0, 4.0])).take(np.array([2, 1])).chunk(0, 2)
    assert part.weights.tolist() == [4.0, 2.0]
    assert part.row_numbers.tolist() == [2, 1]
    assert part.column(0).tolist() == [0.0, 1.0]


@each_library
def test_equal_values_have_equal_keys_in_every_chunk_and_others_have_not(make):
    first, second = chunk_of(make({"c": ["x", "y"]})), chunk_of(make({"c": ["y", "z"]}))
    keys = [*first.key(0), *second.key(0)]
    assert keys[1] == keys[2]
    assert len(set(keys)) == 3


@pytest.mark.parametrize(
    ("native", "order"),
    [
        (pd.DataFrame({"x": pd.Categorical(["b"], LEVELS, ordered=True)}), LEVELS),
        (pd.DataFrame({"x": pd.Categorical(["b"], LEVELS)}), None),
        (pl.DataFrame({"x": pl.Series(["b"], dtype=pl.Enum(LEVELS))}), LEVELS),
        (pa.table({"x": pa.DictionaryArray.from_arrays([0], LEVELS, ordered=True)}), LEVELS),
        (pd.DataFrame({"x": ["b"]}), None),
    ],
    ids=["pandas", "pandas without order", "polars", "pyarrow", "text"],
)
def test_the_type_of_a_column_may_declare_the_order_of_its_levels(native, order):
    table = FrameTable(framed(native))
    assert table.declared_order(0) == order
    assert table.has_order(0) is (order is not None)


def test_values_are_shown_as_people_write_them():
    days = pd.to_datetime(["1970-01-02", "1970-01-03"])
    chunk = chunk_of(pd.DataFrame({"n": [0.5, 2.0], "d": days, "c": ["red", "green"]}))
    chunk = chunk.label({2: COLOURS})
    assert chunk.write_value(0, 0.5) == "0.5"
    assert chunk.write_value(1, 1.0) == "1970-01-02"
    assert chunk.write_value(2, 1.0) == "'green'"
    assert chunk.write_value(0, np.nan) == "missing"


def test_the_facts_of_a_frame_are_names_gaps_levels_and_their_order():
    levels = pd.Categorical(["b", None], LEVELS, ordered=True)
    frame = framed(pd.DataFrame({"n": [1.0, 2.0], "c": levels}))
    facts = FrameChunk(frame, np.arange(2)).facts()
    assert facts.names == ("n", "c")
    assert facts.gaps == (False, True)
    assert facts.categories == (None, LEVELS)
    assert facts.ordered == (False, True)


def test_numbers_of_rows_are_not_repeated_in_copies_but_names_of_rows_are():
    numbered = framed(pd.DataFrame({"a": [1, 2]}, index=[5, 9]))
    named = framed(pd.DataFrame({"a": [1, 2]}, index=["u", "v"]))
    assert stack_copies(numbered, 2).index.tolist() == [0, 1, 2, 3]
    assert stack_copies(named, 2).index.tolist() == ["u", "v", "u", "v"]
    assert stack_copies(named, 2)["a"].tolist() == [1, 2, 1, 2]
    assert stack_copies(framed(pa.table({"a": [1, 2]})), 2)["a"].to_pylist() == [1, 2, 1, 2]


POINTS = np.array([0.1, np.nan, 7.0])
CHANGES = [(0, np.array([5.0, 6.0])), (1, np.array([np.nan, 0.1])), (0, np.array([8.0, 9.0]))]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("index", [[5, 9], ["u", "v"]])
@pytest.mark.parametrize("changes", [HeldColumn(1, POINTS, 2), CHANGES], ids=["held", "changed"])
def test_floats_of_one_type_are_varied_copy_by_copy(changes, index, dtype):
    """As pandas itself does it, with one copy after the other."""
    columns = pd.Index(["a", "b"], name="what")
    rows = pd.DataFrame([[1.0, np.nan], [3.0, 4.0]], index, columns, dtype=dtype)
    rows.attrs["unit"] = "km"
    copies = []
    for column, values in changes:
        copy = rows.copy()
        copy[columns[column]] = values.astype(dtype)
        copies.append(copy)
    expected = pd.concat(copies, ignore_index=index == [5, 9])
    found = chunk_of(rows).vary(changes)
    pd.testing.assert_frame_equal(found, expected, check_index_type=False)
    assert found.attrs == {"unit": "km"}


def test_copies_of_floats_are_the_models_own():
    rows = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    chunk = chunk_of(rows)
    first = chunk.vary(HeldColumn(0, np.array([5.0, 6.0]), 2))
    first.loc[:, :] = 0.0
    assert chunk.vary(HeldColumn(0, np.array([5.0, 6.0]), 2))["b"].tolist() == [3, 4, 3, 4]
    assert rows["b"].tolist() == [3, 4]


def test_copies_of_one_array_are_one_array():
    rows = pd.DataFrame(np.ones((2, 3)), columns=list("abc"))
    found = chunk_of(rows).vary(HeldColumn(0, np.array([5.0, 6.0]), 2))
    assert np.shares_memory(found.to_numpy(), found.to_numpy())


def test_a_model_may_write_into_arrays_of_copies_if_it_may_into_those_of_the_rows():
    rows = pd.DataFrame({"a": [1.0, 2.0]})
    rows["b"] = [3.0, 4.0]  # a block of its own
    chunk = chunk_of(rows)
    assert chunk.rows.to_numpy().flags.writeable
    assert chunk.vary(HeldColumn(0, np.array([5.0, 6.0]), 2)).to_numpy().flags.writeable


@pytest.mark.parametrize("other", ["float32", "Float64", "int64", "category"])
def test_columns_of_several_types_keep_their_own(other):
    rows = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4]}).astype({"b": other})
    found = chunk_of(rows).vary(HeldColumn(0, np.array([5.0, 6.0]), 2))
    assert found.dtypes.tolist() == rows.dtypes.tolist()
    assert found["a"].tolist() == [5, 5, 6, 6]
    assert found["b"].tolist() == [3, 4, 3, 4]


def test_floats_that_are_labelled_are_written_as_their_values():
    rows = pd.DataFrame({"a": [10.0, 20.0], "b": [3.0, 4.0]})
    chunk = chunk_of(rows).label({0: Labels((10.0, 20.0))})
    found = chunk.vary(HeldColumn(0, np.array([1.0, 0.0]), 2))
    assert found["a"].tolist() == [20, 20, 10, 10]
    assert found["b"].tolist() == [3, 4, 3, 4]


def test_a_kind_of_data_frame_of_its_own_stays_one():
    class Own(pd.DataFrame):
        @property
        def _constructor(self):
            return Own

    rows = Own({"a": [1.0, 2.0]})
    assert type(chunk_of(rows).vary(HeldColumn(0, np.array([5.0, 6.0]), 2))) is Own


def test_a_model_sees_the_rows_in_the_kind_it_is_shown():
    chunk = chunk_of(pa.table({"a": [1.0, 2.0]}), show=lambda rows: rows.to_pandas())
    assert isinstance(chunk.rows, pd.DataFrame)
    assert isinstance(chunk.substitute([(0, np.zeros(2))]), pd.DataFrame)
    assert chunk.frame.implementation.is_pyarrow()


def test_rows_that_cannot_be_shown_are_refused_with_their_place():
    def show(_):
        msg = "category twice"
        raise ValueError(msg)

    with pytest.raises(BadTableError, match="part 3 cannot be made into a table of pandas"):
        _ = chunk_of(pa.table({"a": [1.0]}), where="part 3", show=show).rows


def test_a_chunk_finds_out_once_what_a_column_holds(monkeypatch):
    asked, real = [], frame.holds
    monkeypatch.setattr(frame, "holds", lambda column: asked.append(column.name) or real(column))
    chunk = chunk_of(pa.table({"a": [1.0, 2.0], "b": ["x", "y"]}))
    for _ in range(2):
        assert [chunk.holds(index) for index in (0, 1)] == ["number", "name"]
        assert chunk.distinct(0) is None
        assert np.shape(chunk.keys()) == (2, 2)
    assert asked == ["a", "b"]
