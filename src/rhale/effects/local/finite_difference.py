"""Difference quotients over windows of rows, for models without derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np

from rhale.data import Chunk
from rhale.effects.binning.axis import MANY_VALUES, FeatureAxis, nearest
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.gaps import NO_PILES, PointMasses
from rhale.effects.local.measure import MeasuredChunk, Needs, Questions, Replies, SubsetQuery
from rhale.stats.arrays import FloatArray
from rhale.stats.interpolation import Knots

# --- Windows: the interval around every value over which a secant is taken


MIN_WINDOW_ROWS = 4  # a window always sees some other rows


@dataclass(frozen=True, eq=False)
class Window:
    """The interval around a value over which a secant is taken."""

    # share of the rows inside, half of them on each side, those with the very same value not
    # counted; moved inside at the ends of the axis
    share: float
    # low, high: range of the feature
    low: float
    high: float
    knots: Knots
    # starts, stops: (n_knots,): the intervals around them; straight lines between them. Of an even
    # window, the least ones
    starts: FloatArray
    stops: FloatArray
    ladder: FloatArray | None  # (n_values,): the only values an end may have, where there are few
    whole: bool  # whether ends must be whole numbers
    # (n_gaps, 2): wide stretches without rows, which windows do not cross: what happens there is
    # measured apart. Only that of a value that is alone between two of them does
    gaps: FloatArray
    # (n_knots,): how far an even window goes to either side of the knots: as far as its shorter
    # half
    reach: FloatArray | None = None
    point_masses: PointMasses = NO_PILES  # values that many rows share: no window crosses them
    # what an even window is at least; where it would be narrower, this one is taken. None where
    # windows are not even
    least: Window | None = None

    def ends(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give the interval [a, b] around every value."""
        return self.within(x, self.knots.read(x, *self.lines))

    @property
    def lines(self) -> tuple[FloatArray, ...]:
        """Heights of the lines at which intervals end."""
        if self.reach is None or self.least is None:
            return self.starts, self.stops
        return self.starts, self.stops, self.reach

    def within(self, x: FloatArray, lines: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Intervals that hold their value, from the lines read there."""
        if self.least is None:
            a, b = lines
        else:
            reach = self.point_masses.shorten(x, lines[2])
            for behind, beyond in self.gaps:
                to_gap = np.where(x >= beyond, x - beyond, np.inf)
                reach = np.minimum(reach, np.where(x <= behind, behind - x, to_gap))
            # as long to the left as to the right, or the least window where this is wider
            a, b = self.least.within(x, lines[:2])
            is_wide = 2 * reach >= b - a
            a, b = np.where(is_wide, x - reach, a), np.where(is_wide, x + reach, b)
        if self.ladder is not None:
            a, b = nearest(self.ladder, a), nearest(self.ladder, b)
        elif self.whole:
            a, b = np.floor(a), np.ceil(b)
        a, b = np.minimum(np.maximum(a, self.low), x), np.maximum(np.minimum(b, self.high), x)
        wide = a, b
        for behind, beyond in self.gaps:
            a = np.where(x >= beyond, np.maximum(a, beyond), a)
            b = np.where(x <= behind, np.minimum(b, behind), b)
        if self.gaps.size:
            a, b = (np.where(b > a, own, all_) for own, all_ in zip((a, b), wide, strict=True))
        a, b = self.point_masses.confine(x, a, b)
        is_narrow = ~(b > a)
        if is_narrow.any():
            a[is_narrow], b[is_narrow] = self.low, self.high
        return a, b


def window(
    axis: FeatureAxis,
    share: float,
    *,
    whole: bool = False,
    point_masses: PointMasses = NO_PILES,
    at: FloatArray | None = None,
) -> Window:
    """Find, everywhere on the axis, the interval that holds a share of the rows.

    Rows at the centre are not part of the share. `at` are the only values, increasing, at which the
    window will be read, where these are known.
    """
    # O(n_values). Rows with the same value as the centre do not count: a point mass at zero must
    # not shrink the window to nothing.
    is_ladder = axis.values.size <= MANY_VALUES
    knots = axis.knots if at is None or is_ladder else Knots(at)
    below, above = (
        axis.beside_knots if knots is axis.knots else axis.weight_below_and_above(knots.places)
    )
    needed = _weight_needed(axis, share)
    left, right = np.maximum(needed / 2, needed - above), np.maximum(needed / 2, needed - below)
    starts, stops = _find_values_at_weights(axis, below - left, axis.total - above + right)
    ladder = knots.places if is_ladder else None
    return Window(
        share=share,
        low=axis.low,
        high=axis.high,
        knots=knots,
        starts=starts,
        stops=stops,
        ladder=ladder,
        whole=whole,
        gaps=axis.empty,
        point_masses=point_masses,
    )


def even_window(
    axis: FeatureAxis,
    share: float,
    least: float,
    *,
    whole: bool = False,
    point_masses: PointMasses = NO_PILES,
) -> Window:
    """Find windows that reach as far to the left as to the right.

    Half of `share` is on the denser side, and the other side is as long. At the ends of the axis,
    where an even window would shrink to nothing, it is that of `window` with the share `least`.
    """
    # The secant over an even window is off by the third derivative only, over any other window by
    # the second already. Features of few values have no even windows: their neighbours are where
    # they are.
    if axis.values.size <= MANY_VALUES:
        return window(axis, share, whole=whole, point_masses=point_masses)
    half = _weight_needed(axis, share) / 2
    knots, (below, above) = axis.knots.places, axis.beside_knots
    starts, stops = _find_values_at_weights(axis, below - half, axis.total - above + half)
    reach = np.minimum(knots - starts, stops - knots)
    narrow = window(axis, min(least, share), whole=whole)
    return replace(narrow, share=share, reach=reach, point_masses=point_masses, least=narrow)


def _weight_needed(axis: FeatureAxis, share: float) -> float:
    """Weight of a share of the rows, and of a few rows at least."""
    return float(axis.total * min(max(share, MIN_WINDOW_ROWS / axis.rows), 1.0))


def _find_values_at_weights(
    axis: FeatureAxis, first: FloatArray, last: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Values at which the weight up to them has reached `first` and `last`."""
    reached = axis.reached
    slack, most = 1e-9 * reached[-1], axis.values.size - 1
    start = np.searchsorted(reached, np.maximum(first, 0.0) + slack, "right") - 1
    stop = np.searchsorted(reached, np.minimum(last, reached[-1]) - slack, "left") - 1
    start, stop = (np.minimum(np.maximum(at, 0), most) for at in (start, stop))
    return axis.values[start], axis.values[stop]


End = tuple[FloatArray, FloatArray]

SIMILAR = 2.0  # windows whose squared widths differ by less say nothing about curvature
UNEVEN = 1e-3  # of the width: rounding may move the middle of an even window so far


class Interval(Protocol):
    """Where the secant of a row begins and ends."""

    def ends(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give [a, b] around every value."""


@dataclass(frozen=True, eq=False)
class OwnBin:
    """The row's own bin, as Apley and Zhu do."""

    grid: Grid

    def ends(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Limits of the bin of every value."""
        cell = self.grid.locate(x)
        return self.grid.edges[cell], self.grid.edges[cell + 1]


@dataclass(frozen=True, eq=False)
class Secant:
    """Difference quotients over windows of rows around every value of one column."""

    # Two predictions per row, and two more for every other row where there is a second window: what
    # these tell of curvature counts twice (`curvature_share`).

    column: int  # the feature's column in the table
    interval: Interval  # where the secant of a row begins and ends
    # a wider one, from which the curvature is estimated; None where the model is smooth
    # and one is enough
    wide: Window | None = None
    point_masses: PointMasses = NO_PILES  # values that many rows share, as in the intervals
    needs: ClassVar[Needs] = "nothing"
    n_changes: ClassVar[int] = 2

    @property
    def is_stepped(self) -> bool:
        """Whether the model has steps, so that windows are wide."""
        return self.wide is not None

    def questions(self, rows: MeasuredChunk) -> Questions:
        """Both ends of the windows of every row, as the column's type can hold them."""
        chunk, column = rows.chunk, self.column
        x = self.point_masses.split_ties(chunk.column(column), rows.key)
        ends = self.representable(chunk, self.interval, x)
        changes = [(column, end) for end in ends]
        if self.wide is None:
            return Questions(changes, (x, ends))
        some = rows.every_other
        wide = self.representable(chunk, self.wide, x[some])
        subset_queries = (SubsetQuery(some, [(column, end) for end in wide]),)
        return Questions(changes, (x, ends, some, wide), subset_queries)

    def representable(self, chunk: Chunk, interval: Interval, x: FloatArray) -> End:
        """Where the secants of some rows begin and end, as the column's type can hold it."""
        a, b = (chunk.representable(self.column, end) for end in known_ends(interval, x))
        return a, b

    def local_effects(
        self,
        rows: MeasuredChunk,  # noqa: ARG002
        asked: Questions,
        replies: Replies,
    ) -> FloatArray:
        """Secants of all outputs, shape (n_outputs, n_rows), less what curvature adds to them."""
        x, ends, *more = asked.memory
        found = _secant_quotient(*replies.changed, *ends)
        if more:
            some, wide = more
            share = curvature_share(x[some], (ends[0][some], ends[1][some]), wide)[:, None]
            found[some] += (
                2 * share * (found[some] - _secant_quotient(*replies.subset_answers[0], *wide))
            )
        found[np.isnan(x)] = 0.0  # rows without a value fall into no cell
        return np.ascontiguousarray(found.T)


def known_ends(interval: Interval, x: FloatArray) -> End:
    """Where the secants of values begin and end; nowhere where these are missing."""
    known = ~np.isnan(x)
    if known.all():
        return interval.ends(x)
    a, b = np.full((2, x.size), np.nan)
    a[known], b[known] = interval.ends(x[known])
    return a, b


def curvature_share(x: FloatArray, narrow: End, wide: End) -> FloatArray:
    """Share of the difference of two secants that corrects the narrow one for curvature, (n_rows,).

    It is 1 / (q - 1) with the squared ratio q of the widths, and 0 where a window is not even or
    the widths are too similar.
    """
    # Over an even window of width w the secant d is off by f''' w² / 24, so the secant e over one
    # of width w √q is off by q times as much, and d + (d - e) / (q - 1) by neither (Richardson).
    # Windows may then be wide enough to even out the steps of a tree, and still follow a curve.
    even = np.ones(x.size, dtype=np.bool_)
    for a, b in (narrow, wide):
        even &= np.abs((x - a) - (b - x)) <= UNEVEN * (b - a)
    width, wider = narrow[1] - narrow[0], wide[1] - wide[0]
    q = np.divide(wider, width, out=np.zeros_like(wider), where=even & (width > 0)) ** 2
    return np.asarray(np.divide(1.0, q - 1.0, out=np.zeros_like(q), where=q >= SIMILAR))


def _secant_quotient(low: FloatArray, high: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Difference quotient; nan where a feature has one value only."""
    width = (b - a)[:, None]
    return np.divide(high - low, width, out=np.full_like(high, np.nan), where=width > 0)
