"""Walk trees along all branches that the windows of a row can take, and sum its jumps (numba)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from rhale.errors import BadPredictionError
from rhale.kernels import FloatArray, IntArray
from rhale.kernels.jumps import N_GROUPS, WHOLE, JumpQuestion, JumpReply, JumpRows, JumpSums
from rhale.models.trees.answering import Answering
from rhale.models.trees.forest import CODE_BITS, LEAF, MISSING, Forest
from rhale.models.trees.walk import Coding, Trees, encode, goes_right

LOG = logging.getLogger("rhale")
# An item on its way is one number: last and first code, question and row, from high bits to low.
QUESTION_BITS, ROW_BITS = 11, 9
MOST_QUESTIONS = 2**QUESTION_BITS - 1  # of one walk
# Rows that walk together: enough that few lists are short, few enough for the processor's cache.
FEWEST_ROWS, MOST_ROWS, SUMS_AT_ONCE, ITEMS_AT_ONCE = 16, 2**ROW_BITS, 2**19, 2**24
ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)
ROW, QUESTION = np.uint64(2**ROW_BITS - 1), np.uint64(2**QUESTION_BITS - 1)
CODE = np.uint64(2**CODE_BITS - 1)
BY_QUESTION = np.uint64(ROW_BITS)
BY_FIRST, BY_LAST = np.uint64(ROW_BITS + QUESTION_BITS), np.uint64(64 - CODE_BITS)
NOT_ASKED = QUESTION  # in place of a question
WIDTH = 0.35  # share of the cells in the window of a row, roughly
NO_FIRST, NO_LAST = 2**31, 0  # codes of a row without a range: no split lies between them


class Asked(NamedTuple):
    """What is asked about each of some columns, tables of all of them one behind the other.

    Attributes
    ----------
    features : ndarray of shape (n_questions,)
        The feature of each question.
    question_of : ndarray of shape (n_features,)
        The question about each feature, or NOT_ASKED.
    cells, cell_starts : ndarrays
        For each code one more than the cell of the cut below it; 0 below all cells.
    cuts, places, place_starts : ndarrays
        First cut of each cell, and one behind the last; where the cells are.
    """

    features: Any
    question_of: Any
    cells: Any
    cell_starts: Any
    cuts: Any
    places: Any
    place_starts: Any


class Windows(NamedTuple):
    """The rows of all questions, each of shape (n_questions, n_rows)."""

    stand: Any
    first: Any
    last: Any
    narrow_start: Any
    narrow_stop: Any
    wide_start: Any
    wide_stop: Any


class Block(NamedTuple):
    """Rows that walk together.

    Attributes
    ----------
    codes : ndarray of shape (n_features, n_rows, 4)
        Code of the row; first and last code of what its window still holds on the row's path.
    ranges : ndarray of shape (n_questions, n_rows, 4)
        First and last code of the window, first and last cell (exclusive).
    starts : ndarray of shape (n_questions, n_rows)
        Where the sums of a row lie, less its first cell.
    """

    codes: Any
    ranges: Any
    starts: Any


class Lists(NamedTuple):
    """Room for rows at a node, rows whose window a split cuts, and parts of windows on their way."""

    rows: Any
    left_rows: Any
    leaving: Any
    away: Any
    left_away: Any
    parted: Any
    leaf_of: Any
    stack: Any


class Weight(NamedTuple):
    """How rows count."""

    group: Any
    share: Any


class Steps(NamedTuple):
    """Jumps: `starts[q * n_rows + r]` is where those of row r and question q begin.

    `cells` says where a jump is; -1 stands where no jump is, but the sums before one.
    """

    starts: Any
    cells: Any
    jumps: Any


class Counted(NamedTuple):
    """What is added up over the rows: tables of all questions one behind the other."""

    jumps: Any
    near: Any
    stand: Any
    slopes: Any


def walk_jumps(
    forest: Forest,
    matrix: FloatArray,
    questions: Sequence[JumpQuestion],
    features: IntArray,
    rows: JumpRows,
    answering: Answering,
) -> list[JumpReply]:
    """Sum the jumps of all rows, and take the slopes of each row's own staircase.

    Parameters
    ----------
    forest : Forest
        The trees.
    matrix : ndarray of shape (n_rows, n_features)
        The rows as the trees see them.
    questions : sequence of JumpQuestion
        What is asked, each about another column.
    features : ndarray of shape (n_questions,)
        The feature that each column is.
    rows : JumpRows
        How the rows count.
    answering : Answering
        How sums become answers.

    Notes
    -----
    The rows of a block go down a tree together, as in `walk`. Where a split on feature f cuts the
    window of a row, the part on the other side goes on alone, and is cut again by further splits
    on f; elsewhere it follows the row's own values. A part takes the row's own leaf away from all
    its codes, and the leaves that it reaches bring theirs: what changes from code to code is
    added to the cell of the cut between them, so a row has, for each feature, the changes of its
    sum over the window, in whole numbers. Then come the link and the sums over the rows.
    O(rows x trees x depth), plus the ways of the parts; memory O(block) beside the slopes.
    """
    replies: list[JumpReply] = []
    for start in range(0, len(questions), MOST_QUESTIONS):
        part = slice(start, start + MOST_QUESTIONS)
        walked = _walk_some(forest, matrix, questions[part], features[part], rows, answering)
        replies += walked
    return replies


def will_compile() -> bool:
    """Tell whether the next walk has to be compiled: it is in no cache yet."""
    if walk_block.signatures:
        return False
    return not any(
        Path(str(walk_block.stats.cache_path)).glob(f"{Path(__file__).stem}.walk_block-*.nbi")
    )


def _walk_some(
    forest: Forest,
    matrix: FloatArray,
    questions: Sequence[JumpQuestion],
    features: IntArray,
    rows: JumpRows,
    answering: Answering,
) -> list[JumpReply]:
    """Answer as many questions as one walk can."""
    if will_compile():
        LOG.warning("compiling the walk of jumps, once and for all (some seconds)")
    n_rows, n_outputs = len(matrix), forest.n_outputs
    asked, windows = list_cells(forest, questions, features), stack_windows(questions)
    trees = Trees(
        forest.nodes, forest.bits, forest.roots, forest.targets, forest.leaves, forest.depth
    )
    coding = Coding(forest.cuts, forest.cut_starts, forest.kinds, forest.is_single)
    most_leaves = count_leaves(forest)
    most = choose_block(asked, n_rows, n_outputs, most_leaves)
    block = make_block(forest.n_features, len(questions), most)
    lists = make_lists(most, most_leaves, forest.depth)
    counted = make_counted(asked, n_rows, len(answering.chosen))
    weight = Weight(rows.group.astype(np.uint64), rows.share.astype(np.float64))
    count_rows(asked, windows, weight, counted)
    for begin in range(0, n_rows, most):
        end = min(begin + most, n_rows)
        size = place_block(coding, asked, windows, matrix[begin:end], begin, block)
        sums = np.zeros((size, n_outputs), np.int64)
        total = np.zeros((end - begin, n_outputs), np.int64)
        walk_block(trees, asked, block, lists, sums, total)
        steps = find_steps(block, sums, total, np.ldexp(1.0, -forest.exponent), answering)
        count_steps(asked, windows, weight, steps, begin, 1 / answering.unit, counted)
    return split_replies(questions, counted, answering.unit)


def list_cells(forest: Forest, questions: Sequence[JumpQuestion], features: IntArray) -> Asked:
    """Tables of the cells of all questions."""
    question_of = np.full(forest.n_features, NOT_ASKED, dtype=np.uint64)
    is_seen = features >= 0
    question_of[features[is_seen]] = np.flatnonzero(is_seen)
    cells, cuts = [], []
    for question in questions:
        of_cut, n_cells = question.cells.cell_of_cut, question.cells.n_cells
        inside = np.flatnonzero(of_cut >= 0)
        top = n_cells + 1
        above = inside[-1] + 1 if inside.size else of_cut.size
        numbered = np.where(np.arange(of_cut.size) < above, of_cut + 1, top)
        cells.append(np.concatenate([[0, 0], numbered, [top]]))
        cuts.append(np.append(inside[np.searchsorted(of_cut[inside], np.arange(n_cells))], above))
    sizes = [q.cells.n_cells for q in questions]
    return Asked(
        features=features.astype(np.int64),
        question_of=question_of,
        cells=np.concatenate(cells).astype(np.uint32),
        cell_starts=_starts([len(c) for c in cells]),
        cuts=np.concatenate(cuts),
        places=np.concatenate([q.cells.places for q in questions]),
        place_starts=_starts(sizes),
    )


def _starts(sizes: Sequence[int]) -> Any:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint64)


def stack_windows(questions: Sequence[JumpQuestion]) -> Windows:
    """The rows of all questions."""
    return Windows(
        stand=np.stack([q.stand for q in questions]).astype(np.int64),
        first=np.stack([q.first for q in questions]).astype(np.int64),
        last=np.stack([q.last for q in questions]).astype(np.int64),
        narrow_start=np.stack([q.narrow[0] for q in questions]),
        narrow_stop=np.stack([q.narrow[1] for q in questions]),
        wide_start=np.stack([q.wide[0] for q in questions]),
        wide_stop=np.stack([q.wide[1] for q in questions]),
    )


def count_leaves(forest: Forest) -> int:
    """Leaves of the largest tree."""
    ends = np.append(forest.roots[1:], len(forest.nodes))
    return int((ends - forest.roots + 1).max(initial=2)) // 2


def choose_block(asked: Asked, n_rows: int, n_outputs: int, most_leaves: int) -> int:
    """Rows that walk together: their sums and lists fit into memory that is near."""
    sums = max(int(asked.place_starts[-1]) * n_outputs * WIDTH, 1)
    most = min(SUMS_AT_ONCE / sums, ITEMS_AT_ONCE / most_leaves, MOST_ROWS, max(n_rows, 1))
    return max(int(most), min(FEWEST_ROWS, max(n_rows, 1)))


def make_counted(asked: Asked, n_rows: int, n_chosen: int) -> Counted:
    """Zeros, to add to."""
    n_questions, n_cells = len(asked.features), int(asked.place_starts[-1])
    return Counted(
        np.zeros((N_GROUPS * n_cells, n_chosen), np.int64),
        np.zeros(N_GROUPS * (n_cells + n_questions), np.int64),
        np.zeros(N_GROUPS * (n_cells + n_questions), np.int64),
        np.zeros((n_questions, 4, n_chosen, n_rows)),
    )


def split_replies(
    questions: Sequence[JumpQuestion], counted: Counted, unit: float
) -> list[JumpReply]:
    """Give each question its part."""
    replies, start = [], 0
    for i, question in enumerate(questions):
        n = question.cells.n_cells
        jumps = counted.jumps[N_GROUPS * start : N_GROUPS * (start + n)]
        steps = slice(N_GROUPS * (start + i), N_GROUPS * (start + n + i + 1))
        sums = JumpSums(
            jumps.reshape(N_GROUPS, n, jumps.shape[1]),
            counted.near[steps].reshape(N_GROUPS, n + 1),
            counted.stand[steps].reshape(N_GROUPS, n + 1),
            unit,
        )
        replies.append(JumpReply(sums, counted.slopes[i]))
        start += n
    return replies


def find_steps(block: Block, sums: Any, total: Any, unit: float, answering: Answering) -> Steps:
    """The jumps of the answers that are not zero, those of a row and question together."""
    n_rows, chosen = len(total), list(answering.chosen)
    if answering.link is None:
        scale = unit * answering.factor
        steps: Steps = gather_jumps(block, sums, n_rows, np.array(chosen, dtype=np.uint64), scale)
    else:
        steps = gather_points(block, sums, total, answering.base, unit)
        answers = answering.link(steps.jumps)[:, chosen]
        with np.errstate(invalid="ignore"):
            jumps = np.diff(answers, axis=0, prepend=answers[:1])
        jumps[steps.cells < 0] = 0.0  # where a row begins
        steps = Steps(steps.starts, steps.cells, jumps)
    if not np.all(np.abs(steps.jumps) <= answering.bound):
        refuse_jumps(steps.jumps, answering.bound)
    return steps


def refuse_jumps(jumps: FloatArray, bound: float) -> None:
    """Say that an answer is infinite, or too large for the unit in which jumps are counted."""
    bad = jumps[~(np.abs(jumps) <= bound)][0]
    if np.isfinite(bad):
        msg = (
            f"the model's answer jumps by {bad:.3g} at a threshold, more than rhale can add up "
            f"beside its usual answers ({bound:.3g}); explain its raw sums (response='margin')"
        )
    else:
        msg = (
            "the model answered nan or infinity near a threshold; effects need finite predictions "
            "(raw sums are finite: response='margin')"
        )
    raise BadPredictionError(msg)


@njit(cache=True, nogil=True)
def make_block(n_features: Any, n_questions: Any, n_rows: Any) -> Any:
    """Room for the codes and windows of some rows."""
    return Block(
        np.zeros((n_features, n_rows, 4), np.uint32),
        np.zeros((n_questions, n_rows, 4), np.uint32),
        np.zeros((n_questions, n_rows), np.uint64),
    )


@njit(cache=True, nogil=True)
def make_lists(n_rows: Any, most_leaves: Any, depth: Any) -> Any:
    """Room for what is on its way.

    Parts of one row's window lie behind different splits on their feature, and are never more
    than these. One place more than needed, for what is not kept.
    """
    n_parts = n_rows * most_leaves + 1
    return Lists(
        np.empty(n_rows, np.uint32),
        np.empty(n_rows + 1, np.uint32),
        np.empty(n_rows + 1, np.uint32),
        np.empty(n_parts, np.uint64),
        np.empty(n_parts, np.uint64),
        np.empty(n_rows * depth + 1, np.uint64),
        np.empty(n_rows, np.uint32),
        np.empty((depth + 1, 5), np.uint64),
    )


@njit(cache=True, nogil=True)
def count_rows(asked: Any, windows: Any, weight: Any, counted: Any) -> None:
    """Add the shares of the rows to the cells that they are near to, and where they stand."""
    for q in range(len(asked.features)):
        n = np.int64(asked.place_starts[q + 1] - asked.place_starts[q]) + 1
        start = N_GROUPS * (np.int64(asked.place_starts[q]) + q)
        for r in range(len(weight.share)):
            if windows.stand[q, r] < 0:
                continue
            share = np.int64(np.rint(weight.share[r] * WHOLE))
            row = start + np.int64(weight.group[r]) * n
            counted.stand[row + windows.stand[q, r]] += share
            counted.near[row + windows.first[q, r]] += share
            counted.near[row + windows.last[q, r]] -= share


@njit(cache=True, nogil=True)
def place_block(coding: Any, asked: Any, windows: Any, rows: Any, begin: Any, block: Any) -> Any:
    """Write codes and ranges of rows; return how many sums they need."""
    n_rows = len(rows)
    x, code = np.empty(n_rows), np.empty(n_rows, np.uint32)
    first, last = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    size = 0
    for f in range(len(coding.kinds)):
        cuts = coding.cuts[coding.cut_starts[f] : coding.cut_starts[f + 1]]
        if len(cuts) == 0:
            continue
        x[:] = rows[:, f]
        encode(x, cuts, coding.kinds[f], coding.is_single, code)
        own = block.codes[f]
        for r in range(n_rows):
            own[r, 0], own[r, 1], own[r, 2] = code[r], NO_FIRST, NO_LAST
    for q in range(len(asked.features)):
        places = asked.places[asked.place_starts[q] : asked.place_starts[q + 1]]
        ranges, starts = block.ranges[q], block.starts[q]
        f = asked.features[q]
        if f < 0 or len(places) == 0:
            for r in range(n_rows):
                ranges[r, 0], ranges[r, 1], ranges[r, 2], ranges[r, 3] = NO_FIRST, NO_LAST, 0, 0
            continue
        cells = asked.cells[asked.cell_starts[q] : asked.cell_starts[q + 1]]
        cuts = asked.cuts[asked.place_starts[q] + np.uint64(q) :]
        find_window(windows, q, begin, places, first, last)
        own = block.codes[f]
        for r in range(n_rows):
            code_here = np.uint64(own[r, 0])
            a, b = first[r], last[r]
            if a >= b or code_here == MISSING:
                ranges[r, 0], ranges[r, 1], ranges[r, 2], ranges[r, 3] = NO_FIRST, NO_LAST, 0, 0
                continue
            # the row itself belongs to the range, even if it lies elsewhere in a merged cell
            from_code = min(np.int64(cuts[a]) + 1, np.int64(code_here))
            to_code = max(np.int64(cuts[b]) + 1, np.int64(code_here))
            a = min(a, np.int64(cells[code_here]))
            b = max(b, np.int64(cells[code_here + ONE]) - 1)
            own[r, 1], own[r, 2] = from_code, to_code
            ranges[r, 0], ranges[r, 1], ranges[r, 2], ranges[r, 3] = from_code, to_code, a, b
            starts[r] = np.uint64(size - a)
            size += b - a + 2  # what lies below the first cell, and above the last, too
    return size


@njit(cache=True, nogil=True)
def find_window(windows: Any, q: Any, begin: Any, places: Any, first: Any, last: Any) -> None:
    """Cells that a row counts for, or that lie inside one of its windows: first to last."""
    n_rows, n_cells = len(first), np.uint64(len(places))
    first[:], last[:] = 0, 0
    n = n_cells
    while n > 0:
        half = (n + ONE) >> ONE
        for r in range(n_rows):
            start = min(windows.narrow_start[q, begin + r], windows.wide_start[q, begin + r])
            stop = max(windows.narrow_stop[q, begin + r], windows.wide_stop[q, begin + r])
            here, there = np.uint64(first[r]), np.uint64(last[r])
            first[r] += half if places[here + half - ONE] <= start else ZERO
            last[r] += half if places[there + half - ONE] < stop else ZERO
        n -= half
    for r in range(n_rows):
        near, end = windows.first[q, begin + r], windows.last[q, begin + r]
        if first[r] >= last[r]:
            first[r], last[r] = near, end
        elif near < end:
            first[r], last[r] = min(first[r], near), max(last[r], end)
        if windows.stand[q, begin + r] < 0:
            first[r], last[r] = 0, 0


@njit(cache=True, nogil=True)
def walk_block(trees: Any, asked: Any, block: Any, lists: Any, sums: Any, total: Any) -> None:
    """Add the leaves of all trees to the totals of rows, and what changes to their sums."""
    for tree in range(len(trees.roots)):
        n_parted = walk_tree(trees, tree, asked, block, len(total), lists, sums)
        add_own(trees, tree, asked, block, lists, n_parted, sums, total)


@njit(cache=True, nogil=True)
def walk_tree(
    trees: Any, tree: Any, asked: Any, block: Any, n_rows: Any, lists: Any, sums: Any
) -> Any:
    """Send rows down a tree, left side first, and parts of their windows on ways of their own.

    As in `walk`: the rows of a node lie at `rows[a:b]`, parts that pass it at `away[s:e]`; what
    goes right moves to the front of these places, what goes left behind it. Leaves are added for
    the parts at once; for the rows themselves they are kept.
    """
    nodes, bits, leaves = trees.nodes, trees.bits, trees.leaves
    codes, starts = block.codes, block.starts
    question_of, cells, cell_starts = asked.question_of, asked.cells, asked.cell_starts
    rows, left_rows, leaving, stack = lists.rows, lists.left_rows, lists.leaving, lists.stack
    away, left_away, parted, leaf_of = lists.away, lists.left_away, lists.parted, lists.leaf_of
    target = np.uint64(trees.targets[tree])
    for r in range(n_rows):
        rows[r] = r
    node, a, b, s, e = np.uint64(trees.roots[tree]), ZERO, np.uint64(n_rows), ZERO, ZERO
    n_parted, n_waiting = ZERO, ZERO
    while True:
        f, left = np.uint64(nodes[node, 0]), np.uint64(nodes[node, 3])
        low, width = np.uint64(nodes[node, 1]), np.uint64(nodes[node, 2])
        if f == LEAF:
            for i in range(a, b):
                leaf_of[rows[i]] = left
            for k in range(leaves.shape[1]):
                value = leaves[left, k]
                add_parts(
                    value, target + np.uint64(k), s, e, away, starts, cells, cell_starts, sums
                )
        else:
            question, cut = question_of[f], low + width
            end, n_left = sort_away(
                f, low, width, bits, codes, question, cut, s, e, away, left_away
            )
            middle, n_leaving = sort_rows(
                f, low, width, bits, codes, cut, a, b, rows, left_rows, leaving
            )
            end, n_left, n_parted = part(
                f, question, cut, codes, leaving, n_leaving, away, end, left_away, n_left,
                parted, n_parted,
            )  # fmt: skip
            for i in range(n_left):
                away[end + i] = left_away[i]
            if middle > a or end > s:
                stack[n_waiting, 0] = left + ONE
                stack[n_waiting, 1], stack[n_waiting, 2] = a, middle
                stack[n_waiting, 3], stack[n_waiting, 4] = s, end
                n_waiting += ONE
            if b > middle or n_left > 0:
                node, a, s, e = left, middle, end, end + n_left
                continue
        if n_waiting == 0:
            return n_parted
        n_waiting -= ONE
        node, a, b = stack[n_waiting, 0], stack[n_waiting, 1], stack[n_waiting, 2]
        s, e = stack[n_waiting, 3], stack[n_waiting, 4]


@njit(cache=True, nogil=True, inline="always")
def sort_rows(
    f: Any,
    low: Any,
    width: Any,
    bits: Any,
    codes: Any,
    cut: Any,
    start: Any,
    end: Any,
    rows: Any,
    left_rows: Any,
    leaving: Any,
) -> Any:
    """Sort rows by the side they go to, and list those whose window lies on both."""
    place, n_left, n_leaving = start, ZERO, ZERO
    for i in range(start, end):
        r = np.uint64(rows[i])
        right = goes_right(np.uint64(codes[f, r, 0]), low, width, bits)
        leaving[n_leaving] = r
        is_cut = (np.uint64(codes[f, r, 1]) < cut) & (np.uint64(codes[f, r, 2]) >= cut)
        n_leaving += np.uint64(is_cut)
        rows[place] = left_rows[n_left] = r
        place += right
        n_left += ONE - right
    for i in range(n_left):
        rows[place + i] = left_rows[i]
    return place, n_leaving


@njit(cache=True, nogil=True, inline="always")
def sort_away(
    f: Any,
    low: Any,
    width: Any,
    bits: Any,
    codes: Any,
    question: Any,
    cut: Any,
    start: Any,
    end: Any,
    away: Any,
    left_away: Any,
) -> Any:
    """Sort parts by the side they go to; those that lie on both are cut."""
    place, n_left = start, ZERO
    for i in range(start, end):
        item = away[i]
        right = goes_right(np.uint64(codes[f, item & ROW, 0]), low, width, bits)
        first, last = (item >> BY_FIRST) & CODE, item >> BY_LAST
        if (item >> BY_QUESTION) & QUESTION == question:
            rest = item & ((ONE << BY_FIRST) - ONE)
            away[place] = (last << BY_LAST) | (max(first, cut) << BY_FIRST) | rest
            left_away[n_left] = (min(last, cut - ONE) << BY_LAST) | (first << BY_FIRST) | rest
            place += np.uint64(last >= cut)
            n_left += np.uint64(first < cut)
        else:
            away[place] = left_away[n_left] = item
            place += right
            n_left += ONE - right
    return place, n_left


@njit(cache=True, nogil=True, inline="always")
def part(
    f: Any,
    question: Any,
    cut: Any,
    codes: Any,
    leaving: Any,
    n_leaving: Any,
    away: Any,
    end: Any,
    left_away: Any,
    n_left: Any,
    parted: Any,
    n_parted: Any,
) -> Any:
    """Send the part of a row's window that lies on the other side there."""
    for i in range(n_leaving):
        r = np.uint64(leaving[i])
        first, last = np.uint64(codes[f, r, 1]), np.uint64(codes[f, r, 2])
        right = np.uint64(codes[f, r, 0]) >= cut
        rest = (question << BY_QUESTION) | r
        item = ((cut - ONE) << BY_LAST) | (first << BY_FIRST) | rest
        if not right:
            item = (last << BY_LAST) | (cut << BY_FIRST) | rest
        away[end] = left_away[n_left] = parted[n_parted] = item
        n_parted += ONE
        end += np.uint64(not right)
        n_left += np.uint64(right)
        codes[f, r, 1] = cut if right else first
        codes[f, r, 2] = last if right else cut - ONE
    return end, n_left, n_parted


