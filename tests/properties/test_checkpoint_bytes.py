"""Packing and unpacking is the identity, bit by bit."""

import math

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rhale.data.array import ArrayTable
from rhale.execution.checkpoint.folder import decode_checkpoint_value, encode_checkpoint_value
from rhale.features.survey import Census, SurveyTask

NUMPY_TYPES = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?"),
)
KEYS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary()
)  # fmt: skip
CENSUS_KEYS = st.one_of(st.floats(allow_nan=False), KEYS.map(lambda v: (type(v), v)))
ARRAYS = hnp.arrays(NUMPY_TYPES, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
VALUES = st.recursive(
    KEYS | st.floats() | ARRAYS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(KEYS, inner, max_size=4),
        st.lists(st.tuples(inner, inner), max_size=4),
    ),
    max_leaves=12,
)


def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or (a, math.copysign(1, a)) == (b, math.copysign(1, b))  # fmt: skip
    return repr(a) == repr(b)


@given(VALUES)
def test_any_plain_value_comes_back(value):
    assert same(decode_checkpoint_value(encode_checkpoint_value(value)), value)


@given(ARRAYS, st.data())
def test_any_array_comes_back_with_its_order_in_memory(array, data):
    turned = array.transpose(data.draw(st.permutations(range(array.ndim))))
    back = decode_checkpoint_value(encode_checkpoint_value(turned))
    assert same(back, turned)
    if turned.size:
        assert (back.flags.c_contiguous, back.flags.f_contiguous) == (
            turned.flags.c_contiguous, turned.flags.f_contiguous
        )  # fmt: skip


@given(st.lists(st.dictionaries(CENSUS_KEYS, st.tuples(st.integers(1, 2**62), st.floats(0, 1e300)), max_size=8), min_size=2, max_size=4))  # fmt: skip
def test_a_count_that_stops_after_any_piece_is_the_count_that_never_stops(found):
    straight = stopped = Census(found[0], 20)
    for more in found[1:]:
        straight, stopped = (
            straight + Census(more, 20),
            decode_checkpoint_value(encode_checkpoint_value(stopped)) + Census(more, 20),
        )
    assert same(stopped.found, straight.found)
    assert (stopped.most, stopped.is_many) == (straight.most, straight.is_many)


@given(hnp.arrays(np.float64, st.tuples(st.integers(2, 30), st.just(2)), elements=st.floats(-1e9, 1e9)), st.integers(1, 29))  # fmt: skip
def test_a_survey_that_stops_is_the_survey_that_never_stops(rows, cut):
    table, cut = ArrayTable(rows), min(cut, len(rows) - 1)
    first, last = (
        SurveyTask([0, 1], ["a", "b"], (10, 5), 3)(table.chunk(*part))
        for part in ((0, cut), (cut, len(rows)))
    )
    straight, stopped = first + last, decode_checkpoint_value(encode_checkpoint_value(first)) + last
    assert encode_checkpoint_value(stopped) == encode_checkpoint_value(straight)
    assert same(stopped.sample.values, straight.sample.values)
    assert same(stopped.probe.chunk.array, straight.probe.chunk.array)


@given(st.lists(st.one_of(st.none(), st.text()), min_size=1), st.lists(st.one_of(st.none(), st.floats()), min_size=1))  # fmt: skip
def test_any_arrow_rows_come_back(names, numbers):
    n = min(len(names), len(numbers))
    table = pa.table({"names": pa.array(names[:n], pa.string()), "numbers": pa.array(numbers[:n], pa.float64())})  # fmt: skip
    back = decode_checkpoint_value(
        encode_checkpoint_value(nw.from_native(table, eager_only=True))
    ).to_native()
    assert repr(back.to_pylist()) == repr(table.to_pylist())
