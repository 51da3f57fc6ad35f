"""Predictions along a grid: partial dependence, individual curves, marginal plots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.grid import Grid
from rhale.kernels.moments import Moments, measure
from rhale.kernels.sample import Sample, collect, row_keys
from rhale.kernels.scatter import Scatter, scatter
from rhale.local.ask import ask
from rhale.models import Predictor
from rhale.profile import NO_CURVES, NO_VALUES, Profile, ProfileMethod
from rhale.tables import Chunk

EVERY_ROW = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Traced:
    """What one or more chunks have to say.

    Attributes
    ----------
    curves : tuple of Scatter
        One per feature; empty for the marginal plot.
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
        traces = [] if self.method == "mplot" else [self.trace(chunk, i) for i in range(len(x))]
        key = row_keys(chunk.numbers(), self.seed)
        rows = np.flatnonzero(key <= self.last_key)
        kept = [np.column_stack(x)[rows], answers[rows]]
        if self.method == "ice":
            kept += [t[:, rows].transpose(1, 0, 2).reshape(rows.size, -1) for t in traces]
        weight = np.ones(rows.size) if chunk.weights is None else chunk.weights[rows]
        return Traced(
            tuple(scatter(t, chunk.weights) for t in traces),
            cells,
            collect(key[rows], np.hstack(kept), weight, size=EVERY_ROW),
            chunk.n_rows * (1 + sum(t.shape[2] for t in traces)),
        )

    def trace(self, chunk: Chunk, place: int) -> FloatArray:
        """Curves of all rows along one feature, shape (n_outputs, n_rows, n_points)."""
        column = self.columns[place]
        points = points_of(self.grids[place])
        changes = [(column, np.full(chunk.n_rows, point)) for point in points]
        answers = ask(self.predictor, chunk, changes, self.names, self.batch_rows)
        return answers.transpose(2, 1, 0)


def grid_of_points(points: FloatArray) -> Grid:
    """Cells that end at the points: as in R's ALEPlot, a point stands for the rows up to it."""
    return Grid(np.append(np.nextafter(points[0], -np.inf), points), closed="right")


def points_of(grid: Grid) -> FloatArray:
    """Points behind such cells."""
    return grid.edges[1:]


def make_profiles(task: ProfileTask, traced: Traced, notes: list[tuple[str, ...]]) -> list[Profile]:
    """Gather the numbers into profiles, features first, outputs within them."""
    profiles = []
    for place, column in enumerate(task.columns):
        for output, label in enumerate(task.predictor.outputs):
            make = _marginal if task.method == "mplot" else _dependence
            profiles.append(
                make(task, traced, place, output, task.names[column], label, notes[place])
            )
    return profiles


def _dependence(
    task: ProfileTask,
    traced: Traced,
    place: int,
    output: int,
    name: str,
    label: str,
    notes: tuple[str, ...],
) -> Profile:
    grid, found = task.grids[place], traced.curves[place]
    points, share = points_of(grid), traced.cells[place].weight
    curves, curve_x = NO_CURVES, NO_VALUES
    if task.method == "ice":
        curves = _sampled_curves(task, traced, place, output)
        curve_x = traced.sample.values[:, place]
    return Profile(
        name,
        label,
        task.method,
        points,
        found.mean[output],
        found.covariance[output],
        np.full(points.size, found.rows),
        share / share.sum(),
        curves,
        curve_x,
        notes,
    )


def _sampled_curves(task: ProfileTask, traced: Traced, place: int, output: int) -> FloatArray:
    """Cut the curves of one feature and output out of the sampled rows."""
    n_outputs = len(task.predictor.outputs)
    sizes = [points_of(g).size for g in task.grids]
    start = len(task.columns) + n_outputs + n_outputs * sum(sizes[:place])
    start += output * sizes[place]
    return traced.sample.values[:, start : start + sizes[place]]


def _marginal(
    task: ProfileTask,
    traced: Traced,
    place: int,
    output: int,
    name: str,
    label: str,
    notes: tuple[str, ...],
) -> Profile:
    cells = traced.cells[place]
    filled = np.flatnonzero(cells.count > 0)
    return Profile(
        name,
        label,
        "mplot",
        cells.mean_x[filled],
        cells.mean[output][filled],
        np.diag(cells.variance[output][filled]),
        cells.rows[filled],
        cells.weight[filled] / cells.weight.sum(),
        notes=notes,
    )
