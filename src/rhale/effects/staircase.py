"""Staircases: the exact curve of a model that jumps, its uncertainty, and which of its jumps are real."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from rhale.effects.curve import Center, RowPlaces, known_center
from rhale.effects.jumps import INNER, JUMP_FIXED_POINT_SCALE, JumpCells, JumpSums
from rhale.effects.variance import Estimate
from rhale.output.storage.values import AXIS_NUMBER, ArrayDimension, Numbers, stored
from rhale.stats.arrays import FloatArray, IntArray

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
        stand = sums.stand / max(float(sums.stand.sum()), 1.0)
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
            / max(float(sums.stand.sum()) / JUMP_FIXED_POINT_SCALE, 1 / JUMP_FIXED_POINT_SCALE),
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
