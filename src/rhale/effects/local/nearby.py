"""Sampled rows moved to positions near their own: the predictions behind the spread."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rhale.effects.local.measure import (
    MeasureContext,
    MeasuredChunk,
    MeasureSample,
    SubsetQuery,
    chances,
)
from rhale.effects.spread import (
    N_JACKKNIFE_GROUPS,
    N_SHOWN,
    Places,
    RowSpread,
    average_moved,
    choose_spread_positions,
    lay_band,
    measure_crossings,
    measure_spread,
    typical_spread,
)
from rhale.features.categories import Levels
from rhale.features.feature import Columns, Feature
from rhale.regions.settings import Target
from rhale.stats.arrays import FloatArray, IntArray
from rhale.stats.sampling import MAX_ROW_HASH, KeyArray

MAX_MOVED_ROWS, MIN_MOVED_ROWS = 2_000, 200  # that are moved: more hardly change a deviation
MOST_ANSWERS = 14_000  # of the rows that are moved along one feature
PLACING = 0.02  # of the spread: what it depends on where places happen to lie (24 of them)
MAX_INCREMENTS = 2**24  # increments that are kept of all features and outputs: 128 MiB


class MovedRows(NamedTuple):
    """Rows that were moved along a feature, for one output."""

    row: IntArray  # (n_rows,): which of the sampled rows they are
    # x, place: (n_rows,): their values, and their places
    x: FloatArray
    place: IntArray
    # (n_rows, n_increments): changes of the prediction between the places around their own
    increments: FloatArray
    # weight, key: (n_rows,): weights and keys
    weight: FloatArray
    key: KeyArray


@dataclass(frozen=True, eq=False)
class Nearby:
    """One feature, and the places that sampled rows are moved to."""

    feature: Feature
    places: Places  # the places; of levels, their positions on the axis
    n_outputs: int  # outputs of the model
    n_rows: int = MAX_MOVED_ROWS  # how many rows are moved, of a table that has so many
    last_key: np.uint64 = MAX_ROW_HASH  # largest key of these rows
    every: bool = False  # whether all rows are moved that something is kept of, in addition

    @classmethod
    def of(cls, feature: Feature, columns: Columns, n_outputs: int, *, every: bool) -> Nearby:
        """Choose places of a feature, and how many rows are moved: every sampled one, if asked."""
        sample = columns.survey.sample
        if feature.levels is None:
            places = choose_spread_positions(feature.axis)
        else:
            places = place_levels(feature.levels, sample.values[:, feature.place], sample.weight)
        fit = MAX_INCREMENTS // (len(columns.features) * n_outputs * places.n_asked)
        n_rows = min(rows_to_move(places.n_asked), max(fit, MIN_MOVED_ROWS))
        return cls(feature, places, n_outputs, n_rows, sample.last_key(n_rows), every)

    @property
    def n_kept(self) -> int:
        """Numbers that are kept of a row: its increments, output by output."""
        return self.n_outputs * (self.places.n_asked - 1)

    def moved(self, rows: MeasuredChunk) -> tuple[IntArray, IntArray]:
        """Rows that are moved, and which of them each sampled row is like."""
        return rows.distinct_up_to(MAX_ROW_HASH if self.every else self.last_key)

    def ask(self, rows: MeasuredChunk, *, may_fail: bool = False) -> SubsetQuery:
        """The sampled rows at the places around their own; rows without a value stay as they are.

        The model may refuse moved rows (`may_fail`) where no other query moves any.
        """
        some, column = self.moved(rows)[0], self.feature.column
        x, levels = rows.chunk.column(column)[some], self.feature.levels
        if levels is None:
            around = self.places.around(self.places.locate(x))
            to = np.where(np.isnan(x), x, self.places.values[around])
            changes = [(column, rows.chunk.representable(column, one)) for one in to]
            return SubsetQuery(some, changes, may_fail)
        own, chance = levels.locate(x), chances(rows.key[some])
        around = self.places.around(np.maximum(own, 0))
        stays = (around == own) | (own < 0)
        moved = zip(around, stays, strict=True)
        return SubsetQuery(
            some, [(column, np.where(stay, x, levels.at(to, chance))) for to, stay in moved]
        )

    def keep(self, rows: MeasuredChunk, answers: FloatArray) -> FloatArray:
        """Increments of the sampled rows between places, (n_sampled, n_kept); nan for unmoved rows.

        `answers` (n_asked, n_some, n_outputs) belong to the query of `ask`.
        """
        some, among = self.moved(rows)
        kept = np.full((rows.sampled.size, self.n_kept), np.nan)
        increments = np.diff(answers, axis=0).transpose(1, 2, 0).reshape(some.size, self.n_kept)
        kept[among >= 0] = increments[among[among >= 0]]
        return kept

    def read(self, sampled: MeasureSample, output: int) -> MovedRows:
        """The rows that were moved, and lie on the axis, for one output."""
        kept, weight, key = sampled
        x, size = kept[:, 0], self.places.n_asked - 1
        own = kept[:, kept.shape[1] - self.n_kept :][:, output * size : (output + 1) * size]
        # infinite: rows that are not moved, as they would leave the data
        axis, known = self.feature.axis, np.isfinite(own[:, 0]) & (weight > 0)
        # missing values are on no axis, nor is what lies beyond limits that the user gave
        known &= ~np.isnan(x) if self.feature.levels else (x >= axis.low) & (x <= axis.high)
        row = np.flatnonzero(known)
        place = self.places.locate(x[row])
        return MovedRows(row, x[row], place, own[row], weight[row], key[row])

    def was_refused(self, context: MeasureContext) -> bool:
        """Whether the model refused rows that were moved, some of them or all."""
        assert context.sampled is not None  # noqa: S101 - our own mistake
        kept = context.sampled.up_to(self.last_key).kept
        return bool(np.isnan(kept[:, kept.shape[1] - self.n_kept :]).any())

    def conclude(self, context: MeasureContext, output: int) -> RowSpread | None:
        """How rows differ along the feature; None where fewer than two could be moved."""
        assert context.sampled is not None  # noqa: S101 - our own mistake
        # the same rows whether or not more of them are searched for regions
        rows, survey = self.read(context.sampled.up_to(self.last_key), output), context.survey
        if rows.row.size < 2 or self.was_refused(context):
            return None
        found = measure_spread(
            self.places,
            rows.place,
            rows.increments,
            rows.weight,
            (rows.key & np.uint64(N_JACKKNIFE_GROUPS - 1)).astype(np.intp),
            one=survey.weight_squares / survey.weight,
            together=self.feature.levels is not None and not self.feature.levels.has_order,
        )
        if self.feature.levels is None:
            own = rows.x, rows.place, rows.increments, rows.weight
            mean, chance = average_moved(self.places, *own[1:])
            found = replace(
                found,
                mean=mean,
                curve_error=float(typical_spread(chance, found.shares)),
                error=float(np.hypot(found.error, PLACING * found.typical)),
                crossings=measure_crossings(self.places, *own),
            )
        n_shown = min(N_SHOWN, context.weight.size)
        some = rows.row < n_shown
        x, shown = np.full(n_shown, np.nan), np.full((n_shown, rows.increments.shape[1]), np.nan)
        x[rows.row[some]], shown[rows.row[some]] = rows.x[some], rows.increments[some]
        return replace(found, x=x, rows=shown)

    def target(self, searched: MeasureSample, output: int) -> Target:
        """Target of the search for regions in a model with steps: secants over the places around.

        What all rows of a place share is subtracted.
        """
        rows, values = self.read(searched, output), self.places.values
        first, last = self.places.first[rows.place], self.places.last[rows.place]
        secant = rows.increments.sum(axis=1) / (values[last] - values[first])
        held, summed = (
            np.bincount(rows.place, each, values.size)
            for each in (rows.weight, rows.weight * secant)
        )
        shared = summed / np.where(held > 0, held, 1.0)
        return Target(rows.row, rows.x, secant, shared[rows.place], roughness=self.roughness(rows))

    def roughness(self, rows: MovedRows) -> float:
        """Mean square of what single increments differ by, over that of their sums."""
        held = np.bincount(rows.place, rows.weight, self.places.values.size)
        held = np.where(held > 0, held, 1.0)

        def squares(values: FloatArray) -> float:
            mean = np.bincount(rows.place, rows.weight * values, held.size) / held
            return float(rows.weight @ (values - mean[rows.place]) ** 2)

        whole = squares(rows.increments.sum(axis=1))
        return sum(map(squares, rows.increments.T)) / whole if whole > 0 else 0.0


def rows_to_move(n_asked: int) -> int:
    """How many rows are moved along a feature, each to so many places.

    Examples
    --------
    >>> rows_to_move(7), rows_to_move(14), rows_to_move(300)
    (2000, 1000, 200)
    """
    return int(np.clip(MOST_ANSWERS // n_asked, MIN_MOVED_ROWS, MAX_MOVED_ROWS))


def place_levels(levels: Levels, values: FloatArray, weight: FloatArray) -> Places:
    """Levels are places; without an order, all are near each other.

    `values` and `weight` (n_sample,) of sampled rows give the number of rows of each level.
    """
    if not levels.has_order:
        first = np.zeros(levels.size, dtype=np.intp)
        return Places(levels.edges, first, first + levels.size - 1)
    own = levels.locate(values)
    held = np.bincount(own[own >= 0], weight[own >= 0], levels.size).astype(np.float64)
    return lay_band(levels.edges, held)
