"""Two-way partial dependence: predictions of all rows with two features set, averaged."""

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
from rhale.interaction.estimate import STILL, Answers, measure_answers
from rhale.interaction.moments import MainMoments, PairMoments, measure_main, measure_pair
from rhale.interaction.pair_profile import PairProfile
from rhale.interaction.plan import FeatureOnPairAxis, PairPlan
from rhale.models import Predictor
from rhale.models.questions import normalise_row_weights
from rhale.output.note import Note
from rhale.stats.arrays import FloatArray, IntArray
from rhale.stats.records import crosses_processes
from rhale.stats.sampling import KeyArray

MAX_PAIR_TRACING_ROWS = 2**12  # of a chunk, each of which is asked about hundreds of times


@crosses_processes
@dataclass(frozen=True, eq=False)
class DependenceSums:
    """What one or more chunks say about partial dependences.

    Attributes
    ----------
    weight : float
        Of the rows.
    single : tuple of ndarray of shape (n_outputs, n_nodes)
        For each feature, mean predictions with it set to its nodes.
    both : tuple of ndarray of shape (n_outputs, n_nodes, n_nodes)
        For each pair, mean predictions with both features set.
    stands : tuple of PairMoments
        For each pair, where rows stand; of no output.
    sides : tuple of MainMoments
        For each feature, where rows stand; of no output.
    answers : Answers
        Of the rows as they are.
    asked : int
        Rows that the model was asked about.
    """

    weight: float
    single: tuple[FloatArray, ...]
    both: tuple[FloatArray, ...]
    stands: tuple[PairMoments, ...]
    sides: tuple[MainMoments, ...]
    answers: Answers
    asked: int

    def __add__(self, other: DependenceSums) -> DependenceSums:
        weight = self.weight + other.weight
        share = other.weight / weight if weight > 0 else 0.0

        def merge(mine: Sequence[FloatArray], others: Sequence[FloatArray]) -> Any:
            return tuple(a + (b - a) * share for a, b in zip(mine, others, strict=True))

        return DependenceSums(
            weight,
            merge(self.single, other.single),
            merge(self.both, other.both),
            tuple(a + b for a, b in zip(self.stands, other.stands, strict=True)),
            tuple(a + b for a, b in zip(self.sides, other.sides, strict=True)),
            self.answers + other.answers,
            self.asked + other.asked,
        )


@dataclass(frozen=True, eq=False)
class PairTracing:
    """The task of the pass: set both features of every pair to all their nodes, and average.

    Attributes
    ----------
    asker : BatchedModel
        The model.
    plan : PairPlan
        Which pairs, on which nodes.
    seed : int
        Of the rows' keys, which choose among rare levels that stand together.

    Notes
    -----
    All rows are averaged, those without a value too, as in partial dependence of one feature; but
    these stand nowhere, and do not count for how much dependences vary over the rows.
    """

    asker: BatchedModel
    plan: PairPlan
    seed: int

    @property
    def predictor(self) -> Predictor:
        """The model, for whoever sends the task to other processes."""
        return self.asker.predictor

    @property
    def n_points(self) -> int:
        """Rows that the model is asked about for each row."""
        return 1 + sum(count_nodes(self.plan))

    def chunk_rows(self, batch_rows: int) -> int:
        """Rows in a chunk: few, as an interruption loses what was asked about one."""
        return min(batch_rows, MAX_PAIR_TRACING_ROWS)

    def __call__(self, chunk: Chunk) -> DependenceSums:
        """Ask about all nodes, and keep averages."""
        plan, weights = self.plan, chunk.weights
        key = rows_keys(chunk, self.seed)
        answers = measure_answers(self.predictor.predict(chunk.rows, chunk.n_rows), weights)
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
                    (asked[a].standing, asked[b].standing),
                    nothing,
                    weights,
                )
                for a, b in plan.pairs
            ),
            tuple(measure_main(side.axis, side.standing, nothing, weights) for side in asked),
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
        question = HeldQuestion(Question(ends, self.asker.names, chunk))
        return average_predictions(self.asker, places[0].size, shares, build, question).reshape(
            -1, *shape
        )


