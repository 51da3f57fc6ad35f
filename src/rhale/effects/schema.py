"""The schema of saved explanations: type, length and range of every field of every record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING as MISSING_DEFAULT
from dataclasses import fields, replace
from itertools import product
from math import inf
from typing import Any, NamedTuple, get_args

import numpy as np

from rhale.effects.binning.cells import Closed, Grid, as_axis_cells
from rhale.effects.binning.gaps import Crossings, Gaps
from rhale.effects.binning.moments import LARGEST_SQUARABLE, Moments
from rhale.effects.curve import (
    BinFits,
    CellMeans,
    RowEnds,
    RowPlaces,
    build_fit_from_bins,
    middles,
    scatter_rows,
)
from rhale.effects.effect import Density, Effect, LocalEffects
from rhale.effects.level_effect import LevelEffect, name_others
from rhale.effects.profile import Profile, ProfileMethod
from rhale.effects.spread import RowSpread
from rhale.effects.staircase import Staircase
from rhale.effects.table import Missing
from rhale.output.storage.values import (
    ANY_TEXT,
    Anything,
    ArrayDimension,
    Kind,
    Maybe,
    Named,
    Nothing,
    Number,
    Numbers,
    Record,
    RecordUnion,
    Remark,
    Several,
    Text,
    Truth,
    quote_file_value,
    refuse_file_content,
)
from rhale.output.times import AxisKind
from rhale.regions.partners import PartnerMatrix
from rhale.regions.storage import agree_regions, region_records
from rhale.stats.arrays import FloatArray, IntArray

TEXTS, NOTE_LIST = Several(Text()), Several(Remark())
MAX_TOTAL_WEIGHT = 1e120  # more than all rows of the largest weight together
MIN_TOTAL_WEIGHT = 1e-300  # instead of a weight of zero, which is refused later
MAX_AXIS_VALUE = 1e300  # axes end here: the room around a drawing must be a number, too


class SharedSample(NamedTuple):
    """Local effects of the explanation's sampled rows, which hold x and weight once for all."""

    local_effects: FloatArray


class CellPlaces(NamedTuple):
    """Row places that follow from the explanation's cells of the feature."""


class PartRows(NamedTuple):
    """Rows of a region: which of those in the sample of all rows they are."""

    rows: IntArray


def _columns(of: str) -> dict[str, Numbers]:
    """Kinds of arrays with one number for each of something.

    `places` lie on an axis, `counts`, `sizes` and `weights` are not negative, `means` may be
    unknown, and so may `slopes` and `errors`, which are infinite on an axis of next to no length.
    """
    sides = (ArrayDimension(of),)
    return {
        "places": Numbers(sides, -MAX_AXIS_VALUE, MAX_AXIS_VALUE),
        "counts": Numbers(sides, whole=True, least=0),
        "sizes": Numbers(sides, least=0),
        "weights": Numbers(sides, 0, MAX_TOTAL_WEIGHT),
        "means": Numbers(sides, -LARGEST_SQUARABLE, LARGEST_SQUARABLE, unknown=True),
        "slopes": Numbers(sides, -inf, inf, unknown=True),
        "errors": Numbers(sides, 0, inf, unknown=True),
    }


def _limits(of: str) -> Numbers:
    """Limits of bins or cells, one more than there are of them."""
    return Numbers((ArrayDimension(of, 1, least=1),), -MAX_AXIS_VALUE, MAX_AXIS_VALUE, rising=True)


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


def _build_effect(**found: Any) -> Effect:
    """Make an effect; files before format 5 hold its fits at the middles of the bins."""
    mean, edges, origin = found.pop("mean", None), found["edges"], found["mean_x"]
    if "level" not in found:
        if mean is None:
            refuse_file_content("level of an effect is missing")
        found["level"] = mean + found["slope"] * (origin - middles(edges))
        if np.any(np.abs(found["level"]) > LARGEST_SQUARABLE):
            refuse_file_content("a slope of an effect is too large for its bin")
    found.setdefault("low_x", edges[:-1])
    found.setdefault("high_x", edges[1:])
    if "row_places" not in found:
        found["row_places"] = scatter_rows(origin, found["std_x"], found["weight"])
    return Effect(**found)


