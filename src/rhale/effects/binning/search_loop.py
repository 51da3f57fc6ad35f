"""The cheapest bins of axes by one compiled loop (numba): those of `effects.binning.segments`, sooner.

Prices of fits have the bits of NumPy. Those of spreads may differ in the last one, as logarithms
do from processor to processor; which bins are chosen does not hang on that (`segments.COST_TIE_TOLERANCE`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from rhale.effects.binning.moments import LOST, SMALLEST_NORMAL
from rhale.effects.binning.segments import (
    COST_TIE_TOLERANCE,
    LEAST_SHARE,
    LINES,
    MODEL_ROUNDING,
    RUN_BLOCK_ENDS,
    RUN_FIELDS,
    SPREADS,
)
from rhale.stats.jit import INNER_FUNCTION_OPTIONS, njit

RUN_ARRAY_TYPE = types.Array(types.float64, 2, "C")
FLAGS, SIZES = (types.Array(kind, 1, "C", readonly=True) for kind in (types.boolean, types.intp))
N_NUMBERS = len(RUN_FIELDS)


def _find_block_midpoints() -> Any:
    """Where the later half of the smallest stretch of a block begins that holds [start, end]."""
    start, end = np.meshgrid(np.arange(RUN_BLOCK_ENDS), np.arange(RUN_BLOCK_ENDS))
    half = 2 ** np.floor(np.log2(np.maximum(start ^ end, 1))).astype(np.int64)
    return (end // half * half).astype(np.int64)


MIDDLES = _find_block_midpoints()


@njit(**INNER_FUNCTION_OPTIONS)
def read_run(runs: Any, k: Any) -> Any:
    """One run of many."""
    return (
        *(runs[0, k], runs[1, k], runs[2, k], runs[3, k]),
        *(runs[4, k], runs[5, k], runs[6, k], runs[7, k]),
    )


@njit(**INNER_FUNCTION_OPTIONS)
def write_run(runs: Any, k: Any, run: Any) -> None:
    """Keep a run among others."""
    for i in range(N_NUMBERS):
        runs[i, k] = run[i]


@njit(**INNER_FUNCTION_OPTIONS, error_model="numpy")
def merge(left: Any, right: Any) -> Any:
    """Two neighbouring runs as one: `segments._merge_cell_runs`."""
    weight = left[0] + right[0]
    share = right[0] / max(weight, SMALLEST_NORMAL)
    step_x, step = right[3] - left[3], right[4] - left[4]
    pull_x, pull = step_x * share, step * share
    mean_x, mean = left[3] + pull_x, left[4] + pull
    pull_x, pull = pull_x * left[0], pull * left[0]
    sxx = pull_x * step_x + left[5] + right[5]
    sxd = pull_x * step + left[6] + right[6]
    sdd = pull * step + left[7] + right[7]
    return weight, left[1] + right[1], left[2] + right[2], mean_x, mean, sxx, sxd, sdd


@njit(**INNER_FUNCTION_OPTIONS)
def run_inside(cells: Any, cell: Any, end: Any, inside: Any) -> None:
    """Runs of a block that end with a cell: halves of halves, as `segments._runs_inside`."""
    write_run(inside, end * RUN_BLOCK_ENDS + end, read_run(cells, cell))
    for s in range(end - 1, -1, -1):
        middle = MIDDLES[end, s]
        left, right = (middle - 1) * RUN_BLOCK_ENDS + s, end * RUN_BLOCK_ENDS + middle
        write_run(
            inside, end * RUN_BLOCK_ENDS + s, merge(read_run(inside, left), read_run(inside, right))
        )


@njit(**INNER_FUNCTION_OPTIONS, error_model="numpy")
def count(weight: Any, squares: Any, is_weighted: Any) -> Any:
    """Effective rows of a run: `segments.CellRuns.rows`."""
    if not is_weighted:
        return weight
    return weight * weight / squares if squares > 0.0 else 0.0


@njit(**INNER_FUNCTION_OPTIONS, error_model="numpy")
def price_fit(run: Any, kind: Any, is_weighted: Any, prices: Any) -> Any:
    """What a run costs as a bin with a fit of its effects: `adaptive._misfit`, times rows."""
    weight, squares, noise, _, mean, sxx, sxd, sdd = run
    penalty, needed, _ = prices
    rows, rounding = count(weight, squares, is_weighted), MODEL_ROUNDING * mean
    sdd = 0.0 if sdd <= weight * (rounding * rounding) else sdd
    half = max(rows, 0.5)
    parameter = noise / (half * half) * penalty
    cost = sdd / max(rows - 1, 0.5) + parameter
    if kind == LINES:
        left = sdd - sxd * sxd / max(sxx, SMALLEST_NORMAL)
        left = 0.0 if left <= LOST * sdd else left
        sloped = left / max(rows - 2, 1e-9) + parameter * 2
        cost = sloped if sloped < cost and rows - 2 > 1e-9 else cost
    return np.inf if rows < needed else cost * rows


@njit(**INNER_FUNCTION_OPTIONS, error_model="numpy")
def price_spread(run: Any, is_weighted: Any, prices: Any) -> Any:
    """What a run costs as a bin of constant spread: `adaptive.SpreadSearch`."""
    weight, squares, held, _, _, _, _, squared = run
    fixed, needed, level = prices
    cost = np.log(max(squared / max(held, SMALLEST_NORMAL) / level, LEAST_SHARE)) * held + fixed
    return np.inf if count(weight, squares, is_weighted) < needed else cost


@njit(**INNER_FUNCTION_OPTIONS)
def compute_path_costs(
    tails: Any,
    inside: Any,
    end: Any,
    kind: Any,
    is_weighted: Any,
    prices: Any,
    best: Any,
    ways: Any,
) -> None:
    """What ways to the end of a cell cost, by the start of their last bin."""
    first, row = end - end % RUN_BLOCK_ENDS, end % RUN_BLOCK_ENDS * RUN_BLOCK_ENDS
    head = read_run(inside, row)
    if kind == SPREADS:
        for s in range(end + 1):
            run = (
                merge(read_run(tails, s), head) if s < first else read_run(inside, row + s - first)
            )
            ways[s] = price_spread(run, is_weighted, prices) + best[s]
        return
    for s in range(first):
        run = merge(read_run(tails, s), head)
        ways[s] = price_fit(run, kind, is_weighted, prices) + best[s]
    for s in range(first, end + 1):
        run = read_run(inside, row + s - first)
        ways[s] = price_fit(run, kind, is_weighted, prices) + best[s]


@njit(**INNER_FUNCTION_OPTIONS)
def close_gaps(ways: Any, gaps: Any, begin: Any, end: Any, best: Any) -> None:
    """Let a gap be a bin of its own for nothing, and no bin start or end with one."""
    for s in range(end + 1):
        if gaps[begin + s] or gaps[begin + end]:
            ways[s] = np.inf
    if gaps[begin + end]:
        ways[end] = best


@njit(**INNER_FUNCTION_OPTIONS)
def choose_cheapest_path(ways: Any, n_ways: Any) -> Any:
    """The first of the cheapest ways, within rounding, and what the cheapest costs."""
    least = np.inf
    for s in range(n_ways):
        least = min(least, ways[s])
    enough = least + COST_TIE_TOLERANCE * abs(least)
    for s in range(n_ways):
        if ways[s] <= enough:
            return s, least
    return 0, least


@njit(**INNER_FUNCTION_OPTIONS)
def go_on(tails: Any, inside: Any, end: Any) -> None:
    """Let runs reach to the end of a block, its last cell."""
    first, row = end - end % RUN_BLOCK_ENDS, end % RUN_BLOCK_ENDS * RUN_BLOCK_ENDS
    for s in range(first):
        write_run(tails, s, merge(read_run(tails, s), read_run(inside, row)))
    for s in range(first, end + 1):
        write_run(tails, s, read_run(inside, row + s - first))


@njit(
    RUN_ARRAY_TYPE, SIZES, FLAGS, RUN_ARRAY_TYPE, types.intp, types.boolean, cache=True, nogil=True
)
def search(cells: Any, sizes: Any, gaps: Any, asked: Any, kind: Any, is_weighted: Any) -> Any:
    """Find the cheapest partitions of axes that stand in a row.

    Parameters
    ----------
    cells : ndarray of shape (n_numbers, n_cells)
        Of all axes, as `segments.RUN_FIELDS` names them; of spreads rows stand for noise, and the sums of
        their squares for products.
    sizes : ndarray of shape (n_axes,)
        How many cells each axis has.
    gaps : ndarray of shape (n_cells,)
        Whether a cell is a gap: a bin of its own, for nothing.
    asked : ndarray of shape (3, n_axes)
        What a parameter of a fit costs, or a bin of constant spread; the rows that a bin must
        have; the mean square, of spreads.
    kind : int
        Whether bins are `CONSTANTS`, `LINES` where these are cheaper, or `SPREADS`.
    is_weighted : bool
        Whether rows have weights.

    Returns
    -------
    sources : ndarray of shape (n_cells,)
        Where the last bin of the cheapest partition begins that ends in a cell.
    costs : ndarray of shape (n_axes,)
        What the cheapest partition of each axis costs; inf where it has none.
    """
    most, begin = sizes.max(), 0
    inside = np.empty(
        (N_NUMBERS, RUN_BLOCK_ENDS * RUN_BLOCK_ENDS)
    )  # runs of a block, at end * BLOCK + start
    tails = np.empty((N_NUMBERS, most))  # runs that end before the block, by their starts
    best, ways = np.zeros(most + 1), np.empty(most)
    sources, costs = np.empty(cells.shape[1], np.intp), np.empty(sizes.size)
    for axis in range(sizes.size):
        prices = asked[0, axis], asked[1, axis], asked[2, axis]
        for end in range(sizes[axis]):
            run_inside(cells, begin + end, end % RUN_BLOCK_ENDS, inside)
            compute_path_costs(tails, inside, end, kind, is_weighted, prices, best, ways)
            close_gaps(ways, gaps, begin, end, best[end])
            sources[begin + end], best[end + 1] = choose_cheapest_path(ways, end + 1)
            if end % RUN_BLOCK_ENDS == RUN_BLOCK_ENDS - 1:
                go_on(tails, inside, end)
        costs[axis] = best[sizes[axis]]
        begin += sizes[axis]
    return sources, costs
