"""Residuals of local effects: what is left of them about the feature's own curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from rhale.effects.binning.cells import distinct
from rhale.regions.rules import Rule
from rhale.regions.settings import SearchRows, Target
from rhale.stats.arrays import BoolArray, FloatArray, IntArray

# --- Splitters discretized into cells: coded once, for the search in every feature


CodeArray = npt.NDArray[np.uint16]
FINE = 64  # cells of a splitter, between which it is cut
N_COARSE_CELLS = 8  # cells of a splitter in the search for pairs


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
    """Cut values into at most `n_cells` cells: the cell of each row, and the ends of cells.

    The cells are those of `cut_evenly`; `ordered` never falls, missing values are last, and `order`
    is the row of each.
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


# --- Detrending: a local line through the neighbours of each row along an axis


WINDOW = 1 / 40  # share of the rows that a line is fitted to
ENOUGH_ROWS = 75  # rows in a window where few rows would make a rough line ...
MAX_DETREND_SHARE = 1 / 10  # ... but never more than this share of them
MIN_DETREND_ROWS = 21
MIN_WINDOW_VARIANCE = 1e-9  # a window narrower than this, squared and of its distance, has no slope


def detrend(
    x: FloatArray, values: FloatArray, weight: FloatArray, order: IntArray | None = None
) -> FloatArray:
    """Subtract a local linear fit from each series: residuals of shape (n_series, n_rows).

    `values` are (n_series, n_rows), `weight` (n_rows,) is positive, and `order` sorts `x` where
    that is known.
    """
    # Local linear regression with a window of nearest neighbours. Rows at the same value share
    # their line, whatever the order of rows: a window that ends among them takes them in part.
    # O(n_rows log n_rows).
    if x.size == 0:
        return values.copy()
    # Rows are reduced to distinct values of x first: their weight, and their mean in each series.
    order = np.argsort(x) if order is None else order
    ordered = x[order]
    is_first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    place = np.empty(x.size, dtype=np.intp)
    place[order] = np.cumsum(is_first) - 1
    starts = np.flatnonzero(is_first)
    places, counts = ordered[starts], np.diff(starts, append=x.size)
    mass = np.bincount(place, weight, places.size)
    means = np.stack([np.bincount(place, weight * v, places.size) / mass for v in values])
    lines = _fit_lines(places, counts, np.concatenate([mass[None], means]), _half_window(x.size))
    return np.asarray(values - lines[:, place])


def _half_window(n_rows: int) -> int:
    """How many rows on either side belong to a window."""
    return int(
        max(n_rows * WINDOW, min(ENOUGH_ROWS, n_rows * MAX_DETREND_SHARE), MIN_DETREND_ROWS) / 2
    )


def mean_leverage(x: FloatArray, weight: FloatArray) -> float:
    """Mean leverage of the rows in `detrend`: 0 where lines ignore a row, 1 where they meet it."""
    # In the middle of a window of k rows a line takes 1 / k of a row's own deviation, at its ends
    # four times as much, and the windows of the first and last rows are not moved along. Rows of
    # few values have a mean for each value. Unequal weights are fewer rows (Kish).
    if x.size == 0:
        return 0.0
    n_lines = x.size / (2 * _half_window(x.size) + 1) + 1
    n_places = np.unique(x).size
    alike = float(weight.sum() ** 2 / np.sum(weight**2))
    return float(min(min(n_lines, n_places) / alike, 0.5))


def _fit_lines(places: FloatArray, counts: IntArray, series: FloatArray, half: int) -> FloatArray:
    """Fitted values at every place, (n_series, n_places); `series` holds weights, then means."""
    # Window of each place: 2 * half + 1 rows around its middle row, moved inside at the ends of the
    # axis. A limit is a place and the part of its rows that lies before the limit.
    ends = np.cumsum(counts)
    n_rows, size = int(ends[-1]), 2 * half + 1
    middle_row = ends - counts / 2
    first = np.clip(middle_row - size / 2, 0, max(n_rows - size, 0))
    last = np.minimum(first + size, n_rows)
    place_of_row = np.repeat(np.arange(counts.size), counts)

    def part_of(row: FloatArray) -> tuple[IntArray, FloatArray]:
        place = place_of_row[np.minimum(row.astype(np.intp), n_rows - 1)]
        return place, (row - (ends[place] - counts[place])) / counts[place]

    low, high = part_of(first), part_of(last)
    # Weighted least squares in every window at once, from differences of running sums.
    blocks = _BlockSums(places, series, 2 * half + 2)  # no window reaches over more places
    sums = blocks.sums_up_to(*high) - blocks.sums_up_to(*low)
    mass, along, square = sums[0], sums[1], sums[2]
    n_series = series.shape[0] - 1
    middle, spread = along / mass, square / mass
    level = sums[3 : 3 + n_series] / mass
    variance = spread - middle**2
    steep = sums[3 + n_series :] / mass - middle * level
    has_slope = variance > MIN_WINDOW_VARIANCE * spread
    slope = np.divide(steep, variance, out=np.zeros_like(steep), where=has_slope)
    return np.asarray(blocks.centre + level + slope * (blocks.offset - middle))


