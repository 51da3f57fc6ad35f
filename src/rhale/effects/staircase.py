"""Curves of models that jump: the staircase of all jumps, and the same smoothed where steps are small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from rhale.effects.curve import Center, RowPlaces, known_center
from rhale.effects.jumps import INNER, JUMP_FIXED_POINT_SCALE, JumpCells, JumpSums
from rhale.effects.variance import Estimate
from rhale.output.storage.values import AXIS_NUMBER, ArrayDimension, Numbers, stored
from rhale.stats.arrays import BoolArray, FloatArray, IntArray

# --- Staircases: the exact curve of a model that jumps, its uncertainty, and which of its jumps are real


MAX_JUMP_LABELS = 3  # jumps that a picture names

INFLUENCE_BITS = 24  # of a short number
MIN_JUMP_WEIGHT = 1e-9  # beside places where rows differ, others hardly count
N_BIASES = 2  # groups without rows: how far inner and all rows disagree, and the rest of D


@dataclass(frozen=True, eq=False)
class Staircase:
    """The effect of a feature on a stepped model: flat, but for a jump at each of some places.

    Attributes
    ----------
    places : ndarray of shape (n_places,)
        Where the jumps are, increasing: x at or above a place is behind its jump.
    jumps : ndarray of shape (n_places,)
        Mean jump of the rows near each place.
    near_shares : ndarray of shape (n_places,)
        Share of the rows that are near each place, by weight: as many as would tell the jump as
        well, where inner rows count more than outer ones.
    row_shares : ndarray of shape (n_places + 1,)
        Shares of the rows before the first place, between each two, and behind the last one.
    influence : ndarray of shape (n_groups, n_places)
        What the draw of each group of rows does to each jump; their squares add up to its variance.
        Two last groups without rows stand for bias: how far inner and all rows disagree.
    drawn : ndarray of shape (2, n_groups)
        What the draw of each group does to the mean of the curve, and to its variance, over the
        rows, were the jumps known.
    group_shares : ndarray of shape (n_groups,)
        Share of the rows in each group; 0 of those that stand for bias.
    low, high : float
        Ends of the axis.

    Notes
    -----
    Curve: C(x) = sum of the jumps at or before x. Centred over the rows it is a linear map of the
    jumps, whose weights 1{t_j <= x} - p_j the rows decide, too: with p_j the share of the rows
    behind place j, group g moves the curve by

        Phi_g(x) = sum_j influence_gj (1{t_j <= x} - p_j) - drawn_g,

    and the variance is the sum of its squares. With S_g the sum of the jumps of its rows near a
    place, n_g their weight and s_g = n_g / n, influence is (S_g - n_g jump) / n, divided by the
    root of 1 - sum of s_g²: deviations from a mean that the group itself pulls are too small by
    that much (in 32 groups of many rows by 1 / 32, at a place that has 20 rows by 1 / 12).

    How wide a neighbourhood should be depends on the table: where features are near copies, a jump
    fades within a few rows of its place. So jumps are averaged over all rows of a neighbourhood, A,
    and over the innermost quarter of these, B, which is less biased and noisier. With D the mean
    square over the rows of the difference of both curves, and V the part of it that is noise,

        curve = A + w (B - A),     w = max(0, 1 - V / D),

    has the least mean squared error of all such mixtures (V is that of B - A, as the rows of B are
    among those of A). What w leaves out, (1 - w)² (B - A)², counts as squared bias, and
    w (1 - w) (B - A)² as that of the choice itself: together (1 - w) (B - A)². B may be off as well:
    by (B - A) / 3 where bias grows with the width of a neighbourhood, which adds w (B - A)² / 9. Two
    curves that disagree cross somewhere, which makes neither of them right there: where they are
    closer to each other than on average over the rows, D stands for (B - A)².

    That holds for rows that the model does not know. Trees that are deeper than the rows can carry
    remember the rows they learned from: beside each of these they jump as its target does, all of
    B sees that, and no other row would. Such a jump is made by one row or two, so halves of the
    rows do not agree about it: w counts as far as they do (`halves_agree`).
    """

    places: FloatArray = field(metadata=stored(Numbers.places("jumps", rising=True)))
    jumps: FloatArray = field(metadata=stored(Numbers.means("jumps", unknown=False)))
    near_shares: FloatArray = field(metadata=stored(Numbers.shares("jumps")))
    row_shares: FloatArray = field(metadata=stored(Numbers.shares(ArrayDimension("jumps", 1))))
    influence: FloatArray = field(
        metadata=stored(Numbers.means(ArrayDimension("groups", least=1), "jumps", unknown=False))
    )
    drawn: FloatArray = field(metadata=stored(Numbers.products("parts", "groups")))
    group_shares: FloatArray = field(metadata=stored(Numbers.shares("groups")))
    low: float = field(metadata=stored(AXIS_NUMBER))
    high: float = field(metadata=stored(AXIS_NUMBER))

    @classmethod
    def of(
        cls, cells: JumpCells, sums: JumpSums, output: int, ends: tuple[float, float]
    ) -> Staircase:
        """Conclude from sums over all rows.

        Parameters
        ----------
        cells : JumpCells
            Where the jumps were counted.
        sums : JumpSums
            Of all rows.
        output : int
            The output.
        ends : tuple of float
            Ends of the axis.
        """
        stand = sums.row_shares / max(float(sums.row_shares.sum()), 1.0)
        row_shares, group_shares = stand.sum(axis=0), stand.sum(axis=1)
        # A: over all rows of each neighbourhood
        jumps, influence, rows = _mean_jumps(sums, output)
        bias = np.zeros((0, row_shares.size))
        if sums.inner is not None:
            # B: over the innermost rows; `more` is B - A
            inner, inner_influence, inner_rows = _mean_jumps(sums.inner, output)
            more, more_influence = inner - jumps, inner_influence - influence
            # D and V of the Notes
            off = _accumulate_jumps(more, row_shares)
            square = float(row_shares @ off**2)
            noise = float(
                row_shares @ np.sum(_accumulate_jumps(more_influence, row_shares) ** 2, axis=0)
            )
            # w = max(0, 1 - V / D), which estimates the weight of least mean squared error; of one
            # group it is not known what is noise
            is_known = square > 0 and np.count_nonzero(group_shares) > 1
            w = max(0.0, 1.0 - noise / square) if is_known else 0.0
            w *= halves_agree(sums.inner, output)
            # bias: (1 - w) (B - A)² + w ((B - A) / 3)², with D in the place of (B - A)² where the
            # curves cross: as two more groups, whose squares add up to it
            off = np.stack([off, np.sqrt(np.maximum(square - off**2, 0.0))])
            bias = np.sqrt(1 - w + w * (INNER / (1 - INNER)) ** 2) * off
            jumps, influence = jumps + w * more, influence + w * more_influence
            # variances are as one over rows, and those of A and of B - A add up
            rows = 1 / (1 / rows + w**2 * np.maximum(1 / inner_rows - 1 / rows, 0.0))
        # what the draw of each group does to mean and variance of the curve, the jumps being known
        heights = np.append(0.0, np.cumsum(jumps))
        heights = heights - row_shares @ heights
        off_mean = stand @ heights
        off_variance = stand @ heights**2 - group_shares * float(row_shares @ heights**2)
        drawn = np.stack([off_mean, off_variance]) / kept_root(group_shares[:, None])
        of_bias = np.stack([-bias @ row_shares, np.zeros(len(bias))])  # it is not centred
        return cls(
            places=cells.places,
            jumps=jumps,
            near_shares=rows
            / max(
                float(sums.row_shares.sum()) / JUMP_FIXED_POINT_SCALE, 1 / JUMP_FIXED_POINT_SCALE
            ),
            row_shares=row_shares,
            influence=np.vstack([influence, np.diff(bias, axis=1)]),
            drawn=np.hstack([drawn, of_bias]),
            group_shares=np.append(group_shares, np.zeros(len(bias))),
            low=ends[0],
            high=ends[1],
        )

    def rounded(self) -> Staircase:
        """The same with seven digits of `influence`, which tell enough of chance.

        Notes
        -----
        Nine tenths of a staircase are influence; of 24 bits, a file takes half as many bytes.
        """
        part, power = np.frexp(self.influence)
        return replace(
            self,
            influence=np.ldexp(np.round(part * 2.0**INFLUENCE_BITS) / 2.0**INFLUENCE_BITS, power),
        )

    @property
    def n_places(self) -> int:
        """How many places there are."""
        return self.places.size

    @property
    def degrees(self) -> float:
        """Degrees of freedom of the variances: groups that have rows, less one."""
        return float(np.count_nonzero(self.group_shares > 0)) - 1.0

    @property
    def between_rows(self) -> FloatArray:
        """What the draw of the groups that have rows does to each jump, shape (n_groups, n_places)."""
        return self.influence[self.group_shares > 0]

    @property
    def behind(self) -> FloatArray:
        """Share of the rows at or above each place, shape (n_places,)."""
        return np.asarray(np.cumsum(self.row_shares[::-1])[::-1][1:])

    @property
    def heights(self) -> FloatArray:
        """The curve before the first place and behind each, zero on average over the rows."""
        heights = np.append(0.0, np.cumsum(self.jumps))
        return np.asarray(heights - self.row_shares @ heights)

    def zero(self, center: Center) -> FloatArray:
        """Weight of each jump in the average that is taken as zero, shape (n_places,)."""
        known_center(center)
        if center == "mean":
            return self.behind
        if center == "start" or not self.high > self.low:
            return np.zeros(self.n_places)
        return (self.high - self.places) / (self.high - self.low)

    def curve(self, x: FloatArray, center: Center) -> FloatArray:
        """The curve at x."""
        heights = np.append(0.0, np.cumsum(self.jumps))
        if center == "mean":
            return self.heights[self.locate(x)]
        return np.asarray(heights[self.locate(x)] - self.zero(center) @ self.jumps)

    def locate(self, x: FloatArray) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]]:
        """How many places lie at or below each x."""
        return np.searchsorted(self.places, x, "right")

    def importance(self) -> float:
        """Standard deviation of the curve over the rows."""
        return float(np.sqrt(self.row_shares @ self.heights**2))

    def of_curve(self, x: FloatArray, center: Center) -> Estimate:
        """Variance of the curve at x, over rows drawn from the same population."""
        return self.squared(self.moved(x, center))

    def of_curve_from(self, x: FloatArray, zero: RowPlaces) -> Estimate:
        """Variance of the curve at x less its mean at given places, which are no draw."""
        moved = self.moved(x, "start")
        return self.squared(moved - (self.moved(zero.x, "start") @ zero.weight)[:, None])

    def bias_from(self, x: FloatArray, zero: RowPlaces) -> FloatArray:
        """How far off the curve at x may be by bias, less its mean at given places: (2, n_x)."""
        moved = self.moved(x, "start") - (self.moved(zero.x, "start") @ zero.weight)[:, None]
        return np.asarray(moved[self.group_shares == 0][-N_BIASES:])

    def of_changes(self, start: FloatArray, stop: FloatArray) -> Estimate:
        """Variance of the change of the curve from each start to its stop."""
        return self.squared(self.moved(stop, "start") - self.moved(start, "start"))

    def of_importance(self) -> float:
        """Variance of the standard deviation of the curve over the rows, to first order."""
        # delta method: by the jumps, and by the draw of the rows
        size = self.importance()
        if size == 0.0:
            return 0.0
        pull = np.cumsum((self.row_shares * self.heights)[::-1])[::-1][1:] / size
        moved = self.influence @ pull + self.drawn[1] / (2 * size)
        return float(self.squared(moved[:, None]).variance[0])

    def added_square(self) -> float:
        """What the errors of the jumps add, on average, to the mean square of the curve over the rows.

        The mean over the rows of the variance of the curve, but for that of its centring, which
        adds nothing: the curve is zero on average over the rows, whatever they are. Neither does
        bias, which is no chance.
        """
        moved = _accumulate_jumps(self.between_rows, self.row_shares)
        return float(self.row_shares @ self.squared(moved).variance)

    def shares_between(self, limits: FloatArray) -> FloatArray:
        """How much of what happens between neighbouring limits lies at or before each place.

        Parameters
        ----------
        limits : ndarray of shape (n_limits,)
            Increasing.

        Returns
        -------
        ndarray of shape (n_places + 1, n_limits - 1)
            Before the first place and behind each; zeros between limits that have no place.

        Notes
        -----
        A place counts by how much rows differ there, as their groups tell it, or by its jump where
        none does.
        """
        weight = np.sqrt(np.sum(self.between_rows**2, axis=0) * self.near_shares)
        weight = np.where(
            weight > 0, weight, MIN_JUMP_WEIGHT * (np.abs(self.jumps) + self.near_shares)
        )
        between = np.searchsorted(limits, self.places, "left") - 1
        inside = np.flatnonzero((between >= 0) & (between < limits.size - 1))
        shares = np.zeros((self.n_places + 1, limits.size - 1))
        shares[inside + 1, between[inside]] = weight[inside]
        total = shares.sum(axis=0)
        return np.asarray(np.cumsum(shares, axis=0) / np.where(total > 0, total, 1.0))

    def redraw(self, moved: FloatArray, *, draws: int, seed: int) -> FloatArray:
        """How a curve moves when groups are drawn anew, to first order: (draws, n_x).

        Parameters
        ----------
        moved : ndarray of shape (n_groups, n_x)
            What each group does to it (see `moved`).
        draws, seed : int
            How many draws, and of which random numbers.
        """
        # the bootstrap over groups of rows (multinomial counts), and normal draws of the bias
        has_rows = self.group_shares > 0
        n_groups, rng = int(np.count_nonzero(has_rows)), np.random.default_rng(seed)
        times = rng.multinomial(n_groups, np.full(n_groups, 1 / max(n_groups, 1)), draws)
        rest = moved[~has_rows]
        return np.asarray(
            (times - 1.0) @ moved[has_rows] + rng.normal(size=(draws, len(rest))) @ rest
        )

    def moved(self, x: FloatArray, center: Center) -> FloatArray:
        """What each group does to the curve at x, shape (n_groups, n_x)."""
        # Phi_g(x) of the Notes: running sums of the influence, less their mean over the rows
        zero = self.zero(center)
        sums = np.zeros((len(self.influence), self.n_places + 1))
        np.cumsum(self.influence, axis=1, out=sums[:, 1:])
        moved = sums[:, self.locate(x)] - (self.influence @ zero)[:, None]
        return np.asarray(moved - self.drawn[0][:, None] if center == "mean" else moved)

    def squared(self, moved: FloatArray) -> Estimate:
        """Add up the squares of what the groups do; unknown where there is one group only."""
        variance = np.sum(moved**2, axis=0)
        if self.n_places > 0 and self.degrees < 1:
            variance = np.full(variance.size, np.nan)
        return Estimate(variance, np.full(variance.size, max(self.degrees, 1.0)))


def _mean_jumps(sums: JumpSums, output: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean jump at each place, what each group does to it, and the share of the rows behind it."""
    # influence of a group: (S_g - n_g jump) / n, divided by the root of 1 - sum s_g² (see
    # `Staircase`)
    near = np.cumsum(sums.near, axis=1)[:, :-1]
    rows = np.maximum(near.sum(axis=0), 1) / JUMP_FIXED_POINT_SCALE
    # sums of whole numbers are exact, so that the mean has the same bits in any order of the rows
    jumps = sums.jumps[:, :, output].sum(axis=0) * sums.unit / rows
    off = sums.jumps[:, :, output] * sums.unit - near / JUMP_FIXED_POINT_SCALE * jumps
    return jumps, off / rows / kept_root(near / JUMP_FIXED_POINT_SCALE / rows), rows


