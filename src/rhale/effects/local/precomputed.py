"""Local effects that are already there: two arrays are binned, without a table and without a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rhale.data.open import check_weights, require_two_rows
from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.fit import bin_cells, fine_grid
from rhale.effects.binning.moments import measure_moments
from rhale.effects.effect import Effect, LocalEffects
from rhale.effects.local.measure import describe_constant
from rhale.effects.local.notes import describe_outside
from rhale.errors import BadEffectsError, BadTableError
from rhale.features.feature import (
    SURVEY_ROWS,
    Feature,
    describe_few_rows,
    parse_limit_pair,
    refuse_empty_limits,
)
from rhale.features.survey import check_column, check_exact, check_range
from rhale.naming import find_feature
from rhale.output.labels import Captions
from rhale.output.text import Note
from rhale.settings import USUAL_BINS, parse_bins_setting, partition_for
from rhale.stats.arrays import FloatArray, IntArray
from rhale.stats.sampling import collect, hash_rows

MAX_RESULT_SAMPLE_ROWS = 2_000
OUTPUT = "y0"
ADDED_UP = Note(
    "spread",
    "there is no model to evaluate: the spread is computed from the deviations in the bins, as if "
    "each row deviated in the same direction in all bins",
)
CAPTIONS = Captions(outputs={OUTPUT: "prediction"})


def bin_local_effects(
    x: npt.ArrayLike,
    local_effects: npt.ArrayLike,
    *,
    bins: Any = None,
    weights: Any = None,
    limits: Any = None,
    name: str = "x",
) -> Effect:
    """Average given local effects in bins, and accumulate them; all as in `rhale.effect`."""
    places, values, weight, row_numbers = read_local_effects(x, local_effects, weights, name)
    partition = partition_for(parse_bins_setting(bins), name, OUTPUT) or USUAL_BINS["rhale"]
    check_column(places, name, row_numbers)
    if isinstance(limits, Mapping):
        limits = next(
            (pair for key, pair in limits.items() if find_feature(key, [name]) == 0), None
        )

    # What a first pass over a table would learn of its one column: range, and sampled values.
    reach = (float(places.min()), float(places.max()))
    low, high = reach if limits is None else parse_limit_pair(name, limits, "number")
    total, squares = float(places.size), float(places.size)
    if weight is not None:
        total, squares = float(weight.sum()), float(weight @ weight)
    n_effective = total**2 / squares
    each = np.ones(places.size) if weight is None else weight
    sample = collect(hash_rows(places[:, None]), places[:, None], each, size=SURVEY_ROWS)
    ends = tuple(value for value in reach if low <= value <= high)
    axis = FeatureAxis.of_sample(sample.values[:, 0], sample.weight, (low, high), n_effective, ends)
    check_range(name, low, high)
    if not axis.values.size:
        refuse_empty_limits(name, "number", (low, high), reach)
    if low == high:
        feature = Feature(name, 0, 0, "number", axis, whole=False, is_complete=sample.is_complete)
        constant = cast(Effect, describe_constant(feature, OUTPUT, places.size, total))
        return replace(constant, captions=CAPTIONS)

    # Cells, then bins of cells.
    grid = fine_grid(axis, partition.candidates(axis), partition.closed)
    cells = measure_moments(grid, places, values, weight)
    if not cells.count.sum():
        refuse_empty_limits(name, "number", (grid.edges[0], grid.edges[-1]), reach)
    made = bin_cells(name, OUTPUT, cells.series(0), partition, axis=axis)
    few = describe_few_rows(places.size, n_effective)
    notes = (*few, *describe_outside(places.size, cells), ADDED_UP)
    rows = sample_local_effects(places, values, each)
    return replace(made, local_notes=notes, sample=rows, captions=CAPTIONS)


def sample_local_effects(
    x: FloatArray, local_effects: FloatArray, weight: FloatArray
) -> LocalEffects:
    """Keep a bounded number of rows, those with the smallest hashes."""
    kept = np.column_stack([x, local_effects])
    sample = collect(hash_rows(kept), kept, weight, size=MAX_RESULT_SAMPLE_ROWS)
    return LocalEffects(sample.values[:, 0], sample.values[:, 1], sample.weight)


def read_local_effects(
    x: npt.ArrayLike, local_effects: npt.ArrayLike, weights: Any, name: str
) -> tuple[FloatArray, FloatArray, FloatArray | None, IntArray]:
    """Check values, local effects and weights; rows of weight zero are left out, whatever they hold."""
    try:
        held, places = np.asarray(x), np.array(x, dtype=np.float64)
        values = np.array(local_effects, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"x and local_effects of {name!r} must be numbers, one per row: {error}"
        raise BadTableError(msg) from error
    if places.ndim != 1 or places.shape != values.shape:
        msg = f"x has shape {places.shape}, local_effects {values.shape}; both must be (n_rows,)"
        raise BadTableError(msg)
    if held.dtype.kind in "iu" and held.size:
        check_exact(name, float(held.min()), float(held.max()))
    require_two_rows(places.size)
    weight, rows = None, np.arange(places.size)
    if weights is not None:
        weight = check_weights(weights, places.size)
        rows = np.flatnonzero(weight > 0)
        places, values, weight = places[rows], values[rows], weight[rows]
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        msg = f"local effects of {name!r} must be finite; row {rows[bad[0]]} is {values[bad[0]]}"
        raise BadEffectsError(msg)
    missing = np.flatnonzero(np.isnan(places))
    if missing.size:
        row = rows[missing[0]]
        msg = f"feature {name!r} has missing values (first in row {row}); leave these rows out"
        raise BadTableError(msg)
    return places, values, weight, rows
