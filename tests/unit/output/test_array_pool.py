import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.errors import BadFileError
from rhale.output.storage.arrays import ArrayPool, put_back, read_arrays, write_array

ANY = st.floats(allow_nan=True, allow_infinity=True)


def read(written):
    return read_arrays(json.loads(json.dumps(written)))


@given(st.lists(st.one_of(ANY, st.floats(width=32)), max_size=20))
def test_floats_come_back_bit_by_bit(values):
    array = np.array(values, dtype=np.float64)
    (again,) = read([write_array(array)])
    assert again.dtype == array.dtype
    assert again.tobytes() == array.tobytes()


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20), st.integers(0, 63))
def test_whole_numbers_come_back(values, shift):
    array = np.array(values, dtype=np.int64) >> shift
    (again,) = read([write_array(array)])
    assert again.dtype == array.dtype
    np.testing.assert_array_equal(again, array)


@pytest.mark.parametrize(
    ("array", "form"),
    [
        (np.array([1.0, -0.0, np.inf]), "<f4"),
        (np.array([0.1]), "<f8"),
        (np.array([1e300]), "<f8"),
        (np.array([127, -128]), "<i1"),
        (np.array([128]), "<i2"),
        (np.array([2**31]), "<i8"),
        (np.array([2**20], dtype=np.int32), "<i4"),
    ],
)
def test_numbers_take_as_few_bytes_as_hold_them(array, form):
    assert write_array(array)["as"] == form


def test_an_array_is_written_once_whoever_has_it():
    pool, first = ArrayPool(), np.arange(6.0)
    marks = [pool.put(a) for a in (first, first.copy(), first.reshape(2, 3), -first * 0, first * 0)]
    assert [mark["pooled"] for mark in marks] == [0, 0, 1, 2, 3]
    assert len(pool.written) == 4


def test_arrays_of_any_layout_come_back():
    array = np.arange(6.0).reshape(2, 3).T / 7
    (again,) = read([write_array(array)])
    np.testing.assert_array_equal(again, array)


def test_arrays_go_where_their_marks_are_and_are_shared():
    arrays = [np.zeros(2), np.ones(1)]
    content = {"a": {"pooled": 1}, "b": [{"pooled": 0}, {"c": {"pooled": 1}}], "d": [[], {}, 3]}
    put_back(content, arrays)
    assert content["a"] is content["b"][1]["c"] is arrays[1]
    assert content["b"][0] is arrays[0]
    assert content["d"] == [[], {}, 3]


def test_lists_within_lists_are_walked_however_deep():
    inner = held = [None]
    for _ in range(20_000):
        held = [held]
    inner[0] = {"pooled": 0}
    array = np.zeros(1)
    put_back(held, [array])
    assert inner[0] is array


@pytest.mark.parametrize("number", [-1, 1, 0.0, True, None, "0", [0], 10**30])
def test_a_mark_of_no_array_is_refused(number):
    with pytest.raises(BadFileError, match=r"an array .* is named, and there are 1"):
        put_back({"a": {"pooled": number}}, [np.zeros(1)])


GOOD = write_array(np.array([0.1, 0.2]))
BAD = {
    "arrays is null, not a list": None,
    r"arrays\[0\] is 3, not an array": [3],
    r"arrays\[0\] is an object, not an array": [{**GOOD, "more": 1}],
    "of the type 'object', written as '<f8'": [{**GOOD, "type": "object"}],
    "of the type 'float64', written as '<i8'": [{**GOOD, "as": "<i8"}],
    "of the type 'float64', written as a list": [{**GOOD, "as": ["<f8"]}],
    "of the type a list": [{**GOOD, "type": ["float64"]}],
    "'%%%%', which is not base64": [{**GOOD, "base64": "%%%%"}],
    "3 bytes, which are no whole numbers of 8": [{**GOOD, "base64": "AAAA"}],
    "has 2 numbers for the shape": [{**GOOD, "shape": [3]}],
    "has 2 numbers for the shape ": [{**GOOD, "shape": [2**62, 2**62]}],
    "has 2 numbers for the shape  ": [{**GOOD, "shape": [True, 2]}],
    "has 2 numbers for the shape   ": [{**GOOD, "shape": "2"}],
    "has 0 numbers for the shape": [{**GOOD, "base64": "", "shape": [0, 2**62, 2**62]}],
}


@pytest.mark.parametrize("told", BAD)
def test_anything_else_is_refused_by_its_place(told):
    with pytest.raises(BadFileError, match=told.strip()):
        read_arrays(BAD[told])
