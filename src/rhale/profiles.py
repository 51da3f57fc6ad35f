"""Predictions along a grid: partial dependence, individual curves, marginal plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.grid import Grid
from rhale.kernels.moments import Moments, measure
from rhale.kernels.sample import Sample
from rhale.kernels.scatter import Scatter, scatter
from rhale.local.ask import ask
from rhale.models import Predictor
from rhale.profile import Profile, ProfileMethod
from rhale.tables import Chunk
from rhale.tables.survey import keep, rows_to_keep


@dataclass(frozen=True, eq=False)
class Traced:
    """What one or more chunks have to say.

    Attributes
    ----------
    curves : tuple of Scatter
        Shapes and levels, one per feature; empty for the marginal plot.
    cells : tuple of Moments
        Predictions around the points of the grid, one per feature.
    sample : Sample
        Feature values, predictions and (for ICE) curves of a bounded number of rows.
    asked : int
        Rows that the model was asked about.
    """

    curves: tuple[Scatter, ...]
    cells: tuple[Moments, ...]
    sample: Sample
    asked: int

    def __add__(self, other: Traced) -> Traced:
        return Traced(
            tuple(a + b for a, b in zip(self.curves, other.curves, strict=True)),
            tuple(a + b for a, b in zip(self.cells, other.cells, strict=True)),
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
    last_key: np.uint64
    batch_rows: int
    seed: int

    def __call__(self, chunk: Chunk) -> Traced:
        """Ask about every row at every point of every grid, in stacked batches."""
        answers = self.predictor.predict(chunk.rows, chunk.n_rows)
        x = [chunk.column(c) for c in self.columns]
        cells = tuple(
            measure(grid, xs, answers.T, chunk.weights)
            for grid, xs in zip(self.grids, x, strict=True)
        )
        rows, key = rows_to_keep(chunk, self.last_key, self.seed)
        kept = [np.column_stack(x)[rows], answers[rows]]
        curves, asked = [], chunk.n_rows
        for place in range(0 if self.method == "mplot" else len(x)):
            traced = self.trace(chunk, place)
            curves.append(scatter(shapes_and_levels(traced), chunk.weights))
            asked += chunk.n_rows * len(traced)
            if self.method == "ice":
                kept.append(traced[:, rows].transpose(1, 2, 0).reshape(rows.size, -1))
        return Traced(tuple(curves), cells, keep(chunk, rows, key, np.hstack(kept)), asked)

    def trace(self, chunk: Chunk, place: int) -> FloatArray:
        """Predictions of all rows along one feature, shape (n_points, n_rows, n_outputs)."""
        column, points = self.columns[place], points_of(self.grids[place])
        changes = [(column, np.full(chunk.n_rows, point)) for point in points]
        return ask(self.predictor, chunk, changes, self.names, self.batch_rows)


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
        replace(make(task, traced, place, output), notes=notes[place])
        for place in range(len(task.columns))
        for output in range(len(task.predictor.outputs))
    ]


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
