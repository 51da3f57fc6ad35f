"""How strongly two features interact: deviation over the rows of their pure effect, without noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.chi_square import chi_square_tail
from rhale.kernels.pair_moments import PairMoments
from rhale.kernels.pair_stack import Axes, PairStack, Reading, stack_pairs
from rhale.kernels.pair_steps import Filling
from rhale.kernels.pair_surface import Ground

__all__ = ["PairFit", "Reading", "Square", "find_squares"]

AT_ONCE = 64  # pairs: more leave the cache, fewer are calls


class Square(NamedTuple):
    """Mean square over the rows of a pure effect, and what noise adds to it."""

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
    """

    axes: Axes
    moments: PairMoments
    reading: Reading = "rows"

    @cached_property
    def stack(self) -> PairStack:
        """The pair, as one of many."""
        return PairStack([self.axes], [self.moments], self.reading)

    @cached_property
    def ground(self) -> Ground:
        """Where rows stand."""
        ground = self.stack.ground
        return Ground(ground.weight[0], ground.places[0], ground.is_levels)

    @property
    def filling(self) -> Filling:
        """What stands in for steps without rows."""
        return self.stack.filling

    @cached_property
    def surface(self) -> FloatArray:
        """The pure effect at all nodes; of steps without rows, too."""
        steps = self.stack.steps.mean[0]
        return self.ground.surface(self.filling.fill(steps))

    @cached_property
    def square(self) -> Square:
        """Mean square, and the noise in it."""
        return Square(float(self.stack.raw()[0]), float(self.stack.noise()[0]))

    @cached_property
    def _measured(self) -> FloatArray:
        """Mean differences of the steps that rows count for, (n_known,)."""
        return self.stack.steps.mean.ravel()[np.unique(self.filling.source)]

    @cached_property
    def _covariance(self) -> FloatArray:
        """Their covariances, (n_known, n_known); of numbers the variances alone, (n_known,)."""
        known, n_all = np.unique(self.filling.source), self.filling.source.size
        terms = self.stack.covariances
        if self.moments.mean.shape[-1] == 1:
            return np.bincount(terms.first, terms.value, n_all)[known].astype(np.float64)
        return terms.as_matrix(n_all)[np.ix_(known, known)]

    @cached_property
    def _products(self) -> FloatArray:
        """Q: mean products over the rows of what each measured difference does, (n, n)."""
        every = np.arange(self.filling.source.size)
        full = self.ground.products(every[:, None], every[None])
        return self.filling.gather(self.filling.gather(full).T)

    @cached_property
    def _noise_products(self) -> FloatArray:
        """Q V, with V the covariances."""
        return _times(self._products, self._covariance)

    @cached_property
    def node_error(self) -> FloatArray:
        """Standard error of the pure effect at every node."""
        reached = self.filling.gather(self.ground.unit_surfaces())
        variance = np.sum(_times(reached, self._covariance) * reached, axis=1)
        shape = tuple(axis.nodes.size for axis in self.axes)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)).reshape(shape))

    def combine(self, shares: FloatArray) -> tuple[float, float]:
        """Sum of the differences over all steps, each times its share, and its standard error.

        Parameters
        ----------
        shares : ndarray of shape (n_steps * n_steps,)
            Numbered row by row.
        """
        carried = self.filling.gather(shares[None])
        variance = float(np.sum(_times(carried, self._covariance) * carried))
        return float(carried[0] @ self._measured), float(np.sqrt(max(variance, 0.0)))

    @cached_property
    def square_error(self) -> float:
        """Standard error of the mean square without noise: of the differences, and of the rows."""
        slope = self._products @ self._measured
        linear = 4 * float(_times(slope[None], self._covariance)[0] @ slope)
        chance = 2 * float(np.sum(self._noise_products * self._noise_products.T))
        return float(np.sqrt(max(linear, 0.0) + chance + self.draw_variance))

    @property
    def draw_variance(self) -> float:
        """Variance of the mean square that comes from which rows were drawn.

        Rows of a cell stand for four, a deviation from their mean on either side.
        """
        moments, ground = self.moments, self.ground
        size = np.where(moments.weight > 0, moments.weight, 1.0)
        mean_u, mean_v = ground.moment(1, 0) / size, ground.moment(0, 1) / size
        off_u = np.sqrt(np.maximum(ground.moment(2, 0) / size - mean_u**2, 0.0))
        off_v = np.sqrt(np.maximum(ground.moment(0, 2) / size - mean_v**2, 0.0))
        base, right, up, far = ground.corners(self.surface)
        fourth = second = 0.0
        share = moments.weight / moments.weight.sum() / 4
        for sign_u in (-1, 1):
            for sign_v in (-1, 1):
                u, v = mean_u + sign_u * off_u, mean_v + sign_v * off_v
                height = (base * (1 - v) + right * v) * (1 - u) + (up * (1 - v) + far * v) * u
                fourth += float(np.sum(share * height**4))
                second += float(np.sum(share * height**2))
        rows = moments.weight.sum() ** 2 / moments.weight_squares.sum()
        return max(fourth - second**2, 0.0) / float(rows)

    @cached_property
    def p_value(self) -> float:
        """Chance of as large a mean square if differences were noise alone (Satterthwaite)."""
        by_noise = self._noise_products
        first, second = float(np.trace(by_noise)), float(np.sum(by_noise * by_noise.T))
        raw = self.square.raw
        if raw <= 0:
            return 1.0
        if first <= 1e-28 * raw or second <= 0:
            return 0.0
        return chi_square_tail(raw * first / second, first**2 / second)


def _times(effects: FloatArray, covariance: FloatArray) -> FloatArray:
    """Multiply with covariances, or with variances."""
    return effects * covariance if covariance.ndim == 1 else effects @ covariance


def find_squares(fits: Sequence[PairFit]) -> list[Square]:
    """Mean squares of many pairs: those with sides of the same kind and shape in one go."""
    groups: dict[object, list[int]] = {}
    for i, fit in enumerate(fits):
        key = (fit.reading, fit.stack.sides, fit.moments.weight.shape)
        groups.setdefault(key, []).append(i)
    found = [Square(0.0, 0.0)] * len(fits)
    for alike in groups.values():
        for start in range(0, len(alike), AT_ONCE):
            some = alike[start : start + AT_ONCE]
            stack = stack_pairs([fits[i].stack for i in some])
            for i, raw, noise in zip(some, stack.raw(), stack.noise(), strict=True):
                found[i] = Square(float(raw), float(noise))
    return found
