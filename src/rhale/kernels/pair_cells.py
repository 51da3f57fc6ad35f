"""Cells of one side of a pair: as many rows in each, and narrower ones where few rows reach far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.axis import FeatureAxis
from rhale.kernels.grid import Closed

MIN_CELLS_TO_HALVE, MORE_CELLS, MOST_HALVINGS = 10, 4, 2


def cell_shares(n_cells: int) -> FloatArray:
    """Shares of the rows at the limits of cells: equal ones, but the outermost are halved.

    Parameters
    ----------
    n_cells : int
        How many cells there are in all.

    Returns
    -------
    ndarray of shape (n_cells + 1,)
        From 0 to 1.

    Notes
    -----
    The outermost cells of a feature with tails are much wider than the others, and their rows
    stand at the inner end. Where the two features go together, first-order effects then have
    their largest error there. Halving these cells costs no more cells: from 14 on once, from 18
    on twice, the middle has fewer. With x0 x1 at correlation .9 the strength is 1.05 times the
    truth instead of 1.15 (N = 2000, 20 cells), without it .99 to 1.00 as before.

    Examples
    --------
    >>> cell_shares(4).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    >>> (cell_shares(20)[:5] * 64).round(9).tolist()
    [0.0, 1.0, 2.0, 4.0, 8.0]
    """
    n_halvings = min(max((n_cells - MIN_CELLS_TO_HALVE) // MORE_CELLS, 0), MOST_HALVINGS)
    n_equal = n_cells - 2 * n_halvings
    halves = 0.5 ** np.arange(n_halvings, 0, -1) / n_equal
    return np.concatenate([[0.0], halves, np.arange(1, n_equal) / n_equal, 1 - halves[::-1], [1.0]])


@dataclass(frozen=True)
class PairCells:
    """Cells with these shares of the rows: limits are data values, fewer where values repeat.

    Parameters
    ----------
    n_cells : int
        Number of cells.
    closed : {"left", "right"}
        Which limit belongs to a cell.
    """

    n_cells: int
    closed: Closed = "left"

    def candidates(self, axis: FeatureAxis) -> FloatArray:
        """Values at these shares of the cumulated weight."""
        inner = axis.quantiles(cell_shares(self.n_cells)[1:-1])
        inner = inner[(inner > axis.low) & (inner < axis.high)]
        return np.append(np.unique(np.append(axis.low, inner)), axis.high)
