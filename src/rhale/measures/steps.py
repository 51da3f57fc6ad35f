"""Steps between levels, and what happens when a value is removed: differences of predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rhale.features.levels import Levels
from rhale.kernels import FloatArray, IntArray
from rhale.kernels.sample import KeyArray
from rhale.measures.questions import reason
from rhale.models import Predictor
from rhale.tables import Chunk
from rhale.tables.chunk import Change


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


def questions(chunk: Chunk, plan: StepPlan, key: KeyArray) -> tuple[IntArray, list[Change]]:
    """Levels of the rows, and the levels beside them that are to be asked about.

    Parameters
    ----------
    chunk : Chunk
        The rows.
    plan : StepPlan
        The feature.
    key : ndarray of shape (n_rows,)
        Keys of the rows; they choose among pooled levels.

    Returns
    -------
    level : ndarray of shape (n_rows,)
        -1 for rows that have none.
    changes : list of (column, values)
        The level below and the one above; where there are two, the other one alone.
    """
    levels, x = plan.levels, chunk.column(plan.column)
    level, last, chance = levels.locate(x), levels.size - 1, chances(key)
    beside = [1 - level] if last == 1 else [level - 1, level + 1]
    places = [levels.at(np.clip(to, 0, last), chance) for to in beside]
    return level, [(plan.column, np.where(level < 0, x, place)) for place in places]


def row_steps(
    level: IntArray, n_levels: int, base: FloatArray, answers: Sequence[FloatArray]
) -> RowSteps:
    """Turn answers about neighbouring levels into steps.

    Parameters
    ----------
    level : ndarray of shape (n_rows,)
        Levels of the rows.
    n_levels : int
        Number of levels.
    base : ndarray of shape (n_rows, n_outputs)
        Predictions of the rows as they are.
    answers : sequence of ndarray of shape (n_rows, n_outputs)
        Answers to the `questions`.
    """
    below, above = answers[0], answers[-1]
    down = np.where((level > 0)[:, None], base - below, 0.0).T
    up = np.where(((level >= 0) & (level < n_levels - 1))[:, None], above - base, 0.0).T
    return RowSteps(level, down, up)


def chances(key: KeyArray) -> FloatArray:
    """Turn the keys of rows into numbers in [0, 1)."""
    return np.asarray((key >> np.uint64(11)) / 2.0**53)


def without_value(chunk: Chunk, column: int) -> Change:
    """The question what the model says without the values of a column."""
    return column, np.full(chunk.n_rows, np.nan)


def refuses_missing(predictor: Predictor, probe: Chunk, column: int) -> str | None:
    """Why the model has no answer for rows without this value; None if it has one."""
    return reason(predictor, probe.replaced([without_value(probe, column)]), probe.n_rows)
