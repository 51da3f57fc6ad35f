"""Partial dependences of trees, counted in their leaves: exact, in time linear in the rows (numba)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rhale.models.questions import Dependences, centre
from rhale.models.trees.forest import LEAF, Forest
from rhale.models.trees.walk import Trees, encode, goes_right
from rhale.stats.arrays import FloatArray, IntArray
from rhale.stats.jit import njit, will_compile
from rhale.system import LOG

BITS_PER_WORD = 64  # rows, or ranks of codes, that one number holds as bits
ONE_BIT, NO_BITS = np.uint64(1), np.uint64(0)
# places of the single bit of a power of two, after a product with a de Bruijn sequence
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
DE_BRUIJN_SHIFT = np.uint64(58)
DE_BRUIJN_POSITIONS = np.zeros(BITS_PER_WORD, np.int64)
DE_BRUIJN_POSITIONS[
    [((int(DE_BRUIJN) << i) % 2**64) >> int(DE_BRUIJN_SHIFT) for i in range(BITS_PER_WORD)]
] = np.arange(BITS_PER_WORD)


@dataclass(frozen=True, eq=False)
class LeafQuestion:
    """What is asked of the leaves.

    Attributes
    ----------
    features : ndarray of shape (n_columns,)
        Features of the trees; negative for a column that they do not see.
    pairs : ndarray of shape (n_pairs, 2)
        Which two of them, by their places in `features`.
    outputs : tuple of int
        Which sums of leaves.
    factor : float
        What they are multiplied by.
    """

    features: IntArray
    pairs: IntArray
    outputs: tuple[int, ...]
    factor: float = 1.0


class RankedRows(NamedTuple):
    """Rows, by the ranks of their codes among those that rows have.

    Attributes
    ----------
    codes : ndarray of shape (n_features, n_rows)
        Codes of the rows.
    ranks : ndarray of shape (n_features, n_rows)
        Their ranks.
    distinct, n_distinct : ndarray of shape (n_features, most), (n_features,)
        The code of every rank.
    shares : ndarray of shape (n_rows,)
        What each row counts for.
    is_even : bool
        Whether all count alike.
    """

    codes: Any
    ranks: Any
    distinct: Any
    n_distinct: Any
    shares: Any
    is_even: Any


class WantedSums(NamedTuple):
    """Which sums are kept; -1 stands for those that are not.

    Attributes
    ----------
    place_of, paired_of : ndarray of shape (n_features,)
        Place of a feature among the columns, and among those that are in any pair.
    pair_of, is_turned : ndarray of shape (n_paired, n_paired)
        Pair of two of the latter, and whether it has them in the other order.
    output_of : ndarray of shape (n_outputs,)
        Place of an output of the trees.
    unit : float
        What a leaf's number is multiplied by.
    """

    place_of: Any
    paired_of: Any
    pair_of: Any
    is_turned: Any
    output_of: Any
    unit: Any


class LeafDependenceSums(NamedTuple):
    """What leaves add up to.

    Attributes
    ----------
    total, rest : ndarray of shape (n_outputs, n_rows), (n_columns, n_outputs, n_rows)
        Sums of the rows, and what becomes of them if one feature is averaged over.
    single : ndarray of shape (n_columns, n_outputs, most + 1)
        Changes of the mean from rank to rank of a feature that is held.
    both : ndarray of shape (n_pairs, n_outputs, n_rows)
        Means with two features held, of leaves that ask for both.
    lone : ndarray of shape (n_pairs, 2, n_outputs, most + 1)
        Of the same leaves, changes of the mean with one of the two held.
    """

    total: Any
    rest: Any
    single: Any
    both: Any
    lone: Any


class Counts(NamedTuple):
    """Shares of rows at a leaf, by the conditions that they fail.

    Attributes
    ----------
    met : ndarray of shape (1,)
        None.
    alone : ndarray of shape (most,)
        One alone.
    twice : ndarray of shape (most, most)
        Two alone, of which the first comes first on the path.
    """

    met: Any
    alone: Any
    twice: Any


class ConditionPath(NamedTuple):
    """What a node asks of a row, for every level of a tree: one condition for each feature.

    Attributes
    ----------
    n_asked : ndarray of shape (n_levels,)
        Features that are asked for on the way.
    feature, source : ndarray of shape (n_levels, most)
        Which, and the level whose split asked last: there its condition is written.
    fails : ndarray of shape (n_levels, n_words)
        Rows that a condition sends away, as bits.
    allowed : ndarray of shape (n_levels, n_rank_words)
        Ranks that it lets pass, as bits.
    failed : ndarray of shape (n_levels, 3, n_words)
        Rows that fail no condition, exactly one, exactly two.
    split : ndarray of shape (n_levels,)
        Feature that the node of a level asks for.
    left, left_ranks : ndarray of shape (n_levels, n_words), (n_levels, n_rank_words)
        Rows and ranks that it sends left.
    everybody : ndarray of shape (n_words,)
        All rows.
    counts : Counts
        Of the leaf where the path ends.
    """

    n_asked: Any
    feature: Any
    source: Any
    fails: Any
    allowed: Any
    failed: Any
    split: Any
    left: Any
    left_ranks: Any
    everybody: Any
    counts: Any


def compute_leaf_dependences(
    forest: Forest, matrix: FloatArray, question: LeafQuestion, shares: FloatArray
) -> Dependences:
    """Partial dependences of the sums of leaves, at the rows and averaged over them.

    Parameters
    ----------
    forest : Forest
        The trees.
    matrix : ndarray of shape (n_rows, n_features)
        The rows as the trees see them.
    question : LeafQuestion
        Features, pairs and outputs.
    shares : ndarray of shape (n_rows,)
        What each row counts for; they add up to 1.

    Notes
    -----
    The splits on the way to a leaf of value v ask one condition of each of some features. Let c be
    the share of rows that meet all, c_j of those that fail j alone, c_jk of those that fail j and k
    alone. With x_j held where j is met, the leaf adds v (c + c_j) to the mean answer; with x_j and
    x_k held, v (c + c_j + c_k + c_jk); so it adds to F_jk - F_j - F_k only if it asks for both.
    Rows are bits of words: 64 are counted at a time, and subtrees that all rows fail by three
    features are not entered. O(leaves x features of a path squared x rows / 64), and the rows that
    both of two conditions let pass.
    """
    if will_compile(add_trees):
        LOG.warning("compiling the code for tree leaves, for this and later calls (some seconds)")
    rows = rank_rows(forest, matrix, shares)
    n_outputs, most = len(question.outputs), rows.distinct.shape[1]
    n_columns, n_pairs, n_rows = len(question.features), len(question.pairs), len(shares)
    sums = LeafDependenceSums(
        np.zeros((n_outputs, n_rows)),
        np.zeros((n_columns, n_outputs, n_rows)),
        np.zeros((n_columns, n_outputs, most + 1)),
        np.zeros((n_pairs, n_outputs, n_rows)),
        np.zeros((n_pairs, 2, n_outputs, most + 1)),
    )
    trees = Trees(
        forest.nodes, forest.bits, forest.roots, forest.targets, forest.leaves, forest.depth
    )
    path = make_path(forest.depth + 1, rows)
    add_trees(trees, rows, path, find_wanted(forest, question), sums)
    return read_sums(sums, rows, question, shares)


def rank_rows(forest: Forest, matrix: FloatArray, shares: FloatArray) -> RankedRows:
    """Codes of the rows, and their ranks among those that rows have."""
    n_rows, n_features = len(matrix), forest.n_features
    codes = np.zeros((n_features, n_rows), np.uint32)
    ranks = np.zeros((n_features, n_rows), np.int32)
    found = [np.zeros(1, np.uint32)] * n_features  # features that no split asks for have one code
    for feature in np.flatnonzero(np.diff(forest.cut_starts)):
        cuts = forest.cuts[forest.cut_starts[feature] : forest.cut_starts[feature + 1]]
        values = np.array(matrix[:, feature])
        encode(values, cuts, forest.kinds[feature], forest.is_single, codes[feature])
        found[feature], ranks[feature] = np.unique(codes[feature], return_inverse=True)
    n_distinct = np.array([own.size for own in found], dtype=np.int64)
    distinct = np.zeros((n_features, n_distinct.max(initial=1)), np.uint32)
    for place, own in enumerate(found):
        distinct[place, : own.size] = own
    is_even = bool(np.all(shares == shares[0]))
    return RankedRows(codes, ranks, distinct, n_distinct, shares, is_even)


def find_wanted(forest: Forest, question: LeafQuestion) -> WantedSums:
    """Places of what is asked for, by features and outputs of the trees."""
    place_of = np.full(forest.n_features, -1, dtype=np.int64)
    seen = np.flatnonzero(question.features >= 0)
    place_of[question.features[seen]] = seen
    paired, places = np.unique(question.pairs, return_inverse=True)
    paired_of = np.full(forest.n_features, -1, dtype=np.int64)
    is_seen = question.features[paired] >= 0
    paired_of[question.features[paired[is_seen]]] = np.flatnonzero(is_seen)
    pair_of = np.full((paired.size, paired.size), -1, dtype=np.int64)
    is_turned = np.zeros(pair_of.shape, dtype=np.int64)
    first, second = places.reshape(-1, 2).T
    pair_of[first, second] = pair_of[second, first] = np.arange(len(question.pairs))
    is_turned[second, first] = 1
    output_of = np.full(forest.n_outputs, -1, dtype=np.int64)
    output_of[list(question.outputs)] = np.arange(len(question.outputs))
    unit = float(np.ldexp(question.factor, -forest.exponent))
    return WantedSums(place_of, paired_of, pair_of, is_turned, output_of, unit)


def make_path(n_levels: int, rows: RankedRows) -> ConditionPath:
    """Room for a way through a tree; its beginning asks nothing of any row."""
    n_features, n_rows = rows.codes.shape
    most = max(min(n_levels, n_features), 1)
    n_words, n_rank_words = (-(-n // BITS_PER_WORD) for n in (n_rows, rows.distinct.shape[1]))
    path = ConditionPath(
        n_asked=np.zeros(n_levels, np.int64),
        feature=np.zeros((n_levels, most), np.int64),
        source=np.zeros((n_levels, most), np.int64),
        fails=np.zeros((n_levels, n_words), np.uint64),
        allowed=np.zeros((n_levels, n_rank_words), np.uint64),
        failed=np.zeros((n_levels, 3, n_words), np.uint64),
        split=np.zeros(n_levels, np.int64),
        left=np.zeros((n_levels, n_words), np.uint64),
        left_ranks=np.zeros((n_levels, n_rank_words), np.uint64),
        everybody=np.zeros(n_words, np.uint64),
        counts=Counts(np.zeros(1), np.zeros(most), np.zeros((most, most))),
    )
    fill_bits(path.everybody, n_rows)
    path.failed[0, 0] = path.everybody
    return path


def read_sums(
    sums: LeafDependenceSums, rows: RankedRows, question: LeafQuestion, shares: FloatArray
) -> Dependences:
    """Read sums at the rows, and take means off."""
    features = np.maximum(question.features, 0)  # columns that no tree sees have zeros only
    single = np.empty((len(features), *sums.total.shape))
    for place, feature in enumerate(features):
        single[place] = np.cumsum(sums.single[place], axis=-1)[:, rows.ranks[feature]]
    pure = sums.both
    for place, sides in enumerate(question.pairs):
        for side, column in enumerate(sides):
            steps = np.cumsum(sums.lone[place, side], axis=-1)
            pure[place] -= steps[:, rows.ranks[features[column]]]
    rest = centre(sums.total + sums.rest, shares)
    return Dependences(centre(single, shares), rest, question.pairs, centre(pure, shares))


@njit(cache=True, nogil=True)
def add_trees(trees: Any, rows: Any, path: Any, wanted: Any, sums: Any) -> None:
    """Add the leaves of all trees, each tree's from left to right."""
    waiting = np.empty((trees.depth + 2, 3), np.int64)  # node, its level, and its side
    for tree in range(len(trees.roots)):
        waiting[0, 0], waiting[0, 1], waiting[0, 2] = trees.roots[tree], 0, 0
        n_waiting = 1
        while n_waiting > 0:
            n_waiting -= 1
            node, level, side = waiting[n_waiting]
            if level > 0 and not enter_condition_branch(path, level, side, rows):
                continue
            below = np.int64(trees.nodes[node, 3])
            if trees.nodes[node, 0] == LEAF:
                count_failing_rows(path, level, rows)
                target = trees.targets[tree]
                for i in range(trees.leaves.shape[1]):
                    output = wanted.output_of[target + i]
                    value = wanted.unit * trees.leaves[below, i]
                    if output >= 0 and value != 0:
                        add_leaf(path, level, value, output, rows, wanted, sums)
                continue
            split_row_bits(trees, node, path, level, rows)
            for right in (1, 0):
                waiting[n_waiting, 0], waiting[n_waiting, 1] = below + right, level + 1
                waiting[n_waiting, 2] = right
                n_waiting += 1


