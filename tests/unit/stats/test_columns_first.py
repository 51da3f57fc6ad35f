import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.stats.arrays import TRANSPOSE_BLOCK_ROWS, lay_columns


@given(
    st.sampled_from(
        [
            (0, 3),
            (1, 1),
            (7, 4),
            (TRANSPOSE_BLOCK_ROWS + 3, 2),
            (2 * TRANSPOSE_BLOCK_ROWS, 3, 2),
            (5, 1),
        ]
    ),
    st.sampled_from(["float64", "float32", "int64", "bool"]),
    st.sampled_from(["C", "F", "reversed", "every second"]),
)
def test_columns_are_those_of_the_rows_as_floats_in_one_piece(shape, kind, order):
    rows = np.random.default_rng(0).integers(0, 2 if kind == "bool" else 9, shape).astype(kind)
    rows = np.asfortranarray(rows) if order == "F" else rows
    rows = {"reversed": rows[::-1], "every second": rows[::2]}.get(order, rows)
    found = lay_columns(rows)
    assert found.dtype == np.float64
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, np.transpose(rows))


@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_are_a_copy(order):
    rows = np.ones((4, 2), order=order)
    lay_columns(rows)[:] = 7.0
    assert np.all(rows == 1.0)
