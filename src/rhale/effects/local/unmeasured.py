"""A feature with one value: there is nothing to measure, and that is said."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rhale.effects.effect import Effect
from rhale.effects.level_effect import LevelEffect
from rhale.effects.local.measure import (
    ChunkResult,
    Conclusion,
    MeasureContext,
    MeasuredChunk,
    Needs,
    Questions,
    Replies,
)
from rhale.effects.quadrature import RowPlaces
from rhale.features.feature import Feature
from rhale.features.survey import Survey
from rhale.output.note import Note
from rhale.output.times import format_axis_value
from rhale.stats.arrays import FloatArray

NO_EFFECT = "so no effect can be measured"


@dataclass(frozen=True, eq=False)
class Constant:
    """A feature with one value.

    Attributes
    ----------
    feature : Feature
        The feature.
    missing : tuple of Note
        MeasureContext rows without a value.
    """

    feature: Feature
    missing: tuple[Note, ...] = ()
    needs: ClassVar[Needs] = "nothing"
    n_changes: ClassVar[int] = 0
    n_points: ClassVar[int] = 1

    def n_kept(self, n_outputs: int) -> int:  # noqa: ARG002
        """Where a row stands."""
        return 1

    def questions(self, rows: MeasuredChunk) -> Questions:  # noqa: ARG002
        """None."""
        return Questions()

    def add_up(self, rows: MeasuredChunk, asked: Questions, replies: Replies) -> ChunkResult:  # noqa: ARG002
        """Nothing but the value."""
        return ChunkResult(0, np.full((rows.sampled.size, 1), self.feature.axis.low))

    def conclude(self, total: int, kept: FloatArray, about: MeasureContext) -> Conclusion:  # noqa: ARG002
        """Say that there is no effect to measure."""
        made = (describe_constant(self.feature, name, about.survey) for name in about.outputs)
        return Conclusion(
            tuple(replace(one, local_notes=one.local_notes + self.missing) for one in made)
        )


def describe_constant(feature: Feature, output: str, survey: Survey) -> Effect | LevelEffect:
    """An effect without a curve."""
    n_rows, weight = int(survey.n_known[feature.place]), survey.known_weight[feature.place]
    return (
        _one_value(feature, output, n_rows, weight)
        if feature.levels is None
        else _one_level(feature, output, n_rows, weight)
    )


def note_constant(feature: Feature, *, is_traced: bool = False) -> Note:
    """Say that a feature has one value or one level, and where that leaves the curve.

    Parameters
    ----------
    feature : Feature
        The feature.
    is_traced : bool
        Whether the model was asked about other values, all the same.
    """
    if feature.levels is None:
        shown = format_axis_value(feature.axis.low, feature.axis_kind)
        so = "so the rest of the curve is away from all rows" if is_traced else NO_EFFECT
        return Note("constant", f"constant: always {shown}, {so}")
    if feature.levels.pooled_names:
        n_levels = len(feature.levels.pooled_names)
        return Note("constant", f"all {n_levels:,} levels are rare, {NO_EFFECT}")
    (name,) = feature.levels.names
    return Note("constant", f"constant: always {name!r}, {NO_EFFECT}")


def _one_level(feature: Feature, output: str, n_rows: int, weight: float) -> LevelEffect:
    assert feature.levels is not None  # noqa: S101 - our own mistake
    (name,), none = feature.levels.names, np.empty(0)
    return LevelEffect(
        name=feature.name,
        output=output,
        levels=(name,),
        level_count=np.array([n_rows]),
        level_weight=np.array([weight]),
        edges=np.nan_to_num(feature.levels.edges),
        count=np.empty(0, dtype=np.intp),
        rows=none,
        weight=none,
        mean=none,
        std=none,
        correlation=np.empty((0, 0)),
        is_number=feature.levels.is_number,
        pooled=feature.levels.pooled_names,
        local_notes=(note_constant(feature),),
        bin_notes=feature.notes,
    )


def _one_value(feature: Feature, output: str, n_rows: int, weight: float) -> Effect:
    value, unknown, zero = feature.axis.low, np.full(1, np.nan), np.zeros(1)
    return Effect(
        name=feature.name,
        output=output,
        edges=np.array([value, value]),
        count=np.array([n_rows]),
        rows=np.array([feature.axis.rows]),
        weight=np.array([weight]),
        mean_x=np.array([value]),
        std_x=zero,
        low_x=np.array([value]),
        high_x=np.array([value]),
        level=unknown,
        slope=zero,
        std=unknown,
        std_plain=unknown,
        level_error=unknown,
        slope_error=zero,
        row_places=RowPlaces(np.array([value]), np.ones(1)),
        local_notes=(note_constant(feature),),
        kind=feature.axis_kind,
    )


# --- Columns beside the explained ones: kept of the searched rows, so that regions may be told by them


@dataclass(frozen=True, eq=False)
class SplitterColumn:
    """Where rows stand on a column that is not measured."""

    feature: Feature
    needs: ClassVar[Needs] = "nothing"
    n_changes: ClassVar[int] = 0
    n_points: ClassVar[int] = 1

    def n_kept(self, n_outputs: int) -> int:  # noqa: ARG002
        """Where a row stands."""
        return 1

    def questions(self, rows: MeasuredChunk) -> Questions:  # noqa: ARG002
        """None."""
        return Questions()

    def add_up(self, rows: MeasuredChunk, asked: Questions, replies: Replies) -> ChunkResult:  # noqa: ARG002
        """Nothing but where the rows stand."""
        return ChunkResult(0, self.feature.axis_positions(rows.chunk)[rows.sampled, None])

    def conclude(self, total: int, kept: FloatArray, about: MeasureContext) -> Conclusion:  # noqa: ARG002
        """Nothing."""
        return Conclusion()
