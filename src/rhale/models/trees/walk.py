"""Walk trees once per row, and predict for every changed column on the way (numba)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rhale.models.trees.forest import (
    CATEGORY,
    FIRST_CATEGORY,
    IN_SET,
    LEAF,
    LIGHTGBM_ZERO,
    MISSING_CODE,
    OTHER,
    ROUNDED_TO_ZERO,
    ZERO_IS_MISSING,
    Forest,
)
from rhale.stats.arrays import FloatArray, IntArray
from rhale.stats.jit import INNER_FUNCTION_OPTIONS, njit, will_compile, writable
from rhale.system import LOG

# Rows that walk together: enough that few lists are short, few enough for the processor's cache.
MIN_WALK_BLOCK_ROWS, MAX_WALK_BLOCK_ROWS, ANSWERS_AT_ONCE = 16, 2**11, 2**20
NO_CODE_LIMIT = 2**31
WALK_ZERO, WALK_ONE, WALK_HALF_BITS = np.uint64(0), np.uint64(1), np.uint64(32)
WALK_LOW_HALF = np.uint64(2**32 - 1)
# Indices are unsigned throughout: numba then leaves out the code for negative ones.


class Trees(NamedTuple):
    """The trees of a forest."""

    nodes: Any
    bits: Any
    roots: Any
    targets: Any
    leaves: Any
    depth: Any


class Coding(NamedTuple):
    """How a forest turns values into codes."""

    cuts: Any
    cut_starts: Any
    kinds: Any
    is_single: Any


class FeatureChanges(NamedTuple):
    """What is replaced: `order[starts[f] : starts[f + 1]]` are the changes of feature f."""

    features: Any
    order: Any
    starts: Any


class LeafSums(NamedTuple):
    """What the leaves add up to: whole numbers of a unit first, answers on the same memory then."""

    base: Any
    unit: Any
    whole: Any
    answers: Any


class CodedBlock(NamedTuple):
    """Rows that walk together.

    Attributes
    ----------
    codes : ndarray of shape (n_features, n_rows)
        Codes of the rows.
    limits : ndarray of shape (n_features, n_rows, 2)
        Largest and smallest code of the row and its changes.
    changed : ndarray of shape (n_changes, n_rows)
        Codes of the changes in the lower half; in the upper half the last tree in which the
        change has left the row's path.
    can_leave : ndarray of shape (2, n_changes)
        Whether a change may leave the path of a row that goes left, and of one that goes right.
    x, code : ndarrays of shape (n_rows,)
        Room for values of one column and their codes.
    """

    codes: Any
    limits: Any
    changed: Any
    can_leave: Any
    x: Any
    code: Any


class WalkBuffers(NamedTuple):
    """Room for the rows at a node, for changes that have left their row's path, and for both ends.

    `total` has room for the sums of rows as they are.

    A change on its way is one number: its code in the upper half, then the change, then the row
    in the lowest `shift` bits. At its end the leaf stands in place of the code.
    """

    rows: Any
    left_rows: Any
    leaving: Any
    away: Any
    left_away: Any
    ended: Any
    leaf_of: Any
    stack: Any
    total: Any
    shift: Any


def walk(
    forest: Forest,
    rows: FloatArray,
    features: IntArray,
    values: FloatArray,
    base: FloatArray,
) -> FloatArray:
    """Sum the leaves of every row, once for each change of one feature.

    Parameters
    ----------
    forest : Forest
        The trees.
    rows : ndarray of shape (n_rows, n_features)
        The rows.
    features : ndarray of shape (n_changes,)
        The feature that each change replaces; negative for one that no tree sees.
    values : ndarray of shape (n_changes, n_rows)
        What it is replaced by.
    base : ndarray of shape (n_outputs,)
        What is added to the sums.

    Returns
    -------
    ndarray of shape (n_changes, n_rows, n_outputs)

    Notes
    -----
    The rows of a block go down a tree together: each node sorts its rows into those that go left
    and those that go right. Where a split sends a changed value to the other side, that change
    goes on alone from there, and adds the difference of the two leaves; it leaves the row's path
    at most once per tree. Trees without a split on the feature on the path cost nothing. A node
    is read once for all that pass it, and the loops over its lists have no branches that a
    processor could guess wrong. O(rows x trees x depth), plus the ways of the changes that leave;
    memory O(block) beside the answers.
    """
    n_changes, n_rows = len(features), len(rows)
    order = np.argsort(features, kind="stable")
    starts = np.searchsorted(features[order], np.arange(forest.n_features + 1))
    changes = FeatureChanges(*(one.astype(np.uint64) for one in (features, order, starts)))
    trees, coding = extract_forest_arrays(forest)
    answers = np.zeros((n_changes, n_rows, forest.n_outputs))
    sums = LeafSums(base, np.ldexp(1.0, -forest.exponent), answers.view(np.int64), answers)
    if will_compile(walk_change_trees):
        LOG.warning("compiling the code for trees, for this and later calls (some seconds)")
    most = min(max(ANSWERS_AT_ONCE // max(n_changes, 1), MIN_WALK_BLOCK_ROWS), MAX_WALK_BLOCK_ROWS)
    most = min(most, max(n_rows, 1))
    block, lists = (
        allocate_coded_block(forest.n_features, n_changes, most),
        allocate_walk_buffers(n_changes, most, forest),
    )
    inputs = writable(rows), writable(values)
    for begin in range(0, n_rows, most):
        end = min(begin + most, n_rows)
        encode_block(coding, changes, *inputs, begin, end, block)
        walk_change_trees(trees, changes, block, lists, begin, end, sums)
    return answers


def extract_forest_arrays(forest: Forest) -> tuple[Trees, Coding]:
    """What compiled functions take of a forest."""
    return (
        Trees(forest.nodes, forest.bits, forest.roots, forest.targets, forest.leaves, forest.depth),
        Coding(forest.cuts, forest.cut_starts, forest.kinds, forest.is_single),
    )


def allocate_coded_block(n_features: int, n_changes: int, n_rows: int) -> CodedBlock:
    """Room for the codes of some rows."""
    return CodedBlock(
        np.zeros((n_features, n_rows), np.uint32),
        np.zeros((n_features, n_rows, 2), np.uint32),
        np.zeros((n_changes, n_rows), np.uint64),
        np.zeros((2, n_changes), np.bool_),
        np.empty(n_rows),
        np.empty(n_rows, np.uint32),
    )


def allocate_walk_buffers(n_changes: int, n_rows: int, forest: Forest) -> WalkBuffers:
    """Room for what is on its way; one place more than needed, for what is not kept."""
    return WalkBuffers(
        np.empty(n_rows, np.uint32),
        np.empty(n_rows + 1, np.uint32),
        np.empty((2, n_rows + 1), np.uint32),
        np.empty(n_rows * n_changes + 1, np.uint64),
        np.empty(n_rows * n_changes + 1, np.uint64),
        np.empty(n_rows * n_changes, np.uint64),
        np.empty(n_rows, np.uint32),
        np.empty((forest.depth + 1, 5), np.uint64),
        np.empty((n_rows, forest.n_outputs), np.int64),
        np.uint64((n_rows - 1).bit_length()),
    )


# Compiled functions below assign number by number and are called by no other, or few: numba takes
# seconds for the assignment of an array to a slice, and compiles a function again with each caller.


@njit(cache=True, nogil=True)
def encode_block(
    coding: Any, changes: Any, rows: Any, values: Any, begin: Any, end: Any, block: Any
) -> None:
    """Write the codes of rows and of their changes, and how far these reach."""
    n_rows = end - begin
    x, code = block.x[:n_rows], block.code[:n_rows]
    for f in range(len(coding.kinds)):
        cuts = coding.cuts[coding.cut_starts[f] : coding.cut_starts[f + 1]]
        if len(cuts) == 0:
            continue
        kind, own, limits = coding.kinds[f], block.codes[f], block.limits[f]
        for r in range(n_rows):
            x[r] = rows[begin + r, f]
        encode(x, cuts, kind, coding.is_single, code)
        for r in range(n_rows):
            own[r] = limits[r, 0] = limits[r, 1] = code[r]
        for i in range(changes.starts[f], changes.starts[f + 1]):
            c = changes.order[i]
            for r in range(n_rows):
                x[r] = values[c, begin + r]
            encode(x, cuts, kind, coding.is_single, code)
            is_above, is_below = kind == CATEGORY, kind == CATEGORY
            for r in range(n_rows):
                block.changed[c, r] = (WALK_LOW_HALF << WALK_HALF_BITS) | np.uint64(code[r])
                limits[r, 0], limits[r, 1] = max(limits[r, 0], code[r]), min(limits[r, 1], code[r])
                is_missing = (code[r] == MISSING_CODE) | (own[r] == MISSING_CODE)
                is_above |= (code[r] > own[r]) | is_missing
                is_below |= (code[r] < own[r]) | is_missing
            block.can_leave[0, c], block.can_leave[1, c] = is_above, is_below
        for r in range(n_rows):
            if limits[r, 1] == MISSING_CODE and kind != CATEGORY:
                limits[r, 0], limits[r, 1] = NO_CODE_LIMIT, 1  # missing has no place in the order


@njit(cache=True, nogil=True)
def encode(x: Any, cuts: Any, kind: Any, is_single: Any, code: Any) -> None:
    """Turn values into codes: how many cuts lie at or below them, and what that means.

    All values take the same steps of the same binary search, so the loop can be vectorised.
    """
    if is_single:
        for r in range(len(x)):
            x[r] = np.float64(np.float32(x[r]))
    if kind == ROUNDED_TO_ZERO:
        for r in range(len(x)):
            x[r] = 0.0 if abs(x[r]) <= LIGHTGBM_ZERO else x[r]
    if kind == CATEGORY:  # one cut: the number of known ones
        for r in range(len(x)):
            known = x[r] > -1.0 and x[r] < cuts[0]
            code[r] = np.int64(x[r]) + FIRST_CATEGORY if known else OTHER
    else:
        for r in range(len(x)):
            code[r] = 0
        n = np.uint64(len(cuts))
        while n > 0:
            half = (n + WALK_ONE) >> WALK_ONE
            for r in range(len(x)):
                here = np.uint64(code[r])
                code[r] = here + (half if cuts[here + half - WALK_ONE] <= x[r] else np.uint64(0))
            n -= half
        for r in range(len(x)):
            code[r] += 1
    for r in range(len(x)):
        is_missing = np.isnan(x[r]) or (kind == ZERO_IS_MISSING and abs(x[r]) <= LIGHTGBM_ZERO)
        code[r] = MISSING_CODE if is_missing else code[r]


@njit(**INNER_FUNCTION_OPTIONS)
def goes_right(code: Any, low: Any, width: Any, bits: Any) -> Any:
    """Tell where a split sends a code: 0 left, 1 right; without a branch for thresholds."""
    if width != IN_SET:
        return np.uint64(code - low >= width)
    word = np.uint64(bits[low + (code >> np.uint64(5))])
    return WALK_ONE - ((word >> (code & np.uint64(31))) & WALK_ONE)


@njit(cache=True, nogil=True)
def walk_change_trees(
    trees: Any, changes: Any, block: Any, lists: Any, begin: Any, end: Any, sums: Any
) -> None:
    """Fill `sums` of a block of rows, which are zero, tree after tree."""
    base, unit, whole, answers = sums.base, sums.unit, sums.whole, sums.answers
    total, n_rows, n_outputs = lists.total, end - begin, len(base)
    for r in range(n_rows):
        for k in range(n_outputs):
            total[r, k] = 0
    for tree in range(len(trees.roots)):
        n_ended = walk_change_tree(trees, tree, changes, block, n_rows, lists)
        add_change_leaves(trees, tree, begin, n_rows, lists, n_ended, whole)
    for c in range(len(whole)):
        for r in range(n_rows):
            for k in range(n_outputs):
                answers[c, begin + r, k] = base[k] + unit * (total[r, k] + whole[c, begin + r, k])


@njit(**INNER_FUNCTION_OPTIONS)
def walk_change_tree(
    trees: Any, tree: Any, changes: Any, block: Any, n_rows: Any, lists: Any
) -> Any:
    """Send rows down a tree, left side first; list the changes that end in other leaves.

    The rows of a node lie at `rows[a:b]`, changes that pass it without their row at `away[s:e]`;
    what goes right moves to the front of these places, what goes left behind it.
    """
    nodes, bits = trees.nodes, trees.bits  # arrays by their own names: numba counts references
    codes, limits, changed, can_leave = block.codes, block.limits, block.changed, block.can_leave
    features, order, starts = changes.features, changes.order, changes.starts
    rows, left_rows, leaving, stack = lists.rows, lists.left_rows, lists.leaving, lists.stack
    away, left_away, ended, leaf_of = lists.away, lists.left_away, lists.ended, lists.leaf_of
    shift, now = lists.shift, np.uint64(tree) << WALK_HALF_BITS
    for r in range(n_rows):
        rows[r] = r
    node, a, b, s, e = (
        np.uint64(trees.roots[tree]),
        WALK_ZERO,
        np.uint64(n_rows),
        WALK_ZERO,
        WALK_ZERO,
    )
    n_ended, n_waiting = WALK_ZERO, WALK_ZERO
    while True:
        f, left = np.uint64(nodes[node, 0]), np.uint64(nodes[node, 3])
        low, width = np.uint64(nodes[node, 1]), np.uint64(nodes[node, 2])
        if f == LEAF:
            for i in range(a, b):
                leaf_of[rows[i]] = left
            for i in range(s, e):
                ended[n_ended] = (left << WALK_HALF_BITS) | (away[i] & WALK_LOW_HALF)
                n_ended += WALK_ONE
        else:
            middle, n_from_left, n_from_right = partition_block_rows(
                f, low, width, bits, codes, limits, a, b, rows, left_rows, leaving
            )
            end, n_left = partition_changes(
                f, low, width, bits, codes, features, shift, s, e, away, left_away
            )
            end = leave(
                f, low, width, bits, WALK_ZERO, starts, order, can_leave, leaving, n_from_left,
                changed, now, shift, away, end,
            )  # fmt: skip
            n_left = leave(
                f, low, width, bits, WALK_ONE, starts, order, can_leave, leaving, n_from_right,
                changed, now, shift, left_away, n_left,
            )  # fmt: skip
            for i in range(n_left):
                away[end + i] = left_away[i]
            if middle > a or end > s:
                stack[n_waiting, 0] = left + WALK_ONE
                stack[n_waiting, 1], stack[n_waiting, 2] = a, middle
                stack[n_waiting, 3], stack[n_waiting, 4] = s, end
                n_waiting += WALK_ONE
            if b > middle or n_left > 0:
                node, a, s, e = left, middle, end, end + n_left
                continue
        if n_waiting == 0:
            return n_ended
        n_waiting -= WALK_ONE
        node, a, b = stack[n_waiting, 0], stack[n_waiting, 1], stack[n_waiting, 2]
        s, e = stack[n_waiting, 3], stack[n_waiting, 4]


@njit(nogil=True, inline="always")
def partition_block_rows(
    f: Any,
    low: Any,
    width: Any,
    bits: Any,
    codes: Any,
    limits: Any,
    start: Any,
    end: Any,
    rows: Any,
    left_rows: Any,
    leaving: Any,
) -> Any:
    """Sort rows by the side they go to, and list those whose changes may go to the other."""
    is_set = np.uint64(width == IN_SET)
    place, n_left, n_from_left, n_from_right = start, WALK_ZERO, WALK_ZERO, WALK_ZERO
    for i in range(start, end):
        r = np.uint64(rows[i])
        right = goes_right(np.uint64(codes[f, r]), low, width, bits)
        farthest = np.uint64(limits[f, r, right])
        leaves = is_set | (right ^ goes_right(farthest, low, width, bits))
        leaving[0, n_from_left] = leaving[1, n_from_right] = r
        n_from_left += leaves & (WALK_ONE - right)
        n_from_right += leaves & right
        rows[place] = left_rows[n_left] = r
        place += right
        n_left += WALK_ONE - right
    for i in range(n_left):
        rows[place + i] = left_rows[i]
    return place, n_from_left, n_from_right


@njit(nogil=True, inline="always")
def partition_changes(
    f: Any,
    low: Any,
    width: Any,
    bits: Any,
    codes: Any,
    features: Any,
    shift: Any,
    start: Any,
    end: Any,
    away: Any,
    left_away: Any,
) -> Any:
    """Sort changes that have left their row's path by the side they go to."""
    row_bits = (WALK_ONE << shift) - WALK_ONE
    place, n_left = start, WALK_ZERO
    for i in range(start, end):
        item = away[i]
        code = np.uint64(codes[f, item & row_bits])
        code = item >> WALK_HALF_BITS if features[(item & WALK_LOW_HALF) >> shift] == f else code
        right = goes_right(code, low, width, bits)
        away[place] = left_away[n_left] = item
        place += right
        n_left += WALK_ONE - right
    return place, n_left