def _build_levels(**found: Any) -> LevelEffect:
    """Make an effect of levels.

    Files before format 11 hold covariances of levels without an order; some hold the steps of the
    rows of the higher levels alone (`down`).
    """
    found.pop("down", None)
    covariance = found.pop("covariance", None)
    if covariance is not None and np.all(np.isfinite(covariance)) and len(covariance) > 1:
        n_levels, weight = len(covariance), found["level_weight"]
        found["has_order"] = False
        found["row_spread"] = RowSpread(
            places=found["edges"],
            shares=weight / max(weight.sum(), MIN_TOTAL_WEIGHT),
            covariance=np.diff(np.diff(covariance, axis=0), axis=1),
            error=float("nan"),
            first=np.zeros(n_levels, dtype=np.intp),
            last=np.full(n_levels, n_levels - 1),
            x=np.empty(0),
            rows=np.empty((0, n_levels - 1)),
        )
    return LevelEffect(**found)


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


def _agree_crossings(asked: Crossings, where: str) -> None:
    """Stretches have a width and no part in common, and no rise has less variance than none."""
    if np.any(asked.right <= asked.left) or np.any(asked.right[:-1] > asked.left[1:]):
        refuse_file_content(f"{where}left and {where}right are no stretches one after the other")
    if np.any(asked.empty >= asked.rise.size):
        refuse_file_content(f"{where}empty names a stretch that is not there")
    if np.any(np.diag(asked.covariance) < 0):
        refuse_file_content(f"{where}covariance has a variance below zero")


def _agree_places(places: RowPlaces, where: str) -> None:
    """Shares of the data add up to one."""
    if not np.isclose(places.weight.sum(), 1.0):
        refuse_file_content(f"{where}weight adds up to {places.weight.sum()}, not to 1")


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


def _build_moments(grid: Grid, **sums: Any) -> Moments:
    """Moments in a file are over one axis: it holds their grid."""
    # formats before 5 knew no more than the cell of a row; how many cells there are is asked later
    filled = sums["count"] > 0
    sums.setdefault("low", np.where(filled, np.resize(grid.edges[:-1], filled.size), inf))
    sums.setdefault("high", np.where(filled, np.resize(grid.edges[1:], filled.size), -inf))
    return Moments(as_axis_cells(grid), **sums)


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
        if name not in binned or n_series not in [n * len(outputs) for n in (1, 3, 4)]:
            refuse_file_content(
                f"{where}cells[{quote_file_value(name)}] belongs to no effect with bins"
            )
        if n_series > len(
            outputs
        ):  # files before format 11: slopes of models with steps, for the spread
            kept = replace(moments.series(*range(len(outputs))), is_stepped=True)
            found["cells"][name] = kept