@njit(cache=True, nogil=True, inline="always")
def add_parts(
    value: Any,
    k: Any,
    start: Any,
    end: Any,
    away: Any,
    starts: Any,
    cells: Any,
    cell_starts: Any,
    sums: Any,
) -> None:
    """Add a leaf to what changes at the ends of the parts that reach it."""
    for i in range(start, end):
        item = away[i]
        q = (item >> BY_QUESTION) & QUESTION
        sum_start, cell_start = starts[q, item & ROW], cell_starts[q]
        low = np.uint64(cells[cell_start + ((item >> BY_FIRST) & CODE)])
        high = np.uint64(cells[cell_start + (item >> BY_LAST) + ONE])
        sums[sum_start + low, k] += value
        sums[sum_start + high, k] -= value


@njit(cache=True, nogil=True)
def add_own(
    trees: Any, tree: Any, asked: Any, block: Any, lists: Any, n_parted: Any, sums: Any, total: Any
) -> None:
    """Add a row's own leaf to its total, take it away from the parts; make windows whole again."""
    leaves, leaf_of, target = trees.leaves, lists.leaf_of, np.uint64(trees.targets[tree])
    codes, ranges, starts, parted = block.codes, block.ranges, block.starts, lists.parted
    features, cells, cell_starts = asked.features, asked.cells, asked.cell_starts
    for k in range(leaves.shape[1]):
        output = target + np.uint64(k)
        for r in range(len(total)):
            total[r, output] += leaves[np.uint64(leaf_of[r]), k]
        for i in range(n_parted):
            item = parted[i]
            r, q = item & ROW, (item >> BY_QUESTION) & QUESTION
            own = leaves[np.uint64(leaf_of[r]), k]
            low = np.uint64(cells[cell_starts[q] + ((item >> BY_FIRST) & CODE)])
            high = np.uint64(cells[cell_starts[q] + (item >> BY_LAST) + ONE])
            sums[starts[q, r] + low, output] -= own
            sums[starts[q, r] + high, output] += own
    for i in range(n_parted):
        item = parted[i]
        r, q = item & ROW, (item >> BY_QUESTION) & QUESTION
        f = np.uint64(features[q])
        codes[f, r, 1], codes[f, r, 2] = ranges[q, r, 0], ranges[q, r, 1]


