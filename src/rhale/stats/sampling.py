"""Samples by hash of the row: independent of the order of rows and of chunks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rhale.stats.arrays import FloatArray, IntArray, crosses_processes
from rhale.stats.jit import choose_compiled_loops

HASH_BLOCK_ROWS = 2**14  # so many keys stay in the processor's cache, column after column
HASHED_PER_EFFECT = 4  # numbers become part of a key in the time that one local effect takes
KeyArray = npt.NDArray[np.uint64]
MAX_ROW_HASH = np.uint64(np.iinfo(np.uint64).max)


@crosses_processes
@dataclass(frozen=True, eq=False)
class Sample:
    """The distinct rows with the smallest keys, and how often each was seen.

    A row among the smallest keys of the whole is among the smallest of its piece, so pieces merge
    exactly. Equal rows share a key; keeping one of them with their total weight, instead of some
    of them, keeps tables of few distinct rows whole.
    """

    size: int  # At most this many distinct rows are kept
    key: KeyArray  # (n_kept,): keys, increasing
    weight: FloatArray  # (n_kept,): weight of all rows with this key
    values: FloatArray  # (n_kept, n_values): what is kept of a row
    seen: int  # Rows that passed by
    is_complete: bool = True  # Whether no distinct row was left out
    # Up to this key no row was left out but for want of room; beyond it some were by `first`
    known_to: np.uint64 = MAX_ROW_HASH

    @property
    def is_sure(self) -> bool:
        """Whether these are the rows with the smallest keys, whatever `first` left out of parts."""
        is_full = self.key.size == self.size
        return self.known_to == MAX_ROW_HASH or bool(is_full and self.key[-1] <= self.known_to)

    def first(self, n_rows: int) -> Sample:
        """Fewer rows, for a sum that has other rows with small keys; it tells whether it had enough."""
        if n_rows >= self.key.size:
            return self
        return replace(
            self,  # copies: the rows that are left out need not stay in memory
            key=self.key[:n_rows].copy(),
            weight=self.weight[:n_rows].copy(),
            values=self.values[:n_rows].copy(),
            is_complete=False,
            known_to=min(self.known_to, self.key[n_rows - 1]),
        )

    def last_key(self, n_rows: int) -> np.uint64:
        """Largest key of the first so many distinct rows; of all where there are no more.

        Of more rows than were kept it is that of about so many: keys are spread evenly.
        """
        last, n_kept = np.iinfo(np.uint64).max, self.key.size
        if n_rows < n_kept:
            return np.uint64(self.key[n_rows - 1])
        if self.is_complete or n_rows == n_kept:
            return np.uint64(last if self.is_complete else self.key[-1])
        return np.uint64(min(int(self.key[-1]) * n_rows // n_kept, last))

    def __add__(self, other: Sample) -> Sample:
        size = min(self.size, other.size)
        late = other.key.size
        if self.key.size >= size:  # what lies behind the last kept key cannot be kept
            late = int(np.searchsorted(other.key, self.key[size - 1], side="right"))
        key, weight, values = self.key, self.weight, self.values
        if late:  # most sums of a large table bring none
            key = np.concatenate([key, other.key[:late]])
            weight = np.concatenate([weight, other.weight[:late]])
            place = np.argsort(key, kind="stable")  # of two runs: in linear time
            key, weight = key[place], weight[place]
            again = 1 + np.flatnonzero(key[1:] == key[:-1])  # they come behind these
            if again.size:
                weight[again - 1] += weight[again]
                key, weight = np.delete(key, again), np.delete(weight, again)
                place = np.delete(place, again)
            both = np.concatenate([values, other.values[:late]])
            values = both.take(place[: self.size], axis=0)
        left_out = late < other.key.size or key.size > size
        return Sample(
            size,
            key[:size],
            weight[:size],
            values[:size],
            seen=self.seen + other.seen,
            is_complete=self.is_complete and other.is_complete and not left_out,
            known_to=min(self.known_to, other.known_to),
        )


def collect(key: KeyArray, values: FloatArray, weight: FloatArray, *, size: int) -> Sample:
    """Keep the rows with the smallest keys.

    `key` (n_rows,): from `hash_rows`; `values` (n_rows, n_values): what to keep of each row;
    `weight` (n_rows,): weight of each row; `size`: how many distinct rows to keep.
    """
    # distinct keys, increasing, the first row of each, and the weight of all its rows
    rows = small_keys(key, size)
    own, weight = key[rows], weight[rows]
    first = own.argsort()
    kept = own[first]
    if np.all(kept[1:] != kept[:-1]):  # as mostly: any sort will do, and there is nothing to add
        total = weight[first].astype(np.float64)
    else:
        kept, first, same = np.unique(own, return_index=True, return_inverse=True)
        total = np.bincount(same, weight, kept.size).astype(np.float64)
    first = rows[first[:size]]
    complete = rows.size == key.size and kept.size <= size
    return Sample(size, kept[:size], total[:size], values[first], key.size, complete)


def small_keys(key: KeyArray, size: int) -> IntArray:
    """Rows that surely include all of the smallest distinct keys: spares sorting the others."""
    for enough in (size, 2 * size):  # twice as many leave room for repeated rows
        if key.size <= enough:
            break
        bound = np.partition(key, enough - 1)[enough - 1]
        rows = np.flatnonzero(key <= bound)
        small = key[rows]
        small = np.sort(small)
        if 1 + np.count_nonzero(small[1:] != small[:-1]) >= size:
            return rows
    return np.arange(key.size)


def hash_rows(columns: FloatArray, seed: int = 0) -> KeyArray:
    """Turn every row into a number that looks random and depends on its values alone.

    `columns` (n_rows, n_columns): values; 0.0 and -0.0 are the same, and so is whatever is nan;
    `seed`: another seed gives another order.
    """
    # O(n_rows n_columns). Each column is mixed in by the finaliser of SplitMix64 (Steele, Lea and
    # Flood, 2014); the shift comes first, because whole numbers have their information in the high
    # bits of a float. Where it pays, a compiled loop does it (`stats.jit`): the bits are the same.
    return column_keys(np.asarray(columns, dtype=np.float64).T, len(columns), seed)


def column_keys(columns: Iterable[FloatArray], n_rows: int, seed: int = 0) -> KeyArray:
    """Keys of rows that are given column by column."""
    key = np.full(n_rows, np.random.default_rng(seed).integers(2**63), dtype=np.uint64)
    columns = list(columns)
    loops = choose_compiled_loops(n_rows * len(columns) // HASHED_PER_EFFECT)
    if loops is not None:
        for column in columns:
            loops.mix_hash(key, np.ascontiguousarray(column, dtype=np.float64).view(np.uint64))
        return key
    with np.errstate(over="ignore", invalid="ignore"):
        has_nan = [bool(np.isnan(c.sum())) for c in columns]  # or infinities that cancel: no harm
        for start in range(0, n_rows, HASH_BLOCK_ROWS):
            own = key[start : start + HASH_BLOCK_ROWS]  # a view: mixed in place
            known, shifted = np.empty(own.size), np.empty_like(own)
            for column, is_gappy in zip(columns, has_nan, strict=True):
                # one bit pattern for each value
                np.add(column[start : start + HASH_BLOCK_ROWS], 0.0, out=known)  # -0.0 is 0.0
                if is_gappy:
                    known[np.isnan(known)] = np.nan  # there are many kinds of it
                own ^= known.view(np.uint64)
                own ^= np.right_shift(own, np.uint64(30), out=shifted)
                own *= np.uint64(0xBF58476D1CE4E5B9)
                own ^= np.right_shift(own, np.uint64(27), out=shifted)
                own *= np.uint64(0x94D049BB133111EB)
                own ^= np.right_shift(own, np.uint64(31), out=shifted)
    return key
