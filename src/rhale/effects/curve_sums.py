"""Sums over the curves of single rows: mean, scatter, and their covariance with the position of the row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from rhale.effects.binning.moments import check_magnitude
from rhale.stats.arrays import FloatArray, IntArray, crosses_processes
from rhale.stats.interpolation import split_place


@crosses_processes
@dataclass(frozen=True, eq=False)
class CurveMoments:
    """Mean curve of some rows and how their curves scatter about it."""

    # weight, weight_squares: sum of the rows' weights and of their squares
    weight: float
    weight_squares: float
    mean: FloatArray  # (n_outputs, n_points): mean curve
    # (n_outputs, n_points, n_points): weighted sums of products of deviations from the mean curve
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

    `curves` (n_outputs, n_rows, n_points): one curve per row and output; `weights` (n_rows,): how
    much each row matters.
    """
    # O(n_rows n_points²) for each output.
    w = np.ones(curves.shape[1]) if weights is None else weights
    mean, gaps = deviate_curves(curves.transpose(0, 2, 1), w)
    gaps *= np.sqrt(w)
    products = np.stack([gap @ gap.T for gap in gaps])
    return CurveMoments(float(w.sum()), float((w**2).sum()), mean, products)


def deviate_curves(curves: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Find the mean of curves over their rows, and how much they deviate from it.

    `curves` (n_outputs, n_points, n_rows): one curve per row and output; `weights` (n_rows,): how
    much each row matters. Returns `mean` (n_outputs, n_points); `deviations` (n_outputs, n_points,
    n_rows).
    """
    # The first curve is taken off before the mean is, so that equal curves deviate by exactly
    # nothing.
    first = curves[..., 0] if weights.size else np.zeros(curves.shape[:2])
    deviations, total = curves - first[..., None], float(weights.sum())
    shift = deviations @ (weights / (total if total > 0 else 1.0))
    deviations -= shift[..., None]
    return first + shift, deviations


def split_shapes(traced: FloatArray) -> FloatArray:
    """Split curves into shape and level.

    `traced` (n_points, n_rows, n_outputs): one curve per row and output. Returns (n_outputs,
    n_points + 1, n_rows): curves less their own average, and that average.

    Examples
    --------
    >>> split_shapes(np.array([[[1.0], [10.0]], [[3.0], [30.0]]]))
    array([[[ -1., -10.],
            [  1.,  10.],
            [  2.,  20.]]])
    """
    # A small shape on a huge level stays exact. Flat curves have exactly no shape: first values are
    # taken off before the average is.
    n_points, n_rows, n_outputs = traced.shape
    split = np.empty((n_outputs, n_points + 1, n_rows))
    shapes, first = split[:, :-1], traced[0].T
    np.subtract(traced.transpose(2, 0, 1), first[:, None], out=shapes)
    rise = shapes.sum(axis=1) / n_points
    shapes -= rise[:, None]
    np.add(first, rise, out=split[:, -1])
    return split


# --- How the curves of rows vary with the rows' own values: sums that merge like moments


@crosses_processes
@dataclass(frozen=True, eq=False)
class CurvePlaces:
    """Curves of rows, shared out to the two points beside each row."""

    share: FloatArray  # (n_points,): weights of the rows that have a value, shared out
    # (n_outputs, n_points, n_values): sums over the rows of their share at a point times how much
    # their values, which are points of a curve and its level, deviate from the mean
    products: FloatArray

    def __add__(self, other: CurvePlaces) -> CurvePlaces:
        return CurvePlaces(self.share + other.share, self.products + other.products)

    def deviating_from(self, step: FloatArray) -> CurvePlaces:
        """The same about another mean, which is less by a step of shape (n_outputs, n_values)."""
        return CurvePlaces(self.share, self.products + self.share[:, None] * step[:, None, :])

    def covary(self, curve: FloatArray, rows: float) -> FloatArray:
        """Covariance over the rows of their values with one curve at the place of each row.

        `curve` (n_points,): at the points, straight between them, zero on average over the rows;
        `rows`: effective number of rows that have a value. Returns (n_outputs, n_values): divisor
        n - 1; nan for a single row.
        """
        free = rows - 1
        if free < 1e-9:
            return np.full(self.products.shape[::2], np.nan)
        return np.asarray(curve @ self.products * (rows / (self.share.sum() * free)))


@dataclass(frozen=True, eq=False)
class RowsBetweenPoints:
    """Rows beside points, those between the same two points one after the other."""

    row: IntArray  # (n_rows,): numbers of the rows
    first: IntArray  # (n_rows,): the point before each
    # (n_rows, 2): its weight, shared out to this point and to the next; nothing for rows without a
    # value
    shares: FloatArray
    n_points: int

    @property
    def share(self) -> FloatArray:
        """Weight of the rows beside each point, shape (n_points,)."""
        sides = enumerate(self.shares.T)
        before, after = (np.bincount(self.first + k, one, self.n_points + 1) for k, one in sides)
        return np.asarray(before + after)[:-1]  # no row lies behind a single point

    def in_blocks(self, n_rows: int) -> Iterator[RowsBetweenPoints]:
        """The same, some rows at a time; at least one block."""
        for start in range(0, max(self.row.size, 1), n_rows):
            some = slice(start, start + n_rows)
            yield RowsBetweenPoints(
                self.row[some], self.first[some], self.shares[some], self.n_points
            )


def sort_by_point(
    place: FloatArray, n_points: int, weights: FloatArray | None = None
) -> RowsBetweenPoints:
    """Put rows in the order of the points that they lie between.

    `place` (n_rows,): from `locate_between_points`; rows at nan have no weight; `n_points`: how many
    points there are; `weights` (n_rows,): how much each row matters.

    Examples
    --------
    >>> found = sort_by_point(np.array([1.5, 0.2, 1.25, 0.0]), 3)
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


def place_curves(deviations: FloatArray, rows: RowsBetweenPoints) -> tuple[slice, FloatArray]:
    """Share the curves of rows out to the points that they lie between.

    `deviations` (n_outputs, n_values, n_rows): how much their values deviate from some mean;
    `rows`: in the same order. Returns `points`: those beside rows, from the first row to the last;
    one may lie behind the last point, where no rows are; `sums` (n_outputs, n_values, n_some): there.
    """
    # One product of matrices for each output.
    if not rows.first.size:
        return slice(0, 0), np.zeros((*deviations.shape[:2], 0))
    start, stop = int(rows.first[0]), int(rows.first[-1]) + 2
    row, point = np.arange(rows.first.size), rows.first - start
    beside = np.zeros((row.size, stop - start))
    beside[row, point], beside[row, point + 1] = rows.shares.T
    return slice(start, stop), deviations @ beside


# --- Sums of the curves of rows: their scatter, and how they vary with the rows' own values


@crosses_processes
@dataclass(frozen=True, eq=False)
class CurveSums:
    """What curves of some rows add up to."""

    curves: CurveMoments  # Shapes and levels of their curves
    places: CurvePlaces  # How shapes vary with the rows' own values

    def __add__(self, other: CurveSums) -> CurveSums:
        curves = self.curves + other.curves
        mine, theirs = (
            one.places.deviating_from(one.curves.mean - curves.mean) for one in (self, other)
        )
        return CurveSums(curves, mine + theirs)


def sum_curves(
    trace: Callable[[RowsBetweenPoints], FloatArray],
    rows: RowsBetweenPoints,
    size: int,
    weights: FloatArray | None = None,
) -> CurveSums:
    """Add up the curves of rows, a block of them at a time.

    `trace`: gives the curves of some of the rows, an array of shape (n_points, n_some, n_outputs).
    It is called for every row once; `size`: how many are taken at a time; `weights` (n_rows,):
    how much each row matters.
    """
    # O(n_rows n_points²) for each output. Curves deviate from the mean of the heaviest block, and
    # what the mean of all differs from it by is taken off once, at the end. Of B blocks that one
    # has a B-th of all weight at least, so the square of that difference is at most B variances, at
    # every point: 100 blocks lose two digits of sixteen, at worst.
    w = np.ones(rows.row.size) if weights is None else weights
    blocks = sorted(rows.in_blocks(size), key=lambda some: -w[some.row].sum())
    split = ((some, split_shapes(trace(some))) for some in blocks)
    first = next(split)
    about, _ = deviate_curves(first[1], w[first[0].row])
    sums, products = np.zeros_like(about), np.zeros((*about.shape, about.shape[1]))
    placed = np.zeros((*about.shape, rows.n_points + 1))  # no rows are behind the last point
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
    # from the mean of the heaviest block to that of all
    weight = float(w.sum())
    step = sums / (weight if weight > 0 else 1.0)
    products -= weight * (step[:, :, None] * step[:, None, :])
    curves = CurveMoments(weight, float((w**2).sum()), about + step, products)
    places = CurvePlaces(rows.share, np.ascontiguousarray(placed[..., :-1].transpose(0, 2, 1)))
    return CurveSums(curves, places.deviating_from(-step))
