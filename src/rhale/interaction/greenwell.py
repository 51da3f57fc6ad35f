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
from rhale.models.dependences import centre, normalise_row_weights
from rhale.output.note import Note
from rhale.stats.arrays import FloatArray

GREENWELL_POINTS = 8  # of a number


@dataclass(frozen=True, eq=False)
class GridSide:
    """Values at which one feature is held."""

    column: int  # the column
    values: FloatArray  # (n_points,): increasing
    is_levels: bool = False  # whether they are levels, whose variation is a quarter of the range

    def deviate(self, heights: FloatArray, axis: int) -> FloatArray:
        """Variation along the side: the standard deviation, of levels a quarter of the range."""
        if self.values.size < 2:
            return np.zeros(np.delete(heights.shape, axis))
        if self.is_levels:
            return np.asarray(np.ptp(heights, axis=axis) / 4)
        return np.asarray(np.std(heights, axis=axis, ddof=1))


@dataclass(frozen=True, eq=False)
class GreenwellIndices:
    """Greenwell's index of some pairs."""

    pairs: tuple[tuple[int, int], ...]  # two columns each
    strength: FloatArray  # (n_pairs, n_outputs): the index, in units of the output
    # (n_sides, n_outputs): variation of each feature's own partial dependence over its points
    importance: FloatArray
    variance: FloatArray  # (n_outputs,): of the predictions of the rows
    # n_rows, n_asked: rows that are averaged over, and rows that the model was asked about
    n_rows: int
    n_asked: int


def choose_grid_points(
    chunk: Chunk, column: int, *, is_levels: bool = False, n_points: int = GREENWELL_POINTS
) -> GridSide:
    """Choose points of a column: all levels, or values of rows at equal steps of their number."""
    # Quantiles (k + ½) / n_points, as values that rows have; equal ones count once, missing ones
    # not.
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

    Shapes: `weights` (n_rows,).
    """
    # Greenwell, Boehmke, McCarthy (2018): the standard deviation along one feature of the
    # standard deviation along the other of their partial dependence; both ways, averaged. A
    # product of two gets less than its deviation, and more the farther its factors are from 0 on
    # average: an index to compare with, not a size. The model is asked about one row for each row
    # and point.
    shares = normalise_row_weights(chunk.n_rows, weights)
    answers = centre(asker.predictor.predict(chunk.rows, chunk.n_rows).T, shares)
    variance = np.asarray(answers**2 @ shares)
    by_column = {side.column: side for side in sides}
    sizes = {side.column: side.values.size for side in sides}
    n_points = sum(sizes.values()) + sum(sizes[first] * sizes[second] for first, second in pairs)
    alone = [
        side.deviate(partial_dependence(asker, chunk, [(side.column, side.values)], shares), 1)
        for side in sides
    ]
    strength = np.zeros((len(pairs), len(asker.outputs)))
    for place, columns in enumerate(pairs):
        first, second = (by_column[column] for column in columns)
        shape = first.values.size, second.values.size
        if 0 in shape:
            continue
        held = [
            (first.column, np.repeat(first.values, shape[1])),
            (second.column, np.tile(second.values, shape[0])),
        ]
        heights = partial_dependence(asker, chunk, held, shares).reshape(-1, *shape)
        # the variation along one feature of the variation along the other; both orders, averaged
        orders = (
            second.deviate(first.deviate(heights, 1), 1),
            first.deviate(second.deviate(heights, 2), 1),
        )
        strength[place] = (orders[0] + orders[1]) / 2
    is_rounding = strength**2 < ROUNDING_VARIANCE_SHARE * variance
    return GreenwellIndices(
        pairs=tuple(pairs),
        strength=np.where(is_rounding, 0.0, strength),
        importance=np.array(alone).reshape(len(sides), len(asker.outputs)),
        variance=variance,
        n_rows=chunk.n_rows,
        n_asked=chunk.n_rows * (1 + n_points),
    )


def conclude_greenwell(
    found: GreenwellIndices, names: Sequence[str], outputs: Sequence[str]
) -> tuple[PairIndex, ...]:
    """Make results of the indices: pairs first, outputs within."""
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


def note_greenwell(found: GreenwellIndices) -> tuple[Note, ...]:
    """What a reader should know about all of them."""
    text = (
        f"Greenwell's index, of {found.n_rows:,} rows: how much the variation along one feature "
        "varies along the other, over rows that do not exist; it is no deviation of an effect, and "
        "its square no part of the variance"
    )
    return (Note("greenwell", text),)
