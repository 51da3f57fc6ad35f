"""The second-order effect of a pair: a surface without main effects, smoothed where the model is jagged.

Second-order ALE (Apley & Zhu 2020) accumulates mean mixed differences over both axes, and removes the
main effects of the accumulated surface itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np

from rhale.effects.curve import NODE_WEIGHTS, NODES
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
    step_areas,
    step_covariances,
)
from rhale.stats.arrays import FloatArray, IntArray
from rhale.stats.distributions import chi_square_tail

Power = tuple[int, int]


@dataclass(frozen=True, eq=False)
class PairCellWeights:
    """Weights and positions of the rows, cell by cell: all that averages of surfaces need."""

    # A unit mixed difference over the steps a and b is the surface h_a(x) h_b(y), with h_a 0
    # below step a, u in it and 1 above. Its own main effects are p h_a(x) and q h_b(y), with p
    # the mean of h_b over the rows that count for step a, and q the same the other way; what is
    # left has the mean c, which is taken off. So every surface is the sum of m_ab (h_a h_b - p
    # h_a - q h_b - c), and since h_a h_a' is the one of the higher step, averages of all products
    # of surfaces follow from the means of h_a^p h_b^q: cumulated sums of what is kept,
    # O(n_cells^2).
    # Leading axes are pairs: those with equally many cells are computed at once.

    weight: FloatArray  # (..., n_cells, n_cells): weight of the rows
    places: FloatArray  # (..., 8, n_cells, n_cells): weighted sums of u^p v^q, with `POWERS`
    is_levels: tuple[bool, bool]  # whether the cells of a side are levels

    @cached_property
    def total(self) -> FloatArray:
        """Weight of all rows, shape (..., 1, 1); 1 where there is none, since sums are 0 then."""
        total = self.weight.sum((-2, -1), keepdims=True)
        return np.where(total > 0, total, 1.0)

    def moment(self, p: int, q: int) -> FloatArray:
        """Weighted sum of u^p v^q in every cell, (..., n_cells, n_cells)."""
        return self.weight if p == q == 0 else self.places[..., POWERS.index((p, q)), :, :]

    def above(self, sums: FloatArray, side: int) -> FloatArray:
        """Sums over all cells beyond each step."""
        n_cells = sums.shape[side - 2]
        beyond = np.tri(n_cells, n_cells - self.is_levels[side], -1)
        return beyond.T @ sums if side == 0 else sums @ beyond  # faster than cumulated sums

    def within(self, sums: FloatArray, side: int) -> FloatArray:
        """Sums of the cell that a step is; of levels, of the level at its lower end."""
        return _until(sums, side) if self.is_levels[side] else sums

    def sum_adjacent_cells(self, sums: FloatArray, side: int) -> FloatArray:
        """Sums over the rows that count for each step: of levels, those at both of its ends."""
        if not self.is_levels[side]:
            return sums
        return _until(sums, side) + (sums[..., 1:, :] if side == 0 else sums[..., 1:])

    def reach(self, p: int, q: int) -> FloatArray:
        """Mean of h_a^p h_b^q over the rows, shape (..., n_steps, n_steps); p, q up to 2.

        Where a power is 0, that side has one step.
        """
        return self._reaches[p, q]

    @cached_property
    def _reaches(self) -> dict[Power, FloatArray]:
        # h is 1 beyond the step, u inside it and 0 below: the mean of h_a^p h_b^q has a part from the
        # rows beyond both steps, two from those beyond one and inside the other, one from inside both
        beyond = tuple(self.above(self.weight, side) for side in (0, 1))
        both = self.above(beyond[0], 1)
        found: dict[Power, FloatArray] = {}
        above_y = {p: self.above(self.within(self.moment(p, 0), 0), 1) for p in (1, 2)}
        above_x = {q: self.within(self.above(self.moment(0, q), 0), 1) for q in (1, 2)}
        for k in (1, 2):
            first = beyond[0] + self.within(self.moment(k, 0), 0)
            second = beyond[1] + self.within(self.moment(0, k), 1)
            found[k, 0] = first.sum(-1, keepdims=True)
            found[0, k] = second.sum(-2, keepdims=True)
            for q in (1, 2):
                inside = self.within(self.within(self.moment(k, q), 0), 1)
                found[k, q] = both + above_y[k] + above_x[q] + inside
        return {power: sums / self.total for power, sums in found.items()}

    @cached_property
    def main_shares(self) -> tuple[FloatArray, FloatArray]:
        """Shares p and q: what main effects take of every unit difference; 0 where no row counts."""
        # p of step a is the mean of h_b over the rows that count for a; q the same the other way
        count_first = self.sum_adjacent_cells(self.weight, 0)
        first = self.above(count_first, 1) + self.within(
            self.sum_adjacent_cells(self.moment(0, 1), 0), 1
        )
        count_second = self.sum_adjacent_cells(self.weight, 1)
        second = self.above(count_second, 0) + self.within(
            self.sum_adjacent_cells(self.moment(1, 0), 1), 0
        )
        return (
            _divide_or_zero(first, count_first.sum(-1, keepdims=True)),
            _divide_or_zero(second, count_second.sum(-2, keepdims=True)),
        )

    @cached_property
    def offsets(self) -> FloatArray:
        """c: the mean over the rows of what main effects leave of every unit difference."""
        p, q = self.main_shares
        return self.reach(1, 1) - p * self.reach(1, 0) - q * self.reach(0, 1)

    def surface(self, steps: FloatArray) -> FloatArray:
        """The pure effect at the nodes, (..., n_nodes, n_nodes), of mean mixed differences."""
        # accumulate over both axes, then take off both main effects and the mean over the rows
        # (Apley & Zhu 2020, second-order effects)
        first, second = self.main_effects(steps)
        heights = _from_zero(_from_zero(steps, -2), -1)
        heights -= first[..., :, None]
        heights -= second[..., None, :]
        heights -= (steps * self.offsets).sum((-2, -1))[..., None, None]
        return heights

    def main_effects(self, steps: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Main effects of the accumulated surface itself, at the nodes of both sides."""
        p, q = self.main_shares
        return _from_zero((steps * p).sum(-1), -1), _from_zero((steps * q).sum(-2), -1)

    def mean_square(self, surface: FloatArray) -> FloatArray:
        """Mean square over the rows of a surface that is bilinear in every cell, shape (...,)."""
        return np.asarray(self._sum_square(surface).sum((-2, -1)) / self.total[..., 0, 0])

    def mean_squares_by_cell(self, surface: FloatArray) -> FloatArray:
        """Mean square over the rows of every cell, (..., n_cells, n_cells); 0 without rows."""
        return _divide_or_zero(self._sum_square(surface), self.weight)

    def _sum_square(self, surface: FloatArray) -> FloatArray:
        factors = square_in_cells(self.corners(surface))
        return np.asarray(sum(self.moment(*power) * factor for power, factor in factors))

    def corners(self, surface: FloatArray) -> tuple[FloatArray, ...]:
        """Heights at the four corners of every cell: 00, 01, 10, 11."""
        for side in (0, 1):
            if self.is_levels[side]:  # there is no step above the last level, and no row in it
                last = np.take(surface, [-1], side - 2)
                surface = np.concatenate([surface, last], side - 2)
        low, high = slice(None, -1), slice(1, None)
        return tuple(surface[..., i, j] for i in (low, high) for j in (low, high))

    def read_scattered(self, surface: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Heights of one surface at the rows, and their weights: both of shape (n_read,)."""
        # What is no polynomial of the positions, such as distances from zero, needs quadrature: three
        # Gauss points a side replace the rows of a cell, with the mean and deviation of their
        # positions, as if the two sides were independent within it. Levels have no width.
        some = self.weight > 0
        size = self.weight[some]
        positions = []
        for side in (0, 1):
            first, second = (
                self.moment(*((k, 0) if side == 0 else (0, k)))[some] / self.weight[some]
                for k in (1, 2)
            )
            deviation = np.sqrt(np.maximum(second - first**2, 0.0))
            positions.append(np.clip(first[:, None] + deviation[:, None] * NODES, 0.0, 1.0))
        u, v = positions[0][:, :, None], positions[1][:, None, :]
        corners = self.corners(surface)
        base, right, up, far = (corner[some][:, None, None] for corner in corners)
        height = (base * (1 - v) + right * v) * (1 - u) + (up * (1 - v) + far * v) * u
        shares = size[:, None, None] * np.outer(NODE_WEIGHTS, NODE_WEIGHTS)
        return height.ravel(), shares.ravel()

    @cached_property
    def squares(self) -> FloatArray:
        """Mean square over the rows of every unit difference's pure effect: the diagonal of Q."""
        (p, q), c = self.main_shares, self.offsets
        # the mean of (h_a h_b - p h_a - q h_b - c)^2, whose terms with c add up to -c^2
        return np.asarray(
            self.reach(2, 2)
            + p * (p * self.reach(2, 0) - 2 * self.reach(2, 1) + 2 * q * self.reach(1, 1))
            + q * (q * self.reach(0, 2) - 2 * self.reach(1, 2))
            - c**2
        )

    @cached_property
    def _tables(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means of h_a h_a' h_b h_b', of h_a h_a' and of h_b h_b' by the higher step, flat.

        First of two different steps, then of the same step; on both sides of neither, of the
        first, of the second, of both.
        """
        powers = (((1, 1), (2, 1), (1, 2), (2, 2)), ((1, 0), (2, 0)), ((0, 1), (0, 2)))
        both, first, second = (np.stack([self.reach(*k) for k in some]).ravel() for some in powers)
        return both, first, second

    def products(self, first: IntArray, second: IntArray) -> FloatArray:
        """Mean products over the rows of the pure effects of unit differences: entries of Q.

        `first` and `second` number steps row by row, pair after pair, and broadcast.
        """
        both, along_x, along_y = self._tables
        p, q = (share.ravel() for share in self.main_shares)
        c, (n, m) = self.offsets.ravel(), self.offsets.shape[-2:]
        (a, b), (d, e) = np.divmod(first, m), np.divmod(second, m)  # a, d: through all pairs
        pi, pj, qi, qj = p[first], p[second], q[first], q[second]
        # h_a h_d is h of the higher of the two steps, squared where they are the same step: every
        # term of the product is one entry of the tables
        x, y = np.maximum(a, d), np.maximum(b, e)
        same_x, same_y = (a == d).astype(np.intp), (b == e).astype(np.intp)
        on_x, on_y = same_x * c.size, same_y * (2 * c.size)
        column = a // n * m + y + same_y * (along_y.size // 2)
        return np.asarray(
            both.take(x * m + y + on_x + on_y)
            - pj * both.take(x * m + b + on_x)
            - pi * both.take(x * m + e + on_x)
            - qj * both.take(a * m + y + on_y)
            - qi * both.take(d * m + y + on_y)
            + pi * pj * along_x.take(x + same_x * (along_x.size // 2))
            + qi * qj * along_y.take(column)
            + pi * qj * both.take(a * m + e)
            + qi * pj * both.take(d * m + b)
            - c[first] * c[second]
        )

    def unit_surfaces(self) -> FloatArray:
        """Pure effects of all unit differences of one pair at the nodes: (n_nodes^2, n_steps^2)."""
        (p, q), c = self.main_shares, self.offsets
        n, m = p.shape
        # which nodes lie beyond each step, (n_nodes, n_steps)
        up, along = np.tri(n + 1, n, -1), np.tri(m + 1, m, -1)
        both = up[:, None, :, None] * along[None, :, None, :]
        both -= p * up[:, None, :, None] + c
        both -= q * along[None, :, None, :]
        return both.reshape((n + 1) * (m + 1), n * m)


def square_in_cells(corners: tuple[FloatArray, ...]) -> list[tuple[Power, FloatArray]]:
    """Factors of u^p v^q in the square of the bilinear surface of every cell."""
    # the surface is base + s u + t v + r u v
    base, right, up, far = corners
    s, t, r = up - base, right - base, far - up - right + base  # of u, v and u v
    return [
        ((0, 0), base**2),
        ((1, 0), 2 * base * s),
        ((0, 1), 2 * base * t),
        ((1, 1), 2 * (base * r + s * t)),
        ((2, 0), s**2),
        ((0, 2), t**2),
        ((2, 1), 2 * s * r),
        ((1, 2), 2 * t * r),
        ((2, 2), r**2),
    ]


def _until(sums: FloatArray, side: int) -> FloatArray:
    """All cells of a side but the last."""
    return sums[..., :-1, :] if side == 0 else sums[..., :-1]


def _from_zero(steps: FloatArray, axis: int) -> FloatArray:
    """Cumulated sums along an axis, from zero at the first node."""
    shape = list(steps.shape)
    shape[axis] += 1
    heights = np.zeros(shape)
    rest = heights[..., 1:, :] if axis == -2 else heights[..., 1:]
    np.cumsum(steps, axis, out=rest)
    return heights


def _divide_or_zero(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


# --- Smoothing: the slopes of neighbouring cells, penalised by their squared differences


SMOOTHING_PRICES = np.logspace(3, -5, 17)  # of roughness, beside rows that count 1 on average


@dataclass(frozen=True, eq=False)
class Smoothing:
    """Differences of all steps from those of the measured ones."""

    matrix: FloatArray  # (n_all, n_known): what every measured difference adds to each step
    known: IntArray  # (n_known,): steps that rows count for

    def fill(self, mean: FloatArray) -> FloatArray:
        """Differences with nothing left out, of the same shape."""
        return np.asarray((self.matrix @ mean.ravel()[self.known]).reshape(mean.shape))

    def gather(self, effects: FloatArray) -> FloatArray:
        """Effects of the measured steps, from effects of all: (n, n_all) to (n, n_known)."""
        return np.asarray(effects @ self.matrix)


def smooth_steps(
    axes: tuple[PairAxis, PairAxis], steps: PairSteps, filling: Filling
) -> Filling | Smoothing:
    """Smooth the slopes of neighbouring cells of one pair, by generalised cross-validation.

    Levels keep their own slopes, since only cells of numbers have neighbours; `filling` serves the
    steps without rows that no neighbour leads to.
    """
    # The slopes t minimise sum w (y - t)^2 + price sum (t - t')^2 over neighbours, with w the
    # rows of a cell and y their mean slope; the price by generalised cross-validation. Given the
    # price the slopes are linear in the means, so errors follow. O(n_steps^6): a decomposition of
    # one matrix serves all prices.
    measured = steps.measured.ravel()
    # the penalty as a quadratic form of all steps, (n_all, n_all)
    change = [np.diff(np.eye(axis.n_steps), axis=0) for axis in axes]
    first, second = (
        np.zeros((axis.n_steps, axis.n_steps)) if axis.is_levels else d.T @ d
        for axis, d in zip(axes, change, strict=True)
    )
    rough = np.kron(first, np.eye(len(second))) + np.kron(np.eye(len(first)), second)
    if not measured.any() or not rough.any():
        return filling
    # steps that a chain of neighbours connects with a measured one
    along = tuple(side for side, axis in enumerate(axes) if not axis.is_levels)
    is_reached = np.broadcast_to(steps.measured.any(along, keepdims=True), steps.weight.shape)
    reached = np.flatnonzero(is_reached.ravel())
    area = step_areas((axes[0].nodes, axes[1].nodes)).ravel()
    weight = steps.weight.ravel() / steps.weight.ravel()[measured].mean()
    slopes = steps.mean.ravel() / area
    smoother = _cross_validate(weight[reached], rough[np.ix_(reached, reached)], slopes[reached])
    # from slopes back to differences
    known = np.flatnonzero(measured)
    matrix = np.zeros((measured.size, known.size))
    matrix[reached] = smoother[:, measured[reached]] * area[reached][:, None] / area[known]
    # the other steps keep what the nearest measured step gives them
    alone = np.flatnonzero(~np.isin(filling.target, reached))
    parts = matrix[filling.source[alone]] * filling.factor[alone][:, None]
    np.add.at(matrix, filling.target[alone], parts)
    return Smoothing(matrix, known)


def _cross_validate(weight: FloatArray, rough: FloatArray, slopes: FloatArray) -> FloatArray:
    """The matrix from slopes to smooth slopes, with the price that predicts left-out cells best."""
    # weights and roughness become diagonal at once: D and P are d and 1 - d in the basis U
    root = np.linalg.cholesky(np.diag(weight) + rough)
    half = np.linalg.solve(root, np.diag(np.sqrt(weight)))
    kept, turned = np.linalg.eigh(half @ half.T)
    kept = np.clip(kept, 0.0, 1.0)
    basis = np.linalg.solve(root.T, turned)
    parts, n_known = basis.T @ (weight * slopes), int(np.count_nonzero(weight))

    # generalised cross-validation (Craven & Wahba 1978): residual sum of squares over the squared
    # residual degrees of freedom
    def misfit(price: float) -> float:
        share = 1 / (kept + price * (1 - kept))
        left = float(weight @ (slopes - basis @ (share * parts)) ** 2)
        free = n_known - float(np.sum(share * kept))
        return left / free**2 if free > 1e-9 * n_known else np.inf

    price = min(
        SMOOTHING_PRICES.tolist(), key=misfit
    )  # of equal ones the first, which is the smoothest
    return np.asarray((basis / (kept + price * (1 - kept))) @ basis.T * weight)


# --- Strength of an interaction: the deviation of the pure effect over the rows, noise subtracted

# With m the measured mean differences, V their covariances and Q the mean products over the rows of the
# pure effects of unit differences, the mean square is m'Qm, and noise adds tr(QV) to its expectation.


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
