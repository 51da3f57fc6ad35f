"""Axes side by side: cells of several of them as those of one, for one array operation on all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from rhale.kernels import IntArray
from rhale.kernels.cells import Cells
from rhale.kernels.grid import Grid
from rhale.kernels.moments import SUMS, Moments


def join_axes(batch: Sequence[Moments]) -> Moments:
    """Put the cells of several axes one behind the other.

    Parameters
    ----------
    batch : sequence of Moments
        Over one axis each, with as many series.

    Returns
    -------
    Moments
        Sums, means and what is done to them cell by cell, or bin by bin, are to the bit those of
        each axis. Edges are where cells begin: what a cell is wide, the axes themselves tell.

    Examples
    --------
    >>> from rhale.kernels.moments import measure
    >>> x = np.arange(4.0)
    >>> cells = [measure(Grid(np.array(edges)), x, x) for edges in ([0.0, 2.0, 3.0], [0.0, 3.0])]
    >>> join_axes(cells).count
    array([2, 2, 4])
    """
    if len(batch) == 1:
        return batch[0]
    sums = {name: np.concatenate([getattr(m, name) for m in batch], axis=-1) for name in SUMS}
    return Moments(cells=Cells((Grid.join([m.grid for m in batch]),)), names=batch[0].names, **sums)


def join_limits(limits: Sequence[IntArray]) -> IntArray:
    """Limits of bins among the cells of axes that stand side by side.

    Parameters
    ----------
    limits : sequence of ndarray of shape (n_bins + 1,)
        Of each axis, from 0 to its number of cells.

    Returns
    -------
    ndarray of shape (n_all_bins + 1,)
        The last limit of an axis is the first one of the next.

    Examples
    --------
    >>> join_limits([np.array([0, 2, 3]), np.array([0, 4])])
    array([0, 2, 3, 7])
    """
    if len(limits) == 1:
        return limits[0]
    starts = np.cumsum([0, *(own[-1] for own in limits)])
    moved = (own[1:] + start for own, start in zip(limits, starts[:-1], strict=True))
    return np.concatenate([[0], *moved])


def slices(sizes: Sequence[int]) -> list[slice]:
    """Where what belongs to each axis stands.

    Examples
    --------
    >>> slices([2, 3])
    [slice(0, 2, None), slice(2, 5, None)]
    """
    return [slice(*ends) for ends in pairwise(np.cumsum([0, *sizes]).tolist())]
