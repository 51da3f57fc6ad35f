"""What splits would explain: histograms of residuals over codes and cells, and gains of cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.region_codes import Codes
from rhale.kernels.residuals import Residuals, Some

REGION_WEIGHT_ROUNDING = 1e-12  # of a weight: what rounding leaves of it


@dataclass(frozen=True, eq=False)
class Histogram:
    """Weights, and weighted sums of residuals, of any groups of rows and cells of the features.

    Attributes
    ----------
    weight : ndarray of shape (..., n_cells)
        Weights.
    sums : ndarray of shape (n_series, ..., n_cells)
        Weighted sums of residuals.
    """

    weight: FloatArray
    sums: FloatArray

    def __add__(self, other: Histogram) -> Histogram:
        return Histogram(self.weight + other.weight, self.sums + other.sums)

    def __sub__(self, other: Histogram) -> Histogram:
        return Histogram(self.weight - other.weight, self.sums - other.sums)

    def __getitem__(self, groups: Any) -> Histogram:
        groups = groups if isinstance(groups, tuple) else (groups,)
        return Histogram(self.weight[groups], self.sums[(slice(None), *groups)])

    def total(self, axis: int = -2) -> Histogram:
        """Add up groups."""
        return Histogram(self.weight.sum(axis=axis), self.sums.sum(axis=axis))

    def cumulate(self, axis: int = -2) -> Histogram:
        """Add up groups one after the other."""
        return Histogram(self.weight.cumsum(axis=axis), self.sums.cumsum(axis=axis))


def fill_one(residuals: Residuals, some: Some, group: IntArray, n_groups: int) -> Histogram:
    """Fill the histogram of one grouping of some effects, shape (n_groups, n_cells)."""
    weight = residuals.weight[some]
    key = group * residuals.n_cells + residuals.cell[some]
    shape = (n_groups, residuals.n_cells)
    columns = [weight, *(weight * v for v in residuals.values[:, some])]
    size = n_groups * residuals.n_cells
    filled = np.stack([np.bincount(key, c, size).reshape(shape) for c in columns]).astype(float)
    return Histogram(filled[0], filled[1:])


def fill(residuals: Residuals, some: IntArray, codes: Codes, splitters: IntArray) -> Histogram:
    """Fill the histograms of several splitters, shape (n_splitters, n_codes, n_cells).

    Notes
    -----
    The last code is that of missing values, for all splitters alike.
    O(n_effects n_splitters).
    """
    n_codes = int(codes.n_cells[splitters].max(initial=1)) + 1
    shape = (splitters.size, n_codes, residuals.n_cells)
    weight, base, rows = residuals.weight[some], residuals.cell[some], residuals.row[some]
    columns = [weight, *(weight * v for v in residuals.values[:, some])]
    filled = np.empty((len(columns), *shape))
    for place, k in enumerate(splitters):
        key = codes.codes[k].take(rows) * np.intp(residuals.n_cells) + base
        for column, one in zip(columns, filled, strict=True):
            counted = np.bincount(key, column, n_codes * residuals.n_cells)
            one[place] = counted.reshape(shape[1:])
    own = codes.n_cells[splitters]
    for short in np.flatnonzero(own < n_codes - 1):
        filled[:, short, -1] = filled[:, short, own[short]]
        filled[:, short, own[short]] = 0.0
    return Histogram(filled[0], filled[1:])


def gain_between(first: Histogram, total: Histogram, factor: FloatArray) -> FloatArray:
    """Sum of squares between the groups that go first and the others, without that of steps.

    Notes
    -----
    $G$ of the design of regions (docs/design.md), for weights that add up to 1.
    """
    rest = total - first
    least = REGION_WEIGHT_ROUNDING * total.weight
    both = (first.weight > least) & (rest.weight > least)
    one, other = np.where(both, first.weight, 1.0), np.where(both, rest.weight, 1.0)
    apart = first.sums / one - rest.sums / other
    square = apart[0] ** 2 - (apart[1:] ** 2).sum(axis=0)
    shared = np.where(both, factor * one * other / (one + other), 0.0)
    return np.asarray((shared * square).sum(axis=-1))


def squares(histogram: Histogram, factor: FloatArray) -> FloatArray:
    """Sum of squares of the groups' means, without that of steps."""
    mass = np.where(histogram.weight > 0, histogram.weight, 1.0)
    own, steps = histogram.sums[0] ** 2, (histogram.sums[1:] ** 2).sum(axis=0)
    return np.asarray((factor * (own - steps) / mass).sum(axis=-1))
