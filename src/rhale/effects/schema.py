"""The schema of saved explanations: their records, and what must hold between fields."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Annotated, Any, NamedTuple

import numpy as np

from rhale.effects.binning.cells import Grid, as_axis_cells
from rhale.effects.binning.gaps import Crossings
from rhale.effects.binning.moments import Moments
from rhale.effects.curve import BinFits, RowEnds, RowPlaces, build_fit_from_bins
from rhale.effects.effect import Effect, LocalEffects
from rhale.effects.level_effect import LevelEffect, name_others
from rhale.effects.profile import Profile
from rhale.effects.spread import RowSpread
from rhale.effects.staircase import Staircase
from rhale.output.storage.values import (
    ANY_TEXT,
    NOTE_LIST,
    WHOLE_NUMBER,
    Anything,
    ArrayDimension,
    Kind,
    Maybe,
    Named,
    Nothing,
    Numbers,
    Past,
    Record,
    RecordUnion,
    Several,
    checks,
    quote_file_value,
    refuse_file_content,
)
from rhale.regions.partners import PartnerMatrix
from rhale.regions.storage import agree_regions, region_records
from rhale.stats.arrays import FloatArray, IntArray

# --- What must hold between the fields of a record


@checks(Effect)
def _agree_effect(effect: Effect, where: str) -> None:
    """Refuse an effect with bins whose fields contradict each other."""
    if not effect.weight.sum() > 0:
        refuse_file_content(f"{where}weight is zero in all bins")
    if (effect.spread_edges is None) != (effect.spread_std is None):
        refuse_file_content(f"{where}spread_std has no limits, or limits without it")
    if effect.cells is not None:
        # the cells that a curve follows are in order, fill each bin, and some are measured
        cells, edges, at = effect.cells, effect.edges, f"{where}cells."
        if np.any(np.diff(cells.bin) < 0) or cells.bin[-1] >= edges.size - 1:
            refuse_file_content(f"{at}bin is out of order, or there is no such bin")
        starts = np.flatnonzero(np.diff(cells.bin, prepend=-1))
        stops = np.append(starts[1:], cells.bin.size) - 1
        bins = cells.bin[starts]
        left, right = np.append(0.0, cells.right[:-1]), cells.right.copy()
        left[starts], right[stops] = edges[bins], edges[bins + 1]
        if not (np.array_equal(left, cells.left) and np.array_equal(right, cells.right)):
            refuse_file_content(f"{at}left and {at}right do not fill the bins")
        if np.any(cells.left >= cells.right):
            refuse_file_content(f"{at}left is not below {at}right")
        weight = np.where(cells.measured, cells.weight, 0.0)
        if not np.all(np.add.reduceat(weight, starts) > 0):
            refuse_file_content(f"{at}error is unknown in all cells of a bin")
    if effect.stairs is None:
        # lines end where rows do, within their bins: the pieces of the curve follow each other
        rows = RowEnds(effect.mean_x, effect.low_x, effect.high_x)
        with np.errstate(over="ignore", invalid="ignore"):
            fits = BinFits.of(effect.edges, np.zeros(effect.level.size), effect.slope, rows)
            pieces = build_fit_from_bins(fits, effect.cells, effect.row_places).edges
        if pieces.size > 2 and not np.all(np.diff(pieces) > 0):
            refuse_file_content(f"{where}low_x and {where}high_x do not lie within the bins")
    agree_regions(effect, where)


@checks(Staircase)
def _agree_stairs(stairs: Staircase, where: str) -> None:
    """Places lie on the axis, and shares of the rows add up to one."""
    if not stairs.low <= stairs.high:
        refuse_file_content(f"{where}low is above {where}high")
    if np.any((stairs.places < stairs.low) | (stairs.places > stairs.high)):
        refuse_file_content(f"{where}places lie outside {where}low and {where}high")
    for name in ("row_shares", "group_shares"):
        if not np.isclose(total := getattr(stairs, name).sum(), 1.0):
            refuse_file_content(f"{where}{name} adds up to {total}, not to 1")
    if len(stairs.drawn) != 2:
        refuse_file_content(f"{where}drawn has {len(stairs.drawn)} rows, not 2")


@checks(RowSpread)
def _agree_spread(spread: RowSpread, where: str) -> None:
    """Shares add up to one, rows begin at places, and no increment has less variance than none."""
    if not np.isclose(spread.shares.sum(), 1.0):
        refuse_file_content(f"{where}shares adds up to {spread.shares.sum()}, not to 1")
    if np.any(np.diff(spread.places) == 0):
        refuse_file_content(f"{where}places does not increase")
    if np.any(spread.first > spread.last) or np.any(spread.last >= spread.places.size):
        refuse_file_content(f"{where}first and {where}last name places that are not there")
    is_moved = ~np.isnan(spread.x)
    if np.any(np.isnan(spread.rows[is_moved])):
        refuse_file_content(f"{where}rows is unknown where {where}x is known")
    if is_moved.any() and spread.rows.shape[1] < int((spread.last - spread.first).max()):
        refuse_file_content(f"{where}rows has too few numbers for a row")
    if np.any(np.diag(spread.covariance) < 0):
        refuse_file_content(f"{where}covariance has a variance below zero")


@checks(Crossings)
def _agree_crossings(asked: Crossings, where: str) -> None:
    """Stretches have a width and no part in common, and no rise has less variance than none."""
    if np.any(asked.right <= asked.left) or np.any(asked.right[:-1] > asked.left[1:]):
        refuse_file_content(f"{where}left and {where}right are no stretches one after the other")
    if np.any(asked.empty >= asked.rise.size):
        refuse_file_content(f"{where}empty names a stretch that is not there")
    if np.any(np.diag(asked.covariance) < 0):
        refuse_file_content(f"{where}covariance has a variance below zero")


@checks(RowPlaces)
def _agree_places(places: RowPlaces, where: str) -> None:
    """Shares of the data add up to one."""
    if not np.isclose(places.weight.sum(), 1.0):
        refuse_file_content(f"{where}weight adds up to {places.weight.sum()}, not to 1")


@checks(LevelEffect)
def _agree_levels(effect: LevelEffect, where: str) -> None:
    """Levels have rows, places and steps between them; pooled ones are one level."""
    if len(effect.levels) != effect.mean.size + 1:
        refuse_file_content(
            f"{where}mean has {effect.mean.size} numbers for {len(effect.levels)} levels"
        )
    if not effect.level_weight.sum() > 0:
        refuse_file_content(f"{where}level_weight is zero for all levels")
    if np.any(np.diff(effect.edges) == 0):
        refuse_file_content(f"{where}edges does not increase")
    heavy = effect.weight > 0
    with np.errstate(over="ignore", divide="ignore"):
        unevenness = effect.weight[heavy] ** 2 / effect.rows[heavy]
    if not np.all(np.isfinite(unevenness)):
        refuse_file_content(f"{where}rows are too few for their weight")
    others = name_others(len(effect.pooled))
    if effect.pooled and not any(level.rstrip(" ") == others for level in effect.levels):
        refuse_file_content(f"{where}levels has no {others!r} for the levels that are pooled")
    agree_regions(effect, where)


@checks(Profile)
def _agree_profile_points(profile: Profile, where: str) -> None:
    """Points are in order; labels, if any, and single curves have one entry for each point."""
    n_points, (n_curves, size) = profile.grid.size, profile.curves.shape
    if len(profile.levels) not in (0, n_points):
        refuse_file_content(
            f"{where}levels has {len(profile.levels)} entries for {n_points} points"
        )
    if n_curves > 0 and size != n_points:
        refuse_file_content(f"{where}curves has {size} columns for {n_points} points")
    if profile.method != "mplot" and not np.all(profile.rows > 0):
        refuse_file_content(f"{where}rows is zero at a point")
    if not np.any(np.isfinite(profile.mean)):
        refuse_file_content(f"{where}mean is unknown at all points")
    if np.any(np.diff(profile.grid) < 0):
        refuse_file_content(f"{where}grid does not increase")
    if not profile.share.sum() > 0:
        refuse_file_content(f"{where}share is zero at all points")


@checks(Moments)
def _agree_moments(moments: Moments, where: str) -> None:
    """There are as many numbers as cells, and those with rows have ends."""
    if moments.count.size != moments.grid.n_cells:
        refuse_file_content(
            f"{where}count has {moments.count.size} numbers for {moments.grid.n_cells} cells"
        )
    known = np.isfinite(moments.low) & np.isfinite(moments.high) & (moments.low <= moments.high)
    if not np.array_equal(known, moments.count > 0):
        refuse_file_content(
            f"{where}low and {where}high are not the ends of cells with rows, and of no other"
        )


@checks(PartnerMatrix)
def _agree_partners(matrix: PartnerMatrix, where: str) -> None:
    """Proxies are proxies of partners that there are."""
    if np.any(matrix.proxy_of >= len(matrix.names)):
        refuse_file_content(f"{where}proxy_of names a partner that is not there")


def agree_explanation(found: dict[str, Any], where: str) -> None:
    """Each feature and output has its result, in order; results and cells are of the same kind."""
    features, outputs, effects = found["features"], found["outputs"], found["effects"]
    if len(effects) != len(features) * len(outputs):
        shape = f"{len(features)} features and {len(outputs)} outputs"
        refuse_file_content(f"{where}effects has {len(effects)} entries for {shape}")
    for i, (effect, pair) in enumerate(zip(effects, product(features, outputs), strict=True)):
        if (effect.name, effect.output) != pair:
            refuse_file_content(
                f"{where}effects[{i}] is of another feature or output than the names say"
            )
        first = effects[i - i % len(outputs)]
        is_alone = effect.quantity != effects[0].quantity
        if type(effect) is not type(first) or is_alone:
            refuse_file_content(
                f"{where}effects[{i}] is of another kind than the effects before it"
            )
        tree, n_rows = effect.regions, len(found["sample_weight"])
        if tree is not None and len(tree.regions) > 1 and tree.sampled.size != n_rows:
            refuse_file_content(
                f"{where}effects[{i}].regions.sampled has {tree.sampled.size} numbers for "
                f"{n_rows} rows"
            )
    matrix = found.get("partner_matrix")
    if matrix is not None and matrix.rows.size != len(effects):
        refuse_file_content(
            f"{where}partner_matrix has {matrix.rows.size} rows for {len(effects)} effects"
        )
    binned = {e.name for e in effects if e.parts == "bins"}
    for name, moments in found.get("cells", {}).items():
        n_series = moments.mean.shape[0]
        if name not in binned or n_series != len(outputs):
            refuse_file_content(
                f"{where}cells[{quote_file_value(name)}] belongs to no effect with bins"
            )


# --- What stands in files for what an explanation shares with its effects


class SampledRows(NamedTuple):
    """Local effects of the explanation's sampled rows, which hold x and weight once for all."""

    local_effects: Annotated[FloatArray, Numbers.means("rows")]


