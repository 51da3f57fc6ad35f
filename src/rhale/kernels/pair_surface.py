"""The pure second-order effect of a pair: a surface without main effects, read where rows stand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.pair_moments import POWERS


@dataclass(frozen=True, eq=False)
class Ground:
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
    """

    weight: FloatArray
    places: FloatArray
    is_levels: tuple[bool, bool]

    @cached_property
    def total(self) -> FloatArray:
        """Weight of all rows, shape (..., 1, 1)."""
        return self.weight.sum((-2, -1), keepdims=True)

    def moment(self, p: int, q: int) -> FloatArray:
        """Weighted sum of u^p v^q, by stand."""
        return self.weight if p == q == 0 else self.places[..., POWERS.index((p, q)), :, :]

    def above(self, sums: FloatArray, side: int) -> FloatArray:
        """Sums over all stands beyond each step."""
        axis = side - 2
        beyond = np.flip(np.cumsum(np.flip(sums, axis), axis), axis)
        tail = np.delete(beyond, 0, axis)
        if self.is_levels[side]:
            return tail
        return np.concatenate([tail, np.zeros_like(np.take(sums, [0], axis))], axis)

    def within(self, sums: FloatArray, side: int) -> FloatArray:
        """Sums of the stand at each step's lower end, or in it: levels above the last have none."""
        return np.delete(sums, -1, side - 2) if self.is_levels[side] else sums

    def beside(self, sums: FloatArray, side: int) -> FloatArray:
        """Sums over the rows that count for each step."""
        if not self.is_levels[side]:
            return sums
        axis = side - 2
        return np.delete(sums, -1, axis) + np.delete(sums, 0, axis)

    def reach(self, p: int, q: int) -> FloatArray:
        """Mean of h_a^p h_b^q over the rows, shape (..., n_steps, n_steps); p, q up to 2.

        Where a power is 0, that side has one step.
        """
        first = [(0, self.above), (p, self.within)] if p else [(0, total_of)]
        second = [(0, self.above), (q, self.within)] if q else [(0, total_of)]
        parts = [
            along(across(self.moment(i, j), 0), 1) for i, across in first for j, along in second
        ]
        return np.asarray(sum(parts) / self.total)

    @cached_property
    def main_shares(self) -> tuple[FloatArray, FloatArray]:
        """Shares p and q: what main effects take of every unit difference; 0 where no row counts."""
        count_first = self.beside(self.weight, 0)
        first = self.above(count_first, 1) + self.within(self.beside(self.moment(0, 1), 0), 1)
        count_second = self.beside(self.weight, 1)
        second = self.above(count_second, 0) + self.within(self.beside(self.moment(1, 0), 1), 0)
        return (
            _share(first, count_first.sum(-1, keepdims=True)),
            _share(second, count_second.sum(-2, keepdims=True)),
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
        p, q = self.main_shares
        heights = _from_zero(_from_zero(steps, -2), -1)
        heights -= _from_zero((steps * p).sum(-1), -1)[..., :, None]
        heights -= _from_zero((steps * q).sum(-2), -1)[..., None, :]
        heights -= (steps * self.offsets).sum((-2, -1))[(..., None, None)]
        return heights

    def main_effects(self, steps: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Main effects of the accumulated surface itself, at the nodes of both sides."""
        p, q = self.main_shares
        return _from_zero((steps * p).sum(-1), -1), _from_zero((steps * q).sum(-2), -1)

    def mean_square(self, surface: FloatArray) -> FloatArray:
        """Mean square over the rows of a surface that is bilinear in every cell, shape (...,)."""
        square = sum(
            self.moment(*power) * factor for power, factor in square_in_cells(self.corners(surface))
        )
        return np.asarray(np.sum(square, axis=(-2, -1)) / self.total[..., 0, 0])

    def corners(self, surface: FloatArray) -> tuple[FloatArray, ...]:
        """Heights at the four corners around every stand: 00, 01, 10, 11."""
        for side in (0, 1):
            if self.is_levels[side]:  # there is no step above the last level, and no row in it
                last = np.take(surface, [-1], side - 2)
                surface = np.concatenate([surface, last], side - 2)
        low, high = slice(None, -1), slice(1, None)
        return tuple(surface[..., i, j] for i in (low, high) for j in (low, high))

    def noise(self, steps_variance: FloatArray) -> FloatArray:
        """Mean square over the rows that independent errors of the steps make, shape (...,)."""
        return np.asarray((self.squares * steps_variance).sum((-2, -1)))

    @cached_property
    def squares(self) -> FloatArray:
        """Mean square over the rows of every unit difference's pure effect: the diagonal of Q."""
        (p, q), c = self.main_shares, self.offsets
        return np.asarray(
            self.reach(2, 2)
            + p**2 * self.reach(2, 0)
            + q**2 * self.reach(0, 2)
            - 2 * p * self.reach(2, 1)
            - 2 * q * self.reach(1, 2)
            + 2 * p * q * self.reach(1, 1)
            - c**2
        )

    def products(self, first: IntArray, second: IntArray) -> FloatArray:
        """Mean products over the rows of the pure effects of unit differences: entries of Q.

        Parameters
        ----------
        first, second : ndarray of shape (n,) or any that broadcast
            Steps, numbered row by row. For one pair alone, not for several.
        """
        (p, q), c = self.main_shares, self.offsets
        n_steps = p.shape[-1]
        (a, b), (d, e) = np.divmod(first, n_steps), np.divmod(second, n_steps)
        pi, pj, qi, qj = p[a, b], p[d, e], q[a, b], q[d, e]
        x, y = np.maximum(a, d), np.maximum(b, e)
        same_x, same_y = a == d, b == e
        one, by_x, by_y = self.reach(1, 1), self.reach(2, 1), self.reach(1, 2)

        def both(
            i: IntArray, j: IntArray, sx: BoolArray | bool, sy: BoolArray | bool
        ) -> FloatArray:
            both_same = self.reach(2, 2)[i, j]
            plain = np.where(sx, by_x[i, j], one[i, j])
            return np.where(sy, np.where(sx, both_same, by_y[i, j]), plain)

        no = np.False_
        along_x = np.where(same_x, self.reach(2, 0)[x, 0], self.reach(1, 0)[x, 0])
        along_y = np.where(same_y, self.reach(0, 2)[0, y], self.reach(0, 1)[0, y])
        return np.asarray(
            both(x, y, same_x, same_y)
            - pj * both(x, b, same_x, no)
            - pi * both(x, e, same_x, no)
            - qj * both(a, y, no, same_y)
            - qi * both(d, y, no, same_y)
            + pi * pj * along_x
            + qi * qj * along_y
            + pi * qj * one[a, e]
            + qi * pj * one[d, b]
            - c[a, b] * c[d, e]
        )

    def unit_surfaces(self) -> FloatArray:
        """Pure effects of all unit differences at the nodes: (n_nodes * n_nodes, n_steps * n_steps)."""
        (p, q), c = self.main_shares, self.offsets
        n, m = p.shape
        up, along = _reached(n), _reached(m)  # (n_nodes, n_steps)
        both = up[:, None, :, None] * along[None, :, None, :]
        both = both - p * up[:, None, :, None] - q * along[None, :, None, :] - c
        return both.reshape((n + 1) * (m + 1), n * m)


def square_in_cells(
    corners: tuple[FloatArray, ...],
) -> list[tuple[tuple[int, int], FloatArray]]:
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


def total_of(sums: FloatArray, side: int) -> FloatArray:
    """Sum over one side, which keeps its place."""
    return np.asarray(sums.sum(side - 2, keepdims=True))


def _reached(n_steps: int) -> FloatArray:
    """Which nodes lie beyond each step."""
    return np.tri(n_steps + 1, n_steps, -1)


def _from_zero(steps: FloatArray, axis: int) -> FloatArray:
    """Cumulated sums along an axis, from zero at the first node."""
    before = [(0, 0)] * steps.ndim
    before[axis] = (1, 0)
    return np.pad(np.cumsum(steps, axis), before)


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
