"""Strength of an interaction: the deviation of the pure effect over the rows, noise subtracted.

With m the measured mean differences, V their covariances and Q the mean products over the rows of the
pure effects of unit differences, the mean square is m'Qm, and noise adds tr(QV) to its expectation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np

from rhale.interaction.moments import (
    POWERS,
    Covariances,
    Filling,
    PairAxis,
    PairMoments,
    PairSteps,
    average_steps,
    estimate_cell_covariances,
    find_cell_areas,
    find_filling,
    step_covariances,
)
from rhale.interaction.surface import PairCellWeights, Smoothing, smooth_steps, square_in_cells
from rhale.stats.arrays import FloatArray, IntArray
from rhale.stats.distributions import chi_square_tail

# --- Pairs with equally many cells, one or hundreds: their surfaces and mean squares at once


Reading = Literal["rows", "cells"]
Axes = tuple[PairAxis, PairAxis]
PAIR_PRODUCT_ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class PairStack:
    """Pairs whose sides are of the same kind and have as many cells; of one output."""

    # O(n_cells^2) time and memory a pair, and O(n_steps^3) where steps have no rows

    axes: Sequence[Axes]  # both sides of every pair
    moments: Sequence[PairMoments]  # sums of one output of every pair
    # whether rows count at their own positions, or in the middle of their cell as in R's packages,
    # where differences instead of slopes are carried over to steps without rows, too
    reading: Reading = "rows"

    @property
    def sides(self) -> tuple[bool, bool]:
        """Whether each side has levels."""
        first, second = self.axes[0]
        return first.is_levels, second.is_levels

    @cached_property
    def nodes(self) -> tuple[FloatArray, FloatArray]:
        """Nodes of both sides, (n_pairs, n_nodes)."""
        first, second = (np.array([sides[i].nodes for sides in self.axes]) for i in (0, 1))
        return first, second

    @cached_property
    def cell_weights(self) -> PairCellWeights:
        """Weights and positions of the rows; with "cells" all in the middle of their cell, as in R."""
        weight = np.array([one.weight for one in self.moments])
        if self.reading == "rows":
            places = np.array([one.places for one in self.moments])
            return PairCellWeights(weight, places, self.sides)
        u, v = (0.0 if levels else 0.5 for levels in self.sides)
        middle = np.array([u**p * v**q for p, q in POWERS])
        return PairCellWeights(weight, middle[:, None, None] * weight[:, None], self.sides)

    @cached_property
    def steps(self) -> PairSteps:
        """Mean differences of rows, (n_pairs, n_steps, n_steps)."""
        mean = np.array([one.mean[0] for one in self.moments])
        return average_steps(self.cell_weights.weight, mean, self.sides)

    @cached_property
    def filling(self) -> Filling:
        """Links from measured steps to those without rows."""
        return find_filling(
            self.nodes, self.sides, self.steps.measured, slopes=self.reading == "rows"
        )

    @cached_property
    def covariances(self) -> Covariances:
        """Covariances of the mean differences."""
        weight = self.cell_weights.weight
        squares = np.array([one.weight_squares for one in self.moments])
        products = np.array([one.products[0] for one in self.moments])
        areas = find_cell_areas(self.nodes, self.sides)
        spread = estimate_cell_covariances((weight, squares), products, areas)
        return step_covariances(weight, spread, self.sides)

    def raw(self) -> FloatArray:
        """Mean squares over the rows, (n_pairs,)."""
        return find_mean_squares(self.cell_weights, self.filling.fill(self.steps.mean))

    def noise(self) -> FloatArray:
        """What noise adds to the mean squares: tr(QV), term by term, (n_pairs,)."""
        terms, cell_weights = self.filling.expand(self.covariances), self.cell_weights
        size = cell_weights.squares[0].size
        same, later = (
            np.flatnonzero(some)
            for some in (terms.first == terms.second, terms.first < terms.second)
        )
        first, second = terms.first[later], terms.second[later]
        own = terms.value[same] * cell_weights.squares.take(terms.first[same])
        # every two steps come in both orders
        crossed = 2 * terms.value[later] * cell_weights.products(first, second)
        pair = np.concatenate([terms.first[same], first]) // size
        sums = np.bincount(pair, np.concatenate([own, crossed]), len(self.axes))
        size = np.bincount(terms.first // size, np.abs(terms.value), len(self.axes))
        # entries of Q are below 1: smaller sums are rounding
        return np.where(sums > PAIR_PRODUCT_ROUNDING * size, sums, 0.0)


def find_mean_squares(cell_weights: PairCellWeights, steps: FloatArray) -> FloatArray:
    """Mean squares over the rows of the pure effects of complete differences, (...,); 0 if rounding."""
    surface = cell_weights.surface(steps)
    found = cell_weights.mean_square(surface)
    # squares are sums of terms of the size of the corners; these, of all differences
    corners = np.max([corner**2 for corner in cell_weights.corners(surface)], axis=0)
    largest = (cell_weights.weight * corners).sum((-2, -1)) / cell_weights.total[..., 0, 0]
    least = (
        PAIR_PRODUCT_ROUNDING * largest + (PAIR_PRODUCT_ROUNDING * np.abs(steps).sum((-2, -1))) ** 2
    )
    return np.where(found > least, found, 0.0)


def stack_pairs(stacks: Sequence[PairStack]) -> PairStack:
    """Put pairs of the same kind and shape together."""
    axes = [sides for stack in stacks for sides in stack.axes]
    moments = [one for stack in stacks for one in stack.moments]
    return PairStack(axes, moments, stacks[0].reading)


__all__ = ["PairFit", "Reading", "Square", "find_squares"]

PAIR_BATCH_SIZE = 64  # pairs: more leave the cache, fewer are calls


class Square(NamedTuple):
    """Mean square over the rows of a pure effect, and what noise adds to it.

    Attributes
    ----------
    raw : float
        Mean square, in squared units of the output.
    noise : float
        What noise adds to it.
    """

    raw: float
    noise: float


@dataclass(frozen=True, eq=False)
class PairFit:
    """The pure effect of one pair on one output.

    Attributes
    ----------
    axes : pair of PairAxis
        The two sides.
    moments : PairMoments
        Sums of one output.
    reading : {"rows", "cells"}
        Whether rows count where they stand, or in the middle of their cell as in R's packages,
        where differences instead of slopes are carried over to steps without rows, too.
    smooth : bool
        Whether the slopes of neighbouring cells are evened out. Errors follow; a p-value of
        evened slopes is not to be trusted.
    """

    axes: Axes
    moments: PairMoments
    reading: Reading = "rows"
    smooth: bool = False

    @cached_property
    def stack(self) -> PairStack:
        """The pair as a stack of one."""
        return PairStack([self.axes], [self.moments], self.reading)

    @cached_property
    def cell_weights(self) -> PairCellWeights:
        """Weights and positions of the rows."""
        cell_weights = self.stack.cell_weights
        return PairCellWeights(
            cell_weights.weight[0], cell_weights.places[0], cell_weights.is_levels
        )

    @cached_property
    def filling(self) -> Filling | Smoothing:
        """How the differences of all steps follow from the measured ones."""
        if not self.smooth:
            return self.stack.filling
        steps = PairSteps(self.stack.steps.mean[0], self.stack.steps.weight[0])
        return smooth_steps(self.axes, steps, self.stack.filling)

    @cached_property
    def surface(self) -> FloatArray:
        """The pure effect at all nodes, those without rows beside included."""
        return self.cell_weights.surface(self._steps)

    @cached_property
    def _steps(self) -> FloatArray:
        """Mean differences of all steps."""
        return self.filling.fill(self.stack.steps.mean[0])

    @cached_property
    def square(self) -> Square:
        """Mean square, and the noise in it."""
        raw = float(find_mean_squares(self.cell_weights, self._steps))
        if self.smooth:
            return Square(raw, max(float(np.trace(self._noise_products)), 0.0))
        return Square(raw, float(self.stack.noise()[0]))

    def square_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Confidence interval of the mean square without noise, cut off at 0."""
        middle = self.square.raw - self.square.noise
        reach = NormalDist().inv_cdf(0.5 + level / 2) * self.square_error
        return max(middle - reach, 0.0), max(middle + reach, 0.0)

    @cached_property
    def square_error(self) -> float:
        """Standard error of the mean square without noise: of the differences, and of the rows."""
        if self.square.raw <= 0 and self.square.noise <= 0:
            return 0.0
        # delta method for m'Qm: 4 m'QVQm of the noise of the differences, and 2 tr(QVQV) of its square
        slope = self._products @ self._measured
        linear = float(_times(slope[None], self._covariance)[0] @ slope)
        chance = float(np.sum(self._noise_products * self._noise_products.T))
        # the differences that the linear part is of have noise of their own: once too much
        both = 4 * max(linear - chance, 0.0) + 2 * chance
        return float(np.sqrt(both + self.draw_variance))

    @cached_property
    def draw_variance(self) -> float:
        """Variance of the mean square that comes from which rows were drawn."""
        # The variance over the rows of the squared height h^2, divided by their effective number. In
        # a cell E h^4 / (E h^2)^2 is that of positions with beta distributions, whose means and
        # deviations are known.
        weight, cell_weights = self.moments.weight, self.cell_weights
        if self.square.raw <= 0:
            return 0.0
        factors = np.zeros((*weight.shape, 3, 3))
        for (p, q), factor in square_in_cells(cell_weights.corners(self.surface)):
            factors[..., p, q] = factor
        u, v = (_powers(cell_weights, side) for side in (0, 1))
        second = np.sum(factors * u[..., 0, :, None] * v[..., 0, None, :], axis=(-2, -1))
        fourth = np.sum(factors * (u @ factors @ v), axis=(-2, -1))
        excess = np.divide(fourth, second**2, out=np.ones_like(fourth), where=second > 0)
        square = cell_weights.mean_squares_by_cell(self.surface)
        spread = float(np.average(excess * square**2, weights=weight)) - self.square.raw**2
        return max(spread, 0.0) * float(self.moments.weight_squares.sum() / weight.sum() ** 2)

    @cached_property
    def p_value(self) -> float:
        """Chance of as large a mean square if differences were noise alone (Welch-Satterthwaite).

        1 where there is no effect, and where no cell has two rows: the noise is not known then.
        """
        if self.square.raw <= 0 or self.moments.count.max() < 2:
            return 1.0
        # a sum of squares of normal deviates has mean tr(QV) and variance 2 tr(QVQV): it is compared
        # with the multiple of a chi-square that has the same two moments
        by_noise = self._noise_products
        first, second = float(np.trace(by_noise)), float(np.sum(by_noise * by_noise.T))
        if first <= 1e-28 * self.square.raw or second <= 0:
            return 0.0
        return chi_square_tail(self.square.raw * first / second, first**2 / second)

    @cached_property
    def standard_error(self) -> FloatArray:
        """Standard error of the pure effect at every node."""
        reached = self.filling.gather(self.cell_weights.unit_surfaces())
        variance = np.sum(_times(reached, self._covariance) * reached, axis=1)
        shape = tuple(axis.nodes.size for axis in self.axes)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)).reshape(shape))

    def combine(self, shares: FloatArray) -> tuple[float, float]:
        """Sum of the differences over all steps times `shares` (n_steps * n_steps,), and its error."""
        carried = self.filling.gather(shares[None])
        variance = float(np.sum(_times(carried, self._covariance) * carried))
        return float(carried[0] @ self._measured), float(np.sqrt(max(variance, 0.0)))

    @cached_property
    def _known(self) -> IntArray:
        """Steps that rows count for, (n_known,)."""
        return np.unique(self.stack.filling.source)

    @cached_property
    def _measured(self) -> FloatArray:
        """Their mean differences, (n_known,)."""
        return self.stack.steps.mean.ravel()[self._known]

    @cached_property
    def _covariance(self) -> FloatArray:
        """Covariances of these, (n_known, n_known); of numbers the variances alone, (n_known,)."""
        terms, n_all = self.stack.covariances, self.stack.steps.weight.size
        if self.moments.mean.shape[-1] == 1:
            return np.bincount(terms.first, terms.value, n_all)[self._known].astype(np.float64)
        return terms.as_matrix(n_all)[np.ix_(self._known, self._known)]

    @cached_property
    def _products(self) -> FloatArray:
        """Q of the measured differences, (n_known, n_known)."""
        every = np.arange(self.stack.steps.weight.size)
        full = self.cell_weights.products(every[:, None], every[None])
        return self.filling.gather(self.filling.gather(full).T)

    @cached_property
    def _noise_products(self) -> FloatArray:
        """Q V, with V the covariances."""
        return _times(self._products, self._covariance)


