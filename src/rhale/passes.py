"""The passes over the rows, and the results that are made of what they bring back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, TypeVar

import numpy as np

from rhale.binning import bin_cells
from rhale.effect import NO_SAMPLE, Effect, LocalEffects, Missing
from rhale.engines import map_chunks, map_in_threads
from rhale.features import Feature
from rhale.kernels import FloatArray
from rhale.kernels.axis import MANY_VALUES, wide_gaps
from rhale.kernels.levels import LevelMoments
from rhale.kernels.moments import Moments
from rhale.level_effect import LevelEffect
from rhale.local import LocalTask, Measured, StepPlan, takes_missing
from rhale.models import Predictor
from rhale.plan import (
    BY_STEPS,
    MEAN_SHARE,
    USUAL_WAYS,
    Cells,
    Settings,
    plan_cells,
    plan_local,
    plan_marginal,
    plan_points,
    require_rows,
)
from rhale.profile import Profile
from rhale.profiles import ProfileTask, grid_of_points, make_profiles
from rhale.tables import Chunk, Table
from rhale.tables.chunk import read_chunks
from rhale.tables.survey import Survey
from rhale.times import AxisKind, written

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
        """Local effects, moments, bins; steps between levels."""
        names, outputs = self.rows.table.names, self.predictor.outputs
        varying = [f for f in self.features if not f.is_constant]
        binned = [f for f in varying if f.levels is None]
        stepped = [f for f in varying if f.levels is not None]
        cells = [plan_cells(self.settings, f, outputs) for f in binned]
        plans, how, asked = plan_local(
            self.settings, self.predictor, self.survey, binned, cells, names, self.rows.batch_rows
        )
        gone, more = self.removable()
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
        found = Found(self.rows.fold(task), binned, stepped, gone, len(outputs))
        made: dict[str, list[Effect | LevelEffect]] = {}
        for feature, chosen, way in zip(binned, cells, how, strict=True):
            said = () if way in USUAL_WAYS else (way,)
            made[feature.name] = [
                self.one_effect(feature, chosen, found, output, said)
                for output in range(len(outputs))
            ]
        for feature in stepped:
            made[feature.name] = [
                self.level_effect(feature, found, output) for output in range(len(outputs))
            ]
        for feature in self.features:
            if feature.is_constant:
                made[feature.name] = [constant_effect(feature, o, self.survey) for o in outputs]
        fine = {f.name: m for f, m in zip(binned, found.measured.cells, strict=True)}
        sample = found.measured.sample
        ways = {f.name: text for f, text in zip(binned, how, strict=True)}
        return Made(
            tuple(e for f in self.features for e in made[f.name]),
            sample.values[:, len(varying) : len(varying) + len(outputs)],
            self.sampled_columns(sample.values, found.features),
            sample.weight,
            {} if self.settings.method == "ale" else fine,
            asked + more + found.measured.asked,
            {**ways, **{f.name: BY_STEPS for f in stepped}},
        )

    def removable(self) -> tuple[list[Feature], int]:
        """Features with missing values that the model can do without, and rows asked."""
        table, probe = self.rows.table, self.survey.probe.chunk
        some = [f for f in self.features if f.n_missing and not f.is_constant]
        found = [
            f
            for f in some
            if takes_missing(self.predictor, probe, f.column, table.names, self.rows.batch_rows)
        ]
        return found, probe.n_rows * len(some)

    def one_effect(
        self, feature: Feature, cells: Cells, found: Found, output: int, how: tuple[str, ...]
    ) -> Effect:
        """Bin one feature for one output."""
        moments, edges = found.cells(feature), cells.grid.edges
        n_inside = int(moments.count.sum())
        require_rows(feature, n_inside, (edges[0], edges[-1]), self.survey)
        n_outputs = len(self.predictor.outputs)
        x, effects, weight = found.sampled(feature, output)
        notes = (*how, *self.predictor.notes, *cells.notes)
        notes += self.about_missing(feature, found) + about_gaps(feature)
        notes += left_out(self.survey.n_rows - feature.n_missing, moments, kind=feature.axis_kind)
        effect = bin_cells(
            feature.name,
            self.predictor.outputs[output],
            moments.series(*range(output, len(moments.mean), n_outputs)),
            cells.partitions[output],
            axis=feature.axis,
            density="bins" if self.settings.method == "ale" else "rows",
            notes=notes,
            sample=LocalEffects(x, effects, weight),
        )
        missing = found.missing(feature, output)
        return replace(effect, kind=feature.axis_kind, missing=missing)

    def level_effect(self, feature: Feature, found: Found, output: int) -> LevelEffect:
        """Gather the steps of one feature for one output."""
        assert feature.levels is not None  # noqa: S101 - our own mistake
        levels, moments = feature.levels, found.levels(feature)
        steps, width = moments.steps, np.diff(levels.edges)
        return LevelEffect(
            feature.name,
            self.predictor.outputs[output],
            levels.names,
            moments.count,
            moments.weight,
            levels.edges,
            steps.count,
            steps.rows,
            steps.weight,
            steps.mean[output] / width,
            steps.std[output] / width,
            steps.correlation[output],
            levels.is_number,
            levels.pooled_names,
            found.missing(feature, output),
            self.predictor.notes + self.about_missing(feature, found),
            feature.notes,
            found.sampled_steps(feature, output),
        )

    def about_missing(self, feature: Feature, found: Found | None = None) -> tuple[str, ...]:
        """Say how many rows have no value, and what becomes of them."""
        if not feature.n_missing:
            return ()
        share = f"{100 * feature.missing_share:.2g} %"
        n_rows = f"{feature.n_missing:,} of {self.survey.n_rows:,} rows ({share}) have no value"
        if found is None or feature in found.gone:
            return (f"{n_rows}: they are no part of the curve, 'missing' is a point of its own",)
        return (f"{n_rows} and are no part of the curve; the model takes no others without one",)

    def profiles(self) -> Made:
        """Predictions along grids."""
        names, outputs, settings = self.rows.table.names, self.predictor.outputs, self.settings
        if settings.method == "mplot":
            grids = [plan_marginal(settings, f, outputs[0]) for f in self.features]
        else:
            grids = [grid_of_points(plan_points(settings, f, outputs[0])) for f in self.features]
        gone, asked = self.removable() if settings.method != "mplot" else ([], 0)
        n_points = max(g.n_cells for g in grids) if settings.method == "ice" else 1
        task = ProfileTask(
            self.predictor,
            settings.method,  # type: ignore[arg-type]
            names,
            tuple(f.column for f in self.features),
            tuple(grids),
            tuple(f.levels for f in self.features),
            tuple(f in gone for f in self.features),
            self.last_key(1 + n_points * len(outputs)),
            self.rows.batch_rows,
            self.seed,
        )
        traced = self.rows.fold(task)
        n_features = len(self.features)
        values = traced.sample.values
        made = [
            self.finished(profile, feature)
            for profile, feature in zip(
                make_profiles(
                    task,
                    traced,
                    [
                        self.about_profile(f, c, len(values), task.last_key)
                        for f, c in zip(self.features, traced.cells, strict=True)
                    ],
                ),
                [f for f in self.features for _ in outputs],
                strict=True,
            )
        ]
        return Made(
            tuple(made),
            values[:, n_features : n_features + len(outputs)],
            values[:, :n_features],
            traced.sample.weight,
            {},
            asked + traced.asked,
            {},
        )

    def finished(self, profile: Profile, feature: Feature) -> Profile:
        """Add what the feature is, and how many rows have no value."""
        levels = feature.levels.names if feature.levels is not None else ()
        missing = profile.missing
        if missing is not None:
            missing = replace(missing, count=feature.n_missing, share=feature.missing_share)
        return replace(profile, kind=feature.axis_kind, levels=levels, missing=missing)

    def about_profile(
        self, feature: Feature, cells: Moments, n_kept: int, last_key: np.uint64
    ) -> tuple[str, ...]:
        """What a reader of a profile should know."""
        is_marginal = self.settings.method == "mplot"
        outside = (
            "are left out" if is_marginal else "count for the average, but not for the centring"
        )
        notes = self.about_curves(last_key, n_kept) if self.settings.method == "ice" else ()
        n_known = self.survey.n_rows - feature.n_missing
        notes += left_out(n_known, cells, outside, feature.axis_kind) + feature.notes
        if feature.n_missing:
            share = f"{100 * feature.missing_share:.2g} %"
            notes += (
                f"{feature.n_missing:,} of {self.survey.n_rows:,} rows ({share}) have no value",
            )
        return notes + self.predictor.notes

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
        """Sampled values (or levels) of all explained features, constant ones included."""
        columns = np.empty((len(values), len(self.features)))
        for place, feature in enumerate(self.features):
            columns[:, place] = feature.axis.low
            if feature in varying:
                columns[:, place] = values[:, varying.index(feature)]
        return columns


@dataclass(frozen=True, eq=False)
class Found:
    """What the second pass measured, and where it is."""

    measured: Measured
    binned: list[Feature]
    stepped: list[Feature]
    gone: list[Feature]
    n_outputs: int

    @property
    def features(self) -> list[Feature]:
        """The features in the order of the sample's columns."""
        return self.binned + self.stepped

    def cells(self, feature: Feature) -> Moments:
        """Cells of a feature with bins."""
        return self.measured.cells[self.binned.index(feature)]

    def levels(self, feature: Feature) -> LevelMoments:
        """Levels of a feature with levels."""
        return self.measured.levels[self.stepped.index(feature)]

    def sampled(self, feature: Feature, output: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Values, local effects and weights of the sampled rows that have a value."""
        place, values = self.binned.index(feature), self.measured.sample.values
        column = len(self.features) + self.n_outputs * (1 + place) + output
        known = ~np.isnan(values[:, place])
        return values[known, place], values[known, column], self.measured.sample.weight[known]

    def sampled_steps(self, feature: Feature, output: int) -> LocalEffects:
        """Steps of the sampled rows, at the middles of the steps."""
        assert feature.levels is not None  # noqa: S101 - our own mistake
        place, n_outputs = self.stepped.index(feature), self.n_outputs
        values, edges = self.measured.sample.values, feature.levels.edges
        stands = values[:, len(self.binned) + place]
        level = np.where(np.isnan(stands), -1, np.searchsorted(edges, stands))
        start = len(self.features) + n_outputs * (1 + len(self.binned) + 2 * place)
        parts = []
        for side, shift in ((0, 1), (1, 0)):  # down: the step before the level; up: behind it
            step = level - shift
            known = (level >= 0) & (step >= 0) & (step < edges.size - 1)
            k = step[known]
            effects = values[known, start + side * n_outputs + output] / (edges[k + 1] - edges[k])
            middle = 0.5 * (edges[k] + edges[k + 1])
            parts.append((middle, effects, self.measured.sample.weight[known]))
        return LocalEffects(*(np.concatenate(pair) for pair in zip(*parts, strict=True)))

    def missing(self, feature: Feature, output: int) -> Missing | None:
        """What happens when the value is removed, if that was asked."""
        if feature not in self.gone:
            return None
        found = self.measured.gone[self.gone.index(feature)]
        mean, variance = found.mean[output, 0], found.covariance[output, 0, 0]
        return Missing(
            feature.n_missing,
            feature.missing_share,
            float(mean),
            float(np.sqrt(variance)),
            found.rows,
        )


def constant_effect(feature: Feature, output: str, survey: Survey) -> Effect | LevelEffect:
    """Say that a feature with one value has no curve."""
    n_rows, weight = int(survey.n_known[feature.place]), survey.known_weight[feature.place]
    if feature.levels is not None:
        (name,), none = feature.levels.names, np.empty(0)
        note = f"constant: always {name!r}, so no effect can be measured"
        return LevelEffect(
            feature.name, output, (name,), np.array([n_rows]), np.array([weight]),
            np.nan_to_num(feature.levels.edges), np.empty(0, dtype=np.intp), none, none, none, none,
            np.empty((0, 0)), feature.levels.is_number, feature.levels.pooled_names,
            None, (note,), feature.notes,
        )  # fmt: skip
    value, unknown = feature.axis.low, np.full(1, np.nan)
    note = f"constant: always {written(value, feature.axis_kind)}, so no effect can be measured"
    return Effect(
        feature.name,
        output,
        np.array([value, value]),
        np.array([n_rows]),
        np.array([feature.axis.rows]),
        np.array([weight]),
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
        kind=feature.axis_kind,
    )


def left_out(
    n_rows: int, cells: Moments, what: str = "are left out", kind: AxisKind = "number"
) -> tuple[str, ...]:
    """Say how many rows lie outside the cells, and what that means for them."""
    n_outside = n_rows - int(cells.count.sum())
    if not n_outside:
        return ()
    low, high = (written(v, kind) for v in cells.grid.edges[[0, -1]])
    return (f"{n_outside:,} of {n_rows:,} rows lie outside [{low}, {high}] and {what}",)


def about_gaps(feature: Feature) -> tuple[str, ...]:
    """Say where the axis has no rows although there are rows on both sides."""
    if feature.whole or feature.axis.values.size <= MANY_VALUES:
        return ()
    gaps = wide_gaps(feature.axis, MEAN_SHARE / 2 * float(feature.axis.weight.sum()))
    kind = feature.axis_kind
    return tuple(
        f"no rows between {short(a, kind)} and {short(b, kind)}: the curve across this gap rests on its neighbours"
        for a, b in gaps
    )


def short(value: float, kind: AxisKind) -> str:
    """Write a place on an axis with few digits."""
    return f"{value:.4g}" if kind == "number" else written(value, kind)
