"""Mixed differences over the steps of a pair: means, their errors, and what stands in where no row is."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.pair_axis import PairAxis
from rhale.kernels.pair_moments import PairMoments

POOLED_ROWS = 4.0  # degrees of freedom with which the variance of all cells counts in each
DOWN, UP = 0, 1


@dataclass(frozen=True, eq=False)
class PairSteps:
    """Mean mixed differences over steps.

    Attributes
    ----------
    mean : ndarray of shape (n_outputs, n_steps, n_steps)
        Mean differences; 0 where no row counts.
    weight : ndarray of shape (n_steps, n_steps)
        Weight of the rows that count.
    """

    mean: FloatArray
    weight: FloatArray

    @property
    def measured(self) -> BoolArray:
        """Steps that some row counts for."""
        return np.asarray(self.weight > 0)


@dataclass(frozen=True, eq=False)
class Filling:
    """What stands in for steps that no row counts for: that of the nearest one, times a factor.

    Attributes
    ----------
    source : ndarray of shape (n_steps * n_steps,)
        Whose difference each step has: its own where it is measured.
    factor : ndarray of shape (n_steps * n_steps,)
        What it is multiplied by.
    """

    source: IntArray
    factor: FloatArray

    def fill(self, mean: FloatArray) -> FloatArray:
        """Differences with nothing left out, shape (..., n_steps, n_steps)."""
        flat = mean.reshape(*mean.shape[:-2], -1)[..., self.source] * self.factor
        return np.asarray(flat.reshape(mean.shape))


def read_steps(axes: tuple[PairAxis, PairAxis], moments: PairMoments) -> PairSteps:
    """Mean differences over steps, of all rows that count for them."""
    n_steps = tuple(axis.n_steps for axis in axes)
    total = np.zeros((len(moments.mean), *n_steps))
    weight = np.zeros(n_steps)
    for way, ways in enumerate(product(*(range(axis.n_ways) for axis in axes))):
        some = tuple(_stands(axis, w) for axis, w in zip(axes, ways, strict=True))
        here = moments.weight[some]
        weight += here
        total += here * moments.mean[:, some[0], some[1], way]
    mean = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
    return PairSteps(mean, weight)


def _stands(axis: PairAxis, way: int) -> slice:
    """Stands whose rows count for step 0, 1, ... in one of their ways."""
    return slice(1, None) if axis.is_levels and way == DOWN else slice(0, axis.n_steps)


def step_variances(axes: tuple[PairAxis, PairAxis], moments: PairMoments) -> FloatArray:
    """Variances of the means of differences between numbers, (n_outputs, n_steps, n_steps)."""
    return _stand_covariances(axes, moments)[..., 0, 0]


def step_covariances(axes: tuple[PairAxis, PairAxis], moments: PairMoments) -> FloatArray:
    """Covariances of the mean differences over all steps: (n_outputs, n_all, n_all).

    Rows with levels count for several steps, which makes neighbouring ones depend on each other.
    """
    n, m = (axis.n_steps for axis in axes)
    if n * m == 0:  # a side with one level
        return np.zeros((len(moments.mean), 0, 0))
    weight, known = read_steps(axes, moments).weight, _stand_covariances(axes, moments)
    found = np.zeros((len(moments.mean), n * m, n * m))
    ways = list(product(*(range(axis.n_ways) for axis in axes)))
    shape = moments.weight.shape
    step = np.full((len(ways), *shape), -1)
    for way, pair in enumerate(ways):
        some = tuple(_stands(axis, w) for axis, w in zip(axes, pair, strict=True))
        step[(way, *some)] = np.arange(n * m).reshape(n, m)
    share = np.where(step >= 0, moments.weight / np.maximum(weight.ravel()[step], 1e-300), 0.0)
    for k, j in product(range(len(ways)), repeat=2):
        both = (step[k] >= 0) & (step[j] >= 0) & (moments.weight > 0)
        part = (share[k] * share[j] * known[..., k, j])[:, both]
        for output in range(len(found)):
            np.add.at(found[output], (step[k][both], step[j][both]), part[output])
    return found


def _stand_covariances(axes: tuple[PairAxis, PairAxis], moments: PairMoments) -> FloatArray:
    """Covariances of the means of the ways of every stand; those of few rows lean on all others.

    A cell of few rows hardly tells its own variance. What all cells tell, per unit of both
    features, counts as four more rows in each.
    """
    rows = np.divide(
        moments.weight**2,
        moments.weight_squares,
        out=np.zeros_like(moments.weight),
        where=moments.weight_squares > 0,
    )
    per_weight = np.divide(rows, moments.weight, out=np.zeros_like(rows), where=moments.weight > 0)
    squares = moments.products * per_weight[..., None, None]
    area = _areas(axes)
    scale = area[..., :, None] * area[..., None, :]
    free = np.maximum(rows - 1, 0.0)
    slopes = np.divide(squares, scale, out=np.zeros_like(squares), where=scale > 0)
    pooled = slopes.sum((1, 2)) / max(float(free.sum()), 1.0)
    within = (squares + POOLED_ROWS * pooled[:, None, None] * scale) / (
        free[..., None, None] + POOLED_ROWS
    )
    return np.divide(
        within,
        rows[..., None, None],
        out=np.zeros_like(within),
        where=(rows > 0)[..., None, None],
    )


def _areas(axes: tuple[PairAxis, PairAxis]) -> FloatArray:
    """Areas of the steps that the rows of every stand count for, (n_stands, n_stands, n_ways)."""
    sides = [[_padded(axis, way) for way in range(axis.n_ways)] for axis in axes]
    return np.stack([np.outer(a, b) for a, b in product(*sides)], axis=-1)


def _padded(axis: PairAxis, way: int) -> FloatArray:
    """Width of the step that rows of each stand count for in one way; 0 where there is none."""
    if not axis.is_levels:
        return axis.widths
    ends = (1, 0) if way == DOWN else (0, 1)
    return np.pad(axis.widths, ends)


def find_filling(
    axes: tuple[PairAxis, PairAxis], measured: BoolArray, *, slopes: bool = True
) -> Filling:
    """Find the nearest measured step of every other one, distances in shares of the ranges.

    Parameters
    ----------
    axes : pair of PairAxis
        The two sides.
    measured : ndarray of shape (n_steps, n_steps)
        Steps that rows count for, some.
    slopes : bool
        Whether what is carried over is the slope; the difference itself if not, as in R.
    """
    known, empty = np.flatnonzero(measured.ravel()), np.flatnonzero(~measured.ravel())
    source, factor = np.arange(measured.size), np.ones(measured.size)
    if not empty.size or not known.size:
        return Filling(source, factor)
    x, y = (_middles(axis) for axis in axes)
    n = y.size
    for cell in empty:
        far = (x[known // n] - x[cell // n]) ** 2 + (y[known % n] - y[cell % n]) ** 2
        source[cell] = known[np.argmin(far)]
    if slopes:
        area = np.outer(axes[0].widths, axes[1].widths).ravel()
        factor = area / area[source]
    return Filling(source, factor)


def _middles(axis: PairAxis) -> FloatArray:
    """Middles of the steps, in shares of the range."""
    if axis.is_levels:
        return np.arange(1, axis.n_steps + 1) / axis.n_steps
    return (axis.nodes[1:] + axis.nodes[:-1]) / 2 / (axis.nodes[-1] - axis.nodes[0])
