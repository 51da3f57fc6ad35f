"""Walk trees along all branches that the windows of a row can take, and sum its jumps (numba)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np

from rhale.effects.jumps import (
    JUMP_FIXED_POINT_SCALE,
    N_JUMP_GROUPS,
    Cells,
    Ends,
    JumpCells,
    JumpQuestion,
    JumpReply,
    JumpRows,
    JumpSums,
    join_marks,
)
from rhale.errors import BadPredictionError
from rhale.models.trees import walk
from rhale.models.trees.forest import CODE_BITS, LEAF, MISSING_CODE, Forest
from rhale.models.trees.links import OutputTransform
from rhale.models.trees.walk import (
    WALK_HALF_BITS,
    WALK_LOW_HALF,
    WALK_ONE,
    WALK_ZERO,
    encode_block,
    extract_forest_arrays,
    goes_right,
)
from rhale.stats.arrays import FloatArray, IntArray
from rhale.stats.jit import INNER_FUNCTION_OPTIONS, njit, will_compile, writable
from rhale.system import LOG

# An item on its way is one number: last and first code, question and row, from high bits to low.
QUESTION_BITS, ROW_BITS = 11, 11
MOST_QUESTIONS = 2**QUESTION_BITS - 1  # of one walk
# Rows that walk together: enough that few lists are short. Their sums are made for fewer at a time,
# so that they stay in the processor's cache.
MIN_JUMP_BLOCK_ROWS, MAX_JUMP_BLOCK_ROWS, JUMP_ENTRIES_AT_ONCE, PARTS_OF_A_ROW = (
    16,
    2**11,
    2**22,
    32,
)
WINDOWS_AT_ONCE = 2**18
JUMP_SUMS_AT_ONCE = 2**16
TWO = np.uint64(2)
ROW_MASK, QUESTION = np.uint64(2**ROW_BITS - 1), np.uint64(2**QUESTION_BITS - 1)
CODE = np.uint64(2**CODE_BITS - 1)
BY_QUESTION = np.uint64(ROW_BITS)
BY_FIRST, BY_LAST = np.uint64(ROW_BITS + QUESTION_BITS), np.uint64(64 - CODE_BITS)
WINDOW_CELL_SHARE = 0.35  # share of the cells in the window of a row, roughly
ENTRIES = 3  # parts of windows of a row that end in a tree of some leaves, roughly
NO_ROOM = np.uint64(2**63)
EVERY_CODE = np.array([0, 2**32], np.uint64)
NO_RANGE = np.uint64(2**31)  # first code high, last code 0: no split lies between them


class Asked(NamedTuple):
    """What is asked about each of some columns, tables of all of them one behind the other.

    Attributes
    ----------
    features : ndarray of shape (n_questions,)
        The feature of each question.
    question_of : ndarray of shape (n_features,)
        The question about each feature; one more than the last where nobody asks.
    cells, cell_starts : ndarrays
        For each code one more than the cell of the cut below it; 0 below all cells.
    places, place_starts : ndarrays
        Where the cells are.
    sum_starts, step_starts : ndarrays of shape (n_questions + 1,)
        Where the sums of each question begin, by group and cell, and by group and step.
    """

    features: Any
    question_of: Any
    cells: Any
    cell_starts: Any
    places: Any
    place_starts: Any
    sum_starts: Any
    step_starts: Any


class JumpMarkTables(NamedTuple):
    """What is asked of rows, by their marks: those of all questions one behind the other.

    Attributes
    ----------
    of_rows : ndarray of shape (n_questions, n_rows)
        The mark of each row, counted from the first of its question; -1 if it does not count.
    starts : ndarray of shape (n_questions,)
        Where the marks of each question begin.
    cell_index, sum_starts, step_starts : ndarrays of shape (n_marks,)
        Places at or below; where the sums of its part of the rows begin, and the steps.
    near, inner, reach, codes : ndarrays of shape (n_marks, 2)
        First and last cell (exclusive) that rows count for, among whose innermost rows they are,
        and of all that is asked about; first and last code of the latter.
    windows : ndarray of shape (n_marks, 2)
        Middle of the window, and one over its half width.
    """

    of_rows: Any
    starts: Any
    cell_index: Any
    sum_starts: Any
    step_starts: Any
    near: Any
    inner: Any
    reach: Any
    codes: Any
    windows: Any


class WindowBlock(NamedTuple):
    """Rows that walk together.

    Attributes
    ----------
    codes : ndarray of shape (n_features, n_rows)
        Codes of the rows.
    ranges : ndarray of shape (n_questions + 1, n_rows)
        First and last code that a window holds; none for the last.
    cells : ndarray of shape (n_questions, n_rows, 2)
        First and last cell (exclusive) of the window.
    starts : ndarray of shape (n_questions, n_rows)
        Where the sums of a row lie, less its first cell.
    sizes : ndarray of shape (n_parts,)
        Sums of so many rows, 2 ** `shift`, at a time.
    touched : ndarray of shape (n_questions, n_rows)
        Whether anything was added to the sums of a row.
    """

    codes: Any
    ranges: Any
    cells: Any
    starts: Any
    sizes: Any
    touched: Any
    shift: Any


class WindowChanges(NamedTuple):
    """Parts of windows, and how the leaves they reach differ from the row's own.

    Attributes
    ----------
    entries : ndarray of shape (n_parts, n_entries, 1 + leaf_size)
        The parts of 2 ** `shift` rows at a time, and the differences.
    ends : ndarray of shape (n_trees + 1, n_parts)
        How many there are up to each tree.
    """

    entries: Any
    ends: Any


class WindowBuffers(NamedTuple):
    """Room for rows at a node, rows whose window a split cuts, and parts of windows on their way.

    Parts that have ended keep the leaf they reached, beside; rows keep theirs. `bounds` are the
    first and the last code of each feature that come to a node; `path` is what they were above.
    """

    rows: Any
    left_rows: Any
    leaving: Any
    away: Any
    left_away: Any
    ended: Any
    ended_in: Any
    leaf_of: Any
    stack: Any
    path: Any
    bounds: Any


class Weight(NamedTuple):
    """How rows count."""

    group: Any
    share: Any


class JumpWalkInput(NamedTuple):
    """What is walked, and what is asked."""

    trees: Any
    coding: Any
    asked: Any
    marks: Any


class JumpWorkspace(NamedTuple):
    """Memory that is used again and again; lists, entries and sums grow where they must."""

    coded: Any
    block: Any
    lists: Any
    entries: Any
    sums: Any


class Scales(NamedTuple):
    """Outputs that are wanted; a jump is `scale` times a sum, `per_unit` of it in units."""

    chosen: Any
    scale: Any
    per_unit: Any


class Pairs(NamedTuple):
    """Room for some rows of one question: their numbers and windows; cells where a row jumps."""

    rows: Any
    numbers: Any
    windows: Any
    cells: Any


class RowJumps(NamedTuple):
    """Jumps: `starts[q * n_rows + r]` is where those of row r and question q begin.

    `cells` says where a jump is; -1 stands where no jump is, but the sums before one.
    """

    starts: Any
    cells: Any
    jumps: Any


class Counted(NamedTuple):
    """What is added up over the rows: tables of all questions one behind the other.

    Of each question `jumps` has the sums of the outer rows of each neighbourhood, then those of the
    inner ones.
    """

    jumps: Any
    near: Any
    inner: Any
    cell_weight: Any
    slopes: Any


def walk_jumps(
    forest: Forest,
    matrix: FloatArray,
    questions: Sequence[JumpQuestion],
    features: IntArray,
    rows: JumpRows,
    answering: OutputTransform,
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
    answering : OutputTransform
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

    Rows that are alike walk together where trees are large (see `order_rows`).
    """
    order = order_rows(forest, matrix)
    if order is not None:
        matrix, rows = matrix[order], JumpRows(rows.group[order], rows.share[order])
        questions = [replace(question, mark=question.mark[order]) for question in questions]
    replies: list[JumpReply] = []
    for start in range(0, len(questions), MOST_QUESTIONS):
        part = slice(start, start + MOST_QUESTIONS)
        walked = _walk_some(forest, matrix, questions[part], features[part], rows, answering)
        replies += walked
    return replies if order is None else [_put_back(reply, order) for reply in replies]


