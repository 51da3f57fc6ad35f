"""Cells of one axis or of several together, and which cell a row is in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import prod
from operator import and_
from typing import NamedTuple

import numpy as np

from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.grid import CellArray, Grid
from rhale.kernels.records import crosses_processes


@crosses_processes
@dataclass(frozen=True)
class Cells:
    """Every cell of one axis with every cell of the others.

    Parameters
    ----------
    grids : tuple of Grid
        The cells of each axis. Cells of several are numbered row by row: those of the last axis
        stand side by side.

    Examples
    --------
    >>> halves = Grid(np.array([0.0, 1.0, 2.0]))
    >>> pairs = Cells((halves, halves))
    >>> pairs.n_cells, pairs.locate(np.array([[0.5, 1.5], [1.5, 1.5]]))
    (4, array([1, 3], dtype=int16))
    """

    grids: tuple[Grid, ...]

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return prod(self.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of cells of each axis."""
        return tuple(grid.n_cells for grid in self.grids)

    def covers(self, x: FloatArray) -> BoolArray:
        """Tell which rows lie on every axis.

        Parameters
        ----------
        x : ndarray of shape (n_rows,) or (n_axes, n_rows)
            The value of every row on each axis.
        """
        columns = np.atleast_2d(x)
        return reduce(and_, (g.covers(v) for g, v in zip(self.grids, columns, strict=True)))

    def covers_all(self, x: FloatArray) -> bool:
        """Tell whether every row does; there is at least one."""
        if len(self.grids) == 1:
            return self.grids[0].covers_all(x)
        columns = np.atleast_2d(x)
        return all(g.covers_all(v) for g, v in zip(self.grids, columns, strict=True))

    def locate(self, x: FloatArray) -> CellArray:
        """Find the cell of every row; all of them must be covered."""
        columns = np.atleast_2d(x)
        first, *others = (g.locate_covered(v) for g, v in zip(self.grids, columns, strict=True))
        if not others:
            return first
        place = np.ravel_multi_index((first, *others), self.shape)
        # small integers where they suffice, as in Grid: they sort in linear time
        return place.astype(np.int16) if self.n_cells < 2**15 else place

    def arrange(self, x: FloatArray) -> Arranged:
        """Put rows, all of them covered, side by side where they share a cell."""
        is_alone = len(self.grids) == 1
        cell = self.grids[0].locate_covered(x) if is_alone else self.locate(x)
        order = cell.argsort(kind="stable")  # in linear time
        x = x.take(order, axis=-1)
        if is_alone:
            return Arranged(order, x, self.grids[0].count_in_order(x))
        return Arranged(order, x, np.bincount(cell, minlength=self.n_cells))

    def unite(self, limits: IntArray, axis: int = 0) -> Cells:
        """Unite the cells of an axis between the chosen limits."""
        wide = self.grids[axis].keep(limits)
        return Cells((*self.grids[:axis], wide, *self.grids[axis + 1 :]))

    def runs(self, limits: IntArray, axis: int = 0) -> MergedCells:
        """Tell which cells become one when those of an axis are united."""
        sizes = np.diff(limits)
        if len(self.grids) == 1:
            return MergedCells(slice(None), limits[:-1], sizes)
        bins = np.repeat(np.arange(sizes.size), sizes)
        places = list(np.indices(self.shape))
        places[axis] = bins[places[axis]]
        united = np.ravel_multi_index(tuple(places), self.unite(limits, axis).shape).ravel()
        sizes = np.bincount(united)  # no run is empty: limits increase
        return MergedCells(np.argsort(united, kind="stable"), np.cumsum(sizes) - sizes, sizes)


class Arranged(NamedTuple):
    """Rows in the order of their cells.

    Attributes
    ----------
    order : ndarray of shape (n_rows,)
        The rows.
    x : ndarray of shape (n_rows,) or (n_axes, n_rows)
        Their values, in this order.
    sizes : ndarray of shape (n_cells,)
        How many each cell has.
    """

    order: IntArray
    x: FloatArray
    sizes: IntArray


class MergedCells(NamedTuple):
    """Cells that become one.

    Attributes
    ----------
    order : slice or ndarray of shape (n_cells,)
        The cells, those of a run side by side.
    starts, sizes : ndarray of shape (n_runs,)
        Where each run begins in this order, and how many cells it has.
    """

    order: slice | IntArray
    starts: IntArray
    sizes: IntArray


def as_axis_cells(cells: Grid | Cells) -> Cells:
    """Take a grid for the cells of its one axis."""
    return Cells((cells,)) if isinstance(cells, Grid) else cells
