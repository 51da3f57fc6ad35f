"""Pairs with as many stands, one or hundreds: their surfaces and mean squares in one go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.pair_axis import PairAxis
from rhale.kernels.pair_moments import POWERS, PairMoments
from rhale.kernels.pair_steps import (
    Covariances,
    Filling,
    PairSteps,
    average_steps,
    estimate_cell_covariances,
    find_cell_areas,
    find_filling,
    step_covariances,
)
from rhale.kernels.pair_surface import PairCellWeights

Reading = Literal["rows", "cells"]
Axes = tuple[PairAxis, PairAxis]
PAIR_PRODUCT_ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class PairStack:
    """Pairs whose sides are of the same kind and have as many stands.

    Attributes
    ----------
    axes : sequence of pairs of PairAxis
        Both sides of every pair.
    moments : sequence of PairMoments
        Sums of one output of every pair.
    reading : {"rows", "cells"}
        Whether rows count where they stand, or in the middle of their cell as in R's packages,
        where differences instead of slopes are carried over to steps without rows, too.

    Notes
    -----
    O(n_stands^2) time and memory a pair, and O(n_steps^3) where steps have no rows.
    """

    axes: Sequence[Axes]
    moments: Sequence[PairMoments]
    reading: Reading = "rows"

    @property
    def sides(self) -> tuple[bool, bool]:
        """Whether rows stand on levels."""
        first, second = self.axes[0]
        return first.is_levels, second.is_levels

    @cached_property
    def nodes(self) -> tuple[FloatArray, FloatArray]:
        """Nodes of both sides, (n_pairs, n_nodes)."""
        first, second = (np.array([sides[i].nodes for sides in self.axes]) for i in (0, 1))
        return first, second

    @cached_property
    def ground(self) -> PairCellWeights:
        """Where rows stand: as they do, or, as R has it, all in the middle of their cell."""
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
        return average_steps(self.ground.weight, mean, self.sides)

    @cached_property
    def filling(self) -> Filling:
        """What stands in for steps without rows."""
        return find_filling(
            self.nodes, self.sides, self.steps.measured, slopes=self.reading == "rows"
        )

    @cached_property
    def covariances(self) -> Covariances:
        """Covariances of the mean differences."""
        weight = self.ground.weight
        squares = np.array([one.weight_squares for one in self.moments])
        products = np.array([one.products[0] for one in self.moments])
        areas = find_cell_areas(self.nodes, self.sides)
        spread = estimate_cell_covariances((weight, squares), products, areas)
        return step_covariances(weight, spread, self.sides)

    def raw(self) -> FloatArray:
        """Mean squares over the rows, (n_pairs,)."""
        return find_mean_squares(self.ground, self.filling.fill(self.steps.mean))

    def noise(self) -> FloatArray:
        """What noise adds to them: the sum of Q and covariances, term by term, (n_pairs,)."""
        terms, ground = self.filling.expand(self.covariances), self.ground
        size = ground.squares[0].size
        same, later = (
            np.flatnonzero(some)
            for some in (terms.first == terms.second, terms.first < terms.second)
        )
        first, second = terms.first[later], terms.second[later]
        own = terms.value[same] * ground.squares.take(terms.first[same])
        # every two steps come in both orders
        crossed = 2 * terms.value[later] * ground.products(first, second)
        pair = np.concatenate([terms.first[same], first]) // size
        sums = np.bincount(pair, np.concatenate([own, crossed]), len(self.axes))
        size = np.bincount(terms.first // size, np.abs(terms.value), len(self.axes))
        return np.where(sums > PAIR_PRODUCT_ROUNDING * size, sums, 0.0)  # entries of Q are below 1


def find_mean_squares(ground: PairCellWeights, steps: FloatArray) -> FloatArray:
    """Mean squares over the rows of pure effects, (...,); exactly 0 where they are rounding.

    Parameters
    ----------
    ground : PairCellWeights
        Where rows stand.
    steps : ndarray of shape (..., n_steps, n_steps)
        Mean differences with nothing left out.
    """
    surface = ground.surface(steps)
    found = ground.mean_square(surface)
    # squares are sums of terms of the size of the corners; these, of all differences
    corners = np.max([corner**2 for corner in ground.corners(surface)], axis=0)
    largest = (ground.weight * corners).sum((-2, -1)) / ground.total[..., 0, 0]
    least = (
        PAIR_PRODUCT_ROUNDING * largest + (PAIR_PRODUCT_ROUNDING * np.abs(steps).sum((-2, -1))) ** 2
    )
    return np.where(found > least, found, 0.0)


def stack_pairs(stacks: Sequence[PairStack]) -> PairStack:
    """Put pairs of the same kind and shape together."""
    axes = [sides for stack in stacks for sides in stack.axes]
    moments = [one for stack in stacks for one in stack.moments]
    return PairStack(axes, moments, stacks[0].reading)
