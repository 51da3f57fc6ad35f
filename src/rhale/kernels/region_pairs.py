"""A look ahead: pairs of splits that explain together what neither explains alone."""

from __future__ import annotations

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.region_codes import Codes
from rhale.kernels.region_gains import Histogram, gain_between, squares
from rhale.kernels.residuals import Residuals


def find_first_split_of_pair(
    residuals: Residuals, some: IntArray, by: tuple[Codes, IntArray], least: float
) -> tuple[int, int] | None:
    """Find the first split of the best tree of two levels, over all cuts of all pairs of splitters.

    Parameters
    ----------
    residuals : Residuals
        What is to be explained.
    some : ndarray
        Effects that are looked at.
    by : pair of Codes and ndarray
        Splitters in few cells, and those that are looked at.
    least : float
        What either side of a split must weigh.

    Returns
    -------
    pair of int or None
        The splitter, and the last of its codes that goes first; None where no pair gains anything.

    Notes
    -----
    The tree is the best there is on these cells: for every first cut the best second one on
    either side. O(n_effects n_splitters^2).
    """
    codes, splitters = by
    if splitters.size < 2:
        return None
    few = _widen_cells(residuals)
    histograms = _fill_pairs(few, some, codes, splitters)
    best, found = 0.0, None
    for place, splitter in enumerate(splitters):
        gains = _gains_of_firsts(histograms[place], few.factor, least, place)
        cut = int(np.argmax(gains))
        if gains[cut] > best * (1 + 1e-9):
            best, found = float(gains[cut]), (int(splitter), cut)
    return found


def _widen_cells(residuals: Residuals) -> Residuals:
    """Look at features in few cells: a pair has many groups, and rows are few."""
    n_few = int(residuals.few.max(initial=-1)) + 1
    counts = np.bincount(residuals.few, minlength=n_few)
    return Residuals(
        row=residuals.row,
        cell=residuals.few[residuals.cell],
        values=residuals.values,
        square=residuals.square,
        weight=residuals.weight,
        checks=residuals.checks,
        factor=np.bincount(residuals.few, residuals.factor, n_few) / counts,
        feature=np.zeros(n_few, dtype=np.intp),
        few=np.arange(n_few),
    )


def _fill_pairs(
    few: Residuals, some: IntArray, codes: Codes, splitters: IntArray
) -> list[Histogram]:
    """For every splitter, its histogram with all: shape (n_splitters, n_codes, n_codes, n_cells).

    Axes are the other splitter, the code of this one, and that of the other. Rows without a value
    are in the last code, so that they stay together with the largest ones, or alone.
    """
    n_splitters, n_cells = splitters.size, few.n_cells
    n_codes = int(codes.n_cells[splitters].max()) + 1
    mine = codes.codes[np.ix_(splitters, few.row[some])].astype(np.intp)
    if not np.any(mine == codes.n_cells[splitters][:, None]):
        n_codes -= 1
    weight = few.weight[some]
    columns = [weight, *(weight * v for v in few.values[:, some])]
    shape = (n_splitters, n_codes, n_codes, n_cells)
    filled = np.zeros((len(columns), n_splitters, *shape))
    cell, size = few.cell[some], n_codes * n_codes * n_cells
    for k in range(n_splitters - 1):
        others = mine[k + 1 :]
        base = mine[k] * (n_codes * n_cells) + cell
        key = (others * n_cells + base + np.arange(len(others))[:, None] * size).ravel()
        for column, one in zip(columns, filled, strict=True):
            counted = np.bincount(key, np.tile(column, len(others)), len(others) * size)
            counted = counted.reshape(len(others), *shape[1:])
            one[k, k + 1 :] = counted
            one[k + 1 :, k] = counted.swapaxes(1, 2)
    return [Histogram(filled[0, k], filled[1:, k]) for k in range(n_splitters)]


def _gains_of_firsts(joint: Histogram, factor: FloatArray, least: float, own: int) -> FloatArray:
    """Sum of squares of the best tree of two levels, for every first cut of one splitter."""
    others = np.delete(np.arange(joint.weight.shape[0]), own)
    joint = joint[others]
    before = joint.cumulate(axis=-3)[:, :-1]
    total = joint.total(axis=-3)[:, None]
    gains = np.zeros(before.weight.shape[1])
    for child in (before, total - before):
        margin = child.total()
        weight = margin.weight[0].sum(axis=-1)
        seconds = child.cumulate()[:, :, :-1]
        parts = gain_between(seconds, margin[:, :, None], factor)
        share = seconds.weight.sum(axis=-1)
        fits = (share >= least) & (weight[:, None] - share >= least)
        best = np.where(fits, parts, 0.0).max(axis=(0, 2))
        gains += squares(margin[0], factor) + np.maximum(best, 0.0)
        gains[weight < least] = -np.inf
    return gains
