"""A forest as flat arrays, built from the trees of any library, and its thresholds in the user's units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from rhale.stats.arrays import BoolArray, FloatArray, IntArray

LIGHTGBM_ZERO = float(np.float32(1e-35))  # LightGBM's zero

LEAF = 2**32 - 1  # in place of a feature
IN_SET = 2**32 - 1  # in place of a width: the node asks whether the code is in a set
MISSING_CODE, OTHER, FIRST_CATEGORY = 0, 1, 2  # codes: no value; a category that no tree knows
CODE_BITS = 21  # of the codes of features whose jumps are walked
MOST_CUTS = 2**CODE_BITS - 4
NUMBER, ZERO_IS_MISSING, CATEGORY, ROUNDED_TO_ZERO = range(4)  # kinds of features


@dataclass(frozen=True, eq=False)
class Tree:
    """One tree as its library has it: node 0 is the root."""

    feature: IntArray  # (n_nodes,): feature of each split; -1 at a leaf
    # (n_nodes,): values below it go left (`strictly`, see `just_above`, for libraries with "at
    # most")
    threshold: FloatArray
    # left, right: (n_nodes,): children of each split
    left: IntArray
    right: IntArray
    missing_left: BoolArray  # (n_nodes,): whether rows without a value go left
    value: FloatArray  # (n_nodes, leaf_size): what a leaf adds; ignored at splits
    # Splits that ask for a category instead
    sets: dict[int, Categories] = field(default_factory=dict)
    target: int = 0  # output that a leaf of one number belongs to


@dataclass(frozen=True, eq=False)
class Categories:
    """Where a split sends categories: the listed ones left, unknown ones as said."""

    left: IntArray
    right: IntArray
    other_left: bool = False


@dataclass(frozen=True, eq=False)
class Forest:
    """All trees in flat arrays, thresholds replaced by their ranks.

    The code of a value is one more than the number of cuts at or below it, so that trees compare
    small whole numbers, whatever the library compares; 0 is a missing value.
    """

    # (n_nodes, 4): feature, low, width and left child of a split; the right child is behind
    # the left. A code goes left if low <= code < low + width. At a leaf: LEAF, 0, 0 and the leaf's
    # number.
    nodes: npt.NDArray[np.uint32]
    # (n_words,): sets of codes that go left, for splits of width IN_SET; `low` is where a set
    # begins
    bits: npt.NDArray[np.uint32]
    # roots, targets: (n_trees,): first node of each tree, and the output it adds to
    roots: IntArray
    targets: IntArray
    # (n_leaves, leaf_size): what each leaf adds, in units of 2 ** -exponent: whole numbers add up
    # exactly, in any order, so that the same leaves give the same answer to the last bit
    leaves: IntArray
    exponent: int  # of that unit; no sum overflows
    # (n_cuts,): distinct thresholds of feature 0, then of feature 1, ...; for categories their
    # number
    cuts: FloatArray
    cut_starts: npt.NDArray[np.uint64]  # (n_features + 1,): where those of a feature begin
    # (n_features,): NUMBER, ZERO_IS_MISSING, CATEGORY or ROUNDED_TO_ZERO (LightGBM's tiny numbers)
    kinds: IntArray
    n_outputs: int  # numbers per row
    depth: int  # splits on the longest path
    is_single: bool  # whether rows are rounded to float32 first

    @property
    def n_features(self) -> int:
        """Columns of a row."""
        return len(self.kinds)

    @property
    def largest_sum(self) -> float:
        """No sum of leaves is larger."""
        return float(np.ldexp(1.0, 62 - self.exponent))

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.roots)


def just_above(threshold: FloatArray) -> FloatArray:
    """Turn "at most t" into "below t'": the next float64."""
    return np.nextafter(np.asarray(threshold, dtype=np.float64), np.inf)


# --- Bring the trees of any library into the flat arrays of a forest


MOST_CATEGORIES = 2**16
MAX_BINARY_DIGITS = 1074  # binary, behind the point: as many as a float64 has


def build_forest(
    trees: Sequence[Tree],
    n_features: int,
    *,
    n_outputs: int = 1,
    is_single: bool = False,
    kind: int = NUMBER,
    zero_is_missing: Sequence[int] = (),
) -> Forest:
    """Bring trees into flat arrays."""
    # O(n log n) in the number of nodes.
    for tree in trees:
        _require_bounds(tree, n_features, n_outputs)
    sizes = np.array([len(t.feature) for t in trees], dtype=np.int64)
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(trees) else np.empty(0, np.int64)
    joined = _concatenate_trees(trees, roots)
    sets = {
        int(root) + n: s for root, t in zip(roots, trees, strict=True) for n, s in t.sets.items()
    }
    is_set = np.zeros(len(joined.feature), dtype=np.bool_)
    is_set[list(sets)] = True
    kinds = np.full(n_features, kind, dtype=np.int64)
    kinds[list(zero_is_missing)] = ZERO_IS_MISSING
    kinds[joined.feature[is_set]] = CATEGORY
    if np.any(kinds[joined.feature[(joined.feature >= 0) & ~is_set]] == CATEGORY):
        msg = "a feature is split both by thresholds and by categories"
        raise ValueError(msg)
    sizes_of = _set_sizes(joined.feature, sets, n_features)
    cuts, cut_starts, rank = _rank_thresholds(joined, is_set, sizes_of, n_features)
    nodes, new = _renumber(joined)
    splits = joined.feature >= 0
    low = np.where(joined.missing_left, 0, 1)
    nodes[new[splits], 1] = low[splits]
    nodes[new[splits], 2] = (rank + 2 - low)[splits]
    leaves, exponent = _as_integer_leaves(joined.value, ~splits, roots)
    return Forest(
        nodes=nodes,
        bits=_write_sets(nodes, new, joined, sets, sizes_of),
        roots=roots,
        targets=np.array([t.target for t in trees], dtype=np.int64),
        leaves=leaves,
        exponent=exponent,
        cuts=cuts,
        cut_starts=cut_starts.astype(np.uint64),
        kinds=kinds,
        n_outputs=n_outputs,
        depth=_depth(joined, roots),
        is_single=is_single,
    )


def split_forest(forest: Forest) -> list[Tree]:
    """The trees of a forest, as `build_forest` took them: to put them together in another way."""
    found = []
    ends = np.append(forest.roots[1:], len(forest.nodes))
    starts = forest.cut_starts.astype(np.int64)
    unit = np.ldexp(1.0, -forest.exponent)
    for begin, end, target in zip(forest.roots, ends, forest.targets, strict=True):
        named, low, width, child = forest.nodes[begin:end].astype(np.int64).T
        is_leaf = named == LEAF
        is_set = ~is_leaf & (width == IN_SET)
        feature = np.where(is_leaf, -1, named)
        # a code below low + width is that of a value below the cut of this rank
        place = starts[np.maximum(feature, 0)] + low + width - 2
        has_cut = ~is_leaf & ~is_set
        threshold = np.zeros(named.size)
        threshold[has_cut] = forest.cuts[place[has_cut]]
        missing_left, sets = low == 0, {}
        for node in np.flatnonzero(is_set):
            n_codes = FIRST_CATEGORY + int(forest.cuts[starts[feature[node] + 1] - 1])
            words = forest.bits[low[node] : low[node] + -(-n_codes // 32)]
            is_left = np.unpackbits(words.view(np.uint8), bitorder="little")[:n_codes] > 0
            missing_left[node] = is_left[MISSING_CODE]
            listed = is_left[FIRST_CATEGORY:]
            sets[int(node)] = Categories(
                np.flatnonzero(listed), np.flatnonzero(~listed), bool(is_left[OTHER])
            )
        value = np.zeros((named.size, forest.leaves.shape[1]))
        value[is_leaf] = forest.leaves[child[is_leaf]] * unit
        left = np.where(is_leaf, -1, child - begin)
        right = np.where(is_leaf, -1, left + 1)
        splits = feature, threshold, left, right, missing_left
        found.append(Tree(*splits, value=value, sets=sets, target=int(target)))
    return found


def _require_bounds(tree: Tree, n_features: int, n_outputs: int) -> None:
    """Refuse numbers that lead out of the arrays: the walk is compiled, and would follow them."""
    n_nodes, splits = len(tree.feature), np.asarray(tree.feature) >= 0
    children = np.stack([tree.left, tree.right])[:, splits]
    is_inside = (
        n_nodes > 0
        and all(len(a) == n_nodes for a in (tree.threshold, tree.missing_left, tree.value))
        and np.all((children > 0) & (children < n_nodes))
        and np.all(np.asarray(tree.feature) < n_features)
        and all(0 <= node < n_nodes and splits[node] for node in tree.sets)
        and 0 <= tree.target <= n_outputs - tree.value.shape[1]
    )
    if not is_inside:
        msg = "a tree leads beyond its nodes, its features or the outputs"
        raise ValueError(msg)


def _concatenate_trees(trees: Sequence[Tree], roots: IntArray) -> Tree:
    """Put all trees behind each other, as one."""
    if not trees:
        none = np.empty(0, np.int64)
        return Tree(none, np.empty(0), none, none, np.empty(0, np.bool_), np.empty((0, 1)))

    def all_of(name: str, dtype: Any) -> Any:
        return np.concatenate([np.asarray(getattr(t, name), dtype=dtype) for t in trees])

    shift = np.repeat(roots, [len(t.feature) for t in trees])
    return Tree(
        all_of("feature", np.int64),
        all_of("threshold", np.float64),
        all_of("left", np.int64) + shift,
        all_of("right", np.int64) + shift,
        all_of("missing_left", np.bool_),
        all_of("value", np.float64),
    )


def _rank_thresholds(
    joined: Tree, is_set: BoolArray, set_sizes: IntArray, n_features: int
) -> tuple[FloatArray, IntArray, IntArray]:
    """Distinct thresholds of each feature, and which of them each split has."""
    splits = np.flatnonzero((joined.feature >= 0) & ~is_set)
    feature, threshold = joined.feature[splits], joined.threshold[splits]
    if np.any(np.isnan(threshold)):
        msg = "a split has no threshold"
        raise ValueError(msg)
    order = np.lexsort((threshold, feature))
    feature, threshold = feature[order], threshold[order]
    is_new = np.ones(splits.size, dtype=np.bool_)
    is_new[1:] = (feature[1:] != feature[:-1]) | (threshold[1:] != threshold[:-1])
    n_cuts = np.bincount(feature[is_new], minlength=n_features)
    number = np.cumsum(is_new) - 1 - (np.cumsum(n_cuts) - n_cuts)[feature]
    rank = np.zeros(len(joined.feature), dtype=np.int64)
    rank[splits[order]] = number
    # features with categories have one cut: how many there are
    named = np.flatnonzero(set_sizes)
    where = np.cumsum(n_cuts)[named]
    cuts = np.insert(threshold[is_new], where, set_sizes[named].astype(np.float64))
    n_cuts[named] += 1
    return cuts, np.concatenate([[0], np.cumsum(n_cuts)]), rank


def _renumber(joined: Tree) -> tuple[npt.NDArray[np.uint32], IntArray]:
    """Place siblings side by side; roots stay where they are."""
    n_nodes, is_leaf = len(joined.feature), joined.feature < 0
    splits = np.flatnonzero(~is_leaf)
    new = np.arange(n_nodes)
    is_root = np.ones(n_nodes, dtype=np.bool_)
    is_root[joined.left[splits]] = False
    is_root[joined.right[splits]] = False
    free = np.flatnonzero(~is_root)  # one pair of places for each split, inside its own tree
    if free.size != 2 * splits.size:
        msg = "the nodes do not form trees"
        raise ValueError(msg)
    new[joined.left[splits]], new[joined.right[splits]] = free[0::2], free[1::2]
    if np.any(np.diff(free.reshape(-1, 2), axis=1) != 1):
        msg = "the first node of a tree is not its root"
        raise ValueError(msg)
    nodes = np.zeros((n_nodes, 4), dtype=np.uint32)
    nodes[new, 0] = np.where(is_leaf, LEAF, joined.feature)
    nodes[new[splits], 3] = free[0::2]
    nodes[new[is_leaf], 3] = np.arange(int(is_leaf.sum()))
    return nodes, new


def _as_integer_leaves(
    value: FloatArray, is_leaf: BoolArray, roots: IntArray
) -> tuple[IntArray, int]:
    """Leaves as whole numbers of a unit, as small as sums without overflow allow."""
    sizes = np.where(is_leaf, np.abs(value).max(axis=1, initial=0.0), 0.0)
    if not np.all(np.isfinite(sizes)):
        msg = "a leaf is not finite"
        raise ValueError(msg)
    largest = float(np.maximum.reduceat(sizes, roots).sum()) if roots.size else 0.0
    exponent = min(62 - int(np.frexp(largest)[1]), MAX_BINARY_DIGITS)
    return np.rint(np.ldexp(value[is_leaf], exponent)).astype(np.int64), exponent


def _depth(joined: Tree, roots: IntArray) -> int:
    """Splits on the longest path of all trees, level by level."""
    level, depth = roots, 0
    while True:
        level = level[joined.feature[level] >= 0]
        if not level.size:
            return depth
        depth += 1
        if depth > len(joined.feature):
            msg = "the nodes go round in a circle"
            raise ValueError(msg)
        level = np.concatenate([joined.left[level], joined.right[level]])


def _set_sizes(feature: IntArray, sets: dict[int, Categories], n_features: int) -> IntArray:
    """How many categories each feature's splits name."""
    sizes = np.zeros(n_features, dtype=np.int64)
    for node, known in sets.items():
        named = np.concatenate([known.left, known.right, [0]])
        if named.min() < 0 or named.max() >= MOST_CATEGORIES:
            msg = f"a split names the category {named.max()}"
            raise ValueError(msg)
        sizes[feature[node]] = max(sizes[feature[node]], int(named.max()) + 1)
    return sizes


