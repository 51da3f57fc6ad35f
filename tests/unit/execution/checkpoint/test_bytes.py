"""What is packed comes back with the same bits; what cannot is refused before."""

import datetime as dt
import json
import os
from collections import namedtuple
from dataclasses import fields, is_dataclass
from functools import reduce
from operator import add

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import rhale
from rhale.effects.binning.cells import Grid
from rhale.effects.local.measure import MeasureSums
from rhale.execution.checkpoint.folder import (
    NoPlainFormError,
    decode_checkpoint_value,
    encode_checkpoint_value,
    read_arrow,
)
from rhale.features.survey import Census, Survey
from rhale.stats.arrays import CROSSING
from rhale.stats.sampling import collect

N = 150
PIECES = (Survey, MeasureSums)


def same(a, b):
    """Tell whether two values have the same types, bits, order and place in memory."""
    if type(a) is not type(b):
        return False
    if is_dataclass(a) and not isinstance(a, type):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    if isinstance(a, np.ndarray):
        return described(a) == described(b)
    if isinstance(a, float):
        return np.float64(a).tobytes() == np.float64(b).tobytes() or (np.isnan(a) and np.isnan(b))
    if isinstance(a, nw.DataFrame):
        return same_frame(a.to_native(), b.to_native())
    return repr(a) == repr(b)


def described(array):
    """All of an array but its address."""
    order = np.argsort([step for step, n in zip(array.strides, array.shape, strict=True) if n > 1])
    return array.dtype, array.shape, array.tobytes(), order.tolist() if array.size else None


def same_frame(a, b):
    if isinstance(a, pa.Table):
        return a.schema.equals(b.schema, check_metadata=True) and repr(a.to_pylist()) == repr(
            b.to_pylist()
        )
    pd.testing.assert_frame_equal(
        a,
        b,
        check_exact=True,
        check_freq=False,
        check_column_type="exact",
        check_index_type="exact",
    )
    return [list(map(repr, a[c])) for c in a] == [list(map(repr, b[c])) for c in b]


def raw_columns(library):
    rng = np.random.default_rng(3)
    gaps = rng.random(N) < 0.2
    cities = [("Bern", "Paris", "Rome")[k] for k in rng.integers(0, 3, N)]
    days = [dt.date(1969, 6, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 400, N)]
    return {
        "a": rng.normal(size=N),
        "half": rng.normal(size=N).astype(np.float32),
        "few": rng.integers(0, 5, N),
        "true": rng.random(N) < 0.4,
        "gap": [None if g else float(v) for g, v in zip(gaps, rng.normal(size=N), strict=True)],
        "city": [None if g else c for g, c in zip(gaps, cities, strict=True)],
        "day": pd.to_datetime(days) if library == "pandas" else days,
        "big": 2**60 + rng.integers(0, 2**40, N),
    }  # fmt: skip


def frames(library):
    columns = raw_columns(library)
    if library == "numpy":
        return np.column_stack([columns["a"], columns["few"], columns["true"]])
    if library == "pyarrow":
        columns["cat"] = pa.array(columns["city"]).dictionary_encode()
        return pa.table(columns)
    frame = pd.DataFrame(columns, index=pd.Index(range(N, 0, -1), name="at"))
    return frame.assign(
        cat=frame["city"].astype("category"),
        whole=frame["few"].astype("Int16").mask(frame["true"]),
    )


def answer(rows):
    """A model of numbers and names, missing or not."""
    if isinstance(rows, np.ndarray):
        return rows[:, 0] * rows[:, 1] + rows[:, 2]
    frame = nw.from_native(rows, eager_only=True)
    a, gap = (np.asarray(frame[c].to_numpy(), dtype=float) for c in ("a", "gap"))
    city = np.array([{"Bern": 1.0, "Rome": 2.0}.get(v, 0.0) for v in frame["city"].to_list()])
    return np.column_stack([a**3 + np.nan_to_num(gap) * a + city, city - a])


def explain(library, method, **settings):
    return rhale.explain(answer, frames(library), method=method, batch_size=40, **settings)


