"""Mean and scatter of whole curves over rows: they merge exactly, like the moments of a cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.records import crosses_processes


@crosses_processes
@dataclass(frozen=True, eq=False)
class CurveMoments:
    """Mean curve of some rows and how their curves scatter about it.

    Attributes
    ----------
    weight, weight_squares : float
        Sum of the rows' weights and of their squares.
    mean : ndarray of shape (n_outputs, n_points)
        Mean curve.
    products : ndarray of shape (n_outputs, n_points, n_points)
        Weighted sums of products of deviations from the mean curve.
    """

    weight: float
    weight_squares: float
    mean: FloatArray
    products: FloatArray

    def __add__(self, other: CurveMoments) -> CurveMoments:
        weight = self.weight + other.weight
        share = other.weight / weight if weight > 0 else 0.0
        step = other.mean - self.mean
        lever = self.weight * share
        return CurveMoments(
            weight,
            self.weight_squares + other.weight_squares,
            self.mean + step * share,
            self.products + other.products + lever * step[:, :, None] * step[:, None, :],
        )

    @property
    def rows(self) -> float:
        """Effective number of rows."""
        return self.weight**2 / self.weight_squares if self.weight_squares > 0 else 0.0

    @property
    def covariance(self) -> FloatArray:
        """Covariance of the curves, divisor n - 1; nan for a single row."""
        free = self.rows - 1
        if free < 1e-9:
            return np.full_like(self.products, np.nan)
        return self.products * (self.rows / (self.weight * free))


def measure_curves(curves: FloatArray, weights: FloatArray | None = None) -> CurveMoments:
    """Measure the mean and scatter of curves.

    Parameters
    ----------
    curves : ndarray of shape (n_outputs, n_rows, n_points)
        One curve per row and output.
    weights : ndarray of shape (n_rows,), optional
        How much each row matters.

    Notes
    -----
    O(n_rows n_points²) for each output.
    """
    w = np.ones(curves.shape[1]) if weights is None else weights
    mean, gaps = deviate_curves(curves.transpose(0, 2, 1), w)
    gaps *= np.sqrt(w)
    products = np.stack([gap @ gap.T for gap in gaps])
    return CurveMoments(float(w.sum()), float((w**2).sum()), mean, products)


def deviate_curves(curves: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Find the mean of curves over their rows, and how much they deviate from it.

    Parameters
    ----------
    curves : ndarray of shape (n_outputs, n_points, n_rows)
        One curve per row and output.
    weights : ndarray of shape (n_rows,)
        How much each row matters.

    Returns
    -------
    mean : ndarray of shape (n_outputs, n_points)
    deviations : ndarray of shape (n_outputs, n_points, n_rows)

    Notes
    -----
    The first curve is taken off before the mean is, so that equal curves deviate by exactly nothing.
    """
    first = curves[..., 0] if weights.size else np.zeros(curves.shape[:2])
    deviations, total = curves - first[..., None], float(weights.sum())
    shift = deviations @ (weights / (total if total > 0 else 1.0))
    deviations -= shift[..., None]
    return first + shift, deviations


def split_shapes(traced: FloatArray) -> FloatArray:
    """Split curves into shape and level.

    Parameters
    ----------
    traced : ndarray of shape (n_points, n_rows, n_outputs)
        One curve per row and output.

    Returns
    -------
    ndarray of shape (n_outputs, n_points + 1, n_rows)
        Curves less their own average, and that average.

    Notes
    -----
    A small shape on a huge level stays exact. Flat curves have exactly no shape: first values are
    taken off before the average is.

    Examples
    --------
    >>> split_shapes(np.array([[[1.0], [10.0]], [[3.0], [30.0]]]))
    array([[[ -1., -10.],
            [  1.,  10.],
            [  2.,  20.]]])
    """
    n_points, n_rows, n_outputs = traced.shape
    split = np.empty((n_outputs, n_points + 1, n_rows))
    shapes, first = split[:, :-1], traced[0].T
    np.subtract(traced.transpose(2, 0, 1), first[:, None], out=shapes)
    rise = shapes.sum(axis=1) / n_points
    shapes -= rise[:, None]
    np.add(first, rise, out=split[:, -1])
    return split
