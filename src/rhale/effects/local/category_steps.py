"""Levels: differences of predictions between neighbouring levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from rhale.data import Chunk
from rhale.data.columns import hashed
from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.effect import LocalEffects
from rhale.effects.level_effect import LevelEffect, name_others
from rhale.effects.levels import LevelClasses, LevelMoments, measure_classes, measure_levels
from rhale.effects.local.binned import MIN_REGION_ROWS
from rhale.effects.local.measure import (
    ChunkResult,
    Conclusion,
    MeasureContext,
    MeasuredChunk,
    MeasureSample,
    Needs,
    Questions,
    Replies,
    chances,
)
from rhale.effects.local.nearby import Nearby
from rhale.effects.local.notes import MAX_NAMED_IN_NOTE
from rhale.features.categories import MAX_UNORDERED_LEVELS, Levels, holds_names
from rhale.features.feature import MOST_COMBINED, STEP_ROWS, Columns, Feature
from rhale.output.text import Note
from rhale.regions.settings import Target
from rhale.stats.arrays import BoolArray, FloatArray, IntArray

# Chance that any combination of a feature is taken for empty, were its columns independent.
EMPTY_COMBINATION_CHANCE = 0.05
EMPTY_COMBINATIONS_NOTE = "empty combinations"


@dataclass(frozen=True, eq=False)
class EmptyPairs:
    """Levels of a feature that no row has together with values of another column."""

    column: int
    keys: FloatArray  # (n_values,): distinct numbers of its values, increasing
    # (n_levels, n_values + 1): whether no row has both; the last column is of any other value
    empty: BoolArray

    def code(self, values: FloatArray) -> IntArray:
        """Which value each row has."""
        found = np.minimum(np.searchsorted(self.keys, values), self.keys.size - 1)
        return np.where(self.keys[found] == values, found, self.keys.size)


@dataclass(frozen=True, eq=False)
class EmptyCombinations:
    """Which moves of rows to a neighbouring level lead where no rows are."""

    # A row of level k that has a value which no row of level k + 1 has would leave the data if it
    # were moved there: its prediction would describe no row. Only columns of two values and columns
    # of names are examined. Values with an order are not: a row that is moved to a level where
    # others have values a little higher is near the data, as along any number.
    #
    # Zero rows are not due to chance where independent columns would have more than
    # log(n_combinations / .05) of them: each is empty by chance with probability exp(-expected).
    # Distinct rows are counted: rows that are alike, or heavy, are no more evidence than one.

    pairs: tuple[EmptyPairs, ...] = ()
    # (n_levels - 1,): steps that are measured all the same, from every row: nothing would be left
    # of them
    whole: BoolArray = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    notes: tuple[Note, ...] = ()  # what a reader should know

    def leave(self, level: IntArray, chunk: Chunk) -> BoolArray:
        """Which rows would leave the data one level down, and one level up; shape (2, n_rows)."""
        codes = [pair.code(chunk.key(pair.column)) for pair in self.pairs]
        return np.asarray(self.leave_by(level, codes) & ~self.is_whole(level))

    def leave_by(self, level: IntArray, codes: Sequence[IntArray]) -> BoolArray:
        """The same of all steps, for rows whose values are known."""
        last = self.pairs[0].empty.shape[0] - 1
        found = np.zeros((2, level.size), dtype=np.bool_)
        for pair, code in zip(self.pairs, codes, strict=True):
            found[0] |= pair.empty[np.clip(level - 1, 0, last), code] & (level > 0)
            found[1] |= pair.empty[np.clip(level + 1, 0, last), code] & (level < last)
        return np.asarray(found & (level >= 0))

    def is_whole(self, level: IntArray) -> BoolArray:
        """Whether the steps down and up from the rows' levels are measured from every row."""
        ends = np.concatenate([[True], self.whole, [True]])
        return np.stack([ends[level], ends[level + 1]])


