"""Questions to a model about pairs and partial dependences, and the predictions that answer them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rhale.interaction.moments import CellPositions, PairAxis
from rhale.stats.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class PairSide:
    """One feature, as rows are asked about it."""

    column: int
    axis: PairAxis  # its cells or levels
    positions: CellPositions  # where the rows stand
    # low, high: (n_rows,): what its value is replaced by, as `Chunk.column` has values: the limits
    # of the row's cell; of levels the one below and the one above, or the row's own where there is
    # none. Rows that stand nowhere keep their own value.
    low: FloatArray
    high: FloatArray

    @cached_property
    def width(self) -> FloatArray:
        """Width of each row's cell, of numbers; 0 for rows that stand nowhere."""
        stand = self.positions.cell
        return np.where(stand >= 0, self.axis.widths[np.maximum(stand, 0)], 0.0)


class PairReply(NamedTuple):
    """Differences of rows."""

    # (n_outputs, n_rows, n_ways): for each pair, the mixed differences over the steps that each
    # row counts for. Between numbers one: f(high, high) - f(high, low) - f(low, high) + f(low,
    # low). A side with levels has two ways, DOWN (0: from the level below to the row's own) and UP
    # (1: from its own to the one above); ways of two such sides are numbered way of the first * 2
    # + way of the second. 0 where there is no such step, and for rows that stand nowhere on either
    # side.
    mixed: Sequence[FloatArray]
    # (n_outputs, n_rows, n_ways): for each side, the differences along it alone, the other
    # features as they are
    single: Sequence[FloatArray]
    # (n_rows, n_outputs): answers for the rows as they are; None where they are not known on the
    # way
    answers: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class PairQuestion:
    """What is asked about a chunk: sides, and which of them make pairs."""

    sides: tuple[PairSide, ...]  # each feature once
    pairs: IntArray  # (n_pairs, 2): places among the sides


# --- Partial dependences at the rows that they are averaged over: one feature, two, all but one


@dataclass(frozen=True, eq=False)
class HeldPoints:
    """One column, held at each of some points in all rows: what curves along it are made of."""

    column: int  # the column in the table
    points: FloatArray  # (n_points,): its values, increasing


@dataclass(frozen=True, eq=False)
class DependenceQuestion:
    """Which partial dependences are asked for."""

    columns: tuple[int, ...]  # the features, by their columns in the table
    pairs: IntArray  # (n_pairs, 2): which two of them, by their places in `columns`
    shares: FloatArray  # (n_rows,): what each row counts for; they add up to 1

    def in_blocks(self, n_pairs: int) -> list[DependenceQuestion]:
        """The same question, some pairs at a time; at least one."""
        starts = range(0, max(len(self.pairs), 1), n_pairs)
        return [replace(self, pairs=self.pairs[start : start + n_pairs]) for start in starts]


@dataclass(frozen=True, eq=False)
class Dependences:
    """Partial dependences of some features and pairs, read at the rows themselves."""

    # (n_columns, n_outputs, n_rows): mean answer with one feature held at the row's value, less
    # its mean over the rows
    single: FloatArray
    rest: FloatArray  # (n_columns, n_outputs, n_rows): the same with all other features held
    pairs: IntArray  # (n_pairs, 2): which two of the columns, by their places in `single`
    # (n_pairs, n_outputs, n_rows): mean answer with both held, less the two of `single` and its
    # mean: what additive features lack
    pure: FloatArray


def normalise_row_weights(n_rows: int, weights: FloatArray | None) -> FloatArray:
    """What every row counts for in an average.

    Examples
    --------
    >>> normalise_row_weights(2, np.array([1.0, 3.0]))
    array([0.25, 0.75])
    """
    return np.full(n_rows, 1 / n_rows) if weights is None else weights / weights.sum()


def centre(values: FloatArray, shares: FloatArray) -> FloatArray:
    """Take the mean over the rows, the last axis, off; what is constant becomes exactly 0.

    Examples
    --------
    >>> centre(np.array([0.1, 0.1, 0.1]), np.full(3, 1 / 3)).tolist()
    [0.0, 0.0, 0.0]
    """
    first = values - values[..., :1]
    return np.asarray(first - (first @ shares)[..., None])
