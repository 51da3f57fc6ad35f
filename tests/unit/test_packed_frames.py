"""Rows of data frames: same types, same values, or an error that names the column."""

import datetime as dt
from decimal import Decimal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rhale import packed_frames
from rhale.errors import CheckpointError, MissingExtraError
from rhale.packing import pack, unpack

TEXTS = ["b", None, "a"]
MOMENTS = pd.DatetimeIndex(np.array(["2020-01-01T00:00:00.123456", "NaT", "1950-01-01"], "M8[us]"))
PANDAS = {
    "float": [1.5, np.nan, -0.0],
    "half": np.array([1.5, np.nan, -0.0], dtype=np.float16),
    "truth": [True, False, True],
    "text": pd.Series(TEXTS, dtype="str"),
    "string": pd.Series(TEXTS, dtype="string"),
    "text in Python": pd.Series(TEXTS, dtype=pd.StringDtype("python")),
    "text with nan": pd.Series(TEXTS, dtype=pd.StringDtype("python", na_value=np.nan)),
    "objects": pd.Series(["b", None, np.nan], dtype=object),
    "mixed": pd.Series([1, pd.NA, Decimal("1.10")], dtype=object),
    "dates": pd.Series([dt.date(2020, 1, 1), None, pd.NaT], dtype=object),
    "categories": pd.Categorical(TEXTS, categories=["b", "z", "a"]),
    "ordered": pd.Categorical(TEXTS, categories=["b", "z", "a"], ordered=True),
    "numbered": pd.Categorical([3, None, 1], categories=[3, 1]),
    "mixed categories": pd.Categorical([3, None, "a"], categories=[3, "a"]),
    "cut": pd.cut(pd.Series([0.0, 1.0, 2.0]), 2),
    "Int8": pd.Series([1, None, 2], dtype="Int8"),
    "Float64": pd.Series([1, None, -0.0], dtype="Float64"),
    "boolean": pd.Series([True, None, False], dtype="boolean"),
    "moments": MOMENTS,
    "seconds": MOMENTS.astype("M8[s]"),
    "zoned": MOMENTS.tz_localize("Europe/Berlin"),
    "durations": MOMENTS - MOMENTS[0],
    "period": pd.period_range("2020-01", periods=3, freq="M"),
    "arrow": pd.Series([1, None, 2], dtype="int64[pyarrow]"),
    "arrow text": pd.Series(TEXTS, dtype=pd.ArrowDtype(pa.string())),
    "arrow names": pd.Series(TEXTS, dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
    "arrow decimal": pd.Series([Decimal("1.10"), None, Decimal(0)], dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
}  # fmt: skip


def again(native):
    return unpack(pack(nw.from_native(native, eager_only=True))).to_native()


def require_same(a, b):
    pd.testing.assert_frame_equal(
        a, b, check_exact=True, check_index_type="exact", check_column_type="exact"
    )
    for place in range(a.shape[1]):
        x, y = a.iloc[:, place], b.iloc[:, place]
        assert repr(x.dtype) == repr(y.dtype)
        assert list(map(repr, x)) == list(map(repr, y))


@pytest.mark.parametrize("name", PANDAS)
def test_a_pandas_column_comes_back_with_type_and_values(name):
    frame = pd.DataFrame({name: PANDAS[name]})
    require_same(frame, again(frame))


def test_a_pandas_frame_of_all_these_comes_back_and_joins_what_it_was_cut_from():
    frame = pd.DataFrame(PANDAS)
    back = again(frame.iloc[:2])
    require_same(frame, pd.concat([back, frame.iloc[2:]]))


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(4, 10, 2),
        pd.Index([7, 7, 1]),
        pd.Index([0.5, 1, 2], name="a"),
        pd.Index(["x", "y", None], dtype=object),
        pd.Index(["x", "y", "z"]),
        pd.DatetimeIndex(["2020-01-01", "2021-01-01", None], name=("a", 1)),
        pd.MultiIndex.from_tuples([(1, "x"), (1, "y"), (2, "x")], names=["a", None]),
        pd.CategoricalIndex(["b", "a", "b"]),
    ],
    ids=lambda i: type(i).__name__ + str(i.dtype),
)
def test_a_pandas_index_comes_back(index):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": list("xyz")}, index=index)
    require_same(frame, again(frame))


@pytest.mark.parametrize(
    "columns",
    [range(2), [10, 5], ["a", 1], pd.Index(["x", "y"], name="n"), pd.Index(["x", "y"], dtype=object)],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("second", [1.0, "x"])
def test_pandas_columns_may_be_called_anything(columns, second):
    frame = pd.DataFrame([[1.0, second]] * 3)
    frame.columns = columns
    require_same(frame, again(frame))


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_matrix_in_a_pandas_frame_lies_in_memory_as_before(order):
    frame = pd.DataFrame(np.array(np.arange(12.0).reshape(4, 3), order=order), copy=False)
    assert again(frame).to_numpy().strides == frame.to_numpy().strides


def test_an_empty_pandas_frame_keeps_its_types():
    frame = pd.DataFrame(PANDAS).iloc[:0]
    assert list(map(repr, again(frame).dtypes)) == list(map(repr, frame.dtypes))


@pytest.mark.parametrize(
    "values",
    [
        pd.arrays.SparseArray([0.0, 0.0, 1.0]),
        pd.Series([[1], [2], [3]], dtype=object).map(set),
        pd.Series([object()] * 3, dtype=object),
        pd.Categorical([(1, 2), (3, 4), (1, 2)]).map(frozenset),
    ],
    ids=["sparse", "sets", "objects", "odd categories"],
)
def test_a_pandas_column_that_would_not_come_back_is_refused_by_name(values):
    with pytest.raises(CheckpointError, match="column 'odd'"):
        pack(nw.from_native(pd.DataFrame({"fine": [1, 2, 3], "odd": values}), eager_only=True))


@pytest.mark.parametrize(
    "other", [pd.Series([1, 2], dtype="Int16"), pd.Series([1, 3], dtype="Int8")]
)
def test_another_type_or_value_after_the_way_back_is_refused_by_name(monkeypatch, other):
    monkeypatch.setattr(packed_frames, "_series_together", lambda _: other)
    frame = pd.DataFrame({"fine": [1, 2], "odd": pd.Series([1, 2], dtype="Int8")})
    with pytest.raises(CheckpointError, match="column 'odd' has type Int8Dtype"):
        pack(nw.from_native(frame, eager_only=True))


def test_pandas_columns_that_need_pyarrow_say_how_to_get_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    frame = nw.from_native(pd.DataFrame({"a": pd.Series([1, None], dtype="Int8")}), eager_only=True)
    with pytest.raises(MissingExtraError, match="pip install"):
        pack(frame)


def test_plain_pandas_frames_need_no_pyarrow(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [1, 2], "c": pd.Series(["x", None], dtype=object)})
    frame.columns = frame.columns.astype(pd.StringDtype("python", na_value=np.nan))
    require_same(frame, again(frame))