@njit(cache=True, nogil=True)
def gather_jumps(block: Any, sums: Any, n_rows: Any, chosen: Any, scale: Any) -> Any:
    """List the jumps of the chosen sums that are not zero."""
    n_questions = len(block.ranges)
    starts = np.zeros(n_questions * n_rows + 1, np.int64)
    cells = np.empty(len(sums), np.int64)
    jumps = np.empty((len(sums), len(chosen)))
    n = 0
    for q in range(n_questions):
        for r in range(n_rows):
            first, last = np.uint64(block.ranges[q, r, 2]), np.uint64(block.ranges[q, r, 3])
            for cell in range(first, last):
                place = block.starts[q, r] + cell + ONE
                is_zero = True
                for k in range(len(chosen)):
                    jump = sums[place, chosen[k]]
                    is_zero &= jump == 0
                    jumps[n, k] = jump * scale
                cells[n] = cell
                n += not is_zero
            starts[q * n_rows + r + 1] = n
    return Steps(starts, cells[:n], jumps[:n])


@njit(cache=True, nogil=True)
def gather_points(block: Any, sums: Any, total: Any, base: Any, unit: Any) -> Any:
    """List the sums of a row before its first jump and after each; the former have no cell."""
    n_questions, n_rows, n_outputs = len(block.ranges), len(total), len(base)
    starts = np.zeros(n_questions * n_rows + 1, np.int64)
    cells = np.empty(len(sums), np.int64)
    points = np.empty((len(sums), n_outputs))
    whole = np.empty(n_outputs, np.int64)
    n = 0
    for q in range(n_questions):
        for r in range(n_rows):
            first, last = np.uint64(block.ranges[q, r, 2]), np.uint64(block.ranges[q, r, 3])
            if last > first:
                below = block.starts[q, r] + first
                for k in range(n_outputs):
                    whole[k] = total[r, k] + sums[below, k]
                    points[n, k] = base[k] + unit * whole[k]
                cells[n] = -1
                n += 1
            begin = n
            for cell in range(first, last):
                place = block.starts[q, r] + cell + ONE
                is_zero = True
                for k in range(n_outputs):
                    is_zero &= sums[place, k] == 0
                    whole[k] += sums[place, k]
                    points[n, k] = base[k] + unit * whole[k]
                cells[n] = cell
                n += not is_zero
            if n == begin and last > first:
                n -= 1  # no jump at all
            starts[q * n_rows + r + 1] = n
    return Steps(starts, cells[:n], points[:n])


