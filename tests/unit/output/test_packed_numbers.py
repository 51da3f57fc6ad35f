import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rhale.errors import BadFileError
from rhale.output.storage.arrays import Packed, pack_numbers
from rhale.output.storage.values import ArrayDimension, Numbers

ROWS = ArrayDimension("rows"), ArrayDimension("columns")
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def read(kind, value, lengths=None):
    return kind.read(json.loads(json.dumps(value)), "it", {} if lengths is None else lengths)


@given(arrays(np.float64, st.tuples(st.integers(0, 5), st.integers(1, 4)), elements=FLOATS))
def test_numbers_come_back_bit_by_bit(numbers):
    again = read(Packed(Numbers(ROWS)), pack_numbers(numbers))
    assert again.shape == numbers.shape
    assert again.tobytes() == numbers.tobytes()
    assert again.flags.writeable


def test_columns_of_another_order_come_back_in_their_own():
    numbers = np.arange(6.0).reshape(2, 3).T
    np.testing.assert_array_equal(read(Packed(Numbers(ROWS)), pack_numbers(numbers)), numbers)


def test_lengths_agree_with_those_before():
    lengths = {"rows": 3}
    with pytest.raises(BadFileError, match="it has 2 rows for 3 rows"):
        read(Packed(Numbers(ROWS)), pack_numbers(np.zeros((2, 2))), lengths)


ONE = pack_numbers(np.array([[1.0]]))
DAMAGE = {
    "it is null, not an array of packed": None,
    "it is an object, not an array of packed": {"base64": "AAAA"},
    "it is an object, not an array of packed numbers": {**ONE, "type": "float64"},
    "it is an object, not": {**ONE, "base64": [1]},
    "it holds '?', which is not base64": {**ONE, "base64": "?"},
    "it holds 'AAA', which is not base64": {**ONE, "base64": "AAA"},
    "it holds 'ä', which is not base64": {**ONE, "base64": "ä"},
    "it has 3 bytes, which are no whole": {**ONE, "base64": "AAAA"},
    "it has 1 numbers for the shape a list": {**ONE, "shape": [2**40, 2**40]},
    "it has 1 numbers for the shape": {**ONE, "shape": [1]},
    "it has 1 numbers for the shape 'x'": {**ONE, "shape": "x"},
    "it has 1 numbers for the": {**ONE, "shape": [True, 1]},
    "it holds nan, which it cannot": pack_numbers(np.array([[0.5, np.nan]])),
    "it holds inf, which it cannot": pack_numbers(np.array([[0.5, np.inf]])),
    "it holds 3.0, which it cannot": pack_numbers(np.array([[0.5, 3.0]])),
    "it holds -1.0, which it cannot": pack_numbers(np.array([[0.5, -1.0]])),
}


@pytest.mark.parametrize("told", DAMAGE)
def test_anything_else_is_refused(told):
    with pytest.raises(BadFileError) as error:
        read(Packed(Numbers(ROWS, 0, 2)), DAMAGE[told])
    assert str(error.value).startswith(told)
    assert len(str(error.value)) < 150
