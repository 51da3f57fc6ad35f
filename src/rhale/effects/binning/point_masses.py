"""Point masses (values that many rows share) and jumps: stretches of the axis that are bins of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.cells import Closed
from rhale.effects.binning.moments import Moments
from rhale.effects.binning.partition import Cuts, Partition
from rhale.stats.arrays import FloatArray, IntArray
from rhale.stats.sampling import KeyArray

# --- Stretches of an axis that are bins of their own: beside point masses, and where a curve jumps


@dataclass(frozen=True, eq=False)
class ReservedIntervals:
    """Parts of an axis that are not to be united with others."""

    ends: FloatArray  # (n_stretches, 2): where they begin and end; in order, without overlap
    before: FloatArray  # (n_stretches,): the last values before them, or their beginnings

    def add_limits(self, limits: FloatArray) -> FloatArray:
        """Add the ends to limits of cells, and leave none between them, nor right before them."""
        if not self.ends.size:
            return limits
        inside = (limits[:, None] > self.before) & (limits[:, None] < self.ends[:, 1])
        return np.asarray(np.union1d(limits[~inside.any(axis=1)], self.ends))


Chooser = Callable[[Moments], Cuts]


@dataclass(frozen=True, eq=False)
class BetweenStretches:
    """A partition that chooses bins between stretches, and has one for each of these.

    What happens in a stretch is another matter than what happens around it. One search over both
    would take the difference for noise, and cut less on either side.
    """

    partition: Partition  # How bins are chosen elsewhere
    stretches: ReservedIntervals

    @property
    def closed(self) -> Closed:
        """Which limit belongs to a bin."""
        return self.partition.closed

    def candidates(self, axis: FeatureAxis) -> FloatArray:
        """Limits of the partition and ends of the stretches."""
        return self.stretches.add_limits(self.partition.candidates(axis))

    def __call__(self, moments: Moments) -> Cuts:
        """Choose bins part by part."""
        starts, pieces = self.part(moments)
        return join_cuts([choose(part) for choose, part in pieces], starts)

    def part(self, moments: Moments) -> tuple[list[int], list[tuple[Chooser, Moments]]]:
        """Cut the axis at the ends of the stretches: first cells, and who chooses in which cells."""
        edges = moments.grid.edges
        starts, stops = np.searchsorted(edges, self.stretches.ends.T)
        ends = np.unique(np.concatenate([[0], starts, stops, [edges.size - 1]])).tolist()
        firsts, pieces = list[int](), list[tuple[Chooser, Moments]]()
        for first, last in pairwise(ends):
            own = moments.between(first, last)
            is_one = first in starts or not np.any(own.weight > 0)
            firsts.append(first)
            pieces.append((_one_bin if is_one else self.partition, own))
        return firsts, pieces


def _one_bin(moments: Moments) -> Cuts:
    """One constant bin."""
    n_cells = moments.grid.n_cells
    noise = np.nan_to_num(moments.variance[0])
    return Cuts(np.array([0, n_cells]), np.zeros(1, dtype=np.bool_), (), np.zeros(1), noise)


def join_cuts(parts: Sequence[Cuts], starts: Sequence[int]) -> Cuts:
    """Put the bins of neighbouring parts of an axis in a row.

    `parts`: bins of each part, whose limits count from its own first cell; `starts`: the first
    cell of each part.
    """
    shifted = [one.limits[:-1] + at for one, at in zip(parts, starts, strict=False)]
    ends = [parts[-1].limits[-1:] + starts[len(parts) - 1]]
    trust = [np.zeros(one.linear.size) if one.trust is None else one.trust for one in parts]
    followed, noise = [np.zeros(1, dtype=np.intp)], []
    for one, at in zip(parts, starts, strict=False):
        own = np.arange(one.limits[-1] + 1) if one.followed is None else one.followed
        followed.append(own[1:] + at)
        noise.append(np.zeros(own.size - 1) if one.noise is None else one.noise)
    return Cuts(
        limits=np.concatenate(shifted + ends),
        linear=np.concatenate([one.linear for one in parts]),
        notes=tuple(dict.fromkeys(note for one in parts for note in one.notes)),
        trust=np.concatenate(trust),
        noise=np.concatenate(noise),
        followed=np.concatenate(followed),
        spread_limits=_join_limits([one.spread_limits for one in parts], parts, starts),
        spread_parts=_join_limits([one.spread_parts for one in parts], parts, starts),
        is_searched=any(one.is_searched for one in parts),
    )


def _join_limits(
    own: Sequence[IntArray | None], parts: Sequence[Cuts], starts: Sequence[int]
) -> IntArray | None:
    """Limits of the spread, where a part has some; other parts are one."""
    if all(one is None for one in own):
        return None
    known = [c.limits[[0, -1]] if one is None else one for one, c in zip(own, parts, strict=True)]
    return np.unique(np.concatenate([some + at for some, at in zip(known, starts, strict=False)]))


PILE_SHARE = 0.05  # of the rows: a value that holds so many is a place of its own
STANDS_OUT = (
    10.0  # times what a value holds in the median: few values are no point masses, but a ladder
)
BESIDE_SHARE, BESIDE_ROWS = 0.002, 5.0  # rows next to a point mass that share a window with it


@dataclass(frozen=True, eq=False)
class PointMasses:
    """Values that many rows share, each with a narrow stretch on either side."""

    values: FloatArray  # (n_masses,): the point masses
    # (n_stretches, 2): from a point mass to a value right beside it, or to the next point mass; in
    # order, without overlap. All rows in one share it as their window, so that a jump beside the
    # point mass is measured by its rows, and counted once
    stretches: FloatArray
    # (n_stretches,): the last values before the stretches, or their beginnings where there are
    # none
    before: FloatArray
    # End of the axis. As cells, stretches are closed on the left, and there on both sides
    high: float = np.inf

    @property
    def as_reserved_intervals(self) -> ReservedIntervals:
        """The stretches as bins of their own."""
        return ReservedIntervals(self.stretches, self.before)

    @cached_property
    def divided(self) -> FloatArray:
        """Point masses with a stretch on both sides: half of their rows belong to each."""
        return np.intersect1d(self.values, np.intersect1d(*self.stretches.T))

    def split_ties(self, x: FloatArray, key: KeyArray) -> FloatArray:
        """Move the rows of divided point masses to one side or the other, by as little as can be."""
        for tied in self.divided:
            side = np.where(key & np.uint64(1), np.inf, -np.inf)  # the last bit of a hash is a coin
            x = np.where(x == tied, np.nextafter(tied, side), x)
        return x

    def shorten(self, x: FloatArray, reach: FloatArray) -> FloatArray:
        """How far even windows go to either side: no farther than to the next stretch."""
        if not self.stretches.size:
            return reach
        low, high = self._between(x)
        return np.minimum(reach, np.minimum(x - low, high - x))

    def confine(self, x: FloatArray, a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Keep windows out of the stretches; rows in one have it as their window."""
        if not self.stretches.size:
            return a, b
        low, high = self._between(x)
        a, b = np.maximum(a, low), np.minimum(b, high)
        for start, stop in self.stretches:
            inside = (x >= start) & ((x < stop) | (stop == self.high))
            a, b = np.where(inside, start, a), np.where(inside, stop, b)
        return a, b

    def add_limits(self, limits: FloatArray) -> FloatArray:
        """Add the ends of the stretches to limits of cells, and leave none between them.

        Nor right before them: a bin may end on either side of an empty cell, and would be too wide.
        """
        return self.as_reserved_intervals.add_limits(limits)

    def _between(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The nearest stretches on both sides of values outside of them."""
        starts, stops = self.stretches.T
        place = np.searchsorted(stops, x, side="right")
        return np.append(-np.inf, stops)[place], np.append(starts, np.inf)[place]


NO_PILES = PointMasses(np.empty(0), np.empty((0, 2)), np.empty(0))


def find_point_masses(axis: FeatureAxis) -> PointMasses:
    """Find the values that hold a twentieth of the rows or more, and what lies beside them.

    Examples
    --------
    >>> values = np.arange(101.0)
    >>> axis = FeatureAxis(0.0, 100.0, values, np.where(values == 0, 100.0, 1.0), 200.0)
    >>> find_point_masses(axis).stretches
    array([[0., 5.]])
    """
    # A point mass holds ten times what a value holds in the median, too: where all values are as
    # heavy, the feature has few values and no point masses. A stretch holds 0.2 % of the rows
    # beside its point mass, 5 at least, and ends at the next point mass.
    weight, total = axis.weight, axis.weight.sum()
    heavy = (weight >= PILE_SHARE * total) & (weight >= STANDS_OUT * np.median(weight))
    places = np.flatnonzero(heavy)
    if not places.size or axis.values.size < 2:
        return NO_PILES
    near = max(BESIDE_SHARE, BESIDE_ROWS / axis.rows) * total
    stretches = _stretches(axis, places, near)
    for left, right in axis.empty:
        # what lies beyond a wide stretch without rows is not beside the point mass
        stretches[(stretches[:, 0] == left) & (stretches[:, 1] > right), 1] = right
        stretches[(stretches[:, 1] == right) & (stretches[:, 0] < left), 0] = left
    first = np.searchsorted(axis.values, stretches[:, 0])
    before = axis.values[np.maximum(first - 1, 0)]
    return PointMasses(axis.values[places], stretches, before, axis.high)


def _stretches(axis: FeatureAxis, places: IntArray, near: float) -> FloatArray:
    """Stretches on both sides of the point masses; two that are close share the one between."""
    reached, last = axis.reached, axis.values.size - 1
    slack = 1e-9 * reached[-1]
    ends = [-1, *places.tolist(), last + 1]
    found = list[tuple[int, int]]()
    for before, behind in pairwise(
        ends
    ):  # two point masses, or a point mass and an end of the axis
        has_left, has_right = before >= 0, behind <= last
        right = int(np.searchsorted(reached[1:], reached[before + 1] + near - slack))
        left = int(np.searchsorted(reached, reached[behind] - near + slack, "right")) - 1
        right, left = min(right, behind, last), max(left, before, 0)
        if has_left and has_right and right > left:
            found.append((before, behind))
            continue
        found += [(before, right)] if has_left and before < right else []
        found += [(left, behind)] if has_right and left < behind else []
    return axis.values[np.array(found, dtype=np.intp).reshape(-1, 2)]
