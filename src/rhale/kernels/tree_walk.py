"""Walk trees once per row, and answer for every changed column on the way (numba)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.forest import CATEGORY, FIRST_CATEGORY, IN_SET, LEAF, MISSING, OTHER, ZERO_IS_MISSING, Forest



@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def goes_right(code: Any, low: Any, width: Any, bits: Any) -> Any:
    """Tell where a node sends a code: 0 left, 1 right."""
    if width != IN_SET:
        return np.int64(np.uint32(code - low) >= np.uint32(width))
    return np.int64(1 - ((bits[low + (code >> 5)] >> np.uint32(code & 31)) & np.uint32(1)))


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def encode(x: Any, cuts: Any, start: Any, stop: Any, kind: Any) -> Any:
    """Turn a value into its code: how many cuts lie at or below it, and what it means."""
    if x != x:  # noqa: PLR0124 - nan
        return MISSING
    if kind == ZERO_IS_MISSING:
        if abs(x) <= 1e-35:
            return MISSING
    elif kind == CATEGORY:  # one cut: the number of known ones
        return np.int64(x) + FIRST_CATEGORY if x > -1.0 and x < cuts[start] else OTHER
    base, n = start, stop - start
    while n > 0:
        half = (n + 1) >> 1
        base = base + half if cuts[base + half - 1] <= x else base
        n = n - half
    return base - start + 1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def walk_rows(
    nodes: Any,
    bits: Any,
    roots: Any,
    targets: Any,
    leaves: Any,
    cuts: Any,
    cut_starts: Any,
    kinds: Any,
    is_single: Any,
    rows: Any,
    starts: Any,
    order: Any,
    values: Any,
    first: Any,
    last: Any,
    block: Any,
    base: Any,
    out: Any,
) -> None:
    """Fill `out` for rows first to last, block by block."""
    n_changes, n_features, n_outputs = len(order), len(kinds), len(base)
    size = leaves.shape[1]
    codes = np.empty((block, n_features, 3), np.int32)  # own, smallest and largest change
    changed = np.empty((block, n_changes), np.int32)
    total = np.empty((block, n_outputs))
    moved = np.empty((block, n_changes, n_outputs))
    stamp = np.full(n_changes, -1, np.int64)
    found, found_leaf = np.empty(n_changes, np.int64), np.empty(n_changes, np.int64)
    mark = 0
    for begin in range(first, last, block):
        m = min(block, last - begin)
        total[:] = base
        moved[:] = 0.0
        # codes of the rows and of their changes
        for f in range(n_features):
            a, b, kind = cut_starts[f], cut_starts[f + 1], kinds[f]
            if a == b:
                codes[:, f, :] = 0
                continue
            for r in range(m):
                x = rows[begin + r, f]
                if is_single:
                    x = np.float64(np.float32(x))
                codes[r, f, :] = encode(x, cuts, a, b, kind)
        for f in range(n_features):
            a, b, kind = cut_starts[f], cut_starts[f + 1], kinds[f]
            for c in range(starts[f], starts[f + 1]):
                place = order[c]
                if a == b:
                    changed[:, c] = 0
                    continue
                for r in range(m):
                    x = values[place, begin + r]
                    if is_single:
                        x = np.float64(np.float32(x))
                    code = encode(x, cuts, a, b, kind)
                    changed[r, c] = code
                    codes[r, f, 1] = min(codes[r, f, 1], code)
                    codes[r, f, 2] = max(codes[r, f, 2], code)
            for r in range(m):
                if codes[r, f, 1] == MISSING:  # not in the order of the others
                    codes[r, f, 1], codes[r, f, 2] = 1, 2**31 - 1
        for t in range(len(roots)):
            root = roots[t]
            for r in range(m):
                mark += 1
                n_found = 0
                node = root
                while True:
                    f = nodes[node, 0]
                    if f == LEAF:
                        break
                    low, width, left = nodes[node, 1], nodes[node, 2], nodes[node, 3]
                    code = codes[r, f, 0]
                    right = goes_right(code, low, width, bits)
                    edge = codes[r, f, 2 - right]
                    if width == IN_SET or goes_right(edge, low, width, bits) != right:
                        for c in range(starts[f], starts[f + 1]):
                            new = changed[r, c]
                            if goes_right(new, low, width, bits) != right and stamp[c] != mark:
                                stamp[c] = mark
                                codes[r, f, 0] = new
                                other = left + 1 - right
                                while nodes[other, 0] != LEAF:
                                    other = nodes[other, 3] + goes_right(
                                        codes[r, nodes[other, 0], 0],
                                        nodes[other, 1],
                                        nodes[other, 2],
                                        bits,
                                    )
                                found[n_found] = c
                                found_leaf[n_found] = nodes[other, 3]
                                n_found += 1
                        codes[r, f, 0] = code
                    node = left + right
                leaf = nodes[node, 3]
                if size == 1:
                    k, value = targets[t], leaves[leaf, 0]
                    total[r, k] += value
                    for i in range(n_found):
                        moved[r, found[i], k] += leaves[found_leaf[i], 0] - value
                else:
                    for k in range(size):
                        total[r, k] += leaves[leaf, k]
                    for i in range(n_found):
                        for k in range(size):
                            moved[r, found[i], k] += leaves[found_leaf[i], k] - leaves[leaf, k]
        for c in range(n_changes):
            place = order[c]
            for r in range(m):
                for k in range(n_outputs):
                    out[place, begin + r, k] = total[r, k] + moved[r, c, k]


def walk(
    forest: Forest,
    rows: FloatArray,
    columns: IntArray,
    values: FloatArray,
    base: FloatArray,
    block: int = 64,
) -> FloatArray:
    """Answers for every change."""
    order = np.argsort(columns, kind="stable")
    starts = np.searchsorted(columns[order], np.arange(forest.n_features + 1))
    out = np.empty((len(columns), len(rows), forest.n_outputs))
    walk_rows(
        forest.nodes, forest.bits, forest.roots, forest.targets, forest.leaves, forest.cuts,
        forest.cut_starts, forest.kinds, forest.is_single, rows, starts, order, values,
        0, len(rows), block, base, out,
    )
    return out
