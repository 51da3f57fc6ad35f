"""Secants: difference quotients over windows of rows, for models without derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.grid import Grid
from rhale.kernels.piles import NO_PILES, PointMasses
from rhale.kernels.windows import Window
from rhale.measures.measure import MeasuredChunk, Needs, Questions, Replies, SubsetQuery
from rhale.tables import Chunk

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
        Where the secant of a row begins and ends.
    wide : Window or None
        A wider one, which tells how much of the secant is curvature; None where the model is
        smooth and one is enough.
    piles : PointMasses
        Values that many rows share, as in the intervals.

    Notes
    -----
    Two predictions per row, and two more for every other row where there is a second window: what
    these tell of curvature counts twice (`curvature_share`).
    """

    column: int
    interval: Interval
    wide: Window | None = None
    piles: PointMasses = NO_PILES
    needs: ClassVar[Needs] = "nothing"
    n_changes: ClassVar[int] = 2

    @property
    def is_stepped(self) -> bool:
        """Whether the model has steps, so that windows are wide."""
        return self.wide is not None

    def questions(self, rows: MeasuredChunk) -> Questions:
        """Both ends of the windows of every row, as the column's type can hold them."""
        chunk, column = rows.chunk, self.column
        x = self.piles.take_sides(chunk.column(column), rows.key)
        ends = self.representable(chunk, self.interval, x)
        changes = [(column, end) for end in ends]
        if self.wide is None:
            return Questions(changes, (x, ends))
        some = rows.every_other
        wide = self.representable(chunk, self.wide, x[some])
        asides = (SubsetQuery(some, [(column, end) for end in wide]),)
        return Questions(changes, (x, ends, some, wide), asides)

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
            found[some] += 2 * share * (found[some] - _secant_quotient(*replies.asides[0], *wide))
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


def _secant_quotient(low: FloatArray, high: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Difference quotient; nan where a feature has one value only."""
    width = (b - a)[:, None]
    return np.divide(high - low, width, out=np.full_like(high, np.nan), where=width > 0)
