"""Which pairs are measured, and how: estimator, cells, screening by partners, other definitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from rhale.data import Chunk
from rhale.effects.binning.partition import Edges
from rhale.effects.local.choose import FLAT_GRADIENT, judge_gradient
from rhale.effects.local.measure import chances
from rhale.effects.local.queries import BatchedModel
from rhale.errors import BadSettingError
from rhale.features.feature import Columns, Feature
from rhale.interaction.h_statistic import (
    GREENWELL_POINTS,
    GreenwellIndices,
    HStatistics,
    WholeRows,
    choose_grid_points,
    conclude_greenwell,
    conclude_h,
    count_h_rows,
    greenwell_indices,
    h_statistics,
    note_greenwell,
    note_h,
)
from rhale.interaction.moments import PairAxis, PairCells
from rhale.interaction.pair_effect import PairIndex, Way
from rhale.interaction.settings import FEW_PAIR_ROWS, MeasuredPairMethod, PairSettings
from rhale.models.questions import DependenceQuestion, PairQuestion, PairSide, normalise_row_weights
from rhale.naming import find_feature, find_output
from rhale.output.text import Note
from rhale.settings import Settings, partition_for
from rhale.stats.arrays import FloatArray, IntArray
from rhale.stats.sampling import KeyArray
from rhale.system import LOG

if TYPE_CHECKING:
    from rhale.effects.explanation import Explanation


@dataclass(frozen=True, eq=False)
class FeatureOnPairAxis:
    """A feature of some pairs, and its axis."""

    feature: Feature
    axis: PairAxis

    def ask(self, chunk: Chunk, key: KeyArray) -> PairSide:
        """The cells of a chunk's rows, and the values that replace theirs: both ends of the cell.

        `key` are row hashes of shape (n_rows,), which choose among rare levels that share a node.
        """
        column, axis = self.feature.column, self.axis
        positions = axis.locate(self.feature.axis_positions(chunk))
        own, known, levels = chunk.column(column), positions.cell >= 0, self.feature.levels
        cell = np.where(known, positions.cell, 0)
        if levels is None:
            low, high = axis.nodes[cell], axis.nodes[np.minimum(cell + 1, axis.nodes.size - 1)]
            low, high = (np.where(known, ends, own) for ends in (low, high))
        else:  # the levels below and above; the row's own at the ends of the axis
            chance, last = chances(key), axis.nodes.size - 1
            below, above = (
                levels.at(np.maximum(cell - 1, 0), chance),
                levels.at(np.minimum(cell + 1, last), chance),
            )
            low = np.where(known & (cell > 0), below, own)
            high = np.where(known & (cell < last), above, own)
        return PairSide(column, axis, positions, low, high)


@dataclass(frozen=True, eq=False)
class PairPlan:
    """What is measured of pairs."""

    sides: tuple[FeatureOnPairAxis, ...]  # each feature once
    pairs: IntArray  # (n_pairs, 2): places among the sides, the smaller first
    ways: tuple[Way, ...]  # how the differences of each pair are found

    def question(self, chunk: Chunk, key: KeyArray) -> PairQuestion:
        """The pairs, and the cells of the rows of one chunk."""
        return PairQuestion(tuple(side.ask(chunk, key) for side in self.sides), self.pairs)

    def places(self, way: Way) -> IntArray:
        """Which pairs are found in one way."""
        return np.flatnonzero([one == way for one in self.ways])

    def axes(self, pair: int) -> tuple[PairAxis, PairAxis]:
        """The two axes of a pair."""
        first, second = self.pairs[pair]
        return self.sides[first].axis, self.sides[second].axis


def make_sides(
    features: Sequence[Feature], settings: Settings, asked: PairSettings, n_rows: float
) -> tuple[FeatureOnPairAxis, ...]:
    """Choose the cells of every feature."""
    return tuple(
        FeatureOnPairAxis(f, choose_axis(f, settings, asked.n_cells(min(n_rows, f.axis.rows))))
        for f in features
    )


def choose_axis(feature: Feature, settings: Settings, n_cells: int) -> PairAxis:
    """Cells of numbers, or levels; a feature with one value has one level."""
    if feature.levels is not None:
        found = feature.levels
        return PairAxis(found.edges, tuple(found.names), feature.axis_kind)
    if feature.is_constant:
        return PairAxis(np.array([feature.axis.low]), (f"{feature.axis.low:g}",), feature.axis_kind)
    partition = partition_for(settings.bins, feature.name, "") or PairCells(n_cells)
    nodes: FloatArray = partition.candidates(feature.axis)
    if feature.whole and not isinstance(partition, Edges):
        nodes = np.unique(np.round(nodes))
    return PairAxis(nodes, (), feature.axis_kind, partition.closed)


def list_requested_pairs(names: Sequence[str], asked: PairSettings) -> IntArray | None:
    """Pairs that the user names, or all; None where they are to be chosen by the model's effects."""
    if asked.pairs is None or isinstance(asked.pairs, int):
        return None
    if asked.pairs == "all":
        return every_pair(len(names))
    found = [sorted(find_feature(name, names) for name in pair) for pair in asked.pairs]
    return np.array(list(dict.fromkeys(map(tuple, found))), dtype=np.int64)


