"""What a first pass over the rows learns: ranges, a bounded sample, a few rows to probe with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rhale.errors import BadTableError
from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.axis import Axis
from rhale.kernels.sample import KeyArray, Sample, collect, row_keys
from rhale.tables.chunk import Chunk

LARGEST = 1e150  # squares of feature values must stay finite


@dataclass(frozen=True, eq=False)
class Probe:
    """The few whole rows with the smallest keys, to ask a model first questions with."""

    size: int
    key: KeyArray
    chunk: Chunk

    def __add__(self, other: Probe) -> Probe:
        key = np.concatenate([self.key, other.key])
        return smallest(self.size, key, self.chunk.joined(other.chunk))


def smallest(size: int, key: KeyArray, chunk: Chunk) -> Probe:
    """Keep the rows with the smallest keys."""
    rows = np.argpartition(key, size)[:size] if key.size > size else np.arange(key.size)
    rows = rows[np.argsort(key[rows], kind="stable")]
    return Probe(size, key[rows], chunk.take(rows))


@dataclass(frozen=True, eq=False)
class Survey:
    """Facts about the explained columns; surveys of two pieces of a table add up.

    Attributes
    ----------
    n_rows : int
        Rows seen.
    weight, weight_squares : float
        Sum of their weights, and of the squares.
    low, high : ndarray of shape (n_features,)
        Smallest and largest values.
    whole : ndarray of shape (n_features,)
        Whether a feature takes whole numbers only.
    sample : Sample
        Values of the features in a bounded number of rows.
    probe : Probe
        Some whole rows.
    """

    n_rows: int
    weight: float
    weight_squares: float
    low: FloatArray
    high: FloatArray
    whole: BoolArray
    sample: Sample
    probe: Probe

    def __add__(self, other: Survey) -> Survey:
        return Survey(
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            self.weight_squares + other.weight_squares,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.whole & other.whole,
            self.sample + other.sample,
            self.probe + other.probe,
        )

    def axis(self, feature: int, limits: tuple[float, float] | None = None) -> Axis:
        """Describe one feature, within given limits or its own range."""
        low, high = limits or (float(self.low[feature]), float(self.high[feature]))
        column, weight = self.sample.values[:, feature], self.sample.weight
        inside = (column >= low) & (column <= high)
        rows = self.weight**2 / self.weight_squares
        if np.all(weight == weight[0]):  # counting is cheaper than adding up
            values, count = np.unique(column[inside], return_counts=True)
            return Axis(low, high, values, count * weight[0], rows)
        values, place = np.unique(column[inside], return_inverse=True)
        held = np.bincount(place, weight[inside], values.size).astype(np.float64)
        return Axis(low, high, values, held, rows)


def survey(
    chunk: Chunk, columns: Sequence[int], names: Sequence[str], sizes: tuple[int, int], seed: int
) -> Survey:
    """Survey one chunk.

    Parameters
    ----------
    chunk : Chunk
        The rows.
    columns : sequence of int
        The explained columns.
    names : sequence of str
        Names of all columns.
    sizes : (int, int)
        Distinct rows to keep in the sample, and rows to keep for the probe.
    seed : int
        Of the rows' keys.
    """
    values = np.stack([chunk.column(c) for c in columns], axis=1)
    for place, c in enumerate(columns):
        check_column(values[:, place], names[c], chunk.row_numbers)
    key = row_keys(chunk.numbers(), seed)
    weight = np.ones(chunk.n_rows) if chunk.weights is None else chunk.weights
    return Survey(
        chunk.n_rows,
        float(weight.sum()),
        float((weight**2).sum()),
        values.min(axis=0, initial=np.inf),
        values.max(axis=0, initial=-np.inf),
        np.all(values == np.rint(values), axis=0),
        collect(key, values, weight, size=sizes[0]),
        smallest(sizes[1], key, chunk),
    )


def rows_to_keep(chunk: Chunk, last_key: np.uint64, seed: int) -> tuple[IntArray, KeyArray]:
    """Rows of a chunk whose keys are small enough for the sample, and these keys."""
    key = row_keys(chunk.numbers(), seed)
    rows = np.flatnonzero(key <= last_key)
    return rows, key[rows]


def keep(chunk: Chunk, rows: IntArray, key: KeyArray, values: FloatArray) -> Sample:
    """Sample of these rows, all of them."""
    weight = np.ones(rows.size) if chunk.weights is None else chunk.weights[rows]
    return collect(key, values, weight, size=np.iinfo(np.int64).max)


def check_column(values: FloatArray, name: str, row_numbers: IntArray) -> None:
    """Refuse missing, infinite and huge values, naming the column and the first such row."""
    bad = np.flatnonzero(~(np.abs(values) <= LARGEST))
    if not bad.size:
        return
    row, value = row_numbers[bad[0]], values[bad[0]]
    kind, advice = "infinite values", "replace them by numbers, or leave these rows out"
    if np.isnan(value):
        kind, advice = "missing values", "fill them, or leave these rows out"
    elif np.isfinite(value):
        kind, advice = f"values beyond {LARGEST:g}", "rescale the column"
    msg = (
        f"feature {name!r} has {kind} (first in row {row}: {value}); {advice}, or leave the "
        "feature out of features="
    )
    raise BadTableError(msg)
