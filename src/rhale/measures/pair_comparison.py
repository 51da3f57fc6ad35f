"""Strengths of pairs by other definitions, over whole rows of which every one meets every other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rhale.features.feature import Feature
from rhale.kernels import FloatArray, IntArray
from rhale.kernels.dependences import DependenceQuestion, normalise_row_weights
from rhale.kernels.pair_settings import PairMethod
from rhale.measures.greenwell import (
    GREENWELL_POINTS,
    choose_grid_points,
    conclude_greenwell,
    greenwell_indices,
    tell_greenwell,
)
from rhale.measures.h_statistic import conclude_h, count_h_rows, h_statistics, tell_h
from rhale.measures.questions import BatchedModel
from rhale.measures.whole_rows import WholeRows
from rhale.results.note import Note
from rhale.results.pair_effect import PairIndex
from rhale.tables import Chunk

COUNTED_ROWS, ASKED_ROWS = 2_000, 500  # of trees whose leaves are counted; of other models


@dataclass(frozen=True, eq=False)
class PairStrengths:
    """Strengths by another definition.

    Attributes
    ----------
    pairs : tuple of PairIndex
        Pairs first, outputs within.
    importance : ndarray of shape (n_features, n_outputs)
        By the same definition.
    variance : ndarray of shape (n_outputs,)
        Of the predictions of the rows.
    n_rows, n_asked : int
        Rows that it rests on, and rows that the model was asked about.
    notes : tuple of Note
        What a reader should know.
    """

    pairs: tuple[PairIndex, ...]
    importance: FloatArray
    variance: FloatArray
    n_rows: int
    n_asked: int
    notes: tuple[Note, ...]


def count_whole_rows(
    asker: BatchedModel, probe: Chunk, features: Sequence[Feature], method: PairMethod
) -> int:
    """Rows that are combined with each other: more where the leaves of trees can be counted."""
    if method != "h":
        return ASKED_ROWS
    few = probe.take(np.arange(min(2, probe.n_rows)))
    columns = tuple(feature.column for feature in features)
    nothing = np.empty((0, 2), dtype=np.intp)
    asked = DependenceQuestion(columns, nothing, normalise_row_weights(few.n_rows, None))
    found = asker.predictor.partial_dependences(few, asked)
    return ASKED_ROWS if found is None else COUNTED_ROWS


def count_asked(
    features: Sequence[Feature], pairs: IntArray, n_rows: int, method: PairMethod
) -> int:
    """Rows that a model will be asked about, at most: where its leaves cannot be counted."""
    if method == "h":
        return count_h_rows(n_rows, len(features), len(pairs))
    sizes = [GREENWELL_POINTS if f.levels is None else f.levels.size for f in features]
    both = sum(sizes[first] * sizes[second] for first, second in pairs.tolist())
    return int(n_rows * (1 + sum(sizes) + both))


def compute_pair_strengths(
    asker: BatchedModel,
    rows: WholeRows,
    features: Sequence[Feature],
    pairs: IntArray,
    method: PairMethod,
) -> PairStrengths:
    """Find strengths of pairs by H, or by Greenwell's index.

    Parameters
    ----------
    asker : BatchedModel
        The model.
    rows : WholeRows
        The rows.
    features : sequence of Feature
        The features.
    pairs : ndarray of shape (n_pairs, 2)
        Places among them.
    method : {"h", "greenwell"}
        The definition.
    """
    columns = [feature.column for feature in features]
    by_column = [(columns[a], columns[b]) for a, b in pairs.tolist()]
    if method == "h":
        h = h_statistics(asker, rows.chunk, columns, by_column, rows.weight)
        made, told = conclude_h(h, asker.names, asker.outputs), tell_h(h)
        return PairStrengths(made, h.importance, h.variance, h.n_rows, h.n_asked, told)
    sides = [
        choose_grid_points(rows.chunk, f.column, is_levels=f.levels is not None) for f in features
    ]
    found = greenwell_indices(asker, rows.chunk, sides, by_column, rows.weight)
    made, told = conclude_greenwell(found, asker.names, asker.outputs), tell_greenwell(found)
    return PairStrengths(made, found.importance, found.variance, found.n_rows, found.n_asked, told)
