"""Curves that are straight between points: what rows that stand between these say of them."""

from __future__ import annotations

import numpy as np

from rhale.kernels import FloatArray, IntArray


def locate_between_points(x: FloatArray, points: FloatArray) -> FloatArray:
    """Number the places of rows among points: 1.25 is a quarter of the way from point 1 to 2.

    Parameters
    ----------
    x : ndarray of shape (n_rows,)
        Feature values. Those outside count at the nearest end; nan stays nan.
    points : ndarray of shape (n_points,)
        Increasing.

    Examples
    --------
    >>> locate_between_points(np.array([-7.0, 2.5, 4.0]), np.array([0.0, 2.0, 4.0]))
    array([0.  , 1.25, 2.  ])
    """
    return np.asarray(np.interp(x, points, np.arange(points.size, dtype=np.float64)))


def share_out(place: FloatArray, amount: FloatArray, n_points: int) -> FloatArray:
    """Share amounts out between the two points beside each place, the nearer one getting more.

    Parameters
    ----------
    place : ndarray of shape (n_places,)
        From `locate_between_points`.
    amount : ndarray of shape (n_places,)
        Weights of rows, for example. Their sum over the places, each times a curve there, is the
        sum over the points of what this returns, times the curve there.
    n_points : int
        How many points there are.

    Examples
    --------
    >>> share_out(np.array([0.0, 1.25]), np.array([3.0, 4.0]), 3)
    array([3., 3., 1.])
    """
    first, position = split_place(place, n_points)
    second = np.minimum(first + 1, n_points - 1)
    before = np.bincount(first, amount * (1 - position), n_points)
    return np.asarray(before + np.bincount(second, amount * position, n_points))


def interpolate_points(values: FloatArray, place: FloatArray) -> FloatArray:
    """Read several curves, straight between the points, at places.

    Parameters
    ----------
    values : ndarray of shape (n_points, n_curves)
        At the points.
    place : ndarray of shape (n_places,)
        From `locate_between_points`.

    Returns
    -------
    ndarray of shape (n_places, n_curves)

    Examples
    --------
    >>> interpolate_points(np.array([[0.0, 1.0], [4.0, 3.0]]), np.array([0.25]))
    array([[1. , 1.5]])
    """
    first, position = split_place(place, len(values))
    second = np.minimum(first + 1, len(values) - 1)
    part = position[:, None]
    return np.asarray((1 - part) * values[first] + part * values[second])


def variance_between(covariance: FloatArray, place: FloatArray) -> FloatArray:
    """Variance of curves at places, from their covariance at the points.

    Parameters
    ----------
    covariance : ndarray of shape (n_points, n_points)
        Of the curves.
    place : ndarray of shape (n_places,)
        From `locate_between_points`.
    """
    first, position = split_place(place, len(covariance))
    second, rest = np.minimum(first + 1, len(covariance) - 1), 1 - position
    before, after = (covariance[point, point] for point in (first, second))
    both = 2 * rest * position * covariance[first, second]
    return np.maximum(rest**2 * before + both + position**2 * after, 0.0)


def split_place(place: FloatArray, n_points: int) -> tuple[IntArray, FloatArray]:
    """The point before each place, and how far it is from there to the next one."""
    first = np.clip(place.astype(np.intp), 0, max(n_points - 2, 0))
    return first, place - first
