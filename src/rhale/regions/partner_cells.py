"""Local effects of one feature in cells of it and of every other feature: counts and sums."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import NamedTuple

import numpy as np

from rhale.regions.settings import SearchRows, Target
from rhale.regions.splitters import code_cells, cut_in_order
from rhale.stats.arrays import BoolArray, FloatArray, IntArray

OWN_CELLS = 8  # cells of the feature at most
OWN_ROWS = 60  # rows that they hold on average at least
MAX_PARTNER_CELLS = 10  # cells of a partner at most
MIN_ROWS_PER_JOINT_CELL = 6  # rows that cells of both hold on average at least
LINE_ROWS = 80  # rows that a line is fitted to
MAX_LINES_PER_CELL = 3  # lines in a cell of the feature at most
PARTNER_BATCH_EFFECTS = 2**14  # effects times partners whose sums are added up together
MIN_PART_VARIANCE = 1e-12  # a variance below this, of the squared mean, leaves no slope
WILDEST = 30.0  # times the median over cells: a mean square above this counts as this


@dataclass(frozen=True, eq=False)
class PartnerCodes:
    """All partners in a few cells each, concatenated."""

    # (n_partners, n_rows): the cell of every row; the last one of a partner where its value is
    # missing
    codes: IntArray
    starts: IntArray  # (n_partners + 1,): the first cell of each partner, and how many there are
    varies: BoolArray  # (n_partners,): whether it has more than one value
    weight: FloatArray  # (n_rows,): weights, all positive

    @property
    def n_cells(self) -> int:
        """How many cells all partners have together."""
        return int(self.starts[-1])

    @cached_property
    def is_even(self) -> bool:
        """Whether all rows weigh the same."""
        return bool(np.all(self.weight == self.weight[:1]))


def code_partners(rows: SearchRows) -> PartnerCodes:
    """Cut the values of all partners into cells that hold about as many rows each."""
    # O(n_rows log n_rows) for each: levels without an order are cells as they are.
    n_rows = rows.weight.size
    n_cells = min(
        max(n_rows // (count_own_cells(n_rows) * MIN_ROWS_PER_JOINT_CELL), 3), MAX_PARTNER_CELLS
    )
    found = code_cells(rows, n_cells)
    starts = np.concatenate([[0], np.cumsum(found.n_cells + 1)])
    return PartnerCodes(found.codes + starts[:-1, None], starts, found.varies, rows.weight)


def count_own_cells(n_rows: int) -> int:
    """How many cells a feature is cut into."""
    return min(max(n_rows // OWN_ROWS, 2), OWN_CELLS)


class OwnSums(NamedTuple):
    """Sums over all rows of each cell of a feature."""

    # weight, squares: (n_own,): sums of weights and of their squares
    weight: FloatArray
    squares: FloatArray
    # values, powers: (n_series, n_own): weighted sums of values, and of their squares
    values: FloatArray
    powers: FloatArray


@dataclass(frozen=True, eq=False)
class OwnCells:
    """What local effects of one feature differ by, in cells of its axis or for each step of levels."""

    # row, cell: (n_effects,): the row, and the cell, of each
    row: IntArray
    cell: IntArray
    # (n_series, n_effects): local effects about the curve of all rows; then, where the model has
    # steps, what they add
    values: FloatArray
    weight: FloatArray  # (n_effects,): weights
    width: FloatArray  # (n_cells,): how long cells are; 1 for steps
    factor: FloatArray  # (n_cells,): what squares in a cell count: less where rows differ very much
    size: float = 0.0  # mean square of the local effects themselves
    # sum of squares by which neighbours on the axis differ, as they count: what is left of a curve
    # by its own bends is not in it; infinite for steps, of which nothing is left
    pure: float = np.inf
    # (n_effects,): where there are levels: how many of the steps lie below the row's own
    level: IntArray | None = None

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return int(self.width.size)

    @cached_property
    def sums(self) -> OwnSums:
        """Sums over the rows of each cell."""
        heavy = self.weight * self.values
        return OwnSums(
            weight=self._add_up(self.weight),
            squares=self._add_up(self.weight**2),
            values=np.stack([self._add_up(v) for v in heavy]),
            powers=np.stack([self._add_up(v) for v in heavy * self.values]),
        )

    def _add_up(self, numbers: FloatArray) -> FloatArray:
        return np.bincount(self.cell, numbers, self.n_cells).astype(np.float64, copy=False)


def cut_own(target: Target, weight: FloatArray) -> OwnCells:
    """Detrend local effects, and cut the axis into cells; `weight` (n_rows,) is that of all rows."""
    own = weight[target.row]
    raw = (target.effects - target.shared)[None]
    order, level = None, None
    if target.step is None:
        # Cells with about as many rows each; lines are fitted to parts of them.
        order = target.along
        n_cells = count_own_cells(target.x.size)
        n_parts = min(max(target.x.size // (LINE_ROWS * n_cells), 1), MAX_LINES_PER_CELL)
        ordered = target.x[order]
        part, ends = cut_in_order(ordered, order, n_cells * n_parts)
        limits = [*ordered[:1], *ends[n_parts - 1 :: n_parts], *ordered[-1:]]
        cell, width = part // n_parts, np.maximum(np.diff(limits), 0.0)
        # One line for each part: cheaper than lines around every row, and nearly as good. What both
        # leave of a bent curve shows in `OwnCells.pure`.
        mass = np.bincount(part, own)
        mean = np.bincount(part, own * target.x) / mass
        along = target.x - mean[part]
        spread = np.bincount(part, own * along**2)
        has_slope = spread > MIN_PART_VARIANCE * mass * mean**2
        left = _centre_in_cells(part, raw, own)
        steep = np.stack([np.bincount(part, own * along * v) for v in left])
        slope = np.divide(steep, spread, out=np.zeros_like(steep), where=has_slope)
        values = np.asarray(left - slope[:, part] * along)
    else:
        steps, cell = np.unique(target.step, return_inverse=True)
        values, width = _centre_in_cells(cell, raw, own), np.ones(steps.size)
        level = np.searchsorted(steps, target.x)
    # Cells where rows differ very much count less: beside x1 / x0 the smallest x0 would decide alone.
    mass = np.bincount(cell, own, width.size)
    square = np.bincount(cell, own * values[0] ** 2, width.size)
    mean_square = np.divide(square, mass, out=np.zeros(width.size), where=mass > 0)
    bound = WILDEST * median(mean_square.tolist())
    is_wild = (level is None) & (mean_square > bound) & (bound > 0)
    factor = np.where(is_wild, bound / np.where(is_wild, mean_square, 1.0), 1.0)
    # Pure error: squares about the lines through both neighbours on the axis (Gasser, Sroka and
    # Jennen-Steinmetz, 1986).
    pure = np.inf
    if order is not None and order.size >= 3:
        at, v = target.x[order], values[0][order]
        gap = at[2:] - at[:-2]
        share = np.divide(at[1:-1] - at[:-2], gap, out=np.full(gap.size, 0.5), where=gap > 0)
        about = v[1:-1] - (1 - share) * v[:-2] - share * v[2:]
        squares = about**2 / (1 + share**2 + (1 - share) ** 2)
        counts = (own * factor[cell])[order]
        pure = float(counts[1:-1] @ squares * (counts.sum() / counts[1:-1].sum()))
    return OwnCells(
        row=np.asarray(target.row, dtype=np.intp),
        cell=np.asarray(cell, dtype=np.intp),
        values=values,
        weight=own,
        width=width,
        factor=factor,
        size=float(own @ target.effects**2 / own.sum()),
        pure=pure,
        level=level,
    )


def _centre_in_cells(cell: IntArray, values: FloatArray, weight: FloatArray) -> FloatArray:
    """Subtract the mean of each cell."""
    mass = np.bincount(cell, weight)
    means = np.stack([np.bincount(cell, weight * v) / mass for v in values])
    return np.asarray(values - means[:, cell])


@dataclass(frozen=True, eq=False)
class CellSums:
    """Sums over the rows in each cell that a feature has with a partner's."""

    # weight, squares: (n_own, n_cells): sums of weights and of their squares
    weight: FloatArray
    squares: FloatArray
    sums: FloatArray  # (n_series, n_own, n_cells): weighted sums of values


