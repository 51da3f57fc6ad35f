"""Tables, weights, cells and small models for the laws."""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

seeds = st.integers(0, 2**32 - 1)
generators = seeds.map(np.random.default_rng)


@dataclass(frozen=True, eq=False)
class Rows:
    """Feature values, local effects and weights of some rows."""

    x: np.ndarray
    d: np.ndarray
    weights: np.ndarray | None = None

    @property
    def n(self):
        return self.x.size

    @property
    def w(self):
        return np.ones(self.n) if self.weights is None else self.weights

    def take(self, rows):
        weights = None if self.weights is None else self.weights[rows]
        return Rows(self.x[rows], self.d[rows], weights)

    def times(self, factor):
        return replace(self, d=self.d * factor)

    def pieces(self, rng):
        """Cut the rows, in random order, into pieces of random sizes."""
        order = rng.permutation(self.n)
        cuts = np.sort(rng.integers(0, self.n + 1, size=rng.integers(0, 6)))
        return [self.take(part) for part in np.split(order, cuts)]


FEATURES = {
    "uniform": lambda rng, n: rng.uniform(-2, 3, n),
    "skewed": lambda rng, n: rng.lognormal(0, 1.5, n),
    "whole": lambda rng, n: rng.integers(-4, 9, n).astype(float),
    "piled": lambda rng, n: np.where(rng.random(n) < 0.6, 0.0, rng.uniform(-1, 1, n)),
    "far away": lambda rng, n: 1.7e9 + rng.uniform(0, 1e5, n),
    "tiny": lambda rng, n: 1e-9 * rng.normal(0, 1, n),
}
EFFECTS = {
    "noise": lambda rng, x: rng.normal(0, 1, x.size),
    "step": lambda rng, x: np.where(x < np.median(x), -1.0, 2.0) + rng.normal(0, 0.1, x.size),
    "line": lambda rng, x: 3 * _unit(x) + rng.normal(0, 0.3, x.size),
    "fan": lambda rng, x: (0.1 + _unit(x)) * rng.normal(0, 2, x.size),
    "offset": lambda rng, x: 1e6 + rng.normal(0, 1, x.size),
    "large": lambda rng, x: 1e12 * rng.normal(0, 1, x.size),
}
WEIGHTS = {
    "none": lambda rng, n: None,  # noqa: ARG005
    "mild": lambda rng, n: rng.uniform(0.5, 2, n),
    "wild": lambda rng, n: rng.lognormal(0, 2, n),
    "whole": lambda rng, n: rng.integers(1, 5, n).astype(float),
}


def _unit(x):
    return (x - x.min()) / max(float(np.ptp(x)), 1e-300)


@st.composite
def tables(draw, *, least=2, most=200, weighted=None, kinds=tuple(FEATURES), values=tuple(EFFECTS)):
    """Rows with at least two different feature values."""
    rng, n = draw(generators), draw(st.integers(least, most))
    x = FEATURES[draw(st.sampled_from(kinds))](rng, n)
    if np.ptp(x) == 0.0:
        x[0] = x[0] + max(abs(x[0]), 1.0)
    kind = draw(st.sampled_from(list(WEIGHTS))) if weighted is None else weighted
    return Rows(x, EFFECTS[draw(st.sampled_from(values))](rng, x), WEIGHTS[kind](rng, n))


@st.composite
def cell_edges(draw, rows, *, most=12):
    """Limits of cells over the rows; some are feature values, some cells may be empty."""
    rng = draw(generators)
    low, high = rows.x.min(), rows.x.max()
    inner = np.concatenate(
        [rng.uniform(low, high, rng.integers(0, most // 2)), rng.choice(rows.x, most // 3)]
    )
    edges = np.unique(np.concatenate([[low], inner, [high]]))
    return edges[np.append(True, np.diff(edges) > 1e-9 * (high - low))]


@st.composite
def filled_bins(draw, *, most=8, least_rows=3):
    """Bins with several rows each, as limits and rows."""
    rng, n_bins = draw(generators), draw(st.integers(1, most))
    edges = np.cumsum(np.append(rng.normal(), rng.uniform(0.2, 2, n_bins)))
    counts = rng.integers(least_rows, 30, n_bins)
    inside = [rng.uniform(a, b, n) for a, b, n in zip(edges, edges[1:], counts, strict=False)]
    x = np.concatenate([*inside, edges[[0, -1]]])
    level = np.repeat(rng.normal(0, 2, n_bins), counts)
    d = np.concatenate([level, level[[0, -1]]]) + rng.normal(0, 1, x.size)
    weights = WEIGHTS[draw(st.sampled_from(["none", "mild"]))](rng, x.size)
    return edges, Rows(x, d, weights)


@dataclass(frozen=True, eq=False)
class Polynomial:
    """f = sum of a_i x_i + b_i x_i² + c x_0 x_1: sums of products, the same bits in any batch."""

    linear: np.ndarray
    square: np.ndarray
    product: float = 0.0

    def predict(self, rows):
        columns = np.asarray(rows, dtype=np.float64).T
        total = np.zeros(columns.shape[1])
        for a, b, x in zip(self.linear, self.square, columns, strict=True):
            total = total + (a * x + b * (x * x))
        return total + self.product * (columns[0] * columns[1])

    def gradient(self, rows):
        columns = np.asarray(rows, dtype=np.float64).T
        slopes = [a + 2 * b * x for a, b, x in zip(self.linear, self.square, columns, strict=True)]
        slopes[0] = slopes[0] + self.product * columns[1]
        slopes[1] = slopes[1] + self.product * columns[0]
        return np.column_stack(slopes)


@st.composite
def models(draw, *, n_features=3, curved=True, interaction=True):
    """Small models with a gradient."""
    rng = draw(generators)
    square = rng.normal(0, 1, n_features) if curved else np.zeros(n_features)
    product = float(rng.normal(0, 2)) if interaction else 0.0
    return Polynomial(rng.normal(0, 1, n_features), square, product)


@st.composite
def matrices(draw, *, n_features=3, least=40, most=400):
    """Tables of several features, some of them whole numbers."""
    rng, n = draw(generators), draw(st.integers(least, most))
    columns = [rng.normal(0, 1, n) for _ in range(n_features)]
    columns[-1] = rng.integers(0, 7, n).astype(float)
    columns[-1][:2] = 0, 6
    return np.column_stack(columns)
