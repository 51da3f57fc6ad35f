"""The pure second-order effect of a pair: a surface without main effects, read where rows stand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rhale.effects.curve import NODE_WEIGHTS, NODES
from rhale.interaction.cells import PairAxis
from rhale.interaction.moments import POWERS, Filling, PairSteps, step_areas
from rhale.stats.arrays import BoolArray, FloatArray, IntArray

Power = tuple[int, int]


@dataclass(frozen=True, eq=False)
class PairCellWeights:
    """Where the rows of a pair stand: all that main effects and averages over the rows need.

    Attributes
    ----------
    weight : ndarray of shape (..., n_stands, n_stands)
        Weight of the rows.
    places : ndarray of shape (..., 8, n_stands, n_stands)
        Weighted sums of u^p v^q, with `POWERS`.
    is_levels : pair of bool
        Whether rows of a side stand on nodes.

    Notes
    -----
    A unit mixed difference over the steps a and b is the surface h_a(x) h_b(y), with h_a 0 below
    step a, u in it and 1 above. Its own main effects are p h_a(x) and q h_b(y), with p the mean of
    h_b over the rows that count for step a, and q the same the other way; what is left has the
    mean c, which is taken off. So every surface is the sum of m_ab (h_a h_b - p h_a - q h_b - c),
    and since h_a h_a' is the one of the higher step, averages of all products of surfaces follow
    from the means of h_a^p h_b^q: cumulated sums of what is kept, O(n_stands^2).

    Leading axes are pairs: many with as many stands are concluded at once.
    """

    weight: FloatArray
    places: FloatArray
    is_levels: tuple[bool, bool]

    @cached_property
    def total(self) -> FloatArray:
        """Weight of all rows, shape (..., 1, 1); 1 where there is none, since sums are 0 then."""
        total = self.weight.sum((-2, -1), keepdims=True)
        return np.where(total > 0, total, 1.0)

    def moment(self, p: int, q: int) -> FloatArray:
        """Weighted sum of u^p v^q, by stand."""
        return self.weight if p == q == 0 else self.places[..., POWERS.index((p, q)), :, :]

    def above(self, sums: FloatArray, side: int) -> FloatArray:
        """Sums over all stands beyond each step."""
        n_stands = sums.shape[side - 2]
        beyond = np.tri(n_stands, n_stands - self.is_levels[side], -1)
        return beyond.T @ sums if side == 0 else sums @ beyond  # faster than cumulated sums

    def within(self, sums: FloatArray, side: int) -> FloatArray:
        """Sums of the stand at each step's lower end, or in it: levels above the last have none."""
        return _until(sums, side) if self.is_levels[side] else sums

    def beside(self, sums: FloatArray, side: int) -> FloatArray:
        """Sums over the rows that count for each step."""
        return _until(sums, side) + _from(sums, side) if self.is_levels[side] else sums

    def reach(self, p: int, q: int) -> FloatArray:
        """Mean of h_a^p h_b^q over the rows, shape (..., n_steps, n_steps); p, q up to 2.

        Where a power is 0, that side has one step.
        """
        return self._reaches[p, q]

    @cached_property
    def _reaches(self) -> dict[Power, FloatArray]:
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
        count_first = self.beside(self.weight, 0)
        first = self.above(count_first, 1) + self.within(self.beside(self.moment(0, 1), 0), 1)
        count_second = self.beside(self.weight, 1)
        second = self.above(count_second, 0) + self.within(self.beside(self.moment(1, 0), 1), 0)
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
        """The pure effect at the nodes, shape (..., n_nodes, n_nodes).

        Parameters
        ----------
        steps : ndarray of shape (..., n_steps, n_steps)
            Mean mixed differences.
        """
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

    def square_in_stands(self, surface: FloatArray) -> FloatArray:
        """Mean square over the rows of every stand, (..., n_stands, n_stands); 0 without rows."""
        return _divide_or_zero(self._sum_square(surface), self.weight)

    def _sum_square(self, surface: FloatArray) -> FloatArray:
        factors = square_in_cells(self.corners(surface))
        return np.asarray(sum(self.moment(*power) * factor for power, factor in factors))

    def corners(self, surface: FloatArray) -> tuple[FloatArray, ...]:
        """Heights at the four corners around every stand: 00, 01, 10, 11."""
        for side in (0, 1):
            if self.is_levels[side]:  # there is no step above the last level, and no row in it
                last = np.take(surface, [-1], side - 2)
                surface = np.concatenate([surface, last], side - 2)
        low, high = slice(None, -1), slice(1, None)
        return tuple(surface[..., i, j] for i in (low, high) for j in (low, high))

    def read_scattered(self, surface: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Heights of one surface where rows stand, and how many: both of shape (n_read,).

        Notes
        -----
        Three places a side stand for the rows of a cell, with their mean and deviation (Gauss's
        points), as if the two sides were independent within it: for what is no polynomial of the
        places, such as distances from zero. Rows on levels stand there.
        """
        some = self.weight > 0
        size = self.weight[some]
        u, v = (self._scatter(side, some) for side in (0, 1))
        u, v = u[:, :, None], v[:, None, :]
        corners = self.corners(surface)
        base, right, up, far = (corner[some][:, None, None] for corner in corners)
        height = (base * (1 - v) + right * v) * (1 - u) + (up * (1 - v) + far * v) * u
        shares = size[:, None, None] * np.outer(NODE_WEIGHTS, NODE_WEIGHTS)
        return height.ravel(), shares.ravel()

    def _scatter(self, side: int, some: BoolArray) -> FloatArray:
        """Three places in each of some stands along one side, (n_some, 3)."""
        first, second = (
            self.moment(*((k, 0) if side == 0 else (0, k)))[some] / self.weight[some]
            for k in (1, 2)
        )
        deviation = np.sqrt(np.maximum(second - first**2, 0.0))
        return np.asarray(np.clip(first[:, None] + deviation[:, None] * NODES, 0.0, 1.0))

    @cached_property
    def squares(self) -> FloatArray:
        """Mean square over the rows of every unit difference's pure effect: the diagonal of Q."""
        (p, q), c = self.main_shares, self.offsets
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

        Parameters
        ----------
        first, second : ndarray of shape (n,) or any that broadcast
            Steps of the same pair, numbered row by row, pair after pair.
        """
        both, along_x, along_y = self._tables
        p, q = (share.ravel() for share in self.main_shares)
        c, (n, m) = self.offsets.ravel(), self.offsets.shape[-2:]
        (a, b), (d, e) = np.divmod(first, m), np.divmod(second, m)  # a, d: through all pairs
        pi, pj, qi, qj = p[first], p[second], q[first], q[second]
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
        up, along = _mark_vertices_beyond(n), _mark_vertices_beyond(m)  # (n_nodes, n_steps)
        both = up[:, None, :, None] * along[None, :, None, :]
        both -= p * up[:, None, :, None] + c
        both -= q * along[None, :, None, :]
        return both.reshape((n + 1) * (m + 1), n * m)


def square_in_cells(corners: tuple[FloatArray, ...]) -> list[tuple[Power, FloatArray]]:
    """Factors of u^p v^q in the square of the bilinear surface of every cell."""
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


def _from(sums: FloatArray, side: int) -> FloatArray:
    """All stands of a side but the first."""
    return sums[..., 1:, :] if side == 0 else sums[..., 1:]


def _until(sums: FloatArray, side: int) -> FloatArray:
    """All stands of a side but the last."""
    return sums[..., :-1, :] if side == 0 else sums[..., :-1]


def _mark_vertices_beyond(n_steps: int) -> FloatArray:
    """Which nodes lie beyond each step."""
    return np.tri(n_steps + 1, n_steps, -1)


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


# --- Slopes of neighbouring cells of a pair, evened out: what is left of a jagged model is its course


PRICES = np.logspace(3, -5, 17)  # of roughness, beside rows that count 1 on average


@dataclass(frozen=True, eq=False)
class Smoothing:
    """Differences of all steps from those of the measured ones.

    Attributes
    ----------
    matrix : ndarray of shape (n_all, n_known)
        What every measured difference adds to each step.
    known : ndarray of shape (n_known,)
        Steps that rows count for.
    """

    matrix: FloatArray
    known: IntArray

    def fill(self, mean: FloatArray) -> FloatArray:
        """Differences with nothing left out, of the same shape."""
        return np.asarray((self.matrix @ mean.ravel()[self.known]).reshape(mean.shape))

    def gather(self, effects: FloatArray) -> FloatArray:
        """Effects of the measured steps, from effects of all: (n, n_all) to (n, n_known)."""
        return np.asarray(effects @ self.matrix)


def smooth_steps(
    axes: tuple[PairAxis, PairAxis], steps: PairSteps, filling: Filling
) -> Filling | Smoothing:
    """Even out the slopes of neighbouring cells, as much as the rows let one tell.

    Parameters
    ----------
    axes : pair of PairAxis
        The two sides. Levels keep their own slopes: only cells of numbers have neighbours.
    steps : PairSteps
        Of this pair alone.
    filling : Filling
        What stands in for steps without rows that no neighbour leads to.

    Notes
    -----
    The slopes t minimise sum w (y - t)^2 + price sum (t - t')^2 over neighbours, with w the rows
    of a cell and y their mean slope; the price by generalised cross-validation. Given the price
    the slopes are linear in the means, so errors follow. O(n_steps^6): a decomposition of one
    matrix serves all prices.
    """
    measured = steps.measured.ravel()
    rough = _roughness(axes)
    if not measured.any() or not rough.any():
        return filling
    reached = np.flatnonzero(_has_measured_neighbour(axes, steps).ravel())
    area = step_areas((axes[0].nodes, axes[1].nodes)).ravel()
    weight = steps.weight.ravel() / steps.weight.ravel()[measured].mean()
    slopes = steps.mean.ravel() / area
    evened = _even_out(weight[reached], rough[np.ix_(reached, reached)], slopes[reached])
    known = np.flatnonzero(measured)
    matrix = np.zeros((measured.size, known.size))
    matrix[reached] = evened[:, measured[reached]] * area[reached][:, None] / area[known]
    alone = np.flatnonzero(~np.isin(filling.step, reached))
    parts = matrix[filling.source[alone]] * filling.factor[alone][:, None]
    np.add.at(matrix, filling.step[alone], parts)
    return Smoothing(matrix, known)


def _roughness(axes: tuple[PairAxis, PairAxis]) -> FloatArray:
    """The sum of squared differences of neighbours, as a form of all steps: (n_all, n_all)."""
    change = [np.diff(np.eye(axis.n_steps), axis=0) for axis in axes]
    first, second = (
        np.zeros((axis.n_steps, axis.n_steps)) if axis.is_levels else d.T @ d
        for axis, d in zip(axes, change, strict=True)
    )
    return np.kron(first, np.eye(len(second))) + np.kron(np.eye(len(first)), second)


def _has_measured_neighbour(axes: tuple[PairAxis, PairAxis], steps: PairSteps) -> FloatArray:
    """Steps that neighbours lead to from a measured one."""
    along = tuple(side for side, axis in enumerate(axes) if not axis.is_levels)
    return np.broadcast_to(steps.measured.any(along, keepdims=True), steps.weight.shape)


def _even_out(weight: FloatArray, rough: FloatArray, slopes: FloatArray) -> FloatArray:
    """The matrix from slopes to smooth slopes, with the price that predicts left-out cells best."""
    # weights and roughness become diagonal at once: D and P are d and 1 - d in the basis U
    root = np.linalg.cholesky(np.diag(weight) + rough)
    half = np.linalg.solve(root, np.diag(np.sqrt(weight)))
    kept, turned = np.linalg.eigh(half @ half.T)
    kept = np.clip(kept, 0.0, 1.0)
    basis = np.linalg.solve(root.T, turned)
    parts, n_known = basis.T @ (weight * slopes), int(np.count_nonzero(weight))

    def misfit(price: float) -> float:
        share = 1 / (kept + price * (1 - kept))
        left = float(weight @ (slopes - basis @ (share * parts)) ** 2)
        free = n_known - float(np.sum(share * kept))
        return left / free**2 if free > 1e-9 * n_known else np.inf

    price = min(PRICES.tolist(), key=misfit)  # of equal ones the first, which is the smoothest
    return np.asarray((basis / (kept + price * (1 - kept))) @ basis.T * weight)
