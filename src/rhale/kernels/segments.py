"""Runs of neighbouring cells: what each would be as one bin, and the cheapest way to choose."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.moments import Moments

ROUNDING = 1e-11  # relative deviation that a model's own arithmetic may cause
TIE = 1e-12  # prices that differ by less are equal


def run_sums(values: FloatArray) -> FloatArray:
    """Sum of the values of cells l to j, each run added up by itself; 0 where j < l.

    Examples
    --------
    >>> run_sums(np.array([1.0, 2.0]))
    array([[1., 3.],
           [0., 2.]])
    """
    # not by differences of prefix sums: these carry the rounding of the whole axis into a small bin
    runs = np.triu(np.broadcast_to(values, (values.size, values.size)))
    return np.cumsum(runs, axis=1, out=runs)


def run_weights(moments: Moments) -> tuple[FloatArray, FloatArray]:
    """Weight and effective rows of cells l to j; nothing above zero where j < l."""
    if np.array_equal(moments.weight, moments.weight_squares):  # counts: differences are exact
        reached = np.append(0.0, np.cumsum(moments.weight))
        weight = reached[None, 1:] - reached[:-1, None]
        return weight, weight
    weight, squares = run_sums(moments.weight), run_sums(moments.weight_squares)
    return weight, np.divide(weight**2, squares, out=np.zeros_like(weight), where=squares > 0)


def run_squares(moments: Moments) -> FloatArray:
    """Squared deviations of the local effects of cells l to j about their mean."""
    return np.asarray(run_products(moments.weight, moments.mean[:1], moments.sdd[:1])[0])


def run_products(weight: FloatArray, means: FloatArray, products: FloatArray) -> FloatArray:
    """Sums of products of deviations, of cells l to j about the means of the run.

    Parameters
    ----------
    weight : ndarray of shape (n_cells,)
        Weight of each cell.
    means : ndarray of shape (n_series, n_cells)
        Means of the series; the last series are the local effects.
    products : ndarray of shape (n_pairs, n_cells)
        Inside each cell: of series 0 with itself, with 1, ..., of 1 with itself, ...

    Returns
    -------
    ndarray of shape (n_pairs, n_cells, n_cells)
        At [pair, l, j]; what stands where j < l means nothing.

    Notes
    -----
    Runs are merged, never taken from differences of prefix sums: those carry the rounding of the
    whole axis into a small bin. Blocks of cells double in size; a run that crosses the middle of
    a block is the tail of its left half and the head of its right half. O(n_cells²) in
    O(log n_cells) steps. Squares of the last series that are far below the last digits of its
    mean are rounding and count as none, so that rounding makes no bins.
    """
    n_series, n_cells = means.shape
    n_rows = 1 + n_series + len(products)
    size = 1 << (n_cells - 1).bit_length()  # filled up with empty cells
    head = np.zeros((n_rows, size))
    head[:, :n_cells] = np.concatenate([weight[None], means, products])
    # head: the run from the first cell of a block to this one; tail: from this one to the last
    tail, half = head.copy(), 1
    found = np.stack([np.diag(p) for p in _drop_rounding(head, n_series)])
    while half < size:
        left = tail.reshape(n_rows, -1, 2 * half)[:, :, :half]
        right = head.reshape(n_rows, -1, 2 * half)[:, :, half:]
        merged = _merge(left[..., None], right[:, :, None, :], n_series)
        n_blocks = size // (2 * half)
        square = found.reshape(len(products), n_blocks, 2 * half, n_blocks, 2 * half)
        blocks = np.einsum("paiaj->paij", square)  # the blocks on the diagonal, as a view
        blocks[:, :, :half, half:] = _drop_rounding(merged, n_series)
        # both are views: the tails of the left half now reach to the end of the block, the heads of
        # the right half begin at its start, and the block is twice as long
        left[:], right[:] = merged[..., -1], merged[:, :, 0]
        half *= 2
    return np.ascontiguousarray(found[:, :n_cells, :n_cells])


def drop_rounding(weight: FloatArray, mean: FloatArray, sdd: FloatArray) -> FloatArray:
    """Squared deviations, those that are rounding set to none."""
    return np.where(sdd <= weight * (ROUNDING * mean) ** 2, 0.0, sdd)


def _drop_rounding(state: FloatArray, n_series: int) -> FloatArray:
    """Products of a merged state, rounding of the last series set to none."""
    products = state[1 + n_series :]
    products[-1] = drop_rounding(state[0], state[n_series], products[-1])
    return products


def _merge(left: FloatArray, right: FloatArray, n_series: int) -> FloatArray:
    """Weight, means and products of both together (Chan, Golub and LeVeque)."""
    merged = np.empty(np.broadcast_shapes(left.shape, right.shape))
    weight = np.add(left[0], right[0], out=merged[0])
    # two empty runs are an empty one, not nan
    share = right[0] / np.where(weight > 0, weight, 1.0)
    steps = [right[i] - left[i] for i in range(1, n_series + 1)]
    pulls = []
    for i, step in enumerate(steps, start=1):
        pull = step * share
        np.add(left[i], pull, out=merged[i])
        pull *= left[0]
        pulls.append(pull)
    pairs = combinations_with_replacement(range(n_series), 2)
    for row, (i, j) in enumerate(pairs, start=1 + n_series):
        product = np.multiply(pulls[i], steps[j], out=merged[row])
        product += left[row]
        product += right[row]
    return merged


def cheapest_path(price: FloatArray) -> IntArray | None:
    """Find the limits of the cheapest partition, or None where every partition costs inf.

    Parameters
    ----------
    price : ndarray of shape (n_cells, n_cells)
        At [l, j]: the bin from edge l to edge j + 1.

    Notes
    -----
    T(j) = min over l of T(l) + B(l, j). A grid of n cells has at most n bins, so the paper's
    second index, the number of bins, is not needed: O(n_cells²). Ties go to the wider last bin.

    Examples
    --------
    >>> cheapest_path(np.array([[1.0, 3.0], [np.inf, 1.0]]))
    array([0, 1, 2])
    """
    # the bins that end at one edge lie side by side: each step reads one stretch of memory
    n_cells, ending = len(price), np.ascontiguousarray(price.T)
    best = np.zeros(n_cells + 1)
    for j in range(1, n_cells + 1):
        best[j] = np.minimum.reduce(best[:j] + ending[j - 1, :j])
    if not np.isfinite(best[-1]):
        return None
    limits = [n_cells]
    while limits[-1] > 0:
        j = limits[-1]
        # equal prices differ by the order of their additions: within rounding they are a tie
        tied = best[:j] + ending[j - 1, :j] <= best[j] + TIE * abs(best[j])
        limits.append(int(tied.argmax()))  # the first: the widest bin
    return np.array(limits[::-1], dtype=np.intp)
