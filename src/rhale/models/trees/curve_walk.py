"""Curves of rows along features of trees: one walk finds those of all features (numba)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rhale.models.trees.forest import LEAF, Forest
from rhale.models.trees.leaf_dependences import (
    BITS_PER_WORD,
    NO_BITS,
    ONE_BIT,
    fill_bits,
    lowest_bit,
)
from rhale.models.trees.walk import (
    WALK_HALF_BITS,
    WALK_LOW_HALF,
    Coding,
    LeafSums,
    Trees,
    encode,
    goes_right,
)
from rhale.stats.arrays import FloatArray, IntArray
from rhale.stats.jit import njit, will_compile
from rhale.system import LOG

MAX_CURVE_BLOCK_ROWS = 2**9  # that walk together: their curves are to stay in the processor's cache


@dataclass(frozen=True, eq=False)
class CurveQuestion:
    """Along which features of the trees, and at which values.

    Attributes
    ----------
    features : ndarray of shape (n_held,)
        Features, each once; negative for one that no tree sees.
    points : sequence of ndarray of shape (n_points,)
        Values as the trees see them, of each feature.
    """

    features: IntArray
    points: Sequence[FloatArray]


class Points(NamedTuple):
    """The points of all features.

    Attributes
    ----------
    held_of : ndarray of shape (n_features,)
        Place of a feature among those that are held, or -1.
    starts : ndarray of shape (n_held + 1,)
        Where the points of a feature begin; behind the last of each is room for one more.
    everything : ndarray of shape (n_held, n_words)
        All points of a feature, as bits.
    left : ndarray of shape (n_nodes, n_words)
        Points that a split sends left.
    """

    held_of: Any
    starts: Any
    everything: Any
    left: Any


class Way(NamedTuple):
    """Which points come as far as the node of each level, by the features that were asked for.

    Attributes
    ----------
    n_asked : ndarray of shape (n_levels,)
        Held features that splits on the way ask for.
    held, source : ndarray of shape (n_levels, most)
        Which, and the level where the set of their points is written.
    allowed : ndarray of shape (n_levels, n_words)
        Such sets, as bits.
    node, split : ndarray of shape (n_levels,)
        The node, and the held feature that it asks for itself, or -1.
    """

    n_asked: Any
    held: Any
    source: Any
    allowed: Any
    node: Any
    split: Any


class CurveBuffers(NamedTuple):
    """Room for rows on their way, by themselves or with one feature held, and for where they end.

    Rows that come to a node by themselves lie at `rows[a:b]`. Rows that come with a feature held
    lie at `away[s:e]`, the feature in the upper half of the number. At one node a row is in one
    of the two, at most once: it fails one feature's conditions, or none.
    """

    rows: Any
    left_rows: Any
    away: Any
    left_away: Any
    stack: Any
    marks: Any
    n_marks: Any
    first_of: Any
    place_of: Any
    leaf_of: Any
    ended: Any


class CurveSplit(NamedTuple):
    """What a node asks of rows, and which sides the points of its feature go to, if it is held."""

    low: Any
    width: Any
    bits: Any
    codes: Any
    held: Any
    some_left: Any
    some_right: Any


class CurveBlock(NamedTuple):
    """Rows that walk together: their codes, their sums, and how many come before them."""

    codes: Any
    total: Any
    begin: Any
    n_rows: Any
    n_all: Any


def walk_curves(
    forest: Forest, rows: FloatArray, question: CurveQuestion, base: FloatArray
) -> list[FloatArray]:
    """Sum the leaves of every row with one feature held at each of some points.

    Parameters
    ----------
    forest : Forest
        The trees.
    rows : ndarray of shape (n_rows, n_features)
        The rows.
    question : CurveQuestion
        Features and points.
    base : ndarray of shape (n_outputs,)
        What is added to the sums.

    Returns
    -------
    list of ndarray of shape (n_rows, n_points, n_outputs)
        One for each feature; the numbers of `walk`, to the last bit.

    Notes
    -----
    All rows have the same points, so which points a node lets pass does not depend on the row: a
    row that fails the conditions of one feature brings all of them along as one. It adds what its
    leaf differs by to a stretch of the row's curve, at whose ends two steps are written; curves
    are sums of steps. O(rows x trees x (depth + leaves that one feature leads to)), and the
    answers.
    """
    sizes = np.array([own.size for own in question.points], dtype=np.int64)
    starts = np.append(0, np.cumsum(sizes + 1))
    whole = np.zeros(len(rows) * int(starts[-1]) * forest.n_outputs, np.int64)
    answers = whole.view(np.float64)
    if will_compile(walk_blocks):
        LOG.warning("compiling the code for tree curves, for this and later calls (some seconds)")
    trees = Trees(
        forest.nodes, forest.bits, forest.roots, forest.targets, forest.leaves, forest.depth
    )
    points = find_points(trees, forest, question, starts)
    walk_blocks(
        trees,
        Coding(forest.cuts, forest.cut_starts, forest.kinds, forest.is_single),
        points,
        rows,
        LeafSums(base, np.ldexp(1.0, -forest.exponent), whole, answers),
        make_way(forest.depth + 1, points),
        allocate_curve_buffers(min(MAX_CURVE_BLOCK_ROWS, max(len(rows), 1)), forest, points),
    )
    parts = np.split(answers, starts[1:-1] * len(rows) * forest.n_outputs)
    return [
        part.reshape(len(rows), size + 1, forest.n_outputs)[:, :-1]
        for part, size in zip(parts, sizes, strict=True)
    ]


def find_points(trees: Trees, forest: Forest, question: CurveQuestion, starts: IntArray) -> Points:
    """Where points are, and where splits send them."""
    held_of = np.full(forest.n_features, -1, dtype=np.int64)
    codes = np.zeros(int(starts[-1]), np.uint32)
    n_words = -(-int(np.diff(starts).max(initial=1)) // BITS_PER_WORD)
    everything = np.zeros((len(starts) - 1, n_words), np.uint64)
    left = np.zeros((len(forest.nodes), n_words), np.uint64)
    for held, (feature, own) in enumerate(zip(question.features, question.points, strict=True)):
        fill_bits(everything[held], own.size)
        if feature < 0:
            continue
        held_of[feature] = held
        cuts = forest.cuts[forest.cut_starts[feature] : forest.cut_starts[feature + 1]]
        if cuts.size:
            part = codes[starts[held] : starts[held + 1] - 1]
            encode(np.array(own), cuts, forest.kinds[feature], forest.is_single, part)
    points = Points(held_of, starts, everything, left)
    split_points(trees, points, codes)
    return points


def make_way(n_levels: int, points: Points) -> Way:
    """Room for a way through a tree; its beginning asks for nothing."""
    n_held, n_words = points.everything.shape
    most = max(min(n_levels, n_held), 1)
    return Way(
        n_asked=np.zeros(n_levels, np.int64),
        held=np.zeros((n_levels, most), np.int64),
        source=np.zeros((n_levels, most), np.int64),
        allowed=np.zeros((n_levels, n_words), np.uint64),
        node=np.zeros(n_levels, np.int64),
        split=np.zeros(n_levels, np.int64),
    )


def allocate_curve_buffers(n_rows: int, forest: Forest, points: Points) -> CurveBuffers:
    """Room for rows on their way: those of a node, and of the nodes that wait."""
    n_held, n_words = points.everything.shape
    most = max(min(forest.depth + 1, n_held), 1)
    runs = 1 + (n_words * BITS_PER_WORD // 2 if forest.bits.size else 0)
    n_ends = min(int(points.starts[-1]), runs * count_largest_tree_leaves(forest))
    return CurveBuffers(
        rows=np.empty(n_rows, np.int64),
        left_rows=np.empty(n_rows + 1, np.int64),
        away=np.empty(n_rows * (forest.depth + 2) + 1, np.uint64),
        left_away=np.empty(n_rows + 1, np.uint64),
        stack=np.empty((forest.depth + 2, 6), np.int64),
        marks=np.empty((most, n_words * BITS_PER_WORD + 2), np.int64),
        n_marks=np.empty(most, np.int64),
        first_of=np.empty(most, np.int64),
        place_of=np.empty(max(n_held, 1), np.int64),
        leaf_of=np.empty(n_rows, np.int64),
        ended=np.empty((n_rows * n_ends, 3), np.int64),
    )


def count_largest_tree_leaves(forest: Forest) -> int:
    """Leaves of the largest tree."""
    is_leaf = np.append(0, np.cumsum(forest.nodes[:, 0] == LEAF))
    limits = np.append(np.sort(forest.roots), len(forest.nodes))
    return int(np.diff(is_leaf[limits]).max(initial=1))


@njit(cache=True, nogil=True)
def split_points(trees: Any, points: Any, codes: Any) -> None:
    """Write which points every split sends left."""
    for node in range(len(trees.nodes)):
        feature = np.int64(trees.nodes[node, 0])
        held = points.held_of[feature] if feature != LEAF else -1
        if held < 0:
            continue
        low, width = np.uint64(trees.nodes[node, 1]), np.uint64(trees.nodes[node, 2])
        start = points.starts[held]
        for i in range(points.starts[held + 1] - start - 1):
            right = goes_right(np.uint64(codes[start + i]), low, width, trees.bits)
            points.left[node, i // BITS_PER_WORD] |= (ONE_BIT - right) << np.uint64(
                i % BITS_PER_WORD
            )


@njit(cache=True, nogil=True)
def walk_blocks(
    trees: Any, coding: Any, points: Any, rows: Any, sums: Any, way: Any, lists: Any
) -> None:
    """Fill `sums`: block after block of rows, and tree after tree for each."""
    most = len(lists.rows)
    codes = np.zeros((len(coding.kinds), most), np.uint32)
    total = np.empty((most, len(sums.base)), np.int64)
    for begin in range(0, len(rows), most):
        block = CurveBlock(codes, total, begin, min(most, len(rows) - begin), len(rows))
        encode_rows(coding, rows[begin : begin + most], codes)
        total[:] = 0
        for tree in range(len(trees.roots)):
            n_ended = walk_curve_tree(trees, tree, points, block, way, lists)
            add_curve_leaves(trees, tree, block, lists, n_ended, sums.whole)
        accumulate_curves(points, sums, block)


@njit(cache=True, nogil=True)
def encode_rows(coding: Any, rows: Any, codes: Any) -> None:
    """Write the codes of rows."""
    x = np.empty(len(rows))
    for f in range(len(coding.kinds)):
        cuts = coding.cuts[coding.cut_starts[f] : coding.cut_starts[f + 1]]
        if len(cuts) > 0:
            x[:] = rows[:, f]
            encode(x, cuts, coding.kinds[f], coding.is_single, codes[f, : len(rows)])


@njit(cache=True, nogil=True)
def walk_curve_tree(trees: Any, tree: Any, points: Any, block: Any, way: Any, lists: Any) -> Any:
    """Send rows down a tree, by themselves and with one feature held; list where the latter end.

    What goes right moves to the front of its places, what goes left behind it.
    """
    nodes, rows, away, stack = trees.nodes, lists.rows, lists.away, lists.stack
    for r in range(block.n_rows):
        rows[r] = r
    node, level, side = trees.roots[tree], np.int64(0), np.int64(0)
    a, b, s, e = np.int64(0), np.int64(block.n_rows), np.int64(0), np.int64(0)
    n_waiting, n_ended = 0, np.int64(0)
    while True:
        if level > 0:
            enter_point_branch(way, level, side, points)
        below = np.int64(nodes[node, 3])
        if nodes[node, 0] == LEAF:
            for i in range(a, b):
                lists.leaf_of[rows[i]] = below
            if e > s:
                find_stretches(way, level, points, block, lists)
                n_ended = list_ends(below, away[s:e], points, block, lists, n_ended)
        else:
            split = find_split(trees, node, points, block, way, level)
            stop, n_left = partition_varied_rows(split, s, e, away, lists.left_away)
            middle = partition_curve_rows(split, a, b, rows, lists.left_rows)
            # with the feature held, rows go to the other side, too
            stop = append_varied_rows(rows[middle:b], split.held, split.some_right, away, stop)
            last = stop
            for i in range(n_left):
                away[last] = lists.left_away[i]
                last += 1
            last = append_varied_rows(rows[a:middle], split.held, split.some_left, away, last)
            if middle > a or stop > s:
                stack[n_waiting, 0], stack[n_waiting, 1] = below + 1, level + 1
                stack[n_waiting, 2], stack[n_waiting, 3] = a, middle
                stack[n_waiting, 4], stack[n_waiting, 5] = s, stop
                n_waiting += 1
            if b > middle or last > stop:
                node, level, side, a, s, e = below, level + 1, np.int64(0), middle, stop, last
                continue
        if n_waiting == 0:
            return n_ended
        n_waiting -= 1
        node, level, side = stack[n_waiting, 0], stack[n_waiting, 1], np.int64(1)
        a, b = stack[n_waiting, 2], stack[n_waiting, 3]
        s, e = stack[n_waiting, 4], stack[n_waiting, 5]


@njit(cache=True, nogil=True, inline="always")
def partition_varied_rows(split: Any, start: Any, end: Any, away: Any, left_away: Any) -> Any:
    """Sort rows with a feature held by their side: to both, if the split asks for this feature."""
    codes, low, width, bits = split.codes, split.low, split.width, split.bits
    held, some_left, some_right = split.held, split.some_left, split.some_right
    place, n_left = start, np.int64(0)
    for i in range(start, end):
        item = away[i]
        right = np.int64(goes_right(np.uint64(codes[item & WALK_LOW_HALF]), low, width, bits))
        is_held = np.int64(item >> WALK_HALF_BITS) == held
        away[place] = left_away[n_left] = item
        place += some_right if is_held else right
        n_left += some_left if is_held else 1 - right
    return place, n_left


@njit(cache=True, nogil=True, inline="always")
def partition_curve_rows(split: Any, start: Any, end: Any, rows: Any, left_rows: Any) -> Any:
    """Sort rows by the side they go to by themselves; tell where those that go left begin."""
    codes, low, width, bits = split.codes, split.low, split.width, split.bits
    middle, n_left = start, np.int64(0)
    for i in range(start, end):
        r = rows[i]
        right = np.int64(goes_right(np.uint64(codes[r]), low, width, bits))
        rows[middle] = left_rows[n_left] = r
        middle += right
        n_left += 1 - right
    for i in range(n_left):
        rows[middle + i] = left_rows[i]
    return middle


@njit(cache=True, nogil=True, inline="always")
def append_varied_rows(rows: Any, held: Any, some: Any, away: Any, n_away: Any) -> Any:
    """List rows with the feature of a split held, if any of its points go where they do not."""
    if some == 0:
        return n_away
    upper = np.uint64(held) << WALK_HALF_BITS
    for i in range(len(rows)):
        away[n_away] = upper | np.uint64(rows[i])
        n_away += 1
    return n_away


@njit(cache=True, nogil=True)
def find_place(way: Any, level: Any, held: Any) -> Any:
    """Place of a held feature among those that were asked for on the way; their number if none."""
    for t in range(way.n_asked[level]):
        if way.held[level, t] == held:
            return t
    return way.n_asked[level]


@njit(cache=True, nogil=True)
def find_split(trees: Any, node: Any, points: Any, block: Any, way: Any, level: Any) -> Any:
    """What a node asks for, and whether any points that come to it go left, and right."""
    feature = np.int64(trees.nodes[node, 0])
    held = points.held_of[feature]
    way.node[level], way.split[level] = node, held
    some_left, some_right = np.int64(0), np.int64(0)
    if held >= 0:
        place = find_place(way, level, held)
        come, left = points.everything[held], points.left[node]
        if place < way.n_asked[level]:
            come = way.allowed[way.source[level, place]]
        for w in range(len(left)):
            some_left |= np.int64((come[w] & left[w]) != NO_BITS)
            some_right |= np.int64((come[w] & ~left[w]) != NO_BITS)
    low, width = np.uint64(trees.nodes[node, 1]), np.uint64(trees.nodes[node, 2])
    return CurveSplit(low, width, trees.bits, block.codes[feature], held, some_left, some_right)


@njit(cache=True, nogil=True)
def enter_point_branch(way: Any, level: Any, side: Any, points: Any) -> None:
    """Go to one side of the split above, and write which of its points come along."""
    above = level - 1
    n_asked, held = way.n_asked[above], way.split[above]
    for t in range(n_asked):
        way.held[level, t], way.source[level, t] = way.held[above, t], way.source[above, t]
    if held >= 0:
        place = find_place(way, above, held)
        come, left = points.everything[held], points.left[way.node[above]]
        if place < n_asked:
            come = way.allowed[way.source[above, place]]
        allowed = way.allowed[level]
        for w in range(len(left)):
            allowed[w] = come[w] & (~left[w] if side == 1 else left[w])
        way.held[level, place], way.source[level, place] = held, level
        n_asked = max(n_asked, place + 1)
    way.n_asked[level] = n_asked


@njit(cache=True, nogil=True)
def find_stretches(way: Any, level: Any, points: Any, block: Any, lists: Any) -> None:
    """Find the stretches of curves that a leaf adds to, for each feature that was asked for."""
    starts = points.starts
    for t in range(way.n_asked[level]):
        held = way.held[level, t]
        lists.place_of[held] = t
        n_slots = starts[held + 1] - starts[held]
        lists.first_of[t] = starts[held] * block.n_all + block.begin * n_slots
        allowed = way.allowed[way.source[level, t]]
        lists.n_marks[t] = find_marks(allowed, n_slots - 1, lists.marks[t])


@njit(cache=True, nogil=True)
def list_ends(leaf: Any, away: Any, points: Any, block: Any, lists: Any, n_ended: Any) -> Any:
    """List what ends in a leaf: leaf and row, where its stretch begins, and where it ends."""
    starts, ended, n_outputs = points.starts, lists.ended, block.total.shape[1]
    marks, n_marks, first_of, place_of = lists.marks, lists.n_marks, lists.first_of, lists.place_of
    for i in range(len(away)):
        held, row = np.int64(away[i] >> WALK_HALF_BITS), np.int64(away[i] & WALK_LOW_HALF)
        t = place_of[held]
        first = first_of[t] + row * (starts[held + 1] - starts[held])
        for m in range(0, n_marks[t], 2):
            ended[n_ended, 0] = (leaf << 32) | row
            ended[n_ended, 1] = (first + marks[t, m]) * n_outputs
            ended[n_ended, 2] = (first + marks[t, m + 1]) * n_outputs
            n_ended += 1
    return n_ended


@njit(cache=True, nogil=True)
def find_marks(allowed: Any, n_points: Any, marks: Any) -> Any:
    """List where runs of points begin and where they end, in turns."""
    n_marks, before = 0, NO_BITS
    for w in range(len(allowed)):
        word = allowed[w]
        changes = word ^ ((word << ONE_BIT) | before)
        before = word >> np.uint64(BITS_PER_WORD - 1)
        while changes != NO_BITS:
            marks[n_marks] = w * BITS_PER_WORD + lowest_bit(changes)
            n_marks += 1
            changes &= changes - ONE_BIT
    marks[n_marks] = n_points  # where the last run ends, if that is behind the last word
    return n_marks + n_marks % 2


@njit(cache=True, nogil=True)
def add_curve_leaves(
    trees: Any, tree: Any, block: Any, lists: Any, n_ended: Any, whole: Any
) -> None:
    """Add what the leaves hold: to the rows, and to curves what another leaf differs by."""
    leaves, leaf_of, target, total = trees.leaves, lists.leaf_of, trees.targets[tree], block.total
    ended = lists.ended
    for k in range(leaves.shape[1]):
        output = target + k
        for r in range(block.n_rows):
            total[r, output] += leaves[leaf_of[r], k]
        for i in range(n_ended):
            leaf, row = ended[i, 0] >> 32, ended[i, 0] & 0xFFFFFFFF
            step = leaves[leaf, k] - leaves[leaf_of[row], k]
            whole[ended[i, 1] + output] += step
            whole[ended[i, 2] + output] -= step


@njit(cache=True, nogil=True)
def accumulate_curves(points: Any, sums: Any, block: Any) -> None:
    """Turn steps into curves, and whole numbers into answers on the same memory."""
    base, unit, whole, answers = sums.base, sums.unit, sums.whole, sums.answers
    n_outputs, starts = len(base), points.starts
    for held in range(len(starts) - 1):
        n_slots = starts[held + 1] - starts[held]
        for r in range(block.n_rows):
            first = (starts[held] * block.n_all + (block.begin + r) * n_slots) * n_outputs
            for k in range(n_outputs):
                running = block.total[r, k]
                for place in range(first + k, first + (n_slots - 1) * n_outputs, n_outputs):
                    running += whole[place]
                    answers[place] = base[k] + unit * running
