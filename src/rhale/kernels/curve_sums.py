"""Sums of the curves of rows: their scatter, and how they go with where the rows stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.curve_moments import CurveMoments, deviate_curves, split_shapes
from rhale.kernels.curve_places import CurvePlaces, RowsBetweenPoints, place_curves
from rhale.kernels.moments import check_magnitude
from rhale.kernels.records import crosses_processes


@crosses_processes
@dataclass(frozen=True, eq=False)
class CurveSums:
    """What curves of some rows add up to.

    Attributes
    ----------
    curves : CurveMoments
        Shapes and levels of their curves.
    places : CurvePlaces
        How shapes go with where the rows stand.
    """

    curves: CurveMoments
    places: CurvePlaces

    def __add__(self, other: CurveSums) -> CurveSums:
        curves = self.curves + other.curves
        mine, theirs = (
            one.places.deviating_from(one.curves.mean - curves.mean) for one in (self, other)
        )
        return CurveSums(curves, mine + theirs)


def sum_curves(
    trace: Callable[[RowsBetweenPoints], FloatArray],
    stands: RowsBetweenPoints,
    size: int,
    weights: FloatArray | None = None,
) -> CurveSums:
    """Add up the curves of rows, a block of them at a time.

    Parameters
    ----------
    trace : callable
        Gives the curves of some of the rows, an array of shape (n_points, n_some, n_outputs). It
        is asked about every row once.
    stands : RowsBetweenPoints
        All rows.
    size : int
        How many are taken at a time.
    weights : ndarray of shape (n_rows,), optional
        How much each row matters.

    Notes
    -----
    O(n_rows n_points²) for each output. Curves deviate from the mean of the heaviest block, and
    what the mean of all differs from it by is taken off once, at the end. Of B blocks that one has
    a B-th of all weight at least, so the square of that difference is at most B variances, at
    every point: 100 blocks lose two digits of sixteen, at worst.
    """
    w = np.ones(stands.row.size) if weights is None else weights
    blocks = sorted(stands.in_blocks(size), key=lambda some: -w[some.row].sum())
    split = ((some, split_shapes(trace(some))) for some in blocks)
    first = next(split)
    about, _ = deviate_curves(first[1], w[first[0].row])
    sums, products = np.zeros_like(about), np.zeros((*about.shape, about.shape[1]))
    placed = np.zeros((*about.shape, stands.n_points + 1))  # behind the last point stands nobody
    for some, deviations in chain([first], split):
        own = w[some.row]
        deviations -= about[..., None]
        check_magnitude(deviations[:, :-1])
        points, shared = place_curves(deviations, some)
        placed[..., points] += shared
        sums += deviations @ own
        if weights is not None:
            deviations *= np.sqrt(own)
        for total, gaps in zip(products, deviations, strict=True):
            total += gaps @ gaps.T
    weight = float(w.sum())
    step = sums / (weight if weight > 0 else 1.0)
    products -= weight * (step[:, :, None] * step[:, None, :])
    curves = CurveMoments(weight, float((w**2).sum()), about + step, products)
    places = CurvePlaces(stands.share, np.ascontiguousarray(placed[..., :-1].transpose(0, 2, 1)))
    return CurveSums(curves, places.deviating_from(-step))
