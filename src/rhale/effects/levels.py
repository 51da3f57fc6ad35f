"""Levels: moments of the steps between neighbouring levels, and an order for levels without one."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rhale.effects.binning.moments import check_magnitude
from rhale.stats.arrays import FloatArray, IntArray, crosses_processes

# --- Steps between neighbouring levels: rows of a level moved one level down and one level up


DIRECTION_DOWN, DIRECTION_UP = 0, 1


@crosses_processes
@dataclass(frozen=True, eq=False)
class LevelMoments:
    """Weights, means and joint squares of the two steps of every row, level by level.

    `a + b` describes the rows of both.
    """

    count: IntArray  # (n_levels,): rows
    # weight, weight_squares (n_levels,): sum of the rows' weights and of their squares
    weight: FloatArray
    weight_squares: FloatArray
    # (n_outputs, n_levels, 2): mean change of the prediction from the level below to the row's
    # own, and from there to the level above; 0 where there is no such level
    mean: FloatArray
    # (n_outputs, n_levels, 2, 2): weighted sums of products of deviations from these means
    products: FloatArray

    def __add__(self, other: LevelMoments) -> LevelMoments:
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        lever, step = self.weight * share, other.mean - self.mean
        return LevelMoments(
            self.count + other.count,
            weight,
            self.weight_squares + other.weight_squares,
            self.mean + step * share[:, None],
            self.products + other.products + lever[:, None, None] * _outer(step),
        )

    def between(self, some: slice) -> LevelMoments:
        """Keep neighbouring levels, and no steps to others."""
        mean, products = self.mean[:, some].copy(), self.products[:, some].copy()
        for k, away in ((0, DIRECTION_DOWN), (-1, DIRECTION_UP)):
            mean[:, k, away] = products[:, k, away, :] = products[:, k, :, away] = 0.0
        return LevelMoments(
            self.count[some], self.weight[some], self.weight_squares[some], mean, products
        )

    @property
    def steps(self) -> LevelStepMoments:
        """What is known of every step: from the rows on both its sides; nothing where none are."""
        return join_steps((self,))


# which steps rows have, down and up: all of them, only up, only down, none
CLASSES = ((True, True), (False, True), (True, False), (False, False))


@crosses_processes
@dataclass(frozen=True, eq=False)
class LevelClasses:
    """Moments of rows, some of which are not moved down or not up: as in `CLASSES`."""

    classes: tuple[LevelMoments, ...]

    def __add__(self, other: LevelClasses) -> LevelClasses:
        return LevelClasses(tuple(map(operator.add, self.classes, other.classes)))

    @property
    def count(self) -> IntArray:
        """Rows of every level."""
        return np.asarray(sum(one.count for one in self.classes))

    @property
    def weight(self) -> FloatArray:
        """Their weight."""
        return np.asarray(sum(one.weight for one in self.classes))

    def between(self, some: slice) -> LevelClasses:
        """Keep neighbouring levels, and no steps to others."""
        return LevelClasses(tuple(one.between(some) for one in self.classes))

    @property
    def steps(self) -> LevelStepMoments:
        """What is known of every step, from the rows that have it."""
        return join_steps(self.classes)


def join_steps(classes: Sequence[LevelMoments]) -> LevelStepMoments:
    """What is known of every step, from the rows of one class or of all `CLASSES`."""
    low, high = slice(None, -1), slice(1, None)
    ups = downs = classes[0]
    if len(classes) > 1:
        ups, downs = classes[0] + classes[1], classes[0] + classes[2]
    # mean and squares of a step: rows of the level below, moved up, and of the level above, moved
    # down, merged as in `LevelMoments.__add__`
    weight = ups.weight[low] + downs.weight[high]
    squares = ups.weight_squares[low] + downs.weight_squares[high]
    rows = divide_or_zero(weight**2, squares)
    up, down = ups.mean[:, low, DIRECTION_UP], downs.mean[:, high, DIRECTION_DOWN]
    share = divide_or_zero(downs.weight[high], weight)
    mean = up + (down - up) * share
    squares = (
        ups.products[:, low, DIRECTION_UP, DIRECTION_UP]
        + downs.products[:, high, DIRECTION_DOWN, DIRECTION_DOWN]
    )
    squares = squares + ups.weight[low] * share * (down - up) ** 2
    free = np.where(rows - 1 > 1e-9, rows - 1, np.nan)
    std = np.sqrt(divide_or_zero(squares, weight) * rows / free)
    joint = np.zeros((len(mean), mean.shape[1], mean.shape[1]))
    # Steps are correlated, as a row may count for two of them: products of deviations from the mean
    # steps, summed over the rows that have both.
    k = np.arange(mean.shape[1])
    for one, directions in zip(classes, CLASSES, strict=False):
        ends = np.pad(mean, ((0, 0), (1, 1)))
        around = np.stack([ends[:, :-1], ends[:, 1:]], axis=-1)  # the steps on either side
        used = np.ones((mean.shape[1] + 1, 2)) * directions
        used[0, DIRECTION_DOWN] = used[-1, DIRECTION_UP] = 0.0
        gap = (one.mean - around) * used
        about = one.products + one.weight[:, None, None] * _outer(gap)
        about = about * divide_or_zero(one.weight_squares, one.weight)[:, None, None]
        own = np.zeros_like(joint)
        own[:, k, k] = (
            about[:, :-1, DIRECTION_UP, DIRECTION_UP] + about[:, 1:, DIRECTION_DOWN, DIRECTION_DOWN]
        )
        own[:, k[:-1], k[1:]] = own[:, k[1:], k[:-1]] = about[:, 1:-1, DIRECTION_DOWN, DIRECTION_UP]
        joint = joint + own
    size = np.sqrt(joint[:, k, k])
    size = np.where(size > 0, size, np.inf)
    correlation = joint / (size[:, :, None] * size[:, None, :])
    correlation[:, k, k] = 1.0
    return LevelStepMoments(
        ups.count[low] + downs.count[high], weight, rows, mean, std, correlation
    )


@dataclass(frozen=True, eq=False)
class LevelStepMoments:
    """Changes of the prediction between neighbouring levels."""

    # count, weight, rows (n_steps,): rows on both sides of a step, sum of their weights, effective
    # number
    count: IntArray
    weight: FloatArray
    rows: FloatArray
    # mean, std (n_outputs, n_steps): mean change of the prediction and its deviation between rows,
    # divisor n - 1; nan for one
    mean: FloatArray
    std: FloatArray
    correlation: FloatArray  # (n_outputs, n_steps, n_steps): of the mean steps


def measure_levels(
    level: IntArray,
    down: FloatArray,
    up: FloatArray,
    n_levels: int,
    weights: FloatArray | None = None,
) -> LevelMoments:
    """Measure the steps of rows, level by level.

    `level` (n_rows,): level of every row, from 0 to n_levels - 1; `down`, `up` (n_outputs,
    n_rows): change of the prediction from the level below, and to the level above; 0 at the ends;
    `weights` (n_rows,): how much each row matters.

    Examples
    --------
    >>> found = measure_levels(np.array([0, 1]), np.array([[0.0, 3.0]]), np.array([[1.0, 0.0]]), 2)
    >>> found.steps.mean
    array([[2.]])
    """
    # O(n_rows) time and memory.
    check_magnitude(down)
    check_magnitude(up)
    w = np.ones(level.size) if weights is None else weights

    def total(values: FloatArray) -> FloatArray:
        return np.bincount(level, values, n_levels).astype(np.float64)

    count = np.bincount(level, minlength=n_levels)
    weight, squares = total(w), total(w**2)
    size = np.where(weight > 0, weight, 1.0)
    steps = np.stack([down, up], axis=1)  # (n_outputs, 2, n_rows)
    # from a row's own value first: equal steps then deviate by exactly nothing
    first = np.zeros(n_levels, dtype=np.intp)
    first[level[::-1]] = np.arange(level.size)[::-1]
    anchor = steps[:, :, first] if level.size else np.zeros((len(down), 2, n_levels))
    gap = steps - anchor[:, :, level]
    shift = np.array([[total(w * g) / size for g in pair] for pair in gap])
    shift = shift.reshape(len(down), 2, n_levels)
    gap -= shift[:, :, level]
    products = np.empty((len(down), n_levels, 2, 2))
    for output, (below, above) in enumerate(gap):
        products[output, :, DIRECTION_DOWN, DIRECTION_DOWN] = total(w * below * below)
        products[output, :, DIRECTION_UP, DIRECTION_UP] = total(w * above * above)
        products[output, :, DIRECTION_DOWN, DIRECTION_UP] = products[
            output, :, DIRECTION_UP, DIRECTION_DOWN
        ] = total(w * below * above)
    mean = np.where(count > 0, anchor + shift, 0.0).transpose(0, 2, 1)
    return LevelMoments(count, weight, squares, mean, products)


def measure_classes(
    level: IntArray,
    down: FloatArray,
    up: FloatArray,
    n_levels: int,
    weights: FloatArray | None = None,
) -> LevelClasses:
    """Measure the steps of rows of which some are not moved down or up: nan there."""
    own = np.isnan(down[0]) + 2 * np.isnan(up[0])
    down, up = (np.where(np.isnan(one), 0.0, one) for one in (down, up))

    classes = []
    for place in range(len(CLASSES)):
        some = np.flatnonzero(own == place)
        w = None if weights is None else weights[some]
        classes.append(measure_levels(level[some], down[:, some], up[:, some], n_levels, w))
    return LevelClasses(tuple(classes))


def divide_or_zero(parts: FloatArray, wholes: FloatArray) -> FloatArray:
    """Quotients; 0 where there is nothing to divide by."""
    return np.divide(parts, wholes, out=np.zeros_like(parts), where=wholes > 0)


def _outer(pairs: FloatArray) -> FloatArray:
    """Products of the two numbers of every pair with each other."""
    return np.asarray(pairs[..., :, None] * pairs[..., None, :])


# --- Order levels that have none by themselves: similar rows side by side (Apley and Zhu)


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
