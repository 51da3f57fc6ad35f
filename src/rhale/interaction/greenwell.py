"""Greenwell's index, for comparison: how the variation along one feature varies along the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rhale.data import Chunk
from rhale.effects.local.profiles import partial_dependence
from rhale.effects.local.queries import BatchedModel
from rhale.interaction.h_statistic import ROUNDING_VARIANCE_SHARE
from rhale.interaction.pair_effect import PairIndex
from rhale.models.questions import centre, normalise_row_weights
from rhale.output.note import Note
from rhale.stats.arrays import FloatArray

GREENWELL_POINTS = 8  # of a number


@dataclass(frozen=True, eq=False)
class GridSide:
    """Values at which one feature is held.

    Attributes
    ----------
    column : int
        The column.
    values : ndarray of shape (n_points,)
        Increasing.
    is_levels : bool
        Whether they are levels, whose variation is a quarter of the range.
    """

    column: int
    values: FloatArray
    is_levels: bool = False

    def deviate(self, heights: FloatArray, axis: int) -> FloatArray:
        """Variation along the side: the standard deviation, of levels a quarter of the range."""
        if self.values.size < 2:
            return np.zeros(np.delete(heights.shape, axis))
        if self.is_levels:
            return np.asarray(np.ptp(heights, axis=axis) / 4)
        return np.asarray(np.std(heights, axis=axis, ddof=1))


@dataclass(frozen=True, eq=False)
class GreenwellIndices:
    """Greenwell's index of some pairs.

    Attributes
    ----------
    pairs : tuple of (int, int)
        Two columns each.
    strength : ndarray of shape (n_pairs, n_outputs)
        The index, in units of the output.
    importance : ndarray of shape (n_sides, n_outputs)
        Variation of each feature's own partial dependence over its points.
    variance : ndarray of shape (n_outputs,)
        Of the predictions of the rows.
    n_rows, n_asked : int
        Rows that are averaged over, and rows that the model was asked about.
    """

    pairs: tuple[tuple[int, int], ...]
    strength: FloatArray
    importance: FloatArray
    variance: FloatArray
    n_rows: int
    n_asked: int


def choose_grid_points(
    chunk: Chunk, column: int, *, is_levels: bool = False, n_points: int = GREENWELL_POINTS
) -> GridSide:
    """Choose points of a column: all levels, or values of rows at equal steps of their number.

    Notes
    -----
    Quantiles (k + ½) / n_points, as values that rows have; equal ones count once, missing ones not.
    """
    values = chunk.column(column)
    known = np.unique(values[~np.isnan(values)], return_counts=True)
    distinct, counts = known
    if is_levels or distinct.size <= n_points:
        return GridSide(column, distinct, is_levels)
    wanted = (np.arange(n_points) + 0.5) / n_points * counts.sum()
    places = np.searchsorted(np.cumsum(counts), wanted)
    return GridSide(column, distinct[np.unique(places)], is_levels)


def greenwell_indices(
    asker: BatchedModel,
    chunk: Chunk,
    sides: Sequence[GridSide],
    pairs: Sequence[tuple[int, int]],
    weights: FloatArray | None = None,
) -> GreenwellIndices:
    """Find Greenwell's index of pairs of features from two-way partial dependences.

    Parameters
    ----------
    asker : BatchedModel
        The model.
    chunk : Chunk
        The rows that partial dependences are averaged over; some hundreds.
    sides : sequence of GridSide
        The features and their points.
    pairs : sequence of (int, int)
        Columns to take together.
    weights : ndarray of shape (n_rows,), optional
        How much each row matters.

    Notes
    -----
    Greenwell, Boehmke, McCarthy (2018): the standard deviation along one feature of the standard
    deviation along the other of their partial dependence; both ways, averaged. A product of two
    gets less than its deviation, and more the farther its factors are from 0 on average: an index
    to compare with, not a size. The model is asked about one row for each row and point.
    """
    shares = normalise_row_weights(chunk.n_rows, weights)
    answers = centre(asker.predictor.predict(chunk.rows, chunk.n_rows).T, shares)
    variance = np.asarray(answers**2 @ shares)
    by_column = {side.column: side for side in sides}
    alone = [
        side.deviate(partial_dependence(asker, chunk, [(side.column, side.values)], shares), 1)
        for side in sides
    ]
    strength = np.zeros((len(pairs), len(asker.outputs)))
    for place, (first, second) in enumerate(pairs):
        strength[place] = find_index(asker, chunk, (by_column[first], by_column[second]), shares)
    is_rounding = strength**2 < ROUNDING_VARIANCE_SHARE * variance
    return GreenwellIndices(
        pairs=tuple(pairs),
        strength=np.where(is_rounding, 0.0, strength),
        importance=np.array(alone).reshape(len(sides), len(asker.outputs)),
        variance=variance,
        n_rows=chunk.n_rows,
        n_asked=chunk.n_rows * (1 + count_points(sides, pairs)),
    )


def find_index(
    asker: BatchedModel, chunk: Chunk, sides: tuple[GridSide, GridSide], shares: FloatArray
) -> FloatArray:
    """Index of one pair, for each output."""
    first, second = sides
    shape = first.values.size, second.values.size
    if 0 in shape:
        return np.zeros(len(asker.outputs))
    held = [
        (first.column, np.repeat(first.values, shape[1])),
        (second.column, np.tile(second.values, shape[0])),
    ]
    heights = partial_dependence(asker, chunk, held, shares).reshape(-1, *shape)
    ways = (
        second.deviate(first.deviate(heights, 1), 1),
        first.deviate(second.deviate(heights, 2), 1),
    )
    return (ways[0] + ways[1]) / 2


def count_points(sides: Sequence[GridSide], pairs: Sequence[tuple[int, int]]) -> int:
    """Points at which a model is asked about every row."""
    sizes = {side.column: side.values.size for side in sides}
    return sum(sizes.values()) + sum(sizes[first] * sizes[second] for first, second in pairs)


def conclude_greenwell(
    found: GreenwellIndices, names: Sequence[str], outputs: Sequence[str]
) -> tuple[PairIndex, ...]:
    """Make results of the indices: pairs first, outputs within.

    Parameters
    ----------
    found : GreenwellIndices
        The numbers.
    names : sequence of str
        Names of all columns of the table.
    outputs : sequence of str
        Names of the outputs.
    """
    return tuple(
        PairIndex(
            names=(names[first], names[second]),
            output=output,
            method="greenwell",
            strength=float(found.strength[i, o]),
            variance=float(found.variance[o]),
        )
        for i, (first, second) in enumerate(found.pairs)
        for o, output in enumerate(outputs)
    )


def tell_greenwell(found: GreenwellIndices) -> tuple[Note, ...]:
    """What a reader should know about all of them."""
    text = (
        f"Greenwell's index, of {found.n_rows:,} rows: how much the variation along one feature "
        "varies along the other, over rows that do not exist; it is no deviation of an effect, and "
        "its square no part of the variance"
    )
    return (Note("greenwell", text),)