def _write_sets(
    nodes: npt.NDArray[np.uint32],
    new: IntArray,
    joined: Tree,
    sets: dict[int, Categories],
    sizes: IntArray,
) -> npt.NDArray[np.uint32]:
    """Write the codes that go left as bits, and where they begin into the nodes."""
    words: list[npt.NDArray[np.uint32]] = []
    n_words = 0
    for node, known in sets.items():
        is_left = np.full(FIRST_CATEGORY + sizes[joined.feature[node]], known.other_left)
        is_left[MISSING_CODE] = joined.missing_left[node]
        is_left[FIRST_CATEGORY + known.left] = True
        is_left[FIRST_CATEGORY + known.right] = False
        octets = np.packbits(is_left, bitorder="little")
        packed = np.pad(octets, (0, -len(octets) % 4)).view(np.uint32)
        nodes[new[node], 1:3] = n_words, IN_SET
        words.append(packed)
        n_words += len(packed)
    return np.concatenate(words) if words else np.zeros(1, np.uint32)


# --- Thresholds of trees in the user's own units


FLOAT32_OVERFLOW = 2.0**128  # where the next float32 would be


def own_cuts(forest: Forest, feature: int) -> FloatArray | None:
    """Where values begin that lie behind each threshold; None for other features than numbers.

    Shapes: result (n_cuts,).
    """
    cuts = forest.cuts[forest.cut_starts[feature] : forest.cut_starts[feature + 1]]
    if cuts.size == 0:
        return cuts
    kind = forest.kinds[feature]
    if kind not in (NUMBER, ROUNDED_TO_ZERO):
        return None
    if kind == ROUNDED_TO_ZERO:  # tiny numbers are zero, whatever their sign
        just_above = np.nextafter(LIGHTGBM_ZERO, np.inf)
        cuts = np.where((cuts > 0) & (cuts <= LIGHTGBM_ZERO), just_above, cuts)
        cuts = np.where((cuts <= 0) & (cuts > -LIGHTGBM_ZERO), -LIGHTGBM_ZERO, cuts)
    return undo_single(cuts) if forest.is_single else cuts


