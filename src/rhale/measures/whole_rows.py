"""Whole rows with the smallest keys, for definitions that combine every row with every other one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rhale.features.survey import rows_keys
from rhale.kernels import FloatArray
from rhale.kernels.records import crosses_processes
from rhale.kernels.sample import KeyArray
from rhale.tables import Chunk


@crosses_processes
@dataclass(frozen=True, eq=False)
class WholeRows:
    """Some rows of a table.

    Attributes
    ----------
    key : ndarray of shape (n_rows,)
        Their keys.
    weight : ndarray of shape (n_rows,)
        How much each matters.
    chunk : Chunk
        The rows.
    """

    key: KeyArray
    weight: FloatArray
    chunk: Chunk

    def __add__(self, other: WholeRows) -> WholeRows:
        return WholeRows(
            np.concatenate([self.key, other.key]),
            np.concatenate([self.weight, other.weight]),
            self.chunk.join(other.chunk),
        )

    def first(self, n_rows: int) -> WholeRows:
        """Those with the smallest keys, at most so many, in the order of the keys."""
        some = np.argsort(self.key, kind="stable")[:n_rows]
        return WholeRows(self.key[some], self.weight[some], self.chunk.take(some))


@dataclass(frozen=True, eq=False)
class WholeRowsTask:
    """The task of a pass that keeps the rows with keys up to some last one."""

    last_key: np.uint64
    seed: int

    def __call__(self, chunk: Chunk) -> WholeRows:
        """Keep some rows of a chunk."""
        key = rows_keys(chunk, self.seed)
        some = np.flatnonzero(key <= self.last_key)
        kept = chunk.take(some)
        weight = np.ones(some.size) if kept.weights is None else kept.weights
        return WholeRows(key[some], weight, kept)
