"""Predictions of the rows as they are, averaged around values of a feature: the marginal plot."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rhale.features.feature import Feature
from rhale.kernels import FloatArray
from rhale.kernels.grid import Grid
from rhale.kernels.moments import Moments, measure_moments
from rhale.measures.constant import note_constant
from rhale.measures.measure import (
    ChunkResult,
    Conclusion,
    MeasureContext,
    MeasuredChunk,
    Needs,
    Questions,
    Replies,
)
from rhale.measures.notes import describe_missing, describe_outside
from rhale.results.note import Note
from rhale.results.profile import Profile
from rhale.settings import MARGINAL_BINS, Settings


@dataclass(frozen=True, eq=False)
class Marginal:
    """Average the predictions of the rows in each bin of one feature.

    Attributes
    ----------
    feature : Feature
        The feature.
    grid : Grid
        The bins.
    """

    feature: Feature
    grid: Grid
    needs: ClassVar[Needs] = "predictions"
    n_changes: ClassVar[int] = 0
    n_points: ClassVar[int] = 1

    def n_kept(self, n_outputs: int) -> int:  # noqa: ARG002
        """Where a row stands."""
        return 1

    def questions(self, rows: MeasuredChunk) -> Questions:  # noqa: ARG002
        """None: rows stay as they are."""
        return Questions()

    def add_up(self, rows: MeasuredChunk, asked: Questions, replies: Replies) -> ChunkResult:  # noqa: ARG002
        """Moments of the predictions in each bin."""
        x = self.feature.stands(rows.chunk)
        cells = measure_moments(self.grid, x, replies.predictions.T, rows.chunk.weights)
        return ChunkResult(cells, x[rows.sampled, None])

    def conclude(self, total: Moments, kept: FloatArray, about: MeasureContext) -> Conclusion:  # noqa: ARG002
        """One profile for each output."""
        notes = self.notes(total, about)
        levels = self.feature.levels.names if self.feature.levels is not None else ()
        made = (self.profile(total, o, name) for o, name in enumerate(about.outputs))
        kind = self.feature.axis_kind
        return Conclusion(tuple(replace(p, notes=notes, kind=kind, levels=levels) for p in made))

    def notes(self, cells: Moments, about: MeasureContext) -> tuple[Note, ...]:
        """What a reader of the profile should know."""
        feature, n_known = self.feature, about.survey.n_rows - self.feature.n_missing
        notes: tuple[Note, ...] = (note_constant(feature),) if feature.is_constant else ()
        notes += describe_outside(n_known, cells, kind=feature.axis_kind)
        return notes + feature.notes + describe_missing(feature, about.survey) + about.notes

    def profile(self, cells: Moments, output: int, name: str) -> Profile:
        """The numbers of one output; a bin without rows has no point."""
        filled = np.flatnonzero(cells.count > 0)
        variance, share = cells.variance[output][filled], cells.weight[filled] / cells.weight.sum()
        return Profile(
            name=self.feature.name,
            output=name,
            method="mplot",
            grid=cells.mean_x[filled],
            mean=cells.mean[output][filled],
            std=np.sqrt(variance),
            covariance=np.diag(variance),
            rows=cells.rows[filled],
            share=share,
            known_rows=cells.total_rows,
        )


def choose_marginal_bins(settings: Settings, feature: Feature, output: str) -> Grid:
    """Bins of the marginal plot; one for each value where there are few and none were asked for."""
    values, partition = feature.axis.values, settings.partition(feature.name, output)
    if feature.levels is not None:
        return surround(feature.levels.edges)
    if feature.is_constant:
        return surround(np.array([feature.axis.low]))
    if partition is MARGINAL_BINS and values.size <= MARGINAL_BINS.n_bins:
        return surround(values)
    return Grid(partition.candidates(feature.axis), partition.closed)


def surround(values: FloatArray) -> Grid:
    """Give every value a cell of its own, as far as half of the way to the next one."""
    between = values[:-1] + 0.5 * np.diff(values)
    return Grid(np.concatenate([values[:1], between, values[-1:]]))