BIN_COLUMNS, STEP_COLUMNS, LEVEL_COLUMNS = _columns("bins"), _columns("steps"), _columns("levels")
POINT_COLUMNS, CELL_COLUMNS, ROW_COLUMNS = _columns("points"), _columns("cells"), _columns("rows")
EFFECT_DEFAULTS = (
    *("low_x", "high_x", "level", "row_places"),  # since format 5
    *(f.name for f in fields(Effect) if f.default is not MISSING_DEFAULT),
)
LEVEL_DEFAULTS = tuple(f.name for f in fields(LevelEffect) if f.default is not MISSING_DEFAULT)
SAMPLE = Record(
    LocalEffects,
    {
        "x": ROW_COLUMNS["places"],
        "local_effects": ROW_COLUMNS["means"],
        "weight": ROW_COLUMNS["weights"],
    },
)
SAMPLED_ROWS = Record(SharedSample, {"local_effects": ROW_COLUMNS["means"]})
PART_ROWS = Record(
    PartRows, {"rows": Numbers((ArrayDimension("rows"),), whole=True, least=0, rising=True)}
)
SAMPLES = {"local_effects": SAMPLE, "sampled_rows": SAMPLED_ROWS}
MISSING_RECORD = Record(
    Missing,
    {
        "count": Number(whole=True, least=0),
        "share": Number(),
        "mean": Number(-MAX_AXIS_VALUE, MAX_AXIS_VALUE, unknown=True),
        "std": Number(0, inf, unknown=True),
        "rows": Number(least=0),
    },
)
GRID = Record(Grid, {"edges": _limits("cells"), "closed": Text(get_args(Closed))})
SERIES = (ArrayDimension("series", least=1), ArrayDimension("cells"))
MOMENTS = Record(
    Moments,
    {
        "grid": RecordUnion({"grid": GRID}),
        "count": CELL_COLUMNS["counts"],
        "weight": CELL_COLUMNS["weights"],
        "weight_squares": Numbers((ArrayDimension("cells"),), 0, MAX_TOTAL_WEIGHT**2),
        "mean_x": CELL_COLUMNS["places"],
        "sxx": CELL_COLUMNS["sizes"],
        "low": Numbers((ArrayDimension("cells"),), -MAX_AXIS_VALUE, inf, unknown=True),
        "high": Numbers((ArrayDimension("cells"),), -inf, MAX_AXIS_VALUE, unknown=True),
        "mean": Numbers(SERIES),
        "sxd": Numbers(SERIES),
        "sdd": Numbers(SERIES, least=0),
        "is_stepped": Truth(),
    },
    _agree_moments,
    _build_moments,
    later=("low", "high", "is_stepped"),
)
CELL_MEANS = Record(
    CellMeans,
    {
        "bin": Numbers((ArrayDimension("cells", least=1),), whole=True, least=0),
        "left": CELL_COLUMNS["places"],
        "right": CELL_COLUMNS["places"],
        "weight": CELL_COLUMNS["weights"],
        "mean_x": CELL_COLUMNS["places"],
        "std_x": CELL_COLUMNS["sizes"],
        "residual": CELL_COLUMNS["means"],
        "error": CELL_COLUMNS["errors"],
        "trust": Numbers((ArrayDimension("cells"),), least=0, most=1),
    },
)
RESULT: dict[str, Kind] = {
    "name": ANY_TEXT,
    "output": ANY_TEXT,
    "missing": Maybe(RecordUnion({"missing": MISSING_RECORD})),
}
SAMPLE_AND_NOTE_FIELDS: dict[str, Kind] = {
    "local_notes": NOTE_LIST,
    "bin_notes": NOTE_LIST,
    "sample": RecordUnion(SAMPLES),
}
ROW_PLACES = Record(
    RowPlaces,
    {
        "x": _columns("places")["places"],
        "weight": Numbers((ArrayDimension("places", least=1),), 0, 1),
    },
    _agree_places,
)
CELL_PLACES = Record(CellPlaces, {})
QUADRATURE_RECORDS = RecordUnion({"row_places": ROW_PLACES, "cell_places": CELL_PLACES})
GAP_COLUMNS = _columns("gaps")
GAPS_RECORD = Record(
    Gaps,
    {
        "left": GAP_COLUMNS["places"],
        "right": GAP_COLUMNS["places"],
        "variance": GAP_COLUMNS["sizes"],
    },
)
CROSSINGS = Record(
    Crossings,
    {
        "left": Numbers(
            (ArrayDimension("stretches", least=1),), -MAX_AXIS_VALUE, MAX_AXIS_VALUE, rising=True
        ),
        "right": Numbers(
            (ArrayDimension("stretches"),), -MAX_AXIS_VALUE, MAX_AXIS_VALUE, rising=True
        ),
        "rise": Numbers((ArrayDimension("stretches"),), -LARGEST_SQUARABLE, LARGEST_SQUARABLE),
        "covariance": Numbers(
            (ArrayDimension("stretches"), ArrayDimension("stretches")),
            -(LARGEST_SQUARABLE**2),
            LARGEST_SQUARABLE**2,
        ),
        "empty": Numbers(
            (ArrayDimension("empty stretches", least=1),), whole=True, least=0, rising=True
        ),
    },
    _agree_crossings,
)
STAIRCASE = Record(
    Staircase,
    {
        "places": Numbers((ArrayDimension("jumps"),), -MAX_AXIS_VALUE, MAX_AXIS_VALUE, rising=True),
        "jumps": Numbers((ArrayDimension("jumps"),), -LARGEST_SQUARABLE, LARGEST_SQUARABLE),
        "near_shares": Numbers((ArrayDimension("jumps"),), 0, 1),
        "row_shares": Numbers((ArrayDimension("jumps", 1),), 0, 1),
        "influence": Numbers(
            (ArrayDimension("groups", least=1), ArrayDimension("jumps")),
            -LARGEST_SQUARABLE,
            LARGEST_SQUARABLE,
        ),
        "drawn": Numbers(
            (ArrayDimension("parts"), ArrayDimension("groups")),
            -(LARGEST_SQUARABLE**2),
            LARGEST_SQUARABLE**2,
        ),
        "group_shares": Numbers((ArrayDimension("groups"),), 0, 1),
        "low": Number(-MAX_AXIS_VALUE, MAX_AXIS_VALUE),
        "high": Number(-MAX_AXIS_VALUE, MAX_AXIS_VALUE),
    },
    _agree_stairs,
)
ROW_SPREAD = Record(
    RowSpread,
    {
        "places": Numbers(
            (ArrayDimension("increments", 1, least=1),),
            -MAX_AXIS_VALUE,
            MAX_AXIS_VALUE,
            rising=True,
        ),
        "shares": Numbers((ArrayDimension("increments", 1),), 0, 1),
        "covariance": Numbers(
            (ArrayDimension("increments"), ArrayDimension("increments")),
            -(LARGEST_SQUARABLE**2),
            LARGEST_SQUARABLE**2,
        ),
        "error": Number(0, LARGEST_SQUARABLE, unknown=True),
        "first": Numbers((ArrayDimension("increments", 1),), whole=True, least=0),
        "last": Numbers((ArrayDimension("increments", 1),), whole=True, least=0),
        "x": Numbers(
            (ArrayDimension("shown rows"),), -MAX_AXIS_VALUE, MAX_AXIS_VALUE, unknown=True
        ),
        "rows": Numbers(
            (ArrayDimension("shown rows"), ArrayDimension("numbers of a row")),
            -LARGEST_SQUARABLE,
            LARGEST_SQUARABLE,
            unknown=True,
        ),
        "mean": Maybe(
            Numbers(
                (ArrayDimension("increments"),), -LARGEST_SQUARABLE, LARGEST_SQUARABLE, unknown=True
            )
        ),
        "curve_error": Number(0, LARGEST_SQUARABLE, unknown=True),
        "crossings": Maybe(RecordUnion({"crossings": CROSSINGS})),
    },
    _agree_spread,
)
EFFECT_FIELDS: dict[str, Kind] = {
    **RESULT,
    **SAMPLE_AND_NOTE_FIELDS,
    "edges": _limits("bins"),
    "count": BIN_COLUMNS["counts"],
    "rows": BIN_COLUMNS["sizes"],
    "weight": BIN_COLUMNS["weights"],
    "mean_x": BIN_COLUMNS["places"],
    "std_x": BIN_COLUMNS["sizes"],
    "low_x": BIN_COLUMNS["places"],
    "high_x": BIN_COLUMNS["places"],
    "mean": BIN_COLUMNS["means"],
    "level": BIN_COLUMNS["means"],
    "slope": BIN_COLUMNS["slopes"],
    "std": BIN_COLUMNS["errors"],
    "std_plain": BIN_COLUMNS["errors"],
    "level_error": BIN_COLUMNS["errors"],
    "slope_error": BIN_COLUMNS["errors"],
    "row_places": RecordUnion({"row_places": ROW_PLACES}),
    "gaps": RecordUnion({"gaps": GAPS_RECORD}),
    "fit_covariance": Maybe(BIN_COLUMNS["slopes"]),
    "search": Number(1, MAX_AXIS_VALUE),
    "closed": Text(get_args(Closed)),
    "density": Text(get_args(Density)),
    "cells": Maybe(RecordUnion({"cell_means": CELL_MEANS})),
    "spread_edges": Maybe(_limits("spread bins")),
    "spread_std": Maybe(_columns("spread bins")["errors"]),
    "kind": Text(get_args(AxisKind)),
    "stairs": Maybe(RecordUnion({"staircase": STAIRCASE})),
    "row_spread": Maybe(RecordUnion({"row_spread": ROW_SPREAD})),
}
LEVEL_FIELDS: dict[str, Kind] = {
    **RESULT,
    **SAMPLE_AND_NOTE_FIELDS,
    "levels": Several(ANY_TEXT, ArrayDimension("levels", least=1), unique=True),
    "level_count": LEVEL_COLUMNS["counts"],
    "level_weight": LEVEL_COLUMNS["weights"],
    "edges": Numbers((ArrayDimension("levels"),), -MAX_AXIS_VALUE, MAX_AXIS_VALUE, rising=True),
    "count": STEP_COLUMNS["counts"],
    "rows": STEP_COLUMNS["sizes"],
    "weight": STEP_COLUMNS["weights"],
    "mean": STEP_COLUMNS["means"],
    "std": STEP_COLUMNS["errors"],
    "correlation": Numbers((ArrayDimension("steps"), ArrayDimension("steps")), unknown=True),
    "is_number": Truth(),
    "pooled": TEXTS,
    "down": Maybe(STEP_COLUMNS["means"]),
    "row_spread": Maybe(RecordUnion({"row_spread": ROW_SPREAD})),
    "has_order": Truth(),
    "covariance": Maybe(
        Numbers(
            (ArrayDimension("levels"), ArrayDimension("levels")),
            -(LARGEST_SQUARABLE**2),
            LARGEST_SQUARABLE**2,
            unknown=True,
        )
    ),
}


