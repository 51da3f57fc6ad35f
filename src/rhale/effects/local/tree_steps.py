"""Walked trees: the jumps are the curve, and bins are of the rows' slopes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.fit import ModelCells, Unbinned
from rhale.effects.binning.moments import Moments, measure_moments
from rhale.effects.jumps import (
    JumpCells,
    JumpMarks,
    JumpQuestion,
    JumpSums,
    find_inner,
    find_jump_reach,
    find_near,
    near_share,
)
from rhale.effects.local.binned import CellChoice, gather_local_effect_notes, sample_effects
from rhale.effects.local.finite_difference import Window
from rhale.effects.local.measure import (
    ChunkResult,
    Conclusion,
    MeasureContext,
    MeasuredChunk,
    MeasureSample,
    Needs,
    Questions,
    Replies,
)
from rhale.effects.local.nearby import Nearby
from rhale.effects.local.notes import BY_JUMPS, describe_gaps, describe_noisy_jumps
from rhale.effects.staircase import Staircase, halves_agree
from rhale.effects.statistics import remove_noise
from rhale.features.feature import Feature
from rhale.output.number_format import write_number
from rhale.output.text import Note
from rhale.regions.settings import Target
from rhale.stats.arrays import FloatArray, crosses_processes

MOVED = 0.5  # of an importance: a second cut of the axis that moves it so far deserves a word
NO_ENDS = np.empty(0), np.empty(0)


@crosses_processes
@dataclass(frozen=True, eq=False)
class JumpTotal:
    """What rows say: moments of the slopes of their staircases, and sums of their jumps."""

    cells: Moments
    sums: JumpSums

    def __add__(self, other: JumpTotal) -> JumpTotal:
        return JumpTotal(self.cells + other.cells, self.sums + other.sums)


@dataclass(frozen=True, eq=False)
class JumpEffects:
    """The effect of one feature on a model whose thresholds are known."""

    feature: Feature
    places: JumpCells  # where the model jumps, and the rows near
    # windows of the slopes of each row's own staircase: all rows of a cell have the same one
    window: Window
    cells: CellChoice
    nearby: Nearby  # places that sampled rows are moved to
    share: float | None = None  # share of the rows in a neighbourhood, where the user says so
    # how, missing: how local effects are found; rows without a value
    how: tuple[Note, ...] = ()
    missing: tuple[Note, ...] = ()
    # between which values the rows of a region lie: they have jumps at places between them
    reach: tuple[float, float] = (-np.inf, np.inf)
    needs: ClassVar[Needs] = "nothing"
    n_changes: ClassVar[int] = 0
    n_points: ClassVar[int] = 1

    def n_kept(self, n_outputs: int) -> int:
        """The position of a row, its slopes, and its increments between places near."""
        return 1 + n_outputs + self.nearby.n_kept

    def questions(self, rows: MeasuredChunk) -> Questions:
        """The jumps in each row's neighbourhoods and windows; sampled rows at places near."""
        x, (grid, marks) = rows.chunk.column(self.feature.column), self.marks
        places = rows.count_only(x)
        if x.size > 0 and self.cells.grid.covers_all(places):
            mark = grid.locate_covered(x)
        else:
            counts = self.cells.grid.covers(places)
            mark = grid.locate_covered(np.where(counts, x, grid.edges[0]))
            mark[~counts] = -1
        asked = JumpQuestion(self.feature.column, self.places, marks, mark)
        return Questions(memory=x, jumps=(asked,), subset_queries=(self.nearby.ask(rows),))

    @cached_property
    def marks(self) -> tuple[Grid, JumpMarks]:
        """Stretches of the axis, and what is asked of the rows on each of them."""
        # A stretch ends wherever the cell, the neighbourhood or the window of a row changes, so
        # that one search finds all three.
        grid, places = self.cells.grid, self.places
        limits = grid.edges if grid.closed == "left" else np.nextafter(grid.edges, np.inf)
        changes = [limits, places.places]
        for starts, stops in ((places.starts, places.stops), places.inner or NO_ENDS):
            changes += [starts, np.nextafter(stops, np.inf)]
        low, high = grid.edges[0], grid.edges[-1]
        marks = np.unique(np.concatenate([*changes, [low, high, np.nextafter(high, np.inf)]]))
        marks = marks[(marks >= low) & (marks <= np.nextafter(high, np.inf))]
        at = marks[:-1]  # each represents all values up to the next one
        near, cell = places.serve(at), grid.locate(at)
        starts, stops = self.window.ends(grid.middles)
        window = starts[cell], stops[cell]
        asked = JumpMarks(
            position=np.searchsorted(places.places, at, "right"),
            near=near,
            reach=find_jump_reach(places.places, near, window),
            window=window,
            part=np.zeros(at.size, dtype=np.intp),
            inner=places.serve_inner(at),
        )
        stretches = Grid(marks)
        for one in (grid, stretches):  # tables that all chunks use, however few rows each has
            one.buckets_for(int(self.feature.axis.rows))
        return stretches, asked

    def add_up(self, rows: MeasuredChunk, asked: Questions, replies: Replies) -> ChunkResult:
        """Moments of the slopes in every cell, and sums of jumps at every place."""
        x, (reply,) = asked.memory, replies.jumps
        cells = measure_moments(
            self.cells.grid, rows.count_only(x), reply.slopes, rows.chunk.weights
        )
        near = self.nearby.keep(rows, *replies.subset_answers)
        kept = np.column_stack([x[rows.sampled], reply.slopes.T[rows.sampled], near])
        return ChunkResult(JumpTotal(replace(cells, is_stepped=True), reply.sums), kept)

    def recall(self, rows: MeasureSample) -> None:
        """Nothing: rows of a region have other neighbours, and are walked again."""

    def conclude(self, total: JumpTotal, kept: FloatArray, context: MeasureContext) -> Conclusion:
        """Accumulate the jumps of each output; the caller chooses bins among the cells."""
        notes = gather_local_effect_notes(
            self.feature, self.cells, total.cells, context, how=self.how, missing=self.missing
        )
        notes += describe_gaps(self.feature, BY_JUMPS)
        ends = float(self.cells.grid.edges[0]), float(self.cells.grid.edges[-1])
        outputs = range(len(context.outputs))
        stairs = [Staircase.of(self.places, total.sums, output, ends) for output in outputs]
        nearest = total.sums.inner or total.sums
        noise_notes = [describe_noisy_jumps(halves_agree(nearest, output)) for output in outputs]
        made = tuple(
            self.unbinned(
                total.cells, kept, context, (output, found),
                notes + (noise_notes[output] or self.describe_cuts(total.sums, found, output)),
            )
            for output, found in enumerate(stairs)
        )  # fmt: skip
        targets = tuple[Target, ...]()
        if context.searched is not None:
            targets = tuple(self.nearby.target(context.searched, output) for output in outputs)
        return Conclusion(made, cells=total.cells, targets=targets)

    def describe_cuts(self, sums: JumpSums, found: Staircase, output: int) -> tuple[Note, ...]:
        """Say that importance depends on how many rows near a place its jump is averaged over."""
        if sums.inner is None:
            return ()
        ends = found.low, found.high
        ways = [
            Staircase.of(self.places, one, output, ends)
            for one in (replace(sums, inner=None), sums.inner)
        ]
        # both without what chance adds: the nearest rows are few, and their curve is noisier
        of_all, of_nearest = (
            remove_noise(one.importance(), one.added_square()).denoised for one in ways
        )
        if not abs(of_all - of_nearest) >= MOVED * found.importance() > 0:
            return ()
        text = (
            "the importance depends on how many rows are averaged at a threshold: it is "
            f"{write_number(of_all, 3)} with all rows near it, and {write_number(of_nearest, 3)} with "
            "the nearest quarter of them; its error includes this difference"
        )
        return (Note("cuts", text),)

    def in_region(self, axis: FeatureAxis) -> JumpEffects:
        """The same slopes, and the jumps of the rows near each place that are in a region."""
        share = self.share or near_share(axis.rows)
        near = find_near(axis, self.places.places, share)
        inner = self.places.inner and find_inner(axis, self.places.places, share)
        places = replace(self.places, starts=near[0], stops=near[1], inner=inner)
        return replace(self, places=places, reach=(axis.low, axis.high))

    def conclude_region(
        self, total: JumpTotal, kept: FloatArray, context: MeasureContext, output: int
    ) -> Unbinned | None:
        """Jumps of the rows of a region, between its cells or given limits; no bins yet."""
        cells = self.cells.between_rows(total.cells, output)
        if cells is None:
            return None
        ends = float(cells.grid.edges[0]), float(cells.grid.edges[-1])
        first, last = np.searchsorted(self.places.places, self.reach, "right")
        places = replace(self.places, places=self.places.places[first:last])
        sums = total.sums.between(int(first), int(last))
        stairs = Staircase.of(places, sums, output, ends)
        spread = self.nearby.conclude(context, output)
        return Unbinned(
            self.feature.name,
            context.outputs[output],
            [ModelCells(cells.series(output), stairs, spread)],
            self.cells.partitions[output],
            known={
                "kind": self.feature.axis_kind,
                "sample": sample_effects(kept, context, output),
            },
        )

    def unbinned(
        self,
        cells: Moments,
        kept: FloatArray,
        context: MeasureContext,
        stairs: tuple[int, Staircase],
        notes: tuple[Note, ...],
    ) -> Unbinned:
        """One output with its staircase, and all that is known of it but its bins."""
        output, found = stairs
        known = {
            "kind": self.feature.axis_kind,
            "local_notes": notes,
            "sample": sample_effects(kept, context, output),
        }
        return Unbinned(
            self.feature.name,
            context.outputs[output],
            [ModelCells(cells.series(output), found, self.nearby.conclude(context, output))],
            self.cells.partitions[output],
            self.feature.axis,
            known,
        )
