"""Decisions before pairs are measured: how their differences are found, and which pairs are worth it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np

from rhale.data import Chunk
from rhale.effects.binning.fixed import Edges
from rhale.effects.local.choose import FLAT_GRADIENT, judge_gradient
from rhale.effects.local.measure import chances
from rhale.effects.local.queries import BatchedModel
from rhale.errors import LOG, BadSettingError
from rhale.features.feature import Columns, Feature
from rhale.interaction.cells import PairAxis, PairCells
from rhale.interaction.greenwell import (
    GREENWELL_POINTS,
    choose_grid_points,
    conclude_greenwell,
    greenwell_indices,
    tell_greenwell,
)
from rhale.interaction.h_statistic import WholeRows, conclude_h, count_h_rows, h_statistics, tell_h
from rhale.interaction.pair_effect import PairIndex
from rhale.interaction.settings import FEW_PAIR_ROWS, PairMethod, PairSettings
from rhale.models.questions import DependenceQuestion, PairQuestion, PairSide, normalise_row_weights
from rhale.naming import find_feature, find_output
from rhale.output.note import Note
from rhale.settings import Settings, partition_for
from rhale.stats.arrays import FloatArray, IntArray
from rhale.stats.sampling import KeyArray

if TYPE_CHECKING:
    from rhale.effects.explanation import Explanation


# --- Which pairs are measured, on which cells, and how their rows are asked about


Way = Literal["corners", "gradient", "walk", "still"]  # still: one of the two never changes


@dataclass(frozen=True, eq=False)
class FeatureOnPairAxis:
    """A feature of some pairs, and its axis."""

    feature: Feature
    axis: PairAxis

    def ask(self, chunk: Chunk, key: KeyArray) -> PairSide:
        """What its value is replaced by in the rows of a chunk.

        Parameters
        ----------
        chunk : Chunk
            The rows.
        key : ndarray of shape (n_rows,)
            Their keys, which choose among rare levels that stand together.
        """
        column, axis = self.feature.column, self.axis
        standing = axis.locate(self.feature.axis_positions(chunk))
        own, known, levels = chunk.column(column), standing.stand >= 0, self.feature.levels
        stand = np.where(known, standing.stand, 0)
        if levels is None:
            low, high = axis.nodes[stand], axis.nodes[np.minimum(stand + 1, axis.nodes.size - 1)]
            low, high = (np.where(known, ends, own) for ends in (low, high))
        else:
            chance, last = chances(key), axis.nodes.size - 1
            below, above = (
                levels.at(np.maximum(stand - 1, 0), chance),
                levels.at(np.minimum(stand + 1, last), chance),
            )
            low = np.where(known & (stand > 0), below, own)
            high = np.where(known & (stand < last), above, own)
        return PairSide(column, axis, standing, low, high)


@dataclass(frozen=True, eq=False)
class PairPlan:
    """What is measured of pairs.

    Attributes
    ----------
    sides : tuple of FeatureOnPairAxis
        Each feature once.
    pairs : ndarray of shape (n_pairs, 2)
        Places among the sides, the smaller first.
    ways : tuple of {"corners", "gradient", "walk", "still"}
        How the differences of each pair are found.
    """

    sides: tuple[FeatureOnPairAxis, ...]
    pairs: IntArray
    ways: tuple[Way, ...]

    def question(self, chunk: Chunk, key: KeyArray) -> PairQuestion:
        """What is asked about a chunk."""
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
    """Pairs that the user names, or all; None where they are to be chosen by the model's effects.

    Parameters
    ----------
    names : sequence of str
        The features.
    asked : PairSettings
        What the user wants.
    """
    if asked.pairs is None or isinstance(asked.pairs, int):
        return None
    if asked.pairs == "all":
        return every_pair(len(names))
    found = [sorted(find_feature(name, names) for name in pair) for pair in asked.pairs]
    return np.array(list(dict.fromkeys(map(tuple, found))), dtype=np.int64)


def every_pair(n_features: int) -> IntArray:
    """All pairs of so many features.

    Examples
    --------
    >>> every_pair(3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    return np.array(list(combinations(range(n_features), 2)), dtype=np.int64).reshape(-1, 2)


SCREENED = 10  # pairs of a black box, where the user names none
MANY_ROWS = 10**7  # that a model is asked about: told before
MAX_PAIRS_BY_DEFAULT, MAX_PAIRED_FEATURES = (
    500,
    30,
)  # beyond, the features whose effect differs most
ON_THE_MARGIN = Note(
    "margin",
    "on the margin, before the link function, where what trees add up is additive: a probability "
    "bends every sum, and so mixes the features of every pair (response='predict_proba' measures that)",
)
ON_PROBABILITIES = Note(
    "margin",
    "on probabilities, whose link bends every sum and so mixes the features of every pair; "
    "response='log_odds', or 'margin' where the model has one, leaves what features do together",
)


@dataclass(frozen=True, eq=False)
class Manner:
    """How the differences of pairs are found.

    Attributes
    ----------
    usual : {"corners", "gradient", "walk"}
        Where nothing speaks against it.
    refused : frozenset of int
        Features for which it does not work: columns that mix before trees, slopes that are zero
        although predictions move.
    asked : int
        Rows that were asked to find out.
    notes : tuple of Note
        Why it is not another way.
    """

    usual: Way
    refused: frozenset[int] = frozenset()
    asked: int = 0
    notes: tuple[Note, ...] = ()

    @property
    def is_dear(self) -> bool:
        """Whether every pair has its price."""
        return self.usual == "corners"

    def ways(self, sides: Sequence[FeatureOnPairAxis], pairs: IntArray) -> tuple[Way, ...]:
        """How each pair is found."""
        return tuple(self._way(sides, int(a), int(b)) for a, b in pairs)

    def _way(self, sides: Sequence[FeatureOnPairAxis], first: int, second: int) -> Way:
        both = (sides[first], sides[second])
        if any(side.axis.n_steps == 0 for side in both):
            return "still"
        refused = [side.feature.place in self.refused for side in both]
        levels = [side.axis.is_levels for side in both]
        if self.usual == "walk":
            return "corners" if any(refused) else "walk"
        if self.usual == "gradient":
            blind = [no or is_levels for no, is_levels in zip(refused, levels, strict=True)]
            return "corners" if all(blind) else "gradient"
        return "corners"


def choose_manner(columns: Columns, asker: BatchedModel, settings: Settings) -> Manner:
    """Trees are walked, slopes taken where they are to be trusted, all others asked."""
    predictor, features = asker.predictor, columns.features
    if predictor.walker is not None and predictor.walks_pairs:
        mixed = [f.place for f in features if not predictor.walker.sees(f.column)]
        return Manner("walk", frozenset(mixed))
    if not predictor.adapter.is_differentiable:
        return Manner("corners", notes=predictor.notes)
    numbers = [f for f in features if f.levels is None and not f.is_constant]
    if not numbers:
        return Manner("corners")
    why, ways, n_asked = judge_gradient(settings, asker, columns.probe, numbers)
    if why:
        text = f"{why}pairs are found from predictions at the corners of cells"
        return Manner("corners", asked=n_asked, notes=(Note("gradient", text),))
    flat = [f.place for f, way in zip(numbers, ways, strict=True) if way is FLAT_GRADIENT]
    return Manner("gradient", frozenset(flat), n_asked)


def limit_pairs(n_features: int, manner: Manner, asked: PairSettings) -> int | None:
    """How many pairs are to be chosen by how effects differ; None for all.

    Where all pairs have one price they are measured, and the strongest so many are told.

    Parameters
    ----------
    n_features : int
        Features that may make pairs.
    manner : Manner
        How differences are found.
    asked : PairSettings
        What the user wants.
    """
    n_pairs = n_features * (n_features - 1) // 2
    if isinstance(asked.pairs, int):
        is_cheap = asked.method == "ale" and not manner.is_dear and n_pairs <= MAX_PAIRS_BY_DEFAULT
        return None if is_cheap or asked.pairs >= n_pairs else asked.pairs
    if asked.pairs is not None:
        return None
    return SCREENED if manner.is_dear and n_pairs > SCREENED else None


def too_many(n_features: int, asked: PairSettings) -> bool:
    """Whether there are more pairs than are measured unasked."""
    return asked.pairs is None and n_features * (n_features - 1) // 2 > MAX_PAIRS_BY_DEFAULT


def require_two(features: Sequence[Feature]) -> None:
    """Refuse fewer than two features."""
    if len(features) < 2:
        names = ", ".join(repr(f.name) for f in features) or "none"
        msg = f"a pair needs two features; found {names}. Name more in features=, or pairs= of them"
        raise BadSettingError(msg)


def tell_price(manner: Manner, n_pairs: int, n_rows: int, asked: PairSettings) -> None:
    """Say what all pairs of a black box cost, before it is paid."""
    price = count_pair_queries(manner, n_pairs, n_rows, asked)
    if price and asked.pairs == "all":
        text = "pairs='all' asks the model about 4 x %s pairs x %s rows = %s rows"
        LOG.warning(text, f"{n_pairs:,}", f"{n_rows:,}", f"{price:,}")


def tell_asked(n_asked: int, method: str) -> None:
    """Say how many rows a model will be asked about, where these are many."""
    if n_asked >= MANY_ROWS:
        LOG.warning("method=%r asks the model about %s rows", method, f"{n_asked:,}")


def tell_grid(n_points: int, n_rows: int, asked: PairSettings) -> None:
    """Say what partial dependence of all pairs costs, before it is paid."""
    if asked.pairs == "all":
        text = "pairs='all' asks the model about %s points of grids x %s rows = %s rows"
        LOG.warning(text, f"{n_points:,}", f"{n_rows:,}", f"{n_points * n_rows:,}")


def describe_screen(n_measured: int, n_pairs: int, n_asked: int) -> tuple[Note, ...]:
    """Say which pairs were left out, and how many rows the model would be asked about for all.

    Parameters
    ----------
    n_measured, n_pairs : int
        Pairs that are measured, and all.
    n_asked : int
        Rows that all pairs cost; 0 where they cost hardly more than these.
    """
    if n_measured >= n_pairs:
        return ()
    price = f", and asks the model about {n_asked:,} rows" if n_asked else ""
    text = (
        f"{n_measured} of {n_pairs:,} pairs: those that the spread of the effects points to; "
        f"pairs='all' measures every one{price}"
    )
    return (Note("screen", text),)


def describe_rows(n_rows: int, asked: PairSettings) -> tuple[Note, ...]:
    """Say that rows are few, and what follows for the usual cells."""
    if n_rows >= FEW_PAIR_ROWS:
        return ()
    cells = ": 5 cells a side" if asked.method == "ale" and asked.cells is None else ""
    return (Note("few rows", f"{n_rows} rows tell little about pairs{cells}"),)


def count_pair_queries(manner: Manner, n_pairs: int, n_rows: int, asked: PairSettings) -> int:
    """Rows that a model is asked about for all pairs; 0 where pairs have no price of their own."""
    return 4 * n_pairs * n_rows if manner.is_dear and asked.method == "ale" else 0


def all_of(some: Sequence[int]) -> IntArray:
    """All pairs of some features, by their places."""
    places = np.array(sorted(some), dtype=np.int64)
    return places[every_pair(places.size)]


# --- Strengths of pairs by other definitions, over whole rows of which every one meets every other


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


# --- Which pairs are worth measuring: a ranking by what the spread of single features tells


def screen_pairs(
    explanation: Explanation, output: str | int | None = None
) -> list[tuple[str, str, float]]:
    """Rank pairs of explained features by what goes with one in the spread of the other.

    Parameters
    ----------
    explanation : Explanation
        With its partners.
    output : str or int, optional
        Which output; the largest over all of them if not given.

    Returns
    -------
    list of (feature, feature, size)
        Strongest first, in the order of the features within a pair. Sizes are in units of the
        output: the deviation of what goes with the partner, accumulated, the larger of both
        directions. That of a proxy counts as far as it adds to the others.

    Notes
    -----
    A screen, no verdict: it asks the model nothing, and the pair may go together for another
    reason.
    """
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
    return _rank_screened_pairs(features, np.maximum(sizes, sizes.T))


def _rank_screened_pairs(names: Sequence[str], sizes: np.ndarray) -> list[tuple[str, str, float]]:
    first, second = np.triu_indices(len(names), 1)
    order = np.argsort(-sizes[first, second], kind="stable")
    return [(names[first[i]], names[second[i]], float(sizes[first[i], second[i]])) for i in order]
