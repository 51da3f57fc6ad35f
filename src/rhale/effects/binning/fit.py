"""From cells to effects: candidate limits, the chosen bins, and the fit in every bin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import numpy as np

from rhale.effects.binning.adaptive import Adaptive
from rhale.effects.binning.axis import BatchedCells, FeatureAxis, nearest, unite_all
from rhale.effects.binning.cells import Closed, Grid, distinct, uniform_edges
from rhale.effects.binning.choose import choose_all
from rhale.effects.binning.gaps import (
    NO_GAPS,
    BetweenStretches,
    Gaps,
    ReservedIntervals,
    cut_gaps,
    find_gaps,
)
from rhale.effects.binning.moments import Moments, average_model_moments
from rhale.effects.binning.noise import (
    NonEmptyCells,
    cut_outliers,
    interpolation,
    pure_variance,
    residual_squares,
)
from rhale.effects.binning.partition import (
    ENOUGH_SPREAD_ROWS,
    Cuts,
    Partition,
    Quantile,
    check_cuts,
)
from rhale.effects.curve import (
    BinFits,
    CellMeans,
    RowEnds,
    RowPlaces,
    build_fit_from_bins,
    fill_gaps,
    limit_extrapolation,
    place_rows_apart,
)
from rhale.effects.effect import Effect
from rhale.effects.spread import RowSpread
from rhale.effects.staircase import Jump, Staircase, find_jumps
from rhale.effects.variance import bridge_levels
from rhale.errors import BadSettingError
from rhale.output.text import Note, as_notes
from rhale.stats.arrays import BoolArray, FloatArray, IntArray, as_frozen

# --- Fit the bins that were chosen, those of many effects together, and gather their numbers


SEARCH_PENALTY = 2.0  # price of a searched parameter, in log N rows
MAX_EFFECTS_PER_FIT = 64  # effects that are fitted side by side: their cells stay in a fast cache


class Unfitted(NamedTuple):
    """An effect whose bins are chosen."""

    # name, output: feature and output
    name: str
    output: str
    cells: Moments
    cuts: Cuts
    # fine, limits (n_bins + 1,): finer cells of the same rows and the limits of the bins among
    # theirs: they show better where rows are and how these vary. Or the cells and limits
    # themselves
    fine: Moments
    limits: IntArray
    # What a reader should know about the limits that the bins were chosen among
    notes: tuple[Note, ...] = ()
    # What else is known of the effect, by attributes of `Effect`
    known: Mapping[str, Any] = MappingProxyType({})

    @property
    def follows(self) -> bool:
        """Whether the curve follows cells somewhere, as a fit is too plain for it."""
        cuts = self.cuts
        return cuts.trust is not None and cuts.noise is not None and bool(np.any(cuts.trust > 0))

    @property
    def likeness(self) -> tuple[object, ...]:
        """What effects that are fitted together have in common."""
        cuts, cells = self.cuts, self.cells
        absent = (cuts.noise is None, cuts.spread_parts is None, cuts.spread_limits is None)
        return len(cells.mean), cells.is_stepped, *absent


def fit_effect(
    name: str,
    output: str,
    cells: Moments,
    cuts: Cuts,
    *,
    fine: Moments | None = None,
    limits: IntArray | None = None,
) -> Effect:
    """Fit every bin of one effect; all as in `Unfitted`."""
    fine = cells if fine is None else fine
    limits = cuts.limits if limits is None else limits
    (made,) = fit_effects([Unfitted(name, output, cells, cuts, fine, limits)])
    return made


def fit_effects(unfitted: Sequence[Unfitted]) -> list[Effect]:
    """Fit every bin of many effects, and gather the numbers.

    Each has the bits that it has when it is fitted alone.
    """
    # Most of what a fit of few cells costs is the calls of NumPy, so all effects are fitted in
    # the same calls.
    made, alike = dict[int, Effect](), dict[tuple[object, ...], list[int]]()
    for at, one in enumerate(unfitted):
        alike.setdefault(one.likeness, []).append(at)
    for places in alike.values():
        for first in range(0, len(places), MAX_EFFECTS_PER_FIT):
            some = places[first : first + MAX_EFFECTS_PER_FIT]
            made |= zip(some, _Batch.of([unfitted[at] for at in some]).fit(), strict=True)
    return [made[at] for at in range(len(unfitted))]


@dataclass(frozen=True, eq=False)
class _Batch:
    """Effects that are fitted together. Arrays hold what belongs to one behind that of another."""

    each: Sequence[Unfitted]
    # cells, fine, united: their cells, the fine ones, and those united to bins
    cells: BatchedCells
    fine: BatchedCells
    united: BatchedCells
    # linear, measured (n_bins,): which bins are lines, and which have rows
    linear: BoolArray
    measured: BoolArray

    @classmethod
    def of(cls, each: Sequence[Unfitted]) -> _Batch:
        """Put effects side by side, and unite their cells."""
        fine = BatchedCells.of([one.fine for one in each], n_series=None)
        united = fine.unite([one.limits for one in each])
        return cls(
            each=each,
            cells=BatchedCells.of([one.cells for one in each], n_series=None),
            fine=fine,
            united=united,
            linear=np.concatenate([one.cuts.linear for one in each]) & (united.cells.sxx > 0),
            measured=united.cells.count > 0,
        )

    @property
    def bins(self) -> Moments:
        """Moments of all bins."""
        return self.united.cells

    def fit(self) -> Iterator[Effect]:
        """Fit all, and take them apart again."""
        # where the rows of each bin are; of a bin without rows, its middle and its limits
        bins, (left, right) = self.bins, self.united.ends
        middle = left + 0.5 * (right - left)
        variance = np.where(self.linear, bins.residual_variance[0], bins.variance[0])
        ends = RowEnds(
            np.where(self.measured, bins.mean_x, middle),
            np.where(self.measured, bins.low, left),
            np.where(self.measured, bins.high, right),
        )
        # errors, deviations, quadrature and lines of all effects at once
        limits = self.fine.join([one.limits for one in self.each])
        errors = fit_errors(self.fine.cells, limits, self.linear, bins, variance)
        level_error, slope_error, covariance = errors
        spread, own_spread = self.spread(variance), self.own_spread()
        deviation = np.sqrt(bins.sxx / np.where(self.measured, bins.weight, 1.0))
        places = place_rows_apart(self.fine.cells, self.fine.slices())
        slope = np.where(self.linear, bins.slope[0], 0.0)
        low, high = limit_extrapolation(left, right, ends)
        lines = [as_frozen(own) for own in (ends.mean, bins.mean[0], slope, low, high)]
        fits = []
        for one, part in zip(self.each, self.united.slices(), strict=True):
            fit = BinFits(one.fine.grid.edges[one.limits], *(own[part] for own in lines))
            measured = self.measured[part]
            if not measured.all():  # bins without rows have their effect from the neighbours
                fit = replace(fit, level=bridge_levels(fit, measured))
            fits.append(fit)
        followed = self.follow_cells(fits)
        for array in (bins.count, bins.weight, deviation, *ends, *errors):
            as_frozen(array)  # so that no part of it needs to be
        for k, part in enumerate(self.united.slices()):
            one, fit, measured = self.each[k], fits[k], self.measured[part]
            # deviations of bins without rows are interpolated between the neighbours
            std, std_plain = (
                found[part]
                if measured.all()
                else np.where(measured, found[part], fill_gaps(found[part], middle[part]))
                for found in spread
            )
            # limits that were chosen by the same local effects fit their noise: for each searched
            # parameter log N more in N rows
            search, n_rows = 1.0, one.cells.total_rows
            if one.cuts.is_searched and n_rows >= 2:
                n_lines = np.count_nonzero(one.cuts.linear)
                n_parameters = 2 * one.cuts.linear.size - 1 + n_lines
                search = float(1.0 + SEARCH_PENALTY * n_parameters * np.log(n_rows) / n_rows)
            yield Effect(
                name=one.name,
                output=one.output,
                edges=fit.edges,
                count=bins.count[part],
                rows=bins.rows[part],
                weight=bins.weight[part],
                mean_x=fit.origin,
                std_x=deviation[part],
                low_x=ends.low[part],
                high_x=ends.high[part],
                level=fit.level,
                slope=fit.slope,
                std=std,
                std_plain=std_plain,
                level_error=level_error[part],
                slope_error=slope_error[part],
                row_places=places[k],
                gaps=_find_gaps(one.fine, fit, followed[k], places[k]),
                fit_covariance=covariance[part],
                search=search,
                closed=one.fine.grid.closed,
                bin_notes=(
                    *one.notes,
                    *as_notes(one.cuts.notes, "bins"),
                    *thin_bins(bins.count[part]),
                ),
                cells=followed[k],
                spread_edges=own_spread[k][0],
                spread_std=own_spread[k][1],
                **one.known,
            )

    def spread(self, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Deviation of the local effects about the fits, of given variance, and about the means."""
        cuts = [one.cuts for one in self.each]
        if cuts[0].noise is not None:
            variance = np.fmin(variance, self.pure_variance([own.limits for own in cuts]))
        std, std_plain = np.sqrt(variance), np.sqrt(self.bins.variance[0])
        if cuts[0].spread_parts is None or self.bins.is_stepped:
            return std, std_plain
        parts = [cast(IntArray, own.spread_parts) for own in cuts]
        begin = self.cells.join([own.limits for own in cuts])[:-1]
        place = np.searchsorted(self.cells.join(parts), begin, "right") - 1
        # bins with few rows have the deviation of the part that they lie in
        few = np.isfinite(std) & self.measured & (self.bins.rows < ENOUGH_SPREAD_ROWS)
        return np.where(few, self.spread_between(parts, cap=True)[place], std), std_plain

    def own_spread(self) -> list[tuple[FloatArray | None, FloatArray | None]]:
        """Bins of the spread and the deviation in each; nothing where it has no bins of its own."""
        if self.each[0].cuts.spread_limits is None or self.bins.is_stepped:
            return [(None, None)] * len(self.each)
        limits = [cast(IntArray, one.cuts.spread_limits) for one in self.each]
        parts = np.split(self.spread_between(limits), np.cumsum([o.size - 1 for o in limits])[:-1])
        both = zip(self.each, limits, parts, strict=True)
        return [(one.cells.grid.edges[own], part) for one, own, part in both]

    def spread_between(self, limits: Sequence[IntArray], *, cap: bool = False) -> FloatArray:
        """Deviation about the bins' fits between limits that need not be those of the bins.

        With `cap`, no cell's squares count far more than those around it between the same limits: a
        step that a bin missed must not make all its neighbours look wide.
        """
        cells, joined = self.cells.cells, self.cells.join(limits)
        kinds = np.concatenate([one.cuts.linear for one in self.each])
        squares = residual_squares(
            cells, self.cells.join([o.cuts.limits for o in self.each]), kinds
        )
        if cap:
            some = cells.weight > 0
            sizes = np.add.reduceat(some, joined[:-1], dtype=np.intp)
            squares[some] = cut_outliers(squares[some], cells.rows[some], sizes)
        sums = np.add.reduceat([cells.weight * squares, cells.weight], joined[:-1], axis=1)
        return np.asarray(np.sqrt(np.fmin(sums[0] / sums[1], self.pure_variance(limits))))

    def pure_variance(self, limits: Sequence[IntArray]) -> FloatArray:
        """Most that rows vary by themselves between limits, see the function of this name."""
        return pure_variance(self.filled, self.cells.join(limits))

    @cached_property
    def filled(self) -> NonEmptyCells:
        """Cells whose means count."""
        return NonEmptyCells.of(self.cells)

    def follow_cells(self, fits: Sequence[BinFits]) -> list[CellMeans | None]:
        """Cells of the bins whose fit is too plain for the curve; None if all fits are adequate."""
        found: list[CellMeans | None] = [None] * len(self.each)
        follows = [at for at, one in enumerate(self.each) if one.follows]
        if not follows:
            return found
        each = [self.each[at] for at in follows]
        # the pooled cells that the curves may follow, and the bin of each
        followed = [
            np.arange(one.cells.grid.n_cells + 1)
            if one.cuts.followed is None
            else one.cuts.followed
            for one in each
        ]
        axes = BatchedCells.of([one.cells for one in each]).unite(followed)
        cells, (left, right) = axes.cells, axes.ends
        trust, noise = (
            np.concatenate([getattr(one.cuts, name) for one in each]) for name in ("trust", "noise")
        )
        pairs = zip(followed, each, strict=True)
        bins = axes.join([own.searchsorted(one.cuts.limits) for own, one in pairs])
        place = np.repeat(np.arange(trust.size), np.diff(bins))
        # of these, the cells of bins whose fit is not adequate
        mine = np.flatnonzero(trust[place] > 0)
        place, filled = place[mine], axes.counts[mine]
        weight = cells.weight[mine]
        x = np.where(weight > 0, cells.mean_x[mine], (left + 0.5 * (right - left))[mine])
        low, high, origin, level, slope = (
            np.concatenate([getattr(fits[at], name) for at in follows])[place]
            for name in ("low", "high", "origin", "level", "slope")
        )
        # means less the fit; interpolated in cells of hardly any weight
        residual = cells.mean[0][mine] - level - slope * (np.clip(x, low, high) - origin)
        for k in np.unique(place[~filled]):
            own = place == k
            residual[own] = interpolation(x[own], filled[own]) @ residual[own & filled]
        numbers = {
            "left": left[mine],
            "right": right[mine],
            "weight": weight,
            "mean_x": x,
            "std_x": np.sqrt(cells.sxx[mine] / np.where(weight > 0, weight, 1.0)),
            "residual": residual,
            "error": np.sqrt(noise[mine] / np.where(filled, cells.rows[mine], np.nan)),
            "trust": trust[place],
        }
        # apart again, with bins counted from the first one of each effect
        first = np.cumsum([0, *(fits[at].level.size for at in follows)])
        ends = np.searchsorted(place, first).tolist()
        for k, (start, stop) in enumerate(pairwise(ends)):
            parts = {name: array[start:stop] for name, array in numbers.items()}
            found[follows[k]] = CellMeans(bin=place[start:stop] - first[k], **parts)
        return found


