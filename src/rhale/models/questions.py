"""What is asked about pairs of features, and what comes back: differences of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rhale.interaction.moments import CellPositions, PairAxis
from rhale.stats.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class PairSide:
    """One feature, as rows are asked about it.

    Attributes
    ----------
    column : int
        Its column.
    axis : PairAxis
        Its cells or levels.
    standing : CellPositions
        Where the rows stand.
    low, high : ndarray of shape (n_rows,)
        What its value is replaced by, as `Chunk.column` has values: the limits of the row's cell;
        of levels the one below and the one above, or the row's own where there is none. Rows that
        stand nowhere keep their own value.
    """

    column: int
    axis: PairAxis
    standing: CellPositions
    low: FloatArray
    high: FloatArray

    @cached_property
    def width(self) -> FloatArray:
        """Width of each row's cell, of numbers; 0 for rows that stand nowhere."""
        stand = self.standing.cell
        return np.where(stand >= 0, self.axis.widths[np.maximum(stand, 0)], 0.0)


class PairReply(NamedTuple):
    """Differences of rows.

    Attributes
    ----------
    mixed : sequence of ndarray of shape (n_outputs, n_rows, n_ways)
        For each pair, the mixed differences over the steps that each row counts for. Between
        numbers one: f(high, high) - f(high, low) - f(low, high) + f(low, low). A side with levels
        has two ways, DOWN (0: from the level below to the row's own) and UP (1: from its own to
        the one above); ways of two such sides are numbered way of the first * 2 + way of the
        second. 0 where there is no such step, and for rows that stand nowhere on either side.
    single : sequence of ndarray of shape (n_outputs, n_rows, n_ways)
        For each side, the differences along it alone, the other features as they are.
    answers : ndarray of shape (n_rows, n_outputs) or None
        Answers for the rows as they are; None where they are not known on the way.
    """

    mixed: Sequence[FloatArray]
    single: Sequence[FloatArray]
    answers: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class PairQuestion:
    """What is asked about a chunk: sides, and which of them make pairs.

    Attributes
    ----------
    sides : tuple of PairSide
        Each feature once.
    pairs : ndarray of shape (n_pairs, 2)
        Places among the sides.
    """

    sides: tuple[PairSide, ...]
    pairs: IntArray
