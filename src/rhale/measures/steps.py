"""Steps between levels: differences of predictions, gathered into the effect of a feature with levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rhale.features.feature import Feature
from rhale.features.levels import Levels
from rhale.kernels import FloatArray, IntArray
from rhale.kernels.axis import Axis
from rhale.kernels.level_moments import DOWN, LevelMoments, measure_levels
from rhale.kernels.region_finding import Target
from rhale.measures.binned import FEWEST_ROWS
from rhale.measures.measure import (
    About,
    Conclusion,
    Needs,
    Questions,
    Replies,
    Rows,
    SampledRows,
    Tally,
    chances,
)
from rhale.measures.nearby import Nearby
from rhale.results.effect import LocalEffects
from rhale.results.level_effect import LevelEffect, name_others
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
    nearby : Nearby
        Levels that sampled rows are moved to: those near their own, or all that there are where
        these have no order.
    missing : tuple of Note
        About rows without a value.
    """

    feature: Feature
    nearby: Nearby
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
        """Where a row stands, its steps down and its steps up; its increments between others."""
        return 1 + 2 * n_outputs + self.nearby.n_kept

    def questions(self, rows: Rows) -> Questions:
        """The levels beside those of the rows; pooled ones are chosen by the rows' keys."""
        levels, column = self.levels, self.feature.column
        x = rows.chunk.column(column)
        level, last, chance = levels.locate(x), levels.size - 1, chances(rows.key)
        beside = [1 - level] if last == 1 else [level - 1, level + 1]
        places = [levels.at(np.clip(to, 0, last), chance) for to in beside]
        changes = [(column, np.where(level < 0, x, place)) for place in places]
        return Questions(changes, level, (self.nearby.ask(rows),))

    def add_up(self, rows: Rows, asked: Questions, replies: Replies) -> Tally:
        """Moments of the steps of the rows that have a level."""
        level, sampled, weights = asked.memory, rows.sampled, rows.chunk.weights
        steps = row_steps(level, self.levels.size, replies.predictions, replies.changed)
        known = level >= 0 if rows.counted is None else (level >= 0) & rows.counted
        total = measure_levels(
            level[known],
            steps.down[:, known],
            steps.up[:, known],
            self.levels.size,
            None if weights is None else weights[known],
        )
        stands = self.levels.stand(level)[sampled, None]
        near = self.nearby.keep(rows, *replies.asides)
        kept = np.hstack([stands, steps.down[:, sampled].T, steps.up[:, sampled].T, near])
        return Tally(total, kept)

    def recall(self, rows: SampledRows) -> LevelMoments:
        """The same moments, from what was kept of every row."""
        n_outputs = self.nearby.n_outputs
        stands, down, up, _ = np.split(rows.kept, [1, 1 + n_outputs, 1 + 2 * n_outputs], axis=1)
        known = ~np.isnan(stands[:, 0])
        level = np.searchsorted(self.levels.edges, stands[known, 0])
        return measure_levels(
            level, down[known].T, up[known].T, self.levels.size, rows.weight[known]
        )

    def conclude(self, total: LevelMoments, kept: FloatArray, about: About) -> Conclusion:
        """Gather the steps of each output, and how rows differ at the levels."""
        every, outputs = slice(0, self.levels.size), range(len(about.outputs))
        made = tuple(self.gather(total, kept, about, output, every) for output in outputs)
        targets = () if about.searched is None else self.targets(about.searched, len(outputs))
        return Conclusion(made, targets=targets)

    def conclude_region(
        self, total: LevelMoments, kept: FloatArray, about: About, output: int
    ) -> LevelEffect | None:
        """The same for the rows of a region, from the first to the last of their levels."""
        filled = np.flatnonzero(total.count)
        if total.count.sum() < FEWEST_ROWS:
            return None
        some = slice(int(filled[0]), int(filled[-1]) + 1)
        made = self.gather(total, kept, about, output, some)
        unknown = [made.levels[k] for k in np.flatnonzero(made.count == 0)]
        if not unknown:
            return made
        text = f"no row on either side of {len(unknown)} steps (after {unknown[0]!r}): flat there"
        return replace(made, bin_notes=(*made.bin_notes, Note("empty steps", text)))

    def in_region(self, axis: Axis) -> Steps:  # noqa: ARG002 - levels stay
        """The same steps."""
        return self

    def gather(
        self, total: LevelMoments, kept: FloatArray, about: About, output: int, some: slice
    ) -> LevelEffect:
        """The effect of neighbouring levels on one output."""
        levels, found = self.levels, total.between(some)
        spread = self.nearby.conclude(about, output)
        steps, edges = found.steps, levels.edges[some]
        width = np.diff(edges)
        others = name_others(len(levels.pooled_names))
        has_pooled = any(name.rstrip(" ") == others for name in levels.names[some])
        return LevelEffect(
            name=self.feature.name,
            output=about.outputs[output],
            levels=levels.names[some],
            level_count=found.count,
            level_weight=found.weight,
            edges=edges,
            count=steps.count,
            rows=steps.rows,
            weight=steps.weight,
            mean=steps.mean[output] / width,
            std=steps.std[output] / width,
            correlation=steps.correlation[output],
            down=found.mean[output, 1:, DOWN] / width,
            is_number=levels.is_number,
            has_order=levels.has_order,
            pooled=levels.pooled_names if has_pooled else (),
            local_notes=about.notes + self.missing,
            bin_notes=self.feature.notes + self.describe_moved(about),
            row_spread=None if spread is None else spread.between(some.start, some.stop),
            sample=self.sampled_steps(kept, about, output),
        )

    def targets(self, searched: SampledRows, n_outputs: int) -> tuple[Target, ...]:
        """What regions are to tell apart: the steps of every row, down and up."""
        edges, ends = self.levels.edges, [1, 1 + n_outputs, 1 + 2 * n_outputs]
        stands, down, up, _ = np.split(searched.kept, ends, axis=1)
        known = np.flatnonzero(~np.isnan(stands[:, 0]))
        level = np.searchsorted(edges, stands[known, 0])
        below, above = level > 0, level < edges.size - 1
        row = np.concatenate([known[below], known[above]])
        stand = np.concatenate([level[below], level[above]])
        step = np.concatenate([level[below] - 1, level[above]])
        return tuple(
            Target(
                row=row,
                x=stand.astype(np.float64),
                effects=np.concatenate([down[known[below], output], up[known[above], output]]),
                shared=np.zeros(row.size),
                step=step,
            )
            for output in range(n_outputs)
        )

    def describe_moved(self, about: About) -> tuple[Note, ...]:
        """Say that the spread rests on some of the rows moved to every level, where it does."""
        if self.levels.has_order or about.survey.n_rows <= self.nearby.n_rows:
            return ()
        text = f"spread of the levels from {self.nearby.n_rows:,} rows moved to every level"
        return (Note("sample", text),)

    def sampled_steps(self, kept: FloatArray, about: About, output: int) -> LocalEffects:
        """Steps of the sampled rows, at the middles of the steps."""
        edges, n_outputs = self.levels.edges, len(about.outputs)
        stands, down, up, _ = np.split(kept, [1, 1 + n_outputs, 1 + 2 * n_outputs], axis=1)
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
