"""Order levels that have none by themselves: similar rows side by side (Apley and Zhu)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rhale.stats.arrays import FloatArray, IntArray

N_QUANTILES = 100


def order_levels_by_distance(distance: FloatArray) -> IntArray:
    """Put levels in a row so that similar ones are neighbours.

    `distance` (n_levels, n_levels): how different the rows of two levels are; symmetric, zero on
    the diagonal. Returns (n_levels,): the levels, in order; as they were if all distances are the
    same.

    Examples
    --------
    >>> place = np.array([0.0, 2.0, 1.0])
    >>> order_levels_by_distance(np.abs(place[:, None] - place))
    array([0, 2, 1])
    """
    # Classical multidimensional scaling to one dimension, as Apley and Zhu (2020) order levels: the
    # first eigenvector of the doubly centred squares. Its sign is arbitrary: the first level stands
    # in the first half. O(n_levels³).
    squares = distance**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    if len(distance) < 3 or np.sum(values > (1 - 1e-9) * values[-1]) > 1:
        return np.arange(len(distance))  # no direction is longer than all others
    coordinate = vectors[:, -1]
    if coordinate[0] > 0:
        coordinate = -coordinate
    return np.argsort(np.round(coordinate, 12), kind="stable")


def level_distances(
    level: IntArray,
    n_levels: int,
    numbers: Sequence[FloatArray],
    names: Sequence[IntArray],
    weight: FloatArray,
) -> FloatArray:
    """Measure how differently the other features are distributed among the rows of two levels.

    `level` (n_rows,): level of every row; `n_levels`: number of levels; each has rows; `numbers`
    (n_rows,): other features that are numbers; nan where missing; `names` (n_rows,): other
    features that are levels themselves, as codes from 0; `weight` (n_rows,): how often each row
    was seen, or how much it matters. Returns (n_levels, n_levels): sum over the features of the
    Kolmogorov-Smirnov distance at 100 quantiles, or of half the absolute difference of
    frequencies.
    """
    # O(n_rows n_features + n_levels² n_features).
    total = np.zeros((n_levels, n_levels))
    for column in numbers:
        known = np.isfinite(column)
        if known.any():
            # the largest difference of two levels' distribution functions, at quantiles of all rows
            values, heavy = column[known], weight[known]
            order = np.argsort(values, kind="stable")
            places = np.unique(compute_weighted_quantiles(values[order], heavy[order]))
            table = np.zeros((n_levels, places.size + 1))
            np.add.at(table, (level[known], np.searchsorted(places, values)), heavy)
            below = np.cumsum(_normalise_level_rows(table), axis=1)[:, :-1]
            total += np.array([np.abs(below - one).max(axis=1, initial=0.0) for one in below])
    for codes in names:
        # half the absolute difference of frequencies: total variation
        table = np.zeros((n_levels, int(codes.max(initial=0)) + 1))
        np.add.at(table, (level, codes), weight)
        share = _normalise_level_rows(table)
        total += [0.5 * np.abs(share - one).sum(axis=1) for one in share]
    return total


def _normalise_level_rows(table: FloatArray) -> FloatArray:
    """Each row of a table divided by its sum."""
    size = table.sum(axis=1, keepdims=True)
    return table / np.where(size > 0, size, 1.0)


def compute_weighted_quantiles(column: FloatArray, weight: FloatArray) -> FloatArray:
    """Quantiles of values in increasing order, each there as often as its weight says (type 7)."""
    end = np.cumsum(weight)
    place = (end[-1] - 1.0) * np.linspace(0.0, 1.0, N_QUANTILES)
    below = np.floor(place)
    last = column.size - 1
    low = column[np.minimum(np.searchsorted(end, below, side="right"), last)]
    high = column[np.minimum(np.searchsorted(end, below + 1.0, side="right"), last)]
    return np.asarray(low + (place - below) * (high - low))
