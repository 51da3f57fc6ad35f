"""The passes over the rows, and the results that are made of what they bring back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, TypeVar

import numpy as np

from rhale.binning import bin_cells
from rhale.effect import NO_SAMPLE, Effect, LocalEffects
from rhale.engines import map_chunks, map_in_threads
from rhale.kernels import FloatArray
from rhale.kernels.axis import MANY_VALUES, wide_gaps
from rhale.kernels.moments import Moments
from rhale.local import LocalTask, Measured
from rhale.models import Predictor
from rhale.plan import (
    MEAN_SHARE,
    USUAL_WAYS,
    Cells,
    Feature,
    Settings,
    plan_cells,
    plan_local,
    plan_marginal,
    plan_points,
    require_rows,
)
from rhale.profiles import ProfileTask, grid_of_points, make_profiles
from rhale.tables import Chunk, Table
from rhale.tables.chunk import read_chunks
from rhale.tables.survey import Survey

Progress = Callable[[int, int], object]
Piece = TypeVar("Piece")
SAMPLE_ROWS = 2_000  # distinct rows kept in the result
SAMPLE_NUMBERS = 400_000  # and not many more numbers than this, however wide the table
FEWEST_SAMPLED = 200
N_STEPS, FEWEST_ROWS = 50, 256  # of a progress bar, and rows in each


@dataclass(frozen=True, eq=False)
class Rows:
    """The table, read in chunks as often as needed, with progress."""

    table: Table
    batch_rows: int
    progress: bool | Progress | None
    n_threads: int = 1

    def fold(self, task: Callable[[Chunk], Piece], *, silent: bool = False) -> Piece:
        """Apply a task to all chunks and add up what comes back, in order."""
        size = self.batch_rows if silent else self.chunk_rows
        chunks = read_chunks(self.table, size)
        if self.n_threads > 1 and size < self.table.n_rows:
            pieces = map_in_threads(task, chunks, self.n_threads)
        else:
            pieces = map_chunks(task, chunks)
        return reduce(add, pieces if silent else self._shown(pieces))

    @property
    def chunk_rows(self) -> int:
        """Rows in a chunk: as many as the model takes at once, fewer where progress is watched.

        A slow model answers for minutes about one large chunk. Small ones cost little: changes of
        several features are stacked until the model's batch is full.
        """
        if not self.progress:
            return self.batch_rows
        return min(max(self.table.n_rows // N_STEPS, FEWEST_ROWS), self.batch_rows)

    def _shown(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        """Pass pieces on, and tell how far the work is."""
        if not self.progress:
            yield from pieces
            return
        n_rows, done = self.table.n_rows, 0
        if callable(self.progress):
            for piece in pieces:
                yield piece
                done = min(done + self.chunk_rows, n_rows)
                self.progress(done, n_rows)
            return
        from tqdm.auto import tqdm

        with tqdm(total=n_rows, unit="row", unit_scale=True, desc="rhale") as bar:
            for piece in pieces:
                yield piece
                step = min(self.chunk_rows, n_rows - done)
                done += step
                bar.update(step)


@dataclass(frozen=True, eq=False)
class Made:
    """What a job made, ready to be put into an Explanation."""

    effects: tuple[Any, ...]
    predictions: FloatArray
    sample_x: FloatArray
    sample_weight: FloatArray
    cells: dict[str, Moments]
    asked: int
    local_effects: dict[str, str]


@dataclass(frozen=True, eq=False)
class Job:
    """The second pass, and what follows from it."""

    settings: Settings
    rows: Rows
    survey: Survey
    predictor: Predictor
    features: list[Feature]
    seed: int

    def effects(self) -> Made:
        """Local effects, moments, bins."""
        names, outputs = self.rows.table.names, self.predictor.outputs
        varying = [f for f in self.features if not f.is_constant]
        cells = [plan_cells(self.settings, f, outputs) for f in varying]
        plans, how, asked = plan_local(
            self.settings, self.predictor, self.survey, varying, cells, names, self.rows.batch_rows
        )
        task = LocalTask(
            self.predictor,
            names,
            tuple(f.column for f in varying),
            tuple(c.grid for c in cells),
            tuple(plans),
            self.last_key(1 + len(outputs)),
            self.rows.batch_rows,
            self.seed,
        )
        measured = self.rows.fold(task)
        made: dict[str, list[Effect]] = {}
        for place, (feature, chosen) in enumerate(zip(varying, cells, strict=True)):
            found, edges = measured.cells[place], chosen.grid.edges
            n_inside = int(found.count.sum())
            where = self.features.index(feature)
            require_rows(feature.name, n_inside, (edges[0], edges[-1]), self.survey, where)
            said = () if how[place] in USUAL_WAYS else (how[place],)
            notes = (*said, *self.predictor.notes)
            made[feature.name] = [
                self.one_effect(feature, chosen, measured, place, output, notes)
                for output in range(len(outputs))
            ]
        for feature in self.features:
            if feature.is_constant:
                made[feature.name] = [constant_effect(feature, o, self.survey) for o in outputs]
        fine = {f.name: m for f, m in zip(varying, measured.cells, strict=True)}
        return Made(
            tuple(e for f in self.features for e in made[f.name]),
            measured.sample.values[:, len(varying) : len(varying) + len(outputs)],
            self.sampled_columns(measured.sample.values, varying),
            measured.sample.weight,
            {} if self.settings.method == "ale" else fine,
            asked + measured.asked,
            {f.name: text for f, text in zip(varying, how, strict=True)},
        )

    def one_effect(
        self,
        feature: Feature,
        cells: Cells,
        measured: Measured,
        place: int,
        output: int,
        how: tuple[str, ...],
    ) -> Effect:
        """Bin one feature for one output."""
        n_outputs, n_features = len(self.predictor.outputs), len(measured.cells)
        found, sample = measured.cells[place], measured.sample
        column = n_features + n_outputs + place * n_outputs + output
        return bin_cells(
            feature.name,
            self.predictor.outputs[output],
            found.series(*range(output, len(found.mean), n_outputs)),
            cells.partitions[output],
            axis=feature.axis,
            density="bins" if self.settings.method == "ale" else "rows",
            notes=(*how, *cells.notes, *left_out(self.survey, found), *about_gaps(feature)),
            sample=LocalEffects(sample.values[:, place], sample.values[:, column], sample.weight),
        )

    def profiles(self) -> Made:
        """Predictions along grids."""
        names, outputs, settings = self.rows.table.names, self.predictor.outputs, self.settings
        if settings.method == "mplot":
            grids = [plan_marginal(settings, f, outputs[0]) for f in self.features]
        else:
            grids = [grid_of_points(plan_points(settings, f, outputs[0])) for f in self.features]
        n_points = max(g.n_cells for g in grids) if settings.method == "ice" else 1
        task = ProfileTask(
            self.predictor,
            settings.method,  # type: ignore[arg-type]
            names,
            tuple(f.column for f in self.features),
            tuple(grids),
            self.last_key(1 + n_points * len(outputs)),
            self.rows.batch_rows,
            self.seed,
        )
        traced = self.rows.fold(task)
        n_features = len(self.features)
        values = traced.sample.values
        outside = "are left out"
        if settings.method != "mplot":
            outside = "count for the average, but not for the centring"
        kept = () if settings.method != "ice" else self.about_curves(task.last_key, len(values))
        own = self.predictor.notes
        notes = [kept + left_out(self.survey, c, outside) + own for c in traced.cells]
        return Made(
            tuple(make_profiles(task, traced, notes)),
            values[:, n_features : n_features + len(outputs)],
            values[:, :n_features],
            traced.sample.weight,
            {},
            traced.asked,
            {},
        )

    def about_curves(self, last_key: np.uint64, n_kept: int) -> tuple[str, ...]:
        """Say that the curves of some rows only are kept, if so."""
        if last_key == np.iinfo(np.uint64).max:
            return ()
        n_rows = self.survey.n_rows
        return (f"single curves of {n_kept:,} of {n_rows:,} rows are kept; averages use all",)

    def last_key(self, n_numbers: int) -> np.uint64:
        """Largest key of the rows that the result keeps."""
        wide = SAMPLE_NUMBERS // (len(self.features) * n_numbers)
        n_kept = int(np.clip(wide, FEWEST_SAMPLED, SAMPLE_ROWS))
        keys = self.survey.sample.key
        return np.uint64(keys[n_kept - 1] if keys.size > n_kept else np.iinfo(np.uint64).max)

    def sampled_columns(self, values: FloatArray, varying: Sequence[Feature]) -> FloatArray:
        """Sampled values of all explained features, constant ones included."""
        columns = np.empty((len(values), len(self.features)))
        for place, feature in enumerate(self.features):
            columns[:, place] = feature.axis.low
            if feature in varying:
                columns[:, place] = values[:, varying.index(feature)]
        return columns


def constant_effect(feature: Feature, output: str, survey: Survey) -> Effect:
    """Say that a feature with one value has no curve."""
    value, unknown = feature.axis.low, np.full(1, np.nan)
    note = f"constant: always {value:g}, so no effect can be measured"
    return Effect(
        feature.name,
        output,
        np.array([value, value]),
        np.array([survey.n_rows]),
        np.array([feature.axis.rows]),
        np.array([survey.weight]),
        np.array([value]),
        np.zeros(1),
        unknown,
        np.zeros(1),
        unknown,
        unknown,
        unknown,
        np.zeros(1),
        local_notes=(note,),
        sample=NO_SAMPLE,
    )


def left_out(survey: Survey, cells: Moments, what: str = "are left out") -> tuple[str, ...]:
    """Say how many rows lie outside the cells, and what that means for them."""
    missing = survey.n_rows - int(cells.count.sum())
    if not missing:
        return ()
    low, high = cells.grid.edges[[0, -1]]
    return (f"{missing:,} of {survey.n_rows:,} rows lie outside [{low:g}, {high:g}] and {what}",)


def about_gaps(feature: Feature) -> tuple[str, ...]:
    """Say where the axis has no rows although there are rows on both sides."""
    if feature.whole or feature.axis.values.size <= MANY_VALUES:
        return ()
    gaps = wide_gaps(feature.axis, MEAN_SHARE / 2 * float(feature.axis.weight.sum()))
    return tuple(
        f"no rows between {a:.4g} and {b:.4g}: the curve across this gap rests on its neighbours"
        for a, b in gaps
    )