def halves_agree(sums: JumpSums, output: int) -> float:
    """Correlation, 0 to 1, of the jumps at all places as two halves of the rows near each show them."""
    # With s the share of the squared jumps that is noise, 1 - s is what two halves have in common
    # and 2 s the noise of each: their correlation is (1 - s) / (1 + s). A jump that is the doing of
    # p of n rows has s = (1 - p) / (p n), so one half is what jumps have that three rows make.
    jumps, influence, _ = _mean_jumps(sums, output)
    squared = float(np.sum(jumps**2))
    noise = float(np.sum(influence**2))
    return max(0.0, (squared - noise) / (squared + noise)) if squared > 0 else 1.0


def _accumulate_jumps(jumps: FloatArray, row_shares: FloatArray) -> FloatArray:
    """Curves of jumps (last axis) between all places, each zero on average over the rows."""
    first = np.zeros((*jumps.shape[:-1], 1))
    heights = np.concatenate([first, np.cumsum(jumps, axis=-1)], axis=-1)
    return np.asarray(heights - (heights @ row_shares)[..., None])


def kept_root(shares: FloatArray) -> FloatArray:
    """Root of the part of a variance that deviations from the groups' own mean keep.

    `shares` (n_groups, n_means): share of each group in each mean.

    Examples
    --------
    >>> kept_root(np.array([[0.5], [0.5]])) ** 2
    array([0.5])
    """
    kept = 1.0 - np.sum(shares**2, axis=0)
    return np.sqrt(np.where(kept > 1e-9, kept, 1.0))  # one group alone has no deviation


