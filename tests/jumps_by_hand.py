"""Jumps of a model by brute force: its predictions on both sides of every place."""

import numpy as np

from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.jumps import (
    N_JUMP_GROUPS,
    JumpMarks,
    JumpQuestion,
    JumpRows,
    find_jump_cells,
    find_jump_reach,
)


def axis_of(x):
    """The axis of a column, all rows alike."""
    values, count = np.unique(x[~np.isnan(x)], return_counts=True)
    weight = count.astype(float)
    return FeatureAxis(float(values[0]), float(values[-1]), values, weight, float(weight.sum()))


def window(axis, x, share):
    """An even window of about a share of the rows around each value."""
    n = axis.values.size
    here = np.searchsorted(axis.values, x)
    half = int(np.ceil(share * n / 2))
    first, last = np.clip(here - half, 0, n - 1), np.clip(here + half, 0, n - 1)
    return axis.values[first], axis.values[last]


def ask_about(column, x, cuts, *, share=0.1, wide=0.1, most=1000):
    """A question about one column of rows: rows without a value, and few others, do not count."""
    axis = axis_of(x)
    cells = find_jump_cells(axis, cuts, share, most, inner=True)
    counts = ~np.isnan(x) & (np.arange(x.size) % 11 != 5)
    near = cells.serve(x)
    own = window(axis, x, wide)
    marks = JumpMarks(  # every row has one of its own
        np.searchsorted(cells.places, x, "right"),
        near,
        find_jump_reach(cells.places, near, own),
        own,
        part=np.zeros(x.size, dtype=int),
        inner=cells.serve_inner(x),
    )
    return JumpQuestion(column, cells, marks, np.where(counts, np.arange(x.size), -1))


def count_some(n_rows, seed=0, *, weighted=True):
    """Groups and shares of rows."""
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.2, 3, n_rows) if weighted else np.ones(n_rows)
    scale = 2.0 ** np.ceil(np.log2(weight.sum()))
    return JumpRows(rng.integers(0, N_JUMP_GROUPS, n_rows).astype(np.uint8), weight / scale)


def jumps_by_hand(predict, question, cuts, sides=None):
    """Jumps of every row at every cell: predictions behind its last cut less before its first.

    `predict(values)` answers for the rows with the column replaced, shape (n_rows, n_outputs);
    `sides(column, cut)` gives the values before and behind a cut, if not its neighbours.
    """
    cells, n_rows = question.cells, question.mark.size
    found = [np.zeros_like(predict(np.zeros(n_rows)))]
    for cell in range(cells.n_cells):
        mine = cuts[cells.cell_of_cut == cell]
        ends = np.nextafter(mine[0], -np.inf), mine[-1]
        if sides is not None:
            ends = sides(question.column, mine[0])[0], sides(question.column, mine[-1])[1]
        before, behind = (predict(np.full(n_rows, end)) for end in ends)
        found.append(behind - before)
    return np.array(found[1:]).reshape(cells.n_cells, *found[0].shape)


def slopes_by_hand(question, jumps):
    """The slope of each row by least squares over its window: a jump weighs 3/4 (1 - u²)."""
    start, stop = question.marks.window
    half, middle = (stop - start) / 2, (stop + start) / 2
    with np.errstate(all="ignore"):
        u = np.where(half > 0, (question.cells.places[:, None] - middle) / half, np.inf)
    counts = (np.abs(u) < 1) & (question.mark >= 0)
    weight = np.where(counts, 0.75 * (1 - np.where(counts, u, 0.0) ** 2), 0.0)
    return np.einsum("cr,crk->kr", weight / np.where(half > 0, half, 1.0), jumps)


def sums_by_hand(question, rows, jumps):
    """Jumps, rows near each cell, and where rows stand, by group; as plain numbers."""
    return _sums_by_hand(question, rows, jumps, question.marks.near)


def inner_by_hand(question, rows, jumps):
    """The same of the innermost rows of each neighbourhood."""
    return _sums_by_hand(question, rows, jumps, question.marks.inner)


def _sums_by_hand(question, rows, jumps, served_by):
    n_cells, marks = question.cells.n_cells, question.marks
    total = np.zeros((N_JUMP_GROUPS, n_cells, jumps.shape[2]))
    near, stand = np.zeros((N_JUMP_GROUPS, n_cells)), np.zeros((N_JUMP_GROUPS, n_cells + 1))
    for r in np.flatnonzero(question.mark >= 0):
        group, share = rows.group[r], rows.share[r]
        served = slice(served_by[0][r], served_by[1][r])
        total[group, served] += share * jumps[served, r]
        near[group, served] += share
        stand[group, marks.position[r]] += share
    return total, near, stand


def assert_same_jumps(reply, question, rows, jumps, precision):
    """What was walked equals brute force."""
    size = max(1.0, np.abs(jumps).max(initial=0.0))
    for sums, by_hand in ((reply.sums, sums_by_hand), (reply.sums.inner, inner_by_hand)):
        total, near, stand = by_hand(question, rows, jumps)
        np.testing.assert_allclose(sums.jumps * sums.unit, total, rtol=0, atol=precision * size)
        np.testing.assert_allclose(
            np.cumsum(sums.near, axis=1)[:, :-1] / 2.0**61, near, rtol=0, atol=1e-12
        )
        np.testing.assert_allclose(sums.row_shares / 2.0**61, stand, rtol=0, atol=1e-12)
    expected = slopes_by_hand(question, jumps)
    size = max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(reply.slopes, expected, rtol=0, atol=precision * size)
