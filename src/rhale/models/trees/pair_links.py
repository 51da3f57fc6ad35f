"""Pairs of trees behind a link: every corner of a row's steps is answered for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.pair_question import PairQuestion, PairReply
from rhale.models.trees.answering import OutputTransform
from rhale.models.trees.forest import Forest
from rhale.models.trees.pair_walk import (
    BlockWalk,
    DifferenceIndex,
    PairLeafSums,
    count_side_differences,
    make_slots,
    split_reply,
)

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
