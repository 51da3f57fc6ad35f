"""Smoothed staircases: small steps are smoothed along the rows, real jumps are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rhale.effects.curve import Center, RowPlaces, known_center
from rhale.effects.staircase import Jump, Staircase
from rhale.effects.variance import Estimate
from rhale.stats.arrays import BoolArray, FloatArray, IntArray

SMOOTHING_SHARE = 0.15  # of the rows that a local parabola is fitted to
N_SMOOTHING_KNOTS = 151
MIN_PARABOLA_POINTS = 9  # places that a parabola needs
MAX_UNSMOOTHED_VALUES = 60  # with so many or fewer the curve is drawn from value to value
PILE = 0.025  # of the rows at one value: it is drawn where it is
PILE_COUNTS = 0.25  # as much of a pile's least share as it counts in the fits around it
SMOOTHING_ROUNDING = 1e-9  # of the range of the curve
OF_STEPS = 4.0  # times what small steps are off the smooth curve: no more is smoothed


@dataclass(frozen=True, eq=False)
class Drawing:
    """A staircase as a reader wants to see it.

    Attributes
    ----------
    stairs : Staircase
        What is drawn.
    rows : RowPlaces
        Where rows are, increasing: the staircase is read there.
    knots : ndarray of shape (n_knots,)
        Some of these places, between which the smooth curve is straight.
    rule : ndarray of shape (n_knots, n_rows)
        Weight of the staircase at each place of the rows in the smooth curve at each knot.
    weight : ndarray of shape (n_knots,)
        How far the drawing follows the staircase instead of the smooth curve, 0 to 1.
    kept : ndarray of shape (n_places,)
        Which places belong to real jumps: they are taken off before smoothing, and drawn as they
        are.

    Notes
    -----
    S is the local parabola over 15 % of the rows, Epanechnikov's weights in rank. With R2 the mean
    of (C - S)² over the same rows and v its median along the axis,

        drawn = S + weight (C - S),   weight = max(0, 1 - (4 v / R2)²):

    where C is off S as far as anywhere, its steps are small ones. For a given weight it is a linear
    map of the jumps, so that intervals follow. Where S leaves the heights that C has around it, as
    parabolas do where a curve ends flat, weight is as large as it takes to stay within. A value
    that many rows have is drawn where it is,
    and so are all of few values. O(n_knots n_rows), whatever the number of rows of the table.
    """

    stairs: Staircase
    rows: RowPlaces
    knots: FloatArray
    rule: FloatArray
    weight: FloatArray
    kept: BoolArray

    @classmethod
    def of(cls, stairs: Staircase, rows: RowPlaces, jumps: Sequence[Jump] = ()) -> Drawing:
        """Choose knots, fit the smooth curve, and see where it loses more than small steps."""
        # real jumps are taken off the curve before it is smoothed, and added again in `_draw`
        kept = np.zeros(stairs.n_places, dtype=np.bool_)
        for jump in jumps:
            kept |= (stairs.places >= jump.start) & (stairs.places <= jump.stop)
        rows = calibrate_quadrature(stairs, rows)
        # point masses are drawn where they are; in the fits around them they count little, so that
        # one value with many rows does not draw all parabolas nearby through itself
        pile = rows.weight >= (PILE if rows.x.size > MAX_UNSMOOTHED_VALUES else 0.0)
        counts = np.where(pile, np.minimum(rows.weight, PILE_COUNTS * PILE), rows.weight)
        counts = counts / counts.sum()
        # knots at even ranks of the rows, and at every point mass
        rank = np.cumsum(counts) - counts / 2
        even = np.searchsorted(rank, np.linspace(rank[0], rank[-1], N_SMOOTHING_KNOTS))
        place = np.flatnonzero(pile) if pile.all() else np.union1d(even, np.flatnonzero(pile))
        # local quadratic regression (loess, Cleveland 1979) with a bandwidth in rank, as a matrix:
        # row k holds the weight of every height in the smooth curve at knot k
        near = (rank - rank[place][:, None]) / _reach_rows(rank, place)[:, None]
        rule = fit_parabolas(near, rows.x - rows.x[place][:, None], counts)
        exact = np.flatnonzero(pile[place])
        rule[exact] = 0.0
        rule[exact, place[exact]] = 1.0
        # how far the staircase without its real jumps is off its smooth curve, squared
        small = np.where(kept, 0.0, stairs.jumps)
        height = np.append(0.0, np.cumsum(small))[stairs.locate(rows.x)]
        knots = rows.x[place]
        smooth, near = rule @ height, np.abs(near) < 1
        off = (height - np.interp(rows.x, knots, smooth)) ** 2
        weight = compute_staircase_weights(near, off, np.where(pile, 0.0, rows.weight), place)
        # at least so much that no knot lies above or below all heights around it
        low = np.min(np.broadcast_to(height, near.shape), axis=1, where=near, initial=np.inf)
        high = np.max(np.broadcast_to(height, near.shape), axis=1, where=near, initial=-np.inf)
        beyond, away = smooth - np.clip(smooth, low, high), smooth - height[place]
        far = np.abs(beyond) > SMOOTHING_ROUNDING * np.ptp(height)
        least = np.where(far, beyond / np.where(far, away, 1.0), 0.0)
        return cls(stairs, rows, knots, rule, np.maximum(weight, least), kept)

    def curve(self, x: FloatArray, center: Center) -> FloatArray:
        """The drawn curve at x."""
        return np.asarray(self._draw(self.stairs.jumps[None], x, center)[0])

    def of_curve(self, x: FloatArray, center: Center) -> Estimate:
        """Variance of the drawn curve at x, over rows drawn from the same population."""
        return self.stairs.squared(self.moved(x, center))

    def moved(self, x: FloatArray, center: Center) -> FloatArray:
        """What each group of rows does to the drawn curve at x, shape (n_groups, n_x)."""
        moved = self._draw(self.stairs.influence, x, center)
        return moved - self.stairs.drawn[0][:, None] if center == "mean" else moved

    def of_changes(self, start: FloatArray, stop: FloatArray) -> Estimate:
        """Variance of the change of the drawn curve from each start to its stop."""
        first, last = (self._draw(self.stairs.influence, x, "start") for x in (start, stop))
        return self.stairs.squared(last - first)

    def _draw(self, jumps: FloatArray, x: FloatArray, center: Center) -> FloatArray:
        """Draw some staircases of jumps (n_stairs, n_places): shape (n_stairs, n_x)."""
        known_center(center)
        # curves of the small steps and of the real jumps, before the first place and behind each
        small, real = np.zeros((2, len(jumps), self.stairs.n_places + 1))
        np.cumsum(np.where(self.kept, 0.0, jumps), axis=1, out=small[:, 1:])
        np.cumsum(np.where(self.kept, jumps, 0.0), axis=1, out=real[:, 1:])
        smooth = small[:, self.stairs.locate(self.rows.x)] @ self.rule.T
        zero = self._places(center)
        at = np.concatenate([x, zero.x])
        level = interpolate_knots(self.knots, np.vstack([smooth, self.weight]), at)
        # S + weight (C - S), and the real jumps on top
        level, weight, here = level[:-1], level[-1], self.stairs.locate(at)
        drawn = level + weight * (small[:, here] - level) + real[:, here]
        return np.asarray(drawn[:, : x.size] - (drawn[:, x.size :] @ zero.weight)[:, None])

    def _places(self, center: Center) -> RowPlaces:
        """Places whose average is taken as zero."""
        low, high = self.stairs.low, self.stairs.high
        if center == "mean":
            return self.rows
        if center == "start" or not high > low:
            return RowPlaces(np.array([low]), np.ones(1))
        # between knots and jumps the curve is a parabola: Gauss's two points average it exactly
        limits = np.concatenate([self.knots, self.stairs.places, [low, high]])
        limits = np.unique(np.clip(limits, low, high))
        middle, half = limits[:-1] + np.diff(limits) / 2, np.diff(limits) / 2
        points = np.concatenate([middle - half / np.sqrt(3.0), middle + half / np.sqrt(3.0)])
        return RowPlaces(points, np.tile(half / (high - low), 2))


def calibrate_quadrature(stairs: Staircase, rows: RowPlaces) -> RowPlaces:
    """Places of rows whose weights between jumps are those of the staircase.

    Quadrature nodes may lie on the other side of a jump than their rows; how many rows there are between
    two jumps is known.
    """
    # distinct places and their weights
    order = np.argsort(rows.x, kind="stable")
    x, place = np.unique(rows.x[order], return_inverse=True)
    weight = np.bincount(place, rows.weight[order])
    # scale the weights between two jumps to the known share; where no place is left, add one in
    # the middle
    own = stairs.locate(x)
    held = np.bincount(own, weight, minlength=stairs.n_places + 1)
    lost = np.flatnonzero((held <= 0) & (stairs.row_shares > 0))
    scale = np.where(held > 0, stairs.row_shares / np.where(held > 0, held, 1.0), 0.0)
    limits = np.concatenate([[stairs.low], stairs.places, [stairs.high]])
    middle = limits[lost] + np.diff(limits)[lost] / 2
    x = np.append(x, np.maximum(middle, limits[lost]))
    weight = np.append(weight * scale[own], stairs.row_shares[lost])
    some = np.flatnonzero(weight > 0)
    order = some[np.argsort(x[some], kind="stable")]
    return RowPlaces(x[order], weight[order] / weight[order].sum())


def _reach_rows(rank: FloatArray, place: IntArray) -> FloatArray:
    """How far in rank the rows reach that a parabola is fitted to, at some of the places."""
    others = min(MIN_PARABOLA_POINTS, rank.size) - 1
    starts = np.arange(rank.size - others)  # of all runs of so many neighbours
    nearest = np.full(place.size, np.inf)
    for shift in range(others + 1):
        start = np.clip(place - shift, starts[0], starts[-1])
        ends = rank[place] - rank[start], rank[start + others] - rank[place]
        nearest = np.minimum(nearest, np.maximum(*ends))
    return np.asarray(np.maximum(SMOOTHING_SHARE / 2, 1.001 * nearest))


def fit_parabolas(near: FloatArray, away: FloatArray, weight: FloatArray) -> FloatArray:
    """Weights of all places in local parabolas, each read where it is fitted.

    `near`, `away` (n_fits, n_places): distance of the places, in reaches and in units of x;
    `weight` (n_places,): of the places.
    """
    # Epanechnikov's kernel
    kernel = np.maximum(1 - near**2, 0.0) * weight
    kernel = kernel / kernel.sum(axis=1, keepdims=True)
    scale = np.max(np.abs(away), axis=1, keepdims=True, where=kernel > 0, initial=0.0)
    away = np.where(kernel > 0, away / np.where(scale > 0, scale, 1.0), 0.0)
    # normal equations of the weighted parabola: moments 0 to 4 in a Hankel matrix
    first = kernel * away
    second = first * away
    third = second * away
    moments = np.stack([one.sum(axis=1) for one in (kernel, first, second, third, third * away)])
    moments = np.moveaxis(moments[np.add.outer(np.arange(3), np.arange(3))], 2, 0)
    moments[:, [1, 2], [1, 2]] += 1e-10  # of rows that are one or two values only
    wanted = np.array([[[1.0], [0.0], [0.0]]])  # three axes: NumPy 1 takes two for vectors
    there = np.linalg.solve(moments, wanted)[..., 0]  # the fit at `away` = 0 as a map of heights
    return np.asarray(there[:, :1] * kernel + there[:, 1:2] * first + there[:, 2:] * second)


def compute_staircase_weights(
    near: BoolArray,
    off: FloatArray,
    weight: FloatArray,
    place: IntArray,
) -> FloatArray:
    """How far to follow the staircase, from the squares that it is off its smooth curve.

    `near` (n_knots, n_rows): which places are near each knot; `off`, `weight` (n_rows,): the
    squares, and how much they count; `place` (n_knots,): which places the knots are.
    """
    # R2: mean square around each knot; v: its median over the rows
    held = near @ weight
    local = (near @ (weight * off)) / np.where(held > 0, held, 1.0)
    if not np.any(weight > 0):
        return np.zeros(place.size)
    along = np.interp(np.arange(weight.size), place, local)
    order = np.argsort(along)
    reached = np.cumsum(weight[order])
    typical = along[order][np.searchsorted(reached, reached[-1] / 2)]
    # what is off by rounding alone is not off: a coin would decide whom to follow
    some = local > SMOOTHING_ROUNDING**2 * local.max()
    small = OF_STEPS * typical / np.where(some, local, 1.0)
    return np.where(some, np.maximum(0.0, 1 - small**2), 0.0)


def interpolate_knots(knots: FloatArray, values: FloatArray, x: FloatArray) -> FloatArray:
    """Read lines between knots, of shape (n_lines, n_knots), at x; constant outside."""
    if knots.size == 1:
        return np.repeat(values, x.size, axis=1)
    right = np.clip(np.searchsorted(knots, x), 1, knots.size - 1)
    width = knots[right] - knots[right - 1]
    part = np.clip((x - knots[right - 1]) / width, 0.0, 1.0)
    return np.asarray(values[:, right - 1] * (1 - part) + values[:, right] * part)