@pytest.fixture
def through_bytes(monkeypatch):
    """Have every sum go on from what was packed and unpacked; count how often."""
    done = []

    def patch(kind):
        plus = kind.__add__

        def packed_plus(self, other):
            again = decode_checkpoint_value(encode_checkpoint_value(self))
            assert same(self, again)
            done.append(kind)
            return plus(again, other)

        monkeypatch.setattr(kind, "__add__", packed_plus)

    for kind in PIECES:
        patch(kind)
    return done


CASES = [
    *[(library, "rhale", False) for library in ("numpy", "pandas", "pyarrow")],
    *[("pandas", method, True) for method in ("rhale", "ale", "pdp", "ice", "mplot")],
    *[("pyarrow", "ice", False), ("numpy", "mplot", False), ("pyarrow", "ale", True)],
]


@pytest.mark.parametrize(("library", "method", "weighted"), CASES)
def test_a_run_whose_sums_are_all_packed_ends_with_the_same_bits(
    library, method, weighted, request, monkeypatch
):
    monkeypatch.setattr("rhale.pipeline.CHUNK_BATCHES", 1)  # of 40 rows: there is something to add
    weights = np.random.default_rng(1).lognormal(size=N) if weighted else None
    bins = 5 if method in ("pdp", "ice") else None
    straight = explain(library, method, weights=weights, bins=bins)
    done = request.getfixturevalue("through_bytes")
    stopped = explain(library, method, weights=weights, bins=bins)
    assert all(map(same, stopped.effects, straight.effects))
    assert done.count(Survey) == 3
    assert done.count(MeasureSums) == 3


def test_values_kept_for_later_are_not_packed():
    grid = Grid(np.linspace(0, 1, 300))
    before = len(encode_checkpoint_value(grid))
    grid.locate_covered(np.linspace(0, 1, 100_000))
    assert "_bucket_cells" in grid.__dict__
    assert len(encode_checkpoint_value(grid)) == before


def test_every_class_in_the_table_is_a_frozen_record():
    for record in CROSSING.values():
        assert is_dataclass(record)
        assert record.__dataclass_params__.frozen


