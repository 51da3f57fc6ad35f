"""How the curves of rows go with where the rows stand: sums that merge like moments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.between_points import share_out, split_place
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


def place_curves(
    deviations: FloatArray, place: FloatArray, n_points: int, weights: FloatArray | None = None
) -> CurvePlaces:
    """Share the curves of rows out to the points beside which they stand.

    Parameters
    ----------
    deviations : ndarray of shape (n_outputs, n_rows, n_values)
        How much their values deviate from the mean.
    place : ndarray of shape (n_rows,)
        From `place_between`; rows at nan stand nowhere.
    n_points : int
        How many points there are.
    weights : ndarray of shape (n_rows,), optional
        How much each row matters.

    Notes
    -----
    O(n_rows) for each value and output; one value of all rows is in the processor's cache at a
    time, and rows that stand between the same two points are added up side by side.
    """
    n_outputs, _, n_values = deviations.shape
    known = np.flatnonzero(~np.isnan(place))
    amount = np.ones(known.size) if weights is None else weights[known]
    share = share_out(place[known], amount, n_points)
    products = np.zeros((n_outputs, n_points + 1, n_values))
    if known.size == 0:
        return CurvePlaces(share, products[:, :-1])
    first, position = split_place(place[known], n_points)
    order = np.argsort(first.astype(np.int16 if n_points < 2**15 else np.intp), kind="stable")
    filled, starts = np.unique(first[order], return_index=True)
    row, amount, position = known[order], amount[order], position[order]
    for output, own in enumerate(deviations):
        for value in range(n_values):
            line = own[:, value].take(row)
            if weights is not None:
                line *= amount
            both = np.add.reduceat(line, starts)
            line *= position
            after = np.add.reduceat(line, starts)
            products[output, filled, value] += both - after
            products[output, filled + 1, value] += after
    return CurvePlaces(share, products[:, :-1])  # behind a single point nobody stands