def _powers(cell_weights: PairCellWeights, side: int) -> FloatArray:
    """Mean u^(p + q) in every cell, p and q up to 2: of a beta distribution, (..., 3, 3)."""
    # moments of beta(a, b) by recursion: E u^(k+1) = E u^k (a + k) / (a + b + k), with mean and
    # variance instead of a and b
    size = np.where(cell_weights.weight > 0, cell_weights.weight, 1.0)
    first, second = (cell_weights.moment(*((k, 0) if side == 0 else (0, k))) / size for k in (1, 2))
    spread = np.clip(second - first**2, 0.0, None)
    room = np.clip(first * (1 - first) - spread, 0.0, None)
    found = [np.ones_like(first), first]
    for k in (1, 2, 3):
        whole = room + k * spread
        part = np.divide(first * room + k * spread, whole, out=first.copy(), where=whole > 0)
        found.append(found[-1] * part)
    return np.stack(found, -1)[..., np.add.outer(range(3), range(3))]


def _times(effects: FloatArray, covariance: FloatArray) -> FloatArray:
    """Multiply with a matrix of covariances, or with a vector of variances."""
    return effects * covariance if covariance.ndim == 1 else effects @ covariance


def find_squares(fits: Sequence[PairFit]) -> list[Square]:
    """Mean squares of many pairs: those with sides of the same kind and shape at once."""
    groups: dict[object, list[int]] = {}
    found = [Square(0.0, 0.0)] * len(fits)
    for i, fit in enumerate(fits):
        if fit.smooth:
            found[i] = fit.square
            continue
        key = (fit.reading, fit.stack.sides, fit.moments.weight.shape)
        groups.setdefault(key, []).append(i)
    for alike in groups.values():
        for start in range(0, len(alike), PAIR_BATCH_SIZE):
            some = alike[start : start + PAIR_BATCH_SIZE]
            stack = stack_pairs([fits[i].stack for i in some])
            for i, raw, noise in zip(some, stack.raw(), stack.noise(), strict=True):
                found[i] = Square(float(raw), float(noise))
    return found