class CellPlaces(NamedTuple):
    """Row places that follow from the explanation's cells of the feature."""


class PartRows(NamedTuple):
    """Rows of a region: which of those in the sample of all rows they are."""

    rows: Annotated[IntArray, Numbers.counts("rows", rising=True)]


SAMPLE = RecordUnion.of(LocalEffects)
SAMPLES = RecordUnion.of(LocalEffects, SampledRows)
PART_SAMPLES = RecordUnion.of(LocalEffects, SampledRows, PartRows)
ROW_PLACES = RecordUnion.of(RowPlaces)
ANY_PLACES = RecordUnion.of(RowPlaces, CellPlaces)
TREES, REGIONS = map(RecordUnion.of, region_records(Nothing()))  # without their effects
OF_ALL: dict[str, Kind] = {"rows": WHOLE_NUMBER, "rows_in_table": WHOLE_NUMBER}
Pasts = Mapping[type[Any], Past]  # by the class that was different before


def effect_records(
    sample: RecordUnion, part_sample: RecordUnion, places: RecordUnion, past: Pasts
) -> RecordUnion:
    """Records of effects with regions, and of profiles.

    `sample` is what samples may be, `part_sample` that of regions, `places` are row places.
    """
    first = ("name", "output", "missing", "local_notes", "bin_notes", "sample")

    def of(sample: RecordUnion, regions: Kind) -> tuple[Record, Record]:
        shared: dict[str, Kind] = {"sample": sample, "regions": regions}
        return (
            Record(Effect, {**shared, "row_places": places}, first, past=past.get(Effect, Past())),
            Record(LevelEffect, shared, first, past=past.get(LevelEffect, Past())),
        )

    tree, _ = region_records(RecordUnion.of(*of(part_sample, Nothing())))
    return RecordUnion.of(*of(sample, Maybe(RecordUnion.of(tree))), Profile)