def find_empty_combinations(feature: Feature, columns: Columns) -> EmptyCombinations:
    """Find moves to neighbouring levels that lead where no row of the sample is."""
    levels, sample, table = feature.levels, columns.survey.sample, columns.table
    if levels is None or levels.size < 2 or len(table.names) > MOST_COMBINED:
        return EmptyCombinations()
    own = sample.values[:, feature.place]
    if holds_names(table, feature.column):  # which the survey keeps as hashes
        hashes = np.array([hashed(value) for value in table.labels_of(feature.column).values])
        order = np.argsort(hashes)
        at = order[np.minimum(np.searchsorted(hashes[order], own), hashes.size - 1)]
        own = np.where(hashes[at] == own, at, np.nan)
    level = levels.locate(own)
    once = (sample.weight > 0).astype(np.float64)  # rows that are alike add no evidence
    others = list[tuple[int, FloatArray, IntArray]]()
    for place, column in enumerate(columns.sampled):
        values = sample.values[:, place]
        keys = np.unique(values[~np.isnan(values)])
        most = MAX_UNORDERED_LEVELS if holds_names(table, column) else 2
        if column != feature.column and 2 <= keys.size <= most:
            others.append((column, keys, EmptyPairs(column, keys, NO_PAIRS).code(values)))
    n_combinations = levels.size * sum(keys.size for _, keys, _ in others)
    known, pairs = level >= 0, list[EmptyPairs]()
    for column, keys, code in others:
        shape = levels.size, keys.size + 1
        both = level[known] * shape[1] + code[known]
        held = np.bincount(both, once[known], shape[0] * shape[1]).reshape(shape)
        expected = held.sum(axis=1)[:, None] * held.sum(axis=0) / max(float(held.sum()), 1e-300)
        empty = (held == 0) & (expected > np.log(n_combinations / EMPTY_COMBINATION_CHANCE))
        empty[:, -1] = False
        if empty.any():
            pairs.append(EmptyPairs(column, keys, empty))
    if not pairs:
        return EmptyCombinations()
    found = EmptyCombinations(tuple(pairs), np.zeros(levels.size - 1, dtype=np.bool_))
    codes = [pair.code(sample.values[:, columns.sampled.index(pair.column)]) for pair in pairs]
    leave = found.leave_by(level, codes)
    if not leave.any():
        return EmptyCombinations()

    # Steps of which too little would be left on either side. If every row of a level has a value
    # that no row of the next one has, then no row of the next one is like any of them: it leaves
    # the data, too, though no pair of columns shows it. Such are the dummy columns of a category.
    def count_rows(some: BoolArray) -> FloatArray:
        return np.bincount(level[some], once[some], levels.size).astype(np.float64)

    out = level < 0, *(leave & (once > 0))
    every, down, up = (count_rows((level >= 0) & ~some) for some in out)
    few = np.minimum(every, STEP_ROWS)
    whole = np.asarray((up[:-1] < few[:-1]) | (down[1:] < few[1:]))
    found = replace(found, whole=whole)
    return replace(found, notes=describe_empty(feature, columns, found, (level, codes, leave)))


def describe_empty(
    feature: Feature,
    columns: Columns,
    found: EmptyCombinations,
    sampled: tuple[IntArray, list[IntArray], BoolArray],
) -> tuple[Note, ...]:
    """Notes that name combinations without rows, and say whether rows are moved there."""
    level, codes, leave = sampled
    weight, levels = columns.survey.sample.weight, feature.levels
    assert levels is not None  # noqa: S101 - our own mistake
    is_whole = found.is_whole(level)
    named = {False: dict[str, None](), True: dict[str, None]()}
    for pair, code in zip(found.pairs, codes, strict=True):
        for way, shift in enumerate((-1, 1)):
            rows = np.flatnonzero(leave[way])
            rows = rows[pair.empty[level[rows] + shift, code[rows]]]
            moves = np.column_stack([level[rows] + shift, code[rows], is_whole[way, rows]])
            for to, key, whole in np.unique(moves, axis=0).tolist():
                value = name_value(columns, pair.column, float(pair.keys[key]))
                named[bool(whole)][f"{feature.name} = {levels.names[to]} with {value}"] = None
    who = "no row has" if columns.survey.sample.is_complete else "no sampled row has"
    notes = list[Note]()
    for whole, names in named.items():
        if not names:
            continue
        shown = ", ".join(list(names)[:MAX_NAMED_IN_NOTE])
        more = (
            f" and {len(names) - MAX_NAMED_IN_NOTE} more" if len(names) > MAX_NAMED_IN_NOTE else ""
        )
        some = (leave & (is_whole == whole)).any(axis=0)
        share = f"{100 * float(weight[some].sum() / weight[level >= 0].sum()):.2g} %"
        end = f"{share} of the rows are not moved there"
        if whole:
            end = f"{share} of the rows are moved there all the same, because too few other rows are left"
        notes.append(Note(EMPTY_COMBINATIONS_NOTE, f"{who} {shown}{more}: {end}"))
    return tuple(notes)


