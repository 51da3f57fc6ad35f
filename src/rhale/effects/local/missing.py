"""Predictions without a value: the point of missing values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rhale.data import Chunk
from rhale.data.table import Change
from rhale.effects.curve_sums import CurveMoments, measure_curves
from rhale.effects.local.measure import (
    ChunkResult,
    Conclusion,
    MeasureContext,
    MeasuredChunk,
    Needs,
    Questions,
    Replies,
)
from rhale.effects.local.queries import BatchedModel
from rhale.effects.table import Missing
from rhale.features.feature import Feature
from rhale.stats.arrays import FloatArray

Of = Literal["change", "prediction", "own"]


@dataclass(frozen=True, eq=False)
class Removal:
    """Predictions without the value of a feature."""

    feature: Feature
    # the change of the prediction over rows that have a value; the prediction of all rows without
    # it; the prediction of the rows that have none by themselves
    of: Of
    needs: ClassVar[Needs] = "predictions"
    n_points: ClassVar[int] = 1

    @property
    def n_changes(self) -> int:
        """One, where values are removed."""
        return 0 if self.of == "own" else 1

    def n_kept(self, n_outputs: int) -> int:  # noqa: ARG002
        """Nothing: the measure of the curve keeps the positions."""
        return 0

    def questions(self, rows: MeasuredChunk) -> Questions:
        """The rows without the value."""
        if self.of == "own":
            return Questions()
        return Questions([without_value(rows.chunk, self.feature.column)])

    def add_up(self, rows: MeasuredChunk, asked: Questions, replies: Replies) -> ChunkResult:  # noqa: ARG002
        """Mean and variance over the rows."""
        chunk, base = rows.chunk, replies.predictions
        answers = base if self.of == "own" else replies.changed[0]
        answers = answers - base if self.of == "change" else answers
        weights, nothing = chunk.weights, np.empty((rows.sampled.size, 0))
        if self.of == "prediction":
            return ChunkResult(measure_curves(answers.T[:, :, None], weights), nothing)
        is_missing = np.isnan(chunk.column(self.feature.column))
        mine = is_missing if self.of == "own" else ~is_missing
        some = None if weights is None else weights[mine]
        return ChunkResult(measure_curves(answers[mine].T[:, :, None], some), nothing)

    def conclude(
        self,
        total: CurveMoments,
        kept: FloatArray,  # noqa: ARG002
        context: MeasureContext,
    ) -> Conclusion:
        """The point of missing values, for each output."""
        return Conclusion(missing=tuple(self.point(total, o) for o in range(len(context.outputs))))

    def point(self, total: CurveMoments, output: int) -> Missing | None:
        """The point of one output; none where no row has an answer."""
        if total.rows == 0:
            return None
        return Missing(
            self.feature.n_missing,
            self.feature.missing_share,
            float(total.mean[output, 0]),
            float(np.sqrt(total.covariance[output, 0, 0])),
            total.rows,
        )


def without_value(chunk: Chunk, column: int) -> Change:
    """The question what the model says without the values of a column."""
    return column, np.full(chunk.n_rows, np.nan)


def refuse_missing(model: BatchedModel, probe: Chunk, column: int) -> str | None:
    """Why the model has no answer for rows without this value; None if it has one."""
    return model.reason(probe.substitute([without_value(probe, column)]), probe.n_rows)