def effect_records(
    changes: Mapping[str, Kind], binned: Mapping[str, Kind] | None = None
) -> dict[str, Record]:
    """Records of effects with bins and with levels, of all rows or of a region.

    `changes` are fields of another kind than usual; `binned` the fields of effects with bins where
    only today's format is read.
    """
    if binned is not None:
        effect = Record(Effect, {**binned, **changes}, _agree_effect)
    else:
        effect = Record(
            Effect,
            {**EFFECT_FIELDS, "row_places": QUADRATURE_RECORDS, **changes},
            _agree_effect,
            _build_effect,
            later=EFFECT_DEFAULTS,
            former=("mean",),
        )
    return {
        "effect": effect,
        "level_effect": Record(
            LevelEffect,
            {**LEVEL_FIELDS, **changes},
            _agree_levels,
            _build_levels,
            later=LEVEL_DEFAULTS,
            former=("covariance", "down"),
        ),
    }


EXPLANATION_REGION_RECORDS = region_records(
    effect_records(
        {"regions": Nothing(), "sample": RecordUnion({**SAMPLES, "part_rows": PART_ROWS})}
    )
)
PROFILE = Record(
    Profile,
    {
        **RESULT,
        "method": Text(get_args(ProfileMethod)),
        "grid": Numbers((ArrayDimension("points", least=1),), -MAX_AXIS_VALUE, MAX_AXIS_VALUE),
        "mean": POINT_COLUMNS["means"],
        "std": POINT_COLUMNS["errors"],
        "covariance": Numbers((ArrayDimension("points"), ArrayDimension("points")), unknown=True),
        "rows": POINT_COLUMNS["sizes"],
        "share": POINT_COLUMNS["sizes"],
        "curves": Numbers(
            (ArrayDimension("curves"), ArrayDimension("numbers of a curve")), unknown=True
        ),
        "curve_x": Numbers((ArrayDimension("curves"),), unknown=True),
        "notes": NOTE_LIST,
        "kind": Text(get_args(AxisKind)),
        "levels": Several(ANY_TEXT, unique=True),
        "row_places": Maybe(RecordUnion({"row_places": ROW_PLACES})),
        "known_rows": Maybe(Number(least=0)),
        "own_covariance": Maybe(Numbers((ArrayDimension("points"),), unknown=True)),
    },
    _agree_profile_points,
)
EXPLANATION_RECORDS = {
    **effect_records(
        {"regions": Maybe(RecordUnion({"region_tree": EXPLANATION_REGION_RECORDS["region_tree"]}))}
    ),
    **EXPLANATION_REGION_RECORDS,
    "profile": PROFILE,
    "moments": MOMENTS,
    "grid": GRID,
    "local_effects": SAMPLE,
    "sampled_rows": SAMPLED_ROWS,
    "part_rows": PART_ROWS,
    "cell_means": CELL_MEANS,
    "missing": MISSING_RECORD,
    "row_places": ROW_PLACES,
    "cell_places": CELL_PLACES,
    "gaps": GAPS_RECORD,
    "staircase": STAIRCASE,
    "row_spread": ROW_SPREAD,
    "crossings": CROSSINGS,
}
OF_RESULTS = (ArrayDimension("results"), ArrayDimension("partners"))
PARTNER_MATRIX = Record(
    PartnerMatrix,
    {
        "names": Several(ANY_TEXT, ArrayDimension("partners"), unique=True),
        "share": Numbers(OF_RESULTS, -MAX_AXIS_VALUE, MAX_AXIS_VALUE, unknown=True),
        "standard_error": Numbers(OF_RESULTS, 0, MAX_AXIS_VALUE, unknown=True),
        "p_value": Numbers(OF_RESULTS, 0, 1, unknown=True),
        "own_share": Numbers(OF_RESULTS, 0, MAX_AXIS_VALUE, unknown=True),
        "proxy_of": Numbers(OF_RESULTS, whole=True, least=-1),
        "size": Numbers(OF_RESULTS, 0, MAX_AXIS_VALUE, unknown=True),
        "unexplained": Numbers((ArrayDimension("results"),), 0, 1, unknown=True),
        "rows": Numbers((ArrayDimension("results"),), whole=True, least=0),
    },
    _agree_partners,
)
EXPLANATION_RECORDS["partner_matrix"] = PARTNER_MATRIX
OF_ALL = {"rows": Number(whole=True, least=0), "rows_in_table": Number(whole=True, least=0)}
EXPLANATION = Record(
    dict,
    {
        "features": Several(ANY_TEXT, ArrayDimension("features", least=1), unique=True),
        "outputs": Several(ANY_TEXT, ArrayDimension("outputs", least=1), unique=True),
        "effects": Several(
            RecordUnion({n: EXPLANATION_RECORDS[n] for n in ("effect", "level_effect", "profile")})
        ),
        "predictions": Numbers((ArrayDimension("rows"), ArrayDimension("outputs"))),
        "sample_x": Numbers((ArrayDimension("rows"), ArrayDimension("features")), unknown=True),
        "sample_weight": ROW_COLUMNS["weights"],
        "cells": Named(RecordUnion({"moments": MOMENTS})),
        "provenance": Named(Anything(), OF_ALL),
        "notes": NOTE_LIST,
        "partner_matrix": Maybe(RecordUnion({"partner_matrix": PARTNER_MATRIX})),
    },
    agree_explanation,
    later=("partner_matrix",),
)
