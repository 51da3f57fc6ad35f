"""Steps between levels, and what happens when a value is removed: differences of predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rhale.errors import BadPredictionError, ModelFailedError
from rhale.kernels import FloatArray, IntArray
from rhale.kernels.sample import KeyArray
from rhale.local.ask import ask
from rhale.models import Predictor
from rhale.tables import Chunk
from rhale.tables.chunk import Change
from rhale.tables.levels import Levels


@dataclass(frozen=True, eq=False)
class StepPlan:
    """A feature with levels: the rows of each level are moved to its neighbours."""

    column: int
    levels: Levels


@dataclass(frozen=True, eq=False)
class RowSteps:
    """Steps of the rows of one feature.

    Attributes
    ----------
    level : ndarray of shape (n_rows,)
        Level of every row; -1 where it has none.
    down, up : ndarray of shape (n_outputs, n_rows)
        Change of the prediction from the level below to the row's own, and on to the one above; 0
        where there is none.
    """

    level: IntArray
    down: FloatArray
    up: FloatArray


def take_steps(
    predictor: Predictor,
    chunk: Chunk,
    base: FloatArray,
    plan: StepPlan,
    key: KeyArray,
    names: Sequence[str],
    batch_rows: int,
) -> tuple[RowSteps, int]:
    """Move every row to the levels beside its own.

    Parameters
    ----------
    predictor : Predictor
        The model.
    chunk : Chunk
        The rows.
    base : ndarray of shape (n_rows, n_outputs)
        Predictions of the rows as they are.
    plan : StepPlan
        The feature.
    key : ndarray of shape (n_rows,)
        Keys of the rows; they choose among pooled levels.
    names : sequence of str
        Column names, for messages.
    batch_rows : int
        Rows in one call of the model.

    Returns
    -------
    steps : RowSteps
    asked : int
        Rows that were predicted.
    """
    levels, x = plan.levels, chunk.column(plan.column)
    level, last = levels.locate(x), levels.size - 1
    chance = chances(key)

    def moved(to: IntArray) -> Change:
        return plan.column, np.where(level < 0, x, levels.at(np.clip(to, 0, last), chance))

    if last == 1:  # there is only the other one
        (other,) = ask(predictor, chunk, [moved(1 - level)], names, batch_rows)
        below = above = other
    else:
        both = [moved(level - 1), moved(level + 1)]
        below, above = ask(predictor, chunk, both, names, batch_rows)
    down = np.where((level > 0)[:, None], base - below, 0.0).T
    up = np.where(((level >= 0) & (level < last))[:, None], above - base, 0.0).T
    return RowSteps(level, down, up), chunk.n_rows * (1 if last == 1 else 2)


def chances(key: KeyArray) -> FloatArray:
    """Turn the keys of rows into numbers in [0, 1)."""
    return np.asarray((key >> np.uint64(11)) / 2.0**53)


def without_value(
    predictor: Predictor, chunk: Chunk, column: int, names: Sequence[str], batch_rows: int
) -> FloatArray:
    """Predictions of the rows when a value is removed, shape (n_rows, n_outputs)."""
    gone = (column, np.full(chunk.n_rows, np.nan))
    return np.asarray(ask(predictor, chunk, [gone], names, batch_rows)[0])


def takes_missing(predictor: Predictor, probe: Chunk, column: int) -> bool:
    """Tell whether the model has an answer for rows without this value."""
    rows = probe.replaced([(column, np.full(probe.n_rows, np.nan))])
    try:
        predictor.predict(rows, probe.n_rows)
    except (ModelFailedError, BadPredictionError):
        return False
    return True