@njit(cache=True, nogil=True)
def fill_bits(words: Any, n: Any) -> None:
    """Set the first n bits, and no others."""
    for w in range(len(words)):
        left = n - w * BITS_PER_WORD
        if left >= BITS_PER_WORD:
            words[w] = ~NO_BITS
        else:
            words[w] = (ONE_BIT << np.uint64(max(left, 0))) - ONE_BIT


@njit(cache=True, nogil=True)
def split_row_bits(trees: Any, node: Any, path: Any, level: Any, rows: Any) -> None:
    """Write which rows and which ranks a split sends left, and which feature it asks for."""
    feature = np.int64(trees.nodes[node, 0])
    path.left[level, :] = NO_BITS
    path.left_ranks[level, :] = NO_BITS
    low, width = np.uint64(trees.nodes[node, 1]), np.uint64(trees.nodes[node, 2])
    codes, left = rows.codes[feature], path.left[level]
    for w in range(len(left)):
        word, start = NO_BITS, w * BITS_PER_WORD
        for i in range(start, min(start + BITS_PER_WORD, len(codes))):
            side = goes_right(np.uint64(codes[i]), low, width, trees.bits)
            word |= (ONE_BIT - side) << np.uint64(i - start)
        left[w] = word
    distinct, ranks = rows.distinct[feature], path.left_ranks[level]
    for i in range(rows.n_distinct[feature]):
        side = goes_right(np.uint64(distinct[i]), low, width, trees.bits)
        ranks[i // BITS_PER_WORD] |= (ONE_BIT - side) << np.uint64(i % BITS_PER_WORD)
    path.split[level] = feature


@njit(cache=True, nogil=True)
def enter_condition_branch(path: Any, level: Any, side: Any, rows: Any) -> Any:
    """Go to one side of a split; tell whether any row is near enough to count there."""
    above, n_asked = level - 1, path.n_asked[level - 1]
    feature, everybody = path.split[above], path.everybody
    # What goes left fails on the right, and the other way.
    flip = NO_BITS if side == 1 else ~NO_BITS
    left, is_asked = path.left[above], False
    for w in range(len(left)):
        is_asked |= ((left[w] ^ flip) & everybody[w]) != 0
    place = n_asked
    for t in range(n_asked):
        path.feature[level, t] = path.feature[above, t]
        path.source[level, t] = path.source[above, t]
        place = t if path.feature[above, t] == feature else place
    path.n_asked[level] = n_asked
    path.failed[level, :, :] = path.failed[above]
    if not is_asked:
        return True
    if place == n_asked:
        path.n_asked[level] += 1
        path.feature[level, place] = feature
        path.fails[level, :] = NO_BITS
        fill_bits(path.allowed[level], rows.n_distinct[feature])
    else:
        path.fails[level, :] = path.fails[path.source[above, place]]
        path.allowed[level, :] = path.allowed[path.source[above, place]]
    path.source[level, place] = level
    return add_condition(path, level, flip)


@njit(cache=True, nogil=True)
def add_condition(path: Any, level: Any, flip: Any) -> Any:
    """Send rows and ranks away that a split sends elsewhere; tell whether any are left."""
    left, left_ranks = path.left[level - 1], path.left_ranks[level - 1]
    fails, allowed, failed = path.fails[level], path.allowed[level], path.failed[level]
    rows_left, ranks_left = NO_BITS, NO_BITS
    for w in range(len(left)):
        newly = (left[w] ^ flip) & path.everybody[w] & ~fails[w]
        fails[w] |= newly
        failed[2, w] = (failed[2, w] & ~newly) | (failed[1, w] & newly)
        failed[1, w] = (failed[1, w] & ~newly) | (failed[0, w] & newly)
        failed[0, w] &= ~newly
        rows_left |= failed[0, w] | failed[1, w] | failed[2, w]
    for w in range(len(left_ranks)):
        allowed[w] &= ~(left_ranks[w] ^ flip)
        ranks_left |= allowed[w]
    return rows_left != 0 and ranks_left != 0


@njit(cache=True, nogil=True)
def count_failing_rows(path: Any, level: Any, rows: Any) -> None:
    """Count the rows near a leaf by the conditions that they fail.

    Few rows, as deep leaves have, are taken one by one; of many, all that fail the same two.
    """
    n_asked, source, fails = path.n_asked[level], path.source[level], path.fails
    counts = path.counts
    none, one, two = path.failed[level, 0], path.failed[level, 1], path.failed[level, 2]
    counts.met[0] = weigh(none, none, none, rows)
    n_two = NO_BITS
    for w in range(len(two)):
        n_two += count_bits(two[w])
    is_few = n_two * BITS_PER_WORD < n_asked * len(two)
    for t in range(n_asked):
        own = fails[source[t]]
        counts.alone[t] = weigh(one, own, own, rows)
        for u in range(t + 1, n_asked):
            other = fails[source[u]]
            counts.twice[t, u] = 0.0 if is_few else weigh(two, own, other, rows)
    if is_few:
        count_one_by_one(path, level, rows)


@njit(cache=True, nogil=True)
def count_one_by_one(path: Any, level: Any, rows: Any) -> None:
    """Find the two conditions that each row of those that fail two fails."""
    n_asked, source, two = path.n_asked[level], path.source[level], path.failed[level, 2]
    for w in range(len(two)):
        word = two[w]
        while word != 0:
            bit = word & (~word + ONE_BIT)
            first, second = -1, -1
            for t in range(n_asked):
                if path.fails[source[t], w] & bit:
                    first, second = second, t
            path.counts.twice[first, second] += rows.shares[w * BITS_PER_WORD + lowest_bit(word)]
            word ^= bit


@njit(cache=True, nogil=True)
def add_leaf(
    path: Any, level: Any, value: Any, output: Any, rows: Any, wanted: Any, sums: Any
) -> None:
    """Add what a leaf does to all means that it does something to."""
    n_asked, source, feature = path.n_asked[level], path.source[level], path.feature[level]
    none, one, everybody = path.failed[level, 0], path.failed[level, 1], path.everybody
    met, alone, twice = path.counts.met[0], path.counts.alone, path.counts.twice
    add_to_common_rows(sums.total[output], none, everybody, value)
    for t in range(n_asked):
        column, own = wanted.place_of[feature[t]], path.fails[source[t]]
        if column < 0 or met + alone[t] == 0:
            continue
        away = weigh(own, own, own, rows)
        add_to_common_rows(sums.rest[column, output], none, everybody, -value * away)
        add_to_common_rows(sums.rest[column, output], one, own, value * (1 - away))
        add_ranks(sums.single[column, output], path.allowed[source[t]], value * (met + alone[t]))
    for t in range(n_asked):
        for u in range(t + 1, n_asked):
            both = met + alone[t] + alone[u] + twice[t, u]
            first, second = wanted.paired_of[feature[t]], wanted.paired_of[feature[u]]
            if both == 0 or first < 0 or second < 0 or wanted.pair_of[first, second] < 0:
                continue
            pair = wanted.pair_of[first, second]
            is_turned = wanted.is_turned[first, second]
            for side in range(2):
                s = t if side == is_turned else u
                steps = sums.lone[pair, side, output]
                add_ranks(steps, path.allowed[source[s]], value * (met + alone[s]))
            own, other = path.fails[source[t]], path.fails[source[u]]
            add_met(sums.both[pair, output], own, other, everybody, value * both)


@njit(cache=True, nogil=True)
def weigh(first: Any, second: Any, third: Any, rows: Any) -> Any:
    """Share of the rows that are in all three sets."""
    if rows.is_even:
        n = NO_BITS
        for w in range(len(first)):
            n += count_bits(first[w] & second[w] & third[w])
        return n * rows.shares[0]
    total = 0.0
    for w in range(len(first)):
        word = first[w] & second[w] & third[w]
        while word != 0:
            total += rows.shares[w * BITS_PER_WORD + lowest_bit(word)]
            word &= word - ONE_BIT
    return total


@njit(cache=True, nogil=True)
def add_to_common_rows(sums: Any, first: Any, second: Any, amount: Any) -> None:
    """Add an amount to the rows that are in both sets."""
    for w in range(len(first)):
        word = first[w] & second[w]
        while word != 0:
            sums[w * BITS_PER_WORD + lowest_bit(word)] += amount
            word &= word - ONE_BIT


@njit(cache=True, nogil=True)
def add_met(sums: Any, first: Any, second: Any, everybody: Any, amount: Any) -> None:
    """Add an amount to the rows that are in neither set."""
    for w in range(len(first)):
        word = everybody[w] & ~(first[w] | second[w])
        while word != 0:
            sums[w * BITS_PER_WORD + lowest_bit(word)] += amount
            word &= word - ONE_BIT


@njit(cache=True, nogil=True)
def add_ranks(steps: Any, allowed: Any, amount: Any) -> None:
    """Add an amount to the ranks of a set: a step up where a run of them begins, down behind it."""
    before = NO_BITS
    for w in range(len(allowed)):
        word = allowed[w]
        changes = word ^ ((word << ONE_BIT) | before)
        before = word >> np.uint64(BITS_PER_WORD - 1)
        while changes != 0:
            bit = lowest_bit(changes)
            steps[w * BITS_PER_WORD + bit] += (
                amount if (word >> np.uint64(bit)) & ONE_BIT else -amount
            )
            changes &= changes - ONE_BIT
    # a run up to the last rank of the last word ends behind all steps that are read


@njit(cache=True, nogil=True)
def count_bits(word: Any) -> Any:
    """Number of set bits, in a form that compilers know."""
    word -= (word >> ONE_BIT) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(cache=True, nogil=True)
def lowest_bit(word: Any) -> Any:
    """Place of the lowest set bit."""
    return DE_BRUIJN_POSITIONS[((word & (~word + ONE_BIT)) * DE_BRUIJN) >> DE_BRUIJN_SHIFT]
