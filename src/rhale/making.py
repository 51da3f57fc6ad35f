"""What a pass has measured, made into effects and profiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from rhale.features.feature import Feature
from rhale.features.survey import Survey
from rhale.kernels.level_moments import LevelMoments
from rhale.kernels.moments import Moments
from rhale.kernels.times import written
from rhale.measures import Measured
from rhale.notes import MISSING_POINT, about_gaps, about_missing, left_out, without_point
from rhale.plan import Cells, require_rows
from rhale.results.effect import NO_SAMPLE, Density, Effect, LocalEffects, Missing
from rhale.results.fit import bin_cells
from rhale.results.level_effect import LevelEffect
from rhale.results.profile import Profile


@dataclass(frozen=True, eq=False)
class Found:
    """What the second pass measured, and where it is."""

    measured: Measured
    binned: list[Feature]
    stepped: list[Feature]
    gone: list[Feature]
    refused: Mapping[str, str | None]
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

    def sampled(self, feature: Feature, output: int) -> LocalEffects:
        """Values, local effects and weights of the sampled rows that have a value."""
        place, values = self.binned.index(feature), self.measured.sample.values
        column = len(self.features) + self.n_outputs * (1 + place) + output
        known = ~np.isnan(values[:, place])
        weight = self.measured.sample.weight[known]
        return LocalEffects(values[known, place], values[known, column], weight)

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


@dataclass(frozen=True, eq=False)
class Maker:
    """Make effects of what was measured.

    Attributes
    ----------
    found : Found
        What was measured.
    survey : Survey
        What the first pass learned.
    outputs : tuple of str
        Names of the outputs.
    notes : tuple of str
        What the model has to say.
    density : {"rows", "bins"}
        How rows count for centring and importance.
    """

    found: Found
    survey: Survey
    outputs: tuple[str, ...]
    notes: tuple[str, ...]
    density: Density

    def effect(self, feature: Feature, cells: Cells, output: int, how: tuple[str, ...]) -> Effect:
        """Bin one feature for one output."""
        moments, edges = self.found.cells(feature), cells.grid.edges
        n_inside = int(moments.count.sum())
        require_rows(feature, n_inside, (edges[0], edges[-1]), self.survey)
        notes = (*how, *self.notes, *cells.notes, *self._about_missing(feature))
        n_known = self.survey.n_rows - feature.n_missing
        notes += left_out(n_known, moments, kind=feature.axis_kind) + about_gaps(feature)
        made = bin_cells(
            feature.name,
            self.outputs[output],
            moments.of_output(output, len(self.outputs)),
            cells.partitions[output],
            axis=feature.axis,
        )
        return replace(
            made,
            density=self.density,
            local_notes=notes,
            sample=self.found.sampled(feature, output),
            kind=feature.axis_kind,
            missing=self.found.missing(feature, output),
        )

    def level_effect(self, feature: Feature, output: int) -> LevelEffect:
        """Gather the steps of one feature for one output."""
        assert feature.levels is not None  # noqa: S101 - our own mistake
        levels, moments = feature.levels, self.found.levels(feature)
        steps, width = moments.steps, np.diff(levels.edges)
        return LevelEffect(
            feature.name,
            self.outputs[output],
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
            self.found.missing(feature, output),
            self.notes + self._about_missing(feature),
            feature.notes,
            self.found.sampled_steps(feature, output),
        )

    def constant(self, feature: Feature, output: int) -> Effect | LevelEffect:
        """A feature with one value: nothing but what happens when that is removed."""
        made = constant_effect(feature, self.outputs[output], self.survey)
        notes = made.local_notes + self._about_missing(feature)
        return replace(made, local_notes=notes, missing=self.found.missing(feature, output))

    def _about_missing(self, feature: Feature) -> tuple[str, ...]:
        notes = about_missing(feature, self.survey)
        if not notes:
            return ()
        why = self.found.refused[feature.name]
        return (notes[0] + (MISSING_POINT if why is None else without_point(why)),)


def constant_effect(feature: Feature, output: str, survey: Survey) -> Effect | LevelEffect:
    """Say that a feature with one value has no curve."""
    n_rows, weight = int(survey.n_known[feature.place]), survey.known_weight[feature.place]
    if feature.levels is not None:
        (name,), none = feature.levels.names, np.empty(0)
        note = f"constant: always {name!r}, so no effect can be measured"
        if feature.levels.pooled_names:
            n_levels = len(feature.levels.pooled_names)
            note = f"all {n_levels:,} levels are rare, so no effect can be measured"
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


def finished(profile: Profile, feature: Feature) -> Profile:
    """Add to a profile what its feature is, and how many rows have no value."""
    levels = feature.levels.names if feature.levels is not None else ()
    missing = profile.missing
    if missing is not None:
        missing = replace(missing, count=feature.n_missing, share=feature.missing_share)
    return replace(profile, kind=feature.axis_kind, levels=levels, missing=missing)
