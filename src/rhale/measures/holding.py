"""Ask a model with some columns held at given values in all rows, and average its answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.measures.questions import BatchedModel, Question
from rhale.tables import Chunk
from rhale.tables.chunk import Change


@dataclass(frozen=True, eq=False)
class HeldQuestion:
    """What a model was asked, put into words only if something goes wrong."""

    changes: Question

    def __str__(self) -> str:
        return (
            f"{self.changes}, in rows that have other values of it (partial dependences combine "
            "values of different rows; method='ale' stays near the rows)"
        )


def partial_dependence(
    asker: BatchedModel, chunk: Chunk, held: Sequence[Change], shares: FloatArray
) -> FloatArray:
    """Mean answers over all rows with columns held at each of some points: partial dependence.

    Parameters
    ----------
    asker : BatchedModel
        The model.
    chunk : Chunk
        The rows.
    held : sequence of (column, values)
        Columns, and their values at the points, shape (n_points,).
    shares : ndarray of shape (n_rows,)
        What each row counts for; they add up to 1.

    Returns
    -------
    ndarray of shape (n_outputs, n_points)

    Notes
    -----
    n_points x n_rows rows are asked, as many points in one call as the batch holds.
    """

    def build(points: IntArray, rows: IntArray) -> Any:
        return chunk.take(rows).substitute([(c, values[points]) for c, values in held])

    question = HeldQuestion(Question(held, asker.names, chunk))
    return average_predictions(asker, len(held[0][1]), shares, build, question)


def complement_dependence(
    asker: BatchedModel, chunk: Chunk, column: int, shares: FloatArray
) -> FloatArray:
    """Mean answers for each row over the values that a column has in all rows, all else held.

    Returns
    -------
    ndarray of shape (n_outputs, n_rows)
    """
    values = chunk.column(column)

    def build(points: IntArray, rows: IntArray) -> Any:
        return chunk.take(points).substitute([(column, values[rows])])

    question = HeldQuestion(Question([(column, values)], asker.names, chunk))
    return average_predictions(asker, chunk.n_rows, shares, build, question)


def average_predictions(
    asker: BatchedModel,
    n_points: int,
    shares: FloatArray,
    build: Callable[[IntArray, IntArray], Any],
    question: object,
) -> FloatArray:
    """Average answers over the rows, for blocks of points; `build` makes rows for points x rows."""
    n_rows = shares.size
    at_once = asker.copies_at_once(n_rows)
    means = np.empty((len(asker.outputs), n_points))
    for start in range(0, n_points, at_once):
        points = np.arange(start, min(start + at_once, n_points))
        rows = build(np.repeat(points, n_rows), np.tile(np.arange(n_rows), points.size))
        answer = asker.predictor.predict(rows, points.size * n_rows, question)
        blocks = answer.reshape(points.size, n_rows, -1)
        means[:, points] = np.einsum("pro,r->op", blocks, shares)
    return means
