"""Sums of many pairs of features at once (numba)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.moments import check_magnitude
from rhale.kernels.pair_moments import POWERS, PairMoments, measure_pair
from rhale.kernels.pair_question import PairQuestion

NOWHERE = 2**16 - 1  # of rows that stand in no cell
N_SUMS = len(POWERS) + 2


class Rows(NamedTuple):
    """Rows of a pair of numbers.

    Attributes
    ----------
    cells : ndarray of shape (n_rows,)
        Where they stand, the cells of the second side within those of the first; one more than
        the last for rows that stand nowhere.
    places : pair of ndarrays of shape (n_rows,)
        How far into the cells of both sides.
    weights : ndarray of shape (n_rows,), or of none where all rows matter the same
        How much they matter.
    """

    cells: Any
    places: Any
    weights: Any


def measure_pairs(
    question: PairQuestion, mixed: Sequence[FloatArray], weights: FloatArray | None = None
) -> list[PairMoments]:
    """Add up the mixed differences of rows by where they stand, for all pairs.

    Parameters
    ----------
    question : PairQuestion
        Sides and pairs.
    mixed : sequence of ndarray of shape (n_outputs, n_rows, n_ways)
        Mixed differences of each pair, as in `PairReply`.
    weights : ndarray of shape (n_rows,), optional
        How much each row matters; those with 0 are left out.

    Returns
    -------
    list of PairMoments
        As `measure_pair` gives them one by one.

    Notes
    -----
    O(n_pairs x n_rows), memory O(n_rows): the sums of one pair stay in the processor's cache.
    Deviations are from the mean of a cell, found first from those of its first row; equal
    differences deviate by nothing.
    """
    stands = [as_small(side.standing.stand, weights) for side in question.sides]
    found = []
    for (j, k), differences in zip(question.pairs.tolist(), mixed, strict=True):
        first, second = question.sides[j], question.sides[k]
        axes, standing = (first.axis, second.axis), (first.standing, second.standing)
        shape = axes[0].n_stands, axes[1].n_stands
        if axes[0].is_levels or axes[1].is_levels or max(shape) >= NOWHERE:
            found.append(measure_pair(axes, standing, differences, weights))
            continue
        cells = find_cells(stands[j], stands[k], shape[0], shape[1])
        places = standing[0].place, standing[1].place
        rows = Rows(cells, places, np.empty(0) if weights is None else weights)
        found.append(measure_numbers(shape, rows, differences[..., 0]))
    return found


def as_small(stand: IntArray, weights: FloatArray | None) -> Any:
    """Cells as numbers of 16 bits; rows that do not matter stand nowhere."""
    is_left_out = stand < 0 if weights is None else (stand < 0) | ~(weights > 0)
    return np.where(is_left_out, NOWHERE, stand).astype(np.uint16)


def measure_numbers(shape: tuple[int, int], rows: Rows, differences: FloatArray) -> PairMoments:
    """Add up differences (n_outputs, n_rows) of a pair of numbers."""
    check_magnitude(differences)
    n_cells, n_outputs = shape[0] * shape[1], len(differences)
    count, first, sums = add_rows(rows, n_cells)
    mean, products = np.zeros((2, n_outputs, n_cells))
    for o in range(n_outputs):
        deltas = np.ascontiguousarray(differences[o])
        mean[o], products[o] = add_differences(rows, deltas, first, sums[:, 0].copy())
    return PairMoments(
        count.reshape(shape),
        sums[:, 0].reshape(shape),
        sums[:, 1].reshape(shape),
        sums[:, 2:].T.reshape(-1, *shape),
        mean.reshape(n_outputs, *shape, 1),
        products.reshape(n_outputs, *shape, 1, 1),
    )


@njit(cache=True, nogil=True)
def find_cells(one: Any, two: Any, n_one: Any, n_two: Any) -> Any:
    """Number the cells of a pair."""
    cells, nowhere = np.empty(len(one), np.uint32), n_one * n_two
    for r in range(len(one)):
        is_known = (one[r] != NOWHERE) & (two[r] != NOWHERE)
        cells[r] = np.uint32(one[r]) * n_two + two[r] if is_known else nowhere
    return cells


@njit(cache=True, nogil=True)
def add_rows(rows: Any, n_cells: Any) -> Any:
    """Count the rows of each cell, find its first, and sum weights, their squares and places."""
    cells, (u_of, v_of), weights = rows.cells, rows.places, rows.weights
    is_weighted = len(weights) > 0
    count, first = np.zeros(n_cells + 1, np.int64), np.zeros(n_cells + 1, np.int64)
    sums = np.zeros((n_cells + 1, N_SUMS))
    for i in range(len(cells)):
        r = len(cells) - 1 - i  # from the last, so that the first is what remains
        first[np.uint64(cells[r])] = r
    for r in range(len(cells)):
        cell, u, v = np.uint64(cells[r]), u_of[r], v_of[r]
        w = weights[r] if is_weighted else 1.0
        uv, wu, wv = u * v, w * u, w * v
        count[cell] += 1
        sums[cell, 0] += w
        sums[cell, 1] += w * w
        sums[cell, 2] += wu
        sums[cell, 3] += wv
        sums[cell, 4] += w * uv
        sums[cell, 5] += wu * u
        sums[cell, 6] += wv * v
        sums[cell, 7] += wu * uv
        sums[cell, 8] += wv * uv
        sums[cell, 9] += w * uv * uv
    first[count == 0] = -1
    return count[:-1], first[:-1], sums[:-1]


@njit(cache=True, nogil=True)
def add_differences(rows: Any, deltas: Any, first: Any, weight: Any) -> Any:
    """Find the mean of the differences in each cell, and sum the squares of deviations from it."""
    cells, weights, n_cells = rows.cells, rows.weights, len(first)
    is_weighted = len(weights) > 0
    anchor, shift, squares = np.zeros(n_cells + 1), np.zeros(n_cells + 1), np.zeros(n_cells + 1)
    for cell in range(n_cells):
        anchor[cell] = deltas[first[cell]] if first[cell] >= 0 else 0.0
    for r in range(len(cells)):
        at = np.uint64(cells[r])
        w = weights[r] if is_weighted else 1.0
        shift[at] += w * (deltas[r] - anchor[at])
    for cell in range(n_cells):
        shift[cell] /= weight[cell] if weight[cell] > 0 else 1.0
    for r in range(len(cells)):
        at = np.uint64(cells[r])
        w = weights[r] if is_weighted else 1.0
        gap = deltas[r] - anchor[at] - shift[at]
        squares[at] += w * gap * gap
    return (anchor + shift)[:-1], squares[:-1]
