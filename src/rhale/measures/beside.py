"""Columns beside the explained ones: kept of the searched rows, so that regions may be told by them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rhale.features.feature import Feature
from rhale.kernels import FloatArray
from rhale.measures.measure import (
    ChunkResult,
    Conclusion,
    MeasureContext,
    MeasuredChunk,
    Needs,
    Questions,
    Replies,
)


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
        return ChunkResult(0, self.feature.stands(rows.chunk)[rows.sampled, None])

    def conclude(self, total: int, kept: FloatArray, about: MeasureContext) -> Conclusion:  # noqa: ARG002
        """Nothing."""
        return Conclusion()