# --- Real jumps of a staircase: narrow, large, alone and shared by the rows; other steps are small


MIN_JUMP_SIZE = 0.1  # of the range of the curve
ROWS_INSIDE, MAX_JUMP_WIDTH = 0.01, 0.03  # at most: of the rows, and of the axis
JUMP_REFERENCE_SHARE = 0.1  # of the rows, on each side: what a jump is compared with
MIN_ROWS_NEXT_TO_JUMP, SHARE_BESIDE = 10, 0.04  # rows behind it and before it: an end is no jump
ALONE = 2.0  # times any other change as narrow beside it
BETWEEN_LINES = 0.5  # of it remains between lines through the curve on both sides
TRIMMED = 0.1  # of a jump: steps at its ends that are smaller do not belong to it
DIFFER = 0.5  # of it is the deviation between rows at most


class Jump(NamedTuple):
    """A stretch over which the curve of all rows jumps.

    Attributes
    ----------
    start, stop : float
        Its first and its last place, which may be the same.
    size : float
        How far the curve moves from before the first to behind the last.
    """

    start: float
    stop: float
    size: float


class _Steps(NamedTuple):
    """A staircase, step by step: heights before, between and behind places, and rows before these."""

    stairs: Staircase
    height: FloatArray
    middle: FloatArray
    before: FloatArray
    last: IntArray  # last place of the longest narrow stretch that begins at each
    size: FloatArray  # of these


