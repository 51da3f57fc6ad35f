"""Derivatives: local effects of models that have them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rhale.kernels import FloatArray
from rhale.kernels.piles import NO_PILES, PointMasses
from rhale.measures.measure import MeasuredChunk, Needs, Questions, Replies


@dataclass(frozen=True, eq=False)
class Gradient:
    """The derivative of the prediction along one column, in every row."""

    column: int
    needs: ClassVar[Needs] = "slopes"
    n_changes: ClassVar[int] = 0
    is_stepped: ClassVar[bool] = False
    piles: ClassVar[PointMasses] = NO_PILES  # a derivative is what it is

    def questions(self, rows: MeasuredChunk) -> Questions:  # noqa: ARG002 - slopes answer for all columns
        """Nothing beyond the slopes of the rows as they are."""
        return Questions()

    def local_effects(
        self,
        rows: MeasuredChunk,  # noqa: ARG002
        asked: Questions,  # noqa: ARG002
        replies: Replies,
    ) -> FloatArray:
        """Slopes of all outputs, shape (n_outputs, n_rows)."""
        return replies.slopes[self.column]
