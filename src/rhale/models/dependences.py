"""Partial dependences at the rows that they are averaged over: one feature, two, all but one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rhale.stats.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class HeldPoints:
    """One column, held at each of some points in all rows: what curves along it are made of.

    Attributes
    ----------
    column : int
        The column in the table.
    points : ndarray of shape (n_points,)
        Its values, increasing.
    """

    column: int
    points: FloatArray


@dataclass(frozen=True, eq=False)
class DependenceQuestion:
    """Which partial dependences are asked for.

    Attributes
    ----------
    columns : tuple of int
        The features, by their columns in the table.
    pairs : ndarray of shape (n_pairs, 2)
        Which two of them, by their places in `columns`.
    shares : ndarray of shape (n_rows,)
        What each row counts for; they add up to 1.
    """

    columns: tuple[int, ...]
    pairs: IntArray
    shares: FloatArray

    def in_blocks(self, n_pairs: int) -> list[DependenceQuestion]:
        """The same question, some pairs at a time; at least one."""
        starts = range(0, max(len(self.pairs), 1), n_pairs)
        return [replace(self, pairs=self.pairs[start : start + n_pairs]) for start in starts]


@dataclass(frozen=True, eq=False)
class Dependences:
    """Partial dependences of some features and pairs, read at the rows themselves.

    Attributes
    ----------
    single : ndarray of shape (n_columns, n_outputs, n_rows)
        Mean answer with one feature held at the row's value, less its mean over the rows.
    rest : ndarray of shape (n_columns, n_outputs, n_rows)
        The same with all other features held.
    pairs : ndarray of shape (n_pairs, 2)
        Which two of the columns, by their places in `single`.
    pure : ndarray of shape (n_pairs, n_outputs, n_rows)
        Mean answer with both held, less the two of `single` and its mean: what additive features lack.
    """

    single: FloatArray
    rest: FloatArray
    pairs: IntArray
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
