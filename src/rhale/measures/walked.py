"""Jumps of trees that are walked: the curve is the model's own, bins and spread are of its slopes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from rhale.features.feature import Feature
from rhale.kernels import FloatArray
from rhale.kernels.agreement import staircase_slopes, subtract, subtract_squares
from rhale.kernels.axis import Axis
from rhale.kernels.grid import CellArray, Grid
from rhale.kernels.jumps import (
    Ends,
    JumpCells,
    JumpMarks,
    JumpQuestion,
    JumpSums,
    find_near,
    find_reach,
    near_share,
)
from rhale.kernels.moments import Moments, measure
from rhale.kernels.real_jumps import find_differing
from rhale.kernels.records import crosses_processes
from rhale.kernels.region_finding import Target
from rhale.kernels.staircase import Staircase
from rhale.kernels.windows import Window
from rhale.measures.binned import (
    CellChoice,
    between_rows,
    gather_notes,
    locate_searched,
    sample_effects,
)
from rhale.measures.measure import About, Conclusion, Needs, Questions, Replies, Rows, Tally
from rhale.results.fit import ModelCells, Unbinned
from rhale.results.note import Note

WIDE, DIFFERENCE = 1, 3  # series of slopes, see `JumpReply`


@crosses_processes
@dataclass(frozen=True, eq=False)
class JumpTotal:
    """What rows say: moments of the slopes of their staircases, and sums of their jumps."""

    cells: Moments
    sums: JumpSums

    def __add__(self, other: JumpTotal) -> JumpTotal:
        return JumpTotal(self.cells + other.cells, self.sums + other.sums)


class Marks(NamedTuple):
    """Stretches of an axis, and what is asked of the rows on each."""

    grid: Grid
    asked: JumpMarks


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
    share : float or None
        Share of the rows in a neighbourhood, where the user says so.
    how, missing : tuple of Note
        How local effects are found; rows without a value.
    is_searched : bool
        Whether the sampled rows are searched for regions.
    reach : tuple of float
        Between which values the rows of a region lie: they have jumps at places between them.
    """

    feature: Feature
    places: JumpCells
    narrow: Window
    wide: Window
    cells: CellChoice
    share: float | None = None
    how: tuple[Note, ...] = ()
    missing: tuple[Note, ...] = ()
    is_searched: bool = False
    reach: tuple[float, float] = (-np.inf, np.inf)
    needs: ClassVar[Needs] = "nothing"
    n_changes: ClassVar[int] = 0
    n_points: ClassVar[int] = 1

    def n_kept(self, n_outputs: int) -> int:
        """Where a row stands, its wide slopes, and how those of the halves differ where searched."""
        return 1 + (1 + self.is_searched) * n_outputs

    def questions(self, rows: Rows) -> Questions:
        """The jumps in each row's neighbourhoods and windows."""
        x, marks = rows.chunk.column(self.feature.column), self.marks
        places = rows.count_only(x)
        if x.size > 0 and self.cells.grid.covers_all(places):
            mark = marks.grid.locate_covered(x)
        else:
            counts = self.cells.grid.covers(places)
            mark = marks.grid.locate_covered(np.where(counts, x, marks.grid.edges[0]))
            mark[~counts] = -1
        asked = JumpQuestion(self.feature.column, self.places, marks.asked, mark)
        return Questions(memory=x, jumps=(asked,))

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
        near, cell = places.serve(at), grid.locate(at)
        narrow, wide = read_cells(self.narrow_ends, cell), read_cells(self.wide_ends, cell)
        asked = JumpMarks(
            stand=np.searchsorted(places.places, at, "right"),
            near=near,
            reach=find_reach(places.places, near, narrow, wide),
            narrow=narrow,
            wide=wide,
            part=np.zeros(at.size, dtype=np.intp),
        )
        found = Marks(Grid(marks), asked)
        for one in (grid, found.grid):  # tables that all chunks use, however few rows each has
            one.buckets_for(int(self.feature.axis.rows))
        return found

    def add_up(self, rows: Rows, asked: Questions, replies: Replies) -> Tally:
        """Moments of the slopes in every cell, and sums of jumps at every place."""
        x, (reply,) = asked.memory, replies.jumps
        series = reply.slopes.reshape(-1, x.size)
        cells = measure(self.cells.grid, rows.count_only(x), series, rows.chunk.weights)
        wanted = [WIDE, DIFFERENCE] if self.is_searched else [WIDE]
        wide = [reply.slopes[one].T[rows.sampled] for one in wanted]
        kept = np.column_stack([x[rows.sampled], *wide])
        return Tally(JumpTotal(cells, reply.sums), kept)

    def conclude(self, total: JumpTotal, kept: FloatArray, about: About) -> Conclusion:
        """Accumulate the jumps; bins among the cells are for the caller to choose, for each output."""
        notes = gather_notes(self, total.cells, about)
        ends = float(self.cells.grid.edges[0]), float(self.cells.grid.edges[-1])
        outputs = range(len(about.outputs))
        stairs = [Staircase.of(self.places, total.sums, output, ends) for output in outputs]
        shared = self.shared_slopes(stairs)
        cells = self.leave_own(total.cells, stairs, shared)
        made = tuple(
            self.unbinned(cells, kept, about, (output, found), notes)
            for output, found in enumerate(stairs)
        )
        targets = () if about.searched is None else self.targets(about.searched, shared)
        return Conclusion(made, cells=cells, targets=targets)

    def targets(self, searched: FloatArray, shared: FloatArray) -> tuple[Target, ...]:
        """What regions are to tell apart: slopes over the wide window, less what all rows share.

        The slopes over the two halves of a window differ by steps, and so little do they tell of
        the slope over all of it: a quarter of that is its noise.
        """
        x, row = locate_searched(searched, self.cells.grid)
        n_outputs = len(self.cells.partitions)
        wide, difference = searched[row, 1:].T.reshape(2, n_outputs, row.size)
        by_cell = shared.reshape(-1, n_outputs, shared.shape[-1])[[WIDE, DIFFERENCE]]
        same, same_difference = by_cell.take(self.cells.grid.locate(x), axis=2)
        return tuple(
            Target(
                row=row,
                x=x,
                effects=wide[output],
                shared=same[output],
                noise=(difference[output] - same_difference[output]) / 4,
            )
            for output in range(n_outputs)
        )

    def in_region(self, axis: Axis) -> JumpEffects:
        """The same slopes, and the jumps of the rows near each place that are in a region."""
        near = find_near(axis, self.places.places, self.share or near_share(axis.rows))
        places = replace(self.places, starts=near[0], stops=near[1])
        return replace(self, places=places, reach=(axis.low, axis.high))

    def conclude_region(
        self, total: JumpTotal, kept: FloatArray, about: About, output: int
    ) -> Unbinned | None:
        """Jumps of the rows of a region, between the first and the last of its cells; no bins yet."""
        cells = between_rows(total.cells)
        if cells is None:
            return None
        ends = float(cells.grid.edges[0]), float(cells.grid.edges[-1])
        first, last = np.searchsorted(self.places.places, self.reach, "right")
        places = replace(self.places, places=self.places.places[first:last])
        sums = total.sums.between(int(first), int(last))
        outputs = range(len(about.outputs))
        stairs = [Staircase.of(places, sums, one, ends) for one in outputs]
        cells = self.leave_own(cells, stairs, self.shared_slopes(stairs))
        return Unbinned(
            self.feature.name,
            about.outputs[output],
            [ModelCells(cells.of_output(output, len(outputs)), stairs[output])],
            self.cells.partitions[output],
            known={
                "kind": self.feature.axis_kind,
                "sample": sample_effects(kept, about, output),
            },
        )

    @cached_property
    def narrow_ends(self) -> Ends:
        """Narrow windows of the cells."""
        return self.narrow.ends(self.cells.grid.middles)

    @cached_property
    def wide_ends(self) -> Ends:
        """Wide windows of the cells: rows that share one leave nothing of what all rows share."""
        return self.wide.ends(self.cells.grid.middles)

    def leave_own(self, cells: Moments, stairs: Sequence[Staircase], shared: FloatArray) -> Moments:
        """Leave of the wide slopes what rows differ by themselves, and not at jumps."""
        return self.without_jumps(self.without_shared(cells, shared), stairs)

    def without_shared(self, cells: Moments, shared: FloatArray) -> Moments:
        """Take off the wide slopes what all rows share: those of the mean staircase.

        The cells are all there are, or those between the first and the last row of a region.
        """
        return subtract(cells, shared[:, self.places_of(cells)])

    def shared_slopes(self, stairs: Sequence[Staircase]) -> FloatArray:
        """Slopes of the mean staircases in every cell, whose rows share windows, by the series."""
        ends = self.wide_ends
        return lay_series([staircase_slopes(own.places, own.jumps, *ends) for own in stairs])

    def without_jumps(self, cells: Moments, stairs: Sequence[Staircase]) -> Moments:
        """Take off the variance of the wide slopes what rows differ at jumps.

        It is counted in the bins that hold these, and not once more in all whose windows reach so
        far.
        """
        squares = [self.jump_squares(own, cells.total_rows) for own in stairs]
        return subtract_squares(cells, lay_series(squares)[:, self.places_of(cells)])

    def jump_squares(self, stairs: Staircase, n_rows: float) -> FloatArray:
        """Variance of the wide slopes in every cell because rows differ at jumps, (3, n_cells)."""
        found = np.zeros((3, self.cells.grid.n_cells))
        for jump, differ in find_differing(stairs, n_rows):
            middle = np.array([jump.start + (jump.stop - jump.start) / 2])
            found += staircase_slopes(middle, np.array([differ]), *self.wide_ends) ** 2
        return found

    def places_of(self, cells: Moments) -> slice:
        """Where some neighbouring cells are among all."""
        first = int(np.searchsorted(self.cells.grid.edges, cells.grid.edges[0]))
        return slice(first, first + cells.grid.n_cells)

    def unbinned(
        self,
        cells: Moments,
        kept: FloatArray,
        about: About,
        stairs: tuple[int, Staircase],
        notes: tuple[Note, ...],
    ) -> Unbinned:
        """One output with its staircase, and all that is known of it but its bins."""
        output, found = stairs
        known = {
            "kind": self.feature.axis_kind,
            "local_notes": notes,
            "sample": sample_effects(kept, about, output),
        }
        return Unbinned(
            self.feature.name,
            about.outputs[output],
            [ModelCells(cells.of_output(output, len(about.outputs)), found)],
            self.cells.partitions[output],
            self.feature.axis,
            known,
        )


def lay_series(of_outputs: Sequence[FloatArray]) -> FloatArray:
    """Numbers of the wide slopes of each output, one series behind the other; none of the narrow ones."""
    none = np.zeros((len(of_outputs), of_outputs[0].shape[1]))
    return np.concatenate([none, *np.stack(of_outputs, axis=1)])


def read_cells(ends: Ends, cell: CellArray) -> Ends:
    """Windows of rows, from those of the cells that they are in."""
    return ends[0][cell], ends[1][cell]