def _find_gaps(cells: Moments, fit: BinFits, followed: CellMeans | None, rows: RowPlaces) -> Gaps:
    """Wide gaps, and how far the curve may be off there; the curve is built only for gaps."""
    return find_gaps(cells, lambda x: build_fit_from_bins(fit, followed, rows).curve(x, "start"))


def fit_errors(
    cells: Moments, limits: IntArray, linear: BoolArray, bins: Moments, variance: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Standard errors of level and slope of every bin, and their covariance.

    `limits`, `linear` (n_bins + 1,) and (n_bins,): the bins among the cells, and which of them are
    lines; `bins`: the cells, united to these bins; `variance` (n_bins,): about the fits; nan where
    rows are too few to tell.
    """
    # Rows need not vary evenly about a line: for the slope, the squares of each cell count with the
    # leverage of its rows, (x - mean)² (the sandwich of White, 1980). A bin of one cell has the
    # usual formula.
    place = np.repeat(np.arange(linear.size), np.diff(limits))
    rows = np.where(bins.weight > 0, bins.rows, np.nan)
    sxx = np.where(bins.sxx > 0, bins.sxx, np.inf)
    offset = np.where(cells.weight > 0, cells.mean_x - bins.mean_x[place], 0.0)
    squares = residual_squares(cells, limits, linear, bins)
    squares = np.where(variance[place] > 0, squares, 0.0)
    levers = cells.sxx + cells.weight * offset**2, cells.weight * offset
    leaned, tilted = (np.add.reduceat(squares * lever, limits[:-1]) for lever in levers)
    known = linear & np.isfinite(variance)
    return (
        np.sqrt(variance / rows),
        np.where(known, np.sqrt(leaned * bins.weight / rows) / sxx, np.where(linear, np.nan, 0.0)),
        np.where(known, tilted / rows / sxx, 0.0),
    )


def thin_bins(count: IntArray) -> tuple[Note, ...]:
    """Say which bins have too few rows to measure."""
    notes = []
    if n_empty := int(np.sum(count == 0)):
        text = f"{n_empty} of {count.size} bins have no rows: they are interpolated"
        notes.append(Note("empty bins", text))
    if n_single := int(np.sum(count == 1)):
        text = f"{n_single} of {count.size} bins have one row: their std is unknown"
        notes.append(Note("thin bins", text))
    return tuple(notes)


MOVED_LIMITS = "moved limits"
FINE_CELLS = 100  # of each kind, so that finished results can be binned anew


def fine_grid(axis: FeatureAxis, candidates: FloatArray, closed: Closed) -> Grid:
    """Cells that contain all candidate limits, and more between them for `rebin`.

    `candidates` (n_candidates,): limits that must be limits of cells; the outermost end the grid;
    `closed`: which limit belongs to a cell.
    """
    low, high = candidates.min(), candidates.max()
    if low == high:
        return Grid(np.array([low, high]), closed)
    extra = np.concatenate(
        [uniform_edges(low, high, FINE_CELLS), Quantile(FINE_CELLS).candidates(axis)]
    )
    kept = np.unique(candidates)
    is_new = np.abs(extra - nearest(kept, extra)) > 1e-9 * (high - low)
    inside = (extra > low) & (extra < high) & is_new
    # additional limits that differ by rounding only are dropped
    limits = np.unique(np.concatenate([kept, extra[inside]]))
    wide = np.append(True, np.diff(limits) > 1e-9 * (limits[-1] - limits[0]))
    wide[np.searchsorted(limits, kept)] = True
    return Grid(np.asarray(limits[wide]), closed)


def axis_of(cells: Moments) -> FeatureAxis:
    """Describe a feature from its cells alone."""
    filled = cells.weight > 0
    edges = cells.grid.edges
    return FeatureAxis(
        float(edges[0]),
        float(edges[-1]),
        cells.mean_x[filled],
        cells.weight[filled],
        cells.total_rows,
    )


class ModelCells(NamedTuple):
    """Cells of one output of one model, its curve where that is known by itself, how rows differ."""

    cells: Moments
    stairs: Staircase | None = None
    spread: RowSpread | None = None


class Unbinned(NamedTuple):
    """An effect before its bins are chosen."""

    # name, output: feature and output
    name: str
    output: str
    # Of one output (see `Moments.of_output`), over the same cells; most often of one model. Bins
    # for the jumps of a staircase are made where it is the only one: several models do not jump at
    # the same places
    models: Sequence[ModelCells]
    partition: Partition
    axis: FeatureAxis | None = None  # The feature; described by its cells if not given
    # What else is known of the effect, by attributes of `Effect`
    known: Mapping[str, Any] = MappingProxyType({})


def bin_cells(
    name: str,
    output: str,
    cells: Moments,
    partition: Partition,
    *,
    axis: FeatureAxis | None = None,
    stairs: Staircase | None = None,
) -> Effect:
    """Choose the bins of one effect of one model, and fit them; all as in `Unbinned`."""
    models = [ModelCells(cells, stairs)]
    ((made,),) = bin_all([Unbinned(name, output, models, partition, axis)])
    return made


def bin_all(unbinned: Sequence[Unbinned]) -> list[tuple[Effect, ...]]:
    """Choose the bins of many effects, of each as if it were alone, and fit them for each model."""
    offers = offer_cells(unbinned)
    united = [average_model_moments(offer.united) for offer in offers]
    chosen = choose_all([offer.partition for offer in offers], united)
    for one, cells, cuts in zip(unbinned, united, chosen, strict=True):
        check_cuts(cuts, cells.grid.n_cells, type(one.partition).__name__)
    # one set of bins for all models of an effect, fitted in the cells of each
    fitted = iter(
        fit_effects(
            [
                Unfitted(
                    one.name,
                    one.output,
                    own,
                    cuts,
                    fine,
                    offer.limits[cuts.limits],
                    notes=offer.notes,
                    known=one.known,
                )
                for one, offer, cuts in zip(unbinned, offers, chosen, strict=True)
                for own, fine in zip(offer.united, offer.fine, strict=True)
            ]
        )
    )
    return [
        tuple(_attach_model_curve(next(fitted), model) for model in one.models) for one in unbinned
    ]


def _attach_model_curve(effect: Effect, model: ModelCells) -> Effect:
    """Give an effect how rows differ, and the curve of its model where that is known by itself."""
    effect, stairs = replace(effect, row_spread=model.spread), model.stairs
    if stairs is not None:
        # bins of a staircase add up to it: means of its slope, with the variance of its changes
        edges = effect.edges
        width = np.where(np.diff(edges) > 0, np.diff(edges), 1.0)
        notes = tuple(n for n in effect.bin_notes if n.kind not in ("empty bins", "thin bins"))
        mean = np.diff(stairs.curve(edges, "start")) / width
        moved = stairs.squared(np.diff(stairs.moved(edges, "start"), axis=1))
        effect = replace(
            effect,
            stairs=stairs,
            level=mean,
            slope=np.zeros(mean.size),
            level_error=np.sqrt(moved.variance) / width,
            slope_error=np.zeros(mean.size),
            fit_covariance=None,
            cells=None,
            gaps=NO_GAPS,
            search=1.0,
            bin_notes=notes,
        )
    if not model.cells.is_stepped or model.spread is None:
        return effect
    # slopes of single rows have the steps of the model in them: secants over bins do not
    std = effect.secant_deviation(effect.edges)
    return replace(effect, std=std, std_plain=std)


class BinningCandidates(NamedTuple):
    """What a partition chooses among."""

    fine: list[Moments]  # Of every model, in the cells that were measured
    limits: IntArray  # (n_cells + 1,): the candidate limits among those of the fine cells
    partition: Partition  # Who chooses: it leaves jumps that all rows share to bins of their own
    notes: tuple[Note, ...]  # Which limits had to move
    united: Sequence[Moments] = ()  # The same rows in the cells between the candidate limits


def offer_cells(unbinned: Sequence[Unbinned]) -> list[BinningCandidates]:
    """Unite fine cells to those between the candidate limits of each partition."""
    offers = [_offer_limits(one) for one in unbinned]
    every = [(part, offer.limits) for offer in offers for part in offer.fine]
    united = iter(unite_all([part for part, _ in every], [limits for _, limits in every]))
    return [offer._replace(united=[next(united) for _ in offer.fine]) for offer in offers]


def _offer_limits(unbinned: Unbinned) -> BinningCandidates:
    """Fine cells, and the candidate limits among them."""
    name, models, partition = unbinned.name, unbinned.models, unbinned.partition
    pooled = average_model_moments([one.cells for one in models])
    grid = pooled.grid
    if partition.closed != grid.closed:
        msg = (
            f"the cells of {name!r} are closed on the {grid.closed}, the requested bins on "
            f"the {partition.closed}; explain the model again with these bins"
        )
        raise BadSettingError(msg)
    axis = unbinned.axis or axis_of(pooled)
    offered, notes = nearest_limits(grid, partition.candidates(axis))
    first, last = int(offered[0]), int(offered[-1])
    parts = [
        one.cells if last - first == grid.n_cells else one.cells.between(first, last)
        for one in models
    ]
    offered = offered - first
    if isinstance(partition, Adaptive):
        # gaps become cells, and their ends are limits instead of those inside them
        gaps = partition.gaps(axis, average_model_moments(parts))
        if gaps.size:
            wanted = np.sort(np.append(parts[0].grid.edges[offered], gaps))
            parts = [cut_gaps(part, gaps) for part in parts]
            edges = parts[0].grid.edges
            place = np.minimum(np.searchsorted(edges, wanted), edges.size - 1)
            offered = distinct(place[edges[place] == wanted])
        # jumps that all rows share have bins of their own
        if len(models) == 1 and (stairs := models[0].stairs) is not None:
            limits = parts[0].grid.edges[offered]
            stretches = stretch_jumps(limits, find_jumps(stairs, parts[0].total_rows))
            offered = offered[np.isin(limits, stretches.add_limits(limits))]
            partition = BetweenStretches(partition, stretches)
    return BinningCandidates(parts, offered, partition, notes)


def stretch_jumps(limits: FloatArray, jumps: Sequence[Jump]) -> ReservedIntervals:
    """From the last limit before every jump to the first one behind it."""
    if not jumps:
        return ReservedIntervals(np.empty((0, 2)), np.empty(0))
    start, stop = np.array([(jump.start, jump.stop) for jump in jumps]).T
    first = np.maximum(np.searchsorted(limits, start, "left") - 1, 0)
    last = np.minimum(np.searchsorted(limits, stop, "right"), limits.size - 1)
    apart = np.append(True, first[1:] >= np.maximum.accumulate(last)[:-1])
    first, last = first[apart], np.maximum.reduceat(last, np.flatnonzero(apart))
    ends = np.column_stack([limits[first], limits[last]])
    return ReservedIntervals(ends, ends[:, 0])


def nearest_limits(grid: Grid, wanted: FloatArray) -> tuple[IntArray, tuple[Note, ...]]:
    """Find the limits of cells nearest to the wanted ones, and say how far they moved."""
    if grid.n_cells == 1:
        return np.array([0, 1]), ()
    span = grid.edges[-1] - grid.edges[0]
    right = np.clip(np.searchsorted(grid.edges, wanted), 1, grid.n_cells)
    left_is_nearer = wanted - grid.edges[right - 1] <= grid.edges[right] - wanted
    found = np.where(left_is_nearer, right - 1, right)
    shift = np.abs(grid.edges[found] - wanted)
    place = np.unique(found)
    if place.size < 2:
        msg = f"the requested bins lie outside the cells [{grid.edges[0]:g}, {grid.edges[-1]:g}]"
        raise BadSettingError(msg)
    n_moved = int(np.sum(shift > 1e-9 * span))
    if not n_moved:
        return place, ()
    farthest = f"{shift.max():.3g}"
    text = f"{n_moved} of {wanted.size} limits moved to the nearest limits of cells, by at most {farthest}"
    return place, (Note(MOVED_LIMITS, text),)