VALUES = [
    *(None, True, 0, -1, 2**63, -(2**63), 10**40, 0.0, -0.0, float("nan"), float("inf"), 5e-324),
    *("", "Zürich", "\ud800", "\x00", b"", b"\x00\xff"),
    *((), (1,), [], [()], [(), ()], {}, {1: "a", "1": "b", 1.5: None, (str, "x"): (1, 2.0)}),
    *([True, 1, 1.0], [1, 2**70], [1.0, None], ["a", None], [True, False], [(1,), (1, 2)]),
    *(np.float32(1.5), np.float64(-0.0), np.uint64(2**64 - 1), np.bool_(True)),  # noqa: FBT003
    *(str, int, float, bool, bytes, type(None)),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_plain_values_come_back_with_type_and_bits(value):
    assert same(decode_checkpoint_value(encode_checkpoint_value(value)), value)
    assert same(
        decode_checkpoint_value(encode_checkpoint_value([value, value, "other"])),
        [value, value, "other"],
    )


ARRAYS = [
    np.zeros((3, 4, 5)).transpose(2, 0, 1) + np.arange(4),
    np.asfortranarray(np.random.default_rng(0).normal(size=(7, 3))),
    np.arange(24.0)[::-2],
    np.arange(24.0).reshape(4, 6)[::2, 1:3],
    np.array(3, dtype=np.uint8),
    np.empty((0, 3)),
    np.empty((2, 0, 3), dtype=np.int16),
    np.broadcast_to(np.float16(2.5), (2, 3)),
    np.array([True, False]),
    np.array([2**64 - 1, 0], dtype=np.uint64),
    np.array([1.0, np.nan, np.inf, -0.0], dtype=">f8"),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}{a.shape}")
def test_arrays_come_back_with_type_shape_order_and_bits(array):
    assert same(decode_checkpoint_value(encode_checkpoint_value(array)), array.copy(order="K"))


def test_arrays_come_back_to_be_written_into():
    back = decode_checkpoint_value(encode_checkpoint_value(np.zeros(3)))
    back[0] = 1.0
    assert back[0] == 1.0


@pytest.mark.parametrize(
    "value",
    [
        object(),
        {1, 2},
        1j,
        np.array([object()]),
        np.zeros(1, dtype="f8,i4"),
        namedtuple("Pair", "a b")(1, 2),
        type("Sample", (), {})(),
        lambda: 0,
        os,
        object,
        dt.date(2020, 1, 1),
        dt.date,
        pd.NA,
        np.float64,
        np.array(["a"]),
        np.ma.masked_array([1.0], [True]),
        np.void(b"a"),
    ],
    ids=lambda v: type(v).__name__,
)
def test_anything_else_is_refused_with_its_type(value):
    with pytest.raises(NoPlainFormError, match="a checkpoint keeps no"):
        encode_checkpoint_value([1, (value, 2)])


def test_a_record_that_nobody_declared_is_our_own_mistake():
    with pytest.raises(TypeError, match="declare it with"):
        encode_checkpoint_value([rhale.Fixed(3)])


# --- rows --------------------------------------------------------------------------------------

ARROW_ROWS = [
    pd.DataFrame({"a": pd.date_range("2020", periods=3, tz="Europe/Berlin"), "b": ["x", None, "z"]}),
    pd.DataFrame({"a": pd.Categorical(["u", None, "v"], ["v", "u"], ordered=True)}, index=[7, 5, 6]),
    pd.DataFrame({"a": pd.array([1, None, 3], "Int16"), "b": pd.array([1.5, None, 2], "double[pyarrow]")}),
    pd.DataFrame({"a": [0.0, -0.0, np.nan]}, index=pd.RangeIndex(2, 8, 2)),
    pa.table({"a": pa.array(["u", None]).dictionary_encode(), "b": pa.array([1, None], pa.uint8())}),
    pa.table({"a": pa.array([[1], None, []])}),
]  # fmt: skip
OTHER_ROWS = [
    pd.DataFrame({"a": [1, 1.0, True, "1"]}),
    pd.DataFrame({"a": pd.Series([None, np.nan, "x"], dtype=object)}),
    pd.DataFrame({"a": [{1}, {2}]}),
    pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 1.0])}),
]


@pytest.mark.parametrize("native", ARROW_ROWS, ids=range(len(ARROW_ROWS)))
def test_rows_that_arrow_holds_come_back(native):
    frame = nw.from_native(native, eager_only=True)
    assert same(decode_checkpoint_value(encode_checkpoint_value(frame)), frame)


@pytest.mark.parametrize("native", OTHER_ROWS, ids=range(len(OTHER_ROWS)))
def test_rows_that_would_come_back_as_others_are_not_kept(native):
    with pytest.raises(NoPlainFormError):
        encode_checkpoint_value(nw.from_native(native, eager_only=True))


def test_rows_of_other_libraries_are_not_kept():
    polars = pytest.importorskip("polars")
    with pytest.raises(NoPlainFormError, match="rows of polars"):
        encode_checkpoint_value(nw.from_native(polars.DataFrame({"a": [1]}), eager_only=True))


# --- bytes of others ---------------------------------------------------------------------------


def hand_made(tree, *blobs):
    head = json.dumps([[len(b) for b in blobs], tree]).encode()
    return b"".join([len(head).to_bytes(8, "little"), head, *blobs])


@pytest.mark.parametrize(
    "tree",
    [
        {"record": ["Popen", {"args": "true"}]},
        {"record": ["Grid", {"edges": 1, "colour": 2}]},
        {"type": "system"},
        {"type": "os.system"},
        {"frame": ["pandas", 0]},
        {"array": ["|O", [1], [0], 0]},
        {"array": ["<f8", [10], [0], 0]},
        {"unknown": 1},
        {"tuple": [], "list": []},
    ],
    ids=str,
)
def test_bytes_made_by_others_get_no_further_than_an_error(tree):
    with pytest.raises((KeyError, TypeError, ValueError, AttributeError)):
        decode_checkpoint_value(hand_made(tree, b"12345678"))


def test_bytes_that_are_too_many_are_refused():
    with pytest.raises(ValueError, match="announced"):
        decode_checkpoint_value(encode_checkpoint_value(1) + b"x")


