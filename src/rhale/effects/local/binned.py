"""Local effects of numbers, averaged in bins: RHALE, DALE and ALE differ in what is averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, TypeVar

import numpy as np

from rhale.effects.binning.adaptive import Adaptive
from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.fit import MOVED_LIMITS, ModelCells, Unbinned, fine_grid
from rhale.effects.binning.gaps import NO_PILES, BetweenStretches, PointMasses, find_point_masses
from rhale.effects.binning.moments import Moments, measure_moments
from rhale.effects.binning.partition import Edges, Partition, Quantile
from rhale.effects.effect import Density, Effect, LocalEffects
from rhale.effects.level_effect import LevelEffect
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
from rhale.effects.local.notes import (
    ACROSS,
    ON_NEIGHBOURS,
    OVER_BIN,
    describe_gaps,
    describe_outside,
)
from rhale.errors import BadSettingError
from rhale.features.feature import Feature, require_rows_in_limits
from rhale.output.text import Note
from rhale.regions.settings import Target
from rhale.settings import Settings
from rhale.stats.arrays import FloatArray

AnyEffect = TypeVar("AnyEffect", bound=Effect | LevelEffect)
NOT_MOVED = Note(
    "spread",
    "the model refuses rows with other values of this feature: the spread is computed from the "
    "deviations in the bins, as if each row deviated in the same direction in all bins",
)
MIN_REGION_ROWS = 2  # of a region: one row has no spread


class Source(Protocol):
    """Where the local effects of a feature come from."""

    @property
    def column(self) -> int:
        """The feature's column in the table."""

    @property
    def needs(self) -> Needs:
        """What it needs of the rows as they are."""

    @property
    def n_changes(self) -> int:
        """How many changed copies of the rows it asks about."""

    @property
    def is_stepped(self) -> bool:
        """Whether steps of the model are in the local effects of single rows."""

    @property
    def point_masses(self) -> PointMasses:
        """Values that many rows share, where local effects do not show what happens beside them."""

    def questions(self, rows: MeasuredChunk) -> Questions:
        """Rows as the model is to see them."""

    def local_effects(self, rows: MeasuredChunk, asked: Questions, replies: Replies) -> FloatArray:
        """Local effects on all outputs, shape (n_outputs, n_rows)."""


