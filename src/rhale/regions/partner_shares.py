"""Partners: the share of a feature's heterogeneity that goes with each other feature.

Sums in cells of the feature and of its partners, a joint fit of several partners, and the shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median
from typing import NamedTuple

import numpy as np

from rhale.regions.residuals import code_cells, cut_in_order
from rhale.regions.settings import SearchRows, Target
from rhale.stats.arrays import BoolArray, FloatArray, IntArray
from rhale.stats.distributions import f_tail

# --- Cells of a feature and of its partners: counts and sums


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
    """Residuals of the local effects of one feature, in cells of its axis or by steps of levels."""

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
    """Detrend local effects, and cut the axis into cells; `weight` (n_rows,) is of all rows."""
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
    # Cells where rows differ very much count less: beside x1 / x0 the smallest x0 would decide
    # alone.
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


# --- Joint fit of several partners: which of them are proxies of others


MIN_PARTNER_SHARE = 0.03  # share of the spread of partners that are fitted together
MAX_JOINT_PARTNERS = 6  # how many of them
MAX_NORMAL_EQUATION_SIZE = 1_000_000  # numbers at most: two of 50 levels, six of ten cells
PROXY = 0.1  # of its share: a partner that adds less to the others is a proxy
PARTNER_CHANCE_DEVIATIONS = 3.0  # standard deviations above chance that a partner must explain
RIDGE = 1e-9  # of the mean weight of a cell: keeps cells without rows out of the way


@dataclass(frozen=True, eq=False)
class Order:
    """What partners have of their own."""

    # (n_partners,): what each adds to those before it; nan where that was not looked at
    own_share: FloatArray
    proxy_of: IntArray  # (n_partners,): the partner that takes over what it has; -1 where none does
    unexplained: float  # share that the sum of partners leaves


def order_partners(
    own: OwnCells,
    partners: PartnerCodes,
    sums: CellSums,
    share: FloatArray,
    chance: FloatArray,
    total: float,
) -> Order:
    """Fit partners together, the one that adds most first, and measure what each adds.

    `share` and `chance` (n_partners,) are explained alone and expected by chance, nan where a
    partner is not considered; `total` is the sum of squares that shares refer to.
    """
    # Inside each cell of the feature a sum of functions of the partners, constant in their cells.
    # What a partner adds is read off the normal equations once those before it are swept out of
    # them: O(n_effects n^2) to set them up for n partners, whatever comes after.
    n_partners = share.size
    own_share, proxy_of = np.full(n_partners, np.nan), np.full(n_partners, -1)
    # Candidates explain more than chance and enough to be reported, largest first; as many as fit
    # into the normal equations, since levels of two features may have many cells.
    with np.errstate(invalid="ignore"):
        some = np.flatnonzero(
            share > np.maximum(MIN_PARTNER_SHARE, PARTNER_CHANCE_DEVIATIONS * chance)
        )
    some = some[np.argsort(-share[some], kind="stable")][:MAX_JOINT_PARTNERS]
    width = np.maximum.accumulate(np.diff(partners.starts)[some])
    fits = own.n_cells * (np.arange(1, some.size + 1) * width) ** 2 <= MAX_NORMAL_EQUATION_SIZE
    some = np.asarray(some[: max(2, np.count_nonzero(fits))])
    if some.size == 0:
        return Order(own_share, proxy_of, 1.0)
    fit = _NormalEquations.of(own, partners, sums, some)
    left, taken, drops = list(range(some.size)), list[int](), np.zeros((some.size,) * 2)
    while left:
        added, by_chance = (squares / total for squares in fit.added())
        if taken:
            drops[left, taken[-1]] = own_share[some[left]] - added
        own_share[some[left]] = added
        best = int(np.argmax(added))
        if added[best] <= PARTNER_CHANCE_DEVIATIONS * by_chance[best] or not fit.has_room:
            break
        taken.append(left.pop(best))
        fit = fit.sweep(best)
    for k in {*range(some.size)} - {*taken[:1]}:
        if taken and own_share[some[k]] < PROXY * share[some[k]]:
            proxy_of[some[k]] = some[int(np.argmax(drops[k]))]
    unexplained = float(np.clip(1 - fit.explained / total, 0.0, 1.0))
    return Order(np.maximum(own_share, 0.0), proxy_of, unexplained)


@dataclass(frozen=True, eq=False)
class _NormalEquations:
    """Normal equations of candidates that are not taken yet, in every cell of the feature.

    Blocks of candidates have the same width: cells that one does not have are empty.
    """

    # (n_own, n, width, n, width): weights of cells of two candidates, as far as those that were
    # taken leave them
    matrix: FloatArray
    right: FloatArray  # (n_own, n, width, n_series): weighted sums of values, likewise
    left: FloatArray  # (n_series, n_own): sums of squares that are left
    total: FloatArray  # (n_series, n_own): sums of squares about the mean
    used: FloatArray  # (n_own,): degrees of freedom that are used up
    # count, one: (n_own,): effective rows, and the weight of one
    count: FloatArray
    one: FloatArray
    factor: FloatArray  # (n_own,): what squares in a cell count

    @classmethod
    def of(
        cls, own: OwnCells, partners: PartnerCodes, sums: CellSums, some: IntArray
    ) -> _NormalEquations:
        weight, n = own.sums.weight, some.size
        mean = own.sums.values / weight
        total = np.maximum(own.sums.powers - mean * own.sums.values, 0.0)
        # cells of candidates, -1 where one has fewer than others
        sizes = np.diff(partners.starts)[some]
        width = int(sizes.max(initial=0))
        has_cell = np.arange(width) < sizes[:, None]
        places = np.where(has_cell, partners.starts[some][:, None] + np.arange(width), -1)
        inside = places >= 0
        held = np.where(inside, sums.weight[:, places], 0.0)
        right = np.where(inside, sums.sums[:, :, places], 0.0) - mean[:, :, None, None] * held
        # weights in cells of the feature and of two candidates, for all pairs of different ones
        matrix: FloatArray = np.zeros((own.n_cells, n, width, n, width))
        first, second = np.triu_indices(n, 1)
        codes = partners.codes[some][:, own.row] - partners.starts[some][:, None]
        at = (own.cell * n + first[:, None]) * width + codes[first]
        at = (at * n + second[:, None]) * width + codes[second]
        heavy = None if partners.is_even else np.tile(own.weight, first.size)
        counts = np.bincount(at.ravel(), heavy, matrix.size).reshape(matrix.shape)
        matrix += counts * (own.weight[0] if partners.is_even else 1.0)
        matrix = matrix + matrix.transpose(0, 3, 4, 1, 2)
        diagonal = np.arange(n * width)
        matrix = matrix.reshape(own.n_cells, n * width, n * width)
        matrix[:, diagonal, diagonal] = held.reshape(own.n_cells, -1)
        flat = held.reshape(own.n_cells, -1)
        matrix -= flat[:, :, None] * flat[:, None, :] / weight[:, None, None]
        one = own.sums.squares / weight
        return cls(
            matrix=matrix.reshape(own.n_cells, n, width, n, width),
            right=np.moveaxis(right, 0, -1),
            left=total,
            total=total,
            used=np.ones(own.n_cells),
            count=weight / one,
            one=one,
            factor=own.factor,
        )

    def _solve(self, blocks: FloatArray, right: FloatArray) -> FloatArray:
        """Solve for candidates by themselves; blocks have shape (..., n_own, width, width)."""
        ridge = RIDGE * self.count * self.one / blocks.shape[-1]
        return np.linalg.solve(blocks + ridge[:, None, None] * np.eye(blocks.shape[-1]), right)

    def added(self) -> tuple[FloatArray, FloatArray]:
        """Squares that each candidate adds to those that were taken, and how far chance varies."""
        k = np.arange(self.matrix.shape[1])
        blocks, sums = self.matrix[:, k, :, k, :], self.right.swapaxes(0, 1)
        solved = self._solve(blocks, np.concatenate([sums, blocks], axis=-1))
        n_series = sums.shape[-1]
        explained = np.einsum("kaws,kaws->ska", sums, solved[..., :n_series])
        rank = np.trace(solved[..., n_series:], axis1=-2, axis2=-1)
        left = np.maximum(self.left[:, None] - explained, 0.0)
        variance = left / np.maximum(self.count - self.used - rank, 1.0)
        own, *steps = explained - variance * rank
        chance = np.sqrt((2 * rank * (self.factor * variance[0]) ** 2).sum(axis=1))
        return (own - sum(steps)) @ self.factor, chance

    @property
    def has_room(self) -> bool:
        """Whether rows are enough for one more: half of them stay free."""
        return bool(median(self.count - 2 * (self.used + self.matrix.shape[2])) > 0)

    def sweep(self, candidate: int) -> _NormalEquations:
        """Take what one candidate explains off all others, which stay."""
        n_own, n, width = self.matrix.shape[:3]
        others = np.delete(np.arange(n), candidate)
        block, sums = self.matrix[:, candidate, :, candidate], self.right[:, candidate]
        row = self.matrix[:, candidate][:, :, others].reshape(n_own, width, -1)
        solved = self._solve(block, np.concatenate([row, sums, block], axis=-1))
        n_row, n_series = row.shape[-1], sums.shape[-1]
        change = row.swapaxes(1, 2) @ solved[..., : n_row + n_series]
        matrix, right = self.matrix[:, others][:, :, :, others], self.right[:, others]
        explained = np.einsum("aws,aws->sa", sums, solved[..., n_row : n_row + n_series])
        rank = np.trace(solved[..., n_row + n_series :], axis1=-2, axis2=-1)
        return replace(
            self,
            matrix=matrix - change[..., :n_row].reshape(matrix.shape),
            right=right - change[..., n_row:].reshape(right.shape),
            left=np.maximum(self.left - explained, 0.0),
            used=self.used + rank,
        )

    @property
    def explained(self) -> float:
        """Sum of squares that those taken explain, adjusted for degrees of freedom."""
        left = self.left * (self.count - 1) / np.maximum(self.count - self.used, 1.0)
        own, *steps = (self.total - left) @ self.factor
        return float(own - sum(steps))


# --- Shares: an analysis of variance inside the cells of the feature


MIN_PARTNER_ROWS = 30
PARTNER_ROUNDING = 1e-10  # of the mean square of the effects or predictions: less is rounding
# Shares of a sum of squares. With so little between neighbours on the axis the rest is that of a
# bent common curve: all of it, or what exceeds the pure error.
CURVE, MAX_PURE_ERROR_SHARE = 0.25, 0.8


class FTest(NamedTuple):
    """Ratios of mean squares and their degrees of freedom, each of shape (n_partners,)."""

    ratio: FloatArray
    over: FloatArray
    under: FloatArray


@dataclass(frozen=True, eq=False)
class PartnerShares:
    """What was measured of the partners of one feature and output."""

    # share, error: (n_partners,): share of the spread that goes with each, and its standard error;
    # nan where it cannot be looked at, or where rows do not differ
    share: FloatArray
    error: FloatArray
    test: FTest  # whether it may be chance
    # (n_partners,): what it adds to those before it; nan where that was not looked at
    own_share: FloatArray
    proxy_of: IntArray  # (n_partners,): the partner that takes over what it has; -1 where none does
    # (n_partners,): deviation over the rows of what goes with it, accumulated, in units of the
    # output
    size: FloatArray
    unexplained: float  # share that no sum of partners explains; nan where rows do not differ
    rows: int  # rows that this rests on


def measure_partners(partners: PartnerCodes, target: Target) -> PartnerShares:
    """Measure how much of the spread of one feature goes with each partner."""
    # Inside cells of the feature, where its own curve is subtracted, the sum of squares between the
    # cells of a partner less what chance puts there, over the whole sum of squares. What the steps
    # of a model do is subtracted from both. O(n_effects n_partners).
    n_rows = int(np.count_nonzero(np.bincount(target.row)))
    looked = partners.varies.copy()
    if target.own >= 0:
        looked[target.own] = False
    if n_rows < MIN_PARTNER_ROWS or not looked.any():
        return _make_unknown_shares(looked.size, n_rows)
    own = cut_own(target, partners.weight)
    is_known = np.isfinite(target.scale) and target.scale > 0
    least = PARTNER_ROUNDING * max(own.size, 1 / target.scale**2 if is_known else 0.0)
    least *= float(own.weight.sum())
    # Lines through neighbours leave something of a curve that bends within their windows. Rows that
    # are neighbours on the axis share it: where these differ by less than rows of a cell do, it is
    # the curve that differs. Of sin 2x, 2 000 normal rows, lines leave .01 and neighbours 1e-5 to
    # 1e-4; of effects that differ by 1 neighbours show .96 to 1.09.
    first, *steps = _sum_own_cell_squares(own) @ own.factor
    if own.pure < CURVE * first or not float(first - sum(steps)) > least:
        return _make_unknown_shares(looked.size, n_rows)
    sums = add_up_cells(own, partners)
    squares = split_squares(own, sums, partners.starts)
    # Sum of squares by which rows differ, without steps, and without bends of their common curve.
    first, *steps = squares.total @ own.factor
    spread = (own.pure if own.pure < MAX_PURE_ERROR_SHARE * first else first) - sum(steps)
    explained = np.max(own.factor @ squares.excess, initial=0.0)  # of rows that repeat, more
    total = float(max(spread, min(explained, first - sum(steps))))
    if not total > least:
        return _make_unknown_shares(looked.size, n_rows)
    # Shares, their standard errors, and the standard deviations of shares that are chance alone.
    excess, noise = squares.excess, squares.variance[0] * squares.one[:, None]
    by_chance = 2 * noise**2 * squares.degrees * (1 + _ratio(squares.degrees, squares.left))
    variance = by_chance + 4 * noise * np.maximum(excess, 0.0)
    sizes = [
        own.factor @ excess,
        np.sqrt(own.factor**2 @ variance),
        np.sqrt(own.factor**2 @ by_chance),
    ]
    share, error, chance = np.where(looked, np.stack(sizes) / total, np.nan)
    order = order_partners(own, partners, sums, share, chance, total)
    return PartnerShares(
        share=share,
        error=error,
        test=_compare_variances(squares, own.factor),
        own_share=order.own_share,
        proxy_of=order.proxy_of,
        size=np.where(looked, _sizes(own, sums, squares, partners.starts), np.nan),
        unexplained=order.unexplained,
        rows=n_rows,
    )


def find_chances(found: Sequence[PartnerShares]) -> FloatArray:
    """Chances of as large shares if nothing made a difference, shape (n_found, n_partners)."""
    # All at once: most of the price of a tail is paid once for any number of them.
    ratio, over, under = np.stack([one.test for one in found], axis=1)
    looked = np.stack([~np.isnan(one.share) for one in found])
    known = looked & (over > 0) & (under > 0)
    chance = np.where(looked, np.where(np.isinf(ratio), 0.0, 1.0), np.nan)
    chance[known] = f_tail(ratio[known], over[known], under[known])
    return chance


def _make_unknown_shares(n_partners: int, n_rows: int) -> PartnerShares:
    none = np.full(n_partners, np.nan)
    return PartnerShares(
        share=none,
        error=none,
        test=FTest(none, none, none),
        own_share=none,
        proxy_of=np.full(n_partners, -1),
        size=none,
        unexplained=float("nan"),
        rows=n_rows,
    )


def _sum_own_cell_squares(own: OwnCells) -> FloatArray:
    """Sums of squares about the means of cells, shape (n_series, n_own)."""
    sums = own.sums
    return np.maximum(sums.powers - _ratio(sums.values**2, sums.weight), 0.0)


@dataclass(frozen=True, eq=False)
class PartnerSquares:
    """Sums of squares inside the cells of a feature: in all, and between the cells of partners."""

    total: FloatArray  # (n_series, n_own): about the mean of a cell of the feature
    between: FloatArray  # (n_series, n_own, n_partners): between the cells of a partner
    # (n_series, n_own, n_partners): what would lie between them if the partner made no difference
    chance: FloatArray
    variance: FloatArray  # (n_series, n_own, n_partners): within the cells of both
    # degrees, left: (n_own, n_partners): degrees of freedom between cells, and within them
    degrees: FloatArray
    left: FloatArray
    one: FloatArray  # (n_own,): weight of one row, on average

    @property
    def excess(self) -> FloatArray:
        """What lies between the cells of a partner beyond chance, and beyond steps."""
        own, *steps = self.between - self.chance
        return np.asarray(own - sum(steps))


def split_squares(own: OwnCells, sums: CellSums, starts: IntArray) -> PartnerSquares:
    """Split sums of squares into those between and those within the cells of each partner."""
    weight, total = own.sums.weight, _sum_own_cell_squares(own)
    one = _ratio(own.sums.squares, weight)
    middle = _ratio(own.sums.values**2, weight)
    filled = sums.weight > 0
    part = np.add.reduceat(_ratio(sums.sums**2, sums.weight), starts[:-1], axis=-1)
    between = np.maximum(part - middle[..., None], 0.0)
    lost = np.add.reduceat(_ratio(sums.squares, sums.weight, filled), starts[:-1], axis=-1)
    within = np.maximum(total[..., None] - between, 0.0)
    room = weight[:, None] - lost
    variance = _ratio(within, np.where(room > 1e-9 * weight[:, None], room, 0.0))
    degrees = _ratio(lost - one[:, None], one[:, None])
    return PartnerSquares(
        total=total,
        between=between,
        chance=variance * np.maximum(lost - one[:, None], 0.0),
        variance=variance,
        degrees=np.maximum(degrees, 0.0),
        left=_ratio(room, one[:, None]),
        one=one,
    )


def _ratio(over: FloatArray, under: FloatArray, some: BoolArray | None = None) -> FloatArray:
    """Divide; zero where there is nothing to divide by."""
    none = np.zeros(np.broadcast(over, under).shape)
    return np.divide(over, under, out=none, where=under > 0 if some is None else some)


def _compare_variances(squares: PartnerSquares, factor: FloatArray) -> FTest:
    """Compare what lies between the cells of partners with what lies within."""
    # Rows differ more in some cells of a feature than in others, so degrees of freedom are those of
    # Satterthwaite.
    parts = factor[:, None] * squares.chance[0]
    between, chance = factor @ squares.between[0], parts.sum(axis=0)
    is_exact = (chance == 0) & (between > 0)  # no noise at all: what is there is there
    return FTest(
        ratio=np.where(is_exact, np.inf, _ratio(between, chance)),
        over=_ratio(chance**2, _ratio(parts**2, squares.degrees).sum(axis=0)),
        under=_ratio(chance**2, _ratio(parts**2, squares.left).sum(axis=0)),
    )


def _sizes(own: OwnCells, sums: CellSums, squares: PartnerSquares, starts: IntArray) -> FloatArray:
    """Deviation over the rows of what goes with each partner, accumulated along the feature."""
    # Means of cells about that of all rows there, times the width of the cell, are added up from
    # cell to cell, centred over the rows, and read in the middles of cells (at levels, where there
    # are any). Noise is subtracted from the squares: that of the rows, and that of the steps of a
    # model. `add` (n_heights, n_own) accumulates slopes to heights, `read` (n_heights, n_own) tells
    # in which cells the rows of a height are, `share` (n_heights,) is their share.
    if own.level is None:
        weight = own.sums.weight
        read = np.eye(own.n_cells)
        add, share = np.tril(np.ones(read.shape), -1) + read / 2, weight / weight.sum()
    else:
        add = np.tril(np.ones((own.n_cells + 1, own.n_cells)), -1)
        read = np.eye(own.n_cells + 1, own.n_cells) + np.eye(own.n_cells + 1, own.n_cells, -1)
        read /= read.sum(axis=1, keepdims=True)
        times = np.bincount(own.row)[own.row]  # a row between two steps has two effects
        found = np.bincount(own.level, own.weight / times, own.n_cells + 1)
        share = np.asarray(found / found.sum())
    add = add * own.width
    add = add - share @ add
    filled = sums.weight > 0
    partner = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    middle = _ratio(own.sums.values, own.sums.weight)[..., None]
    about = np.where(filled, _ratio(sums.sums, sums.weight) - middle, 0.0)
    rows = _ratio(sums.squares, sums.weight**2, filled)
    noise = rows * squares.variance[0][:, partner] * (1 - sums.weight / own.sums.weight[:, None])
    here = share[:, None] * (read @ _ratio(sums.weight, own.sums.weight[:, None]))
    heights = np.einsum("na,sac->snc", add, about) ** 2
    square = here * (heights[0] - heights[1:].sum(axis=0) - add**2 @ noise)
    total = np.add.reduceat(square.sum(axis=0), starts[:-1])
    return np.sqrt(np.maximum(total, 0.0))