@pytest.mark.parametrize("times", [[300_000_000], [-1], [60] * 10], ids=str)
def test_values_are_not_repeated_more_often_than_a_file_has_bytes(times):
    tree = {"tuple": [{"tuple": {"same": [n, {"type": "str"}]}} for n in times]}
    data = hand_made(tree)
    assert len(data) < max(sum(times), 600)
    with pytest.raises(ValueError, match="it repeats a value"):
        decode_checkpoint_value(data)


def test_rows_that_say_they_become_far_larger_than_their_bytes_are_refused(monkeypatch):
    monkeypatch.setattr("rhale.data.files.regular.HELD", 2**16)
    zeros = pa.table({"a": np.zeros(2**20)})
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, zeros.schema, options=options) as stream:
        stream.write_table(zeros)
    data = sink.getvalue().to_pybytes()
    with pytest.raises(ValueError, match=r"says that they become 8,388,6\d\d"):
        read_arrow("pyarrow", data)


def test_bytes_that_were_put_aside_are_taken_once():
    numbers = {"array": ["<f8", [1], [0], 0]}
    with pytest.raises(KeyError):
        decode_checkpoint_value(hand_made({"list": [numbers, numbers]}, b"12345678"))


def shared_values():
    """Columns in few bytes, of values that would take gigabytes in rows of their own."""
    views = np.array([[10**6, *np.frombuffer(b"aaaa", "<i4"), 0, 0]] * 3000, dtype="<i4")
    buffers = [None, pa.py_buffer(views.tobytes()), pa.py_buffer(b"a" * 10**6)]
    codes = pa.DictionaryArray.from_arrays(pa.array([0] * 3000, pa.int8()), ["a" * 10**6])
    runs = pa.array([10**9], pa.int32())
    return {
        "missing": pa.nulls(10**9),
        "views": pa.Array.from_buffers(pa.string_view(), 3000, buffers),
        "runs": pa.RunEndEncodedArray.from_arrays(runs, pa.array([1.5])),
        "lists": pa.ListArray.from_arrays([0, 10**9], pa.nulls(10**9)),
        "lists of one size": pa.FixedSizeListArray.from_arrays(pa.nulls(10**9), 10**9),
        "lists in a structure": pa.StructArray.from_arrays(
            [pa.ListArray.from_arrays([0, 3000], codes)], ["s"]
        ),
        "views of lists": pa.ListViewArray.from_arrays([0] * 99, [10**5] * 99, np.zeros(10**5)),
    }


@pytest.mark.parametrize("kind", shared_values())
def test_rows_whose_values_share_their_bytes_are_refused(kind):
    rows = pa.table({"a": shared_values()[kind]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    with pytest.raises(ValueError, match=r"column 'a' has .* says that they become"):
        read_arrow("pandas", sink.getvalue().to_pybytes())


def test_many_names_take_little_time_and_room():
    found = {(str, f"name {k}"): (k, k / 7) for k in range(20_000)}
    census = Census(found, None)
    data = encode_checkpoint_value(census)
    assert len(data) < 40 * len(found)
    assert decode_checkpoint_value(data).found == found


def test_the_sum_of_unpacked_pieces_is_the_sum_of_the_pieces():
    found = [Census({(str, "b"): (1, 0.1), (int, 3): (2, 0.2)}, 20), Census({(str, "a"): (1, 0.3)}, 20)]  # fmt: skip
    assert same(
        reduce(add, map(decode_checkpoint_value, map(encode_checkpoint_value, found))),
        reduce(add, found),
    )


def test_samples_that_were_kept_before_parts_sent_fewer_rows_are_read():
    kept = collect(np.arange(4, dtype=np.uint64), np.eye(4), np.ones(4), size=3)
    data = encode_checkpoint_value(kept)
    start = 8 + int.from_bytes(data[:8], "little")
    sizes, tree = json.loads(data[8:start])
    del tree["record"][1]["known_to"]  # the last of its fields
    head = json.dumps([sizes, tree]).encode()
    again = decode_checkpoint_value(len(head).to_bytes(8, "little") + head + data[start:])
    assert same(again, kept)
    assert again.is_sure
