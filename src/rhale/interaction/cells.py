"""One side of a pair of features: cells of numbers, or levels; and where rows stand on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.cells import Closed, Grid
from rhale.output.times import AxisKind
from rhale.stats.arrays import FloatArray, IntArray
from rhale.stats.records import freeze, same_fields


class CellPositions(NamedTuple):
    """Where rows stand on one side of a pair.

    Attributes
    ----------
    stand : ndarray of shape (n_rows,)
        The cell or the level of every row; -1 for rows that have none.
    place : ndarray of shape (n_rows,)
        How far into its cell a row stands, 0 to 1; 0 for levels.
    """

    stand: IntArray
    place: FloatArray


@dataclass(frozen=True, eq=False)
class PairAxis:
    """One side of a pair.

    Attributes
    ----------
    nodes : ndarray of shape (n_nodes,)
        Limits of the cells, or places of the levels: where the surface is known. A column of one
        value has one cell without width.
    labels : tuple of str
        Names of the levels; none for numbers.
    kind : {"number", "date", "duration"}
        What the numbers are.
    closed : {"left", "right"}
        Which limit belongs to a cell.

    Notes
    -----
    A **step** leads from a node to the next. Rows of numbers stand in a cell, which is a step, and
    count for it. Rows with levels stand on a node, and count for the step below and the step above.

    Examples
    --------
    >>> PairAxis(np.array([0.0, 1.0, 3.0])).locate(np.array([0.5, 3.0, np.nan]))
    CellPositions(stand=array([ 0,  1, -1]), place=array([0.5, 1. , 0. ]))
    """

    nodes: FloatArray
    labels: tuple[str, ...] = ()
    kind: AxisKind = "number"
    closed: Closed = "left"

    def __post_init__(self) -> None:
        freeze(self)

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def is_levels(self) -> bool:
        """Whether rows stand on nodes."""
        return bool(self.labels)

    @property
    def n_steps(self) -> int:
        """Steps from node to node."""
        return self.nodes.size - 1

    @property
    def n_stands(self) -> int:
        """Where rows can stand: cells, or levels."""
        return self.nodes.size if self.is_levels else self.n_steps

    @property
    def n_ways(self) -> int:
        """Steps that a row counts for: its cell; the step below its level and the one above."""
        return 2 if self.is_levels else 1

    @property
    def widths(self) -> FloatArray:
        """Widths of the steps."""
        return np.diff(self.nodes)

    def locate(self, x: FloatArray) -> CellPositions:
        """Find where rows stand; those without a value or off the axis stand nowhere."""
        with np.errstate(invalid="ignore"):
            known = (x >= self.nodes[0]) & (x <= self.nodes[-1])
        value = x if known.all() else np.where(known, x, self.nodes[0])
        if self.is_levels:
            level = np.searchsorted(self.nodes, value)
            known &= self.nodes[np.minimum(level, self.nodes.size - 1)] == value
            return CellPositions(np.where(known, level, -1), np.zeros(x.size))
        cell = Grid(self.nodes, self.closed).locate_covered(value).astype(np.int64)
        width = self.widths[cell]
        place = np.divide(value - self.nodes[cell], width, out=np.zeros(x.size), where=width > 0)
        return CellPositions(np.where(known, cell, -1), np.where(known, place, 0.0))


# --- Cells of one side of a pair: as many rows in each, and narrower ones where few rows reach far


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
