"""The task of the second pass: model and chunk in, mergeable moments out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.grid import Grid
from rhale.kernels.moments import Moments, measure
from rhale.kernels.sample import Sample, collect, row_keys
from rhale.local.secant import SecantPlan, secants
from rhale.models import Predictor
from rhale.tables import Chunk

EVERY_ROW = np.iinfo(np.int64).max


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
    plans : dict of int to SecantPlan
        Features (by place in `columns`) that are explained by secants; the others by gradient.
    last_key : int
        Rows with keys up to this one are kept in the sample.
    batch_rows, seed : int
        Rows in one call of the model, seed of the rows' keys.
    """

    predictor: Predictor
    names: tuple[str, ...]
    columns: tuple[int, ...]
    grids: tuple[Grid, ...]
    plans: dict[int, SecantPlan]
    last_key: np.uint64
    batch_rows: int
    seed: int

    def __call__(self, chunk: Chunk) -> Measured:
        """Ask the model once about every row and feature, and keep moments."""
        answers, effects, asked = self.local_effects(chunk)
        x = [chunk.column(c) for c in self.columns]
        cells = tuple(
            measure(grid, xs, values, chunk.weights)
            for grid, xs, values in zip(self.grids, x, effects, strict=True)
        )
        key = row_keys(chunk.numbers(), self.seed)
        rows = np.flatnonzero(key <= self.last_key)
        if answers is not None:
            answers = answers[rows]
        elif rows.size:
            answers = self.predictor.predict(chunk.take(rows).rows, rows.size)
            asked += rows.size
        else:
            answers = np.empty((0, len(self.predictor.chosen)))
        slopes = [values[: answers.shape[1], rows].T for values in effects]
        kept = np.hstack([*(xs[rows, None] for xs in x), answers, *slopes])
        weight = np.ones(rows.size) if chunk.weights is None else chunk.weights[rows]
        return Measured(cells, collect(key[rows], kept, weight, size=EVERY_ROW), asked)

    def local_effects(self, chunk: Chunk) -> tuple[FloatArray | None, list[FloatArray], int]:
        """Predictions (n_rows, n_outputs) if there are any, series of every feature, rows asked."""
        n_features, answers, asked = len(self.columns), None, 0
        effects: list[FloatArray] = [np.empty(0)] * n_features
        if len(self.plans) < n_features:
            answers, slopes = self.predictor.gradient(chunk)
            effects = list(np.ascontiguousarray(slopes.transpose(2, 1, 0)[list(self.columns)]))
            asked = chunk.n_rows
        places = sorted(self.plans)
        plans = [self.plans[p] for p in places]
        found = secants(self.predictor, chunk, plans, self.names, self.batch_rows)
        for place, series in zip(places, found, strict=True):
            effects[place] = series
        asked += chunk.n_rows * sum(2 if plan.n_series == 1 else 4 for plan in plans)
        return answers, effects, asked
