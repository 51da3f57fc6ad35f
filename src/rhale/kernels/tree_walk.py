"""Walk trees once per row, and answer for every changed column on the way (numba)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.forest import (
    CATEGORY,
    FIRST_CATEGORY,
    IN_SET,
    LEAF,
    MISSING,
    OTHER,
    ROUNDED_TO_ZERO,
    ZERO_IS_MISSING,
    Forest,
)

ROWS_AT_ONCE = 64  # their codes and sums stay in the processor's cache while trees pass by
NO_LIMIT = 2**31
NEAR_ZERO = float(np.float32(1e-35))  # LightGBM's zero


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def goes_right(code: Any, low: Any, width: Any, bits: Any) -> Any:
    """Tell where a split sends a code: 0 left, 1 right; without a branch for thresholds."""
    if width != IN_SET:
        return np.uint64(code - low >= width)
    word = np.uint64(bits[low + (code >> np.uint64(5))])
    return np.uint64(1) - ((word >> (code & np.uint64(31))) & np.uint64(1))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def encode(x: Any, cuts: Any, kind: Any, is_single: Any, place: Any) -> None:
    """Turn values into codes: how many cuts lie at or below them, and what that means.

    All values take the same steps of the same binary search, so the loop can be vectorised.
    """
    if is_single:
        for r in range(len(x)):
            x[r] = np.float64(np.float32(x[r]))
    if kind == ROUNDED_TO_ZERO:
        for r in range(len(x)):
            x[r] = 0.0 if abs(x[r]) <= NEAR_ZERO else x[r]
    if kind == CATEGORY:  # one cut: the number of known ones
        for r in range(len(x)):
            known = x[r] > -1.0 and x[r] < cuts[0]
            place[r] = np.int64(x[r]) + FIRST_CATEGORY if known else OTHER
    else:
        place[:] = 0
        n = np.uint64(len(cuts))
        while n > 0:
            half = (n + np.uint64(1)) >> np.uint64(1)
            for r in range(len(x)):
                here = np.uint64(place[r])
                place[r] = here + (
                    half if cuts[here + half - np.uint64(1)] <= x[r] else np.uint64(0)
                )
            n -= half
        for r in range(len(x)):
            place[r] += 1
    for r in range(len(x)):
        is_missing = np.isnan(x[r]) or (kind == ZERO_IS_MISSING and abs(x[r]) <= NEAR_ZERO)
        place[r] = MISSING if is_missing else place[r]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def encode_block(
    cuts: Any,
    cut_starts: Any,
    kinds: Any,
    is_single: Any,
    rows: Any,
    starts: Any,
    order: Any,
    values: Any,
    begin: Any,
    end: Any,
    codes: Any,
    changed: Any,
) -> None:
    """Write the codes of some rows (own, smallest, largest of the changes) and of the changes."""
    n_rows = end - begin
    x, place = np.empty(n_rows), np.empty(n_rows, np.uint32)
    for f in range(len(kinds)):
        own, kind = cuts[cut_starts[f] : cut_starts[f + 1]], kinds[f]
        if len(own) == 0:
            continue
        x[:] = rows[begin:end, f]
        encode(x, own, kind, is_single, place)
        for r in range(n_rows):
            codes[r, f, 0] = codes[r, f, 1] = codes[r, f, 2] = place[r]
        for c in range(starts[f], starts[f + 1]):
            x[:] = values[order[c], begin:end]
            encode(x, own, kind, is_single, place)
            for r in range(n_rows):
                changed[r, c] = place[r]
                codes[r, f, 1] = min(codes[r, f, 1], place[r])
                codes[r, f, 2] = max(codes[r, f, 2], place[r])
        for r in range(n_rows):
            if codes[r, f, 1] == MISSING and starts[f + 1] > starts[f]:
                codes[r, f, 1], codes[r, f, 2] = 1, NO_LIMIT  # missing has no place in the order


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def walk_rows(
    nodes: Any,
    bits: Any,
    roots: Any,
    targets: Any,
    leaves: Any,
    depth: Any,
    cuts: Any,
    cut_starts: Any,
    kinds: Any,
    is_single: Any,
    rows: Any,
    starts: Any,
    order: Any,
    values: Any,
    base: Any,
    block: Any,
    out: Any,
) -> None:
    """Fill `out`: for a block of rows, tree after tree, all rows one level further at a time."""
    n_changes, n_outputs, size = len(order), len(base), leaves.shape[1]
    codes = np.zeros((block, len(kinds), 3), np.uint32)
    changed = np.zeros((block, n_changes), np.uint32)
    total, moved = np.empty((block, n_outputs)), np.empty((block, n_changes, n_outputs))
    stamp = np.empty((block, n_changes), np.uint32)
    at, active = np.empty(block, np.uint32), np.empty(block * max(n_changes, 1), np.uint32)
    met_row = np.empty(block * (depth + 1) + 1, np.uint32)
    met_node = np.empty(block * (depth + 1) + 1, np.uint32)
    item_row = np.empty(block * n_changes + 1, np.uint32)
    item_change = np.empty(block * n_changes + 1, np.uint32)
    item_feature = np.empty(block * n_changes + 1, np.uint32)
    item_code = np.empty(block * n_changes + 1, np.uint32)
    item_node = np.empty(block * n_changes + 1, np.uint32)
    one = np.uint64(1)
    for begin in range(0, len(rows), block):
        n_rows = min(block, len(rows) - begin)
        encode_block(
            cuts,
            cut_starts,
            kinds,
            is_single,
            rows,
            starts,
            order,
            values,
            begin,
            begin + n_rows,
            codes,
            changed,
        )
        total[:] = base
        moved[:] = 0.0
        stamp[:] = LEAF
        for t in range(len(roots)):
            # the rows' own paths; splits that a change may pass on the other side are kept
            root, n_active, n_met = np.uint64(roots[t]), np.uint64(0), np.uint64(0)
            at[:n_rows] = root
            if nodes[root, 0] != LEAF:
                n_active = np.uint64(n_rows)
                for r in range(n_rows):
                    active[r] = r
            while n_active > 0:
                n_left = np.uint64(0)
                for i in range(n_active):
                    r = np.uint64(active[i])
                    node = np.uint64(at[r])
                    f, low = np.uint64(nodes[node, 0]), np.uint64(nodes[node, 1])
                    width = np.uint64(nodes[node, 2])
                    right = goes_right(np.uint64(codes[r, f, 0]), low, width, bits)
                    met_row[n_met], met_node[n_met] = r, node
                    if width != IN_SET:
                        edge = np.uint64(codes[r, f, np.uint64(2) - right])
                        n_met += right ^ goes_right(edge, low, width, bits)
                    else:
                        n_met += one
                    node = np.uint64(nodes[node, 3]) + right
                    at[r] = node
                    active[n_left] = r
                    n_left += np.uint64(nodes[node, 0] != LEAF)
                n_active = n_left
            # changes that leave the path there, each at the first such split
            n_items = np.uint64(0)
            for i in range(n_met):
                r, node = np.uint64(met_row[i]), np.uint64(met_node[i])
                f, low = np.uint64(nodes[node, 0]), np.uint64(nodes[node, 1])
                width = np.uint64(nodes[node, 2])
                right = goes_right(np.uint64(codes[r, f, 0]), low, width, bits)
                for c in range(starts[f], starts[f + one]):
                    code = np.uint64(changed[r, c])
                    leaves_path = goes_right(code, low, width, bits) != right
                    is_first = leaves_path and stamp[r, c] != t
                    item_row[n_items], item_change[n_items] = r, c
                    item_feature[n_items], item_code[n_items] = f, code
                    item_node[n_items] = np.uint64(nodes[node, 3]) + one - right
                    n_items += np.uint64(is_first)
                    stamp[r, c] = t if is_first else stamp[r, c]
            # their own ways down
            n_active = np.uint64(0)
            for i in range(n_items):
                active[n_active] = i
                n_active += np.uint64(nodes[np.uint64(item_node[i]), 0] != LEAF)
            while n_active > 0:
                n_left = np.uint64(0)
                for i in range(n_active):
                    j = np.uint64(active[i])
                    node, r = np.uint64(item_node[j]), np.uint64(item_row[j])
                    f = np.uint64(nodes[node, 0])
                    code = np.uint64(codes[r, f, 0])
                    code = np.uint64(item_code[j]) if f == item_feature[j] else code
                    right = goes_right(
                        code, np.uint64(nodes[node, 1]), np.uint64(nodes[node, 2]), bits
                    )
                    node = np.uint64(nodes[node, 3]) + right
                    item_node[j] = node
                    active[n_left] = j
                    n_left += np.uint64(nodes[node, 0] != LEAF)
                n_active = n_left
            # what the leaves add
            k = targets[t]
            if size == 1:
                for r in range(n_rows):
                    total[r, k] += leaves[np.uint64(nodes[np.uint64(at[r]), 3]), 0]
                for i in range(n_items):
                    r, c = np.uint64(item_row[i]), np.uint64(item_change[i])
                    new = leaves[np.uint64(nodes[np.uint64(item_node[i]), 3]), 0]
                    moved[r, c, k] += new - leaves[np.uint64(nodes[np.uint64(at[r]), 3]), 0]
            else:
                for r in range(n_rows):
                    leaf = np.uint64(nodes[np.uint64(at[r]), 3])
                    for k in range(size):
                        total[r, k] += leaves[leaf, k]
                for i in range(n_items):
                    r, c = np.uint64(item_row[i]), np.uint64(item_change[i])
                    new_leaf = np.uint64(nodes[np.uint64(item_node[i]), 3])
                    leaf = np.uint64(nodes[np.uint64(at[r]), 3])
                    for k in range(size):
                        moved[r, c, k] += leaves[new_leaf, k] - leaves[leaf, k]
        for c in range(n_changes):
            place = order[c]
            for r in range(n_rows):
                for k in range(n_outputs):
                    out[place, begin + r, k] = total[r, k] + moved[r, c, k]


def walk(
    forest: Forest,
    rows: FloatArray,
    features: IntArray,
    values: FloatArray,
    base: FloatArray,
    block: int = ROWS_AT_ONCE,
) -> FloatArray:
    """Sum the leaves of every row, once for each change of one feature.

    Parameters
    ----------
    forest : Forest
        The trees.
    rows : ndarray of shape (n_rows, n_features)
        The rows.
    features : ndarray of shape (n_changes,)
        The feature that each change replaces.
    values : ndarray of shape (n_changes, n_rows)
        What it is replaced by.
    base : ndarray of shape (n_outputs,)
        What the sums begin with.
    block : int
        Rows that walk together.

    Returns
    -------
    ndarray of shape (n_changes, n_rows, n_outputs)

    Notes
    -----
    A row walks down each tree once. Where a split on a changed feature sends the changed value to
    the other side, that change walks on alone from there, and adds the difference of the two
    leaves; a change leaves the row's path at most once per tree. Trees without a split on the
    feature on the path cost nothing. All rows of a block go one level further at a time, so that
    the loops have no branches that a processor could guess wrong. O(rows x trees x depth), plus
    the ways of the changes that part; memory O(block).
    """
    order = np.argsort(features, kind="stable")
    starts = np.searchsorted(features[order], np.arange(forest.n_features + 1))
    out = np.empty((len(features), len(rows), forest.n_outputs))
    walk_rows(
        forest.nodes,
        forest.bits,
        forest.roots,
        forest.targets,
        forest.leaves,
        forest.depth,
        forest.cuts,
        forest.cut_starts,
        forest.kinds,
        forest.is_single,
        rows,
        starts.astype(np.uint64),
        order,
        values,
        base,
        block,
        out,
    )
    return out
