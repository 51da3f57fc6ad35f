"""Two-way partial dependence: mean predictions with two features set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rhale.data import Chunk
from rhale.effects.local.measure import chances
from rhale.effects.local.profiles import HeldQuestion, average_predictions
from rhale.effects.local.queries import BatchedModel, Question
from rhale.features.survey import rows_keys
from rhale.interaction.estimate import CONSTANT_FEATURE, Answers, measure_predictions
from rhale.interaction.moments import MainMoments, PairMoments, measure_main, measure_pair
from rhale.interaction.pair_profile import PairProfile
from rhale.interaction.plan import FeatureOnPairAxis, PairPlan
from rhale.models import Predictor
from rhale.models.questions import normalise_row_weights
from rhale.output.text import Note
from rhale.stats.arrays import FloatArray, IntArray, crosses_processes
from rhale.stats.sampling import KeyArray

MAX_PAIR_TRACING_ROWS = 2**12  # of a chunk, each of which is asked about hundreds of times


@crosses_processes
@dataclass(frozen=True, eq=False)
class DependenceSums:
    """Sums of one or more chunks for partial dependences."""

    weight: float  # of the rows
    # for each feature (n_outputs, n_nodes): mean predictions with it set to its nodes
    single: tuple[FloatArray, ...]
    # for each pair (n_outputs, n_nodes, n_nodes): mean predictions with both features set
    both: tuple[FloatArray, ...]
    row_moments: tuple[PairMoments, ...]  # for each pair, weights and positions of the rows
    sides: tuple[MainMoments, ...]  # for each feature, the same
    answers: Answers  # of the rows as they are
    asked: int  # rows that the model was asked about

    def __add__(self, other: DependenceSums) -> DependenceSums:
        weight = self.weight + other.weight
        share = other.weight / weight if weight > 0 else 0.0

        def merge(mine: Sequence[FloatArray], others: Sequence[FloatArray]) -> Any:
            return tuple(a + (b - a) * share for a, b in zip(mine, others, strict=True))

        return DependenceSums(
            weight,
            merge(self.single, other.single),
            merge(self.both, other.both),
            tuple(a + b for a, b in zip(self.row_moments, other.row_moments, strict=True)),
            tuple(a + b for a, b in zip(self.sides, other.sides, strict=True)),
            self.answers + other.answers,
            self.asked + other.asked,
        )


@dataclass(frozen=True, eq=False)
class PairTracing:
    """The task of the pass: set both features of every pair to all their nodes, and average."""

    # All rows are averaged, those without a value too, as in partial dependence of one feature;
    # but these have no cell, and do not count for how much dependences vary over the rows.

    model: BatchedModel
    plan: PairPlan
    seed: int  # of the row hashes, which choose among rare levels that share a node

    @property
    def predictor(self) -> Predictor:
        """The model, for whoever sends the task to other processes."""
        return self.model.predictor

    @property
    def n_points(self) -> int:
        """Predictions for each row."""
        nodes = [side.axis.nodes.size for side in self.plan.sides]
        n_grids = sum(nodes[first] * nodes[second] for first, second in self.plan.pairs)
        return int(1 + sum(nodes) + n_grids)

    def chunk_rows(self, batch_rows: int) -> int:
        """Rows in a chunk: few, since an interruption loses the predictions of one."""
        return min(batch_rows, MAX_PAIR_TRACING_ROWS)

    def __call__(self, chunk: Chunk) -> DependenceSums:
        """Ask about all nodes, and keep averages."""
        plan, weights = self.plan, chunk.weights
        key = rows_keys(chunk, self.seed)
        answers = measure_predictions(self.predictor.predict(chunk.rows, chunk.n_rows), weights)
        asked = plan.question(chunk, key).sides
        single = tuple(self.ask(chunk, [side], key)[..., 0] for side in plan.sides)
        both = tuple(
            self.ask(chunk, [plan.sides[first], plan.sides[second]], key)
            for first, second in plan.pairs
        )
        nothing = np.zeros((0, chunk.n_rows, 1))
        return DependenceSums(
            float(chunk.n_rows if weights is None else weights.sum()),
            single,
            both,
            tuple(
                measure_pair(
                    (asked[a].axis, asked[b].axis),
                    (asked[a].positions, asked[b].positions),
                    nothing,
                    weights,
                )
                for a, b in plan.pairs
            ),
            tuple(measure_main(side.axis, side.positions, nothing, weights) for side in asked),
            answers,
            chunk.n_rows * self.n_points,
        )

    def ask(self, chunk: Chunk, sides: Sequence[FeatureOnPairAxis], key: KeyArray) -> FloatArray:
        """Mean predictions with one or two features set, (n_outputs, n_nodes, n_nodes or 1)."""
        shape = tuple(side.axis.nodes.size for side in sides) + (1,) * (2 - len(sides))
        places = np.unravel_index(np.arange(np.prod(shape)), shape)
        chance, every = chances(key), np.arange(chunk.n_rows)

        def build(points: IntArray, rows: IntArray) -> Any:
            changes = [
                (side.feature.column, set_to(side, place[points], chance[rows]))
                for side, place in zip(sides, places, strict=False)
            ]
            return chunk.take(rows).substitute(changes)

        ends = [(s.feature.column, set_to(s, np.array([0, -1]), chance[every[:1]])) for s in sides]
        shares = normalise_row_weights(chunk.n_rows, chunk.weights)
        question = HeldQuestion(Question(ends, self.model.names, chunk))
        return average_predictions(self.model, places[0].size, shares, build, question).reshape(
            -1, *shape
        )


def set_to(side: FeatureOnPairAxis, places: IntArray, chance: FloatArray) -> FloatArray:
    """Values of a feature at some of its nodes; of rare levels one of them, by chance."""
    levels = side.feature.levels
    return side.axis.nodes[places] if levels is None else levels.at(places, chance)


def conclude_profiles(
    plan: PairPlan, sums: DependenceSums, outputs: Sequence[str], n_rows: int
) -> tuple[PairProfile, ...]:
    """Make the profiles of all pairs, outputs within them."""
    made = []
    for place, (first, second) in enumerate(plan.pairs.tolist()):
        features = [plan.sides[side].feature for side in (first, second)]
        moments = sums.row_moments[place]
        # notes, beginning with the one that the grid leaves the data
        empty, n_cells = int(np.sum(moments.weight == 0)), moments.weight.size
        text = f"{empty:,} of {n_cells:,} cells of the grid hold no row: the model is evaluated on rows that do not exist"
        if not empty:
            text = f"the model is evaluated on every row in all {n_cells:,} cells of the grid, even where its other features make that unlikely"
        notes = [Note("leaves the data", text)]
        if plan.ways[place] == "still":
            notes.append(Note("constant", CONSTANT_FEATURE))
        n_left_out = n_rows - int(moments.count.sum())
        if n_left_out:
            names = " or ".join(repr(feature.name) for feature in features)
            text = (
                f"{n_left_out:,} of {n_rows:,} rows have no value of {names}: they are averaged like "
                "all others, but are not counted in any cell"
            )
            notes.append(Note("missing", text))
        notes += dict.fromkeys(note for feature in features for note in feature.notes)
        for output, name in enumerate(outputs):
            made.append(
                PairProfile(
                    names=(features[0].name, features[1].name),
                    output=name,
                    axes=plan.axes(place),
                    moments=moments,
                    dependence=sums.both[place][output],
                    single=(sums.single[first][output], sums.single[second][output]),
                    variance=float(sums.answers.variance[output]),
                    n_left_out=n_left_out,
                    notes=tuple(notes),
                )
            )
    return tuple(made)


def profile_importances(sums: DependenceSums, n_outputs: int) -> FloatArray:
    """Deviation over the rows of each feature's own partial dependence, (n_features, n_outputs)."""
    found = []
    for moments, curves in zip(sums.sides, sums.single, strict=True):
        weight, (u, u2, *_) = moments.weight, moments.places
        for heights in curves[:n_outputs]:
            # straight between nodes, low + rise u in every cell: centred, then the mean square
            low, rise = heights[: weight.size], np.append(np.diff(heights), 0.0)[: weight.size]
            low = low - np.sum(weight * low + u * rise) / weight.sum()
            square = weight * low**2 + 2 * u * low * rise + u2 * rise**2
            found.append(float(np.sqrt(max(square.sum() / weight.sum(), 0.0))))
    return np.array(found).reshape(-1, n_outputs)
