"""The task of the second pass: model and chunk in, mergeable moments out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

import numpy as np

from rhale.features.survey import keep, rows_keys
from rhale.kernels import FloatArray, IntArray
from rhale.kernels.curve_moments import Scatter, scatter
from rhale.kernels.grid import Grid
from rhale.kernels.level_moments import LevelMoments, measure_levels
from rhale.kernels.moments import Moments, measure
from rhale.kernels.records import crosses_processes
from rhale.kernels.sample import Sample
from rhale.measures.questions import ask_in_turn
from rhale.measures.secant import SecantPlan, secants
from rhale.measures.steps import RowSteps, StepPlan, row_steps, without_value
from rhale.measures.steps import questions as step_questions
from rhale.models import Predictor
from rhale.tables import Chunk


@crosses_processes
@dataclass(frozen=True, eq=False)
class Measured:
    """What one or more chunks have to say.

    Attributes
    ----------
    cells : tuple of Moments
        One per feature with bins.
    levels : tuple of LevelMoments
        One per feature with levels.
    gone : tuple of Scatter
        Change of the prediction when a value is removed, one per feature where that is asked.
    sample : Sample
        Of a bounded number of rows: values of the features (or where their levels stand),
        predictions, local effects, steps (down and up).
    asked : int
        Rows that the model was asked about.
    """

    cells: tuple[Moments, ...]
    levels: tuple[LevelMoments, ...]
    gone: tuple[Scatter, ...]
    sample: Sample
    asked: int

    def __add__(self, other: Measured) -> Measured:
        return Measured(
            tuple(a + b for a, b in zip(self.cells, other.cells, strict=True)),
            tuple(a + b for a, b in zip(self.levels, other.levels, strict=True)),
            tuple(a + b for a, b in zip(self.gone, other.gone, strict=True)),
            self.sample + other.sample,
            self.asked + other.asked,
        )


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
        The explained columns with bins.
    grids : tuple of Grid
        Cells of each.
    plans : tuple of SecantPlan
        How the secants of each feature are taken; none where gradients are.
    steps : tuple of StepPlan
        The features with levels.
    gone : tuple of int
        Columns whose values are removed, too.
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
    steps: tuple[StepPlan, ...]
    gone: tuple[int, ...]
    last_key: np.uint64
    batch_rows: int
    seed: int

    def __call__(self, chunk: Chunk) -> Measured:
        """Ask the model once about every row and feature, and keep moments."""
        key = rows_keys(chunk, self.seed)
        rows = np.flatnonzero(key <= self.last_key)
        base, slopes, n_asked = self.as_they_are(chunk)
        answers, effects, asked = self.local_effects(chunk, rows, base, slopes)
        cells, kept = [], []
        for column, grid, series in zip(self.columns, self.grids, effects, strict=True):
            cells.append(measure(grid, chunk.column(column), series, chunk.weights))
            kept.append(series[: answers.shape[1], rows].T)
        x = [chunk.column(c)[rows, None] for c in self.columns]
        questions = [step_questions(chunk, plan, key) for plan in self.steps]
        changes = [change for _, asked_for in questions for change in asked_for]
        changes += [without_value(chunk, column) for column in self.gone]
        replies = ask_in_turn(self.predictor, chunk, changes, self.names, self.batch_rows)
        levels = []
        for plan, (level, asked_for) in zip(self.steps, questions, strict=True):
            steps = row_steps(level, plan.levels.size, base, list(islice(replies, len(asked_for))))
            levels.append(self.measured(chunk, plan, steps))
            kept += [steps.down[:, rows].T, steps.up[:, rows].T]
            x.append(plan.levels.stand(level)[rows, None])
        gone = tuple(self.change(chunk, c, next(replies) - base) for c in self.gone)
        asked += n_asked + chunk.n_rows * len(changes)
        sample = keep(chunk, rows, key[rows], np.hstack([*x, answers, *kept]))
        return Measured(tuple(cells), tuple(levels), gone, sample, asked)

    def as_they_are(self, chunk: Chunk) -> tuple[FloatArray, FloatArray | None, int]:
        """Predictions of all rows where something is measured from them, slopes, rows asked."""
        if self.columns and not self.plans:
            return *self.predictor.gradient(chunk), chunk.n_rows
        if self.steps or self.gone:
            return self.predictor.predict(chunk.rows, chunk.n_rows), None, chunk.n_rows
        return np.empty((0, len(self.predictor.chosen))), None, 0

    def local_effects(
        self, chunk: Chunk, rows: IntArray, base: FloatArray, slopes: FloatArray | None
    ) -> tuple[FloatArray, Iterable[FloatArray], int]:
        """Predictions of some rows, the series of every feature in turn, and more rows asked."""
        if slopes is not None:
            by_feature = slopes.transpose(2, 1, 0)[list(self.columns)]
            return base[rows], np.ascontiguousarray(by_feature), 0
        answers, n_asked = base[rows] if len(base) else base, 0
        if rows.size and not len(base):
            answers = self.predictor.predict(chunk.take(rows).rows, rows.size)
            n_asked = rows.size
        found = secants(self.predictor, chunk, self.plans, self.names, self.batch_rows)
        asked = chunk.n_rows * sum(2 if plan.n_series == 1 else 4 for plan in self.plans)
        return answers, found, asked + n_asked

    def measured(self, chunk: Chunk, plan: StepPlan, steps: RowSteps) -> LevelMoments:
        """Moments of the steps of the rows that have a level."""
        known = steps.level >= 0
        weights = None if chunk.weights is None else chunk.weights[known]
        return measure_levels(
            steps.level[known], steps.down[:, known], steps.up[:, known], plan.levels.size, weights
        )

    def change(self, chunk: Chunk, column: int, change: FloatArray) -> Scatter:
        """Change of the prediction when the value is removed, over the rows that have one."""
        known = ~np.isnan(chunk.column(column))
        weights = None if chunk.weights is None else chunk.weights[known]
        return scatter(change[known].T[:, :, None], weights)
