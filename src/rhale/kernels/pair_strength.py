"""How strongly two features interact: deviation over the rows of their pure effect, without noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.chi_square import chi_square_tail
from rhale.kernels.pair_axis import PairAxis
from rhale.kernels.pair_moments import POWERS, PairMoments
from rhale.kernels.pair_steps import (
    Filling,
    find_filling,
    read_steps,
    step_covariances,
    step_variances,
)
from rhale.kernels.pair_surface import Ground

Reading = Literal["rows", "cells"]
Axes = tuple[PairAxis, PairAxis]


class Square(NamedTuple):
    """Mean square over the rows of a pure effect, and what noise adds to it."""

    raw: float
    noise: float


def stand_on(axes: Axes, moments: PairMoments, reading: Reading) -> Ground:
    """Where rows stand: as they do, or, as R has it, all in the middle of their cell."""
    is_levels = (axes[0].is_levels, axes[1].is_levels)
    if reading == "rows":
        return Ground(moments.weight, moments.places, is_levels)
    u, v = (0.0 if levels else 0.5 for levels in is_levels)
    middle = np.array([u**p * v**q for p, q in POWERS])
    return Ground(moments.weight, middle[:, None, None] * moments.weight, is_levels)


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
    def ground(self) -> Ground:
        """Where rows stand."""
        return stand_on(self.axes, self.moments, self.reading)

    @cached_property
    def filling(self) -> Filling:
        """What stands in for steps without rows."""
        measured = read_steps(self.axes, self.moments).measured
        return find_filling(self.axes, measured, slopes=self.reading == "rows")

    @cached_property
    def steps(self) -> FloatArray:
        """Mean differences with nothing left out, (n_steps, n_steps)."""
        return self.filling.fill(read_steps(self.axes, self.moments).mean[0])

    @cached_property
    def surface(self) -> FloatArray:
        """The pure effect at all nodes; of steps without rows, too."""
        return self.ground.surface(self.steps)

    @cached_property
    def known(self) -> IntArray:
        """Steps that rows count for, numbered row by row."""
        return np.flatnonzero(read_steps(self.axes, self.moments).measured.ravel())

    @cached_property
    def covariance(self) -> FloatArray:
        """Covariances of the measured differences: of numbers the diagonal alone, (n,) or (n, n)."""
        if self.moments.mean.shape[-1] == 1:
            return step_variances(self.axes, self.moments)[0].ravel()[self.known]
        return step_covariances(self.axes, self.moments)[0][np.ix_(self.known, self.known)]

    @cached_property
    def products(self) -> FloatArray:
        """Q: mean products over the rows of what each measured difference does, (n, n)."""
        n_all = self.filling.source.size
        every = np.arange(n_all)
        full = self.ground.products(every[:, None], every[None])
        carried = np.zeros((n_all, n_all))
        carried[every, self.filling.source] = self.filling.factor
        carried = carried[:, self.known]
        return np.asarray(carried.T @ full @ carried)

    @cached_property
    def square(self) -> Square:
        """Mean square, and the noise in it."""
        raw = float(self.ground.mean_square(self.surface))
        return Square(raw, float(np.sum(self.products * as_matrix(self.covariance))))

    @property
    def node_error(self) -> FloatArray:
        """Standard error of the pure effect at every node."""
        carried = np.zeros((self.filling.source.size, self.filling.source.size))
        carried[np.arange(len(carried)), self.filling.source] = self.filling.factor
        reached = self.ground.unit_surfaces() @ carried[:, self.known]
        variance = np.einsum("ij,jk,ik->i", reached, as_matrix(self.covariance), reached)
        shape = tuple(axis.nodes.size for axis in self.axes)
        return np.sqrt(np.maximum(variance, 0.0)).reshape(shape)

    @property
    def square_error(self) -> float:
        """Standard error of the mean square without noise: of the differences, and of the rows."""
        by_noise = self.products @ as_matrix(self.covariance)
        slope = self.products @ read_steps(self.axes, self.moments).mean[0].ravel()[self.known]
        linear = 4 * float(slope @ as_matrix(self.covariance) @ slope)
        return float(np.sqrt(linear + 2 * np.sum(by_noise * by_noise.T) + self.draw_variance))

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

    @property
    def p_value(self) -> float:
        """Chance of as large a mean square if differences were noise alone (Satterthwaite)."""
        by_noise = self.products @ as_matrix(self.covariance)
        first, second = float(np.trace(by_noise)), float(np.sum(by_noise * by_noise.T))
        raw = self.square.raw
        if raw <= 0:
            return 1.0
        if first <= 1e-28 * raw or second <= 0:
            return 0.0
        return chi_square_tail(raw * first / second, first**2 / second)


def as_matrix(covariance: FloatArray) -> FloatArray:
    """Variances as a matrix."""
    return np.diag(covariance) if covariance.ndim == 1 else covariance


def find_squares(fits: Sequence[PairFit]) -> list[Square]:
    """Mean squares of many pairs: those of the same shape, without levels, in one go."""
    groups: dict[tuple[int, ...], list[int]] = {}
    found: list[Square | None] = [None] * len(fits)
    for i, fit in enumerate(fits):
        if fit.moments.mean.shape[-1] > 1:
            found[i] = fit.square
        else:
            groups.setdefault(fit.moments.weight.shape, []).append(i)
    for some in groups.values():
        for i, square in zip(some, _squares_alike([fits[i] for i in some]), strict=True):
            found[i] = square
    return [square for square in found if square is not None]


def _squares_alike(fits: Sequence[PairFit]) -> list[Square]:
    """Mean squares of pairs of numbers with as many cells."""
    ground = replace(
        fits[0].ground,
        weight=np.stack([fit.ground.weight for fit in fits]),
        places=np.stack([fit.ground.places for fit in fits]),
    )
    raw = ground.mean_square(ground.surface(np.stack([fit.steps for fit in fits])))
    variances = np.stack([step_variances(fit.axes, fit.moments)[0] for fit in fits])
    noise = ground.noise(variances) + [
        _carried_noise(*pair) for pair in zip(fits, variances, strict=True)
    ]
    return [Square(float(r), float(n)) for r, n in zip(raw, noise, strict=True)]


def _carried_noise(fit: PairFit, variance: FloatArray) -> float:
    """What steps without rows add to the noise of those that stand in for them."""
    source, factor = fit.filling.source, fit.filling.factor
    every = np.arange(source.size)
    if np.array_equal(source, every):
        return 0.0
    size = np.bincount(source, minlength=every.size)
    crowded = np.flatnonzero(size > 1)
    added = 0.0
    for cell in crowded:
        some = np.flatnonzero(source == cell)
        both = fit.ground.products(some[:, None], some[None])
        whole = float(factor[some] @ both @ factor[some])
        added += (whole - float(fit.ground.squares.ravel()[cell])) * float(variance.ravel()[cell])
    return added
