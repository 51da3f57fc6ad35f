"""Runs of neighbouring cells: what each would be as one bin, and the cheapest way to choose."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement
from operator import add
from typing import NamedTuple

import numpy as np

from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.moments import TINY, Moments

ROUNDING = 1e-11  # relative deviation that a model's own arithmetic may cause
TIE = 1e-12  # prices that differ by less are equal
BLOCK = 32  # ends of runs that are looked at together: their arrays stay in the processor's cache
FEW = 8  # ends of bins between which ways are added up one by one
NO_SERIES = np.empty((0, 0))


class Runs(NamedTuple):
    """Runs of cells that end in neighbouring cells, in every array at [end - first, start].

    They last until the next ones are asked for, and may be written over.

    Attributes
    ----------
    first : int
        The first cell in which they end.
    sums : ndarray of shape (n_sums, n_ends, first + n_ends)
        What adds up, the weight first; 0 where a run would start behind its end.
    products : ndarray of shape (n_pairs, n_ends, first + n_ends)
        Sums of products of deviations about the means of the run.
    """

    first: int
    sums: FloatArray
    products: FloatArray

    def rows(self, *, weighted: bool) -> FloatArray:
        """Effective rows, where squares of weights are the second sum; else the weight."""
        weight: FloatArray = self.sums[0]
        if not weighted:
            return weight
        squares = self.sums[1]
        rows = np.divide(weight**2, squares, out=np.zeros_like(weight), where=squares > 0)
        return np.asarray(rows)

    def spans(self, edges: FloatArray) -> FloatArray:
        """Widths; 0 and less where a run would start behind its end."""
        n_ends, last = self.sums.shape[1:]
        return edges[self.first + 1 : self.first + 1 + n_ends, None] - edges[:last]


def runs_by_end(
    sums: FloatArray, means: FloatArray = NO_SERIES, products: FloatArray = NO_SERIES
) -> Iterator[Runs]:
    """Go through all runs of cells, those that end in the first cells first.

    Parameters
    ----------
    sums : ndarray of shape (n_sums, n_cells)
        What adds up, the weight first.
    means : ndarray of shape (n_series, n_cells), optional
        Means of the series; the last series are the local effects.
    products : ndarray of shape (n_pairs, n_cells), optional
        Inside each cell: of series 0 with itself, with 1, ..., of 1 with itself, ...

    Notes
    -----
    Runs are merged, never taken from differences of prefix sums: those carry the rounding of the
    whole axis into a small bin. A run is the tail of all cells before a block and the head of
    this block, or lies inside it. O(n_cells²) in O(n_cells / 32) steps. Squares of the last
    series that are far below the last digits of its mean are rounding and count as none, so that
    rounding makes no bins.
    """
    n_cells, n_sums, n_series = sums.shape[1], len(sums), len(means)
    parts = [a for a in (sums, means, products) if len(a)]
    inside = _runs_inside(np.concatenate(parts), n_sums, n_series)
    room, tails = np.empty(len(inside) * BLOCK * n_cells), inside[:, 0, 0, :0]
    for first in range(0, n_cells, BLOCK):
        last = min(first + BLOCK, n_cells)
        own = inside[:, first // BLOCK, : last - first, : last - first]
        shape = len(own), last - first, last
        runs = room[: math.prod(shape)].reshape(shape)
        runs[:, :, first:] = own
        if first:
            _merge(tails[:, None], own[:, :, :1], n_sums, n_series, runs[:, :, :first])
        tails, found = runs[:, -1].copy(), runs[n_sums + n_series :]
        if n_series:
            rounding = is_rounding(runs[0], runs[n_sums + n_series - 1], found[-1])
            if rounding.any():
                found[-1][rounding] = 0.0
        yield Runs(first, runs[:n_sums], found)


def _runs_inside(cells: FloatArray, n_sums: int, n_series: int) -> FloatArray:
    """Runs inside each block, shape (n_rows, n_blocks, BLOCK, BLOCK), at [end, start]."""
    n_rows, n_cells = cells.shape
    n_blocks = -(-n_cells // BLOCK)
    head = np.zeros((n_rows, n_blocks * BLOCK))  # filled up with empty cells
    head[:, :n_cells] = cells
    # head: the run from the first cell of a stretch to this one; tail: from this one to the last
    tail, half = head.copy(), 1
    found = np.zeros((n_rows, n_blocks, BLOCK, BLOCK))
    np.einsum("rbii->rbi", found)[:] = head.reshape(n_rows, n_blocks, BLOCK)
    while half < BLOCK:
        shape = n_rows, n_blocks, BLOCK // (2 * half), 2, half
        left, right = tail.reshape(shape)[..., 0, :], head.reshape(shape)[..., 1, :]
        square = found.reshape(*shape[:3], 2 * half, shape[2], 2 * half)
        # those that cross the middle of a stretch, as a view
        merged = np.einsum("rbaiaj->rbaij", square)[..., half:, :half]
        _merge(left[..., None, :], right[..., None], n_sums, n_series, merged)
        # both are views: tails of the left half now reach to the end of the stretch, heads of the
        # right half begin at its start, and the stretch is twice as long
        left[:], right[:] = merged[..., -1, :], merged[..., 0]
        half *= 2
    return found


def _merge(
    left: FloatArray, right: FloatArray, n_sums: int, n_series: int, merged: FloatArray
) -> None:
    """Sums, means and products of both together (Chan, Golub and LeVeque)."""
    np.add(left[:n_sums], right[:n_sums], out=merged[:n_sums])
    if not n_series:
        return
    # two empty runs are an empty one, not nan
    share = np.maximum(merged[0], TINY)
    np.divide(right[0], share, out=share)
    steps, pulls = [], []
    for i in range(n_sums, n_sums + n_series):
        step = right[i] - left[i]
        pull = step * share
        np.add(left[i], pull, out=merged[i])
        pull *= left[0]
        steps.append(step)
        pulls.append(pull)
    pairs = combinations_with_replacement(range(n_series), 2)
    for row, (i, j) in enumerate(pairs, start=n_sums + n_series):
        product = pulls[i] * steps[j]  # of one piece: written into place at last
        product += left[row]
        np.add(product, right[row], out=merged[row])


def is_rounding(weight: FloatArray, mean: FloatArray, sdd: FloatArray) -> BoolArray:
    """Whether squared deviations are far below the last digits of their mean."""
    return np.asarray(sdd <= weight * (ROUNDING * mean) ** 2)


def drop_rounding(weight: FloatArray, mean: FloatArray, sdd: FloatArray) -> FloatArray:
    """Squared deviations, those that are rounding set to none."""
    return np.where(is_rounding(weight, mean, sdd), 0.0, sdd)


def weigh_cells(moments: Moments) -> FloatArray:
    """Weight, and its squares where rows are weighted, as sums of runs begin, shape (n_sums, n_cells)."""
    if np.array_equal(moments.weight, moments.weight_squares):
        return moments.weight[None]
    return np.stack([moments.weight, moments.weight_squares])


def cheapest_path(prices: Iterable[FloatArray]) -> IntArray | None:
    """Find the limits of the cheapest partition, or None where every partition costs inf.

    Parameters
    ----------
    prices : iterable of ndarray of shape (n_ends, n_starts)
        Of bins that end in neighbouring cells, as in `Runs`; inf where a bin would start behind
        its end.

    Notes
    -----
    T(j) = min over l of T(l) + B(l, j). A grid of n cells has at most n bins, so the paper's
    second index, the number of bins, is not needed: O(n_cells²). Ties go to the wider last bin.

    Examples
    --------
    >>> cheapest_path([np.array([[1.0, np.inf], [3.0, 1.0]])])
    array([0, 1, 2])
    """
    best, kept = np.zeros(1), list[FloatArray]()
    for block in prices:
        kept.extend(block)
        for start in range(0, len(block), FEW):
            ends, first = block[start : start + FEW], best.size - 1
            # ways through limits before these ends first: for all of them at once
            before = (ends[:, :first] + best[:first]).min(axis=1, initial=np.inf).tolist()
            reached = best[first:].tolist()
            for least, row in zip(before, ends[:, first:].tolist(), strict=True):
                reached.append(min(least, *map(add, reached, row)))
            best = np.concatenate([best, reached[1:]])
    if not np.isfinite(best[-1]):
        return None
    limits, j = [best.size - 1], best.size - 1
    # equal prices differ by the order of their additions: within rounding they are a tie
    most = best + TIE * np.abs(best)
    while j > 0:
        j = int((best[:j] + kept[j - 1][:j] <= most[j]).argmax())  # the first: the widest bin
        limits.append(j)
    return np.array(limits[::-1], dtype=np.intp)