def add_up_cells(own: OwnCells, partners: PartnerCodes) -> CellSums:
    """Add up values in the cells of a feature and of all its partners at once."""
    # O(n_effects n_partners): one addition for each series, and one for counts.
    one = float(own.weight[0]) if own.weight.size else 1.0
    heavy = own.weight * own.values
    series = [*heavy] if partners.is_even else [*heavy, own.weight, own.weight**2]
    # counts, then sums of the series, shape (1 + n_series, n_own, n_cells)
    made = np.empty((1 + len(series), own.n_cells, partners.n_cells))
    n_partners = len(partners.codes)
    is_all = own.level is None and own.row.size == partners.weight.size  # one effect for each row
    # Some partners at a time, so that their numbers fit into a fast cache.
    n_some = min(max(PARTNER_BATCH_EFFECTS // max(own.row.size, 1), 1), n_partners)
    tiled = [np.tile(numbers, n_some) for numbers in series]
    for k in range(0, n_partners, n_some):
        codes = partners.codes[k : k + n_some]
        codes = codes if is_all else codes[:, own.row]
        first, end = partners.starts[k], partners.starts[k + len(codes)]
        place = (codes + (own.cell * (end - first) - first)).ravel()
        size = own.n_cells * int(end - first)
        sums = [np.bincount(place, t[: place.size], size) for t in tiled]
        for out, numbers in zip(made, [np.bincount(place, minlength=size), *sums], strict=True):
            out[:, first:end] = numbers.reshape(own.n_cells, -1)
    count, *found = made
    weight, squares = (one * count, one**2 * count) if partners.is_even else found[-2:]
    return CellSums(weight, squares, np.stack(found[: len(heavy)]))
