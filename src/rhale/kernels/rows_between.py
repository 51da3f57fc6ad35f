"""Where rows stand between the points of a grid: what a curve that is straight between them needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.moments import Moments
from rhale.kernels.records import freeze, same_fields


@dataclass(frozen=True, eq=False)
class RowsBetween:
    """Rows between the points of a grid; a stretch reaches from one point to the next.

    Attributes
    ----------
    share : ndarray of shape (n_points - 1,)
        Share of the rows' weight in each stretch.
    position, deviation : ndarray of shape (n_points - 1,)
        Mean and deviation of where in the stretch they stand, 0 at its first point, 1 at its second.
    rows : float
        Effective number of rows.

    Notes
    -----
    A curve that is straight between the points is, on every stretch, linear in the position. So
    its mean and its variance over the rows follow exactly from these numbers, whatever the rows
    and however few the points.
    """

    share: FloatArray
    position: FloatArray
    deviation: FloatArray
    rows: float

    def __post_init__(self) -> None:
        freeze(self)

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    __hash__ = None  # type: ignore[assignment]

    def share_points(self) -> FloatArray:
        """Share of each point, when every row shares itself between its two points.

        Returns
        -------
        ndarray of shape (n_points,)
            The mean over the rows of a curve is the product of these with its points.
        """
        if self.share.size == 0:
            return np.ones(1)
        return _to_points(self.share * (1 - self.position), self.share * self.position)

    def variance(self, centred: FloatArray) -> float:
        """Variance over the rows of a curve whose mean over them is zero.

        Parameters
        ----------
        centred : ndarray of shape (n_points,)
            The curve at the points.
        """
        rise = np.diff(centred)
        middle = centred[:-1] + self.position * rise
        return float(self.share @ (middle**2 + (self.deviation * rise) ** 2))

    def pull(self, centred: FloatArray) -> FloatArray:
        """Half of the derivative of `variance` by the value at each point, shape (n_points,)."""
        rise = np.diff(centred)
        middle = self.share * (centred[:-1] + self.position * rise)
        tilt = self.share * self.deviation**2 * rise
        return _to_points(middle * (1 - self.position) - tilt, middle * self.position + tilt)

    def mean_variance(self, covariance: FloatArray) -> float:
        """Mean over the rows of the variance, where they stand, of many curves.

        Parameters
        ----------
        covariance : ndarray of shape (n_points, n_points)
            Covariance of the curves at the points.
        """
        size = np.diag(covariance)
        apart = size[:-1] + size[1:] - 2 * np.diag(covariance, 1)  # variance of the rise
        middle = variance_between(covariance, np.arange(self.share.size), self.position)
        return float(self.share @ (middle + self.deviation**2 * np.maximum(apart, 0.0)))

    def covariances(self, centred: FloatArray, cells: Moments) -> FloatArray:
        """Covariance over the rows of several series with a curve where each row stands.

        Parameters
        ----------
        centred : ndarray of shape (n_points,)
            The curve at the points, zero on average over the rows.
        cells : Moments
            Of the places of the rows and of the series, as in `summarise_places`.

        Returns
        -------
        ndarray of shape (n_series,)
            Divisor n - 1; nan for a single row.
        """
        free = self.rows - 1
        if free < 1e-9:
            return np.full(len(cells.mean), np.nan)
        if centred.size == 1:
            return np.zeros(len(cells.mean))
        rise = np.diff(centred)
        middle = self.share * (centred[:-1] + self.position * rise)
        products = cells.mean @ middle + cells.sxd @ rise / cells.weight.sum()
        return np.asarray(products * (self.rows / free))


def place_between(x: FloatArray, points: FloatArray) -> FloatArray:
    """Number the places of rows among points: 1.25 is a quarter of the way from point 1 to 2.

    Parameters
    ----------
    x : ndarray of shape (n_rows,)
        Feature values. Those outside count at the nearest end; nan stays nan.
    points : ndarray of shape (n_points,)
        Increasing.

    Examples
    --------
    >>> place_between(np.array([-7.0, 2.5, 4.0]), np.array([0.0, 2.0, 4.0]))
    array([0.  , 1.25, 2.  ])
    """
    return np.asarray(np.interp(x, points, np.arange(points.size, dtype=np.float64)))


def summarise_places(cells: Moments) -> RowsBetween:
    """Say where rows stand, from the moments of their places in the stretches.

    Parameters
    ----------
    cells : Moments
        Over the whole numbers from 0 to n_points - 1, x being `place_between`; over one cell
        without width where there is one point.
    """
    if cells.grid.edges[-1] == 0.0:
        none = np.empty(0)
        return RowsBetween(none, none, none, cells.total_rows)
    weight = np.where(cells.weight > 0, cells.weight, 1.0)
    position = np.where(cells.weight > 0, cells.mean_x - cells.grid.edges[:-1], 0.0)
    return RowsBetween(
        cells.weight / cells.weight.sum(),
        np.clip(position, 0.0, 1.0),
        np.minimum(np.sqrt(cells.sxx / weight), 0.5),
        cells.total_rows,
    )


def stand_at_points(share: FloatArray, rows: float) -> RowsBetween:
    """Rows that stand at the points themselves.

    Parameters
    ----------
    share : ndarray of shape (n_points,)
        Of the rows at each point.
    rows : float
        Effective number of all of them.

    Notes
    -----
    The rows of the first point stand at the beginning of the first stretch, those of any other at
    the end of the stretch before it.
    """
    first, last = np.zeros(share.size - 1), share[1:]
    first[:1] = share[:1]
    both = first + last
    position = np.divide(last, both, out=np.zeros_like(both), where=both > 0)
    return RowsBetween(both, position, np.sqrt(position * (1 - position)), rows)


def variance_between(covariance: FloatArray, stretch: IntArray, position: FloatArray) -> FloatArray:
    """Variance of curves at positions on stretches, from their covariance at the points.

    Parameters
    ----------
    covariance : ndarray of shape (n_points, n_points)
        Of the curves, which are straight between the points.
    stretch, position : ndarray of shape (n_places,)
        Which stretch, and where on it, from 0 to 1.
    """
    size, both = np.diag(covariance), np.diag(covariance, 1)[stretch]
    before, after = size[stretch], size[stretch + 1]
    rest = 1 - position
    variance = rest**2 * before + 2 * rest * position * both + position**2 * after
    return np.maximum(variance, 0.0)


def _to_points(first: FloatArray, second: FloatArray) -> FloatArray:
    """Add up at each point what stretches give to their first and to their second one."""
    return np.asarray(np.append(first, 0.0) + np.append(0.0, second))
