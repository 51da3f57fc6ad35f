"""Secants: difference quotients over windows of rows, for models without derivatives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.grid import Grid
from rhale.kernels.windows import Window, ends_of
from rhale.measures.questions import ask, copies_at_once
from rhale.models import Predictor
from rhale.tables import Chunk
from rhale.tables.chunk import Change

End = tuple[FloatArray, FloatArray]
Places = tuple[FloatArray, list[End]]

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
class SecantPlan:
    """How the secants of one feature are taken.

    Attributes
    ----------
    column : int
        The feature's column in the table.
    interval : Interval
        For the mean, the curve and the bins.
    spread_interval : Window or None
        A wider one for the spread, and to take curvature out of the mean; None where the model is
        smooth and one is enough.
    """

    column: int
    interval: Interval
    spread_interval: Window | None = None

    @property
    def n_series(self) -> int:
        """Series per output: the local effect, or with it the wide one and its step noise."""
        return 1 if self.spread_interval is None else 3

    @property
    def intervals(self) -> list[Interval]:
        """The one or two intervals."""
        return [i for i in (self.interval, self.spread_interval) if i is not None]

    def ends(self, x: FloatArray) -> list[End]:
        """Where the one or two secants of every value begin and end."""
        if self.spread_interval is None:
            return [self.interval.ends(x)]
        if isinstance(self.interval, Window) and self.interval.knots is self.spread_interval.knots:
            return ends_of(x, self.interval, self.spread_interval)
        return [self.interval.ends(x), self.spread_interval.ends(x)]


def secants(
    predictor: Predictor,
    chunk: Chunk,
    plans: Sequence[SecantPlan],
    names: Sequence[str],
    batch_rows: int,
) -> Iterator[FloatArray]:
    """Take the secants of several features, one after the other.

    Parameters
    ----------
    predictor : Predictor
        The model.
    chunk : Chunk
        The rows.
    plans : sequence of SecantPlan
        One per feature.
    names : sequence of str
        Column names, for messages.
    batch_rows : int
        Rows in one call of the model.

    Yields
    ------
    ndarray of shape (n_series * n_outputs, n_rows)
        For each plan; outputs of the first series, then of the second, then of the third.

    Notes
    -----
    Two predictions per row and feature for the mean, and two more for the spread, which also
    tell how much of the first secant is curvature (`curvature_share`). Only as many features are
    in memory at a time as fill the model's batch.
    """
    at_once = max(1, copies_at_once(chunk.n_rows, batch_rows) // 4)
    if predictor.walks:  # one walk for all features; `explain` keeps the chunks small
        at_once = max(1, len(plans))
    for start in range(0, len(plans), at_once):
        changes, places = _questions(chunk, plans[start : start + at_once])
        yield from _series(ask(predictor, chunk, changes, names, batch_rows), places)


def _series(answers: FloatArray, places: Sequence[Places]) -> Iterator[FloatArray]:
    """Turn the answers about each feature into its series."""
    first = 0
    for x, intervals in places:
        (a, b), (low, high) = intervals[0], answers[first : first + 2]
        series = [_quotient(low, high, a, b)]
        if len(intervals) > 1:
            (wide_a, wide_b), (far_low, far_high) = intervals[1], answers[first + 2 : first + 4]
            wide = _quotient(far_low, far_high, wide_a, wide_b)
            is_left = np.abs(a - (wide_a + wide_b) / 2) <= np.abs(b - (wide_a + wide_b) / 2)
            inner, between = np.where(is_left, a, b), np.where(is_left[:, None], low, high)
            noise = step_noise(far_low, between, far_high, wide_a, inner, wide_b)
            share = curvature_share(x, intervals[0], intervals[1])[:, None]
            series = [series[0] + share * (series[0] - wide), wide, noise]
        first += 2 * len(intervals)
        found = np.concatenate([s.T for s in series])
        found[:, np.isnan(x)] = 0.0  # rows without a value fall into no cell
        yield found


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
    low: FloatArray,
    between: FloatArray,
    high: FloatArray,
    a: FloatArray,
    inner: FloatArray,
    b: FloatArray,
) -> FloatArray:
    """Estimate, for every row, the part of the secant over [a, b] that is due to steps.

    Parameters
    ----------
    low, between, high : ndarray of shape (n_rows, n_outputs)
        Predictions at a, at a point between, and at b.
    a, inner, b : ndarray of shape (n_rows,)
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
    left, right, width = inner - a, b - inner, b - a
    bend = (high - between) * left[:, None] - (between - low) * right[:, None]
    size = width * np.sqrt(left**2 + right**2 + width**2)
    return np.asarray(np.sqrt(2.0) * bend / np.where(size > 0, size, 1.0)[:, None])


def _questions(chunk: Chunk, plans: Sequence[SecantPlan]) -> tuple[list[Change], list[Places]]:
    """All column replacements to ask about, and the places they stand for."""
    changes: list[Change] = []
    places = []
    for plan in plans:
        x, intervals = chunk.column(plan.column), []
        for ends in known_ends(plan, x):
            a, b = (chunk.representable(plan.column, end) for end in ends)
            intervals.append((a, b))
            changes += [(plan.column, a), (plan.column, b)]
        places.append((x, intervals))
    return changes, places


def known_ends(plan: SecantPlan, x: FloatArray) -> list[End]:
    """Where the secants of all rows begin and end; nowhere for rows without a value."""
    missing = np.isnan(x)
    if not missing.any():
        return plan.ends(x)
    ends = np.full((len(plan.intervals), 2, x.size), np.nan)
    ends[:, :, ~missing] = plan.ends(x[~missing])
    return [(low, high) for low, high in ends]


def _quotient(low: FloatArray, high: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Difference quotient; nan where a feature has one value only."""
    width = (b - a)[:, None]
    return np.divide(high - low, width, out=np.full_like(high, np.nan), where=width > 0)
