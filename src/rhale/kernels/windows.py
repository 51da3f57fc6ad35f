"""Windows: the interval around every value over which a secant is taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.axis import MANY_VALUES, FeatureAxis, nearest
from rhale.kernels.interpolate import Knots
from rhale.kernels.piles import NO_PILES, PointMasses

MIN_WINDOW_ROWS = 4  # a window always sees some other rows


@dataclass(frozen=True, eq=False)
class Window:
    """The interval around a value over which a secant is taken.

    Attributes
    ----------
    share : float
        Share of the rows inside, half of them on each side, those with the very same value not
        counted; moved inside at the ends of the axis.
    low, high : float
        Range of the feature.
    knots : Knots
        Some values.
    starts, stops : ndarray of shape (n_knots,)
        The intervals around them; straight lines between them. Of an even window, the least ones.
    ladder : ndarray of shape (n_values,) or None
        The only values an end may have, where there are few.
    whole : bool
        Whether ends must be whole numbers.
    gaps : ndarray of shape (n_gaps, 2)
        Wide stretches without rows, which windows do not cross: what happens there is measured
        apart. Only that of a value that is alone between two of them does.
    reach : ndarray of shape (n_knots,) or None
        How far an even window goes to either side of the knots: as far as its shorter half.
    piles : PointMasses
        Values that many rows share: no window crosses them.
    least : Window or None
        What an even window is at least; where it would be narrower, this one is taken. None where
        windows are not even.
    """

    share: float
    low: float
    high: float
    knots: Knots
    starts: FloatArray
    stops: FloatArray
    ladder: FloatArray | None
    whole: bool
    gaps: FloatArray
    reach: FloatArray | None = None
    piles: PointMasses = NO_PILES
    least: Window | None = None

    def ends(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give the interval [a, b] around every value."""
        return self.within(x, self.knots.read(x, *self.lines))

    @property
    def lines(self) -> tuple[FloatArray, ...]:
        """Heights of the lines that tell where the intervals end."""
        if self.reach is None or self.least is None:
            return self.starts, self.stops
        return self.starts, self.stops, self.reach

    def within(self, x: FloatArray, lines: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Intervals that hold their value, from the lines read there."""
        if self.least is None:
            a, b = lines
        else:
            reach = self.piles.shorten(x, lines[2])
            for behind, beyond in self.gaps:
                way = np.where(x <= behind, behind - x, np.where(x >= beyond, x - beyond, np.inf))
                reach = np.minimum(reach, way)
            a, b = _make_symmetric_windows(x, reach, self.least.within(x, lines[:2]))
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
        a, b = self.piles.confine(x, a, b)
        is_narrow = ~(b > a)
        if is_narrow.any():
            a[is_narrow], b[is_narrow] = self.low, self.high
        return a, b


def window(
    axis: FeatureAxis,
    share: float,
    *,
    whole: bool = False,
    piles: PointMasses = NO_PILES,
    at: FloatArray | None = None,
) -> Window:
    """Find, everywhere on the axis, the interval that holds a share of the rows.

    Parameters
    ----------
    axis : FeatureAxis
        The feature.
    share : float
        Share of the weight that the window holds besides the rows at its centre.
    whole : bool
        Whether the feature takes whole numbers only.
    piles : PointMasses
        Values that many rows share.
    at : ndarray of shape (n_places,), optional
        The only places that it will be asked about, increasing; between them it is a guess.

    Notes
    -----
    O(n_values). Rows with the same value as the centre do not count: a pile of zeros must not
    shrink the window to nothing.
    """
    is_ladder = axis.values.size <= MANY_VALUES
    knots = axis.knots if at is None or is_ladder else Knots(at)
    below, above = axis.beside_knots if knots is axis.knots else axis.beside(knots.places)
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
        piles=piles,
    )


def even_window(
    axis: FeatureAxis,
    share: float,
    least: float,
    *,
    whole: bool = False,
    piles: PointMasses = NO_PILES,
) -> Window:
    """Find windows that go as far to the left as to the right.

    Parameters
    ----------
    axis : FeatureAxis
        The feature.
    share : float
        Share of the weight inside where rows are evenly dense. Elsewhere half of it is on the
        denser side, and the other side is as long.
    least : float
        Share of the weight that a window holds at least: at the ends of the axis, where an even
        window would shrink to nothing, it is that of `window` with this share.
    whole : bool
        As in `window`.
    piles : PointMasses
        As in `window`.

    Notes
    -----
    The secant over an even window is off by the third derivative only, over any other window by
    the second already. Features of few values have no even windows: their neighbours are where
    they are.
    """
    if axis.values.size <= MANY_VALUES:
        return window(axis, share, whole=whole, piles=piles)
    half = _weight_needed(axis, share) / 2
    knots, (below, above) = axis.knots.places, axis.beside_knots
    starts, stops = _find_values_at_weights(axis, below - half, axis.total - above + half)
    reach = np.minimum(knots - starts, stops - knots)
    narrow = window(axis, min(least, share), whole=whole)
    return replace(narrow, share=share, reach=reach, piles=piles, least=narrow)


def _make_symmetric_windows(
    x: FloatArray, reach: FloatArray, least: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Windows as long to the left as to the right, or the least ones where these are wider."""
    a, b = least
    is_wide = 2 * reach >= b - a
    return np.where(is_wide, x - reach, a), np.where(is_wide, x + reach, b)


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
