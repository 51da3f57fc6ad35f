"""Derivatives: local effects of models that have them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rhale.kernels import FloatArray
from rhale.kernels.piles import NO_PILES, Piles
from rhale.measures.measure import Needs, Questions, Replies, Rows


@dataclass(frozen=True, eq=False)
class Gradient:
    """The derivative of the prediction along one column, in every row."""

    column: int
    needs: ClassVar[Needs] = "slopes"
    n_changes: ClassVar[int] = 0
    is_stepped: ClassVar[bool] = False
    piles: ClassVar[Piles] = NO_PILES  # a derivative is what it is

    def questions(self, rows: Rows) -> Questions:  # noqa: ARG002 - slopes answer for all columns
        """Nothing beyond the slopes of the rows as they are."""
        return Questions()

    def local_effects(
        self,
        rows: Rows,  # noqa: ARG002
        asked: Questions,  # noqa: ARG002
        replies: Replies,
    ) -> FloatArray:
        """Slopes of all outputs, shape (n_outputs, n_rows)."""
        return replies.slopes[self.column]
