"""Predictions along a grid: partial dependence, individual curves, marginal plots."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rhale.features.feature import Feature
from rhale.kernels import FloatArray
from rhale.kernels.curve_moments import CurveMoments, measure_curves
from rhale.kernels.grid import Grid
from rhale.kernels.moments import Moments, measure
from rhale.kernels.records import crosses_processes
from rhale.measures.binned import reachable_limits
from rhale.measures.measure import About, Conclusion, Needs, Questions, Replies, Rows, Tally
from rhale.measures.notes import describe_curves, describe_missing, describe_outside
from rhale.measures.steps import chances
from rhale.results.note import Note
from rhale.results.profile import Profile, ProfileMethod
from rhale.settings import MARGINAL_BINS, Settings


@crosses_processes
@crosses_processes
@dataclass(frozen=True, eq=False)
class Traces:
    """Predictions of some rows along a feature.

    Attributes
    ----------
    cells : Moments
        Predictions of the rows as they are, around the points of the grid.
    curves : Scatter or None
        Shapes and levels of their curves; None for the marginal plot, which has none.
    """

    cells: Moments
    curves: CurveMoments | None = None

    def __add__(self, other: Traces) -> Traces:
        if self.curves is None or other.curves is None:
            return Traces(self.cells + other.cells)
        return Traces(self.cells + other.cells, self.curves + other.curves)


@dataclass(frozen=True, eq=False)
class Tracing:
    """Trace predictions along the grid of one feature.

    Attributes
    ----------
    feature : Feature
        The feature.
    method : {"pdp", "ice", "mplot"}
        What to trace.
    grid : Grid
        From `grid_of_points` for "pdp" and "ice", bins for "mplot".
    """

    feature: Feature
    method: ProfileMethod
    grid: Grid
    needs: ClassVar[Needs] = "predictions"

    @property
    def n_changes(self) -> int:
        """One for each point of the grid, where rows are moved along it."""
        return 0 if self.method == "mplot" else self.grid.n_cells

    @property
    def n_points(self) -> int:
        """Points of single curves, where these are kept."""
        return self.grid.n_cells if self.method == "ice" else 1

    def n_kept(self, n_outputs: int) -> int:
        """Where a row stands, and its curves."""
        return 1 + (n_outputs * self.grid.n_cells if self.method == "ice" else 0)

    def questions(self, rows: Rows) -> Questions:
        """All rows at every point of the grid."""
        column, levels, n_rows = self.feature.column, self.feature.levels, rows.chunk.n_rows
        if self.method == "mplot":
            return Questions()
        if levels is None:
            return Questions([(column, np.full(n_rows, p)) for p in points_of(self.grid)])
        chance = chances(rows.key)
        whole = (np.full(n_rows, k) for k in range(levels.size))
        return Questions([(column, levels.at(level, chance)) for level in whole])

    def add_up(self, rows: Rows, asked: Questions, replies: Replies) -> Tally:  # noqa: ARG002
        """Moments of the curves, and of the predictions around each point."""
        x, weights = self.stands(rows), rows.chunk.weights
        cells = measure(self.grid, x, replies.predictions.T, weights)
        kept = x[rows.sampled, None]
        if self.method == "mplot":
            return Tally(Traces(cells), kept)
        traced = replies.changed
        curves = measure_curves(shapes_and_levels(traced), weights)
        if self.method == "ice":
            single = traced[:, rows.sampled].transpose(1, 2, 0).reshape(len(kept), -1)
            kept = np.hstack([kept, single])
        return Tally(Traces(cells, curves), kept)

    def stands(self, rows: Rows) -> FloatArray:
        """Where the rows stand on the axis of the feature; nan for rows without a value."""
        x, levels = rows.chunk.column(self.feature.column), self.feature.levels
        return x if levels is None else levels.stand(levels.locate(x))

    def conclude(self, total: Traces, kept: FloatArray, about: About) -> Conclusion:
        """One profile for each output."""
        levels = self.feature.levels.names if self.feature.levels is not None else ()
        notes = self.notes(total.cells, len(kept), about)
        return Conclusion(
            tuple(
                replace(
                    self.profile(total, kept, output, name),
                    notes=notes,
                    kind=self.feature.axis_kind,
                    levels=levels,
                )
                for output, name in enumerate(about.outputs)
            )
        )

    def notes(self, cells: Moments, n_kept: int, about: About) -> tuple[Note, ...]:
        """What a reader of the profile should know."""
        n_known = about.survey.n_rows - self.feature.n_missing
        outside = "count for the average, but not for the centring"
        outside = "are left out" if self.method == "mplot" else outside
        notes: tuple[Note, ...] = ()
        if self.method == "ice":
            notes = describe_curves(about.survey, about.last_key, n_kept)
        notes += describe_outside(n_known, cells, outside, self.feature.axis_kind)
        notes += self.feature.notes + describe_missing(self.feature, about.survey)
        return notes + about.notes

    def profile(self, total: Traces, kept: FloatArray, output: int, name: str) -> Profile:
        """The numbers of one output."""
        if total.curves is None:
            return self.marginal(total.cells, output, name)
        points, share, found = points_of(self.grid), total.cells.weight, total.curves
        covariance = found.covariance[output]
        shape, level = covariance[:-1, :-1], covariance[-1, -1]
        variance = np.diag(shape) + 2 * covariance[:-1, -1] + level
        profile = Profile(
            name=self.feature.name,
            output=name,
            method=self.method,
            grid=points,
            mean=found.mean[output, :-1] + found.mean[output, -1],
            std=np.sqrt(np.maximum(variance, 0.0)),
            covariance=shape,
            rows=np.full(points.size, found.rows),
            share=share / share.sum(),
        )
        if self.method == "pdp":
            return profile
        start = 1 + output * points.size
        curves = np.asarray(kept[:, start : start + points.size])
        return replace(profile, curves=curves, curve_x=kept[:, 0])

    def marginal(self, cells: Moments, output: int, name: str) -> Profile:
        """Average predictions of the rows in each bin."""
        filled = np.flatnonzero(cells.count > 0)
        variance = cells.variance[output][filled]
        return Profile(
            name=self.feature.name,
            output=name,
            method="mplot",
            grid=cells.mean_x[filled],
            mean=cells.mean[output][filled],
            std=np.sqrt(variance),
            covariance=np.diag(variance),
            rows=cells.rows[filled],
            share=cells.weight[filled] / cells.weight.sum(),
        )


def choose_grid(settings: Settings, feature: Feature, output: str) -> Grid:
    """Points of a profile: the limits of its bins, as values that the feature can take."""
    if settings.method == "mplot":
        return _choose_marginal(settings, feature, output)
    if feature.levels is not None:
        return grid_of_points(feature.levels.edges)
    partition = settings.partition(feature.name, output)
    limits = reachable_limits(feature, partition, partition.candidates(feature.axis))
    return grid_of_points(np.unique(limits))


def _choose_marginal(settings: Settings, feature: Feature, output: str) -> Grid:
    """Bins of the marginal plot; one for each value where there are few and none were asked for."""
    values, partition = feature.axis.values, settings.partition(feature.name, output)
    if feature.levels is not None:
        return grid_of_points(feature.levels.edges)
    if feature.is_constant:
        return Grid(np.array([feature.axis.low, feature.axis.high]))
    if partition is MARGINAL_BINS and values.size <= MARGINAL_BINS.n_bins:
        between = values[:-1] + 0.5 * np.diff(values)
        return Grid(np.concatenate([[feature.axis.low], between, [feature.axis.high]]))
    return Grid(partition.candidates(feature.axis), partition.closed)


def grid_of_points(points: FloatArray) -> Grid:
    """Cells that end at the points: as in R's ALEPlot, a point stands for the rows up to it."""
    return Grid(np.append(np.nextafter(points[0], -np.inf), points), closed="right")


def points_of(grid: Grid) -> FloatArray:
    """Points behind such cells."""
    return grid.edges[1:]


def shapes_and_levels(traced: FloatArray) -> FloatArray:
    """Split curves into shape and level, so that a small shape on a huge level stays exact.

    Parameters
    ----------
    traced : ndarray of shape (n_points, n_rows, n_outputs)
        One curve per row and output.

    Returns
    -------
    ndarray of shape (n_outputs, n_rows, n_points + 1)
        The curve less its average, and the average.
    """
    split = np.empty((len(traced) + 1, *traced.shape[1:]))
    np.mean(traced, axis=0, out=split[-1])
    np.subtract(traced, split[-1], out=split[:-1])
    return split.transpose(2, 1, 0)
