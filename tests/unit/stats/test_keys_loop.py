"""The compiled loop gives the keys of NumPy, whatever the bits of the columns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rhale.stats import jit
from rhale.stats.sampling import HASH_BLOCK_ROWS, column_keys, hash_rows

pytest.importorskip("numba")
WORD = 2**64
ODD = (0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, -5e-324, 1.0, np.finfo(float).max)
NANS = (0x7FF0000000000001, 0x7FF8000000000001, 0xFFF8000000000000, WORD - 1)  # some signal
BITS = st.integers(0, WORD - 1) | st.sampled_from([*NANS, 2**63])


def both_ways(keys, *arguments):
    """Keys by NumPy, and by the loop."""
    found = []
    for pays_from in (np.inf, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(jit, "PAYS_FROM", pays_from)
            found.append(keys(*arguments))
    return found


def finish(word):
    """The finaliser of SplitMix64 as it is published, in whole numbers that do not overflow."""
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % WORD
    return word ^ (word >> 31)


def keys_in_python(columns, seed):
    start, found = int(np.random.default_rng(seed).integers(2**63)), []
    for row in zip(*(column.tolist() for column in columns), strict=True):
        key = start
        for value in row:
            plain = np.nan if np.isnan(value) else value + 0.0
            key = finish(key ^ int(np.float64(plain).view(np.uint64)))
        found.append(key)
    return found


@settings(deadline=None)
@given(st.lists(st.lists(BITS, min_size=3, max_size=3), max_size=40), st.integers(0, 2**32))
def test_any_bits_have_the_keys_of_numpy_and_of_the_definition(rows, seed):
    bits = np.array(rows, dtype=np.uint64).reshape(-1, 3)
    columns = list(np.ascontiguousarray(bits.T).view(np.float64))
    by_numpy, by_loop = both_ways(column_keys, columns, len(rows), seed)
    assert by_numpy.dtype == by_loop.dtype == np.uint64
    assert by_numpy.tolist() == by_loop.tolist() == keys_in_python(columns, seed)


@pytest.mark.parametrize(
    "n_rows", [0, 1, 7, HASH_BLOCK_ROWS - 1, HASH_BLOCK_ROWS, 2 * HASH_BLOCK_ROWS + 3]
)
def test_blocks_and_their_rests_have_the_same_keys(n_rows):
    rng = np.random.default_rng(n_rows)
    columns = [rng.choice([*ODD, *rng.normal(size=20)], n_rows) for _ in range(4)]
    by_numpy, by_loop = both_ways(column_keys, columns, n_rows)
    assert by_numpy.tobytes() == by_loop.tobytes()


@pytest.mark.parametrize(
    "rows",
    [
        np.arange(12).reshape(4, 3),
        np.arange(12, dtype=np.float32).reshape(4, 3) / 7,
        np.asfortranarray(np.arange(12.0).reshape(4, 3)),
        np.arange(24.0).reshape(4, 6)[:, ::2],
        np.ones((3, 0)),
    ],
)
def test_columns_of_any_type_and_order_have_the_same_keys(rows):
    rows.flags.writeable = False
    by_numpy, by_loop = both_ways(hash_rows, rows)
    assert by_numpy.tobytes() == by_loop.tobytes()
    columns = list(rows.T)
    assert all(np.array_equal(keys, by_loop) for keys in both_ways(column_keys, columns, len(rows)))
