"""Partial dependences at the rows that they are averaged over: one feature, two, all but one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rhale.stats.arrays import FloatArray, IntArray


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
