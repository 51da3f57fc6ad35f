"""How the curves of rows go with where the rows stand: sums that merge like moments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.between_points import split_place
from rhale.kernels.records import crosses_processes


@crosses_processes
@dataclass(frozen=True, eq=False)
class CurvePlaces:
    """Curves of rows, shared out to the two points beside each row.

    Attributes
    ----------
    share : ndarray of shape (n_points,)
        Weights of the rows that have a value, shared out.
    products : ndarray of shape (n_outputs, n_points, n_values)
        Sums over the rows of their share at a point times how much their values, which are points
        of a curve and its level, deviate from the mean.
    """

    share: FloatArray
    products: FloatArray

    def __add__(self, other: CurvePlaces) -> CurvePlaces:
        return CurvePlaces(self.share + other.share, self.products + other.products)

    def deviating_from(self, step: FloatArray) -> CurvePlaces:
        """The same about another mean, which is less by a step of shape (n_outputs, n_values)."""
        return CurvePlaces(self.share, self.products + self.share[:, None] * step[:, None, :])

    def covary(self, curve: FloatArray, rows: float) -> FloatArray:
        """Covariance over the rows of their values with one curve where each row stands.

        Parameters
        ----------
        curve : ndarray of shape (n_points,)
            At the points, straight between them, zero on average over the rows.
        rows : float
            Effective number of rows that have a value.

        Returns
        -------
        ndarray of shape (n_outputs, n_values)
            Divisor n - 1; nan for a single row.
        """
        free = rows - 1
        if free < 1e-9:
            return np.full(self.products.shape[::2], np.nan)
        return np.asarray(curve @ self.products * (rows / (self.share.sum() * free)))


@dataclass(frozen=True, eq=False)
class RowsBetweenPoints:
    """Rows beside points, those between the same two points one after the other.

    Attributes
    ----------
    row : ndarray of shape (n_rows,)
        Numbers of the rows.
    first : ndarray of shape (n_rows,)
        The point before each.
    shares : ndarray of shape (n_rows, 2)
        Its weight, shared out to this point and to the next; nothing for rows without a value.
    n_points : int
        How many points there are.
    """

    row: IntArray
    first: IntArray
    shares: FloatArray
    n_points: int

    @property
    def share(self) -> FloatArray:
        """What stands beside each point, shape (n_points,)."""
        sides = enumerate(self.shares.T)
        before, after = (np.bincount(self.first + k, one, self.n_points + 1) for k, one in sides)
        return np.asarray(before + after)[:-1]  # behind a single point nobody stands

    def in_blocks(self, n_rows: int) -> Iterator[RowsBetweenPoints]:
        """The same, some rows at a time; at least one block."""
        for start in range(0, max(self.row.size, 1), n_rows):
            some = slice(start, start + n_rows)
            yield RowsBetweenPoints(
                self.row[some], self.first[some], self.shares[some], self.n_points
            )


def stand_beside(
    place: FloatArray, n_points: int, weights: FloatArray | None = None
) -> RowsBetweenPoints:
    """Put rows in the order of the points beside which they stand.

    Parameters
    ----------
    place : ndarray of shape (n_rows,)
        From `place_between`; rows at nan stand nowhere.
    n_points : int
        How many points there are.
    weights : ndarray of shape (n_rows,), optional
        How much each row matters.

    Examples
    --------
    >>> found = stand_beside(np.array([1.5, 0.2, 1.25, 0.0]), 3)
    >>> found.row, found.first
    (array([1, 3, 0, 2]), array([0, 0, 1, 1]))
    >>> found.shares[2:]
    array([[0.5 , 0.5 ],
           [0.75, 0.25]])
    """
    known = ~np.isnan(place)
    amount = known.astype(np.float64) if weights is None else np.where(known, weights, 0.0)
    first, position = split_place(np.where(known, place, 0.0), n_points)
    row = np.argsort(first.astype(np.int16 if n_points < 2**15 else np.intp), kind="stable")
    after = amount * position
    shares = np.stack([amount - after, after], axis=1)
    return RowsBetweenPoints(row, first.take(row), shares.take(row, axis=0), n_points)


def place_curves(deviations: FloatArray, stands: RowsBetweenPoints) -> tuple[slice, FloatArray]:
    """Share the curves of rows out to the points beside which they stand.

    Parameters
    ----------
    deviations : ndarray of shape (n_outputs, n_values, n_rows)
        How much their values deviate from some mean.
    stands : RowsBetweenPoints
        The rows, in the same order.

    Returns
    -------
    points : slice
        Those beside which rows stand, from the first row to the last; one may lie behind the last
        point, where nobody stands.
    sums : ndarray of shape (n_outputs, n_values, n_some)
        There.

    Notes
    -----
    One product of matrices for each output.
    """
    if not stands.first.size:
        return slice(0, 0), np.zeros((*deviations.shape[:2], 0))
    start, stop = int(stands.first[0]), int(stands.first[-1]) + 2
    row, point = np.arange(stands.first.size), stands.first - start
    beside = np.zeros((row.size, stop - start))
    beside[row, point], beside[row, point + 1] = stands.shares.T
    return slice(start, stop), deviations @ beside