def find_jumps(stairs: Staircase, n_rows: float) -> list[Jump]:
    """Find the real jumps of a curve, in the order of their places."""
    # Trees learn smooth functions as stairs, and jumps as several steps close together. A jump is a
    # stretch of places with hardly any rows between them, over which the curve moves by a tenth of
    # its range or more, twice as far as over any such stretch beside it, and not as the lines
    # through the curve on both sides would; and rows agree about it.
    span = float(np.ptp(stairs.heights))
    if not span > 0:
        return []
    # 1. For each place the longest narrow stretch that begins there: hardly any rows inside, and
    # hardly any of the axis. Its size is what the curve does over it.
    places, before = stairs.places, np.cumsum(stairs.row_shares)[:-1]
    height = np.append(0.0, np.cumsum(stairs.jumps))
    few = max(ROWS_INSIDE, 1.5 / n_rows)
    last = np.minimum(
        np.searchsorted(before, before + few, "right"),
        np.searchsorted(places, places + MAX_JUMP_WIDTH * (stairs.high - stairs.low), "right"),
    )
    last = np.maximum(last - 1, np.arange(places.size))
    limits = np.concatenate([[stairs.low], places, [stairs.high]])
    middle = limits[:-1] + np.diff(limits) / 2
    steps = _Steps(stairs, height, middle, before, last, height[last + 1] - height[:-1])
    # 2. The largest first: it takes what is near, and is a jump if it is alone and rows agree.
    found, free, least = list[Jump](), np.ones(places.size, dtype=np.bool_), MIN_JUMP_SIZE * span
    for place in np.argsort(-np.abs(steps.size), kind="stable"):
        if abs(steps.size[place]) < least:
            break
        # without small steps at its ends
        own = np.arange(place, last[place] + 1)
        size = steps.size[place]
        large = own[stairs.jumps[own] * np.sign(size) >= TRIMMED * abs(size)]
        first, final = (int(large[0]), int(large[-1])) if large.size else (int(place), int(place))
        size = float(height[final + 1] - height[first])
        if not free[first : final + 1].all() or abs(size) < least:
            continue
        # what is as near as the steps of a jump are to each other is no other one
        free[int(np.searchsorted(last, first)) : int(last[final]) + 1] = False
        if not _is_alone(steps, first, final, n_rows):
            continue
        # deviation between rows of what they do over these places, from that of their groups
        some = slice(first, final + 1)
        variance = float(np.sum(stairs.between_rows[:, some].sum(axis=1) ** 2))
        deviation = float(np.sqrt(variance * stairs.near_shares[some].mean() * n_rows))
        if deviation <= DIFFER * abs(size):
            found.append(Jump(float(places[first]), float(places[final]), size))
    return sorted(found)


