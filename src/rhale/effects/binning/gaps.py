"""Where rows are: stretches of the axis without any, and values that many rows share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from rhale.effects.binning.axis import GAP_SHARE, FeatureAxis
from rhale.effects.binning.cells import Cells, Closed, Grid
from rhale.effects.binning.moments import SUMS, Moments
from rhale.effects.binning.partition import Cuts, Partition
from rhale.stats.arrays import BoolArray, FloatArray, IntArray
from rhale.stats.sampling import KeyArray

if TYPE_CHECKING:
    from rhale.output.storage.values import ArrayDimension, Numbers


MIN_GAP_WIDTH_RATIO = 3.0  # times the usual way from one cell's rows to the next one's
GAP_LINE_ROUNDING = 1e-9  # of the effect: a smaller difference of lines is rounding
MIN_ROWS_NEXT_TO_GAP = 10.0  # beside a gap: where rows are so few, the next one is always far


class Crossings(NamedTuple):
    """Stretches that rows were moved across: empty ones, and those right beside them.

    Attributes
    ----------
    left, right : ndarray of shape (n_stretches,)
        Their ends, in order; none begins before the one before it ends.
    rise : ndarray of shape (n_stretches,)
        What the predictions of the rows beside each do across it, on average.
    covariance : ndarray of shape (n_stretches, n_stretches)
        Of the rises, over rows drawn from the same population.
    empty : ndarray of shape (n_empty,)
        Which of them have no rows inside.
    """

    left: Annotated[FloatArray, Numbers.places(ArrayDimension("stretches", least=1), rising=True)]
    right: Annotated[FloatArray, Numbers.places("stretches", rising=True)]
    rise: Annotated[FloatArray, Numbers.means("stretches", unknown=False)]
    covariance: Annotated[FloatArray, Numbers.products("stretches", "stretches")]
    empty: Annotated[
        IntArray, Numbers.counts(ArrayDimension("empty stretches", least=1), rising=True)
    ]

    def position(self, x: FloatArray) -> FloatArray:
        """How far x is into each stretch, from 0 to 1, shape (n_x, n_stretches)."""
        return np.asarray(np.clip((x[:, None] - self.left) / (self.right - self.left), 0.0, 1.0))


class Gaps(NamedTuple):
    """Stretches without rows, with rows on both sides.

    Attributes
    ----------
    left, right : ndarray of shape (n_gaps,)
        The last value before each gap, and the first one behind it.
    variance : ndarray of shape (n_gaps,)
        Of the mean effect inside the gap about what is drawn there.
    """

    left: Annotated[FloatArray, Numbers.places("gaps")]
    right: Annotated[FloatArray, Numbers.places("gaps")]
    variance: Annotated[FloatArray, Numbers.sizes("gaps")]

    def apart(self, crossings: Crossings) -> Gaps:
        """Those that no row was moved across."""
        left, right = crossings.left[crossings.empty], crossings.right[crossings.empty]
        meets = (self.left[:, None] < right) & (self.right[:, None] > left)
        return Gaps(*(part[~meets.any(axis=1)] for part in self))

    def reach(self, x: FloatArray) -> FloatArray:
        """How far into each gap the way from the left end to x leads, shape (n_x, n_gaps)."""
        return np.asarray(np.clip(x[:, None], self.left, self.right) - self.left)


NO_GAPS = Gaps(np.empty(0), np.empty(0), np.empty(0))


def find_gaps(cells: Moments, curve: Callable[[FloatArray], FloatArray]) -> Gaps:
    """List the wide gaps, and guess what they may hide from the rows beside them.

    `cells`: of one output; the first series counts; `curve`: the curve that is drawn across the
    gaps, called only where there are some.
    """
    filled, edges = np.flatnonzero(cells.weight > 0), cells.grid.edges
    left, right = cells.high[filled[:-1]], cells.low[filled[1:]]
    width = right - left
    wide = width >= GAP_SHARE * (edges[-1] - edges[0])
    if not wide.any():
        return NO_GAPS
    from statistics import median  # which `import rhale` should not wait for

    # a feature of few values has an empty stretch after each of them, which is no gap
    wide &= width >= MIN_GAP_WIDTH_RATIO * median(width.tolist())
    # Lines through the rows on either side that are nearer than the width of the gap, ten at least;
    # each is read at the limit of the gap on its side and in the middle.
    read = []
    for k in np.flatnonzero(wide).tolist():
        start, stop = float(left[k]), float(right[k])
        away = stop - start
        middle = start + away / 2
        near = filled[(cells.high[filled] >= start - away) & (cells.low[filled] <= stop + away)]
        before = slice(int(near[0]), int(filled[k]) + 1)
        behind = slice(int(filled[k + 1]), int(near[-1]) + 1)
        at_left = _fit_line_next_to_gap(cells, before, np.array([start, middle]))
        at_right = _fit_line_next_to_gap(cells, behind, np.array([middle, stop]))
        read.append(np.concatenate([at_left, at_right]))
    suggested = np.array(read).reshape(-1, 4)
    known = np.isfinite(suggested).all(axis=1)
    left, right, suggested = left[wide][known], right[wide][known], suggested[known]
    if not left.size:
        return NO_GAPS
    # The mean effect in the gap is anything between what is drawn there and the farthest of what
    # these lines suggest: uniform on both sides of the former, a third of that squared distance.
    # Noise of the lines is not taken off: the less the rows beside a gap say, the wider it is.
    lowest, highest = suggested.min(axis=1), suggested.max(axis=1)
    drawn = (curve(right) - curve(left)) / (right - left)
    farthest = np.maximum(np.abs(lowest - drawn), np.abs(highest - drawn))
    size = np.max(np.abs([lowest, highest, drawn]), axis=0)
    return Gaps(left, right, np.where(farthest <= GAP_LINE_ROUNDING * size, 0.0, farthest**2 / 3))


def _fit_line_next_to_gap(cells: Moments, part: slice, x: FloatArray) -> FloatArray:
    """The line through the rows of some cells at x; nan where they are few."""
    weight = cells.weight[part]
    total = float(weight.sum())
    if total**2 < MIN_ROWS_NEXT_TO_GAP * float(cells.weight_squares[part].sum()):
        return np.full(x.size, np.nan)
    # the first cell has rows: from its means, so that equal ones stay exactly equal
    first_x, first_d = cells.mean_x[part.start], cells.mean[0, part.start]
    share, some = weight / total, weight > 0
    dx = np.where(some, cells.mean_x[part] - first_x, 0.0)
    dd = np.where(some, cells.mean[0, part] - first_d, 0.0)
    mean_x, mean_d = float(share @ dx), float(share @ dd)
    sxx = float(cells.sxx[part].sum() + weight @ (dx - mean_x) ** 2)
    sxd = float(cells.sxd[0, part].sum() + weight @ ((dx - mean_x) * (dd - mean_d)))
    slope = sxd / sxx if sxx > 0 else 0.0
    return np.asarray(first_d + mean_d + slope * (x - (first_x + mean_x)))


# --- Wide stretches without rows: where they are, once all rows were measured, as cells of their own


EMPTY_CELL_MARGIN = 0.05  # of a gap, left to the cells beside it
EMPTY_CELL_VALUES = {"low": np.inf, "high": -np.inf}  # of a cell without rows; all else is 0


def locate_gaps(moments: Moments) -> FloatArray:
    """Locate the wide stretches between neighbouring rows.

    Returns (n_gaps, 2): where the cell of each gap starts and stops: a margin inside the gap.
    """
    # A gap is a twentieth of the range, or wider. Cells know their smallest and largest x, so
    # that gaps between the rows of different cells are found exactly, whatever the number of rows.
    filled = moments.count > 0
    behind, beyond = moments.high[filled][:-1], moments.low[filled][1:]
    edges = moments.grid.edges
    wide = beyond - behind >= GAP_SHARE * (edges[-1] - edges[0])
    behind, beyond = behind[wide], beyond[wide]
    margin = EMPTY_CELL_MARGIN * (beyond - behind)
    return np.column_stack([behind + margin, beyond - margin])


def cut_gaps(moments: Moments, gaps: FloatArray) -> Moments:
    """Give every gap a cell of its own, in place of the limits inside it.

    `gaps` (n_gaps, 2): as `locate_gaps` gives them.
    """
    # No row changes its neighbours: cells end earlier or start later, where they have no rows.
    if not len(gaps):
        return moments
    filled = np.flatnonzero(moments.count > 0)
    left = filled[np.searchsorted(moments.high[filled], gaps[:, 0]) - 1]
    right = filled[np.searchsorted(moments.low[filled], gaps[:, 1])]
    starts, stops = np.append(0, right), np.append(left + 1, moments.grid.n_cells)
    # cells from one gap to the next stay; the empty ones in a gap become one, called -1
    runs = [np.append(np.arange(a, b), -1) for a, b in zip(starts, stops, strict=True)]
    order: IntArray = np.concatenate(runs)[:-1]
    inner = [moments.grid.edges[a + 1 : b] for a, b in zip(starts, stops, strict=True)]
    outer = moments.grid.edges[[0, -1]]
    edges = np.sort(np.concatenate([outer, gaps.ravel(), *inner]))
    parts: dict[str, Any] = {name: getattr(moments, name).take(order, axis=-1) for name in SUMS}
    for name, values in parts.items():
        values[..., order < 0] = EMPTY_CELL_VALUES.get(name, 0)
    return replace(moments, cells=Cells((Grid(edges, moments.grid.closed),)), **parts)


def are_gaps(count: IntArray, width: FloatArray, span: float | FloatArray) -> BoolArray:
    """Whether cells of so many rows and such widths, on axes of such spans, are wide gaps."""
    # limits lie a margin inside a gap: what is left of the narrowest one is this wide
    least = (1 - 2 * EMPTY_CELL_MARGIN) * GAP_SHARE * span
    return np.asarray((count == 0) & (width >= least * (1 - 1e-9)))


# --- Point masses (values that many rows share) and jumps: stretches of the axis that are bins of their own


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