def set_to(side: FeatureOnPairAxis, places: IntArray, chance: FloatArray) -> FloatArray:
    """Values of a feature at some of its nodes; of rare levels one of them, by chance."""
    levels = side.feature.levels
    return side.axis.nodes[places] if levels is None else levels.at(places, chance)


def count_nodes(plan: PairPlan) -> list[int]:
    """How often each row is asked about for every feature, and for every pair."""
    nodes = [side.axis.nodes.size for side in plan.sides]
    return nodes + [nodes[first] * nodes[second] for first, second in plan.pairs]


def conclude_profiles(
    plan: PairPlan, sums: DependenceSums, outputs: Sequence[str], n_rows: int
) -> tuple[PairProfile, ...]:
    """Make the profiles of all pairs, outputs within them.

    Parameters
    ----------
    plan : PairPlan
        What was measured.
    sums : DependenceSums
        Over all rows.
    outputs : sequence of str
        Names of the outputs.
    n_rows : int
        Rows of the table.
    """
    made = []
    for place, (first, second) in enumerate(plan.pairs.tolist()):
        moments = sums.stands[place]
        notes = describe_profile(plan, place, moments, n_rows)
        for output, name in enumerate(outputs):
            made.append(
                PairProfile(
                    names=(plan.sides[first].feature.name, plan.sides[second].feature.name),
                    output=name,
                    axes=plan.axes(place),
                    moments=moments,
                    dependence=sums.both[place][output],
                    single=(sums.single[first][output], sums.single[second][output]),
                    variance=float(sums.answers.variance[output]),
                    n_left_out=n_rows - int(moments.count.sum()),
                    notes=notes,
                )
            )
    return tuple(made)


def profile_importances(sums: DependenceSums, n_outputs: int) -> FloatArray:
    """Deviation over the rows of each feature's own partial dependence, (n_features, n_outputs)."""
    found = [
        [deviation_at_rows(stands, heights[output]) for output in range(n_outputs)]
        for stands, heights in zip(sums.sides, sums.single, strict=True)
    ]
    return np.array(found).reshape(-1, n_outputs)


def deviation_at_rows(stands: MainMoments, heights: FloatArray) -> float:
    """Deviation over the rows of a curve that is straight between nodes.

    Parameters
    ----------
    stands : MainMoments
        Where rows stand.
    heights : ndarray of shape (n_nodes,)
        The curve.
    """
    weight, (u, u2, *_) = stands.weight, stands.places
    low, rise = heights[: weight.size], np.append(np.diff(heights), 0.0)[: weight.size]
    low = low - np.sum(weight * low + u * rise) / weight.sum()
    square = weight * low**2 + 2 * u * low * rise + u2 * rise**2
    return float(np.sqrt(max(square.sum() / weight.sum(), 0.0)))


def describe_profile(
    plan: PairPlan, place: int, moments: PairMoments, n_rows: int
) -> tuple[Note, ...]:
    """What a reader should know of a pair's partial dependence; first that it leaves the data."""
    sides = [plan.sides[side].feature for side in plan.pairs[place]]
    empty, n_cells = int(np.sum(moments.weight == 0)), moments.weight.size
    text = f"{empty:,} of {n_cells:,} cells of the grid hold no row: the model is asked about rows that do not exist"
    if not empty:
        text = f"every row is asked about in all {n_cells:,} cells of the grid, wherever its other features would keep it"
    notes = [Note("leaves the data", text)]
    if plan.ways[place] == "still":
        notes.append(Note("constant", STILL))
    n_left_out = n_rows - int(moments.count.sum())
    if n_left_out:
        names = " or ".join(repr(feature.name) for feature in sides)
        text = (
            f"{n_left_out:,} of {n_rows:,} rows have no value of {names} there: averaged like all "
            "others, but not counted where rows stand"
        )
        notes.append(Note("missing", text))
    return (*notes, *dict.fromkeys(note for feature in sides for note in feature.notes))