class _BlockSums:
    """Running sums of moments along the places in overlapping blocks, each about its own centre."""

    # One running sum from one end of the axis to the other would cancel: in a block only as many
    # digits are lost as its few places need.
    def __init__(self, places: FloatArray, series: FloatArray, width: int) -> None:
        n_places, stride = places.size, 2 * width
        starts = np.arange(0, n_places, stride)
        centres = np.minimum(starts + width, n_places - 1)
        block = np.arange(n_places) // stride
        self.size = stride + 2 * width
        self.begins = block * self.size - (starts[block] - width)
        self.offset = places - places[centres][block]
        self.centre = series[1:, centres][:, block]
        behind = starts.size * stride - n_places + width

        def lay_out(numbers: FloatArray, mode: Literal["constant", "edge"]) -> FloatArray:
            padded = np.pad(numbers, (width, behind), mode)
            return sliding_window_view(padded, self.size)[::stride]

        # terms: w, w x, w x^2, then w y and w x y of every series
        mass = lay_out(series[0], "constant")
        along = lay_out(places, "edge") - places[centres][:, None]
        n_series = len(series) - 1
        terms = np.empty((3 + 2 * n_series, starts.size, self.size))
        terms[0] = mass
        np.multiply(mass, along, out=terms[1])
        np.multiply(mass, along**2, out=terms[2])
        for number, means in enumerate(series[1:]):
            values = lay_out(means, "edge") - means[centres][:, None]
            np.multiply(mass, values, out=terms[3 + number])
            np.multiply(terms[1], values, out=terms[3 + n_series + number])
        self.terms = terms.reshape(len(terms), -1)
        self.before = (np.cumsum(terms, axis=2) - terms).reshape(self.terms.shape)

    def sums_up_to(self, place: IntArray, part: FloatArray) -> FloatArray:
        """Sums up to a part of a place, one for each place that has a window."""
        at = place + self.begins
        sums, some = self.before.take(at, axis=1), np.flatnonzero(part)  # few, but for ties
        sums[:, some] += part[some] * self.terms.take(at[some], axis=1)
        return sums


# --- Residuals of local effects about the curves that all rows share: what regions explain


Some = IntArray | slice
MAX_CURVE_CELLS = 12  # cells of a feature, in which regions have curves
N_PAIR_SEARCH_CELLS = 3  # wider cells of a feature, for the search in pairs of splitters
LINES_ADD = 16.0  # times the squares of effects: more is never left of them, see `bound_spread`
EVERY = slice(None)  # all effects, without a copy
STEEPEST = 10.0  # times the median over cells: a mean square above this counts as this


