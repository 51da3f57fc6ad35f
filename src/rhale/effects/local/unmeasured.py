"""Features without an effect to measure: constants, and columns that only split regions."""

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
    """A feature with one value."""

    feature: Feature
    missing: tuple[Note, ...] = ()  # about rows without a value
    needs: ClassVar[Needs] = "nothing"
    n_changes: ClassVar[int] = 0
    n_points: ClassVar[int] = 1

    def n_kept(self, n_outputs: int) -> int:  # noqa: ARG002
        """The position of a row."""
        return 1

    def questions(self, rows: MeasuredChunk) -> Questions:  # noqa: ARG002
        """None."""
        return Questions()

    def add_up(self, rows: MeasuredChunk, asked: Questions, replies: Replies) -> ChunkResult:  # noqa: ARG002
        """Nothing but the value."""
        return ChunkResult(0, np.full((rows.sampled.size, 1), self.feature.axis.low))

    def conclude(self, total: int, kept: FloatArray, context: MeasureContext) -> Conclusion:  # noqa: ARG002
        """Say that there is no effect to measure."""
        made = (describe_constant(self.feature, name, context.survey) for name in context.outputs)
        return Conclusion(
            tuple(replace(one, local_notes=one.local_notes + self.missing) for one in made)
        )


def describe_constant(feature: Feature, output: str, survey: Survey) -> Effect | LevelEffect:
    """An effect without a curve, of a feature that has one value or one level."""
    n_rows, weight = int(survey.n_known[feature.place]), survey.known_weight[feature.place]
    if feature.levels is not None:
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


def note_constant(feature: Feature, *, is_traced: bool = False) -> Note:
    """Say that a feature has one value or one level, and where that leaves the curve.

    `is_traced`: whether the model was asked about other values, all the same.
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


# --- Columns that are not explained: kept of the searched rows as splitters of regions


@dataclass(frozen=True, eq=False)
class SplitterColumn:
    """Positions of the rows on a column that is not measured."""

    feature: Feature
    needs: ClassVar[Needs] = "nothing"
    n_changes: ClassVar[int] = 0
    n_points: ClassVar[int] = 1

    def n_kept(self, n_outputs: int) -> int:  # noqa: ARG002
        """The position of a row."""
        return 1

    def questions(self, rows: MeasuredChunk) -> Questions:  # noqa: ARG002
        """None."""
        return Questions()

    def add_up(self, rows: MeasuredChunk, asked: Questions, replies: Replies) -> ChunkResult:  # noqa: ARG002
        """No sums; the positions of the sampled rows."""
        return ChunkResult(0, self.feature.stands(rows.chunk)[rows.sampled, None])

    def conclude(self, total: int, kept: FloatArray, context: MeasureContext) -> Conclusion:  # noqa: ARG002
        """Nothing."""
        return Conclusion()
