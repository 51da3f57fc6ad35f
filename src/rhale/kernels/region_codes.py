"""Splitters in few cells: coded once, for the search in every feature."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.grid import distinct
from rhale.kernels.region_finding import SearchRows
from rhale.kernels.rules import Rule

CodeArray = npt.NDArray[np.uint16]
FINE, COARSE = 64, 8  # cells of a splitter: where it is cut, and where pairs are looked at


@dataclass(frozen=True, eq=False)
class Codes:
    """Splitters in cells.

    Attributes
    ----------
    codes : ndarray of shape (n_splitters, n_rows)
        The cell, or the level, of every row; `n_cells` of the splitter where it is missing.
    n_cells : ndarray of shape (n_splitters,)
        How many cells or levels a splitter has.
    ends : tuple of ndarrays
        The last value of every cell but the last; empty for levels.
    """

    codes: CodeArray
    n_cells: IntArray
    ends: tuple[FloatArray, ...]


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows whose splitters are coded.

    Attributes
    ----------
    rows : SearchRows
        The rows.
    fine, coarse : Codes
        Their splitters in many cells, and in few.
    rank : ndarray of shape (n_rows,)
        A place for each row, from a number made of its codes: where few are enough, the first are
        taken, whatever the order of rows.
    """

    rows: SearchRows
    fine: Codes
    coarse: Codes
    rank: IntArray

    @cached_property
    def varies(self) -> BoolArray:
        """Splitters that do not have one value in all rows, shape (n_splitters,)."""
        return np.asarray((self.fine.codes != self.fine.codes[:, :1]).any(axis=1))

    @property
    def n_splitters(self) -> int:
        """How many splitters there are."""
        return int(self.rows.n_levels.size)

    @property
    def missing(self) -> BoolArray:
        """Splitters without a value in some rows, shape (n_splitters,)."""
        return np.asarray(np.isnan(self.rows.values).any(axis=0))

    def goes_first(self, rule: Rule) -> BoolArray:
        """Tell which rows go first, shape (n_rows,)."""
        return rule.goes_first(self.rows.values[:, rule.splitter])


def code_rows(rows: SearchRows) -> CodedRows:
    """Code the splitters of all rows."""
    rows = replace(rows, values=np.asfortranarray(rows.values))  # splitters are read one by one
    sorted_values = [_known(column) for column in rows.values.T]
    fine = _code(rows, sorted_values, FINE)
    coarse = _code(rows, sorted_values, COARSE)
    rank = np.empty(rows.weight.size, dtype=np.intp)
    rank[np.argsort(_mix(fine.codes), kind="stable")] = np.arange(rank.size)
    return CodedRows(rows, fine, coarse, rank)


def _known(column: FloatArray) -> FloatArray:
    return np.sort(column[~np.isnan(column)])


def _code(rows: SearchRows, sorted_values: list[FloatArray], n_cells: int) -> Codes:
    codes: CodeArray = np.empty(rows.values.T.shape, dtype=np.uint16)
    ends: list[FloatArray] = []
    sizes = np.empty(rows.n_levels.size, dtype=np.intp)
    for k, known in enumerate(sorted_values):
        column, levels = rows.values[:, k], int(rows.n_levels[k])
        ends.append(np.empty(0) if levels else cut_evenly(known, n_cells))
        sizes[k] = levels or ends[k].size + 1
        empty = np.isnan(column)
        filled = np.where(empty, 0.0, column)
        codes[k] = filled if levels else np.searchsorted(ends[k], filled, side="left")
        codes[k, empty] = sizes[k]
    return Codes(codes, sizes, tuple(ends))


def cut_evenly(ordered: FloatArray, n_cells: int) -> FloatArray:
    """Cut values into cells that hold about as many each: the last value of all but the last.

    Examples
    --------
    >>> cut_evenly(np.array([1.0, 1, 1, 2, 3, 4, 5, 6]), 3)
    array([1., 3.])
    """
    if ordered.size == 0:
        return np.empty(0)
    is_last = np.append(ordered[1:] != ordered[:-1], True)
    last = np.flatnonzero(is_last)
    if last.size > n_cells:
        wanted = np.arange(1, n_cells) * ordered.size // n_cells
        last = last[distinct(np.searchsorted(last, wanted - 1, side="left"))]
    return np.asarray(ordered[last[ordered[last] < ordered[-1]]])


def _mix(codes: CodeArray) -> npt.NDArray[np.uint64]:
    """Make one number of the codes of a row, which tells nothing about any of them."""
    mixed = np.zeros(codes.shape[1], dtype=np.uint64)
    for column in codes:
        mixed = (mixed ^ column) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed


def round_between(low: float, high: float) -> float:
    """Find the roundest number from `low` to below `high`.

    Examples
    --------
    >>> round_between(0.3298, 0.3312), round_between(3.0, 4.0), round_between(9.0, 12.5)
    (0.33, 3.0, 10.0)
    >>> round_between(-0.2, 0.1)
    0.0
    """
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