def explanation_record(past: Pasts) -> Record:
    """The record of explanations, whose classes may have had other fields in the past."""
    moments = Record(
        Moments,
        {"grid": RecordUnion.of(Grid)},
        ("grid",),
        omitted=("cells",),  # files hold their one grid
        make=lambda grid, **sums: Moments(as_axis_cells(grid), **sums),
        past=past.get(Moments, Past()),
    )
    return Record(
        dict,
        {
            "features": Several(ANY_TEXT, ArrayDimension("features", least=1), unique=True),
            "outputs": Several(ANY_TEXT, ArrayDimension("outputs", least=1), unique=True),
            "effects": Several(effect_records(SAMPLES, PART_SAMPLES, ANY_PLACES, past)),
            "predictions": Numbers(("rows", "outputs")),
            "sample_x": Numbers(("rows", "features"), unknown=True),
            "sample_weight": Numbers.weights("rows"),
            "cells": Named(RecordUnion.of(moments)),
            "provenance": Named(Anything(), OF_ALL),
            "notes": NOTE_LIST,
            "partner_matrix": Maybe(RecordUnion.of(PartnerMatrix)),
        },
        agree=agree_explanation,
        past=past.get(dict, Past()),
    )


EXPLANATION = explanation_record({})
EFFECTS = effect_records(PART_SAMPLES, PART_SAMPLES, ANY_PLACES, {})  # of regions, too
