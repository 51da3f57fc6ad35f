"""The sums of the first pass: ranges, a bounded sample, a few rows to probe the model with."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rhale.data.table import NO_FACTS, Chunk, ColumnFacts
from rhale.effects.binning.axis import FeatureAxis
from rhale.errors import BadTableError
from rhale.stats.arrays import BoolArray, FloatArray, IntArray, crosses_processes
from rhale.stats.sampling import MAX_ROW_HASH, KeyArray, Sample, collect, column_keys, small_keys

MAX_FEATURE_VALUE = 1e150  # squares of feature values must stay finite
# Ranges of features: their sixth powers are ordinary numbers.
MIN_FEATURE_RANGE, MAX_FEATURE_RANGE = 1e-50, 1e50
EXACT = 2**53  # whole numbers beyond are rounded as floats
BLURRED = 2.0**-20  # of the range: rounding beyond makes one of values that differ
MAX_COUNTED_VALUES = (
    60  # numbers are counted up to here: minutes are the longest of the usual scales
)
# Letters of a category: it is written into every row that is moved to it.
MAX_CATEGORY_LETTERS = 2**16
FIRST_VALUES = 1_000  # tell of most columns that there are more
Facts = tuple[int, float, float, float, float, bool]
PART_SAMPLE_FACTOR = 4  # times its share of the sample is what a part sends
FEWEST_SENT, PART_SAMPLE_NUMBERS = 256, 2**14  # rows of a part, and numbers in them


@crosses_processes
@dataclass(frozen=True, eq=False)
class Probe:
    """The few whole rows with the smallest keys, to ask a model first questions with."""

    size: int
    key: KeyArray
    chunk: Chunk

    def first(self, size: int) -> Probe:
        """Fewer rows."""
        rows = np.arange(min(size, self.key.size))
        return Probe(size, self.key[rows], self.chunk.take(rows))

    def __add__(self, other: Probe) -> Probe:
        if self.key.size == self.size and not np.any(other.key[:1] <= self.key[-1]):
            return self
        key = np.concatenate([self.key, other.key])
        return smallest(self.size, key, self.chunk.join(other.chunk))


def smallest(size: int, key: KeyArray, chunk: Chunk, last_key: np.uint64 = MAX_ROW_HASH) -> Probe:
    """Keep the rows with the smallest keys, none above the last."""
    rows = np.arange(key.size) if last_key == MAX_ROW_HASH else np.flatnonzero(key <= last_key)
    if rows.size > size:
        rows = rows[np.argpartition(key[rows], size)[:size]]
    rows = rows[np.argsort(key[rows], kind="stable")]
    return Probe(size, key[rows], chunk.take(rows))


@crosses_processes
@dataclass(frozen=True, eq=False)
class Census:
    """Distinct values of a column, as far as they are few enough to be counted."""

    found: dict[Any, tuple[int, float]]  # rows and weight of each value
    most: int | None  # beyond so many values they are no longer counted; None counts them all
    is_many: bool = False  # whether there were more

    def __add__(self, other: Census) -> Census:
        if self.is_many or other.is_many:
            return Census({}, self.most, is_many=True)
        found = dict(self.found)
        for value, (count, weight) in other.found.items():
            n, w = found.get(value, (0, 0.0))
            found[value] = (n + count, w + weight)
        if self.most is not None and len(found) > self.most:
            return Census({}, self.most, is_many=True)
        return replace(self, found=found)


def count_values(
    values: FloatArray | tuple[list[Any], IntArray], weight: FloatArray, most: int | None
) -> Census:
    """Count the distinct values of a column of numbers, or of (distinct values, codes)."""
    if isinstance(values, tuple):
        distinct, codes = values
    else:
        first = values[:FIRST_VALUES]
        # most columns with many values show that in their first rows: no need to sort all
        if most is not None and np.unique(first[~np.isnan(first)]).size > most:
            return Census({}, most, is_many=True)
        known, codes = np.unique(values, return_inverse=True, equal_nan=True)
        n_known = int(np.sum(~np.isnan(known)))
        distinct, codes = known[:n_known].tolist(), np.where(codes < n_known, codes, -1)
    if most is not None and len(distinct) > most:
        return Census({}, most, is_many=True)
    rows = codes >= 0
    count = np.bincount(codes[rows], minlength=len(distinct))
    held = np.bincount(codes[rows], weight[rows], len(distinct))
    found = zip(distinct, zip(count.tolist(), held.tolist(), strict=True), strict=True)
    return Census({v: n for v, n in found if n[0]}, most)


@crosses_processes
@dataclass(frozen=True, eq=False)
class Survey:
    """Facts about the explained columns; surveys of two pieces of a table add up."""

    n_rows: int  # rows seen
    # weight, weight_squares: sum of their weights, and of the squares
    weight: float
    weight_squares: float
    n_known: IntArray  # (n_features,): rows that have a value
    # known_weight, known_squares: (n_features,): sum of the weights of these rows, and of the
    # squares
    known_weight: FloatArray
    known_squares: FloatArray
    # low, high: (n_features,): smallest and largest values
    low: FloatArray
    high: FloatArray
    whole: BoolArray  # (n_features,): whether a feature takes whole numbers only
    census: tuple[Census, ...]  # distinct values of each feature
    # Values of the features, and of the columns beside them, in a bounded number of rows
    sample: Sample
    probe: Probe  # some whole rows
    facts: ColumnFacts = NO_FACTS  # facts about all columns, for tables that come in pieces

    def __add__(self, other: Survey) -> Survey:
        return Survey(
            n_rows=self.n_rows + other.n_rows,
            weight=self.weight + other.weight,
            weight_squares=self.weight_squares + other.weight_squares,
            n_known=self.n_known + other.n_known,
            known_weight=self.known_weight + other.known_weight,
            known_squares=self.known_squares + other.known_squares,
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
            whole=self.whole & other.whole,
            census=tuple(a + b for a, b in zip(self.census, other.census, strict=True)),
            sample=self.sample + other.sample,
            probe=self.probe + other.probe,
            facts=self.facts + other.facts,
        )

    def axis(self, feature: int, limits: tuple[float, float] | None = None) -> FeatureAxis:
        """Describe one feature, within given limits or its own range."""
        low, high = limits or (float(self.low[feature]), float(self.high[feature]))
        column, weight = self.sample.values[:, feature], self.sample.weight
        rows = float(self.known_weight[feature] ** 2 / self.known_squares[feature])
        outermost = float(self.low[feature]), float(self.high[feature])
        ends = tuple(value for value in outermost if low <= value <= high)
        return FeatureAxis.of_sample(column, weight, (low, high), rows, ends)


@dataclass(frozen=True, eq=False)
class RowWeights:
    """Weights of some rows, or None where all count alike."""

    each: FloatArray | None
    n_rows: int

    @cached_property
    def sums(self) -> tuple[float, float]:
        """Their sum, and that of their squares: once for all columns."""
        if self.each is None:  # no need to ask BLAS, whose threads wait for each other
            return float(self.n_rows), float(self.n_rows)
        return float(self.each.sum()), float(self.each @ self.each)

    def only(self, some: BoolArray) -> RowWeights:
        """Those of some of the rows."""
        own = None if self.each is None else self.each[some]
        return RowWeights(own, int(np.count_nonzero(some)))


def known_facts(values: FloatArray, weights: RowWeights) -> Facts:
    """Rows with a value, their weight and its squares, smallest and largest, whether all are whole.

    Shapes: values (n_rows,).

    Examples
    --------
    >>> known_facts(np.array([2.0, np.nan, 5.0]), RowWeights(None, 3))
    (2, 2.0, 2.0, 2.0, 5.0, True)
    """
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    if np.isnan(low):  # one is missing
        known = ~np.isnan(values)
        return known_facts(values[known], weights.only(known))
    first = values[:FIRST_VALUES]  # most columns of fractions show one early
    whole = bool(np.all(first == np.rint(first))) and bool(np.all(values == np.rint(values)))
    return values.size, *weights.sums, float(low), float(high), whole


@dataclass(frozen=True, eq=False)
class SurveyTask:
    """Survey chunks one after the other."""

    columns: Sequence[int]  # the explained columns
    names: Sequence[str]  # names of all columns
    sizes: tuple[int, int]  # distinct rows to keep in the sample, and rows to keep for the probe
    seed: int  # of the rows' keys
    auxiliary_columns: Sequence[int] = ()  # further columns to keep in the sample
    # Columns of numbers whose distinct values are counted however many there are
    counted: Collection[int] = ()
    # columns that are not refused here if they hold what cannot be explained
    unchecked: Collection[int] = ()
    # whether the table comes in pieces, whose types are only known from all of them together
    is_pieced: bool = False
    # last_key, last_probed: rows with larger keys cannot be among the sampled ones, or in the
    # probe: other chunks have enough of them
    last_key: np.uint64 = MAX_ROW_HASH
    last_probed: np.uint64 = MAX_ROW_HASH
    sends_all: bool = False  # whether parts of a table send all sampled rows that they have
    # Columns of numbers of which other chunks have more values than are counted
    many: Collection[int] = ()

    def __call__(self, chunk: Chunk) -> Survey:
        """Survey a chunk."""
        weight = np.ones(chunk.n_rows) if chunk.weights is None else chunk.weights
        held = {c: chunk.key(c) for c in range(len(self.names))}
        key = column_keys(list(held.values()), chunk.n_rows, self.seed)
        of_rows = RowWeights(chunk.weights, chunk.n_rows)
        known = zip(*(known_facts(held[c], of_rows) for c in self.columns), strict=True)
        counts, weights, squares, lows, highs, whole = map(np.array, known)
        return Survey(
            n_rows=chunk.n_rows,
            weight=float(weight.sum()),
            weight_squares=float((weight**2).sum()),
            n_known=counts,
            known_weight=weights,
            known_squares=squares,
            low=lows,
            high=highs,
            whole=whole,
            census=tuple(self.count(chunk, c, held[c], weight) for c in self.columns),
            sample=self.sample(key, held, weight),
            probe=smallest(self.sizes[1], key, chunk, self.last_probed),
            facts=chunk.facts() if self.is_pieced else NO_FACTS,
        )

    def count(self, chunk: Chunk, column: int, held: FloatArray, weight: FloatArray) -> Census:
        """Distinct values of a column; what cannot be explained is refused, where it matters."""
        try:
            distinct = chunk.distinct(column)
            if distinct is not None:
                # texts that are too long for names of categories: each is written into many rows
                values, name = distinct[0], self.names[column]
                longest = max(
                    (len(value) for value in values if isinstance(value, str | bytes)), default=0
                )
                if longest > MAX_CATEGORY_LETTERS:
                    msg = (
                        f"column {name!r} holds a text of {longest:,} letters; as a category it may have "
                        f"{MAX_CATEGORY_LETTERS:,}. Shorten it, or leave the column out with features="
                    )
                    raise BadTableError(msg)
        except BadTableError:
            if column in self.unchecked:
                return Census({}, None, is_many=True)
            raise
        if distinct is None:
            if column not in self.unchecked:
                check_column(held, self.names[column], chunk.row_numbers)
            if column in self.many:
                return Census({}, MAX_COUNTED_VALUES, is_many=True)
            return count_values(
                held, weight, None if column in self.counted else MAX_COUNTED_VALUES
            )
        return count_values(([(type(v), v) for v in distinct[0]], distinct[1]), weight, None)

    def sample(self, key: KeyArray, held: Mapping[int, FloatArray], weight: FloatArray) -> Sample:
        """Rows with small keys: values of the explained columns, and of those beside them."""
        small = np.flatnonzero(key <= self.last_key)
        small = small[small_keys(key[small], self.sizes[0])]
        values = [held[c][small] for c in (*self.columns, *self.auxiliary_columns)]
        found = collect(key[small], np.stack(values, axis=1), weight[small], size=self.sizes[0])
        is_complete = found.is_complete and small.size == key.size
        return replace(found, seen=key.size, is_complete=is_complete)

    def after(self, found: Survey) -> SurveyTask:
        """The task for further chunks, whose sampled rows must have smaller keys than these."""
        last_key, last_probed = (
            np.uint64(keys[-1]) if keys.size == size else MAX_ROW_HASH
            for keys, size in zip((found.sample.key, found.probe.key), self.sizes, strict=True)
        )
        many = [c for c, one in zip(self.columns, found.census, strict=True) if one.is_many]
        return replace(self, last_key=last_key, last_probed=last_probed, many=many)

    def trim(self, found: Survey, part: int) -> Survey:
        """What a part sends of its survey: about its share of the sample, several times over.

        Keys look random, so of parts of like size each has its share of the smallest ones. How
        many parts there are nobody knows here, but as many as came before this one. Rows that
        repeat in a part are in others, too.
        """
        # A part of t D rows, drawn from D distinct ones, holds the share 1 - exp(-t) of them, each
        # t / (1 - exp(-t)) times; 2 (times - 1) is never less than that share.
        sample = found.sample
        if self.sends_all or not sample.key.size:
            return found
        times = sample.weight.mean() * found.n_rows / found.weight
        share = max(1 / (part + 1), min(2 * (times - 1), 1.0))
        fewest = max(PART_SAMPLE_NUMBERS // (sample.values.shape[1] + 2), FEWEST_SENT)
        return replace(
            found, sample=sample.first(max(int(PART_SAMPLE_FACTOR * share * sample.size), fewest))
        )

    def again(self, found: Survey) -> SurveyTask:
        """The task for all rows once more, where parts sent too few: no smaller sample is sure."""
        return replace(self.after(found), sends_all=True)


def rows_keys(chunk: Chunk, seed: int) -> KeyArray:
    """Keys of the rows of a chunk."""
    return column_keys(chunk.keys(), chunk.n_rows, seed)


def sample_chunk_rows(chunk: Chunk, rows: IntArray, key: KeyArray, values: FloatArray) -> Sample:
    """Sample of these rows, all of them."""
    weight = np.ones(rows.size) if chunk.weights is None else chunk.weights[rows]
    return collect(key, values, weight, size=np.iinfo(np.int64).max)


def check_range(name: str, low: float, high: float) -> None:
    """Refuse a range so narrow or so wide that products of distances in it are no numbers.

    Examples
    --------
    >>> check_range("x", 0.0, 1e-30)
    >>> check_range("x", 2.0, 2.0)  # a constant
    """
    if low == high or MIN_FEATURE_RANGE <= high - low <= MAX_FEATURE_RANGE:
        return
    change = "multiply" if high - low < MIN_FEATURE_RANGE else "divide"
    msg = (
        f"feature {name!r} goes from {low:g} to {high:g}, and products of such distances do not "
        f"fit into numbers; {change} the column by a power of ten (and tell the model), or leave "
        "the feature out of features="
    )
    raise BadTableError(msg)


def check_exact(name: str, low: float, high: float) -> None:
    """Refuse whole numbers so large and so close together that they fall together as floats."""
    largest = max(-low, high)
    if largest <= EXACT or np.spacing(largest) <= BLURRED * (high - low):
        return
    msg = (
        f"feature {name!r} has whole numbers beyond 2**53 (from {low:.17g} to {high:.17g}), which "
        "become equal as floats; subtract an offset, turn them into text if they "
        "are names, or leave the feature out of features="
    )
    raise BadTableError(msg)


def check_column(values: FloatArray, name: str, row_numbers: IntArray) -> None:
    """Refuse infinite and huge values, naming the column and the first such row."""
    low, high = np.fmin.reduce(values, initial=0.0), np.fmax.reduce(values, initial=0.0)
    if max(-low, high) <= MAX_FEATURE_VALUE:
        return
    bad = np.flatnonzero(np.abs(values) > MAX_FEATURE_VALUE)
    row, value = row_numbers[bad[0]], values[bad[0]]
    kind, advice = "infinite values", "replace them by numbers, or leave these rows out"
    if np.isfinite(value):
        kind, advice = f"values beyond {MAX_FEATURE_VALUE:g}", "rescale the column"
    msg = (
        f"feature {name!r} has {kind} (first in row {row}: {value}); {advice}, or leave the "
        "feature out of features="
    )
    raise BadTableError(msg)
