"""Mixed differences of a differentiable model: how slopes change as one feature crosses its cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rhale.kernels import BoolArray, FloatArray
from rhale.kernels.pair_question import PairSide
from rhale.models import Predictor
from rhale.tables import Chunk


@dataclass(frozen=True, eq=False)
class Crossing:
    """What happens as one feature crosses its cell, or goes to the levels beside.

    Attributes
    ----------
    changes : tuple of ndarray of shape (n_rows, n_outputs, n_columns)
        Changes of all slopes, one for each way; 0 for rows that do not count.
    single : ndarray of shape (n_outputs, n_rows, n_ways)
        Changes of the predictions.
    """

    changes: tuple[FloatArray, ...]
    single: FloatArray

    def change_along(self, side: PairSide) -> FloatArray:
        """Mixed differences with another feature, of numbers: (n_outputs, n_rows, n_ways).

        The change of the slope along it, times the width of the row's cell.
        """
        along = [change[:, :, side.column].T * side.width for change in self.changes]
        return along[0][..., None] if len(along) == 1 else np.stack(along, axis=-1)


def cross_cell(
    predictor: Predictor,
    chunk: Chunk,
    side: PairSide,
    own: tuple[FloatArray | None, FloatArray | None],
    *,
    slopes_matter: bool = True,
) -> Crossing:
    """Ask about one feature at both ends of its cells: two passes for all its pairs.

    Parameters
    ----------
    predictor : Predictor
        The model.
    chunk : Chunk
        The rows.
    side : PairSide
        The feature that moves.
    own : pair of ndarray or None
        Predictions and slopes of the rows as they are, which levels need.
    slopes_matter : bool
        Whether some pair needs slopes: those with levels do not, and predictions are enough for
        what the feature does alone.
    """
    ends = [chunk.substitute([(side.column, values)]) for values in (side.low, side.high)]
    stand = side.standing.stand
    if not slopes_matter:
        low_answers, high_answers = (predictor.predict(rows, chunk.n_rows) for rows in ends)
        low = high = np.empty((chunk.n_rows, len(predictor.outputs), 0))
    else:
        (low_answers, low), (high_answers, high) = (predictor.gradient(chunk, r) for r in ends)
    if not side.axis.is_levels:
        known = (stand >= 0)[:, None]
        return Crossing((_only(high - low, known),), _single(high_answers - low_answers, known))
    answers, slopes = own
    assert answers is not None and slopes is not None  # noqa: S101, PT018 - our own mistake
    below, above = (stand > 0)[:, None], ((stand >= 0) & (stand < side.axis.n_steps))[:, None]
    single = [_single(answers - low_answers, below), _single(high_answers - answers, above)]
    changes = (_only(slopes - low, below), _only(high - slopes, above))
    return Crossing(changes, np.concatenate(single, axis=-1))


def _only(changes: FloatArray, counts: BoolArray) -> FloatArray:
    return changes if counts.all() else np.where(counts[..., None], changes, 0.0)


def _single(changes: FloatArray, counts: BoolArray) -> FloatArray:
    """Changes of predictions as one way."""
    return np.where(counts, changes, 0.0).T[..., None]