def _is_alone(steps: _Steps, first: int, last: int, n_rows: float) -> bool:
    """Whether a stretch moves the curve farther than what is beside it, and lines there, do."""
    before, size = steps.before, float(steps.height[last + 1] - steps.height[first])
    least = max(SHARE_BESIDE, MIN_ROWS_NEXT_TO_JUMP / n_rows)
    if min(before[first], 1 - before[last]) < least:
        return False
    # narrow stretches beside it, within a tenth of the rows
    every = np.arange(before.size)
    left = (steps.last < first) & (before[first] - before < JUMP_REFERENCE_SHARE)
    right = (every > last) & (before - before[last] < JUMP_REFERENCE_SHARE)
    if ALONE * np.abs(steps.size[left | right]).max(initial=0.0) > abs(size):
        return False
    # lines through the curve on both sides, read at its ends: a steep slope is no jump
    ends = np.append(before, 1.0)
    every = np.arange(ends.size)
    left = (every <= first) & (before[first] - ends < JUMP_REFERENCE_SHARE)
    right = (every > last) & (np.append(0.0, before) - before[last] < JUMP_REFERENCE_SHARE)
    start = _read_line(steps, np.flatnonzero(left), float(steps.stairs.places[first]))
    stop = _read_line(steps, np.flatnonzero(right), float(steps.stairs.places[last]))
    return bool((stop - start) * np.sign(size) >= BETWEEN_LINES * abs(size))


def _read_line(steps: _Steps, some: IntArray, at: float) -> float:
    """The line through some steps, each counting with its rows, at one place."""
    weight = steps.stairs.row_shares[some]
    weight = weight / weight.sum()
    away, height = steps.middle[some] - at, steps.height[some]
    middle, level = weight @ away, weight @ height
    scatter = weight @ (away - middle) ** 2
    if np.count_nonzero(weight) <= 3 or not scatter > 0:
        return float(level)
    slope = weight @ ((away - middle) * (height - level)) / scatter
    return float(level - slope * middle)


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
