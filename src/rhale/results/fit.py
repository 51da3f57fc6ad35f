"""From cells to effects: offer limits to partitions, unite the cells they chose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from rhale.errors import BadSettingError
from rhale.kernels import FloatArray, IntArray
from rhale.kernels.adaptive import Adaptive
from rhale.kernels.axis import FeatureAxis, nearest
from rhale.kernels.axis_row import unite_all
from rhale.kernels.choosing import choose_all
from rhale.kernels.empty_cells import cut_gaps
from rhale.kernels.fixed import Quantile
from rhale.kernels.gaps import NO_GAPS
from rhale.kernels.grid import Closed, Grid, distinct, uniform_edges
from rhale.kernels.moments import Moments, average_model_moments
from rhale.kernels.partition import Cuts, Partition, check_cuts
from rhale.kernels.real_jumps import Jump, find_jumps
from rhale.kernels.spread import RowSpread
from rhale.kernels.staircase import Staircase
from rhale.kernels.stretches import BetweenStretches, ReservedIntervals
from rhale.results.bin_fits import Unfitted, fit_effects
from rhale.results.effect import Effect
from rhale.results.note import Note

MOVED_LIMITS = "moved limits"
FINE_CELLS = 100  # of each kind, so that finished results can be binned anew


def fine_grid(axis: FeatureAxis, candidates: FloatArray, closed: Closed) -> Grid:
    """Cells that contain all candidate limits, and more between them for `rebin`.

    Parameters
    ----------
    axis : FeatureAxis
        The feature.
    candidates : ndarray of shape (n_candidates,)
        Limits that must be limits of cells; the outermost end the grid.
    closed : {"left", "right"}
        Which limit belongs to a cell.
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
    return Grid(_apart(np.concatenate([kept, extra[inside]]), kept), closed)


def _apart(limits: FloatArray, kept: FloatArray) -> FloatArray:
    """Sort limits and drop additional ones that differ by rounding only."""
    limits = np.unique(limits)
    wide = np.append(True, np.diff(limits) > 1e-9 * (limits[-1] - limits[0]))
    wide[np.searchsorted(limits, kept)] = True
    return np.asarray(limits[wide])


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
    """An effect before its bins are chosen.

    Attributes
    ----------
    name, output : str
        Feature and output.
    models : sequence of ModelCells
        Of one output (see `Moments.of_output`), over the same cells; most often of one model. Bins
        for the jumps of a staircase are made where it is the only one: several models do not jump
        at the same places.
    partition : Partition
        How to choose.
    axis : FeatureAxis, optional
        The feature; described by its cells if not given.
    known : mapping
        What else is known of the effect, by attributes of `Effect`.
    """

    name: str
    output: str
    models: Sequence[ModelCells]
    partition: Partition
    axis: FeatureAxis | None = None
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
    fitted = iter(fit_effects(list(_unfitted(unbinned, offers, chosen))))
    return [
        tuple(_attach_model_curve(next(fitted), model) for model in one.models) for one in unbinned
    ]


def _unfitted(
    unbinned: Sequence[Unbinned], offers: Sequence[BinningCandidates], chosen: Sequence[Cuts]
) -> Iterator[Unfitted]:
    """Every model of every effect, with the bins that were chosen."""
    for one, offer, cuts in zip(unbinned, offers, chosen, strict=True):
        limits = offer.limits[cuts.limits]
        for own, fine in zip(offer.united, offer.fine, strict=True):
            yield Unfitted(
                one.name, one.output, own, cuts, fine, limits, notes=offer.notes, known=one.known
            )


def _attach_model_curve(effect: Effect, model: ModelCells) -> Effect:
    """Give an effect how rows differ, and the curve of its model where that is known by itself."""
    effect = replace(effect, row_spread=model.spread)
    if model.stairs is not None:
        effect = follow_stairs(effect, model.stairs)
    if not model.cells.is_stepped or model.spread is None:
        return effect
    # slopes of single rows have the steps of the model in them: secants over bins do not
    std = effect.secant_deviation(effect.edges)
    return replace(effect, std=std, std_plain=std)


class BinningCandidates(NamedTuple):
    """What a partition chooses among.

    Attributes
    ----------
    fine : list of Moments
        Of every model, in the cells that were measured.
    limits : ndarray of shape (n_cells + 1,)
        The candidate limits among those of the fine cells.
    partition : Partition
        Who chooses: it leaves jumps that all rows share to bins of their own.
    notes : tuple of Note
        Which limits had to move.
    united : sequence of Moments
        The same rows in the cells between the candidate limits.
    """

    fine: list[Moments]
    limits: IntArray
    partition: Partition
    notes: tuple[Note, ...]
    united: Sequence[Moments] = ()


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
            f"the cells of {name!r} are closed on the {grid.closed}, the bins asked for on "
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
        gaps = partition.gaps(axis, average_model_moments(parts))
        cut = [part_at_gaps(part, offered, gaps) for part in parts]
        parts, offered = [part for part, _ in cut], cut[0][1]
        if len(models) == 1 and (stairs := models[0].stairs) is not None:
            limits = parts[0].grid.edges[offered]
            stretches = stretch_jumps(limits, find_jumps(stairs, parts[0].total_rows))
            offered = offered[np.isin(limits, stretches.offer(limits))]
            partition = BetweenStretches(partition, stretches)
    return BinningCandidates(parts, offered, partition, notes)


def follow_stairs(effect: Effect, stairs: Staircase) -> Effect:
    """Give an effect its curve, and bins that add up to it."""
    edges = effect.edges
    width = np.where(np.diff(edges) > 0, np.diff(edges), 1.0)
    notes = tuple(n for n in effect.bin_notes if n.kind not in ("empty bins", "thin bins"))
    mean = np.diff(stairs.curve(edges, "start")) / width
    moved = stairs.squared(np.diff(stairs.moved(edges, "start"), axis=1))
    return replace(
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


def part_at_gaps(cells: Moments, offered: IntArray, gaps: FloatArray) -> tuple[Moments, IntArray]:
    """Make cells of gaps, and offer their ends as limits instead of those inside them."""
    if not gaps.size:
        return cells, offered
    kept = cells.grid.edges[offered]
    cells = cut_gaps(cells, gaps)
    edges, wanted = cells.grid.edges, np.sort(np.append(kept, gaps))
    place = np.minimum(np.searchsorted(edges, wanted), edges.size - 1)
    return cells, distinct(place[edges[place] == wanted])


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
        msg = f"the bins asked for lie outside the cells [{grid.edges[0]:g}, {grid.edges[-1]:g}]"
        raise BadSettingError(msg)
    n_moved = int(np.sum(shift > 1e-9 * span))
    if not n_moved:
        return place, ()
    farthest = f"{shift.max():.3g}"
    text = f"{n_moved} of {wanted.size} limits moved to limits of cells, by at most {farthest}"
    return place, (Note(MOVED_LIMITS, text),)
