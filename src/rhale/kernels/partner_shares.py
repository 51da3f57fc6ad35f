"""How much of the spread of a feature goes with each other feature, whatever the way it acts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.f_tail import f_tail
from rhale.kernels.partner_cells import CellSums, OwnCells, PartnerCodes, add_up_cells, cut_own
from rhale.kernels.partner_order import tell_proxies
from rhale.kernels.region_finding import Target

MIN_PARTNER_ROWS = 30
PARTNER_ROUNDING = (
    1e-10  # a mean square of this, of the effects' own or of the predictions', is rounding
)
CURVE, MAX_PURE_ERROR_SHARE = (
    0.25,
    0.8,
)  # of a sum of squares: with so little between neighbours it is the curve's


class FTest(NamedTuple):
    """Ratios of mean squares and their degrees of freedom, each of shape (n_partners,)."""

    ratio: FloatArray
    over: FloatArray
    under: FloatArray


@dataclass(frozen=True, eq=False)
class PartnerShares:
    """What was measured of the partners of one feature and output.

    Attributes
    ----------
    share, error : ndarrays of shape (n_partners,)
        Share of the spread that goes with each, and its standard error; nan where it cannot be
        looked at, or where rows do not differ.
    test : FTest
        Whether it may be chance.
    own_share : ndarray of shape (n_partners,)
        What it adds to those before it; nan where that was not looked at.
    proxy_of : ndarray of shape (n_partners,)
        The partner that takes over what it has; -1 where none does.
    size : ndarray of shape (n_partners,)
        Deviation over the rows of what goes with it, accumulated, in units of the output.
    unexplained : float
        Share that no sum of partners explains; nan where rows do not differ.
    rows : int
        Rows that this rests on.
    """

    share: FloatArray
    error: FloatArray
    test: FTest
    own_share: FloatArray
    proxy_of: IntArray
    size: FloatArray
    unexplained: float
    rows: int


def measure_partners(partners: PartnerCodes, target: Target) -> PartnerShares:
    """Measure how much of the spread of one feature goes with each partner.

    Parameters
    ----------
    partners : PartnerCodes
        The other features, and the feature itself, in cells.
    target : Target
        Local effects of the feature.

    Notes
    -----
    Inside cells of the feature, where its own curve is taken off, the sum of squares between the
    cells of a partner less what chance puts there, over the whole sum of squares. What the steps
    of a model do is taken off both. O(n_effects n_partners).
    """
    n_rows = int(np.count_nonzero(np.bincount(target.row)))
    looked = partners.varies.copy()
    if target.own >= 0:
        looked[target.own] = False
    if n_rows < MIN_PARTNER_ROWS or not looked.any():
        return _make_unknown_shares(looked.size, n_rows)
    own = cut_own(target, partners.weight)
    least = _rounding(target, own) * float(own.weight.sum())
    if not _most(own) > least:  # whatever the partners: there is no need to look at them
        return _make_unknown_shares(looked.size, n_rows)
    sums = add_up_cells(own, partners)
    squares = split_squares(own, sums, partners.starts)
    total = _sum_heterogeneity_squares(own, squares)
    if not total > least:
        return _make_unknown_shares(looked.size, n_rows)
    found = np.where(looked, _estimate_partner_shares(squares, own.factor, total), np.nan)
    share, error, chance = found
    told = tell_proxies(own, partners, sums, share, chance, total)
    return PartnerShares(
        share=share,
        error=error,
        test=_test(squares, own.factor),
        own_share=told.own_share,
        proxy_of=told.proxy_of,
        size=np.where(looked, _sizes(own, sums, squares, partners.starts), np.nan),
        unexplained=told.unexplained,
        rows=n_rows,
    )


def find_chances(found: Sequence[PartnerShares]) -> FloatArray:
    """Chances of as large shares if nothing made a difference, shape (n_found, n_partners).

    Notes
    -----
    All at once: most of the price of a tail is paid once for any number of them.
    """
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


def _most(own: OwnCells) -> float:
    """Sum of squares in the cells, without steps; none where it is that of a bent common curve.

    Notes
    -----
    Lines through neighbours leave something of a curve that bends within their windows. Rows that
    stand side by side share it: where these differ by less than rows of a cell do, they tell.
    Of sin 2x, 2 000 normal rows, lines leave .01 and neighbours 1e-5 to 1e-4; of effects that
    differ by 1 neighbours tell .96 to 1.09.
    """
    first, *steps = _sum_own_cell_squares(own) @ own.factor
    return 0.0 if own.pure < CURVE * first else float(first - sum(steps))


def _sum_own_cell_squares(own: OwnCells) -> FloatArray:
    """Sums of squares about the means of cells, shape (n_series, n_own)."""
    sums = own.sums
    return np.maximum(sums.powers - _ratio(sums.values**2, sums.weight), 0.0)


def _sum_heterogeneity_squares(own: OwnCells, squares: PartnerSquares) -> float:
    """Sum of squares by which rows differ, without steps, and without bends of their common curve."""
    first, *steps = squares.total @ own.factor
    spread = (own.pure if own.pure < MAX_PURE_ERROR_SHARE * first else first) - sum(steps)
    explained = np.max(own.factor @ squares.excess, initial=0.0)  # of rows that repeat, more
    return float(max(spread, min(explained, first - sum(steps))))


def _rounding(target: Target, own: OwnCells) -> float:
    """Mean square of effects that may be due to rounding."""
    is_known = np.isfinite(target.scale) and target.scale > 0
    return PARTNER_ROUNDING * max(own.size, 1 / target.scale**2 if is_known else 0.0)


@dataclass(frozen=True, eq=False)
class PartnerSquares:
    """Sums of squares inside the cells of a feature: in all, and between the cells of partners.

    Attributes
    ----------
    total : ndarray of shape (n_series, n_own)
        About the mean of a cell of the feature.
    between : ndarray of shape (n_series, n_own, n_partners)
        Between the cells of a partner.
    chance : ndarray of shape (n_series, n_own, n_partners)
        What would lie between them if the partner made no difference.
    variance : ndarray of shape (n_series, n_own, n_partners)
        Within the cells of both.
    degrees, left : ndarrays of shape (n_own, n_partners)
        Degrees of freedom between cells, and within them.
    one : ndarray of shape (n_own,)
        Weight of one row, on average.
    """

    total: FloatArray
    between: FloatArray
    chance: FloatArray
    variance: FloatArray
    degrees: FloatArray
    left: FloatArray
    one: FloatArray

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


def _estimate_partner_shares(
    squares: PartnerSquares, factor: FloatArray, total: float
) -> FloatArray:
    """Shares of the spread, their errors, and how far chance alone varies, shape (3, n_partners)."""
    excess, noise = squares.excess, squares.variance[0] * squares.one[:, None]
    chance = 2 * noise**2 * squares.degrees * (1 + _ratio(squares.degrees, squares.left))
    error = chance + 4 * noise * np.maximum(excess, 0.0)
    found = [factor @ excess, np.sqrt(factor**2 @ error), np.sqrt(factor**2 @ chance)]
    return np.stack(found) / total


def _test(squares: PartnerSquares, factor: FloatArray) -> FTest:
    """Compare what lies between the cells of partners with what lies within.

    Notes
    -----
    Rows differ more in some cells of a feature than in others, so degrees of freedom are those of
    Satterthwaite.
    """
    parts = factor[:, None] * squares.chance[0]
    between, chance = factor @ squares.between[0], parts.sum(axis=0)
    is_exact = (chance == 0) & (between > 0)  # no noise at all: what is there is there
    return FTest(
        ratio=np.where(is_exact, np.inf, _ratio(between, chance)),
        over=_ratio(chance**2, _ratio(parts**2, squares.degrees).sum(axis=0)),
        under=_ratio(chance**2, _ratio(parts**2, squares.left).sum(axis=0)),
    )


def _sizes(own: OwnCells, sums: CellSums, squares: PartnerSquares, starts: IntArray) -> FloatArray:
    """Deviation over the rows of what goes with each partner, accumulated along the feature.

    Notes
    -----
    Means of cells about that of all rows there, times the width of the cell, are added up from
    cell to cell, centred over the rows, and read in the middles of cells (at levels, where there
    are any). Noise is taken off the squares: that of the rows, and that of the steps of a model.
    """
    add, read, share = _accumulation(own, own.sums.weight)
    filled = sums.weight > 0
    partner = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    middle = _ratio(own.sums.values, own.sums.weight)[..., None]
    about = np.where(filled, _ratio(sums.sums, sums.weight) - middle, 0.0)
    rows = _ratio(sums.squares, sums.weight**2, filled)
    noise = rows * squares.variance[0][:, partner] * (1 - sums.weight / own.sums.weight[:, None])
    here = share[:, None] * (read @ _ratio(sums.weight, own.sums.weight[:, None]))
    heights = np.einsum("na,sac->snc", add, about) ** 2
    square = here * (heights[0] - heights[1:].sum(axis=0) - add**2 @ noise)
    found = np.add.reduceat(square.sum(axis=0), starts[:-1])
    return np.sqrt(np.maximum(found, 0.0))


def _accumulation(own: OwnCells, weight: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """How heights follow from slopes in cells, whose rows stand there, and their share."""
    if own.level is None:
        read = np.eye(own.n_cells)
        add, share = np.tril(np.ones(read.shape), -1) + read / 2, weight / weight.sum()
    else:
        add = np.tril(np.ones((own.n_cells + 1, own.n_cells)), -1)
        read = np.eye(own.n_cells + 1, own.n_cells) + np.eye(own.n_cells + 1, own.n_cells, -1)
        read /= read.sum(axis=1, keepdims=True)
        share = _level_shares(own, own.level)
    add = add * own.width
    return add - share @ add, read, share


def _level_shares(own: OwnCells, level: IntArray) -> FloatArray:
    """Shares of the levels: a row between two steps has two effects."""
    times = np.bincount(own.row)[own.row]
    found = np.bincount(level, own.weight / times, own.n_cells + 1)
    return np.asarray(found / found.sum())
