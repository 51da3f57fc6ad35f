"""Levels of a column: which numbers stand for them, and which level a row has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rhale.kernels import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Levels:
    """Levels of a feature in order, some of them perhaps pooled into one.

    Attributes
    ----------
    names : tuple of str
        What to call them.
    places : ndarray of shape (n_levels,)
        The number that `Chunk.column` has for each; nan for the pooled ones together.
    is_number : bool
        Whether these numbers are values.
    has_order : bool
        Whether the order means something: declared, given or that of numbers.
    pooled, pooled_weight : ndarray of shape (n_pooled,)
        Numbers and weights of the levels that stand together as one.
    pooled_names : tuple of str
        What to call those.
    """

    names: tuple[str, ...]
    places: FloatArray
    is_number: bool = False
    has_order: bool = True
    pooled: FloatArray | None = None
    pooled_weight: FloatArray | None = None
    pooled_names: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Number of levels."""
        return len(self.names)

    @property
    def edges(self) -> FloatArray:
        """Where the levels stand on an axis."""
        return self.places if self.is_number else np.arange(self.size, dtype=np.float64)

    @cached_property
    def _table(self) -> tuple[FloatArray, IntArray]:
        """All numbers in increasing order, and the level of each."""
        level = np.arange(self.size)
        places = self.places
        if self.pooled is not None:
            other = int(np.flatnonzero(np.isnan(places))[0])
            places = np.concatenate([places, self.pooled])
            level = np.concatenate([level, np.full(self.pooled.size, other)])
        order = np.argsort(places)  # nan comes last
        order = order[: int(np.sum(~np.isnan(places)))]
        return places[order], level[order]

    def locate(self, x: FloatArray) -> IntArray:
        """Level of every value; -1 where it is missing or none of them.

        Examples
        --------
        >>> Levels(("b", "a"), np.array([1.0, 0.0])).locate(np.array([0.0, 1.0, np.nan]))
        array([ 1,  0, -1])
        """
        places, level = self._table
        found = np.minimum(np.searchsorted(places, x), places.size - 1)
        return np.where(places[found] == x, level[found], -1)

    def stand(self, level: IntArray) -> FloatArray:
        """Where levels stand on the axis; nan for none."""
        return np.where(level < 0, np.nan, self.edges[level])

    def at(self, level: IntArray, chance: FloatArray) -> FloatArray:
        """Numbers that stand for levels; for the pooled ones one of them, as often as it is.

        Parameters
        ----------
        level : ndarray of shape (n_rows,)
            Levels.
        chance : ndarray of shape (n_rows,)
            Numbers in [0, 1) that choose among the pooled ones.
        """
        places = self.places[level]
        if self.pooled is None or self.pooled_weight is None:
            return places
        up_to = np.cumsum(self.pooled_weight) / self.pooled_weight.sum()
        drawn = self.pooled[
            np.minimum(np.searchsorted(up_to, chance, "right"), self.pooled.size - 1)
        ]
        return np.where(np.isnan(places), drawn, places)
