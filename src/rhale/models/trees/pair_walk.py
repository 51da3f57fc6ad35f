"""Walk trees along the branches that two changed columns of a row can take, also behind a link (numba)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rhale.effects.binning.moments import check_magnitude
from rhale.interaction.moments import POWERS, PairMoments, measure_pair
from rhale.models.questions import PairQuestion, PairReply
from rhale.models.trees.forest import IN_SET, LEAF, Forest
from rhale.models.trees.links import OutputTransform
from rhale.models.trees.walk import (
    WALK_HALF_BITS,
    WALK_LOW_HALF,
    WALK_ONE,
    WALK_ZERO,
    Coding,
    FeatureChanges,
    Trees,
    allocate_coded_block,
    encode_block,
    goes_right,
    leave,
    partition_block_rows,
)
from rhale.stats.arrays import FloatArray, IntArray
from rhale.stats.jit import njit, will_compile, writable
from rhale.system import LOG

# Rows that walk together: enough that few lists are short, few enough for the processor's cache.
MIN_PAIR_BLOCK_ROWS, MAX_PAIR_BLOCK_ROWS = 16, 2**10
SPARE_BITS = 2  # of the leaves: four sums are added up, and none overflows
NO_EARLIER_CHANGE = np.uint64(2**63)


class DifferenceIndex(NamedTuple):
    """Where differences are added up; change 2 i is side i at its low value, 2 i + 1 at its high.

    Attributes
    ----------
    single : ndarray of shape (n_changes,)
        Of changes of one side.
    mixed : ndarray of shape (n_changes, n_changes)
        Of changes of two sides; the last slot where nobody asks.
    ways : ndarray of shape (n_sides,)
        Indices of each side.
    starts : ndarray of shape (n_pairs + 1,)
        First slot of each pair, and one behind the last.
    """

    single: Any
    mixed: Any
    ways: Any
    starts: Any

    @property
    def n_slots(self) -> int:
        """All of them."""
        return int(self.starts[-1]) + 1


class PairWalkInput(NamedTuple):
    """What is walked, and what is asked."""

    trees: Any
    coding: Any
    changes: Any
    single: Any
    mixed: Any


class PairWalkBuffers(NamedTuple):
    """Room for rows at a node, and for changes that leave the path of their row.

    Attributes
    ----------
    rows, left_rows, leaving, stack : ndarrays
        As in `walk`.
    leaf_of : ndarray of shape (n_rows,)
        Where rows end.
    items : ndarray of shape (n_places,)
        Changes in the order in which they leave: their code in the upper half, then the change,
        then the row in the lowest `shift` bits.
    nodes : ndarray of shape (n_places,)
        Where they go on.
    before : ndarray of shape (n_places,)
        The change of the same row that has left before; NONE for its first.
    last : ndarray of shape (n_rows,)
        The change of each row that has left last.
    second, second_nodes : ndarrays of shape (n_changes,)
        Changes that leave the path of a changed row, and where they go on.
    """

    rows: Any
    left_rows: Any
    leaving: Any
    stack: Any
    leaf_of: Any
    items: Any
    nodes: Any
    before: Any
    last: Any
    second: Any
    second_nodes: Any
    shift: Any


class PairLeafSums(NamedTuple):
    """What is added up, in whole numbers of a unit.

    Attributes
    ----------
    outputs : ndarray of shape (n_all,)
        Where each output stands among those that are wanted; -1 for others.
    changes : ndarray of shape (n_slots, n_outputs, n_rows)
        Differences.
    total : ndarray of shape (n_all, n_rows)
        Sums of the rows of this block as they are, from the trees of the wanted outputs.
    """

    outputs: Any
    changes: Any
    total: Any


def walk_pairs(
    forest: Forest,
    inputs: tuple[FloatArray, FloatArray],
    question: PairQuestion,
    features: IntArray,
    answering: OutputTransform,
) -> PairReply:
    """Find the mixed differences of all pairs, and the differences along each side.

    Parameters
    ----------
    forest : Forest
        The trees.
    inputs : tuple of ndarrays of shape (n_rows, n_features) and (2 n_sides, n_rows)
        The rows as the trees see them, and the low and the high value of each side.
    question : PairQuestion
        What is asked.
    features : ndarray of shape (n_sides,)
        The feature that each side is; negative for one that no tree sees.
    answering : OutputTransform
        How sums become answers: without a link.

    Notes
    -----
    With one side j at s and another k at t, a row's answer changes by what each change does alone
    and by I(js, kt) = f(js, kt) - f(js) - f(kt) + f; mixed differences are sums of I with signs.
    In a tree the change that leaves the row's path first, say js, takes kt along. If kt then
    leaves the path of js, I gains f(js, kt) - f(js); if it leaves the row's own path further
    down, I loses f(kt) - f. Else it is nothing. So rows go down a tree together, as in `walk`, and
    list the changes that leave them; each of these goes on alone, and sends a copy along where
    a second change leaves it. Sums are whole numbers: pairs that do not interact give exactly 0.
    O(rows x trees x depth), plus the ways of the changes; memory O(block) beside the answers.
    """
    slots = make_slots(count_side_differences(question), question.pairs)
    walk = BlockWalk.begin(forest, inputs, slots, features)
    outputs = np.full(forest.n_outputs, -1, dtype=np.int64)
    outputs[list(answering.chosen)] = np.arange(len(answering.chosen))
    found = np.zeros((slots.n_slots, len(answering.chosen), len(inputs[0])))
    changes, own = found.view(np.int64), np.empty((len(inputs[0]), len(answering.chosen)))
    for here in walk.blocks():
        total = np.zeros((forest.n_outputs, here.stop - here.start), np.int64)
        walk.add_to(PairLeafSums(outputs, changes, total), here, here.start)
        own[here] = (total.T * walk.unit + answering.base)[:, list(answering.chosen)]
    scale(changes, walk.unit * answering.factor, found)
    return split_reply(slots, found)._replace(answers=own * answering.factor)


@dataclass(frozen=True, eq=False)
class BlockWalk:
    """A walk of some rows after the others."""

    walk_input: PairWalkInput
    block: Any
    room: PairWalkBuffers
    inputs: tuple[FloatArray, FloatArray]
    unit: float

    @classmethod
    def begin(
        cls,
        forest: Forest,
        inputs: tuple[FloatArray, FloatArray],
        slots: DifferenceIndex,
        features: IntArray,
    ) -> BlockWalk:
        """Lay out what is walked, and make room."""
        if will_compile(walk_pair_rows):
            LOG.warning(
                "compiling the code for tree pairs, for this and later calls (some seconds)"
            )
        n_changes, n_rows = inputs[1].shape
        most = min(MAX_PAIR_BLOCK_ROWS, max(n_rows, 1))
        block = allocate_coded_block(forest.n_features, n_changes, most)
        room = allocate_pair_buffers(n_changes, most, forest.depth)
        unit = float(np.ldexp(1.0, SPARE_BITS - forest.exponent))
        own = writable(inputs[0]), writable(inputs[1])
        return cls(lay_ground(forest, features, slots), block, room, own, unit)

    def blocks(self, most: int = MAX_PAIR_BLOCK_ROWS) -> Iterator[slice]:
        """Rows that walk together: as many as there is room for, and as said."""
        size, n_rows = min(max(most, MIN_PAIR_BLOCK_ROWS), len(self.room.rows)), len(self.inputs[0])
        for begin in range(0, n_rows, size):
            yield slice(begin, min(begin + size, n_rows))

    def add_to(self, sums: PairLeafSums, here: slice, at: int) -> None:
        """Add up the differences of some rows, in the places of the sums from `at` on."""
        span = here.start, here.stop, at
        walk_pair_rows(self.walk_input, self.block, self.room, self.inputs, sums, span)


def split_reply(slots: DifferenceIndex, found: FloatArray) -> PairReply:
    """Give each side and each pair its slots."""
    ends = np.cumsum(slots.ways)
    return PairReply(
        [
            found[a:b].transpose(1, 2, 0)
            for a, b in zip(slots.starts, slots.starts[1:], strict=False)
        ],
        [found[b - n : b].transpose(1, 2, 0) for b, n in zip(ends, slots.ways, strict=True)],
    )


def count_side_differences(question: PairQuestion) -> IntArray:
    """Slots that each side needs."""
    return np.array([side.axis.n_ways for side in question.sides], dtype=np.int64)


def make_slots(ways: IntArray, pairs: IntArray) -> DifferenceIndex:
    """Number the slots: those of the sides, then those of the pairs, then one for the rest.

    Parameters
    ----------
    ways : ndarray of shape (n_sides,)
        One slot a side for both changes, or one for each.
    pairs : ndarray of shape (n_pairs, 2)
        Places among the sides.

    Examples
    --------
    >>> slots = make_slots(np.array([1, 2]), np.array([[0, 1]]))
    >>> slots.single
    array([0, 0, 1, 2])
    >>> slots.mixed[:2, 2:]
    array([[3, 4],
           [3, 4]], dtype=uint32)
    """
    first, second = pairs[:, 0], pairs[:, 1]
    change = np.arange(2 * len(ways))
    way = np.where(ways[change // 2] == 2, change % 2, 0)
    sizes = ways[first] * ways[second]
    starts = ways.sum() + np.concatenate([[0], np.cumsum(sizes)])
    mixed = np.full((len(change), len(change)), starts[-1], dtype=np.uint32)
    for s in range(2):
        for t in range(2):
            one, other = 2 * first + s, 2 * second + t
            slot = starts[:-1] + way[one] * ways[second] + way[other]
            mixed[one, other] = mixed[other, one] = slot
    single = np.cumsum(ways)[change // 2] - ways[change // 2] + way
    return DifferenceIndex(single, mixed, ways, starts)


def lay_ground(forest: Forest, features: IntArray, slots: DifferenceIndex) -> PairWalkInput:
    """Trees, how values become codes, and the changes by feature."""
    each = np.repeat(features, 2)
    order = np.argsort(each, kind="stable")
    starts = np.searchsorted(each[order], np.arange(forest.n_features + 1))
    leaves = forest.leaves >> SPARE_BITS
    return PairWalkInput(
        Trees(forest.nodes, forest.bits, forest.roots, forest.targets, leaves, forest.depth),
        Coding(forest.cuts, forest.cut_starts, forest.kinds, forest.is_single),
        FeatureChanges(each.astype(np.uint64), order.astype(np.uint64), starts.astype(np.uint64)),
        slots.single.astype(np.uint64),
        slots.mixed,
    )


def allocate_pair_buffers(n_changes: int, n_rows: int, depth: int) -> PairWalkBuffers:
    """Room for what is on its way; one place more than needed, for what is not kept."""
    n_places = n_rows * n_changes + 1
    return PairWalkBuffers(
        rows=np.empty(n_rows, np.uint32),
        left_rows=np.empty(n_rows + 1, np.uint32),
        leaving=np.empty((2, n_rows + 1), np.uint32),
        stack=np.empty((depth + 1, 3), np.uint64),
        leaf_of=np.empty(n_rows, np.uint32),
        items=np.empty(n_places, np.uint64),
        nodes=np.empty(n_places, np.uint64),
        before=np.empty(n_places, np.uint64),
        last=np.empty(n_rows, np.uint64),
        second=np.empty(n_changes, np.uint64),
        second_nodes=np.empty(n_changes, np.uint64),
        shift=np.uint64(max(n_rows - 1, 0).bit_length()),
    )


@njit(cache=True, nogil=True)
def scale(whole: Any, unit: Any, found: Any) -> None:
    """Turn whole numbers into differences, on the same memory."""
    for i in range(whole.shape[0]):
        for k in range(whole.shape[1]):
            for r in range(whole.shape[2]):
                found[i, k, r] = unit * whole[i, k, r]


@njit(cache=True, nogil=True)
def walk_pair_rows(
    ground: Any, block: Any, room: Any, inputs: Any, all_sums: Any, span: Any
) -> None:
    """Add up the differences of a block of rows, tree after tree."""
    trees, (begin, end, at) = ground.trees, span
    n_rows = np.uint64(end - begin)
    encode_block(ground.coding, ground.changes, inputs[0], inputs[1], begin, end, block)
    outputs, total = all_sums.outputs, all_sums.total
    sums = PairLeafSums(outputs, all_sums.changes[:, :, at : at + end - begin], total)
    leaves, targets, leaf_of = trees.leaves, trees.targets, room.leaf_of
    for tree in range(len(trees.roots)):
        target = targets[tree]
        is_wanted = False
        for k in range(leaves.shape[1]):
            is_wanted |= outputs[target + k] >= 0
        if is_wanted:
            n_items = list_leaving(trees, tree, ground.changes, block, n_rows, room)
            follow_leaving_changes(ground, tree, block, n_rows, room, n_items, sums)
            for r in range(n_rows):
                for k in range(leaves.shape[1]):
                    total[target + k, r] += leaves[np.uint64(leaf_of[r]), k]


@njit(cache=True, nogil=True)
def list_leaving(trees: Any, tree: Any, changes: Any, block: Any, n_rows: Any, room: Any) -> Any:
    """Send rows down a tree, left side first; list the changes that leave their paths."""
    nodes, bits = trees.nodes, trees.bits  # arrays by their own names: numba counts references
    codes, limits, changed, can_leave = block.codes, block.limits, block.changed, block.can_leave
    order, starts = changes.order, changes.starts
    rows, left_rows, leaving, stack = room.rows, room.left_rows, room.leaving, room.stack
    items, goes_on, leaf_of = room.items, room.nodes, room.leaf_of
    shift, now = room.shift, np.uint64(tree) << WALK_HALF_BITS
    for r in range(n_rows):
        rows[r] = r
    node, a, b = np.uint64(trees.roots[tree]), WALK_ZERO, np.uint64(n_rows)
    n_items, n_waiting = WALK_ZERO, WALK_ZERO
    while True:
        f, left = np.uint64(nodes[node, 0]), np.uint64(nodes[node, 3])
        low, width = np.uint64(nodes[node, 1]), np.uint64(nodes[node, 2])
        if f == LEAF:
            for i in range(a, b):
                leaf_of[rows[i]] = left
        elif b == a + WALK_ONE:  # a row that is alone needs no sorting
            alone = np.uint64(rows[a])
            right = goes_right(np.uint64(codes[f, alone]), low, width, bits)
            farthest = np.uint64(limits[f, alone, right])
            if (width == IN_SET) | (goes_right(farthest, low, width, bits) != right):
                leaving[right, 0], begin = alone, n_items
                n_items = leave(
                    f, low, width, bits, right, starts, order, can_leave, leaving, WALK_ONE,
                    changed, now, shift, items, n_items,
                )  # fmt: skip
                for i in range(begin, n_items):
                    goes_on[i] = left + WALK_ONE - right
            node = left + right
            continue
        else:
            middle, n_from_left, n_from_right = partition_block_rows(
                f, low, width, bits, codes, limits, a, b, rows, left_rows, leaving
            )
            begin = n_items
            n_items = leave(
                f, low, width, bits, WALK_ZERO, starts, order, can_leave, leaving, n_from_left,
                changed, now, shift, items, n_items,
            )  # fmt: skip
            for i in range(begin, n_items):
                goes_on[i] = left + WALK_ONE
            begin = n_items
            n_items = leave(
                f, low, width, bits, WALK_ONE, starts, order, can_leave, leaving, n_from_right,
                changed, now, shift, items, n_items,
            )  # fmt: skip
            for i in range(begin, n_items):
                goes_on[i] = left
            if middle > a:
                stack[n_waiting, 0], stack[n_waiting, 1], stack[n_waiting, 2] = (
                    left + WALK_ONE,
                    a,
                    middle,
                )
                n_waiting += WALK_ONE
            if b > middle:
                node, a = left, middle
                continue
        if n_waiting == 0:
            return n_items
        n_waiting -= WALK_ONE
        node, a, b = stack[n_waiting, 0], stack[n_waiting, 1], stack[n_waiting, 2]


@njit(cache=True, nogil=True)
def follow_leaving_changes(
    ground: Any, tree: Any, block: Any, n_rows: Any, room: Any, n_items: Any, sums: Any
) -> None:
    """Send the changes on that have left their rows, and add up what they and others change."""
    trees, single, mixed = ground.trees, ground.single, ground.mixed
    nodes, bits, leaves, target = trees.nodes, trees.bits, trees.leaves, trees.targets[tree]
    features, order, starts = ground.changes.features, ground.changes.order, ground.changes.starts
    codes, limits, changed = block.codes, block.limits, block.changed
    items, goes_on, before, last = room.items, room.nodes, room.before, room.last
    second, second_nodes, leaf_of = room.second, room.second_nodes, room.leaf_of
    outputs, sums_of = sums.outputs, sums.changes
    shift, row_bits = room.shift, (WALK_ONE << room.shift) - WALK_ONE
    for r in range(n_rows):
        last[r] = NO_EARLIER_CHANGE
    for i in range(n_items):
        item = items[i]
        r, c = item & row_bits, (item & WALK_LOW_HALF) >> shift
        earlier = before[i] = last[r]
        last[r] = i
        leaf, n_second = follow_one(
            nodes, bits, goes_on[i], features[c], item >> WALK_HALF_BITS, codes, limits, changed, r,
            starts, order, items, before, shift, earlier, second, second_nodes,
        )  # fmt: skip
        own, sign = np.uint64(leaf_of[r]), sign_of(c)
        add(leaves, leaf, own, sign, outputs, target, sums_of, single[c], r)
        while earlier != NO_EARLIER_CHANGE:
            other = (items[earlier] & WALK_LOW_HALF) >> shift
            signs = -sign * sign_of(other)
            add(leaves, leaf, own, signs, outputs, target, sums_of, np.uint64(mixed[other, c]), r)
            earlier = before[earlier]
        for k in range(n_second):
            other = second[k]
            end = follow_two(
                nodes, bits, second_nodes[k], features[c], item >> WALK_HALF_BITS,
                features[other], changed[other, r] & WALK_LOW_HALF, codes, r,
            )  # fmt: skip
            signs = sign * sign_of(other)
            add(leaves, end, leaf, signs, outputs, target, sums_of, np.uint64(mixed[c, other]), r)


@njit(nogil=True, inline="always")
def sign_of(change: Any) -> Any:
    """Low values count against high ones."""
    return np.int64(2) * np.int64(change & WALK_ONE) - np.int64(1)


@njit(nogil=True, inline="always")
def add(
    leaves: Any,
    new: Any,
    old: Any,
    sign: Any,
    outputs: Any,
    target: Any,
    sums: Any,
    slot: Any,
    r: Any,
) -> None:
    """Add the difference of two leaves."""
    for k in range(np.uint64(leaves.shape[1])):
        output = outputs[target + k]
        if output >= 0:
            sums[slot, np.uint64(output), r] += sign * (leaves[new, k] - leaves[old, k])


@njit(nogil=True, inline="always")
def follow_one(
    nodes: Any,
    bits: Any,
    start: Any,
    own: Any,
    own_code: Any,
    codes: Any,
    limits: Any,
    changed: Any,
    r: Any,
    starts: Any,
    order: Any,
    items: Any,
    before: Any,
    shift: Any,
    earlier: Any,
    second: Any,
    second_nodes: Any,
) -> Any:
    """Follow a change to its leaf, and list others that leave it on the way."""
    node, n_second = start, WALK_ZERO
    while nodes[node, 0] != LEAF:
        f, left = np.uint64(nodes[node, 0]), np.uint64(nodes[node, 3])
        low, width = np.uint64(nodes[node, 1]), np.uint64(nodes[node, 2])
        is_own = f == own
        code = own_code if is_own else np.uint64(codes[f, r])
        right = goes_right(code, low, width, bits)
        farthest = code if is_own else np.uint64(limits[f, r, right])
        if (width == IN_SET) | (goes_right(farthest, low, width, bits) != right):
            for k in range(starts[f], starts[f + WALK_ONE] if not is_own else starts[f]):
                other = order[k]
                to = goes_right(changed[other, r] & WALK_LOW_HALF, low, width, bits)
                if to != right and not (
                    has_left(items, before, shift, earlier, other)
                    or is_listed(second, n_second, other)
                ):
                    second[n_second], second_nodes[n_second] = other, left + to
                    n_second += WALK_ONE
        node = left + right
    return np.uint64(nodes[node, 3]), n_second


@njit(cache=True, nogil=True)
def has_left(items: Any, before: Any, shift: Any, earlier: Any, change: Any) -> Any:
    """Tell whether a change has left the row before another did."""
    while earlier != NO_EARLIER_CHANGE:
        if (items[earlier] & WALK_LOW_HALF) >> shift == change:
            return True
        earlier = before[earlier]
    return False


@njit(cache=True, nogil=True)
def is_listed(second: Any, n_second: Any, change: Any) -> Any:
    """Tell whether a change has left another before."""
    found = False
    for k in range(n_second):
        found |= second[k] == change
    return found


@njit(nogil=True, inline="always")
def follow_two(
    nodes: Any,
    bits: Any,
    start: Any,
    one: Any,
    code_one: Any,
    two: Any,
    code_two: Any,
    codes: Any,
    r: Any,
) -> Any:
    """Follow two changes to their leaf."""
    node = start
    while nodes[node, 0] != LEAF:
        f, left = np.uint64(nodes[node, 0]), np.uint64(nodes[node, 3])
        low, width = np.uint64(nodes[node, 1]), np.uint64(nodes[node, 2])
        code = np.uint64(codes[f, r])
        code = code_one if f == one else (code_two if f == two else code)
        node = left + goes_right(code, low, width, bits)
    return np.uint64(nodes[node, 3])


# --- Sums of pairs of features in trees, also behind a link


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
