"""Mixed differences of a model: predictions at four corners, or changes of a slope."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from rhale.data import Chunk
from rhale.effects.local.queries import BatchedModel, Question
from rhale.models import Predictor
from rhale.models.questions import PairSide
from rhale.stats.arrays import BoolArray, FloatArray

# Of the largest prediction: a mixed difference is no better known.
MIXED_DIFFERENCE_ROUNDING = 2.0**-46


# what a column is set to, each (n_rows,); and steps between two of these values, with the rows
# (n_rows,) that count for them
SideValues = tuple[list[FloatArray], list[tuple[int, int, BoolArray]]]


def list_side_values(side: PairSide, chunk: Chunk) -> SideValues:
    """Limits of a cell; the level below, the row's own and the one above, two of two levels."""
    cell = side.positions.cell
    if not side.axis.is_levels:
        return ([side.low, side.high], [(0, 1, cell >= 0)])
    own, last = chunk.column(side.column), side.axis.n_steps
    below, above = cell > 0, (cell >= 0) & (cell < last)
    if last == 1:
        first, second = np.where(below, side.low, own), np.where(below, own, side.high)
        return ([first, second], [(0, 1, below), (0, 1, above)])
    return ([side.low, own, side.high], [(0, 1, below), (1, 2, above)])


def n_corners(first: PairSide, second: PairSide) -> int:
    """Predictions for each row of a pair."""
    return int(
        np.prod([3 if s.axis.is_levels and s.axis.n_steps > 1 else 2 for s in (first, second)])
    )


def predict_corners(
    asker: BatchedModel, chunk: Chunk, first: PairSide, second: PairSide
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Predict all corners of the cells of one pair.

    Return the mixed differences, 0 within rounding of the predictions, and the differences along each
    side with the other one at the row's value; each (n_outputs, n_rows, n_ways).
    """
    rows, columns = list_side_values(first, chunk), list_side_values(second, chunk)
    (row_values, row_steps), (column_values, column_steps) = rows, columns
    places = list(product(range(len(row_values)), range(len(column_values))))
    answers = np.empty((len(places), chunk.n_rows, len(asker.outputs)))
    at_once = asker.copies_at_once(chunk.n_rows)
    for start in range(0, len(places), at_once):
        part = places[start : start + at_once]
        changes = [
            (first.column, np.concatenate([row_values[i] for i, _ in part])),
            (second.column, np.concatenate([column_values[j] for _, j in part])),
        ]
        copies = chunk.take(np.tile(np.arange(chunk.n_rows), len(part)))
        question = Question(changes, asker.names, copies)
        found = asker.predictor.predict(copies.substitute(changes), copies.n_rows, question)
        answers[start : start + at_once] = found.reshape(len(part), chunk.n_rows, -1)
    at = {place: answers[i].T for i, place in enumerate(places)}  # (n_outputs, n_rows)
    # f(x2, y2) - f(x2, y1) - f(x1, y2) + f(x1, y1), for every two steps (Apley & Zhu 2020)
    rounding = MIXED_DIFFERENCE_ROUNDING * np.abs(answers).max(initial=0.0)
    mixed = [
        np.where(counts & also, (at[i2, j2] - at[i2, j1]) - (at[i1, j2] - at[i1, j1]), 0.0)
        for i1, i2, counts in row_steps
        for j1, j2, also in column_steps
    ]
    swapped = {(j, i): height for (i, j), height in at.items()}
    found = np.stack(mixed, axis=-1)
    return (
        np.where(np.abs(found) <= rounding, 0.0, found),
        _along(rows, second, columns, at),
        _along(columns, first, rows, swapped),
    )


def _along(
    own: SideValues, other: PairSide, others: SideValues, at: dict[tuple[int, int], FloatArray]
) -> FloatArray:
    """Differences along one side, the other at the row's own value: (n_outputs, n_rows, n_ways)."""
    found = []
    for low, high, counts in own[1]:
        steps = [at[high, j] - at[low, j] for j in range(len(others[0]))]
        if not other.axis.is_levels:  # straight between the two limits of the row's cell
            step = steps[0] + other.positions.place * (steps[1] - steps[0])
        elif len(steps) == 2:
            step = np.where(other.positions.cell > 0, steps[1], steps[0])
        else:
            step = steps[1]
        found.append(step * counts)
    return np.stack(found, axis=-1)


# --- Mixed differences of a differentiable model: change of the gradient as one feature crosses its cell


@dataclass(frozen=True, eq=False)
class Crossing:
    """Changes as one feature crosses its cell, or goes to the levels next to its own."""

    # (n_rows, n_outputs, n_columns): changes of all slopes, one for each way; 0 for rows that do
    # not count
    changes: tuple[FloatArray, ...]
    single: FloatArray  # (n_outputs, n_rows, n_ways): changes of the predictions

    def change_along(self, side: PairSide) -> FloatArray:
        """Mixed differences with another feature, of numbers: (n_outputs, n_rows, n_ways)."""
        # the change of the slope along it, times the width of the row's cell
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
    """Differentiate with one feature at both ends of its cells: two passes for all its pairs.

    `own` are predictions and gradients of the rows as they are, which levels need. Without
    `slopes_matter` predictions are enough, for what the feature does alone.
    """
    ends = [chunk.substitute([(side.column, values)]) for values in (side.low, side.high)]
    cell = side.positions.cell
    if not slopes_matter:
        low_answers, high_answers = (predictor.predict(rows, chunk.n_rows) for rows in ends)
        low = high = np.empty((chunk.n_rows, len(predictor.outputs), 0))
    else:
        (low_answers, low), (high_answers, high) = (predictor.gradient(chunk, r) for r in ends)
    if not side.axis.is_levels:
        known = (cell >= 0)[:, None]
        return Crossing((_only(high - low, known),), _single(high_answers - low_answers, known))
    answers, slopes = own
    assert answers is not None and slopes is not None  # noqa: S101, PT018 - our own mistake
    below, above = (cell > 0)[:, None], ((cell >= 0) & (cell < side.axis.n_steps))[:, None]
    single = [_single(answers - low_answers, below), _single(high_answers - answers, above)]
    changes = (_only(slopes - low, below), _only(high - slopes, above))
    return Crossing(changes, np.concatenate(single, axis=-1))


def _only(changes: FloatArray, counts: BoolArray) -> FloatArray:
    """Changes of slopes, 0 for rows that do not count for the step."""
    return changes if counts.all() else np.where(counts[..., None], changes, 0.0)


def _single(changes: FloatArray, counts: BoolArray) -> FloatArray:
    """Changes of predictions over one step, (n_outputs, n_rows, 1)."""
    return np.where(counts, changes, 0.0).T[..., None]