@njit(nogil=True, inline="always")
def leave(
    f: Any,
    low: Any,
    width: Any,
    bits: Any,
    right: Any,
    starts: Any,
    order: Any,
    can_leave: Any,
    leaving: Any,
    n_leaving: Any,
    changed: Any,
    now: Any,
    shift: Any,
    away: Any,
    n_away: Any,
) -> Any:
    """List the changes that leave the paths of rows here, unless they have left before."""
    n_changes = starts[f + WALK_ONE] if n_leaving > 0 else starts[f]
    for k in range(starts[f], n_changes):
        c = order[k]
        if can_leave[right, c]:
            for i in range(n_leaving):
                r = np.uint64(leaving[right, i])
                change = changed[c, r]
                code = change & WALK_LOW_HALF
                leaves = (goes_right(code, low, width, bits) != right) & (change - code != now)
                away[n_away] = (code << WALK_HALF_BITS) | (c << shift) | r
                n_away += np.uint64(leaves)
                changed[c, r] = now | code if leaves else change
    return n_away


@njit(**INNER_FUNCTION_OPTIONS)
def add_change_leaves(
    trees: Any, tree: Any, begin: Any, n_rows: Any, lists: Any, n_ended: Any, moved: Any
) -> None:
    """Add what the leaves hold: to one output, or to all of them."""
    leaves, leaf_of, target = trees.leaves, lists.leaf_of, trees.targets[tree]
    ended, total, shift = lists.ended, lists.total, lists.shift
    row_bits, first = (WALK_ONE << shift) - WALK_ONE, np.uint64(begin)
    for k in range(leaves.shape[1]):
        for r in range(n_rows):
            total[r, target + k] += leaves[np.uint64(leaf_of[r]), k]
        for i in range(n_ended):
            item = ended[i]
            r, c = item & row_bits, (item & WALK_LOW_HALF) >> shift
            old = leaves[np.uint64(leaf_of[r]), k]
            moved[c, first + r, target + k] += leaves[item >> WALK_HALF_BITS, k] - old
