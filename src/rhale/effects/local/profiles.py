"""Partial dependence, ICE and the marginal plot: predictions along a grid of points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from rhale.data import Chunk
from rhale.data.table import Change
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.moments import Moments, measure_moments
from rhale.effects.binning.partition import Edges
from rhale.effects.curve import RowPlaces, build_quadrature
from rhale.effects.curve_sums import (
    CurveMoments,
    CurveSums,
    RowsBetweenPoints,
    measure_curves,
    sort_by_point,
    sum_curves,
)
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
    note_constant,
)
from rhale.effects.local.notes import (
    describe_curves,
    describe_ends,
    describe_missing,
    describe_outside,
)
from rhale.effects.local.queries import STACKED_ROWS, BatchedModel, Question, in_hand
from rhale.effects.profile import Profile
from rhale.effects.table import Missing
from rhale.features.feature import Feature
from rhale.models.questions import HeldPoints
from rhale.output.text import Note
from rhale.settings import MARGINAL_BINS, Settings
from rhale.stats.arrays import FloatArray, IntArray, crosses_processes
from rhale.stats.interpolation import locate_between_points, share_out

TracedMethod = Literal["pdp", "ice"]
# of curves that are added up at a time: the processor's cache holds them, one call answers for them
BLOCK_NUMBERS = STACKED_ROWS
# Of such a block: sums of fewer cost more to put together than to add up.
MIN_TRACED_BLOCK_ROWS = 2**9


@crosses_processes
@dataclass(frozen=True, eq=False)
class Traces:
    """Predictions of some rows along a feature."""

    sums: CurveSums
    cells: Moments  # positions of the rows between the points of the grid
    n_outside: int  # rows beyond the ends of the grid

    def __add__(self, other: Traces) -> Traces:
        n_outside = self.n_outside + other.n_outside
        return Traces(self.sums + other.sums, self.cells + other.cells, n_outside)


@dataclass(frozen=True, eq=False)
class Tracing:
    """Trace predictions along the grid of one feature."""

    feature: Feature
    method: TracedMethod  # whether the curves of single rows are kept
    points: FloatArray  # (n_grid,): the grid, increasing
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
        """The position of a row, and its curves."""
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
        """Moments of the curves, of all rows and by the positions of the rows."""
        x = self.feature.axis_positions(rows.chunk)
        place = locate_between_points(x, self.points)
        n_points, (n_rows, n_outputs) = self.points.size, replies.predictions.shape
        curves, weights = replies.curves or in_hand(replies.changed), rows.chunk.weights
        # curves of the sampled rows, where single ones are kept
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

        # a block of rows at a time, so that the curves of all rows are never in memory together
        size = max(BLOCK_NUMBERS // (n_outputs * n_points), MIN_TRACED_BLOCK_ROWS)
        total = Traces(
            sum_curves(trace, sort_by_point(place, n_points, weights), size, weights),
            measure_moments(self.stretches, place, np.empty((0, x.size)), weights),
            n_outside=int(np.sum((x < self.points[0]) | (x > self.points[-1]))),
        )
        return ChunkResult(total, np.hstack([x[rows.sampled, None], single]))

    @property
    def stretches(self) -> Grid:
        """Cells from point to point, by the numbers of the points."""
        return Grid(
            np.arange(self.points.size, dtype=float) if self.points.size > 1 else np.zeros(2)
        )

    def conclude(self, total: Traces, kept: FloatArray, context: MeasureContext) -> Conclusion:
        """One profile for each output."""
        feature, n_known = self.feature, context.survey.n_rows - self.feature.n_missing
        notes: tuple[Note, ...] = ()
        if feature.is_constant:
            notes = (note_constant(feature, is_traced=self.points.size > 1),)
        if self.method == "ice":
            notes += describe_curves(context.survey, context.last_key, len(kept))
        ends = (float(self.points[0]), float(self.points[-1]))
        notes += describe_ends(total.n_outside, n_known, ends, feature.axis_kind)
        notes += feature.notes + describe_missing(feature, context.survey) + context.notes
        levels, kind = () if feature.levels is None else feature.levels.names, feature.axis_kind
        made = (self.profile(total, kept, o, name) for o, name in enumerate(context.outputs))
        return Conclusion(tuple(replace(p, notes=notes, kind=kind, levels=levels) for p in made))

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
    """Points of a profile, as values that the feature can take."""
    # Points that were given stay as they are. Otherwise they are the limits of the bins that were
    # asked for, of equal width or of equal count, or all values where these are no more.
    if feature.levels is not None:
        return feature.levels.edges
    partition, axis = settings.partition(feature.name, output), feature.axis
    limits = np.unique(partition.candidates(axis))
    # no more values than points were asked for: all of them
    if not isinstance(partition, Edges) and 1 < axis.values.size <= limits.size:
        limits = np.unique(np.concatenate([[axis.low], axis.values, [axis.high]]))
    return np.unique(reachable_limits(feature, partition, limits))


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
    model: BatchedModel, chunk: Chunk, held: Sequence[Change], shares: FloatArray
) -> FloatArray:
    """Mean predictions with columns held at each point in all rows, shape (n_outputs, n_points).

    `held` has columns and their values at the points, `shares` (n_rows,) add up to 1.
    """
    # n_points x n_rows rows are asked, as many points in one call as the batch holds.

    def build(points: IntArray, rows: IntArray) -> Any:
        return chunk.take(rows).substitute([(c, values[points]) for c, values in held])

    question = HeldQuestion(Question(held, model.names, chunk))
    return average_predictions(model, len(held[0][1]), shares, build, question)


def complement_dependence(
    model: BatchedModel, chunk: Chunk, column: int, shares: FloatArray
) -> FloatArray:
    """Mean predictions of each row over the values of a column in all rows, (n_outputs, n_rows)."""
    values = chunk.column(column)

    def build(points: IntArray, rows: IntArray) -> Any:
        return chunk.take(points).substitute([(column, values[rows])])

    question = HeldQuestion(Question([(column, values)], model.names, chunk))
    return average_predictions(model, chunk.n_rows, shares, build, question)


def average_predictions(
    model: BatchedModel,
    n_points: int,
    shares: FloatArray,
    build: Callable[[IntArray, IntArray], Any],
    question: object,
) -> FloatArray:
    """Average answers over the rows, for blocks of points; `build` makes rows for points x rows."""
    n_rows = shares.size
    at_once = model.copies_at_once(n_rows)
    means = np.empty((len(model.outputs), n_points))
    for start in range(0, n_points, at_once):
        points = np.arange(start, min(start + at_once, n_points))
        rows = build(np.repeat(points, n_rows), np.tile(np.arange(n_rows), points.size))
        answer = model.predictor.predict(rows, points.size * n_rows, question)
        blocks = answer.reshape(points.size, n_rows, -1)
        means[:, points] = np.einsum("pro,r->op", blocks, shares)
    return means


# --- Predictions of the rows as they are, averaged around values of a feature: the marginal plot


@dataclass(frozen=True, eq=False)
class Marginal:
    """Average the predictions of the rows in each bin of one feature."""

    feature: Feature
    grid: Grid
    needs: ClassVar[Needs] = "predictions"
    n_changes: ClassVar[int] = 0
    n_points: ClassVar[int] = 1

    def n_kept(self, n_outputs: int) -> int:  # noqa: ARG002
        """The position of a row."""
        return 1

    def questions(self, rows: MeasuredChunk) -> Questions:  # noqa: ARG002
        """None: rows stay as they are."""
        return Questions()

    def add_up(self, rows: MeasuredChunk, asked: Questions, replies: Replies) -> ChunkResult:  # noqa: ARG002
        """Moments of the predictions in each bin."""
        x = self.feature.axis_positions(rows.chunk)
        cells = measure_moments(self.grid, x, replies.predictions.T, rows.chunk.weights)
        return ChunkResult(cells, x[rows.sampled, None])

    def conclude(self, total: Moments, kept: FloatArray, context: MeasureContext) -> Conclusion:  # noqa: ARG002
        """One profile for each output."""
        feature, n_known = self.feature, context.survey.n_rows - self.feature.n_missing
        notes: tuple[Note, ...] = (note_constant(feature),) if feature.is_constant else ()
        notes += describe_outside(n_known, total, kind=feature.axis_kind)
        notes += feature.notes + describe_missing(feature, context.survey) + context.notes
        levels, kind = () if feature.levels is None else feature.levels.names, feature.axis_kind
        made = (self.profile(total, o, name) for o, name in enumerate(context.outputs))
        return Conclusion(tuple(replace(p, notes=notes, kind=kind, levels=levels) for p in made))

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


# --- Predictions without a value: the point of missing values


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