def test_subclasses_of_pandas_frames_are_refused():
    class Shapes(pd.DataFrame):
        pass

    with pytest.raises(CheckpointError, match="Shapes"):
        pack(nw.from_native(Shapes({"a": [1.0]}), eager_only=True))


POLARS = pl.DataFrame(
    {
        "float": [1.5, float("nan"), None],
        "small": pl.Series([1, None, 3], dtype=pl.UInt8),
        "text": TEXTS,
        "categories": pl.Series(TEXTS, dtype=pl.Categorical),
        "enum": pl.Series(TEXTS, dtype=pl.Enum(["b", "z", "a"])),
        "moments": pl.Series([dt.datetime(2020, 1, 1), None, dt.datetime(1950, 1, 1)]).dt.replace_time_zone("Europe/Berlin"),
        "dates": [dt.date(2020, 1, 1), None, dt.date(1950, 1, 1)],
        "durations": pl.Series([1, None, -1], dtype=pl.Duration("ms")),
        "decimal": pl.Series([Decimal("1.10"), None, Decimal(0)], dtype=pl.Decimal(10, 2)),
        "lists": [[1], None, [2, 3]],
    }
)  # fmt: skip


def test_a_polars_frame_comes_back_and_joins_what_it_was_cut_from():
    back = again(POLARS[:2])
    assert back.schema == POLARS.schema
    assert repr(pl.concat([back, POLARS[2:]]).rows()) == repr(POLARS.rows())
    assert again(POLARS[:0]).schema == POLARS.schema


def test_polars_objects_are_refused_by_name():
    frame = pl.DataFrame({"fine": [1], "odd": pl.Series([object()], dtype=pl.Object)})
    with pytest.raises(CheckpointError, match="column 'odd' has type Object"):
        pack(nw.from_native(frame, eager_only=True))


def arrow_table():
    dictionary = pa.chunked_array(
        [pa.array(["x", "y"]).dictionary_encode(), pa.array(["y", None]).dictionary_encode()]
    )
    ordered = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, None, 0], pa.int8()), ["z", "a"], ordered=True
    )
    schema = pa.schema(
        [
            pa.field("a", pa.float64(), nullable=False, metadata={"unit": "m"}),
            pa.field("dictionary", dictionary.type),
            pa.field("ordered", ordered.type),
            pa.field("zoned", pa.timestamp("ms", "Europe/Berlin")),
            pa.field("view", pa.string_view()),
            pa.field("decimal", pa.decimal256(50, 3)),
        ],
        metadata={"made": "here"},
    )
    columns = [[1.0, -0.0, np.nan, 5e-324], dictionary, ordered, [1, None, 2, 3], [*"ab", None, "c"], [Decimal("1.5"), None, Decimal(0), Decimal(1)]]  # fmt: skip
    return pa.table(columns, schema=schema)


def test_an_arrow_table_comes_back_with_its_schema_and_joins_what_it_was_cut_from():
    table = arrow_table()
    back = again(table[:3])
    assert back.schema.equals(table.schema, check_metadata=True)
    assert repr(pa.concat_tables([back, table[3:]]).to_pylist()) == repr(table.to_pylist())
    assert again(table[:0]).schema.equals(table.schema, check_metadata=True)


def test_arrow_bytes_that_point_beyond_their_end_are_refused():
    data = pack(nw.from_native(pa.table({"a": ["one", "two", "three"]}), eager_only=True))
    limits, odd = (np.array(v, "<i4").tobytes() for v in ([0, 3, 6, 11], [0, 3, 6, 10**6]))
    assert data.count(limits) == 1
    with pytest.raises(pa.ArrowInvalid):
        unpack(data.replace(limits, odd))


def test_an_arrow_slice_keeps_only_its_own_rows():
    table = pa.table({"a": np.zeros(100_000)})
    assert len(pack(nw.from_native(table[:10], eager_only=True))) < 3_000


def test_arrow_types_that_nobody_else_knows_are_refused_by_name():
    class Own(pa.ExtensionType):
        def __init__(self):
            super().__init__(pa.int64(), "rhale.test.own")

        def __arrow_ext_serialize__(self):
            return b""

    odd = pa.ExtensionArray.from_storage(Own(), pa.array([1, 2]))
    table = pa.table({"fine": [1, 2], "odd": odd})
    with pytest.raises(CheckpointError, match="column 'odd'"):
        pack(nw.from_native(table, eager_only=True))
