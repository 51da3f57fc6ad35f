"""Splitters discretized into cells: coded once, for the search in every feature."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rhale.effects.binning.cells import distinct
from rhale.regions.rules import Rule
from rhale.regions.settings import SearchRows
from rhale.stats.arrays import BoolArray, FloatArray, IntArray

CodeArray = npt.NDArray[np.uint16]
FINE, N_COARSE_CELLS = 64, 8  # cells of a splitter: where it is cut, and where pairs are looked at


@dataclass(frozen=True, eq=False)
class Codes:
    """Splitters in cells."""

    # (n_splitters, n_rows): the cell, or the level, of every row; `n_cells` of the splitter where
    # it is missing
    codes: CodeArray
    n_cells: IntArray  # (n_splitters,): how many cells or levels a splitter has
    ends: tuple[FloatArray, ...]  # the last value of every cell but the last; empty for levels

    @cached_property
    def varies(self) -> BoolArray:
        """Splitters that do not have one value in all rows, shape (n_splitters,)."""
        return np.asarray((self.codes != self.codes[:, :1]).any(axis=1))


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows whose splitters are coded when they are first needed."""

    rows: SearchRows

    @cached_property
    def fine(self) -> Codes:
        """Their splitters in many cells."""
        return code_cells(self.rows, FINE)

    @cached_property
    def coarse(self) -> Codes:
        """Their splitters in few cells."""
        return code_cells(self.rows, N_COARSE_CELLS)

    @cached_property
    def rank(self) -> IntArray:
        """A pseudo-random rank of each row, from a hash of its codes, shape (n_rows,).

        Where few rows are enough, the first are taken, whatever their order.
        """
        rank = np.empty(self.rows.weight.size, dtype=np.intp)
        # a multiplicative hash of the codes of a row, which says nothing about any of them
        mixed = np.zeros(rank.size, dtype=np.uint64)
        for column in self.fine.codes:
            mixed = (mixed ^ column) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        rank[np.argsort(mixed, kind="stable")] = np.arange(rank.size)
        return rank

    @property
    def n_splitters(self) -> int:
        """How many splitters there are."""
        return int(self.rows.n_levels.size)

    @property
    def missing(self) -> BoolArray:
        """Splitters without a value in some rows, shape (n_splitters,)."""
        return np.asarray(np.isnan(self.rows.values).any(axis=0))

    def goes_first(self, rule: Rule) -> BoolArray:
        """Find which rows go first, shape (n_rows,)."""
        return rule.goes_first(self.rows.values[:, rule.splitter])


def code_cells(rows: SearchRows, n_cells: int) -> Codes:
    """Code splitters: cells that hold about as many rows each, at most so many, or levels."""
    codes: CodeArray = np.empty(rows.values.T.shape, dtype=np.uint16)
    ends: list[FloatArray] = []
    sizes = np.empty(rows.n_levels.size, dtype=np.intp)
    for k, (column, levels) in enumerate(zip(rows.values.T, rows.n_levels, strict=True)):
        order = rows.orders[k]
        if order is None:
            own, ends_of_cells = np.where(np.isnan(column), levels, column), np.empty(0)
        else:
            own, ends_of_cells = cut_in_order(column[order], order, n_cells)
        codes[k], sizes[k] = own, levels or ends_of_cells.size + 1
        ends.append(ends_of_cells)
    return Codes(codes, sizes, tuple(ends))


def cut_in_order(ordered: FloatArray, order: IntArray, n_cells: int) -> tuple[IntArray, FloatArray]:
    """Cut values into cells, as `cut_evenly` does: the cell of each, and the ends.

    `ordered` (n_rows,): values, never falling; missing ones last; `order` (n_rows,): the row of
    each.
    """
    # Rows without a value have a cell of their own behind all others.
    n_known = ordered.size - int(np.count_nonzero(np.isnan(ordered)))
    ends = cut_evenly(ordered[:n_known], n_cells)
    stops = np.searchsorted(ordered[:n_known], ends, side="right")
    sizes = np.diff(np.concatenate([[0], stops, [n_known, ordered.size]]))
    cell = np.empty(ordered.size, dtype=np.intp)
    cell[order] = np.repeat(np.arange(sizes.size), sizes)
    return cell, ends


def cut_evenly(ordered: FloatArray, n_cells: int) -> FloatArray:
    """Cut values into cells that hold about as many each: the last value of all but the last."""
    if ordered.size == 0:
        return np.empty(0)
    is_last = np.append(ordered[1:] != ordered[:-1], True)
    last = np.flatnonzero(is_last)
    if last.size > n_cells:
        wanted = np.arange(1, n_cells) * ordered.size // n_cells
        last = last[distinct(np.searchsorted(last, wanted - 1, side="left"))]
    return np.asarray(ordered[last[ordered[last] < ordered[-1]]])


def round_between(low: float, high: float) -> float:
    """Find the roundest number from `low` to below `high`."""
    if low <= 0 < high:
        return 0.0
    gap, size = high - low, max(abs(low), abs(high))
    if not (gap > 0 and math.isfinite(gap)):
        return low
    middle = low / 2 + high / 2
    for power in range(math.floor(math.log10(size)) + 1, math.floor(math.log10(gap)) - 2, -1):
        steps = round(middle / 10.0**power)
        for near in (steps, steps - 1, steps + 1):
            number = float(f"{near}e{power}")
            if low <= number < high:
                return number
    return low
