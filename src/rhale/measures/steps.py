"""Steps between levels: differences of predictions, gathered into the effect of a feature with levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rhale.features.feature import Feature
from rhale.features.levels import Levels
from rhale.kernels import FloatArray, IntArray
from rhale.kernels.level_moments import LevelMoments, measure_levels
from rhale.kernels.sample import KeyArray
from rhale.measures.measure import About, Conclusion, Needs, Questions, Replies, Rows, Tally
from rhale.results.effect import LocalEffects
from rhale.results.level_effect import LevelEffect
from rhale.results.note import Note


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


@dataclass(frozen=True, eq=False)
class Steps:
    """A feature with levels: the rows of each level are moved to its neighbours.

    Attributes
    ----------
    feature : Feature
        The feature; it has levels.
    missing : tuple of Note
        About rows without a value.
    """

    feature: Feature
    missing: tuple[Note, ...] = ()
    needs: ClassVar[Needs] = "predictions"
    n_points: ClassVar[int] = 1

    @property
    def levels(self) -> Levels:
        """The levels, in order."""
        assert self.feature.levels is not None  # noqa: S101 - our own mistake
        return self.feature.levels

    @property
    def n_changes(self) -> int:
        """The level below and the one above; of two levels the other one."""
        return 1 if self.levels.size == 2 else 2

    def n_kept(self, n_outputs: int) -> int:
        """Where a row stands, its steps down and its steps up."""
        return 1 + 2 * n_outputs

    def questions(self, rows: Rows) -> Questions:
        """The levels beside those of the rows; pooled ones are chosen by the rows' keys."""
        levels, x = self.levels, rows.chunk.column(self.feature.column)
        level, last, chance = levels.locate(x), levels.size - 1, chances(rows.key)
        beside = [1 - level] if last == 1 else [level - 1, level + 1]
        places = [levels.at(np.clip(to, 0, last), chance) for to in beside]
        column = self.feature.column
        return Questions([(column, np.where(level < 0, x, place)) for place in places], level)

    def add_up(self, rows: Rows, asked: Questions, replies: Replies) -> Tally:
        """Moments of the steps of the rows that have a level."""
        level, sampled, weights = asked.memory, rows.sampled, rows.chunk.weights
        steps = row_steps(level, self.levels.size, replies.predictions, replies.changed)
        known = level >= 0
        total = measure_levels(
            level[known],
            steps.down[:, known],
            steps.up[:, known],
            self.levels.size,
            None if weights is None else weights[known],
        )
        stands = self.levels.stand(level)[sampled, None]
        return Tally(total, np.hstack([stands, steps.down[:, sampled].T, steps.up[:, sampled].T]))

    def conclude(self, total: LevelMoments, kept: FloatArray, about: About) -> Conclusion:
        """Gather the steps of each output."""
        levels, steps = self.levels, total.steps
        width = np.diff(levels.edges)
        return Conclusion(
            tuple(
                LevelEffect(
                    name=self.feature.name,
                    output=name,
                    levels=levels.names,
                    level_count=total.count,
                    level_weight=total.weight,
                    edges=levels.edges,
                    count=steps.count,
                    rows=steps.rows,
                    weight=steps.weight,
                    mean=steps.mean[output] / width,
                    std=steps.std[output] / width,
                    correlation=steps.correlation[output],
                    is_number=levels.is_number,
                    pooled=levels.pooled_names,
                    local_notes=about.notes + self.missing,
                    bin_notes=self.feature.notes,
                    sample=self.sampled_steps(kept, about, output),
                )
                for output, name in enumerate(about.outputs)
            )
        )

    def sampled_steps(self, kept: FloatArray, about: About, output: int) -> LocalEffects:
        """Steps of the sampled rows, at the middles of the steps."""
        edges, n_outputs = self.levels.edges, len(about.outputs)
        stands, down, up = np.split(kept, [1, 1 + n_outputs], axis=1)
        level = np.where(np.isnan(stands[:, 0]), -1, np.searchsorted(edges, stands[:, 0]))
        parts = []
        for change, shift in ((down, 1), (up, 0)):  # down: the step before the level; up: behind it
            step = level - shift
            known = (level >= 0) & (step >= 0) & (step < edges.size - 1)
            k = step[known]
            effects = change[known, output] / (edges[k + 1] - edges[k])
            parts.append((0.5 * (edges[k] + edges[k + 1]), effects, about.weight[known]))
        return LocalEffects(*(np.concatenate(pair) for pair in zip(*parts, strict=True)))


def row_steps(
    level: IntArray, n_levels: int, base: FloatArray, answers: Sequence[FloatArray] | FloatArray
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
    answers : one or two of ndarray of shape (n_rows, n_outputs)
        Answers about the levels below and above.
    """
    below, above = answers[0], answers[-1]
    down = np.where((level > 0)[:, None], base - below, 0.0).T
    up = np.where(((level >= 0) & (level < n_levels - 1))[:, None], above - base, 0.0).T
    return RowSteps(level, down, up)


def chances(key: KeyArray) -> FloatArray:
    """Turn the keys of rows into numbers in [0, 1)."""
    return np.asarray((key >> np.uint64(11)) / 2.0**53)
