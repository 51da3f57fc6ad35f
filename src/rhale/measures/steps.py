"""Steps between levels: differences of predictions, gathered into the effect of a feature with levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rhale.features.feature import Feature
from rhale.features.levels import Levels
from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.axis import Axis
from rhale.kernels.curve_moments import CurveMoments, measure_curves
from rhale.kernels.level_moments import DOWN, LevelMoments, measure_levels
from rhale.kernels.records import crosses_processes
from rhale.kernels.region_finding import Target
from rhale.kernels.sample import NO_LIMIT, KeyArray, Sample
from rhale.measures.binned import FEWEST_ROWS
from rhale.measures.measure import About, Aside, Conclusion, Needs, Questions, Replies, Rows, Tally
from rhale.results.effect import LocalEffects
from rhale.results.level_effect import LevelEffect, name_others
from rhale.results.note import Note

MOST_ANSWERS = 2**16  # of rows that are moved to every level; more hardly change a deviation
FEWEST_MOVED, MOST_MOVED = 200, 2_000


@crosses_processes
@dataclass(frozen=True, eq=False)
class LevelSums:
    """What some rows say about levels.

    Attributes
    ----------
    steps : LevelMoments
        Steps to the neighbouring levels, of all rows.
    curves : CurveMoments or None
        Predictions at all levels, less that at the first, of sampled rows; None where levels have
        an order, or are two.
    """

    steps: LevelMoments
    curves: CurveMoments | None = None

    def __add__(self, other: LevelSums) -> LevelSums:
        steps = self.steps + other.steps
        if self.curves is None or other.curves is None:
            return LevelSums(steps)
        return LevelSums(steps, self.curves + other.curves)


@dataclass(frozen=True, eq=False)
class Moved:
    """Sampled rows that are moved to every level, each distinct row once.

    Attributes
    ----------
    rows : ndarray of shape (n_moved,)
        Which rows of the chunk.
    weight : ndarray of shape (n_moved,)
        Weight of all rows that are like it.
    squares : ndarray of shape (n_moved,)
        Sum of the squared weights of these.
    """

    rows: IntArray
    weight: FloatArray
    squares: FloatArray


@dataclass(frozen=True, eq=False)
class Memory:
    """Levels of the rows, and who is moved to every level."""

    level: IntArray
    moved: Moved | None = None


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
    last_key : int
        Of the sampled rows, those with keys up to this one are moved to every level, where levels
        have no order: how rows differ at a level cannot be added up from steps then. Of two
        levels, the step between them says it all.
    """

    feature: Feature
    missing: tuple[Note, ...] = ()
    last_key: np.uint64 = NO_LIMIT
    needs: ClassVar[Needs] = "predictions"
    n_points: ClassVar[int] = 1

    @property
    def levels(self) -> Levels:
        """The levels, in order."""
        assert self.feature.levels is not None  # noqa: S101 - our own mistake
        return self.feature.levels

    @property
    def moves_everywhere(self) -> bool:
        """Whether sampled rows are moved to every level."""
        return not self.levels.has_order and self.levels.size > 2

    @property
    def n_changes(self) -> int:
        """The level below and the one above; of two levels the other one."""
        return 1 if self.levels.size == 2 else 2

    def n_kept(self, n_outputs: int) -> int:
        """Where a row stands, its steps down and its steps up."""
        return 1 + 2 * n_outputs

    def questions(self, rows: Rows) -> Questions:
        """The levels beside those of the rows; pooled ones are chosen by the rows' keys."""
        levels, column = self.levels, self.feature.column
        x = rows.chunk.column(column)
        level, last, chance = levels.locate(x), levels.size - 1, chances(rows.key)
        beside = [1 - level] if last == 1 else [level - 1, level + 1]
        places = [levels.at(np.clip(to, 0, last), chance) for to in beside]
        changes = [(column, np.where(level < 0, x, place)) for place in places]
        if not self.moves_everywhere:
            return Questions(changes, Memory(level))
        some = self.moved(rows, level)
        return Questions(changes, Memory(level, some), self.everywhere(rows, level, some.rows))

    def moved(self, rows: Rows, level: IntArray) -> Moved:
        """The distinct sampled rows that have a level, and a small enough key."""
        key, sampled = rows.key[rows.sampled], rows.sampled
        chosen = sampled[(key <= min(self.last_key, rows.last_key)) & (level[sampled] >= 0)]
        _, first, same = np.unique(rows.key[chosen], return_index=True, return_inverse=True)
        weights = rows.chunk.weights
        w = np.ones(chosen.size) if weights is None else weights[chosen]
        held, squares = (np.bincount(same, v, first.size).astype(np.float64) for v in (w, w * w))
        return Moved(chosen[first], held, squares)

    def everywhere(self, rows: Rows, level: IntArray, some: IntArray) -> Aside:
        """Some rows at every level; at its own a row stays as it is."""
        levels, column = self.levels, self.feature.column
        x, chance = rows.chunk.column(column)[some], chances(rows.key[some])
        places = (levels.at(np.full(some.size, to), chance) for to in range(levels.size))
        own = level[some]
        return Aside(
            some, [(column, np.where(own == to, x, place)) for to, place in enumerate(places)]
        )

    def add_up(self, rows: Rows, asked: Questions, replies: Replies) -> Tally:
        """Moments of the steps of the rows that have a level."""
        level, moved = asked.memory.level, asked.memory.moved
        sampled, weights = rows.sampled, rows.chunk.weights
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
        curves = None if moved is None else measure_moved(moved, replies.aside, rows.counted)
        return Tally(
            LevelSums(total, curves),
            np.hstack([stands, steps.down[:, sampled].T, steps.up[:, sampled].T]),
        )

    def conclude(self, total: LevelSums, kept: FloatArray, about: About) -> Conclusion:
        """Gather the steps of each output, and how rows differ at the levels."""
        every, outputs = slice(0, self.levels.size), range(len(about.outputs))
        made = tuple(self.gather(total, kept, about, output, every) for output in outputs)
        targets = () if about.searched is None else self.targets(about.searched, len(outputs))
        return Conclusion(made, targets=targets)

    def conclude_region(
        self, total: LevelSums, kept: FloatArray, about: About, output: int
    ) -> LevelEffect | None:
        """The same for the rows of a region, from the first to the last of their levels."""
        filled = np.flatnonzero(total.steps.count)
        if total.steps.count.sum() < FEWEST_ROWS:
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
        self, total: LevelSums, kept: FloatArray, about: About, output: int, some: slice
    ) -> LevelEffect:
        """The effect of neighbouring levels on one output."""
        levels, found = self.levels, total.steps.between(some)
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
            pooled=levels.pooled_names if has_pooled else (),
            local_notes=about.notes + self.missing,
            bin_notes=self.feature.notes + self.describe_moved(total, about),
            covariance=None if total.curves is None else total.curves.from_first(output, some),
            sample=self.sampled_steps(kept, about, output),
        )

    def targets(self, searched: FloatArray, n_outputs: int) -> tuple[Target, ...]:
        """What regions are to tell apart: the steps of every row, down and up."""
        edges = self.levels.edges
        stands, down, up = np.split(searched, [1, 1 + n_outputs], axis=1)
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

    def describe_moved(self, total: LevelSums, about: About) -> tuple[Note, ...]:
        """Say that the spread rests on some of the rows, where it does."""
        if total.curves is None or min(self.last_key, about.last_key) == NO_LIMIT:
            return ()
        text = f"spread of the levels from {total.curves.rows:,.0f} rows moved to every level"
        return (Note("sample", text),)

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


def measure_moved(
    moved: Moved, answers: FloatArray, counted: BoolArray | None = None
) -> CurveMoments:
    """Moments of the curves of rows over the levels, from zero at the first.

    Parameters
    ----------
    moved : Moved
        The rows.
    answers : ndarray of shape (n_levels, n_moved, n_outputs)
        Their predictions at every level.
    counted : ndarray of shape (n_rows,), optional
        Which rows of the chunk count; all by default.
    """
    curves = (answers - answers[:1]).transpose(2, 1, 0)
    some = slice(None) if counted is None else counted[moved.rows]
    found = measure_curves(curves[:, some], moved.weight[some])
    return replace(found, weight_squares=float(moved.squares[some].sum()))


def last_moved(sample: Sample, n_levels: int, n_outputs: int) -> np.uint64:
    """Largest key of the rows that are moved to every level: fewer, where answers are many."""
    n_rows = int(np.clip(MOST_ANSWERS // (n_levels * n_outputs), FEWEST_MOVED, MOST_MOVED))
    return sample.last_key(n_rows)


def chances(key: KeyArray) -> FloatArray:
    """Turn the keys of rows into numbers in [0, 1)."""
    return np.asarray((key >> np.uint64(11)) / 2.0**53)
