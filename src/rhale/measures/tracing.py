"""Predictions along a grid: partial dependence, individual curves, marginal plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rhale.features.levels import Levels
from rhale.features.survey import keep, rows_keys
from rhale.kernels import FloatArray
from rhale.kernels.curve_moments import Scatter, scatter
from rhale.kernels.grid import Grid
from rhale.kernels.moments import Moments, measure
from rhale.kernels.records import crosses_processes
from rhale.kernels.sample import KeyArray, Sample
from rhale.measures.questions import ask
from rhale.measures.steps import chances, without_value
from rhale.models import Predictor
from rhale.results.effect import Missing
from rhale.results.profile import Profile, ProfileMethod
from rhale.tables import Chunk


@crosses_processes
@dataclass(frozen=True, eq=False)
class Traced:
    """What one or more chunks have to say.

    Attributes
    ----------
    curves : tuple of Scatter
        Shapes and levels, one per feature; empty for the marginal plot.
    cells : tuple of Moments
        Predictions around the points of the grid, one per feature.
    gone : dict of int to Scatter
        Predictions without a value, by place of the feature.
    sample : Sample
        Feature values, predictions and (for ICE) curves of a bounded number of rows.
    asked : int
        Rows that the model was asked about.
    """

    curves: tuple[Scatter, ...]
    cells: tuple[Moments, ...]
    gone: dict[int, Scatter]
    sample: Sample
    asked: int

    def __add__(self, other: Traced) -> Traced:
        return Traced(
            tuple(a + b for a, b in zip(self.curves, other.curves, strict=True)),
            tuple(a + b for a, b in zip(self.cells, other.cells, strict=True)),
            {place: found + other.gone[place] for place, found in self.gone.items()},
            self.sample + other.sample,
            self.asked + other.asked,
        )


@dataclass(frozen=True, eq=False)
class ProfileTask:
    """Trace predictions along the grids of some features in a chunk.

    Attributes
    ----------
    predictor : Predictor
        The model.
    method : {"pdp", "ice", "mplot"}
        What to trace.
    names : tuple of str
        Column names.
    columns : tuple of int
        The explained columns.
    grids : tuple of Grid
        From `grid_of_points` for "pdp" and "ice", bins for "mplot".
    levels : tuple of Levels or None
        Levels of the features that have levels.
    removable : tuple of bool
        Whether predictions without a value are asked for.
    last_key : int
        Rows with keys up to this one are kept in the sample.
    batch_rows, seed : int
        Rows in one call of the model, seed of the rows' keys.
    """

    predictor: Predictor
    method: ProfileMethod
    names: tuple[str, ...]
    columns: tuple[int, ...]
    grids: tuple[Grid, ...]
    levels: tuple[Levels | None, ...]
    removable: tuple[bool, ...]
    last_key: np.uint64
    batch_rows: int
    seed: int

    def __call__(self, chunk: Chunk) -> Traced:
        """Ask about every row at every point of every grid, in stacked batches."""
        answers = self.predictor.predict(chunk.rows, chunk.n_rows)
        x = [self.places(chunk, place) for place in range(len(self.columns))]
        cells = tuple(
            measure(grid, xs, answers.T, chunk.weights)
            for grid, xs in zip(self.grids, x, strict=True)
        )
        key = rows_keys(chunk, self.seed)
        rows = np.flatnonzero(key <= self.last_key)
        kept = [np.column_stack(x)[rows], answers[rows]]
        curves, asked = [], chunk.n_rows
        for place in range(0 if self.method == "mplot" else len(x)):
            traced = self.trace(chunk, place, key)
            curves.append(scatter(shapes_and_levels(traced), chunk.weights))
            asked += chunk.n_rows * len(traced)
            if self.method == "ice":
                kept.append(traced[:, rows].transpose(1, 2, 0).reshape(rows.size, -1))
        gone = self.without(chunk, x, answers)
        asked += chunk.n_rows * sum(self.removable)
        sample = keep(chunk, rows, key[rows], np.hstack(kept))
        return Traced(tuple(curves), cells, gone, sample, asked)

    def places(self, chunk: Chunk, place: int) -> FloatArray:
        """Where the rows stand on the axis of a feature; nan for rows without a value."""
        x, levels = chunk.column(self.columns[place]), self.levels[place]
        return x if levels is None else levels.stand(levels.locate(x))

    def trace(self, chunk: Chunk, place: int, key: KeyArray) -> FloatArray:
        """Predictions of all rows along one feature, shape (n_points, n_rows, n_outputs)."""
        column, levels, n_rows = self.columns[place], self.levels[place], chunk.n_rows
        if levels is None:
            changes = [(column, np.full(n_rows, p)) for p in points_of(self.grids[place])]
        else:
            chance = chances(key)
            whole = (np.full(n_rows, k) for k in range(levels.size))
            changes = [(column, levels.at(level, chance)) for level in whole]
        return ask(self.predictor, chunk, changes, self.names, self.batch_rows)

    def without(
        self, chunk: Chunk, x: Sequence[FloatArray], answers: FloatArray
    ) -> dict[int, Scatter]:
        """Predictions without a value: of all rows, or for mplot of those that have none."""
        found = {}
        for place, column in enumerate(self.columns):
            if self.method == "mplot":
                empty = np.isnan(x[place])
                weights = None if chunk.weights is None else chunk.weights[empty]
                found[place] = scatter(answers[empty].T[:, :, None], weights)
            elif self.removable[place]:
                gone = [without_value(chunk, column)]
                (reply,) = ask(self.predictor, chunk, gone, self.names, self.batch_rows)
                found[place] = scatter(reply.T[:, :, None], chunk.weights)
        return found


def grid_of_points(points: FloatArray) -> Grid:
    """Cells that end at the points: as in R's ALEPlot, a point stands for the rows up to it."""
    return Grid(np.append(np.nextafter(points[0], -np.inf), points), closed="right")