def every_pair(n_features: int) -> IntArray:
    """All pairs of so many features."""
    return np.array(list(combinations(range(n_features), 2)), dtype=np.int64).reshape(-1, 2)


MAX_SCREENED_PAIRS = 10  # pairs of a black box, where the user names none
MAX_PAIRS_BY_DEFAULT = 500
MAX_PAIRED_FEATURES = 30  # beyond so many pairs: the features with the most heterogeneous effects
ON_THE_MARGIN = Note(
    "margin",
    "measured on the raw score (log-odds), because probabilities make all features interact; "
    "response='predict_proba' changes that",
)
ON_PROBABILITIES = Note(
    "margin",
    "measured on probabilities, which make all features interact; response='log_odds', or 'margin' "
    "where the model has one, avoids that",
)


@dataclass(frozen=True, eq=False)
class PairEstimation:
    """How the differences of pairs are found."""

    usual: Way  # where nothing speaks against it
    # features for which it does not work: columns that are mixed before the trees, gradients that are
    # zero although predictions change
    refused: frozenset[int] = frozenset()
    asked: int = 0  # rows that were predicted to find out
    notes: tuple[Note, ...] = ()  # why it is not another way

    @property
    def is_dear(self) -> bool:
        """Whether every pair has its price."""
        return self.usual == "corners"

    def ways(self, sides: Sequence[FeatureOnPairAxis], pairs: IntArray) -> tuple[Way, ...]:
        """How the differences of each pair are found."""
        found: list[Way] = []
        for a, b in pairs:
            both = (sides[int(a)], sides[int(b)])
            refused = [side.feature.place in self.refused for side in both]
            if any(side.axis.n_steps == 0 for side in both):
                found.append("still")
            elif self.usual == "walk" and not any(refused):
                found.append("walk")
            elif self.usual == "gradient" and not all(
                no or side.axis.is_levels for no, side in zip(refused, both, strict=True)
            ):  # a gradient along one of the two is enough
                found.append("gradient")
            else:
                found.append("corners")
        return tuple(found)


def choose_pair_estimation(
    columns: Columns, asker: BatchedModel, settings: Settings
) -> PairEstimation:
    """Choose tree walks, gradients where they pass the checks, or predictions at corners."""
    predictor, features = asker.predictor, columns.features
    if predictor.walker is not None and predictor.walks_pairs:
        mixed = [f.place for f in features if not predictor.walker.sees(f.column)]
        return PairEstimation("walk", frozenset(mixed))
    if not predictor.adapter.is_differentiable:
        return PairEstimation("corners", notes=predictor.notes)
    numbers = [f for f in features if f.levels is None and not f.is_constant]
    if not numbers:
        return PairEstimation("corners")
    why, ways, n_asked = judge_gradient(settings, asker, columns.probe, numbers)
    if why:
        text = f"{why}pairs are measured by predictions at the corners of cells"
        return PairEstimation("corners", asked=n_asked, notes=(Note("gradient", text),))
    flat = [f.place for f, way in zip(numbers, ways, strict=True) if way is FLAT_GRADIENT]
    return PairEstimation("gradient", frozenset(flat), n_asked)


def limit_pairs(n_features: int, manner: PairEstimation, asked: PairSettings) -> int | None:
    """How many pairs the screen chooses; None where all are measured.

    Where measuring all pairs costs no more than a few, all are, and the strongest so many are kept.
    """
    n_pairs = n_features * (n_features - 1) // 2
    if isinstance(asked.pairs, int):
        is_cheap = asked.method == "ale" and not manner.is_dear and n_pairs <= MAX_PAIRS_BY_DEFAULT
        return None if is_cheap or asked.pairs >= n_pairs else asked.pairs
    if asked.pairs is not None:
        return None
    return MAX_SCREENED_PAIRS if manner.is_dear and n_pairs > MAX_SCREENED_PAIRS else None


def has_too_many_pairs(n_features: int, asked: PairSettings) -> bool:
    """Whether there are more pairs than are measured by default."""
    return asked.pairs is None and n_features * (n_features - 1) // 2 > MAX_PAIRS_BY_DEFAULT


def require_two(features: Sequence[Feature]) -> None:
    """Refuse fewer than two features."""
    if len(features) < 2:
        names = ", ".join(repr(f.name) for f in features) or "none"
        msg = f"a pair needs two features; found {names}. Name more in features=, or pairs= of them"
        raise BadSettingError(msg)


def warn_of_cost(manner: PairEstimation, n_pairs: int, n_rows: int, asked: PairSettings) -> None:
    """Warn of what all pairs of a black box cost."""
    price = count_pair_queries(manner, n_pairs, n_rows, asked)
    if price and asked.pairs == "all":
        text = "pairs='all' evaluates the model on 4 x %s pairs x %s rows = %s rows"
        LOG.warning(text, f"{n_pairs:,}", f"{n_rows:,}", f"{price:,}")


