"""Trees that answer: what is done before and after walking them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.models.sklearn import log_odds
from rhale.models.trees.links import LINKS
from rhale.models.trees.pipeline import MIXED
from rhale.models.trees.reading import Reading
from rhale.tables import Chunk, as_matrix
from rhale.tables.chunk import Change

RAW = ("margin", "decision_function")


@dataclass(frozen=True, eq=False)
class TreeWalker:
    """Trees, and what is done before and after walking them.

    Attributes
    ----------
    reading : Reading
        The trees and their link.
    response : str
        Which answer: raw sums, or after the link.
    is_pair : bool
        Whether one probability becomes two outputs.
    """

    reading: Reading
    response: str
    is_pair: bool

    def walk(self, chunk: Chunk, changes: Sequence[Change]) -> FloatArray:
        """Answers of all outputs, each for one column replaced: (n_changes, n_rows, n_outputs)."""
        found = self.reading
        rows, values = self.inputs(chunk, changes)
        columns = np.array([c for c, _ in changes], dtype=np.int64)
        features = columns if found.columns is None else found.columns[columns]
        return self.sums(rows, features, values)

    def sees(self, column: int) -> bool:
        """Whether a column goes its own way to the trees, so that changes of it can be walked."""
        return self.reading.columns is None or int(self.reading.columns[column]) != MIXED

    def predict(self, rows: Any) -> FloatArray:
        """Answers for rows as they are, shape (n_rows, n_outputs)."""
        matrix = self.matrix(rows)
        nothing_new = np.ascontiguousarray(matrix[:, 0])[None]
        return np.asarray(self.sums(matrix, np.zeros(1, dtype=np.int64), nothing_new)[0])

    def sums(self, rows: FloatArray, features: IntArray, values: FloatArray) -> FloatArray:
        """Walk, and turn sums of leaves into answers."""
        from rhale.models.trees.walk import walk

        return self.link(walk(self.reading.forest, rows, features, values, self.reading.base))

    def matrix(self, rows: Any) -> FloatArray:
        """The user's rows as the trees see them."""
        transform = self.reading.transform
        matrix = numbers_of(rows if transform is None else transform(rows))
        is_missing = self.stands_for_missing(matrix)
        return matrix if is_missing is None else np.where(is_missing, np.nan, matrix)

    def stands_for_missing(self, values: FloatArray) -> BoolArray | None:
        """Which values the library takes for missing ones; None if only nan is."""
        if np.isnan(self.reading.missing):
            return None
        with np.errstate(over="ignore"):
            seen = values.astype(np.float32) if self.reading.forest.is_single else values
        return np.asarray(seen == self.reading.missing)

    def inputs(self, chunk: Chunk, changes: Sequence[Change]) -> tuple[FloatArray, FloatArray]:
        """Rows and changed values as the trees see them."""
        values = np.empty((len(changes), chunk.n_rows))
        if self.reading.transform is None:
            for i, (column, new) in enumerate(changes):
                values[i] = chunk.representable(column, new)
            is_missing = self.stands_for_missing(values)
            if is_missing is not None:
                values[is_missing] = np.nan
        else:
            self.transform(chunk, changes, values)
        return self.matrix(chunk.rows), values

    def transform(self, chunk: Chunk, changes: Sequence[Change], values: FloatArray) -> None:
        """Send changes through the steps before the trees, one change of every column at a time."""
        columns, left = self.reading.columns, list(range(len(changes)))
        assert columns is not None  # noqa: S101 - our own mistake
        while left:
            layer = {changes[i][0]: i for i in reversed(left)}  # the first of each column
            rows = self.matrix(chunk.substitute([changes[i] for i in layer.values()]))
            for column, i in layer.items():
                values[i] = rows[:, columns[column]]
            left = [i for i in left if i not in layer.values()]

    def link(self, sums: FloatArray) -> FloatArray:
        """Turn sums of leaves into the model's answers."""
        if self.response in RAW:
            return sums if self.reading.raw_factor == 1 else sums * self.reading.raw_factor
        answers = LINKS[self.reading.link](sums, self.reading.alpha)
        answers = np.concatenate([1 - answers, answers], axis=-1) if self.is_pair else answers
        return log_odds(answers) if self.response == "log_odds" else answers


def numbers_of(rows: Any) -> FloatArray:
    """What a step gives, as a matrix of floats."""
    dense = rows.toarray() if hasattr(rows, "toarray") else rows
    return np.ascontiguousarray(as_matrix(dense), dtype=np.float64)