@njit(cache=True, nogil=True)
def count_steps(
    asked: Any, windows: Any, weight: Any, steps: Any, begin: Any, per_unit: Any, counted: Any
) -> None:
    """Add jumps to the sums of their cells, and to the slopes of their rows."""
    n_questions = len(asked.features)
    n_rows = (len(steps.starts) - 1) // n_questions
    for q in range(n_questions):
        start = asked.place_starts[q]
        n_cells = asked.place_starts[q + 1] - start
        places = asked.places[start : start + n_cells]
        for r in range(n_rows):
            row = begin + r
            begins, ends = steps.starts[q * n_rows + r], steps.starts[q * n_rows + r + 1]
            if begins == ends:
                continue
            share = weight.share[row] * per_unit
            sums_start = np.int64(N_GROUPS * start + weight.group[row] * n_cells)
            narrow_middle, narrow_per = halve(
                windows.narrow_start[q, row], windows.narrow_stop[q, row]
            )
            wide_middle, wide_per = halve(windows.wide_start[q, row], windows.wide_stop[q, row])
            for i in range(begins, ends):
                cell = steps.cells[i]
                if cell < 0:
                    continue
                u = abs(places[cell] - narrow_middle) * narrow_per
                narrow = 0.75 * max(1 - u * u, 0.0) * narrow_per
                u = (places[cell] - wide_middle) * wide_per
                wide = 0.75 * max(1 - u * u, 0.0) * wide_per
                half = 6 * abs(u) * max(1 - abs(u), 0.0) * wide_per
                is_near = (cell >= windows.first[q, row]) & (cell < windows.last[q, row])
                for k in range(steps.jumps.shape[1]):
                    jump = steps.jumps[i, k]
                    if is_near:
                        counted.jumps[sums_start + cell, k] += np.int64(np.rint(share * jump))
                    counted.slopes[q, 0, k, row] += jump * narrow
                    counted.slopes[q, 1, k, row] += jump * wide
                    counted.slopes[q, 2, k, row] += jump * half / 2
                    counted.slopes[q, 3, k, row] += jump * half if u >= 0 else -jump * half


@njit(cache=True, nogil=True, inline="always")
def halve(start: Any, stop: Any) -> Any:
    """Middle of a window, and one over its half width; 0 for a window that holds nothing."""
    half = (stop - start) / 2
    return (start + stop) / 2, 1 / half if half > 0 else 0.0