def order_rows(forest: Forest, matrix: FloatArray) -> IntArray | None:
    """Give an order in which rows that go the same way are neighbours; None if it is of no use.

    Notes
    -----
    What costs most in a large tree is that few rows of a block pass each of its nodes, however
    few these are. Rows that are alike in the feature of most roots pass fewer nodes, together.
    """
    is_large = len(forest.nodes) > MAX_JUMP_BLOCK_ROWS * forest.n_trees
    if not is_large or len(matrix) <= MAX_JUMP_BLOCK_ROWS:
        return None
    at_roots = forest.nodes[forest.roots, 0]
    feature = np.bincount(at_roots[at_roots != LEAF]).argmax()
    return np.argsort(matrix[:, feature], kind="stable")


def _put_back(reply: JumpReply, order: IntArray) -> JumpReply:
    """Slopes in the order in which rows were given."""
    slopes = np.empty_like(reply.slopes)
    slopes[:, order] = reply.slopes
    return replace(reply, slopes=slopes)


def _walk_some(
    forest: Forest,
    matrix: FloatArray,
    questions: Sequence[JumpQuestion],
    features: IntArray,
    rows: JumpRows,
    answering: OutputTransform,
) -> list[JumpReply]:
    """Answer as many questions as one walk can."""
    if will_compile(walk_window_trees):
        LOG.warning("compiling the code for tree jumps, for this and later calls (some seconds)")
    asked = list_jump_cells(forest, questions, features)
    marks = list_marks(asked, questions)
    ground = JumpWalkInput(*extract_forest_arrays(forest), asked, marks)
    counted = make_counted(asked, len(matrix), len(answering.chosen))
    weight = Weight(rows.group.astype(np.uint64), rows.share.astype(np.float64))
    count_jump_rows(asked, marks, weight, counted)
    matrix, room = writable(matrix), allocate_jump_workspace(forest, asked, len(matrix))
    unit, pairs = np.ldexp(1.0, -forest.exponent), make_pairs(asked, 1 << room.block.shift)
    for begin in range(0, len(matrix), len(room.lists.rows)):
        end = min(begin + len(room.lists.rows), len(matrix))
        place_block(ground, matrix, (begin, end), room)
        total = np.zeros((end - begin, forest.n_outputs), np.int64)
        changes, room = walk_block(ground, room, total)
        if answering.link is None:
            count_parts(
                ground.trees, asked, marks, weight, room.block, changes, room.sums,
                (begin, end), pairs, find_scales(answering, unit), counted,
            )  # fmt: skip
        else:
            walked = changes, total, begin
            count_linked(ground, weight, room, walked, (answering, unit), counted)
    return split_replies(questions, counted, answering.unit)


def find_scales(answering: OutputTransform, unit: float) -> Scales:
    """How sums become jumps of answers, without a link."""
    scale = unit * answering.factor
    return Scales(np.array(answering.chosen, dtype=np.uint64), scale, scale / answering.unit)


def count_linked(
    ground: JumpWalkInput,
    weight: Weight,
    room: JumpWorkspace,
    walked: tuple[WindowChanges, Any, int],
    how: tuple[OutputTransform, float],
    counted: Counted,
) -> None:
    """Link the sums of some rows after the others, and count the jumps of answers."""
    (answering, unit), (changes, total, begin) = how, walked
    end, size = begin + len(total), 1 << room.block.shift
    for first in range(begin, end, size):
        span = first, min(first + size, end)
        points = gather_points(
            ground.trees, ground.asked, room.block, changes, room.sums, total, (*span, begin),
            answering.base, unit,
        )  # fmt: skip
        steps = link_steps(points, answering)
        count_steps(ground.asked, ground.marks, weight, steps, span, 1 / answering.unit, counted)


