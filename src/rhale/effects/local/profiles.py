"""Predictions along a grid of points: partial dependence and individual curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from rhale.data import Chunk
from rhale.data.table import Change
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.fixed import Edges
from rhale.effects.binning.moments import Moments, measure_moments
from rhale.effects.binning.partition import Partition
from rhale.effects.curve_sums import CurveSums, RowsBetweenPoints, stand_beside, sum_curves
from rhale.effects.local.binned import reachable_limits
from rhale.effects.local.measure import (
    ChunkResult,
    Conclusion,
    MeasureContext,
    MeasuredChunk,
    Needs,
    Questions,
    Replies,
    chances,
)
from rhale.effects.local.notes import (
    describe_curves,
    describe_ends,
    describe_missing,
    describe_outside,
)
from rhale.effects.local.queries import STACKED_ROWS, BatchedModel, Question, in_hand
from rhale.effects.local.unmeasured import note_constant
from rhale.effects.profile import Profile
from rhale.effects.quadrature import RowPlaces, build_quadrature
from rhale.features.feature import Feature
from rhale.models.questions import HeldPoints
from rhale.output.note import Note
from rhale.settings import MARGINAL_BINS, Settings
from rhale.stats.arrays import FloatArray, IntArray
from rhale.stats.interpolation import locate_between_points, share_out
from rhale.stats.records import crosses_processes

TracedMethod = Literal["pdp", "ice"]
# of curves that are added up at a time: the processor's cache holds them, one call answers for them
BLOCK_NUMBERS = STACKED_ROWS
# Of such a block: sums of fewer cost more to put together than to add up.
MIN_TRACED_BLOCK_ROWS = 2**9


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
        x = self.feature.axis_positions(rows.chunk)
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


# --- Ask a model with some columns held at given values in all rows, and average its answers


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


# --- Predictions of the rows as they are, averaged around values of a feature: the marginal plot


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
        x = self.feature.axis_positions(rows.chunk)
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
