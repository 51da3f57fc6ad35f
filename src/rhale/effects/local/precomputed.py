"""Local effects that are already there, binned without a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rhale.data import Chunk, TableInMemory, open_table
from rhale.data.array import ArrayTable
from rhale.data.weights import check_weights
from rhale.effects.binning.fit import bin_cells, fine_grid
from rhale.effects.binning.moments import measure_moments
from rhale.effects.effect import Effect, LocalEffects
from rhale.effects.local.notes import describe_outside
from rhale.effects.local.unmeasured import describe_constant
from rhale.errors import BadEffectsError, BadTableError
from rhale.features.feature import FirstPass, require_rows_in_limits
from rhale.features.survey import check_exact
from rhale.output.labels import Captions
from rhale.output.note import Note
from rhale.settings import Settings
from rhale.stats.arrays import FloatArray
from rhale.stats.sampling import collect, hash_rows

MAX_RESULT_SAMPLE_ROWS = 2_000
OUTPUT = "y0"
ADDED_UP = Note(
    "spread",
    "no model to ask: the spread adds up the deviations of the bins, as if rows differed one way",
)
CAPTIONS = Captions(outputs={OUTPUT: "prediction"})


@dataclass(frozen=True, eq=False)
class PrecomputedEffects:
    """Feature values as a table of one column, and the local effect of each of its rows."""

    table: TableInMemory
    local_effects: FloatArray

    @cached_property
    def chunk(self) -> Chunk:
        """All rows."""
        return self.table.chunk(0, self.table.n_rows)

    @cached_property
    def x(self) -> FloatArray:
        """Feature values."""
        return self.chunk.column(0)

    def bin(self, settings: Settings) -> Effect:
        """Choose bins, and fit them."""
        first = FirstPass.plan(self.table, replace(settings, categorical={0: False}))
        columns = first.resolve_columns(first.task(self.chunk))
        (feature,), survey = columns.features, columns.survey
        if feature.is_constant:
            constant = cast(Effect, describe_constant(feature, OUTPUT, survey))
            return replace(constant, captions=CAPTIONS)
        partition = settings.partition(feature.name, OUTPUT)
        grid = fine_grid(feature.axis, partition.candidates(feature.axis), partition.closed)
        cells = measure_moments(grid, self.x, self.local_effects, self.chunk.weights)
        require_rows_in_limits(
            feature, int(cells.count.sum()), (grid.edges[0], grid.edges[-1]), survey
        )
        made = bin_cells(feature.name, OUTPUT, cells.series(0), partition, axis=feature.axis)
        notes = (*feature.notes, *describe_outside(survey.n_rows, cells), ADDED_UP)
        return replace(made, local_notes=notes, sample=self.sample(), captions=CAPTIONS)

    def sample(self) -> LocalEffects:
        """A bounded number of rows."""
        weights = self.chunk.weights
        weight = np.ones(self.x.size) if weights is None else weights
        kept = np.column_stack([self.x, self.local_effects])
        sample = collect(hash_rows(kept), kept, weight, size=MAX_RESULT_SAMPLE_ROWS)
        return LocalEffects(sample.values[:, 0], sample.values[:, 1], sample.weight)


def read_given(
    x: npt.ArrayLike, local_effects: npt.ArrayLike, weights: Any, name: str
) -> PrecomputedEffects:
    """Check values and local effects; rows of weight zero are left out, whatever they hold."""
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
    table = open_table(places[:, None], weights)
    bad = ~np.isfinite(values)
    if weights is not None:
        used = check_weights(weights, places.size) > 0
        bad &= used
    if bad.any():
        row = int(np.argmax(bad))
        msg = f"local effects of {name!r} must be finite; row {row} is {values[row]}"
        raise BadEffectsError(msg)
    values = values if weights is None else values[used]
    given = PrecomputedEffects(replace(cast(ArrayTable, table), column_names=(name,)), values)
    is_missing = np.isnan(given.x)
    if np.any(is_missing):
        row = given.chunk.row_numbers[np.argmax(is_missing)]
        msg = f"feature {name!r} has missing values (first in row {row}); leave these rows out"
        raise BadTableError(msg)
    return given
