"""Runs of neighbouring cells as candidate bins: their costs, and the cheapest segmentation."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations_with_replacement
from operator import add
from typing import NamedTuple, Protocol, Self

import numpy as np

from rhale.effects.binning.moments import SMALLEST_NORMAL, Moments
from rhale.stats.arrays import BoolArray, FloatArray, IntArray

# --- Coarse-to-fine search: the cheapest bins among some of the limits, then among those around them


MAX_EXHAUSTIVE_CELLS = 200  # up to so many, one search among all limits is cheap
REFINED_LIMITS_PER_SIDE = 3  # limits on each side of a chosen one in the second search, or fewer:
MOST_AGAIN = 1 / 2  # of all limits


class BinningSearch(Protocol):
    """A search for the cheapest bins of several axes."""

    @property
    def sizes(self) -> IntArray:
        """How many cells each axis has."""

    @property
    def gaps(self) -> Sequence[IntArray]:
        """Cells of each axis that stay cells."""

    def unite(self, limits: Sequence[IntArray]) -> Self:
        """The same search among fewer limits of each axis."""

    def cheapest_paths(self) -> list[IntArray | None]:
        """Limits of the cheapest bins of each axis; None where it may have none."""


def find_cheapest(search: BinningSearch) -> list[IntArray | None]:
    """Find the cheapest bins of several axes; of many limits, bins that cost hardly more.

    `search`: axes with about as many cells each. Returns (n_bins + 1,) or None: limits of the bins
    of each axis; None where it may have none.
    """
    # Up to 200 cells all runs of neighbouring cells are priced. Of more, the first search has every
    # second limit, and the second one those around the limits that it chose, three on each side:
    # a third of the runs. Where these would be more than half of all limits there are fewer on each
    # side, one at least.
    sizes = search.sizes.tolist()
    if max(sizes) <= MAX_EXHAUSTIVE_CELLS:
        return search.cheapest_paths()
    coarse = _search_among(search, [np.arange(0, size, 2) for size in sizes])
    near = []
    for path, size in zip(coarse, sizes, strict=True):
        if path is None:
            near.append(np.empty(0, dtype=np.intp))
            continue
        most = (MOST_AGAIN * size / path.size - 1) / 2
        reach = int(np.clip(most, 1, REFINED_LIMITS_PER_SIDE))
        near.append((path[:, None] + np.arange(-reach, reach + 1)).ravel())
    return _search_among(search, near)


def _search_among(search: BinningSearch, limits: Sequence[IntArray]) -> list[IntArray | None]:
    """The cheapest bins among some limits, those of gaps, and both ends of each axis."""
    some = []
    for own, gaps, size in zip(limits, search.gaps, search.sizes.tolist(), strict=True):
        has = np.zeros(size + 1, dtype=np.bool_)
        has[np.clip(own, 0, size)] = True  # limits near an end may lie beyond it
        has[gaps] = has[gaps + 1] = has[0] = has[size] = True
        some.append(np.flatnonzero(has))
    paths = search.unite(some).cheapest_paths()
    return [None if path is None else own[path] for own, path in zip(some, paths, strict=True)]


# --- Runs of neighbouring cells, merged block by block


MODEL_ROUNDING = 1e-11  # relative deviation that a model's own arithmetic may cause
COST_TIE_TOLERANCE = 1e-12  # prices that differ by less are equal
LEAST_SHARE = 1e-9  # of the mean square: a stretch without any spread must not be worth everything
RUN_BLOCK_ENDS = 32  # ends of runs that are priced together: their arrays stay in a fast cache
MAX_UNBLOCKED_CELLS = 64  # cells of one axis, whose runs are quickest to price in one piece
RUN_BATCH_CELLS = 2000  # cells of several axes whose runs are priced together
PATH_BATCH_CELLS = 6000  # and among which the cheapest bins are searched together
CONSTANTS, LINES, SPREADS = range(3)  # what the price of a run is: see `search_loop`
# numbers of one run there
RUN_FIELDS = ("weight", "squares", "noise", "mean_x", "mean", "sxx", "sxd", "sdd")
NO_SERIES = np.empty((0, 0))


class CellRuns(NamedTuple):
    """Runs of cells that end in neighbouring cells, in every array at [..., end - first, start].

    Valid until the iterator goes on; whoever reads them may write over them.
    """

    first: int  # The first cell in which they end
    # (n_sums, ..., n_ends, first + n_ends): what adds up, the weight first; 0 where a run would
    # start behind its end
    sums: FloatArray
    # (n_pairs, ..., n_ends, first + n_ends): sums of products of deviations about the means of the
    # run
    products: FloatArray

    def rows(self, *, weighted: bool) -> FloatArray:
        """Effective rows, where squares of weights are the second sum; else the weight."""
        weight: FloatArray = self.sums[0]
        if not weighted:
            return weight
        squares = self.sums[1]
        rows = np.divide(weight**2, squares, out=np.zeros_like(weight), where=squares > 0)
        return np.asarray(rows)

    def spans(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Widths, from limits of all cells; 0 and less where a run would start behind its end."""
        last = self.sums.shape[-1]
        return right[..., self.first : last, None] - left[..., None, :last]


