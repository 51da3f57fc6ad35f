"""Windows: the interval around every value over which a secant is taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.axis import MANY_VALUES, Axis, nearest, wide_gaps
from rhale.kernels.interpolate import Knots
from rhale.kernels.piles import NO_PILES, Piles

FEWEST_ROWS = 4  # a window always sees some other rows
BESIDE = 0.2  # of half a window: rows on each side of a gap that share a window across it


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
        Stretches around wide gaps, with rows at both ends. All rows in one share it as their
        window, so that what happens in the gap is measured, and counted once.
    reach : ndarray of shape (n_knots,) or None
        How far an even window goes to either side of the knots: as far as its shorter half.
    piles : Piles
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
    piles: Piles = NO_PILES
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
            a, b = _even(x, reach, self.least.within(x, lines[:2]))
        if self.ladder is not None:
            a, b = nearest(self.ladder, a), nearest(self.ladder, b)
        elif self.whole:
            a, b = np.floor(a), np.ceil(b)
        a, b = np.minimum(np.maximum(a, self.low), x), np.maximum(np.minimum(b, self.high), x)
        for behind, beyond in self.gaps:
            inside = (x >= behind) & (x <= beyond)
            a, b = np.where(inside, behind, a), np.where(inside, beyond, b)
        a, b = self.piles.confine(x, a, b)
        is_narrow = ~(b > a)
        if is_narrow.any():
            a[is_narrow], b[is_narrow] = self.low, self.high
        return a, b


def window(
    axis: Axis,
    share: float,
    *,
    whole: bool = False,
    piles: Piles = NO_PILES,
    at: FloatArray | None = None,
) -> Window:
    """Find, everywhere on the axis, the interval that holds a share of the rows.

    Parameters
    ----------
    axis : Axis
        The feature.
    share : float
        Share of the weight that the window holds besides the rows at its centre.
    whole : bool
        Whether the feature takes whole numbers only.
    piles : Piles
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
    starts, stops = _reached(axis, below - left, axis.total - above + right)
    ladder = knots.places if is_ladder else None
    no_gaps = np.empty((0, 2))
    return Window(
        share=share,
        low=axis.low,
        high=axis.high,
        knots=knots,
        starts=starts,
        stops=stops,
        ladder=ladder,
        whole=whole,
        gaps=no_gaps,
        piles=piles,
    )


def even_window(
    axis: Axis,
    share: float,
    least: float,
    *,
    whole: bool = False,
    gaps: bool = False,
    piles: Piles = NO_PILES,
) -> Window:
    """Find windows that go as far to the left as to the right.

    Parameters
    ----------
    axis : Axis
        The feature.
    share : float
        Share of the weight inside where rows are evenly dense. Elsewhere half of it is on the
        denser side, and the other side is as long.
    least : float
        Share of the weight that a window holds at least: at the ends of the axis, where an even
        window would shrink to nothing, it is that of `window` with this share.
    whole : bool
        As in `window`.
    gaps : bool
        Whether rows beside a wide gap share one window across it, which holds a tenth of the
        share on each side of the gap.
    piles : Piles
        Values that many rows share; a gap beside one is a part of what lies beside it.

    Notes
    -----
    The secant over an even window is off by the third derivative only, over any other window by
    the second already. Features of few values have no even windows: their neighbours are where
    they are.

    No even window crosses a wide gap, and a tree steps in its middle or just beside it. A window
    for all rows beside it gives the change across it, as a bin of Apley and Zhu does.
    """
    if axis.values.size <= MANY_VALUES:
        return window(axis, share, whole=whole, piles=piles)
    half = _weight_needed(axis, share) / 2
    knots, (below, above) = axis.knots.places, axis.beside_knots
    starts, stops = _reached(axis, below - half, axis.total - above + half)
    reach = np.minimum(knots - starts, stops - knots)
    narrow = window(axis, min(least, share), whole=whole)
    stretches = narrow.gaps
    if gaps:
        left, right = wide_gaps(axis, half).T
        near = max(BESIDE * half, _weight_needed(axis, 0.0))
        stretches = np.column_stack([_halves(axis, left, near)[0], _halves(axis, right, near)[1]])
        stretches = piles.apart(stretches)
    return replace(narrow, share=share, gaps=stretches, reach=reach, piles=piles, least=narrow)


def _halves(axis: Axis, x: FloatArray, half: float) -> tuple[FloatArray, FloatArray]:
    """How far to the left and to the right some weight lies, or the range ends."""
    below, above = axis.beside(x)
    return _reached(axis, below - half, axis.total - above + half)


def _even(
    x: FloatArray, reach: FloatArray, least: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Windows as long to the left as to the right, or the least ones where these are wider."""
    a, b = least
    is_wide = 2 * reach >= b - a
    return np.where(is_wide, x - reach, a), np.where(is_wide, x + reach, b)


def _weight_needed(axis: Axis, share: float) -> float:
    """Weight of a share of the rows, and of a few rows at least."""
    return float(axis.total * min(max(share, FEWEST_ROWS / axis.rows), 1.0))


def _reached(axis: Axis, first: FloatArray, last: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values at which the weight up to them has reached `first` and `last`."""
    reached = axis.reached
    slack, most = 1e-9 * reached[-1], axis.values.size - 1
    start = np.searchsorted(reached, np.maximum(first, 0.0) + slack, "right") - 1
    stop = np.searchsorted(reached, np.minimum(last, reached[-1]) - slack, "left") - 1
    start, stop = (np.minimum(np.maximum(at, 0), most) for at in (start, stop))
    return axis.values[start], axis.values[stop]
