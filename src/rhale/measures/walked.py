"""Jumps of trees that are walked: the curve is the model's own, bins and spread are of its slopes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from rhale.features.feature import Feature
from rhale.kernels import FloatArray, IntArray
from rhale.kernels.agreement import staircase_slopes, subtract
from rhale.kernels.grid import CellArray, Grid
from rhale.kernels.jumps import Ends, JumpCells, JumpQuestion, JumpSums
from rhale.kernels.moments import Moments, measure
from rhale.kernels.records import crosses_processes
from rhale.kernels.staircase import Staircase
from rhale.kernels.windows import Window
from rhale.measures.binned import CellChoice, gather_notes, sample_effects
from rhale.measures.measure import About, Conclusion, Needs, Questions, Replies, Rows, Tally
from rhale.results.effect import Effect
from rhale.results.fit import bin_cells
from rhale.results.note import Note


@crosses_processes
@dataclass(frozen=True, eq=False)
class JumpTotal:
    """What rows say: moments of the slopes of their staircases, and sums of their jumps."""

    cells: Moments
    sums: JumpSums

    def __add__(self, other: JumpTotal) -> JumpTotal:
        return JumpTotal(self.cells + other.cells, self.sums + other.sums)


class Marks(NamedTuple):
    """Stretches of an axis on which the same is asked of all rows; fields as in `JumpQuestion`."""

    grid: Grid
    stand: IntArray
    first: IntArray
    last: IntArray
    narrow: Ends
    wide: Ends


@dataclass(frozen=True, eq=False)
class JumpEffects:
    """The effect of one feature on a model whose thresholds are known.

    Attributes
    ----------
    feature : Feature
        The feature.
    places : JumpCells
        Where the model jumps, and the rows near.
    narrow, wide : Window
        Windows of the slopes of each row's own staircase, for bins and for the spread: all rows
        of a cell have the same ones.
    cells : CellChoice
        Cells and partitions.
    how, missing : tuple of Note
        How local effects are found; rows without a value.
    """

    feature: Feature
    places: JumpCells
    narrow: Window
    wide: Window
    cells: CellChoice
    how: tuple[Note, ...] = ()
    missing: tuple[Note, ...] = ()
    needs: ClassVar[Needs] = "nothing"
    n_changes: ClassVar[int] = 0
    n_points: ClassVar[int] = 1

    def n_kept(self, n_outputs: int) -> int:
        """Where a row stands, and its slopes over the wide window."""
        return 1 + n_outputs

    def questions(self, rows: Rows) -> Questions:
        """The jumps in each row's neighbourhoods and windows."""
        x, marks = rows.chunk.column(self.feature.column), self.marks
        counts = self.cells.grid.covers(x)
        place = marks.grid.locate_covered(np.where(counts, x, marks.grid.edges[0]))
        asked = JumpQuestion(
            column=self.feature.column,
            cells=self.places,
            stand=np.where(counts, marks.stand[place], -1),
            first=marks.first[place],
            last=np.where(counts, marks.last[place], marks.first[place]),
            narrow=read_cells(marks.narrow, place),
            wide=read_cells(marks.wide, place),
        )
        return Questions(memory=x, jumps=asked)

    @cached_property
    def marks(self) -> Marks:
        """What is asked of rows, wherever they stand: one search finds it."""
        grid, places = self.cells.grid, self.places
        limits = grid.edges if grid.closed == "left" else np.nextafter(grid.edges, np.inf)
        changes = [limits, places.places, places.starts, np.nextafter(places.stops, np.inf)]
        low, high = grid.edges[0], grid.edges[-1]
        marks = np.unique(np.concatenate([*changes, [low, high, np.nextafter(high, np.inf)]]))
        marks = marks[(marks >= low) & (marks <= np.nextafter(high, np.inf))]
        at = marks[:-1]  # each stands for all values up to the next one
        first, last = places.serve(at)
        cell = grid.locate(at)
        return Marks(
            grid=Grid(marks),
            stand=np.searchsorted(places.places, at, "right"),
            first=first,
            last=last,
            narrow=read_cells(self.narrow_ends, cell),
            wide=read_cells(self.wide_ends, cell),
        )

    def add_up(self, rows: Rows, asked: Questions, replies: Replies) -> Tally:
        """Moments of the slopes in every cell, and sums of jumps at every place."""
        assert replies.jumps is not None  # noqa: S101 - our own mistake
        x, slopes = asked.memory, replies.jumps.slopes
        series = slopes.reshape(-1, x.size)
        cells = measure(self.cells.grid, x, series, rows.chunk.weights)
        kept = np.column_stack([x[rows.sampled], slopes[1][:, rows.sampled].T])
        return Tally(JumpTotal(cells, replies.jumps.sums), kept)

    def conclude(self, total: JumpTotal, kept: FloatArray, about: About) -> Conclusion:
        """Accumulate the jumps, and choose bins among the cells, for each output."""
        notes = gather_notes(self, total.cells, about)
        ends = float(self.cells.grid.edges[0]), float(self.cells.grid.edges[-1])
        outputs = range(len(about.outputs))
        stairs = [Staircase.of(self.places, total.sums, output, ends) for output in outputs]
        cells = self.without_shared(total.cells, stairs)
        made = tuple(
            self.bin(cells, kept, about, (output, found), notes)
            for output, found in enumerate(stairs)
        )
        return Conclusion(made, cells=cells)

    @cached_property
    def narrow_ends(self) -> Ends:
        """Narrow windows of the cells."""
        return self.narrow.ends(self.cells.grid.middles)

    @cached_property
    def wide_ends(self) -> Ends:
        """Wide windows of the cells: rows that share one leave nothing of what all rows share."""
        return self.wide.ends(self.cells.grid.middles)

    def without_shared(self, cells: Moments, stairs: Sequence[Staircase]) -> Moments:
        """Take off the wide slopes what all rows share: those of the mean staircase."""

        def shared(x: FloatArray) -> FloatArray:
            ends = read_cells(self.wide_ends, self.cells.grid.locate(x))
            found = [staircase_slopes(own.places, own.jumps, *ends) for own in stairs]
            none = np.zeros((len(stairs), x.size))
            return np.concatenate([none, *np.stack(found, axis=1)])

        return subtract(cells, shared)

    def bin(
        self,
        cells: Moments,
        kept: FloatArray,
        about: About,
        stairs: tuple[int, Staircase],
        notes: tuple[Note, ...],
    ) -> Effect:
        """Bins of one output, along its staircase."""
        output, found = stairs
        made = bin_cells(
            self.feature.name,
            about.outputs[output],
            cells.of_output(output, len(about.outputs)),
            self.cells.partitions[output],
            axis=self.feature.axis,
            stairs=found,
        )
        sample = sample_effects(kept, about, output)
        return replace(made, kind=self.feature.axis_kind, local_notes=notes, sample=sample)


def read_cells(ends: Ends, cell: CellArray) -> Ends:
    """Windows of rows, from those of the cells that they are in."""
    return ends[0][cell], ends[1][cell]