def name_value(columns: Columns, column: int, key: float) -> str:
    """A value of a column in words; that of a text that is not explained has no name."""
    table, name = columns.table, columns.table.names[column]
    if table.is_truth(column):
        return f"{name} = {key > 0}"
    if not holds_names(table, column):
        return f"{name} = {columns.probe.write_value(column, key)}"
    for known in (*columns.features, *columns.splitters):
        if known.column == column:
            for value in table.labels_of(column).values:
                if hashed(value) == key:
                    return f"{name} = {value}"
    return f"a value of {name}"


NO_PAIRS = np.zeros((0, 0), dtype=np.bool_)
NOTHING_EMPTY = EmptyCombinations()


@dataclass(frozen=True, eq=False)
class RowSteps:
    """Steps of the rows of one feature."""

    level: IntArray  # (n_rows,): level of every row; -1 where it has none
    # down, up: (n_outputs, n_rows): change of the prediction from the level below to the row's own,
    # and on to the one above; 0 where there is none
    down: FloatArray
    up: FloatArray


@dataclass(frozen=True, eq=False)
class LevelDifferences:
    """A feature with levels: the rows of each level are moved to its neighbours."""

    feature: Feature  # the feature; it has levels
    # levels that sampled rows are moved to: those near their own, or all that there are where these
    # have no order
    nearby: Nearby
    missing: tuple[Note, ...] = ()  # about rows without a value
    empty: EmptyCombinations = NOTHING_EMPTY  # where no rows are: they are not moved there
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
        """The position of a row, its steps down and its steps up; its increments between others."""
        return 1 + 2 * n_outputs + self.nearby.n_kept

    def questions(self, rows: MeasuredChunk) -> Questions:
        """The levels beside those of the rows; pooled ones are chosen by the rows' keys."""
        levels, column = self.levels, self.feature.column
        x = rows.chunk.column(column)
        level, last, chance = levels.locate(x), levels.size - 1, chances(rows.key)
        beside = [1 - level] if last == 1 else [level - 1, level + 1]
        places = [levels.at(np.clip(to, 0, last), chance) for to in beside]
        changes = [(column, np.where(level < 0, x, place)) for place in places]
        return Questions(changes, level, (self.nearby.ask(rows),))

    def add_up(self, rows: MeasuredChunk, asked: Questions, replies: Replies) -> ChunkResult:
        """Moments of the steps of the rows that have a level."""
        level, sampled, weights = asked.memory, rows.sampled, rows.chunk.weights
        steps = row_steps(level, self.levels.size, replies.predictions, replies.changed)
        known = level >= 0 if rows.counted is None else (level >= 0) & rows.counted
        near = self.nearby.keep(rows, *replies.subset_answers)
        if self.empty.pairs:
            left_out = self.empty.leave(level, rows.chunk)
            steps.down[:, left_out[0]] = steps.up[:, left_out[1]] = np.nan
            if self.levels.size == 2:  # its one step is what the spread is about, too
                near[(left_out[0] | left_out[1])[sampled]] = np.inf
        total = self.measure(
            level[known],
            steps.down[:, known],
            steps.up[:, known],
            None if weights is None else weights[known],
        )
        positions = self.levels.level_positions(level)[sampled, None]
        kept = np.hstack([positions, steps.down[:, sampled].T, steps.up[:, sampled].T, near])
        return ChunkResult(total, kept)

    def measure(
        self, level: IntArray, down: FloatArray, up: FloatArray, weights: FloatArray | None
    ) -> LevelMoments | LevelClasses:
        """Moments of the steps of rows, some of which are left out (nan)."""
        measured = measure_classes if self.empty.pairs else measure_levels
        return measured(level, down, up, self.levels.size, weights)

    def recall(self, rows: MeasureSample) -> LevelMoments | LevelClasses:
        """The same moments, from what was kept of every row."""
        n_outputs = self.nearby.n_outputs
        positions, down, up, _ = np.split(rows.kept, [1, 1 + n_outputs, 1 + 2 * n_outputs], axis=1)
        known = ~np.isnan(positions[:, 0])
        level = np.searchsorted(self.levels.edges, positions[known, 0])
        return self.measure(level, down[known].T, up[known].T, rows.weight[known])

    def conclude(
        self, total: LevelMoments | LevelClasses, kept: FloatArray, context: MeasureContext
    ) -> Conclusion:
        """Gather the steps of each output, and how rows differ at the levels."""
        every, outputs = slice(0, self.levels.size), range(len(context.outputs))
        made = tuple(self.gather(total, kept, context, output, every) for output in outputs)
        targets = () if context.searched is None else self.targets(context.searched, len(outputs))
        return Conclusion(made, targets=targets)

    def conclude_region(
        self,
        total: LevelMoments | LevelClasses,
        kept: FloatArray,
        context: MeasureContext,
        output: int,
    ) -> LevelEffect | None:
        """The same for the rows of a region, from the first to the last of their levels."""
        filled = np.flatnonzero(total.count)
        if total.count.sum() < MIN_REGION_ROWS:
            return None
        some = slice(int(filled[0]), int(filled[-1]) + 1)
        made = self.gather(total, kept, context, output, some)
        unknown = [made.levels[k] for k in np.flatnonzero(made.count == 0)]
        if not unknown:
            return made
        text = f"{len(unknown)} steps have no row on either side (after {unknown[0]!r}): the curve is flat there"
        return replace(made, bin_notes=(*made.bin_notes, Note("empty steps", text)))

    def in_region(self, axis: FeatureAxis) -> LevelDifferences:  # noqa: ARG002 - levels stay
        """The same steps."""
        return self

    def gather(
        self,
        total: LevelMoments | LevelClasses,
        kept: FloatArray,
        context: MeasureContext,
        output: int,
        some: slice,
    ) -> LevelEffect:
        """The effect of neighbouring levels on one output."""
        levels, found = self.levels, total.between(some)
        spread = self.nearby.conclude(context, output)
        steps, edges = found.steps, levels.edges[some]
        width = np.diff(edges)
        others = name_others(len(levels.pooled_names))
        has_pooled = any(name.rstrip(" ") == others for name in levels.names[some])
        bin_notes = self.feature.notes
        if not levels.has_order and context.survey.n_rows > self.nearby.n_rows:
            text = (
                f"the spread is measured on {self.nearby.n_rows:,} rows, each moved to every level"
            )
            bin_notes += (Note("sample", text),)
        # Local effects of the sampled rows, at the middles of the steps.
        n_outputs = len(context.outputs)
        positions, down, up, _ = np.split(kept, [1, 1 + n_outputs, 1 + 2 * n_outputs], axis=1)
        level = np.where(
            np.isnan(positions[:, 0]), -1, np.searchsorted(levels.edges, positions[:, 0])
        )
        parts = []
        for change, shift in ((down, 1), (up, 0)):  # down: the step before the level; up: behind it
            step = level - shift
            known = (level >= 0) & (step >= 0) & (step < levels.edges.size - 1)
            known &= ~np.isnan(change[:, output])
            low, high = levels.edges[step[known]], levels.edges[step[known] + 1]
            effects = change[known, output] / (high - low)
            parts.append((0.5 * (low + high), effects, context.weight[known]))
        sample = LocalEffects(*(np.concatenate(pair) for pair in zip(*parts, strict=True)))
        return LevelEffect(
            name=self.feature.name,
            output=context.outputs[output],
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
            is_number=levels.is_number,
            has_order=levels.has_order,
            pooled=levels.pooled_names if has_pooled else (),
            local_notes=context.notes + self.missing + self.empty.notes,
            bin_notes=bin_notes,
            row_spread=None if spread is None else spread.between(some.start, some.stop),
            sample=sample,
        )

    def targets(self, searched: MeasureSample, n_outputs: int) -> tuple[Target, ...]:
        """Targets of the search for regions: the steps of every row, down and up."""
        edges, ends = self.levels.edges, [1, 1 + n_outputs, 1 + 2 * n_outputs]
        positions, down, up, _ = np.split(searched.kept, ends, axis=1)
        known = np.flatnonzero(~np.isnan(positions[:, 0]))
        level = np.searchsorted(edges, positions[known, 0])
        below = (level > 0) & ~np.isnan(down[known, 0])
        above = (level < edges.size - 1) & ~np.isnan(up[known, 0])
        row = np.concatenate([known[below], known[above]])
        position = np.concatenate([level[below], level[above]])
        step = np.concatenate([level[below] - 1, level[above]])
        return tuple(
            Target(
                row=row,
                x=position.astype(np.float64),
                effects=np.concatenate([down[known[below], output], up[known[above], output]]),
                shared=np.zeros(row.size),
                step=step,
            )
            for output in range(n_outputs)
        )


def row_steps(
    level: IntArray, n_levels: int, base: FloatArray, answers: Sequence[FloatArray] | FloatArray
) -> RowSteps:
    """Steps to the levels below and above, from predictions `base` (n_rows, n_outputs).

    `answers` has one or two arrays of the same shape: the rows at the level below, and above.
    """
    below, above = answers[0], answers[-1]
    down = np.where((level > 0)[:, None], base - below, 0.0).T
    up = np.where(((level >= 0) & (level < n_levels - 1))[:, None], above - base, 0.0).T
    return RowSteps(level, down, up)
