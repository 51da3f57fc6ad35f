"""A tree ensemble as flat arrays: what `walk` walks, whatever library grew it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rhale.kernels import BoolArray, FloatArray, IntArray

LEAF = 2**32 - 1  # in place of a feature
IN_SET = 2**32 - 1  # in place of a width: the node asks whether the code is in a set
MISSING_CODE, OTHER, FIRST_CATEGORY = 0, 1, 2  # codes: no value; a category that no tree knows
CODE_BITS = 21  # of the codes of features whose jumps are walked
MOST_CUTS = 2**CODE_BITS - 4
NUMBER, ZERO_IS_MISSING, CATEGORY, ROUNDED_TO_ZERO = range(4)  # kinds of features


@dataclass(frozen=True, eq=False)
class Tree:
    """One tree as its library has it: node 0 is the root.

    Attributes
    ----------
    feature : ndarray of shape (n_nodes,)
        Feature of each split; -1 at a leaf.
    threshold : ndarray of shape (n_nodes,)
        Values below it go left (`strictly`, see `just_above`, for libraries with "at most").
    left, right : ndarray of shape (n_nodes,)
        Children of each split.
    missing_left : ndarray of shape (n_nodes,)
        Whether rows without a value go left.
    value : ndarray of shape (n_nodes, leaf_size)
        What a leaf adds; ignored at splits.
    sets : dict of int to Categories
        Splits that ask for a category instead.
    target : int
        Output that a leaf of one number belongs to.
    """

    feature: IntArray
    threshold: FloatArray
    left: IntArray
    right: IntArray
    missing_left: BoolArray
    value: FloatArray
    sets: dict[int, Categories] = field(default_factory=dict)
    target: int = 0


@dataclass(frozen=True, eq=False)
class Categories:
    """Where a split sends categories: the listed ones left, unknown ones as said."""

    left: IntArray
    right: IntArray
    other_left: bool = False


@dataclass(frozen=True, eq=False)
class Forest:
    """All trees in flat arrays, thresholds replaced by their ranks.

    Attributes
    ----------
    nodes : ndarray of shape (n_nodes, 4)
        Feature, low, width and left child of a split; the right child stands behind the left. A
        code goes left if low <= code < low + width. At a leaf: LEAF, 0, 0 and the leaf's number.
    bits : ndarray of shape (n_words,)
        Sets of codes that go left, for splits of width IN_SET; `low` is where a set begins.
    roots, targets : ndarray of shape (n_trees,)
        First node of each tree, and the output it adds to.
    leaves : ndarray of shape (n_leaves, leaf_size)
        What each leaf adds, in units of 2 ** -exponent: whole numbers add up exactly, in any
        order, so that the same leaves give the same answer to the last bit.
    exponent : int
        Of that unit; no sum overflows.
    cuts : ndarray of shape (n_cuts,)
        Distinct thresholds of feature 0, then of feature 1, ...; for categories their number.
    cut_starts : ndarray of shape (n_features + 1,)
        Where those of a feature begin.
    kinds : ndarray of shape (n_features,)
        NUMBER, ZERO_IS_MISSING, CATEGORY or ROUNDED_TO_ZERO (LightGBM's tiny numbers).
    n_outputs : int
        Numbers per row.
    depth : int
        Splits on the longest path.
    is_single : bool
        Whether rows are rounded to float32 first.

    Notes
    -----
    The code of a value is one more than the number of cuts at or below it, so that trees compare
    small whole numbers, whatever the library compares; 0 is a missing value.
    """

    nodes: npt.NDArray[np.uint32]
    bits: npt.NDArray[np.uint32]
    roots: IntArray
    targets: IntArray
    leaves: IntArray
    exponent: int
    cuts: FloatArray
    cut_starts: npt.NDArray[np.uint64]
    kinds: IntArray
    n_outputs: int
    depth: int
    is_single: bool

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
    """Turn "at most t" into "below t'": the next float64.

    Examples
    --------
    >>> bool(1.0 < just_above(np.array([1.0]))[0])
    True
    """
    return np.nextafter(np.asarray(threshold, dtype=np.float64), np.inf)
