"""The second pass over the rows, and the results that are made of what it brings back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rhale.engines.fold import SECOND_LOOK, Piece, Rows
from rhale.features.feature import Feature
from rhale.features.survey import Survey
from rhale.gpu.task import most_rows, on_device
from rhale.kernels import FloatArray
from rhale.kernels.moments import Moments
from rhale.making import Found, Maker, finished
from rhale.measures import LocalTask, StepPlan, refuses_missing
from rhale.measures.tracing import ProfileTask, grid_of_points, make_profiles
from rhale.models import Predictor
from rhale.notes import about_curves, about_missing, left_out
from rhale.plan import (
    BY_STEPS,
    USUAL_WAYS,
    Cells,
    Settings,
    plan_cells,
    plan_local,
    plan_marginal,
    plan_points,
)
from rhale.results.effect import Density, Effect
from rhale.results.level_effect import LevelEffect
from rhale.tables import Chunk

SAMPLE_ROWS = 2_000  # distinct rows kept in the result
SAMPLE_NUMBERS = 400_000  # and not many more numbers than this, however wide the table
FEWEST_SAMPLED = 200


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
        """Local effects, moments, bins; steps between levels."""
        names, outputs = self.rows.table.names, self.predictor.outputs
        varying = [f for f in self.features if not f.is_constant]
        binned = [f for f in varying if f.levels is None]
        stepped = [f for f in varying if f.levels is not None]
        cells = [plan_cells(self.settings, f, outputs) for f in binned]
        plans, how, asked = plan_local(
            self.settings, self.predictor, self.survey, binned, cells, names, self.rows.batch_rows
        )
        refused, more = self.removable()
        gone = [f for f in self.features if f.n_missing and refused[f.name] is None]
        task = LocalTask(
            self.predictor,
            names,
            tuple(f.column for f in binned),
            tuple(c.grid for c in cells),
            tuple(plans),
            tuple(StepPlan(f.column, f.levels) for f in stepped if f.levels is not None),
            tuple(f.column for f in gone),
            self.last_key(1 + len(outputs)),
            self.rows.batch_rows,
            self.seed,
        )
        measured = self.fold(on_device(task))
        found = Found(measured, binned, stepped, gone, refused, len(outputs))
        sample = measured.sample
        fine = {f.name: m for f, m in zip(binned, measured.cells, strict=True)}
        ways = {f.name: text for f, text in zip(binned, how, strict=True)}
        return Made(
            self.made(found, cells, how),
            sample.values[:, len(varying) : len(varying) + len(outputs)],
            self.sampled_columns(sample.values, found.features),
            sample.weight,
            {} if self.settings.method == "ale" else fine,
            asked + more + measured.asked,
            {**ways, **{f.name: BY_STEPS for f in stepped}},
        )

    def fold(self, task: Callable[[Chunk], Piece]) -> Piece:
        """Go through the rows, in chunks that suit the task."""
        rows, most = self.rows, most_rows(self.rows.table, task)
        if most is not None:
            rows = replace(rows, batch_rows=min(rows.batch_rows, most))
        return rows.fold(task, SECOND_LOOK)

    def made(
        self, found: Found, cells: Sequence[Cells], how: Sequence[str]
    ) -> tuple[Effect | LevelEffect, ...]:
        """Effects of all features on all outputs, in order."""
        outputs = self.predictor.outputs
        density: Density = "bins" if self.settings.method == "ale" else "rows"
        maker = Maker(found, self.survey, outputs, self.predictor.notes, density)
        every, made = range(len(outputs)), dict[str, list[Effect | LevelEffect]]()
        for feature, chosen, way in zip(found.binned, cells, how, strict=True):
            said = () if way in USUAL_WAYS else (way,)
            made[feature.name] = [maker.effect(feature, chosen, o, said) for o in every]
        for feature in found.stepped:
            made[feature.name] = [maker.level_effect(feature, o) for o in every]
        for feature in self.features:
            if feature.is_constant:
                made[feature.name] = [maker.constant(feature, o) for o in every]
        return tuple(effect for f in self.features for effect in made[f.name])

    def removable(self) -> tuple[dict[str, str | None], int]:
        """Why the model cannot do without features with missing values (None: it can); rows asked."""
        probe = self.survey.probe.chunk
        some = [f for f in self.features if f.n_missing]
        found = {f.name: refuses_missing(self.predictor, probe, f.column) for f in some}
        return found, probe.n_rows * len(some)

    def profiles(self) -> Made:
        """Predictions along grids."""
        outputs, settings, n_features = self.predictor.outputs, self.settings, len(self.features)
        if settings.method == "mplot":
            grids = [plan_marginal(settings, f, outputs[0]) for f in self.features]
        else:
            grids = [grid_of_points(plan_points(settings, f, outputs[0])) for f in self.features]
        refused, asked = self.removable() if settings.method != "mplot" else ({}, 0)
        n_points = max(g.n_cells for g in grids) if settings.method == "ice" else 1
        task = ProfileTask(
            self.predictor,
            settings.method,  # type: ignore[arg-type]
            self.rows.table.names,
            tuple(f.column for f in self.features),
            tuple(grids),
            tuple(f.levels for f in self.features),
            tuple(refused.get(f.name, "") is None for f in self.features),
            self.last_key(1 + n_points * len(outputs)),
            self.rows.batch_rows,
            self.seed,
        )
        traced = self.fold(task)
        values, cells = traced.sample.values, zip(self.features, traced.cells, strict=True)
        notes = [self.about_profile(f, c, task.last_key, len(values)) for f, c in cells]
        made, owner = make_profiles(task, traced, notes), np.repeat(range(n_features), len(outputs))
        return Made(
            tuple(finished(p, self.features[i]) for p, i in zip(made, owner, strict=True)),
            values[:, n_features : n_features + len(outputs)],
            values[:, :n_features],
            traced.sample.weight,
            {},
            asked + traced.asked,
            {},
        )

    def about_profile(
        self, feature: Feature, cells: Moments, last_key: np.uint64, n_kept: int
    ) -> tuple[str, ...]:
        """What a reader of a profile should know."""
        method, n_known = self.settings.method, self.survey.n_rows - feature.n_missing
        outside = "count for the average, but not for the centring"
        outside = "are left out" if method == "mplot" else outside
        notes = about_curves(self.survey, last_key, n_kept) if method == "ice" else ()
        notes += left_out(n_known, cells, outside, feature.axis_kind) + feature.notes
        notes += about_missing(feature, self.survey)
        return notes + self.predictor.notes

    def last_key(self, n_numbers: int) -> np.uint64:
        """Largest key of the rows that the result keeps."""
        wide = SAMPLE_NUMBERS // (len(self.features) * n_numbers)
        n_kept = int(np.clip(wide, FEWEST_SAMPLED, SAMPLE_ROWS))
        keys = self.survey.sample.key
        return np.uint64(keys[n_kept - 1] if keys.size > n_kept else np.iinfo(np.uint64).max)

    def sampled_columns(self, values: FloatArray, varying: Sequence[Feature]) -> FloatArray:
        """Sampled values (or levels) of all explained features, constant ones included."""
        columns = np.empty((len(values), len(self.features)))
        for place, feature in enumerate(self.features):
            columns[:, place] = feature.axis.low
            if feature in varying:
                columns[:, place] = values[:, varying.index(feature)]
        return columns