def undo_single(cuts: FloatArray) -> FloatArray:
    """The smallest float64 that becomes at least the given number when rounded to float32."""
    with np.errstate(over="ignore"):
        above = cuts.astype(np.float32)
        above = np.where(above < cuts, np.nextafter(above, np.float32(np.inf)), above)
        below = np.nextafter(above, np.float32(-np.inf))
        middle = (_as_bounded_float64(above) + _as_bounded_float64(below)) / 2
        rounded = middle.astype(np.float32)  # ties go to the even one of the two
    place = np.where(rounded >= cuts, middle, np.nextafter(middle, np.inf))
    return np.where(cuts == -np.inf, -np.inf, place)


def _as_bounded_float64(single: npt.NDArray[np.float32]) -> FloatArray:
    """As float64; infinity is where the next number would be."""
    return np.clip(single.astype(np.float64), -FLOAT32_OVERFLOW, FLOAT32_OVERFLOW)


def interpolate_thresholds(
    cuts: FloatArray, seen: FloatArray, values: FloatArray
) -> FloatArray | None:
    """Where thresholds lie among values that become other numbers on their way to the trees.

    Shapes: cuts (n_cuts,), seen (n_values,), values (n_values,), result (n_cuts,).
    """
    if np.any(~np.isfinite(seen)) or np.any(np.diff(seen) < 0):
        return None
    behind = np.searchsorted(seen, cuts, "left")  # the first value behind each
    padded_seen = np.concatenate([[seen[0]], seen, [seen[-1]]])
    padded = np.concatenate([[-np.inf], values, [np.inf]])
    low, high = padded[behind], padded[behind + 1]
    width = padded_seen[behind + 1] - padded_seen[behind]
    part = (cuts - padded_seen[behind]) / np.where(width > 0, width, 1.0)
    is_between = (behind > 0) & (behind < seen.size)
    start, stop = np.where(is_between, low, 0.0), np.where(is_between, high, 0.0)
    line = np.clip(start + part * (stop - start), np.nextafter(start, np.inf), stop)
    place = np.where(is_between, line, np.where(behind > 0, np.inf, -np.inf))
    return np.maximum.accumulate(place)
