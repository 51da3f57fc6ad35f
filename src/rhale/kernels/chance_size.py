"""Chance in the size of a curve: what errors alone would make of its deviation over the rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.f_tail import f_tail

MAX_F_TEST_DEGREES = 1e7  # degrees of freedom: more make no difference


class ChanceSize(NamedTuple):
    """What the errors of a curve add to its mean square over the rows, on average, and how evenly.

    Attributes
    ----------
    square : float
        The mean square of a curve that is nothing but errors.
    spread_over : float
        Degrees of freedom of that mean square: how many independent errors it is made of.
    degrees : float
        Degrees of freedom that the errors themselves were estimated with.
    """

    square: float
    spread_over: float
    degrees: float

    def p_value(self, square: float) -> float:
        """Probability that errors alone give a larger mean square.

        Examples
        --------
        >>> round(ChanceSize(2.0, 1.0, np.inf).p_value(2.0 * 3.841458820694124), 6)
        0.05
        """
        if not np.isfinite(self.square):
            return float("nan")
        if not self.square > 0:
            return 0.0 if square > 0 else 1.0
        under = min(self.degrees, MAX_F_TEST_DEGREES)
        ratio = np.array([square / self.square])
        return float(f_tail(ratio, np.array([self.spread_over]), np.array([under]))[0])


def covariance_from_changes(changes: FloatArray, weight: FloatArray) -> FloatArray:
    """Covariance of a curve less its weighted mean, from the variances of all its changes.

    Parameters
    ----------
    changes : ndarray of shape (n_places, n_places)
        Variance of the difference of the curve between each two places.
    weight : ndarray of shape (n_places,)
        Of the places in the mean, adding up to one.

    Notes
    -----
    Gower's formula: whatever is taken off all heights at once leaves their differences as they
    are, so these tell all that can be told.

    Examples
    --------
    >>> covariance_from_changes(np.array([[0.0, 4.0], [4.0, 0.0]]), np.array([0.5, 0.5]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    shift = np.eye(weight.size) - weight
    return np.asarray(-0.5 * shift @ changes @ shift.T)


def size_by_chance(covariance: FloatArray, weight: FloatArray, degrees: float) -> ChanceSize:
    """Sum up what errors do to the mean square of a curve over the rows.

    Parameters
    ----------
    covariance : ndarray of shape (n_places, n_places)
        Of the errors at the places, centred as the curve is.
    weight : ndarray of shape (n_places,)
        Shares of the rows at the places.
    degrees : float
        Degrees of freedom of the covariance.

    Notes
    -----
    The mean square is a sum of squares of independent errors of several sizes; it has the mean
    and the variance of a multiple of a chi-square (Satterthwaite, Box).
    """
    square = float(weight @ np.diag(covariance))
    squares = float(weight @ covariance**2 @ weight)
    spread_over = square**2 / squares if squares > 0 else 1.0
    return ChanceSize(max(square, 0.0), spread_over, degrees)