@dataclass(frozen=True, eq=False)
class Residuals:
    """Local effects of one feature or of several, about the curves that all rows share.

    Cells of several features are concatenated, and every sum runs over all of them: many features
    are searched as one is.
    """

    # row, cell: (n_effects,): the row and the cell that each belongs to
    row: IntArray
    cell: IntArray
    # (n_series, n_effects): effects about the common curve; then, where the model has steps, what
    # they add to each
    values: FloatArray
    square: FloatArray  # (n_effects,): squares of the local effects themselves
    weight: FloatArray  # (n_effects,): weights; 1 in all for each feature in each half of the rows
    is_holdout: BoolArray  # (n_effects,): whether the row is in the holdout
    # (n_cells,): what squares in a cell count: they are in units of the predictions' deviation
    factor: FloatArray
    feature: IntArray  # (n_cells,): the feature that a cell is of
    coarse_cell: IntArray  # (n_cells,): the wider cell that it lies in
    # how far the common curve follows the rows themselves, in those of the holdout
    leverage: float = 0.0

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return int(self.factor.size)

    @cached_property
    def searched(self) -> IntArray:
        """Effects of rows that are searched."""
        return np.flatnonzero(~self.is_holdout)

    @cached_property
    def checking(self) -> IntArray:
        """Effects of holdout rows."""
        return np.flatnonzero(self.is_holdout)

    @cached_property
    def halves(self) -> tuple[Residuals, Residuals]:
        """The searched effects and those of the holdout, each as a whole: `EVERY` of them."""
        return self.take(self.searched), self.take(self.checking)

    def take(self, some: IntArray) -> Residuals:
        """Some of the effects alone."""
        return replace(
            self,
            row=self.row[some],
            cell=self.cell[some],
            values=self.values.take(some, axis=1),
            square=self.square[some],
            weight=self.weight[some],
            is_holdout=self.is_holdout[some],
        )

    @cached_property
    def checking_spread(self) -> FloatArray:
        """What each holdout row adds to the spread, shape (n_rows,) as far as there are any."""
        return self.add_by_row(self.checking, self.spreads(self.checking))

    @property
    def leverage_correction(self) -> float:
        """Factor that corrects an explained share for the leverage of the common curve."""
        return (1 - self.leverage) / (1 - 2 * self.leverage) if self.leverage < 0.25 else 1.5

    def measure(self, some: Some) -> FloatArray:
        """Weights of the squares of some effects, shape (n_some,)."""
        return np.asarray(self.weight[some] * self.factor[self.cell[some]])

    def spreads(self, some: Some) -> FloatArray:
        """Weighted squares of some effects about the common curve, without steps."""
        own, *steps = self.values[:, some]
        return np.asarray(self.measure(some) * (own**2 - sum(step**2 for step in steps)))

    def count_rows(self, some: Some) -> int:
        """Count the rows that some effects belong to."""
        return int(np.count_nonzero(np.bincount(self.row[some])))

    def add_by_row(self, some: IntArray, numbers: FloatArray) -> FloatArray:
        """Add up numbers of some effects by the rows that they belong to."""
        size = int(self.row.max(initial=-1)) + 1
        return np.bincount(self.row[some], numbers, size).astype(float)


def take_residuals(rows: SearchRows, targets: Sequence[Target]) -> Residuals:
    """Subtract the common curve, half by half: nothing of one may leak into the other."""
    return _join_residuals([_subtract_curves(rows, target) for target in targets])


def bound_residuals(rows: SearchRows, targets: Sequence[Target]) -> Residuals:
    """Residuals of holdout rows alone, without steps: an upper bound of the spread."""
    # A quarter of its work, and for most features of most models enough to see that rows hardly
    # differ. Steps are only ever subtracted, and sums round alike: no result changes.
    return _join_residuals([_subtract_curves(rows, target, is_bound=True) for target in targets])


def bound_spread(rows: SearchRows, targets: Sequence[Target]) -> float:
    """Upper bound of the spread of holdout rows from the effects alone; it may be infinite."""
    # Means of steps only reduce squares. Lines may add to them, but of rows that weigh the same not
    # much: in the middle of its window a row is a median, no further from the mean than a
    # deviation, so that the square of a line there is at most twice the mean square of the window;
    # the rows at an end share one window, and a fit has no more squares than what is fitted. A row
    # is in as many windows as a window has rows, in three times as many where rows share places. So
    # lines have at most 8 times the squares of the effects, and what they leave at most (1 +
    # sqrt(8))^2 < `LINES_ADD` times.
    found = 0.0
    for target in targets:
        some = np.flatnonzero(rows.is_holdout[target.row])
        if some.size == 0:
            continue
        weight, raw = rows.weight[target.row[some]], target.effects[some] - target.shared[some]
        is_even = bool(np.all(weight == weight[:1]))
        most = 1.0 if target.step is not None else LINES_ADD if is_even else np.inf
        scale = target.scale if np.isfinite(target.scale) else 1.0
        found += most * scale**2 * float(weight @ raw**2 / weight.sum())
    return found


def _join_residuals(parts: Sequence[Residuals]) -> Residuals:
    """Features side by side."""
    if len(parts) == 1:
        return parts[0]
    n_cells = np.cumsum([0, *(part.n_cells for part in parts)])
    n_few = np.cumsum([0, *(int(part.coarse_cell.max(initial=-1)) + 1 for part in parts)])
    n_series = max(len(part.values) for part in parts)
    return Residuals(
        row=np.concatenate([part.row for part in parts]),
        cell=np.concatenate([part.cell + n for part, n in zip(parts, n_cells, strict=False)]),
        # a feature without steps has none of their noise beside one that has some
        values=np.concatenate(
            [np.pad(part.values, ((0, n_series - len(part.values)), (0, 0))) for part in parts],
            axis=1,
        ),
        square=np.concatenate([part.square for part in parts]),
        weight=np.concatenate([part.weight for part in parts]),
        is_holdout=np.concatenate([part.is_holdout for part in parts]),
        factor=np.concatenate([part.factor for part in parts]),
        feature=np.repeat(np.arange(len(parts)), np.diff(n_cells)),
        coarse_cell=np.concatenate(
            [part.coarse_cell + n for part, n in zip(parts, n_few, strict=False)]
        ),
        leverage=float(np.mean([part.leverage for part in parts])),
    )


