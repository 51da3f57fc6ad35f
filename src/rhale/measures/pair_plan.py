"""Which pairs are measured, on which cells, and how their rows are asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from rhale.features.feature import Feature
from rhale.kernels import FloatArray, IntArray
from rhale.kernels.fixed import Edges
from rhale.kernels.pair_axis import PairAxis
from rhale.kernels.pair_cells import PairCells
from rhale.kernels.pair_question import PairQuestion, PairSide
from rhale.kernels.pair_settings import PairSettings
from rhale.kernels.sample import KeyArray
from rhale.measures.measure import chances
from rhale.names import find_feature
from rhale.settings import Settings, partition_for
from rhale.tables import Chunk

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
        standing = axis.locate(self.feature.stands(chunk))
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
