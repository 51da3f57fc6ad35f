"""The task of the second pass: model and chunk in, mergeable moments out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.grid import Grid
from rhale.kernels.moments import Moments, measure
from rhale.kernels.sample import Sample
from rhale.local.secant import SecantPlan, secants
from rhale.models import Predictor
from rhale.tables import Chunk
from rhale.tables.survey import keep, rows_to_keep


@dataclass(frozen=True, eq=False)
class Measured:
    """What one or more chunks have to say.

    Attributes
    ----------
    cells : tuple of Moments
        One per feature.
    sample : Sample
        Predictions and local effects of a bounded number of rows.
    asked : int
        Rows that the model was asked about.
    """

    cells: tuple[Moments, ...]
    sample: Sample
    asked: int

    def __add__(self, other: Measured) -> Measured:
        cells = tuple(a + b for a, b in zip(self.cells, other.cells, strict=True))
        return Measured(cells, self.sample + other.sample, self.asked + other.asked)


@dataclass(frozen=True, eq=False)
class LocalTask:
    """Measure the local effects of some features in a chunk.

    Attributes
    ----------
    predictor : Predictor
        The model.
    names : tuple of str
        Column names.
    columns : tuple of int
        The explained columns.
    grids : tuple of Grid
        Cells of each.
    plans : tuple of SecantPlan
        How the secants of each feature are taken; none where gradients are.
    last_key : int
        Rows with keys up to this one are kept in the sample.
    batch_rows, seed : int
        Rows in one call of the model, seed of the rows' keys.
    """

    predictor: Predictor
    names: tuple[str, ...]
    columns: tuple[int, ...]
    grids: tuple[Grid, ...]
    plans: tuple[SecantPlan, ...]
    last_key: np.uint64
    batch_rows: int
    seed: int

    def __call__(self, chunk: Chunk) -> Measured:
        """Ask the model once about every row and feature, and keep moments."""
        rows, key = rows_to_keep(chunk, self.last_key, self.seed)
        answers, effects, asked = self.local_effects(chunk, rows)
        cells, kept = [], [chunk.column(c)[rows, None] for c in self.columns]
        kept.append(answers)
        for column, grid, series in zip(self.columns, self.grids, effects, strict=True):
            cells.append(measure(grid, chunk.column(column), series, chunk.weights))
            kept.append(series[: answers.shape[1], rows].T)
        return Measured(tuple(cells), keep(chunk, rows, key, np.hstack(kept)), asked)

    def local_effects(
        self, chunk: Chunk, rows: IntArray
    ) -> tuple[FloatArray, Iterable[FloatArray], int]:
        """Predictions of some rows, the series of every feature in turn, and rows asked."""
        if self.columns and not self.plans:
            answers, slopes = self.predictor.gradient(chunk)
            by_feature = np.ascontiguousarray(slopes.transpose(2, 1, 0)[list(self.columns)])
            return answers[rows], by_feature, chunk.n_rows
        answers = np.empty((0, len(self.predictor.chosen)))
        if rows.size:
            answers = self.predictor.predict(chunk.take(rows).rows, rows.size)
        found = secants(self.predictor, chunk, self.plans, self.names, self.batch_rows)
        asked = chunk.n_rows * sum(2 if plan.n_series == 1 else 4 for plan in self.plans)
        return answers, found, asked + rows.size