def describe_screen(n_measured: int, n_pairs: int, n_asked: int) -> tuple[Note, ...]:
    """Note which pairs were left out, and how many predictions all pairs would take."""
    if n_measured >= n_pairs:
        return ()
    price = f", and evaluates the model on {n_asked:,} rows" if n_asked else ""
    text = (
        f"{n_measured} of {n_pairs:,} pairs were measured, chosen by the spread of the effects; "
        f"pairs='all' measures every pair{price}"
    )
    return (Note("screen", text),)


def describe_rows(n_rows: int, asked: PairSettings) -> tuple[Note, ...]:
    """Note that rows are few, and what follows for the default cells."""
    if n_rows >= FEW_PAIR_ROWS:
        return ()
    cells = ": 5 cells a side are used" if asked.method == "ale" and asked.cells is None else ""
    return (Note("few rows", f"{n_rows} rows are few to measure pairs{cells}"),)


def count_pair_queries(
    manner: PairEstimation, n_pairs: int, n_rows: int, asked: PairSettings
) -> int:
    """Predictions that all pairs take; 0 where more pairs cost hardly more."""
    return 4 * n_pairs * n_rows if manner.is_dear and asked.method == "ale" else 0


# --- Strengths by other definitions, which combine every row of a sample with every other one


MAX_LEAF_ROWS, MAX_PREDICTED_ROWS = 2_000, 500  # of trees whose leaves are counted; of other models


def count_whole_rows(
    asker: BatchedModel, probe: Chunk, features: Sequence[Feature], method: MeasuredPairMethod
) -> int:
    """Rows that are combined with each other: more where the leaves of trees can be counted."""
    if method != "h":
        return MAX_PREDICTED_ROWS
    few = probe.take(np.arange(min(2, probe.n_rows)))
    columns = tuple(feature.column for feature in features)
    nothing = np.empty((0, 2), dtype=np.intp)
    asked = DependenceQuestion(columns, nothing, normalise_row_weights(few.n_rows, None))
    found = asker.predictor.partial_dependences(few, asked)
    return MAX_PREDICTED_ROWS if found is None else MAX_LEAF_ROWS


def count_strength_queries(
    features: Sequence[Feature], pairs: IntArray, n_rows: int, method: MeasuredPairMethod
) -> int:
    """Upper bound of the predictions: those of a model whose leaves cannot be counted."""
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
    method: MeasuredPairMethod,
) -> tuple[HStatistics | GreenwellIndices, tuple[PairIndex, ...], tuple[Note, ...]]:
    """Strengths of pairs by H or Greenwell's index: the numbers, the results, and notes."""
    columns = [feature.column for feature in features]
    by_column = [(columns[a], columns[b]) for a, b in pairs.tolist()]
    if method == "h":
        h = h_statistics(asker, rows.chunk, columns, by_column, rows.weight)
        return h, conclude_h(h, asker.names, asker.outputs), note_h(h)
    sides = [
        choose_grid_points(rows.chunk, f.column, is_levels=f.levels is not None) for f in features
    ]
    found = greenwell_indices(asker, rows.chunk, sides, by_column, rows.weight)
    return found, conclude_greenwell(found, asker.names, asker.outputs), note_greenwell(found)


# --- Screening: a ranking of pairs by the heterogeneity of single features


def screen_pairs(
    explanation: Explanation, output: str | int | None = None
) -> list[tuple[str, str, float]]:
    """Rank pairs of explained features by how much of one's heterogeneity the other explains.

    Return (feature, feature, size), the largest first: the deviation of what goes with the partner, in
    units of the output, the larger of both directions and of all outputs unless one is named.
    """
    # A screen, no test: it makes no prediction, and a correlated feature may be the reason.
    matrix, features = explanation.partner_matrix, explanation.features
    if matrix is None:
        msg = "this explanation keeps no partners; call explain again with partners=True"
        raise BadSettingError(msg)
    n_outputs = len(explanation.outputs)
    some = range(n_outputs) if output is None else [find_output(output, explanation.outputs)]
    sizes = np.zeros((len(features),) * 2)
    places = [features.index(name) if name in features else -1 for name in matrix.names]
    inside = np.flatnonzero(np.array(places, dtype=np.intp) >= 0)
    of_outputs = matrix.lowered_size.reshape(len(features), n_outputs, -1)[:, list(some)]
    found = np.nan_to_num(of_outputs).max(axis=1)
    sizes[:, [places[k] for k in inside]] = found[:, inside]
    # a pair has the larger size of both directions
    sizes = np.maximum(sizes, sizes.T)
    first, second = np.triu_indices(len(features), 1)
    order = np.argsort(-sizes[first, second], kind="stable")
    return [
        (features[first[i]], features[second[i]], float(sizes[first[i], second[i]])) for i in order
    ]