def runs_by_end(
    sums: FloatArray,
    means: FloatArray = NO_SERIES,
    products: FloatArray = NO_SERIES,
    *,
    at_once: bool = False,
) -> Iterator[CellRuns]:
    """Go through all runs of cells, those that end in the first cells first.

    `sums` (n_sums, ..., n_cells): what adds up, the weight first; of several axes at once, where
    there are more dimensions; `means` (n_series, ..., n_cells): means of the series; the last
    series are the local effects; `products` (n_pairs, ..., n_cells): inside each cell: of series 0
    with itself, with 1, ..., of 1 with itself; `at_once`: whether to give all of them in one
    piece: the same runs, quicker to look at if few.
    """
    # Runs are merged, never taken from differences of prefix sums: those carry the rounding of the
    # whole axis into a small bin. A run is the tail of all cells before a block and the head of
    # this block, or lies inside it. O(n_cells²) in O(n_cells / 32) steps. Squares of the last
    # series that are far below the last digits of its mean are rounding and count as none, so that
    # rounding makes no bins.
    #
    # One row for each number of a cell: sums, means, products. `tails`: the runs from every cell
    # before a block up to its last cell.
    n_cells, n_sums, n_series = sums.shape[-1], len(sums), len(means)
    cells = np.concatenate([a for a in (sums, means, products) if len(a)])
    inside = _runs_inside(cells, n_sums, n_series)
    room, tails = np.empty(cells.size * RUN_BLOCK_ENDS), cells[..., :0]
    whole = np.zeros((*cells.shape, n_cells if at_once else 0))
    for first in range(0, n_cells, RUN_BLOCK_ENDS):
        last = min(first + RUN_BLOCK_ENDS, n_cells)
        own = inside[..., first // RUN_BLOCK_ENDS, : last - first, : last - first]
        shape = *cells.shape[:-1], last - first, last
        part = whole[..., first:last, :last]
        runs = part if at_once else room[: math.prod(shape)].reshape(shape)
        runs[..., first:] = own
        if first:  # every run that begins before the block: its tail, and a head of the block
            _merge_cell_runs(tails[..., None, :], own[..., :1], n_sums, n_series, runs[..., :first])
        tails = runs[..., -1, :].copy()
        if not at_once:
            yield _without_rounding(first, runs, n_sums, n_series)
    if at_once:
        yield _without_rounding(0, whole, n_sums, n_series)


def _without_rounding(first: int, runs: FloatArray, n_sums: int, n_series: int) -> CellRuns:
    """Runs, squares of the last series that are rounding set to none."""
    found = runs[n_sums + n_series :]
    if n_series:
        rounding = is_rounding_of_mean(runs[0], runs[n_sums + n_series - 1], found[-1])
        if rounding.any():
            found[-1][rounding] = 0.0
    return CellRuns(first, runs[:n_sums], found)


def _runs_inside(cells: FloatArray, n_sums: int, n_series: int) -> FloatArray:
    """Runs inside each block, shape (n_rows, ..., n_blocks, BLOCK, BLOCK), at [..., end, start]."""
    # Stretches of 1, 2, 4, ... cells are doubled until they are the block: a run that crosses the
    # middle of a stretch is a tail of its left half and a head of its right half. So every run is
    # merged once, of two that are known.
    *lead, n_cells = cells.shape
    n_blocks = -(-n_cells // RUN_BLOCK_ENDS)
    head = np.zeros((*lead, n_blocks * RUN_BLOCK_ENDS))  # filled up with empty cells
    head[..., :n_cells] = cells
    # head: the run from the first cell of a stretch to this one; tail: from this one to the last
    tail, half = head.copy(), 1
    found = np.zeros((*lead, n_blocks, RUN_BLOCK_ENDS, RUN_BLOCK_ENDS))
    np.einsum("...ii->...i", found)[:] = head.reshape(*lead, n_blocks, RUN_BLOCK_ENDS)
    while half < RUN_BLOCK_ENDS:
        shape = *lead, n_blocks, RUN_BLOCK_ENDS // (2 * half), 2, half
        left, right = tail.reshape(shape)[..., 0, :], head.reshape(shape)[..., 1, :]
        square = found.reshape(*shape[:-2], 2 * half, shape[-3], 2 * half)
        # those that cross the middle of a stretch, as a view
        merged = np.einsum("...aiaj->...aij", square)[..., half:, :half]
        _merge_cell_runs(left[..., None, :], right[..., None], n_sums, n_series, merged)
        # both are views: tails of the left half now reach to the end of the stretch, heads of the
        # right half begin at its start, and the stretch is twice as long
        left[:], right[:] = merged[..., -1, :], merged[..., 0]
        half *= 2
    return found


def _merge_cell_runs(
    left: FloatArray, right: FloatArray, n_sums: int, n_series: int, merged: FloatArray
) -> None:
    """Sums, means and products of both together (Chan, Golub and LeVeque)."""
    # n = n_a + n_b,  m = m_a + d n_b / n,  S = S_a + S_b + d d' n_a n_b / n,  with d = m_b - m_a
    np.add(left[:n_sums], right[:n_sums], out=merged[:n_sums])
    if not n_series:
        return
    # two empty runs are an empty one, not nan
    share = np.maximum(merged[0], SMALLEST_NORMAL)
    np.divide(right[0], share, out=share)
    steps, pulls = [], []
    for i in range(n_sums, n_sums + n_series):
        own = left[i]
        step = right[i] - own
        pull = step * share
        np.add(own, pull, out=merged[i])
        pull *= left[0]
        steps.append(step)
        pulls.append(pull)
    pairs = combinations_with_replacement(range(n_series), 2)
    for row, (i, j) in enumerate(pairs, start=n_sums + n_series):
        product = pulls[i] * steps[j]  # of one piece: written into place at last
        product += left[row]
        np.add(product, right[row], out=merged[row])


def is_rounding_of_mean(weight: FloatArray, mean: FloatArray, sdd: FloatArray) -> BoolArray:
    """Whether squared deviations are far below the last digits of their mean."""
    return np.asarray(sdd <= weight * (MODEL_ROUNDING * mean) ** 2)


def zero_rounding_squares(weight: FloatArray, mean: FloatArray, sdd: FloatArray) -> FloatArray:
    """Squared deviations, those that are rounding set to none."""
    return np.where(is_rounding_of_mean(weight, mean, sdd), 0.0, sdd)


def weights_of(batch: Sequence[Moments]) -> list[FloatArray]:
    """Weights of the cells of axes in a row, and squares where rows are weighted: runs begin so."""
    weights = [moments.weight for moments in batch]
    if not any(map(is_weighted, batch)):
        return [np.concatenate(weights)]
    return [np.concatenate(weights), np.concatenate([m.weight_squares for m in batch])]


def is_weighted(moments: Moments) -> bool:
    """Whether some rows count more or less than one."""
    weight, squares = moments.weight, moments.weight_squares
    return weight is not squares and not np.array_equal(weight, squares)


def each_axis(values: Iterable[float]) -> FloatArray:
    """One number for all runs of an axis, shape (n_axes, 1, 1)."""
    return np.array(list(values))[:, None, None]


def alike(batch: Sequence[Moments]) -> Iterator[list[int]]:
    """Put axes with about as many cells together, as many as are quickest; small ones first.

    Those that are searched exhaustively and those that are searched twice stay apart.
    """
    kinds = [
        (is_weighted(moments), moments.grid.n_cells > MAX_EXHAUSTIVE_CELLS, moments.grid.n_cells)
        for moments in batch
    ]
    order, first = sorted(range(len(kinds)), key=kinds.__getitem__), 0
    for at in range(1, len(order)):
        *kind, _ = kinds[order[first]]
        *other, n_cells = kinds[order[at]]
        if kind != other or (at - first + 1) * n_cells > PATH_BATCH_CELLS:
            yield order[first:at]
            first = at
    if order:
        yield order[first:]


def batch_axes_by_cells(sizes: Sequence[int]) -> Iterator[slice]:
    """Parts of such axes whose runs are priced together: they stay in the processor's cache."""
    first = 0
    for at in range(1, len(sizes) + 1):
        if at == len(sizes) or (at - first + 1) * sizes[at] > RUN_BATCH_CELLS:
            yield slice(first, at)
            first = at


def stack_run_costs(parts: Sequence[list[FloatArray]]) -> list[FloatArray]:
    """Prices of the runs of some axes, and of others, as prices of all; inf behind the last cell.

    `parts` (n_axes, n_ends, n_starts): as in `CellRuns`.

    Examples
    --------
    >>> (both,) = stack_run_costs([[np.zeros((1, 1, 1))], [np.ones((1, 2, 2))]])
    >>> both
    array([[[ 0., inf],
            [inf, inf]],
    <BLANKLINE>
           [[ 1.,  1.],
            [ 1.,  1.]]])
    """
    if len(parts) == 1:
        return parts[0]
    n_axes, found = sum(len(blocks[0]) for blocks in parts), list[FloatArray]()
    longest = max(parts, key=lambda blocks: blocks[-1].shape[2])
    for at, block in enumerate(longest):
        whole, first = np.full((n_axes, *block.shape[1:]), np.inf), 0
        for blocks in parts:
            if at < len(blocks):
                own = blocks[at]
                whole[first : first + len(own), : own.shape[1], : own.shape[2]] = own
            first += len(blocks[0])
        found.append(whole)
    return found


def cheapest_path(prices: Iterable[FloatArray]) -> IntArray | None:
    """Find the limits of the cheapest partition, or None where every partition costs inf.

    `prices` (n_ends, n_starts): of bins that end in neighbouring cells, as in `CellRuns`; inf
    where a bin would start behind its end.

    Examples
    --------
    >>> cheapest_path([np.array([[1.0, np.inf], [3.0, 1.0]])])
    array([0, 1, 2])
    """
    (found,) = cheapest_paths(block[None] for block in prices)
    return found


def cheapest_paths(
    prices: Iterable[FloatArray], sizes: Sequence[int] | None = None
) -> list[IntArray | None]:
    """Find the cheapest partitions of several axes, each as `cheapest_path` finds it.

    `prices` (n_axes, n_ends, n_starts): as of `cheapest_path`; `sizes`: how many cells each axis
    has; all of them if not given.
    """
    # T(j) = min over l of T(l) + B(l, j). A grid of n cells has at most n bins, so the paper's
    # second index, the number of bins, is not needed: O(n_cells²). Ties go to the wider last bin.
    # Paths through limits before a block are compared for all ends of the block together.
    # (The dynamic programme of Gkolemis et al. 2023; optimal partitioning, Jackson et al. 2005.)
    best, sources = np.empty((0, 1)), list[IntArray]()
    for block in prices:
        n_axes, n_ends, n_starts = block.shape
        best = best if n_starts > n_ends else np.zeros((n_axes, 1))
        for first in range(0, n_ends, RUN_BLOCK_ENDS):
            best = _extend_cheapest_costs(best, block[:, first : first + RUN_BLOCK_ENDS])
        # equal prices differ by the order of their additions: within rounding they are a tie
        own = best[:, -n_ends:, None]
        costs = block + best[:, None, :n_starts]
        is_best = costs <= own + COST_TIE_TOLERANCE * np.abs(own)
        sources.append(is_best.argmax(axis=2))  # the first: the widest bin
    last = np.full(len(best), best.shape[1] - 1) if sizes is None else np.asarray(sizes)
    before_last = np.concatenate(sources, axis=1)
    each = [row[:size] for row, size in zip(before_last, last.tolist(), strict=True)]
    return trace_all(each, best[np.arange(len(last)), last])


def list_runs(n_cells: int, **numbers: FloatArray) -> FloatArray:
    """Cells as `search_loop` takes them, shape (n_numbers, n_cells), by the names in `RUN_FIELDS`; else 0.

    Examples
    --------
    >>> list_runs(2, weight=np.array([3.0, 4.0]), sdd=np.ones(2))[:, 0]
    array([3., 0., 0., 0., 0., 0., 0., 1.])
    """
    runs = np.zeros((len(RUN_FIELDS), n_cells))
    for name, values in numbers.items():
        runs[RUN_FIELDS.index(name)] = values
    return runs


def trace_all(sources: Iterable[IntArray], costs: FloatArray) -> list[IntArray | None]:
    """Limits of the cheapest partitions of axes; None where one costs inf.

    `sources` (n_cells,): of each axis, where the last bin begins that ends in a cell; `costs`
    (n_axes,): what the partitions cost.

    Examples
    --------
    >>> trace_all([np.array([0, 0, 2]), np.array([0])], np.array([1.0, np.inf]))
    [array([0, 2, 3]), None]
    """
    finite = np.isfinite(costs).tolist()
    paths = list[IntArray | None]()
    for own, is_finite in zip(sources, finite, strict=True):
        if not is_finite:  # sources may be anything, and lead nowhere
            paths.append(None)
            continue
        steps = own.tolist()
        limits = [len(steps)]  # back from the last limit to the source of each
        while limits[-1] > 0:
            limits.append(steps[limits[-1] - 1])
        paths.append(np.array(limits[::-1], dtype=np.intp))
    return paths


def _extend_cheapest_costs(best: FloatArray, block: FloatArray) -> FloatArray:
    """Go on from the best prices of limits to those of the next ones, in which the bins end."""
    (n_axes, n_ends, _), known = block.shape, best.shape[1] - 1
    reached = np.empty((n_axes, known + 1 + n_ends))
    reached[:, : known + 1] = best
    # the best path through any limit but the last one known, for all ends together; those through
    # limits of the block itself depend on each other, and follow one by one
    far = np.minimum.reduce(block[..., :known] + best[:, None, :known], axis=2, initial=np.inf)
    near = block[..., known : known + n_ends]
    if n_axes == 1:  # some numbers by themselves are quicker than arrays of some
        prices = [float(best[0, known])]
        for way, row in zip(far[0].tolist(), near[0].tolist(), strict=True):
            prices.append(min(way, min(map(add, prices, row))))
        reached[0, known:] = prices
        return reached
    for end in range(n_ends):
        last = known + 1 + end
        through = np.minimum.reduce(reached[:, known:last] + near[:, end, : end + 1], axis=1)
        np.minimum(through, far[:, end], out=reached[:, last])
    return reached
