"""Secants: difference quotients over windows of rows, for models without derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.grid import Grid
from rhale.kernels.piles import NO_PILES, Piles
from rhale.kernels.windows import Window, ends_of
from rhale.measures.measure import Needs, Questions, Replies, Rows

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
    """Difference quotients over windows of rows around every value of one column.

    Attributes
    ----------
    column : int
        The feature's column in the table.
    interval : Interval
        For the mean, the curve and the bins.
    spread_interval : Window or None
        A wider one for the spread, and to take curvature out of the mean; None where the model is
        smooth and one is enough.
    piles : Piles
        Values that many rows share, as in the intervals.

    Notes
    -----
    Two predictions per row for the mean, and two more for the spread, which also tell how much of
    the first secant is curvature (`curvature_share`).
    """

    column: int
    interval: Interval
    spread_interval: Window | None = None
    piles: Piles = NO_PILES
    needs: ClassVar[Needs] = "nothing"

    @property
    def intervals(self) -> list[Interval]:
        """The one or two intervals."""
        return [i for i in (self.interval, self.spread_interval) if i is not None]

    @property
    def n_changes(self) -> int:
        """Both ends of each interval."""
        return 2 * len(self.intervals)

    @property
    def n_series(self) -> int:
        """One, or three with a second window: narrow secants, wide ones, noise of the steps."""
        return 1 if self.spread_interval is None else 3

    def questions(self, rows: Rows) -> Questions:
        """Both ends of the windows of every row, as the column's type can hold them."""
        chunk = rows.chunk
        x = self.piles.take_sides(chunk.column(self.column), rows.key)
        ends = [
            (chunk.representable(self.column, a), chunk.representable(self.column, b))
            for a, b in self.known_ends(x)
        ]
        return Questions([(self.column, end) for pair in ends for end in pair], (x, ends))

    def known_ends(self, x: FloatArray) -> list[End]:
        """Where the secants of all rows begin and end; nowhere for rows without a value."""
        missing = np.isnan(x)
        if not missing.any():
            return self.ends(x)
        ends = np.full((len(self.intervals), 2, x.size), np.nan)
        ends[:, :, ~missing] = self.ends(x[~missing])
        return [(low, high) for low, high in ends]

    def ends(self, x: FloatArray) -> list[End]:
        """Where the one or two secants of every value begin and end."""
        if self.spread_interval is None:
            return [self.interval.ends(x)]
        if isinstance(self.interval, Window) and self.interval.knots is self.spread_interval.knots:
            return ends_of(x, self.interval, self.spread_interval)
        return [self.interval.ends(x), self.spread_interval.ends(x)]

    def local_effects(
        self,
        rows: Rows,  # noqa: ARG002
        asked: Questions,
        replies: Replies,
    ) -> FloatArray:
        """Secants of all outputs; with a second window, the wide ones and their step noise, too.

        Returns
        -------
        ndarray of shape (n_series * n_outputs, n_rows)
            Outputs of the first series, then of the second, then of the third.
        """
        x, ends = asked.memory
        (a, b), (low, high) = ends[0], replies.changed[:2]
        series = [_quotient(low, high, a, b)]
        if len(ends) > 1:
            (wide_a, wide_b), (far_low, far_high) = ends[1], replies.changed[2:]
            wide = _quotient(far_low, far_high, wide_a, wide_b)
            is_left = np.abs(a - (wide_a + wide_b) / 2) <= np.abs(b - (wide_a + wide_b) / 2)
            inner, between = np.where(is_left, a, b), np.where(is_left[:, None], low, high)
            noise = step_noise((far_low, between, far_high), (wide_a, inner, wide_b))
            share = curvature_share(x, ends[0], ends[1])[:, None]
            series = [series[0] + share * (series[0] - wide), wide, noise]
        found = np.concatenate([s.T for s in series])
        found[:, np.isnan(x)] = 0.0  # rows without a value fall into no cell
        return found


def curvature_share(x: FloatArray, narrow: End, wide: End) -> FloatArray:
    """Share of the difference of two secants that is to be added to the narrow one.

    Parameters
    ----------
    x : ndarray of shape (n_rows,)
        Feature values.
    narrow, wide : pairs of ndarray of shape (n_rows,)
        Where the two windows of each row begin and end.

    Returns
    -------
    ndarray of shape (n_rows,)
        1 / (q - 1), q being the squared ratio of the widths; 0 where a window is not even or
        the widths are too similar.

    Notes
    -----
    Over an even window of width w the secant d is off by f''' w² / 24, so the secant e over one
    of width w √q is off by q times as much, and d + (d - e) / (q - 1) by neither (Richardson).
    Windows may then be wide enough to even out the steps of a tree, and still follow a curve.

    Examples
    --------
    >>> x, narrow, wide = np.array([5.0]), (np.array([4.0]), np.array([6.0])), (
    ...     np.array([2.0]), np.array([8.0]))
    >>> float(curvature_share(x, narrow, wide)[0])
    0.125
    """
    even = np.ones(x.size, dtype=np.bool_)
    for a, b in (narrow, wide):
        even &= np.abs((x - a) - (b - x)) <= UNEVEN * (b - a)
    width, wider = narrow[1] - narrow[0], wide[1] - wide[0]
    q = np.divide(wider, width, out=np.zeros_like(wider), where=even & (width > 0)) ** 2
    return np.asarray(np.divide(1.0, q - 1.0, out=np.zeros_like(q), where=q >= SIMILAR))


def step_noise(
    answers: tuple[FloatArray, FloatArray, FloatArray],
    places: tuple[FloatArray, FloatArray, FloatArray],
) -> FloatArray:
    """Estimate, for every row, the part of the secant over [a, b] that is due to steps.

    Parameters
    ----------
    answers : three of ndarray of shape (n_rows, n_outputs)
        Predictions at a, at a point between, and at b.
    places : three of ndarray of shape (n_rows,)
        These three places.

    Returns
    -------
    ndarray of shape (n_rows, n_outputs)

    Notes
    -----
    A tree's steps act like independent errors of variance v at the three places. The secant then
    carries variance 2 v / (b - a)², and the difference R - L of the right and left slopes carries
    v (1/l² + 1/r² + (1/l + 1/r)²), with l and r the distances from the inner point. The returned
    number is R - L, scaled so that its variance is that of the secant. For an inner point in the
    middle it is (R - L) / √12.

    The inner point must not be the row itself: a forest remembers the rows it was trained on, its
    prediction there is a spike, and the spike would be taken for step noise everywhere.
    """
    (low, between, high), (a, inner, b) = answers, places
    left, right, width = inner - a, b - inner, b - a
    bend = (high - between) * left[:, None] - (between - low) * right[:, None]
    size = width * np.sqrt(left**2 + right**2 + width**2)
    return np.asarray(np.sqrt(2.0) * bend / np.where(size > 0, size, 1.0)[:, None])


def _quotient(low: FloatArray, high: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Difference quotient; nan where a feature has one value only."""
    width = (b - a)[:, None]
    return np.divide(high - low, width, out=np.full_like(high, np.nan), where=width > 0)
