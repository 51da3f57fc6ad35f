"""One side of a pair of features: cells of numbers, or levels; and where rows stand on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.grid import Closed, Grid
from rhale.kernels.records import freeze, same_fields
from rhale.kernels.times import AxisKind


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
