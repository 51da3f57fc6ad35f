"""Row hashes by a compiled loop (numba): the bits of `stats.sampling`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from rhale.stats.jit import njit

KEYS = types.Array(types.uint64, 1, "C")
FLOAT_BITS_TYPE = types.Array(types.uint64, 1, "C", readonly=True)
HASH_ONE, ZERO_BITS = np.uint64(1), np.uint64(0)
HASH_NAN_BITS = np.array(np.nan).view(np.uint64)[()]
# Without its sign, nan is more than infinity.
SHIFTED_INFINITY_BITS = np.array(np.inf).view(np.uint64)[()] << HASH_ONE
SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@njit(KEYS, FLOAT_BITS_TYPE, cache=True, nogil=True)
def mix_hash(key: Any, bits: Any) -> None:
    """Stir a column into keys, in place.

    Parameters
    ----------
    key : ndarray of shape (n_rows,)
        Keys.
    bits : ndarray of shape (n_rows,)
        The column, of floats, taken for unsigned numbers.
    """
    for i in range(key.size):
        own = bits[i]
        own = ZERO_BITS if own << HASH_ONE == ZERO_BITS else own  # -0.0 is 0.0
        # There are many kinds of it.
        own = HASH_NAN_BITS if own << HASH_ONE > SHIFTED_INFINITY_BITS else own
        k = key[i] ^ own
        k ^= k >> SHIFTS[0]
        k *= FACTORS[0]
        k ^= k >> SHIFTS[1]
        k *= FACTORS[1]
        k ^= k >> SHIFTS[2]
        key[i] = k
