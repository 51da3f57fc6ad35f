"""Predictions along a grid of points: partial dependence and individual curves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from rhale.features.feature import Feature
from rhale.kernels import FloatArray
from rhale.kernels.between_points import locate_between_points, share_out
from rhale.kernels.curve_places import RowsBetweenPoints, stand_beside
from rhale.kernels.curve_sums import CurveSums, sum_curves
from rhale.kernels.dependences import HeldPoints
from rhale.kernels.fixed import Edges
from rhale.kernels.grid import Grid
from rhale.kernels.moments import Moments, measure_moments
from rhale.kernels.partition import Partition
from rhale.kernels.records import crosses_processes
from rhale.kernels.row_places import RowPlaces, build_quadrature
from rhale.measures.binned import reachable_limits
from rhale.measures.constant import note_constant
from rhale.measures.measure import (
    ChunkResult,
    Conclusion,
    MeasureContext,
    MeasuredChunk,
    Needs,
    Questions,
    Replies,
    chances,
)
from rhale.measures.notes import describe_curves, describe_ends, describe_missing
from rhale.measures.questions import STACKED_ROWS, in_hand
from rhale.results.note import Note
from rhale.results.profile import Profile
from rhale.settings import Settings

TracedMethod = Literal["pdp", "ice"]
# of curves that are added up at a time: the processor's cache holds them, one call answers for them
BLOCK_NUMBERS = STACKED_ROWS
MIN_TRACED_BLOCK_ROWS = (
    2**9
)  # of such a block: sums of fewer cost more to put together than to add up


@crosses_processes
@dataclass(frozen=True, eq=False)
class Traces:
    """Predictions of some rows along a feature.

    Attributes
    ----------
    sums : CurveSums
        Of their curves.
    cells : Moments
        Where the rows stand between the points of the grid.
    n_outside : int
        MeasuredChunk beyond the ends of the grid.
    """

    sums: CurveSums
    cells: Moments
    n_outside: int

    def __add__(self, other: Traces) -> Traces:
        n_outside = self.n_outside + other.n_outside
        return Traces(self.sums + other.sums, self.cells + other.cells, n_outside)


@dataclass(frozen=True, eq=False)
class Tracing:
    """Trace predictions along the grid of one feature.

    Attributes
    ----------
    feature : Feature
        The feature.
    method : {"pdp", "ice"}
        Whether the curves of single rows are kept.
    points : ndarray of shape (n_grid,)
        The grid, increasing.
    """

    feature: Feature
    method: TracedMethod
    points: FloatArray
    needs: ClassVar[Needs] = "predictions"

    @property
    def n_changes(self) -> int:
        """One for each point of the grid."""
        return self.points.size

    @property
    def n_points(self) -> int:
        """Points of single curves, where these are kept."""
        return self.points.size if self.method == "ice" else 1

    def n_kept(self, n_outputs: int) -> int:
        """Where a row stands, and its curves."""
        return 1 + (n_outputs * self.points.size if self.method == "ice" else 0)

    def questions(self, rows: MeasuredChunk) -> Questions:
        """All rows at every point of the grid."""
        column, levels, n_rows = self.feature.column, self.feature.levels, rows.chunk.n_rows
        if levels is None:
            return Questions(held=HeldPoints(column, self.points))
        chance = chances(rows.key)
        whole = (np.full(n_rows, k) for k in range(levels.size))
        return Questions([(column, levels.at(level, chance)) for level in whole])

    def add_up(self, rows: MeasuredChunk, asked: Questions, replies: Replies) -> ChunkResult:  # noqa: ARG002
        """Moments of the curves, of all rows and by where rows stand."""
        x = self.feature.stands(rows.chunk)
        place = locate_between_points(x, self.points)
        sums, single = self.add_up_curves(rows, place, replies)
        total = Traces(
            sums,
            measure_moments(self.stretches, place, np.empty((0, x.size)), rows.chunk.weights),
            n_outside=int(np.sum((x < self.points[0]) | (x > self.points[-1]))),
        )
        return ChunkResult(total, np.hstack([x[rows.sampled, None], single]))

    def add_up_curves(
        self, rows: MeasuredChunk, place: FloatArray, replies: Replies
    ) -> tuple[CurveSums, FloatArray]:
        """Sums of the curves, a block of rows at a time, and curves of the sampled rows if kept."""
        n_points, (n_rows, n_outputs) = self.points.size, replies.predictions.shape
        curves, weights = replies.curves or in_hand(replies.changed), rows.chunk.weights
        single = np.empty((rows.sampled.size, n_outputs * n_points if self.method == "ice" else 0))
        number = np.full(n_rows, -1)
        number[rows.sampled] = np.arange(rows.sampled.size)

        def trace(some: RowsBetweenPoints) -> FloatArray:
            traced = curves(some.row)
            if single.size:
                mine = np.flatnonzero(number[some.row] >= 0)
                own = traced[:, mine].transpose(1, 2, 0)
                single[number[some.row[mine]]] = own.reshape(mine.size, -1)
            return traced

        size = max(BLOCK_NUMBERS // (n_outputs * n_points), MIN_TRACED_BLOCK_ROWS)
        stands = stand_beside(place, n_points, weights)
        return sum_curves(trace, stands, size, weights), single

    @property
    def stretches(self) -> Grid:
        """Cells from point to point, by the numbers of the points."""
        return Grid(
            np.arange(self.points.size, dtype=float) if self.points.size > 1 else np.zeros(2)
        )

    def conclude(self, total: Traces, kept: FloatArray, about: MeasureContext) -> Conclusion:
        """One profile for each output."""
        notes = self.notes(total, len(kept), about)
        levels = self.feature.levels.names if self.feature.levels is not None else ()
        made = (self.profile(total, kept, o, name) for o, name in enumerate(about.outputs))
        kind = self.feature.axis_kind
        return Conclusion(tuple(replace(p, notes=notes, kind=kind, levels=levels) for p in made))

    def notes(self, total: Traces, n_kept: int, about: MeasureContext) -> tuple[Note, ...]:
        """What a reader of the profile should know."""
        feature, n_known = self.feature, about.survey.n_rows - self.feature.n_missing
        notes: tuple[Note, ...] = ()
        if feature.is_constant:
            notes = (note_constant(feature, is_traced=self.points.size > 1),)
        if self.method == "ice":
            notes += describe_curves(about.survey, about.last_key, n_kept)
        ends = (float(self.points[0]), float(self.points[-1]))
        notes += describe_ends(total.n_outside, n_known, ends, feature.axis_kind)
        return notes + feature.notes + describe_missing(feature, about.survey) + about.notes

    def profile(self, total: Traces, kept: FloatArray, output: int, name: str) -> Profile:
        """The numbers of one output."""
        found, places, points = total.sums.curves, build_quadrature(total.cells), self.points
        covariance, share = found.covariance[output], share_out(*places, points.size)
        shape, level = covariance[:-1, :-1], covariance[-1, -1]
        variance = np.diag(shape) + 2 * covariance[:-1, -1] + level
        mean_shape = found.mean[output, :-1]
        rows, curve = total.cells.total_rows, mean_shape - share @ mean_shape
        profile = Profile(
            name=self.feature.name,
            output=name,
            method=self.method,
            grid=points,
            mean=mean_shape + found.mean[output, -1],
            std=np.sqrt(np.maximum(variance, 0.0)),
            covariance=shape,
            rows=np.full(points.size, found.rows),
            share=share,
            row_places=RowPlaces(
                np.interp(places.x, np.arange(points.size), points), places.weight
            ),
            known_rows=rows,
            own_covariance=total.sums.places.covary(curve, rows)[output, :-1],
        )
        if self.method == "pdp":
            return profile
        start = 1 + output * points.size
        curves = np.asarray(kept[:, start : start + points.size])
        return replace(profile, curves=curves, curve_x=kept[:, 0])


def choose_points(settings: Settings, feature: Feature, output: str) -> FloatArray:
    """Points of a profile, as values that the feature can take.

    Notes
    -----
    Points that were given stay as they are. Otherwise they are the limits of the bins that were
    asked for, of equal width or of equal count, or all values where these are no more.
    """
    if feature.levels is not None:
        return feature.levels.edges
    partition, axis = settings.partition(feature.name, output), feature.axis
    limits = np.unique(partition.candidates(axis))
    if has_few_values(feature, partition, limits.size):
        limits = np.unique(np.concatenate([[axis.low], axis.values, [axis.high]]))
    return np.unique(reachable_limits(feature, partition, limits))


def has_few_values(feature: Feature, partition: Partition, n_points: int) -> bool:
    """Tell whether all values can be points, since no more points than these were asked for."""
    return not isinstance(partition, Edges) and 1 < feature.axis.values.size <= n_points
