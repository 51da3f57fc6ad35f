"""Pairs of features row by row: differences, surfaces and their averages, by the definition."""

from dataclasses import dataclass, replace

import numpy as np

from rhale.interaction.moments import PairAxis, find_filling, measure_pair
from rhale.interaction.strength import PairFit


def cells_of(x, n_cells, closed="left"):
    """An axis with about as many rows in every cell."""
    edges = np.quantile(x, np.linspace(0, 1, n_cells + 1), method="inverted_cdf")
    return PairAxis(np.unique(edges), closed=closed)


def levels_of(n_levels):
    return PairAxis(np.arange(float(n_levels)), tuple("abcdefgh"[:n_levels]))


@dataclass(frozen=True, eq=False)
class PairRows:
    """Values of two features, of a third, and weights."""

    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    axes: tuple
    weights: np.ndarray | None = None

    @property
    def w(self):
        return np.ones(self.x.size) if self.weights is None else self.weights

    @property
    def positions(self):
        return self.axes[0].locate(self.x), self.axes[1].locate(self.y)

    def take(self, rows):
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, x=self.x[rows], y=self.y[rows], z=self.z[rows], weights=weights)

    def ends(self, side):
        """For each way: lower and upper end of the step, whether there is one, and its number."""
        axis, stand = self.axes[side], np.maximum(self.positions[side].cell, 0)
        if not axis.is_levels:
            return [(axis.nodes[stand], axis.nodes[stand + 1], stand >= 0, stand)]
        last = axis.nodes.size - 1
        below, above = np.maximum(stand - 1, 0), np.minimum(stand + 1, last)
        down = (axis.nodes[below], axis.nodes[stand], stand > 0, stand - 1)
        return [down, (axis.nodes[stand], axis.nodes[above], stand < last, stand)]

    def differences(self, f):
        """Mixed differences of f(x, y, z) over the steps that rows count for, (1, n, n_ways)."""
        known = (self.positions[0].cell >= 0) & (self.positions[1].cell >= 0)
        found = []
        for low, high, has, _ in self.ends(0):
            for left, right, too, _ in self.ends(1):
                upper = f(high, right, self.z) - f(high, left, self.z)
                lower = f(low, right, self.z) - f(low, left, self.z)
                found.append(np.where(has & too & known, upper - lower, 0.0))
        return np.stack(found, axis=-1)[None]

    def measure(self, f):
        return measure_pair(self.axes, self.positions, self.differences(f), self.weights)

    def fit(self, f, **settings):
        return PairFit(self.axes, self.measure(f), **settings)


def step_means(rows, f):
    """Mean differences over all steps, and the weight of the rows that count, one by one."""
    shape = tuple(axis.n_steps for axis in rows.axes)
    total, weight = np.zeros(shape), np.zeros(shape)
    differences = rows.differences(f)[0]
    ways = [(one, other) for one in rows.ends(0) for other in rows.ends(1)]
    for way, (one, other) in enumerate(ways):
        for i in np.flatnonzero(one[2] & other[2]):
            step = one[3][i], other[3][i]
            total[step] += rows.w[i] * differences[i, way]
            weight[step] += rows.w[i]
    return np.divide(total, weight, out=np.zeros(shape), where=weight > 0), weight


def read_at(heights, stand, place):
    """Heights along the first axis, on the line between two nodes."""
    return heights[stand] * (1 - place) + heights[np.minimum(stand + 1, len(heights) - 1)] * place


def read_rows(rows, surface):
    """Heights of a surface where the rows stand."""
    (a, u), (b, v) = rows.positions
    return np.array([read_at(read_at(surface, a[i], u[i]), b[i], v[i]) for i in range(rows.x.size)])


def own_effect(rows, surface, side):
    """First-order effect of a surface along one side, step by step over the rows that count."""
    heights = surface if side == 0 else surface.T
    other = rows.positions[1 - side]
    axis, change = rows.axes[side], np.zeros(rows.axes[side].n_steps)
    weight = np.zeros_like(change)
    for _, _, has, step in rows.ends(side):
        for i in np.flatnonzero(has):
            low, high = (
                read_at(heights[step[i] + k], other.cell[i], other.place[i]) for k in (0, 1)
            )
            change[step[i]] += rows.w[i] * (high - low)
            weight[step[i]] += rows.w[i]
    mean = np.divide(change, weight, out=np.zeros(axis.n_steps), where=weight > 0)
    return np.concatenate([[0.0], np.cumsum(mean)])


def pure_surface(rows, steps):
    """Accumulate differences, take off first-order effects and the mean over the rows."""
    heights = np.zeros(tuple(n + 1 for n in steps.shape))
    heights[1:, 1:] = np.cumsum(np.cumsum(steps, 0), 1)
    pure = heights - own_effect(rows, heights, 0)[:, None] - own_effect(rows, heights, 1)[None]
    return pure - np.average(read_rows(rows, pure), weights=rows.w)


def fill_of(axes, weight):
    """What stands in for steps of weight 0."""
    nodes = tuple(axis.nodes[None] for axis in axes)
    sides = tuple(axis.is_levels for axis in axes)
    return find_filling(nodes, sides, weight[None] > 0, slopes=True)


def random_rows(kinds, n=60, seed=0, *, weighted=False):
    """Rows of two related features: numbers or levels."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = 0.6 * x + 0.8 * rng.normal(size=n)
    values, axes = [], []
    for value, kind in zip((x, y), kinds, strict=True):
        if kind == "numbers":
            axes.append(cells_of(value, 5))
        else:
            value = np.searchsorted(np.quantile(value, (0.3, 0.7)), value).astype(float)
            axes.append(levels_of(3))
        values.append(value)
    weights = rng.integers(1, 4, n).astype(float) if weighted else None
    return PairRows(*values, rng.normal(size=n), tuple(axes), weights)


KINDS = [("numbers", "numbers"), ("levels", "numbers"), ("numbers", "levels"), ("levels", "levels")]


def twisted(x, y, z):
    """A function whose pair interacts, and differently from row to row."""
    return np.sin(x) * y * (1 + z) + x**2 * z + np.cos(y)
