"""Sums of pairs of features in trees, also behind a link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rhale.effects.binning.moments import check_magnitude
from rhale.interaction.moments import POWERS, PairMoments, measure_pair
from rhale.models.questions import PairQuestion, PairReply
from rhale.models.trees.forest import Forest
from rhale.models.trees.links import OutputTransform
from rhale.models.trees.pair_walk import (
    BlockWalk,
    DifferenceIndex,
    PairLeafSums,
    count_side_differences,
    make_slots,
    split_reply,
)
from rhale.stats.arrays import FloatArray, IntArray
from rhale.stats.jit import njit, writable

PAIR_SUMS_AT_ONCE, LINKED_AT_ONCE = 2**22, 2**18  # that are walked, that are linked together
LOW_HIGH_SIGNS = np.array([-1, 1])  # of low and high


@dataclass(frozen=True, eq=False)
class Corners:
    """Sums of some rows with changes of one side and of two, and how they become answers.

    Attributes
    ----------
    total : ndarray of shape (n_outputs, n_rows)
        Of the rows as they are.
    single : ndarray of shape (n_sides, 2, n_outputs, n_rows)
        What the low and the high value of a side add.
    mixed : ndarray of shape (n_pairs, 2, 2, n_outputs, n_rows)
        What two changes add beside what each adds alone.
    answering : OutputTransform
        How sums become answers.
    unit : float
        Of the sums.
    """

    total: IntArray
    single: IntArray
    mixed: IntArray
    answering: OutputTransform
    unit: float

    def answer(self, added: IntArray) -> FloatArray:
        """Answers (..., n_chosen, n_rows) where so much is added to the sums."""
        sums = np.moveaxis((self.total + added) * self.unit, -2, -1) + self.answering.base
        link = self.answering.link
        assert link is not None  # noqa: S101 - our own mistake
        return np.moveaxis(link(sums)[..., list(self.answering.chosen)], -1, -2)


def walk_linked_pairs(
    forest: Forest,
    inputs: tuple[FloatArray, FloatArray],
    question: PairQuestion,
    features: IntArray,
    answering: OutputTransform,
) -> PairReply:
    """Find the mixed differences of all pairs behind a link; see `walk_pairs`.

    Notes
    -----
    A link mixes what the sums keep apart: no pair is left out. Four answers for each row and pair,
    from the walk of the sums alone; memory O(block) beside the differences.
    """
    ways = count_side_differences(question)
    slots, every = (make_slots(w, question.pairs) for w in (ways, np.full_like(ways, 2)))
    walk = BlockWalk.begin(forest, inputs, every, features)
    outputs, n_outputs = np.arange(forest.n_outputs), forest.n_outputs
    found = np.zeros((slots.n_slots, len(answering.chosen), len(inputs[0])))
    for here in walk.blocks(PAIR_SUMS_AT_ONCE // (every.n_slots * max(n_outputs, 1))):
        n_rows = here.stop - here.start
        whole = np.zeros((every.n_slots, n_outputs, n_rows), np.int64)
        total = np.zeros((n_outputs, n_rows), np.int64)
        walk.add_to(PairLeafSums(outputs, whole, total), here, 0)
        n_single, shape = 2 * len(ways), (n_outputs, n_rows)
        single = whole[:n_single].reshape(-1, 2, *shape) * LOW_HIGH_SIGNS[:, None, None]
        signs = np.outer(LOW_HIGH_SIGNS, LOW_HIGH_SIGNS)[..., None, None]
        mixed = whole[n_single:-1].reshape(-1, 2, 2, *shape) * signs
        corners = Corners(total, single, mixed, answering, walk.unit)
        link_pairs(corners, question.pairs, slots, found[..., here])
    return split_reply(slots, found)


def link_pairs(
    corners: Corners, pairs: IntArray, slots: DifferenceIndex, found: FloatArray
) -> None:
    """Add differences of answers to their slots, some pairs after the others."""
    with np.errstate(invalid="ignore"):  # infinite answers are refused by who asks
        own = corners.answer(np.zeros_like(corners.total))
        alone = corners.answer(corners.single)
        for s in range(2):
            for i, gain in enumerate(alone[:, s] - own):
                found[slots.single[2 * i + s]] += LOW_HIGH_SIGNS[s] * gain
        size = max(LINKED_AT_ONCE // max(4 * corners.total.size, 1), 1)
        for begin in range(0, len(pairs), size):
            first, second = pairs[begin : begin + size].T
            added = corners.mixed[begin : begin + size] + corners.single[first][:, :, None]
            added += corners.single[second][:, None]
            # a change that does nothing leaves the same bits, and exactly no difference
            both = corners.answer(added) - alone[first][:, :, None]
            both -= alone[second][:, None] - own
            for s in range(2):
                for t in range(2):
                    slot = slots.mixed[2 * first + s, 2 * second + t]
                    found[slot] += LOW_HIGH_SIGNS[s] * LOW_HIGH_SIGNS[t] * both[:, s, t]


# --- Sums of many pairs of features at once (numba)


NO_PAIR_CELL = 2**16 - 1  # of rows that stand in no cell
N_POWERS = len(POWERS)
SAFE_DIFFERENCE_RANGE = 1e-100, 1e100  # sizes of differences that need no closer look
NO_WEIGHTS = np.empty(0)


class PairCellRows(NamedTuple):
    """Rows of a pair of numbers.

    Attributes
    ----------
    cell_indices : pair of ndarrays of shape (n_rows,)
        Their cells on both sides; NOWHERE for rows that have none.
    places : pair of ndarrays of shape (n_rows,)
        How far into these.
    weights : ndarray of shape (n_rows,), or of none where all rows matter the same
        How much they matter.
    """

    cell_indices: Any
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
    stands = [as_small(side.positions.cell, weights) for side in question.sides]
    places = [writable(side.positions.place) for side in question.sides]
    shares = NO_WEIGHTS if weights is None else writable(weights)
    found = []
    for (j, k), differences in zip(question.pairs.tolist(), mixed, strict=True):
        first, second = question.sides[j], question.sides[k]
        axes, positions = (first.axis, second.axis), (first.positions, second.positions)
        shape = axes[0].n_cells, axes[1].n_cells
        if axes[0].is_levels or axes[1].is_levels or max(shape) >= NO_PAIR_CELL:
            found.append(measure_pair(axes, positions, differences, weights))
            continue
        rows = PairCellRows((stands[j], stands[k]), (places[j], places[k]), shares)
        found.append(measure_numbers(shape, rows, differences[..., 0]))
    return found


def as_small(stand: IntArray, weights: FloatArray | None) -> Any:
    """Cells as numbers of 16 bits; rows that do not matter stand nowhere."""
    is_left_out = stand < 0 if weights is None else (stand < 0) | ~(weights > 0)
    return np.where(is_left_out, NO_PAIR_CELL, stand).astype(np.uint16)


def measure_numbers(
    shape: tuple[int, int], rows: PairCellRows, differences: FloatArray
) -> PairMoments:
    """Add up differences (n_outputs, n_rows) of a pair of numbers."""
    *sums, largest = add_pair(rows, writable(differences), shape[0], shape[1])
    if largest != 0 and not SAFE_DIFFERENCE_RANGE[0] < largest < SAFE_DIFFERENCE_RANGE[1]:
        check_magnitude(differences)
    return PairMoments(*sums)


@njit(cache=True, nogil=True)
def add_pair(rows: Any, differences: Any, n_one: Any, n_two: Any) -> Any:
    """Add up a pair: the fields of PairMoments, and the size of the largest difference."""
    n_outputs, n_cells = len(differences), n_one * n_two
    cells = find_cells(rows.cell_indices[0], rows.cell_indices[1], n_one, n_two)
    count, first, weight, weight_squares, places = sum_pair_cells(
        cells, rows.places, rows.weights, n_cells
    )
    mean, squares = np.zeros((n_outputs, n_cells)), np.zeros((n_outputs, n_cells))
    largest = 0.0
    for o in range(n_outputs):
        size = find_size(differences[o])
        largest = size if np.isnan(size) or size > largest else largest
        if size != 0:
            add_differences(cells, differences[o], rows.weights, first, weight, mean[o], squares[o])
    return (
        count.reshape((n_one, n_two)),
        weight.reshape((n_one, n_two)),
        weight_squares.reshape((n_one, n_two)),
        places.T.copy().reshape((N_POWERS, n_one, n_two)),
        mean.reshape((n_outputs, n_one, n_two, 1)),
        squares.reshape((n_outputs, n_one, n_two, 1, 1)),
        largest,
    )


@njit(cache=True, nogil=True)
def find_cells(one: Any, two: Any, n_one: Any, n_two: Any) -> Any:
    """Number the cells of a pair; one more than the last for rows that stand nowhere."""
    cells, nowhere = np.empty(len(one), np.uint32), np.uint32(n_one * n_two)
    for r in range(len(one)):
        is_known = (one[r] != NO_PAIR_CELL) & (two[r] != NO_PAIR_CELL)
        cells[r] = np.uint32(one[r]) * np.uint32(n_two) + np.uint32(two[r]) if is_known else nowhere
    return cells


@njit(cache=True, nogil=True)
def find_size(deltas: Any) -> Any:
    """Size of the largest difference; nan if one is."""
    largest, total = 0.0, 0.0
    for r in range(len(deltas)):
        largest = max(largest, abs(deltas[r]))
        total += deltas[r]
    return np.nan if np.isnan(total) else largest


@njit(cache=True, nogil=True)
def sum_pair_cells(cells: Any, places: Any, weights: Any, n_cells: Any) -> Any:
    """Count the rows of each cell, find its first, and sum weights, their squares and places."""
    u_of, v_of, is_weighted = places[0], places[1], len(weights) > 0
    count, first = np.zeros(n_cells + 1, np.int64), np.full(n_cells + 1, -1)
    weight, squares = np.zeros(n_cells + 1), np.zeros(n_cells + 1)
    sums = np.zeros((n_cells + 1, N_POWERS))
    for r in range(len(cells) - 1, -1, -1):
        first[np.uint64(cells[r])] = r
    for r in range(len(cells)):
        cell, u, v = np.uint64(cells[r]), u_of[r], v_of[r]
        w = weights[r] if is_weighted else 1.0
        uv, wu, wv = u * v, w * u, w * v
        count[cell] += 1
        sums[cell, 0] += wu
        sums[cell, 1] += wv
        sums[cell, 2] += w * uv
        sums[cell, 3] += wu * u
        sums[cell, 4] += wv * v
        sums[cell, 5] += wu * uv
        sums[cell, 6] += wv * uv
        sums[cell, 7] += w * uv * uv
    if not is_weighted:
        weight[:], squares[:] = count, count
    for r in range(len(weights)):
        cell, w = np.uint64(cells[r]), weights[r]
        weight[cell] += w
        squares[cell] += w * w
    return count[:-1], first, weight[:-1], squares[:-1], sums[:-1]


@njit(cache=True, nogil=True)
def add_differences(
    cells: Any, deltas: Any, weights: Any, first: Any, weight: Any, mean: Any, squares: Any
) -> None:
    """Find the mean difference of each cell, and sum the squares of deviations from it."""
    n_cells, is_weighted = len(mean), len(weights) > 0
    anchor, shift, total = np.zeros(n_cells + 1), np.zeros(n_cells + 1), np.zeros(n_cells + 1)
    for i in range(n_cells):
        anchor[i] = deltas[first[i]] if first[i] >= 0 else 0.0
    for r in range(len(cells)):
        cell = np.uint64(cells[r])
        w = weights[r] if is_weighted else 1.0
        shift[cell] += w * (deltas[r] - anchor[cell])
    for i in range(n_cells):
        shift[i] /= weight[i] if weight[i] > 0 else 1.0
        mean[i] = anchor[i] + shift[i]
    for r in range(len(cells)):
        cell = np.uint64(cells[r])
        w = weights[r] if is_weighted else 1.0
        gap = deltas[r] - anchor[cell] - shift[cell]
        total[cell] += w * gap * gap
    squares[:] = total[:-1]
