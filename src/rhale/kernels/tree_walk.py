"""Walk trees once per row, and answer for every changed column on the way (numba)."""

from __future__ import annotations

import sys
from pathlib import Path
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

# Rows that walk together: few enough that their codes and sums stay in the processor's cache.
FEWEST_ROWS, MOST_ROWS, ANSWERS_AT_ONCE = 16, 256, 2**13
NO_LIMIT = 2**31
NEAR_ZERO = float(np.float32(1e-35))  # LightGBM's zero
ONE = np.uint64(1)
# Indices are unsigned throughout: numba then leaves out the code for negative ones.


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
    A row walks down each tree once. Where a split on a changed feature sends the changed value to
    the other side, that change walks on alone from there, and adds the difference of the two
    leaves; a change leaves the row's path at most once per tree. Trees without a split on the
    feature on the path cost nothing. All rows of a block go one level further at a time, so that
    the loops have no branches that a processor could guess wrong. O(rows x trees x depth), plus
    the ways of the changes that part; memory O(block) beside the answers.
    """
    order = np.argsort(features, kind="stable")
    starts = np.searchsorted(features[order], np.arange(forest.n_features + 1))
    answers = np.empty((len(features), len(rows), forest.n_outputs))
    if will_compile():
        sys.stderr.write("rhale: compiling the walk of trees, once and for all (some seconds)\n")
    n_numbers = max(len(features), 1) * forest.n_outputs
    walk_rows(
        forest.nodes,
        forest.bits,
        forest.roots,
        forest.targets,
        forest.leaves,
        np.ldexp(1.0, -forest.exponent),
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
        min(max(ANSWERS_AT_ONCE // n_numbers, FEWEST_ROWS), MOST_ROWS),
        answers,
    )
    return answers


def will_compile() -> bool:
    """Tell whether the next walk has to be compiled: it is in no cache yet."""
    if walk_rows.signatures:
        return False
    return not any(Path(str(walk_rows.stats.cache_path)).glob("tree_walk.walk_rows-*.nbi"))


@njit(cache=True, nogil=True)
def walk_rows(
    nodes: Any,
    bits: Any,
    roots: Any,
    targets: Any,
    leaves: Any,
    unit: Any,
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
    answers: Any,
) -> None:
    """Fill `answers`: block after block of rows, and tree after tree for each."""
    n_changes, n_outputs = len(order), len(base)
    codes = np.zeros((block, len(kinds), 3), np.uint32)
    changed = np.zeros((block, n_changes), np.uint32)
    stamp = np.empty((block, n_changes), np.uint32)  # the last tree in which a change parted
    total = np.empty((block, n_outputs), np.int64)
    moved = np.empty((block, n_changes, n_outputs), np.int64)
    at = np.empty(block, np.uint32)
    met = np.empty((block * (depth + 1) + 1, 2), np.uint32)
    parted = np.empty((block * n_changes + 1, 5), np.uint32)
    active = np.empty(max(block, len(parted)), np.uint32)
    for begin in range(0, len(rows), block):
        end = min(begin + block, len(rows))
        n_rows = end - begin
        encode_block(
            cuts, cut_starts, kinds, is_single, rows[begin:end], starts, order,
            values[:, begin:end], codes, changed,
        )  # fmt: skip
        total[:], moved[:], stamp[:] = 0, 0, LEAF
        for tree in range(len(roots)):
            n_met = own_paths(nodes, bits, roots[tree], codes, n_rows, at, active, met)
            n_parted = part(
                nodes, bits, starts, codes, changed, met, n_met, np.uint32(tree), stamp, parted
            )
            walk_on(nodes, bits, codes, parted, n_parted, active)
            add_leaves(nodes, leaves, targets[tree], at, n_rows, parted, n_parted, total, moved)
        for c in range(n_changes):
            for r in range(n_rows):
                for k in range(n_outputs):
                    whole = total[r, k] + moved[r, c, k]
                    answers[order[c], begin + r, k] = base[k] + unit * whole


@njit(cache=True, nogil=True)
def encode_block(
    cuts: Any,
    cut_starts: Any,
    kinds: Any,
    is_single: Any,
    rows: Any,
    starts: Any,
    order: Any,
    values: Any,
    codes: Any,
    changed: Any,
) -> None:
    """Write the codes of rows (own, smallest and largest of the changes) and of the changes."""
    n_rows = len(rows)
    x, code = np.empty(n_rows), np.empty(n_rows, np.uint32)
    for f in range(len(kinds)):
        own, kind = cuts[cut_starts[f] : cut_starts[f + 1]], kinds[f]
        if len(own) == 0:
            continue
        x[:] = rows[:, f]
        encode(x, own, kind, is_single, code)
        for r in range(n_rows):
            codes[r, f, 0] = codes[r, f, 1] = codes[r, f, 2] = code[r]
        for c in range(starts[f], starts[f + 1]):
            x[:] = values[order[c]]
            encode(x, own, kind, is_single, code)
            for r in range(n_rows):
                changed[r, c] = code[r]
                codes[r, f, 1] = min(codes[r, f, 1], code[r])
                codes[r, f, 2] = max(codes[r, f, 2], code[r])
        for r in range(n_rows):
            if codes[r, f, 1] == MISSING and starts[f + 1] > starts[f]:
                codes[r, f, 1], codes[r, f, 2] = 1, NO_LIMIT  # missing has no place in the order


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
            x[r] = 0.0 if abs(x[r]) <= NEAR_ZERO else x[r]
    if kind == CATEGORY:  # one cut: the number of known ones
        for r in range(len(x)):
            known = x[r] > -1.0 and x[r] < cuts[0]
            code[r] = np.int64(x[r]) + FIRST_CATEGORY if known else OTHER
    else:
        code[:] = 0
        n = np.uint64(len(cuts))
        while n > 0:
            half = (n + ONE) >> ONE
            for r in range(len(x)):
                here = np.uint64(code[r])
                code[r] = here + (half if cuts[here + half - ONE] <= x[r] else np.uint64(0))
            n -= half
        for r in range(len(x)):
            code[r] += 1
    for r in range(len(x)):
        is_missing = np.isnan(x[r]) or (kind == ZERO_IS_MISSING and abs(x[r]) <= NEAR_ZERO)
        code[r] = MISSING if is_missing else code[r]


@njit(cache=True, nogil=True, inline="always")
def goes_right(code: Any, low: Any, width: Any, bits: Any) -> Any:
    """Tell where a split sends a code: 0 left, 1 right; without a branch for thresholds."""
    if width != IN_SET:
        return np.uint64(code - low >= width)
    word = np.uint64(bits[low + (code >> np.uint64(5))])
    return ONE - ((word >> (code & np.uint64(31))) & ONE)


@njit(cache=True, nogil=True)
def own_paths(
    nodes: Any, bits: Any, root: Any, codes: Any, n_rows: Any, at: Any, active: Any, met: Any
) -> Any:
    """Walk rows to their leaves, and list the splits that some change may pass otherwise."""
    n_active, n_met = np.uint64(0), np.uint64(0)
    at[:n_rows] = root
    if nodes[root, 0] != LEAF:
        n_active = np.uint64(n_rows)
        for i in range(n_rows):
            active[i] = i
    while n_active > 0:
        n_left = np.uint64(0)
        for i in range(n_active):
            r = np.uint64(active[i])
            node = np.uint64(at[r])
            f, low = np.uint64(nodes[node, 0]), np.uint64(nodes[node, 1])
            width = np.uint64(nodes[node, 2])
            right = goes_right(np.uint64(codes[r, f, 0]), low, width, bits)
            met[n_met, 0], met[n_met, 1] = r, node
            if width != IN_SET:
                edge = np.uint64(codes[r, f, np.uint64(2) - right])
                n_met += right ^ goes_right(edge, low, width, bits)
            else:
                n_met += ONE
            node = np.uint64(nodes[node, 3]) + right
            at[r] = node
            active[n_left] = r
            n_left += np.uint64(nodes[node, 0] != LEAF)
        n_active = n_left
    return n_met


@njit(cache=True, nogil=True)
def part(
    nodes: Any,
    bits: Any,
    starts: Any,
    codes: Any,
    changed: Any,
    met: Any,
    n_met: Any,
    tree: Any,
    stamp: Any,
    parted: Any,
) -> Any:
    """List the changes that leave their row's path, each at the first split where they do."""
    n_parted = np.uint64(0)
    for i in range(n_met):
        r, node = np.uint64(met[i, 0]), np.uint64(met[i, 1])
        f, low = np.uint64(nodes[node, 0]), np.uint64(nodes[node, 1])
        width = np.uint64(nodes[node, 2])
        right = goes_right(np.uint64(codes[r, f, 0]), low, width, bits)
        other = np.uint64(nodes[node, 3]) + ONE - right
        for c in range(starts[f], starts[f + ONE]):
            code = np.uint64(changed[r, c])
            is_first = (goes_right(code, low, width, bits) != right) & (stamp[r, c] != tree)
            parted[n_parted, 0], parted[n_parted, 1] = r, c
            parted[n_parted, 2], parted[n_parted, 3] = f, code
            parted[n_parted, 4] = other
            n_parted += np.uint64(is_first)
            stamp[r, c] = tree if is_first else stamp[r, c]
    return n_parted