def place_block(
    ground: JumpWalkInput, matrix: FloatArray, rows: tuple[int, int], room: JumpWorkspace
) -> None:
    """Write codes and ranges of rows, and how many sums they need."""
    n_features, block = len(ground.coding.kinds), room.block
    no_change = np.empty(0, np.uint64)
    nothing = walk.FeatureChanges(no_change, no_change, np.zeros(n_features + 1, np.uint64))
    encode_block(ground.coding, nothing, matrix, np.empty((0, 0)), *rows, room.coded)
    block.sizes[:], block.cells[:], block.ranges[:] = 0, 0, NO_RANGE
    place_windows(ground.asked, ground.marks, *rows, block)


def walk_block(
    ground: JumpWalkInput, room: JumpWorkspace, total: Any
) -> tuple[WindowChanges, JumpWorkspace]:
    """Add the leaves of all trees to the totals of rows, and list what parts of windows change."""
    trees, block, n_trees = ground.trees, room.block, len(ground.trees.roots)
    ends = np.zeros((n_trees + 1, len(block.sizes)), np.uint64)
    tree, needed = walk_window_trees(
        trees, 0, ground.asked, block, room.lists, room.entries, ends, total
    )
    while tree < n_trees:  # more room, and this tree again
        room = enlarge_jump_workspace(room, int(needed))
        tree, needed = walk_window_trees(
            trees, tree, ground.asked, block, room.lists, room.entries, ends, total
        )
    size = int(block.sizes.max())
    if size > room.sums.shape[1]:
        room = room._replace(sums=np.zeros((len(room.sums), size + size // 8), np.int64))
    return WindowChanges(room.entries, ends), room


def enlarge_jump_workspace(room: JumpWorkspace, needed: int) -> JumpWorkspace:
    """Make lists longer; or entries, where it is known how many are needed."""
    if needed == 0:
        lists = room.lists
        size = len(lists.rows), 2 * len(lists.away), len(lists.stack) - 1, len(lists.bounds)
        return room._replace(lists=allocate_window_buffers(*size))
    n_parts, n_entries, size = room.entries.shape
    wider = np.empty((n_parts, 2 * needed, size), np.uint64)
    wider[:, :n_entries] = room.entries
    return room._replace(entries=wider)


def allocate_jump_workspace(forest: Forest, asked: Asked, n_rows: int) -> JumpWorkspace:
    """Room for the rows that walk together."""
    shift, most = choose_shift(asked, forest.n_outputs), choose_rows(forest, asked, n_rows)
    coded = walk.allocate_coded_block(forest.n_features, 0, most)
    block = allocate_window_block(coded.codes, len(asked.features), shift)
    n_entries = min(int(expect_parts(forest) * forest.n_trees), 2**12) << shift
    return JumpWorkspace(
        coded,
        block,
        allocate_window_buffers(most, most * PARTS_OF_A_ROW, forest.depth, forest.n_features),
        np.empty((len(block.sizes), n_entries, 1 + forest.leaves.shape[1]), np.uint64),
        np.zeros((forest.n_outputs, 0), np.int64),
    )


def allocate_window_block(codes: Any, n_questions: int, shift: int) -> WindowBlock:
    """Room for the windows of some rows, beside their codes."""
    n_rows = codes.shape[1]
    return WindowBlock(
        codes,
        np.full((n_questions + 1, n_rows), NO_RANGE),
        np.zeros((n_questions, n_rows, 2), np.uint32),
        np.zeros((n_questions, n_rows), np.uint64),
        np.zeros((n_rows >> shift) + 1, np.int64),
        np.zeros((n_questions, n_rows), np.bool_),
        shift,
    )


def allocate_window_buffers(
    n_rows: int, n_parts: int, depth: int, n_features: int
) -> WindowBuffers:
    """Room for what is on its way; one place more for what is not kept."""
    return WindowBuffers(
        np.empty(n_rows, np.uint32),
        np.empty(n_rows + 1, np.uint32),
        np.empty(n_rows + 1, np.uint32),
        np.empty(n_parts + 1, np.uint64),
        np.empty(n_parts + 1, np.uint64),
        np.empty(n_parts + 1, np.uint64),
        np.empty(n_parts + 1, np.uint32),
        np.empty(n_rows, np.uint32),
        np.empty((depth + 1, 7), np.uint64),
        np.empty((depth + 1, 3), np.uint64),
        np.tile(EVERY_CODE, (n_features, 1)),
    )


def make_pairs(asked: Asked, n_rows: int) -> Pairs:
    """Room for as many rows as have sums at a time; one place more for what is not kept."""
    return Pairs(
        np.empty(n_rows + 1, np.uint64),
        np.empty((n_rows, 8), np.uint64),
        np.empty((n_rows, 2)),
        np.empty(len(asked.places) + 1, np.uint64),
    )


def list_jump_cells(forest: Forest, questions: Sequence[JumpQuestion], features: IntArray) -> Asked:
    """Tables of the cells of all questions."""
    question_of = np.full(forest.n_features, len(questions), dtype=np.uint64)
    is_seen = features >= 0
    question_of[features[is_seen]] = np.flatnonzero(is_seen)
    cells = [number_codes(q.cells) for q in questions]
    sizes, groups = [q.cells.n_cells for q in questions], [q.n_groups for q in questions]
    return Asked(
        features=features.astype(np.int64),
        question_of=question_of,
        cells=np.concatenate(cells).astype(np.uint32),
        cell_starts=_starts([len(c) for c in cells]),
        places=np.concatenate([q.cells.places for q in questions]),
        place_starts=_starts(sizes),
        sum_starts=_starts([2 * n * size for n, size in zip(groups, sizes, strict=True)]),
        step_starts=_starts([n * (size + 1) for n, size in zip(groups, sizes, strict=True)]),
    )


def number_codes(cells: JumpCells) -> IntArray:
    """For each code one more than the cell of the cut below it."""
    behind = cells.cell_of_cut + 1
    behind[cells.first_cuts[-1] :] = cells.n_cells + 1
    return np.concatenate([[0, 0], behind, [cells.n_cells + 1]])


def _starts(sizes: Sequence[int]) -> Any:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint64)


def list_marks(asked: Asked, questions: Sequence[JumpQuestion]) -> JumpMarkTables:
    """Tables of the marks of all questions, and the marks of the rows."""
    every = join_marks([q.marks for q in questions])
    n_marks = [q.marks.n_marks for q in questions]
    question = np.repeat(np.arange(len(questions)), n_marks)
    before = every.part * N_JUMP_GROUPS  # groups of the parts before
    cells = asked.place_starts.astype(np.int64)[question]
    n_cells = np.diff(asked.place_starts.astype(np.int64))[question]
    cuts = np.concatenate([q.cells.first_cuts for q in questions])  # of cells, and one more each
    codes = [cuts[cells + question + cell] + 1 for cell in every.reach]
    return JumpMarkTables(
        of_rows=np.stack([q.mark for q in questions], dtype=np.int32, casting="same_kind"),
        starts=_starts(n_marks),
        cell_index=every.position.astype(np.int64),
        sum_starts=asked.sum_starts[question] + (before * n_cells).astype(np.uint64),
        step_starts=asked.step_starts[question] + (before * (n_cells + 1)).astype(np.uint64),
        near=np.column_stack(every.near).astype(np.uint32),
        inner=np.column_stack(cast(Cells, every.inner)).astype(np.uint32),
        reach=np.column_stack(every.reach).astype(np.uint32),
        codes=np.column_stack(codes).astype(np.uint64),
        windows=np.column_stack(halve(every.window)),
    )


def halve(window: Ends) -> Ends:
    """Middles of windows, and one over their half widths; 0 for a window that holds nothing."""
    start, stop = window
    half = (stop - start) / 2
    with np.errstate(over="ignore"):
        per = np.divide(1.0, half, out=np.zeros_like(half), where=half > 0)
    return (start + stop) / 2, per


def choose_shift(asked: Asked, n_outputs: int) -> int:
    """How many rows have sums at a time, as a power of two: they fit into memory that is near."""
    sums = max(int(asked.place_starts[-1]) * n_outputs * WINDOW_CELL_SHARE, 1.0)
    return int(np.clip(np.log2(JUMP_SUMS_AT_ONCE / sums), 3, 8))


def choose_rows(forest: Forest, asked: Asked, n_rows: int) -> int:
    """Rows that walk together: what they need fits into memory, and that is not far."""
    entries = max(forest.n_trees * expect_parts(forest) * (1 + forest.leaves.shape[1]), 1)
    windows = WINDOWS_AT_ONCE / max(len(asked.features), 1)
    most = min(JUMP_ENTRIES_AT_ONCE / entries, windows, MAX_JUMP_BLOCK_ROWS)
    return min(max(int(most), MIN_JUMP_BLOCK_ROWS), max(n_rows, 1))


def expect_parts(forest: Forest) -> float:
    """Parts of windows of a row that end in a tree, roughly: splits send parts, and cut them again.

    Measured: 1.2 in trees of 31 leaves, 1.8 in those of 61, 9.1 in those of 12,600.
    """
    depth = np.log2(max(len(forest.leaves) / max(forest.n_trees, 1), 1.0))
    return max(ENTRIES, float(depth) ** 2 / 20)


def make_counted(asked: Asked, n_rows: int, n_chosen: int) -> Counted:
    """Zeros, to add to."""
    n_questions, n_steps = len(asked.features), int(asked.step_starts[-1])
    return Counted(
        np.zeros((int(asked.sum_starts[-1]), n_chosen), np.int64),
        np.zeros(n_steps, np.int64),
        np.zeros(n_steps, np.int64),
        np.zeros(n_steps, np.int64),
        np.zeros((n_questions, n_chosen, n_rows)),
    )


def split_replies(
    questions: Sequence[JumpQuestion], counted: Counted, unit: float
) -> list[JumpReply]:
    """Give each question its part."""
    replies, sums_end, steps_end = [], 0, 0
    for i, question in enumerate(questions):
        n, n_groups = question.cells.n_cells, question.n_groups
        jumps = counted.jumps[sums_end : sums_end + 2 * n_groups * n]
        outer, inner = jumps.reshape(2, n_groups, n, jumps.shape[1])
        steps = slice(steps_end, steps_end + n_groups * (n + 1))
        near, within, stand = (
            own[steps].reshape(n_groups, n + 1)
            for own in (counted.near, counted.inner, counted.cell_weight)
        )
        apart = None if question.marks.inner is None else JumpSums(inner, within, stand, unit)
        sums = JumpSums(outer + inner, near, stand, unit, apart)
        replies.append(JumpReply(sums, counted.slopes[i]))
        sums_end, steps_end = sums_end + 2 * n_groups * n, steps.stop
    return replies


def link_steps(points: RowJumps, answering: OutputTransform) -> RowJumps:
    """Jumps of the answers, from sums before and behind each of them."""
    assert answering.link is not None  # noqa: S101 - our own mistake
    answers = answering.link(points.jumps)[:, list(answering.chosen)]
    with np.errstate(invalid="ignore"):
        jumps = np.diff(answers, axis=0, prepend=answers[:1])
    jumps[points.cells < 0] = 0.0  # where a row begins
    if not np.all(np.abs(jumps) <= answering.bound):
        refuse_jumps(jumps, answering.bound)
    return RowJumps(points.starts, points.cells, jumps)


def refuse_jumps(jumps: FloatArray, bound: float) -> None:
    """Say that an answer is infinite, or too large for the unit in which jumps are counted."""
    bad = jumps[~(np.abs(jumps) <= bound)][0]
    if np.isfinite(bad):
        msg = (
            f"the prediction jumps by {bad:.3g} at a threshold, more than rhale can add up "
            f"beside usual predictions ({bound:.3g}); explain its raw sums (response='margin')"
        )
    else:
        msg = (
            "the model returned nan or infinity near a threshold; effects need finite predictions "
            "(raw sums are finite: response='margin')"
        )
    raise BadPredictionError(msg)


@njit(cache=True, nogil=True)
def count_jump_rows(asked: Any, marks: Any, weight: Any, counted: Any) -> None:
    """Add the shares of the rows to the cells that they are near to, and where they stand."""
    of_rows, stand, step_starts = marks.of_rows, marks.cell_index, marks.step_starts
    near, inner, groups, shares = marks.near, marks.inner, weight.group, weight.share
    rows_stand, rows_near, rows_inner = counted.cell_weight, counted.near, counted.inner
    for q in range(len(of_rows)):
        n = asked.place_starts[q + 1] - asked.place_starts[q] + WALK_ONE
        for r in range(len(shares)):
            if of_rows[q, r] < 0:
                continue
            mark = marks.starts[q] + np.uint64(of_rows[q, r])
            share = np.int64(np.rint(shares[r] * JUMP_FIXED_POINT_SCALE))
            row = step_starts[mark] + groups[r] * n
            rows_stand[row + np.uint64(stand[mark])] += share
            rows_near[row + np.uint64(near[mark, 0])] += share
            rows_near[row + np.uint64(near[mark, 1])] -= share
            rows_inner[row + np.uint64(inner[mark, 0])] += share
            rows_inner[row + np.uint64(inner[mark, 1])] -= share


@njit(cache=True, nogil=True)
def place_windows(asked: Any, marks: Any, begin: Any, end: Any, block: Any) -> None:
    """Write the ranges of rows, and how many sums they need."""
    codes, sizes, shift = block.codes, block.sizes, np.uint64(block.shift)
    of_rows, reach, mark_codes = marks.of_rows, marks.reach, marks.codes
    every_cell, starts, ranges, cells = block.cells, block.starts, block.ranges, asked.cells
    for q in range(np.uint64(len(of_rows))):
        if asked.features[q] < 0:
            continue
        f, first_cell, first_mark = (
            np.uint64(asked.features[q]),
            asked.cell_starts[q],
            marks.starts[q],
        )
        for r in range(np.uint64(end - begin)):
            mark = of_rows[q, np.uint64(begin) + r]
            own = np.uint64(codes[f, r])
            if mark < 0 or own == MISSING_CODE:
                continue
            here = first_mark + np.uint64(mark)
            a, b = np.int64(reach[here, 0]), np.int64(reach[here, 1])
            if a >= b:
                continue
            # the row itself belongs to the range, even if it lies elsewhere in a merged cell
            from_code, to_code = min(mark_codes[here, 0], own), max(mark_codes[here, 1], own)
            a = min(a, np.int64(cells[first_cell + own]))
            b = max(b, np.int64(cells[first_cell + own + WALK_ONE]) - 1)
            ranges[q, r] = (to_code << WALK_HALF_BITS) | from_code
            every_cell[q, r, 0], every_cell[q, r, 1] = a, b
            place = r >> shift
            starts[q, r] = np.uint64(sizes[place] - a)
            sizes[place] += b - a + 2  # also what lies below the first cell, above the last


@njit(cache=True, nogil=True)
def walk_window_trees(
    trees: Any,
    tree: Any,
    asked: Any,
    block: Any,
    lists: Any,
    entries: Any,
    ends: Any,
    total: Any,
) -> Any:
    """Walk trees from the given one on, as long as there is room.

    Returns the tree that needs more, one more than the last at the end, and how many entries it
    needs; 0 if it is the lists that are too short.
    """
    n_parts = entries.shape[0]
    while tree < len(trees.roots):
        n_ended = walk_window_tree(trees, tree, asked, block, len(total), lists)
        if n_ended == NO_ROOM:
            return tree, WALK_ZERO
        most = WALK_ZERO
        for i in range(n_parts):
            ends[tree + 1, i] = ends[tree, i]
            most = max(most, ends[tree, i])
        if most + n_ended > entries.shape[1]:
            return tree, most + n_ended
        add_window_leaves(trees, tree, block, lists, n_ended, entries, ends, total)
        tree += 1
    return tree, WALK_ZERO


@njit(**INNER_FUNCTION_OPTIONS)
def walk_window_tree(trees: Any, tree: Any, asked: Any, block: Any, n_rows: Any, lists: Any) -> Any:
    """Send rows down a tree, left side first, and parts of their windows on ways of their own.

    Returns how many parts have ended, or NO_ROOM if the lists are too short.

    As in `walk`: the rows of a node lie at `rows[a:b]`, parts that pass it at `away[s:e]`; what
    goes right moves to the front of these places, what goes left behind it. What a window holds at
    a node is what it holds at all, within the bounds of the node.
    """
    nodes, bits, question_of = trees.nodes, trees.bits, asked.question_of
    codes, ranges, nobody = block.codes, block.ranges, np.uint64(len(block.ranges) - 1)
    rows, left_rows, leaving, stack = lists.rows, lists.left_rows, lists.leaving, lists.stack
    away, left_away, leaf_of = lists.away, lists.left_away, lists.leaf_of
    ended, ended_in, path, bounds = lists.ended, lists.ended_in, lists.path, lists.bounds
    for r in range(n_rows):
        rows[r] = r
    node, a, b, s, e = (
        np.uint64(trees.roots[tree]),
        WALK_ZERO,
        np.uint64(n_rows),
        WALK_ZERO,
        WALK_ZERO,
    )
    n_ended, n_waiting, depth = WALK_ZERO, WALK_ZERO, WALK_ZERO
    most = np.uint64(len(away) - 1)
    while True:
        if s + TWO * (e - s) + (b - a) > most or n_ended + (e - s) > most:
            return NO_ROOM
        f, left = np.uint64(nodes[node, 0]), np.uint64(nodes[node, 3])
        low, width = np.uint64(nodes[node, 1]), np.uint64(nodes[node, 2])
        if f == LEAF:
            for i in range(a, b):
                leaf_of[rows[i]] = left
            for i in range(s, e):
                ended[n_ended], ended_in[n_ended] = away[i], left
                n_ended += WALK_ONE
        else:
            question, cut = question_of[f], low + width
            first, last = bounds[f, 0], bounds[f, 1]
            path[depth, 0], path[depth, 1], path[depth, 2] = f, first, last
            end, n_left = partition_windows(
                f, low, width, bits, codes, question, cut, s, e, away, left_away
            )
            # a split that all who come to it pass on one side cuts no window
            cutting = question if (first < cut) & (last >= cut) else nobody
            middle, n_leaving = partition_window_rows(
                f, low, width, bits, codes, ranges, cutting, cut, a, b, rows, left_rows, leaving
            )
            end, n_left = part(
                f, question, cut, first, last, codes, ranges,
                leaving, n_leaving, away, end, left_away, n_left,
            )  # fmt: skip
            for i in range(n_left):
                away[end + i] = left_away[i]
            if middle > a or end > s:
                stack[n_waiting, 0] = left + WALK_ONE
                stack[n_waiting, 1], stack[n_waiting, 2] = a, middle
                stack[n_waiting, 3], stack[n_waiting, 4] = s, end
                stack[n_waiting, 5], stack[n_waiting, 6] = depth, cut
                n_waiting += WALK_ONE
            if b > middle or n_left > 0:
                node, a, s, e = left, middle, end, end + n_left
                bounds[f, 1] = min(last, cut - WALK_ONE)
                depth += WALK_ONE
                continue
        above = WALK_ZERO if n_waiting == 0 else stack[n_waiting - WALK_ONE, 5]
        while depth > above:
            depth -= WALK_ONE
            bounds[path[depth, 0], 0], bounds[path[depth, 0], 1] = path[depth, 1], path[depth, 2]
        if n_waiting == 0:
            return n_ended
        n_waiting -= WALK_ONE
        node, a, b = stack[n_waiting, 0], stack[n_waiting, 1], stack[n_waiting, 2]
        s, e = stack[n_waiting, 3], stack[n_waiting, 4]
        bounds[path[depth, 0], 0] = max(path[depth, 1], stack[n_waiting, 6])
        depth += WALK_ONE


@njit(nogil=True, inline="always")
def partition_window_rows(
    f: Any,
    low: Any,
    width: Any,
    bits: Any,
    codes: Any,
    ranges: Any,
    question: Any,
    cut: Any,
    start: Any,
    end: Any,
    rows: Any,
    left_rows: Any,
    leaving: Any,
) -> Any:
    """Sort rows by the side they go to, and list those whose window lies on both."""
    place, n_left, n_leaving = start, WALK_ZERO, WALK_ZERO
    for i in range(start, end):
        r = np.uint64(rows[i])
        right = goes_right(np.uint64(codes[f, r]), low, width, bits)
        leaving[n_leaving] = r
        held = ranges[question, r]
        is_cut = ((held & WALK_LOW_HALF) < cut) & ((held >> WALK_HALF_BITS) >= cut)
        n_leaving += np.uint64(is_cut)
        rows[place] = left_rows[n_left] = r
        place += right
        n_left += WALK_ONE - right
    for i in range(n_left):
        rows[place + i] = left_rows[i]
    return place, n_leaving


@njit(nogil=True, inline="always")
def partition_windows(
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
    place, n_left = start, WALK_ZERO
    for i in range(start, end):
        item = away[i]
        right = goes_right(np.uint64(codes[f, item & ROW_MASK]), low, width, bits)
        first, last = (item >> BY_FIRST) & CODE, item >> BY_LAST
        own = np.uint64(((item >> BY_QUESTION) & QUESTION) == question)
        is_left, is_right = own & np.uint64(first < cut), own & np.uint64(last >= cut)
        away[place] = item + ((is_left * (cut - first)) << BY_FIRST)
        left_away[n_left] = item - ((is_right * (last + WALK_ONE - cut)) << BY_LAST)
        other = WALK_ONE - own
        place += is_right | (other & right)
        n_left += is_left | (other & (WALK_ONE - right))
    return place, n_left


@njit(nogil=True, inline="always")
def part(
    f: Any,
    question: Any,
    cut: Any,
    lowest: Any,
    highest: Any,
    codes: Any,
    ranges: Any,
    leaving: Any,
    n_leaving: Any,
    away: Any,
    end: Any,
    left_away: Any,
    n_left: Any,
) -> Any:
    """Send the part of a row's window that lies on the other side there."""
    for i in range(n_leaving):
        r = np.uint64(leaving[i])
        held = ranges[question, r]
        first, last = max(held & WALK_LOW_HALF, lowest), min(held >> WALK_HALF_BITS, highest)
        right = np.uint64(np.uint64(codes[f, r]) >= cut)
        left = WALK_ONE - right
        rest = (question << BY_QUESTION) | r
        # a row that goes right sends first .. cut - 1 to the left, one that goes left cut .. last
        to_left = ((cut - WALK_ONE) << BY_LAST) | (first << BY_FIRST) | rest
        to_right = (last << BY_LAST) | (cut << BY_FIRST) | rest
        away[end], left_away[n_left] = to_right, to_left
        end += left
        n_left += right
    return end, n_left


@njit(**INNER_FUNCTION_OPTIONS)
def add_window_leaves(
    trees: Any,
    tree: Any,
    block: Any,
    lists: Any,
    n_ended: Any,
    entries: Any,
    ends: Any,
    total: Any,
) -> None:
    """Add the leaves of rows, and list how those of parts differ."""
    leaves, leaf_of, target = trees.leaves, lists.leaf_of, np.uint64(trees.targets[tree])
    ended, ended_in, shift = lists.ended, lists.ended_in, np.uint64(block.shift)
    width = np.uint64(leaves.shape[1])
    for r in range(np.uint64(len(total))):
        for k in range(width):
            total[r, target + k] += leaves[np.uint64(leaf_of[r]), k]
    for i in range(n_ended):
        item = ended[i]
        r = item & ROW_MASK
        part = r >> shift
        here, there, own = ends[tree + 1, part], np.uint64(ended_in[i]), np.uint64(leaf_of[r])
        ends[tree + 1, part] = here + WALK_ONE
        entries[part, here, 0] = item
        entries[part, here, 1] = np.uint64(leaves[there, 0] - leaves[own, 0])
        for k in range(WALK_ONE, width):
            entries[part, here, k + WALK_ONE] = np.uint64(leaves[there, k] - leaves[own, k])


@njit(**INNER_FUNCTION_OPTIONS)
def make_sums(trees: Any, asked: Any, block: Any, changes: Any, part: Any, sums: Any) -> None:
    """Add what changes at the ends of the parts of windows, for some of the rows."""
    entries, ends, starts = changes.entries, changes.ends, block.starts
    touched, targets = block.touched, trees.targets
    cells, cell_starts = asked.cells, asked.cell_starts
    for k in range(np.uint64(entries.shape[2] - 1)):
        for tree in range(np.uint64(len(targets))):
            output = np.uint64(targets[tree]) + k
            for i in range(ends[tree, part], ends[tree + WALK_ONE, part]):
                item, change = entries[part, i, 0], np.int64(entries[part, i, k + WALK_ONE])
                q = (item >> BY_QUESTION) & QUESTION
                start, cell = starts[q, item & ROW_MASK], cell_starts[q]
                low = np.uint64(cells[cell + ((item >> BY_FIRST) & CODE)])
                high = np.uint64(cells[cell + (item >> BY_LAST) + WALK_ONE])
                touched[q, item & ROW_MASK] = True
                sums[output, start + low] += change
                sums[output, start + high] -= change


@njit(cache=True, nogil=True)
def count_parts(
    trees: Any,
    asked: Any,
    marks: Any,
    weight: Any,
    block: Any,
    changes: Any,
    sums: Any,
    rows: Any,
    pairs: Any,
    scales: Any,
    counted: Any,
) -> None:
    """Count the jumps of sums, for some rows after the others."""
    (begin, end), shift = rows, block.shift
    for first in range(begin, end, 1 << shift):
        make_sums(trees, asked, block, changes, np.uint64((first - begin) >> shift), sums)
        span = np.uint64(first), np.uint64(min(first + (1 << shift), end)), np.uint64(begin)
        count_part(asked, marks, weight, block, sums, span, pairs, scales, counted)


@njit(**INNER_FUNCTION_OPTIONS)
def count_part(
    asked: Any,
    marks: Any,
    weight: Any,
    block: Any,
    sums: Any,
    span: Any,
    pairs: Any,
    scales: Any,
    counted: Any,
) -> None:
    """Add jumps of sums to those of their cells and to the slopes of their rows; leave zeros."""
    place_starts, places, shares = asked.place_starts, asked.places, weight.share
    jumps, slopes, chosen = counted.jumps, counted.slopes, scales.chosen
    scale, per_unit, kept = scales.scale, scales.per_unit, pairs.cells
    listed, numbers, ends = pairs.rows, pairs.numbers, pairs.windows
    for q in range(np.uint64(len(slopes))):
        start = place_starts[q]
        to_inner = (asked.sum_starts[q + WALK_ONE] - asked.sum_starts[q]) >> WALK_ONE
        n_listed = list_rows(
            q, place_starts[q + WALK_ONE] - start, marks, weight, block, span, pairs
        )
        for n in range(n_listed):
            row = listed[n] + span[2]
            first, last, near, end = numbers[n, 0], numbers[n, 1], numbers[n, 2], numbers[n, 3]
            begin, group = numbers[n, 4], numbers[n, 5]
            inner, inner_end = numbers[n, 6], numbers[n, 7]
            middle, per = ends[n, 0], ends[n, 1]
            share = shares[row] * per_unit
            for k in range(np.uint64(len(chosen))):
                output = chosen[k]
                n_kept = list_changes(sums, output, begin, first, last, kept)
                slope = 0.0
                for i in range(n_kept):
                    cell = kept[i]
                    place, jump = places[start + cell], np.float64(sums[output, begin + cell])
                    if (cell >= near) & (cell < end):
                        is_inner = np.uint64((cell >= inner) & (cell < inner_end))
                        here = group + cell + is_inner * to_inner
                        jumps[here, k] += np.int64(np.rint(share * jump))
                    u = (place - middle) * per
                    slope += jump * max(1 - u * u, 0.0)
                # least squares over a window weighs a jump by 3/4 (1 - u²), by the half width
                slopes[q, k, row] = 0.75 * slope * (per * scale)
            for output in range(np.uint64(len(sums))):
                for i in range(begin + first - WALK_ONE, begin + last + WALK_ONE):
                    sums[output, i] = 0


@njit(nogil=True, inline="always")
def list_rows(
    q: Any, n_cells: Any, marks: Any, weight: Any, block: Any, span: Any, pairs: Any
) -> Any:
    """List the rows whose sums were touched, and what they bring: many wait for memory together."""
    touched, starts, cells, groups = block.touched, block.starts, block.cells, weight.group
    of_rows, nears, windows, sum_starts = marks.of_rows, marks.near, marks.windows, marks.sum_starts
    inners = marks.inner
    listed, numbers, ends, first_mark = pairs.rows, pairs.numbers, pairs.windows, marks.starts[q]
    n_listed = WALK_ZERO
    for r in range(span[0] - span[2], span[1] - span[2]):
        listed[n_listed] = r
        n_listed += np.uint64(touched[q, r])
        touched[q, r] = False
    for i in range(n_listed):
        r = listed[i]
        row = r + span[2]
        mark = first_mark + np.uint64(of_rows[q, row])
        numbers[i, 0], numbers[i, 1] = np.uint64(cells[q, r, 0]), np.uint64(cells[q, r, 1])
        numbers[i, 2], numbers[i, 3] = np.uint64(nears[mark, 0]), np.uint64(nears[mark, 1])
        numbers[i, 4] = starts[q, r] + WALK_ONE
        numbers[i, 5] = sum_starts[mark] + groups[row] * n_cells
        numbers[i, 6], numbers[i, 7] = np.uint64(inners[mark, 0]), np.uint64(inners[mark, 1])
        for side in range(np.uint64(2)):
            ends[i, side] = windows[mark, side]
    return n_listed


@njit(nogil=True, inline="always")
def list_changes(sums: Any, output: Any, begin: Any, first: Any, last: Any, kept: Any) -> Any:
    """List the cells where something changes."""
    n_kept = WALK_ZERO
    for cell in range(first, last):
        kept[n_kept] = cell
        n_kept += np.uint64(sums[output, begin + cell] != 0)
    return n_kept


@njit(cache=True, nogil=True)
def gather_points(
    trees: Any,
    asked: Any,
    block: Any,
    changes: Any,
    sums: Any,
    total: Any,
    span: Any,
    base: Any,
    unit: Any,
) -> Any:
    """List the sums of a row before its first jump and after each; leave zeros behind.

    The former have no cell: -1.
    """
    n_questions, n_rows, n_outputs = len(block.starts), span[1] - span[0], len(base)
    make_sums(trees, asked, block, changes, np.uint64((span[0] - span[2]) >> block.shift), sums)
    starts = np.zeros(n_questions * n_rows + 1, np.int64)
    size = block.sizes[(span[0] - span[2]) >> block.shift]
    cells, points = np.empty(size, np.int64), np.empty((size, n_outputs))
    whole = np.empty(n_outputs, np.int64)
    n = 0
    for q in range(n_questions):
        for row in range(n_rows):
            r = span[0] - span[2] + row
            first, last = np.uint64(block.cells[q, r, 0]), np.uint64(block.cells[q, r, 1])
            below = block.starts[q, r] + first
            is_touched = block.touched[q, r]
            if is_touched:
                block.touched[q, r] = False
                for k in range(n_outputs):
                    whole[k] = total[r, k] + sums[k, below]
                    points[n, k] = base[k] + unit * whole[k]
                cells[n] = -1
                n += 1
            begin = n
            for cell in range(first, last if is_touched else first):
                place = block.starts[q, r] + cell + WALK_ONE
                is_zero = True
                for k in range(n_outputs):
                    is_zero &= sums[k, place] == 0
                    whole[k] += sums[k, place]
                    points[n, k] = base[k] + unit * whole[k]
                cells[n] = cell
                n += not is_zero
            if n == begin and is_touched:
                n -= 1  # no jump at all
            starts[q * n_rows + row + 1] = n
            if is_touched:
                sums[:, below : below + last - first + TWO] = 0
    return RowJumps(starts, cells[:n], points[:n])


@njit(cache=True, nogil=True)
def count_steps(
    asked: Any, marks: Any, weight: Any, steps: Any, span: Any, per_unit: Any, counted: Any
) -> None:
    """Add jumps to the sums of their cells, and to the slopes of their rows."""
    n_questions = len(asked.features)
    n_rows = span[1] - span[0]
    for q in range(n_questions):
        start = asked.place_starts[q]
        n_cells = asked.place_starts[q + 1] - start
        to_inner = np.int64((asked.sum_starts[q + 1] - asked.sum_starts[q]) // 2)
        places = asked.places[start : start + n_cells]
        for r in range(n_rows):
            row = span[0] + r
            begins, ends = steps.starts[q * n_rows + r], steps.starts[q * n_rows + r + 1]
            if begins == ends:
                continue
            share = weight.share[row] * per_unit
            mark = marks.starts[q] + np.uint64(marks.of_rows[q, row])
            sums_start = np.int64(marks.sum_starts[mark] + weight.group[row] * n_cells)
            middle, per = marks.windows[mark, 0], marks.windows[mark, 1]
            near_first, near_last = np.int64(marks.near[mark, 0]), np.int64(marks.near[mark, 1])
            inner_first = np.int64(marks.inner[mark, 0])
            inner_last = np.int64(marks.inner[mark, 1])
            for i in range(begins, ends):
                cell = steps.cells[i]
                if cell < 0:
                    continue
                u = abs(places[cell] - middle) * per
                lever = 0.75 * max(1 - u * u, 0.0) * per
                is_near = (cell >= near_first) & (cell < near_last)
                is_inner = (cell >= inner_first) & (cell < inner_last)
                here = sums_start + cell + is_inner * to_inner
                for k in range(steps.jumps.shape[1]):
                    jump = steps.jumps[i, k]
                    if is_near:
                        counted.jumps[here, k] += np.int64(np.rint(share * jump))
                    counted.slopes[q, k, row] += jump * lever