@dataclass(frozen=True, eq=False)
class WholeBin:
    """The row's own bin, widened to whole numbers, between the first and the last one there is."""

    # A column of whole numbers cannot be asked at limits between them, and a bin [k - ½, k + ½)
    # shrinks to nothing if they are rounded. Asked at k - 1 and k + 1 its secant is that of the
    # broken line through the values of the model, over the bin itself. Limits that are whole
    # numbers are asked as they are, beyond the last value, too: so do ALEPlot and iml.

    grid: Grid
    low: float
    high: float

    def ends(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The whole numbers around the bin of every value."""
        low, high = self.grid.edges[:-1], self.grid.edges[1:]
        a, b = np.floor(low), np.ceil(high)
        first, last = np.ceil(self.low), np.floor(self.high)
        if first < last:
            inside = (
                np.where(a < low, np.maximum(a, first), a),
                np.where(b > high, np.minimum(b, last), b),
            )
            a, b = np.where(inside[0] < inside[1], inside, (a, b))
        cell = self.grid.locate(x)
        return a[cell], b[cell]


@dataclass(frozen=True, eq=False)
class CellChoice:
    """Cells of one feature and the partition of each output that chooses among them."""

    grid: Grid
    partitions: tuple[Partition, ...]  # one for each output
    density: Density = "rows"  # how rows count for centring and importance
    can_change: bool = True  # whether the cells allow other bins later
    notes: tuple[Note, ...] = ()
    # whether the user gave the limits, one for each output: regions keep them
    given: tuple[bool, ...] = ()

    def between_rows(self, cells: Moments, output: int) -> Moments | None:
        """Cells of a region from the first to the last that has rows, or all between given limits.

        None where there are less than two rows.
        """
        if cells.count.sum() < MIN_REGION_ROWS:
            return None
        if any(self.given[output : output + 1]):
            return cells
        filled = np.flatnonzero(cells.count)
        return cells.between(int(filled[0]), int(filled[-1]) + 1)


@dataclass(frozen=True, eq=False)
class BinnedEffects:
    """Local effects of one feature, measured in cells and united to bins."""

    feature: Feature
    source: Source  # where local effects come from: gradient, secants
    cells: CellChoice
    nearby: Nearby  # places that sampled rows are moved to
    # how, missing: how local effects are found, where a reader should know; rows without a value
    how: tuple[Note, ...] = ()
    missing: tuple[Note, ...] = ()
    n_points: ClassVar[int] = 1

    @property
    def needs(self) -> Needs:
        """What the source needs."""
        return self.source.needs

    @property
    def n_changes(self) -> int:
        """Changes that the source asks about."""
        return self.source.n_changes

    def n_kept(self, n_outputs: int) -> int:
        """The position of a row, its local effects, and its increments between places near."""
        return 1 + n_outputs + self.nearby.n_kept

    def questions(self, rows: MeasuredChunk) -> Questions:
        """The questions of the source, and sampled rows at places near."""
        asked = self.source.questions(rows)
        # a gradient may be all that a model has for rows that are not in its table
        near = self.nearby.ask(rows, may_fail=self.source.needs == "slopes")
        return replace(asked, subset_queries=(*asked.subset_queries, near))

    def add_up(self, rows: MeasuredChunk, asked: Questions, replies: Replies) -> ChunkResult:
        """Moments of the local effects in every cell."""
        x = rows.chunk.column(self.feature.column)
        series = self.source.local_effects(rows, asked, replies)
        places = rows.count_only(self.source.point_masses.split_ties(x, rows.key))
        cells = measure_moments(self.cells.grid, places, series, rows.chunk.weights)
        near = self.nearby.keep(rows, replies.subset_answers[-1])
        kept = np.column_stack([x[rows.sampled], series[:, rows.sampled].T, near])
        return ChunkResult(replace(cells, is_stepped=self.source.is_stepped), kept)

    def recall(self, rows: MeasureSample) -> Moments:
        """The same moments, from what was kept of every row."""
        x, effects = rows.kept[:, 0], rows.kept[:, 1 : 1 + self.nearby.n_outputs]
        places = self.source.point_masses.split_ties(x, rows.key)
        cells = measure_moments(
            self.cells.grid, places, np.ascontiguousarray(effects.T), rows.weight
        )
        return replace(cells, is_stepped=self.source.is_stepped)

    def conclude(self, total: Moments, kept: FloatArray, context: MeasureContext) -> Conclusion:
        """Leave it to the caller to choose bins among the cells, for each output."""
        every = range(len(context.outputs))
        notes = gather_local_effect_notes(
            self.feature, self.cells, total, context, how=self.how, missing=self.missing
        )
        was_refused = self.nearby.was_refused(context)
        across = ON_NEIGHBOURS if was_refused else ACROSS
        is_ale = self.cells.density == "bins"
        notes += describe_gaps(self.feature, OVER_BIN if is_ale else across)
        if was_refused:
            notes += (NOT_MOVED,)
        made = tuple(self.unbinned(total, kept, context, output, notes) for output in every)
        return Conclusion(
            made,
            cells=total if self.cells.can_change else None,
            targets=() if context.searched is None else self.targets(context.searched, len(every)),
        )

    def targets(self, searched: MeasureSample, n_outputs: int) -> tuple[Target, ...]:
        """Targets of a search for regions: local effects, or wide secants of a model with steps."""
        if self.source.is_stepped:
            return tuple(self.nearby.target(searched, output) for output in range(n_outputs))
        row = np.flatnonzero(self.cells.grid.covers(searched.kept[:, 0]))
        x, effects = searched.kept[row, 0], searched.kept[row, 1 : 1 + n_outputs]
        return tuple(
            Target(row=row, x=x, effects=effects[:, output], shared=np.zeros(row.size))
            for output in range(n_outputs)
        )

    def in_region(self, axis: FeatureAxis) -> BinnedEffects:  # noqa: ARG002 - cells and windows stay
        """The same local effects in the same cells."""
        return self

    def conclude_region(
        self, total: Moments, kept: FloatArray, context: MeasureContext, output: int
    ) -> Unbinned | None:
        """The rows of a region, between its first and last cell or given limits, but for bins."""
        cells = self.cells.between_rows(total.series(output), output)
        if cells is None:
            return None
        known = {
            "kind": self.feature.axis_kind,
            "density": self.cells.density,
            "sample": sample_effects(kept, context, output),
        }
        return Unbinned(
            self.feature.name,
            context.outputs[output],
            [ModelCells(cells, spread=self.nearby.conclude(context, output))],
            self.cells.partitions[output],
            known=known,
        )

    def unbinned(
        self,
        total: Moments,
        kept: FloatArray,
        context: MeasureContext,
        output: int,
        notes: tuple[Note, ...],
    ) -> Unbinned:
        """One output, and all that is known of it but its bins."""
        known = {
            "kind": self.feature.axis_kind,
            "density": self.cells.density,
            "local_notes": notes,
            "sample": sample_effects(kept, context, output),
        }
        return Unbinned(
            self.feature.name,
            context.outputs[output],
            [ModelCells(total.series(output), spread=self.nearby.conclude(context, output))],
            self.cells.partitions[output],
            self.feature.axis,
            known,
        )


def gather_local_effect_notes(
    feature: Feature,
    cells: CellChoice,
    total: Moments,
    context: MeasureContext,
    *,
    how: tuple[Note, ...],
    missing: tuple[Note, ...],
) -> tuple[Note, ...]:
    """What a reader should know about the local effects; refuse limits without rows."""
    edges = cells.grid.edges
    require_rows_in_limits(feature, int(total.count.sum()), (edges[0], edges[-1]), context.survey)
    notes = (*how, *context.notes, *feature.notes, *cells.notes, *missing)
    n_known = context.survey.n_rows - feature.n_missing
    return notes + describe_outside(n_known, total, kind=feature.axis_kind)


def sample_effects(kept: FloatArray, context: MeasureContext, output: int) -> LocalEffects:
    """Local effects of the sampled rows that have a value."""
    known = ~np.isnan(kept[:, 0])
    return LocalEffects(kept[known, 0], kept[known, 1 + output], context.weight[known])


def without_moved(effect: AnyEffect) -> AnyEffect:
    """Say nothing of limits that moved to those of cells: a region has the cells of all rows."""
    kept = tuple(note for note in effect.bin_notes if note.kind != MOVED_LIMITS)
    return replace(effect, bin_notes=kept)


def choose_cells(
    settings: Settings, feature: Feature, outputs: Sequence[str], n_limits: int | None = None
) -> CellChoice:
    """Choose the cells of a feature so that every output's partition can choose among them.

    `n_limits` is how many limits of each kind `Adaptive` looks at where the user does not say.
    """
    partitions = tuple(settings.partition(feature.name, output) for output in outputs)
    different = {id(p): p for p in partitions}  # most often one for all outputs
    if n_limits is not None:
        for key, p in different.items():
            if isinstance(p, Adaptive) and p.n_limits is None:
                different[key] = replace(p, n_limits=n_limits)
        partitions = tuple(different[id(p)] for p in partitions)
    closed = partitions[0].closed
    if any(p.closed != closed for p in partitions):
        msg = f"bins of {feature.name!r} are closed on different sides for different outputs"
        raise BadSettingError(msg)
    offered = [p.candidates(feature.axis) for p in different.values()]
    notes: tuple[Note, ...] = ()
    if isinstance(partitions[0], Quantile) and not feature.is_complete:
        n_rows = f"{feature.axis.values.size:,}"
        notes = (
            Note("sample", f"the quantile limits come from a sample with {n_rows} distinct values"),
        )
    given = tuple(isinstance(partition, Edges) for partition in partitions)
    if settings.method != "ale":
        grid = fine_grid(feature.axis, np.concatenate(offered), closed)
        return CellChoice(grid, partitions, notes=notes, given=given)
    if any(not np.array_equal(offered[0], other) for other in offered):
        msg = f"method='ale' needs the same bins of {feature.name!r} for all outputs"
        raise BadSettingError(msg)
    edges = reachable_limits(feature, partitions[0], offered[0])
    own = (Edges(edges, closed),) * len(partitions)
    return CellChoice(Grid(edges, closed), own, "bins", can_change=False, notes=notes, given=given)


def choose_point_masses(feature: Feature, cells: CellChoice) -> PointMasses:
    """Values that many rows share, where bins are searched: limits that the user gave stay."""
    found = find_point_masses(feature.axis)
    for p in cells.partitions:
        if isinstance(p, Edges):
            edges = np.array(p.edges)
            if not np.array_equal(found.add_limits(edges), edges):
                return NO_PILES
        elif not isinstance(p, Adaptive):
            return NO_PILES
    return found


def separate_point_masses(cells: CellChoice, point_masses: PointMasses) -> CellChoice:
    """Let cells, and with them bins, end where the stretches beside point masses end."""
    if not point_masses.values.size:
        return cells
    grid = Grid(point_masses.add_limits(cells.grid.edges), cells.grid.closed)
    between = tuple(
        p if isinstance(p, Edges) else BetweenStretches(p, point_masses.as_reserved_intervals)
        for p in cells.partitions
    )
    # rows of a point mass have large local effects over a narrow stretch: no wider bin may hold
    # them
    return replace(cells, grid=grid, partitions=between, can_change=False)


def reachable_limits(feature: Feature, partition: Partition, edges: FloatArray) -> FloatArray:
    """Limits at which the model can be asked: whole numbers for features of whole numbers."""
    if not feature.whole or isinstance(partition, Edges):
        return edges
    inner = np.rint(edges[1:-1])
    rounded = np.unique(np.concatenate([np.ceil(edges[:1]), inner, np.floor(edges[-1:])]))
    return rounded if rounded.size > 1 else edges
