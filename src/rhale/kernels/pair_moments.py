"""Sums of a pair of features: rows, where they stand, and their mixed differences, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.moments import check_magnitude
from rhale.kernels.pair_axis import CellPositions, PairAxis
from rhale.kernels.records import crosses_processes

# powers of the places (u on the first side, v on the second) whose sums are kept
POWERS = ((1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (2, 1), (1, 2), (2, 2))


@crosses_processes
@dataclass(frozen=True, eq=False)
class PairMoments:
    """What rows say about a pair, by where they stand.

    Attributes
    ----------
    count : ndarray of shape (n_stands, n_stands)
        Rows.
    weight, weight_squares : ndarray of shape (n_stands, n_stands)
        Sum of their weights and of the squares of these.
    places : ndarray of shape (8, n_stands, n_stands)
        Weighted sums of u^p v^q, with `POWERS`.
    mean : ndarray of shape (n_outputs, n_stands, n_stands, n_ways)
        Mean mixed difference over the steps that the rows count for: one between numbers; with
        levels, below and above (and each of these with each of the other side's); 0 where there
        is no such step.
    products : ndarray of shape (n_outputs, n_stands, n_stands, n_ways, n_ways)
        Weighted sums of products of deviations from these means.

    Notes
    -----
    `a + b` describes the rows of both.
    """

    count: IntArray
    weight: FloatArray
    weight_squares: FloatArray
    places: FloatArray
    mean: FloatArray
    products: FloatArray

    def __add__(self, other: PairMoments) -> PairMoments:
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        step = other.mean - self.mean
        lever = (self.weight * share)[..., None, None]
        return PairMoments(
            self.count + other.count,
            weight,
            self.weight_squares + other.weight_squares,
            self.places + other.places,
            self.mean + step * share[..., None],
            self.products + other.products + lever * (step[..., :, None] * step[..., None, :]),
        )

    def of_output(self, output: int) -> PairMoments:
        """Those of one output alone."""
        return self.of_outputs(slice(output, output + 1))

    def of_outputs(self, some: slice) -> PairMoments:
        """Those of some outputs."""
        return replace(self, mean=self.mean[some], products=self.products[some])

    @property
    def exponent(self) -> int:
        """The power of two next above all differences and deviations; 0 where there are none."""
        squares = np.einsum("...ii->...i", self.products)
        largest = max(np.abs(self.mean).max(initial=0.0), np.sqrt(squares.max(initial=0.0)))
        return int(np.frexp(largest)[1])

    def scaled(self, exponent: int) -> PairMoments:
        """The same rows with differences that are 2^exponent times as large."""
        mean, products = np.ldexp(self.mean, exponent), np.ldexp(self.products, 2 * exponent)
        return replace(self, mean=mean, products=products)

    def transposed(self) -> PairMoments:
        """The same pair, sides exchanged."""
        order = [POWERS.index((q, p)) for p, q in POWERS]
        # with levels on both sides ways are (first, second); 1 or 2 ways look alike either way
        n_ways = self.mean.shape[-1]
        ways = np.arange(4).reshape(2, 2).T.ravel() if n_ways == 4 else np.arange(n_ways)
        mean = self.mean.swapaxes(1, 2)[..., ways]
        products = self.products.swapaxes(1, 2)[..., ways, :][..., ways]
        return PairMoments(
            self.count.T,
            self.weight.T,
            self.weight_squares.T,
            self.places[order].swapaxes(1, 2),
            mean,
            products,
        )


def measure_pair(
    axes: tuple[PairAxis, PairAxis],
    standing: tuple[CellPositions, CellPositions],
    differences: FloatArray,
    weights: FloatArray | None = None,
) -> PairMoments:
    """Add up the mixed differences of rows by where they stand.

    Parameters
    ----------
    axes : pair of PairAxis
        The two sides.
    standing : pair of CellPositions
        Where the rows stand; those that stand nowhere on either side are left out.
    differences : ndarray of shape (n_outputs, n_rows, n_ways)
        Mixed differences over the steps that each row counts for.
    weights : ndarray of shape (n_rows,), optional
        How much each row matters; those with 0 are left out.

    Notes
    -----
    O(n_rows) time and memory.
    """
    (a, u), (b, v) = standing
    w = np.ones(a.size) if weights is None else weights
    known = np.flatnonzero((a >= 0) & (b >= 0) & (w > 0))
    a, b, u, v, w = a[known], b[known], u[known], v[known], w[known]
    shape = (axes[0].n_stands, axes[1].n_stands)
    cell, n_cells = a * shape[1] + b, shape[0] * shape[1]

    def total(values: FloatArray) -> FloatArray:
        return np.bincount(cell, values, n_cells).astype(np.float64)

    count, weight = np.bincount(cell, minlength=n_cells), total(w)
    places = np.stack([total(w * u**p * v**q) for p, q in POWERS])
    delta = differences[:, known]
    check_magnitude(delta)
    size = np.where(weight > 0, weight, 1.0)
    first = np.zeros(n_cells, dtype=np.intp)
    first[cell[::-1]] = np.arange(cell.size)[::-1]
    n_outputs, _, n_ways = differences.shape
    mean = np.zeros((n_outputs, n_cells, n_ways))
    products = np.zeros((n_outputs, n_cells, n_ways, n_ways))
    for o in range(n_outputs if cell.size else 0):
        anchor = delta[o, first]  # from a row's own value: equal differences deviate by nothing
        gap = delta[o] - anchor[cell]
        shift = np.stack([total(w * gap[:, k]) / size for k in range(n_ways)], axis=1)
        gap -= shift[cell]
        mean[o] = np.where((count > 0)[:, None], anchor + shift, 0.0)
        for k in range(n_ways):
            for m in range(k, n_ways):
                products[o, :, k, m] = products[o, :, m, k] = total(w * gap[:, k] * gap[:, m])
    return PairMoments(
        count.reshape(shape),
        weight.reshape(shape),
        total(w**2).reshape(shape),
        places.reshape(-1, *shape),
        mean.reshape(n_outputs, *shape, n_ways),
        products.reshape(n_outputs, *shape, n_ways, n_ways),
    )