def _subtract_curves(rows: SearchRows, target: Target, *, is_bound: bool = False) -> Residuals:
    """Residuals of one feature about the common curve of each half of the rows."""
    is_holdout, weight = rows.is_holdout[target.row], rows.weight[target.row].astype(float)
    raw = (target.effects - target.shared)[None]
    values = np.zeros_like(raw)
    # Cells: the steps of levels, which have no ends, or cells with about as many rows each.
    if target.step is None:
        cell, ends = cut_in_order(target.x[target.along], target.along, MAX_CURVE_CELLS)
    else:
        cell = np.unique(target.step, return_inverse=True)[1].astype(np.intp)
        ends = np.empty(0)
    n_cells = int(cell.max(initial=-1)) + 1
    # Each half has weights that add up to one, and a common curve of its own.
    for half in (is_holdout, ~is_holdout):
        some = np.flatnonzero(half)
        own = weight[some]
        weight[some] = own = own / own.sum()
        if is_bound and half is not is_holdout:
            continue
        part = raw.take(some, axis=1)
        if target.step is None:
            among = np.cumsum(half) - 1  # the order of these effects, from that of all
            order = np.asarray(among[target.along[half[target.along]]])
            values[:, some] = detrend(target.x[some], part, own, order)
        else:
            mass = np.bincount(cell[some], own)
            means = [np.bincount(cell[some], own * v) / np.where(mass > 0, mass, 1.0) for v in part]
            values[:, some] = np.asarray(part - np.stack(means)[:, cell[some]])
    square = target.effects**2
    n_coarse = min(n_cells, N_PAIR_SEARCH_CELLS if target.step is None else 2 * N_PAIR_SEARCH_CELLS)
    factor = np.ones(n_cells)
    if target.step is None:
        factor = _bound_steep_cells(cell, weight, square)
        if target.roughness > 0:
            factor = np.maximum(factor, _weigh_by_width(target, ends))
    scale = target.scale if np.isfinite(target.scale) else 1.0
    has_no_lines = target.step is not None or is_bound
    return Residuals(
        row=np.asarray(target.row, dtype=np.intp),
        cell=cell,
        values=values,
        square=square,
        weight=weight,
        is_holdout=is_holdout,
        factor=factor * scale**2,
        feature=np.zeros(n_cells, dtype=np.intp),
        coarse_cell=np.arange(n_cells) * n_coarse // max(n_cells, 1),
        leverage=0.0 if has_no_lines else mean_leverage(target.x[is_holdout], weight[is_holdout]),
    )


def _bound_steep_cells(cell: IntArray, weight: FloatArray, square: FloatArray) -> FloatArray:
    """Let cells of very steep slopes count less: beside 1/x the smallest x would decide alone."""
    mass = np.bincount(cell, weight)
    mean = np.bincount(cell, weight * square) / np.where(mass > 0, mass, 1.0)
    usual = float(np.median(mean[mass > 0])) if np.any(mass > 0) else 0.0
    bound = STEEPEST * usual
    steep = (mean > bound) & (bound > 0)
    return np.where(steep, bound / np.where(steep, mean, 1.0), 1.0)


def _weigh_by_width(target: Target, ends: FloatArray) -> FloatArray:
    """Least factor of each cell, (n_cells,): 1 for a cell as wide as usual, however steep it is."""
    # Slopes over windows are steep where the axis is short, as beside 1/x or at a point mass,
    # where predictions jump, and in tails, where few rows taught a model what it does. In the first
    # case cells are narrower than the median, in the last one wider: with w the smaller of both
    # widths, of the larger one, a cell counts w². At a threshold that is nearly all. Of (x1 > 0) x2
    # few cells have all the slopes there are, so that no multiple of the median slope is a measure.
    # Slopes of single rows, as gradients are, may be steep in a small part of a cell: they stay
    # bounded.
    first, last = target.x[target.along[:1]], target.x[target.along[-1:]]
    width = np.diff(np.concatenate([first, ends, last]))
    usual = float(np.median(width)) if width.size else 0.0
    most = np.maximum(width, usual)
    return np.divide(np.minimum(width, usual), most, out=np.zeros_like(most), where=most > 0) ** 2