@njit(cache=True, nogil=True)
def walk_on(nodes: Any, bits: Any, codes: Any, parted: Any, n_parted: Any, active: Any) -> None:
    """Walk changes from where they parted to their leaves."""
    n_active = np.uint64(0)
    for i in range(n_parted):
        active[n_active] = i
        n_active += np.uint64(nodes[np.uint64(parted[i, 4]), 0] != LEAF)
    while n_active > 0:
        n_left = np.uint64(0)
        for i in range(n_active):
            j = np.uint64(active[i])
            node, r = np.uint64(parted[j, 4]), np.uint64(parted[j, 0])
            f = np.uint64(nodes[node, 0])
            code = np.uint64(codes[r, f, 0])
            code = np.uint64(parted[j, 3]) if f == parted[j, 2] else code
            low, width = np.uint64(nodes[node, 1]), np.uint64(nodes[node, 2])
            node = np.uint64(nodes[node, 3]) + goes_right(code, low, width, bits)
            parted[j, 4] = node
            active[n_left] = j
            n_left += np.uint64(nodes[node, 0] != LEAF)
        n_active = n_left


@njit(cache=True, nogil=True)
def add_leaves(
    nodes: Any,
    leaves: Any,
    target: Any,
    at: Any,
    n_rows: Any,
    parted: Any,
    n_parted: Any,
    total: Any,
    moved: Any,
) -> None:
    """Add what the leaves hold: to one output, or to all of them."""
    n_numbers = leaves.shape[1]
    for i in range(n_rows):
        at[i] = nodes[np.uint64(at[i]), 3]
        for k in range(n_numbers):
            total[i, target + k] += leaves[np.uint64(at[i]), k]
    for i in range(n_parted):
        r, c = np.uint64(parted[i, 0]), np.uint64(parted[i, 1])
        new = np.uint64(nodes[np.uint64(parted[i, 4]), 3])
        for k in range(n_numbers):
            moved[r, c, target + k] += leaves[new, k] - leaves[np.uint64(at[r]), k]