def points_of(grid: Grid) -> FloatArray:
    """Points behind such cells."""
    return grid.edges[1:]


def make_profiles(
    task: ProfileTask, traced: Traced, notes: Sequence[tuple[str, ...]]
) -> list[Profile]:
    """Gather the numbers into profiles, features first, outputs within them."""
    make = _marginal if task.method == "mplot" else _dependence
    return [
        replace(
            make(task, traced, place, output),
            notes=notes[place],
            missing=_missing(traced.gone.get(place), output),
        )
        for place in range(len(task.columns))
        for output in range(len(task.predictor.outputs))
    ]


def _missing(found: Scatter | None, output: int) -> Missing | None:
    """The point of a profile that stands for no value; the caller knows how many rows have none."""
    if found is None or found.rows == 0:
        return None
    std = float(np.sqrt(found.covariance[output, 0, 0]))
    return Missing(0, 0.0, float(found.mean[output, 0]), std, found.rows)


def _dependence(task: ProfileTask, traced: Traced, place: int, output: int) -> Profile:
    points, share = points_of(task.grids[place]), traced.cells[place].weight
    found = traced.curves[place]
    covariance = found.covariance[output]
    shape, level = covariance[:-1, :-1], covariance[-1, -1]
    variance = np.diag(shape) + 2 * covariance[:-1, -1] + level
    profile = Profile(
        task.names[task.columns[place]],
        task.predictor.outputs[output],
        task.method,
        points,
        found.mean[output, :-1] + found.mean[output, -1],
        np.sqrt(np.maximum(variance, 0.0)),
        shape,
        np.full(points.size, found.rows),
        share / share.sum(),
    )
    if task.method == "pdp":
        return profile
    curves = _sampled_curves(task, traced, place, output)
    return replace(profile, curves=curves, curve_x=traced.sample.values[:, place])


def _sampled_curves(task: ProfileTask, traced: Traced, place: int, output: int) -> FloatArray:
    """Cut the curves of one feature and output out of the sampled rows."""
    n_outputs = len(task.predictor.outputs)
    sizes = [points_of(g).size for g in task.grids]
    start = len(task.columns) + n_outputs + n_outputs * sum(sizes[:place]) + output * sizes[place]
    return np.asarray(traced.sample.values[:, start : start + sizes[place]])


def _marginal(task: ProfileTask, traced: Traced, place: int, output: int) -> Profile:
    cells = traced.cells[place]
    filled = np.flatnonzero(cells.count > 0)
    variance = cells.variance[output][filled]
    return Profile(
        task.names[task.columns[place]],
        task.predictor.outputs[output],
        "mplot",
        cells.mean_x[filled],
        cells.mean[output][filled],
        np.sqrt(variance),
        np.diag(variance),
        cells.rows[filled],
        cells.weight[filled] / cells.weight.sum(),
    )


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
