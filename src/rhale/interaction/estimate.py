"""The pass over the rows that measures pairs, and results from its sums."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Protocol, TypeVar

import numpy as np

from rhale.data import Chunk
from rhale.effects.local.queries import BatchedModel
from rhale.errors import BadEffectsError
from rhale.features.survey import rows_keys
from rhale.interaction.differences import cross_cell, n_corners, predict_corners
from rhale.interaction.moments import (
    MainEffect,
    MainMoments,
    PairMoments,
    measure_main,
    measure_pair,
)
from rhale.interaction.pair_effect import CORRELATED_NOTE_KIND, PairEffect
from rhale.interaction.plan import PairPlan
from rhale.interaction.settings import PairSettings
from rhale.interaction.strength import PairFit, Square, find_squares
from rhale.models import Predictor
from rhale.models.questions import PairQuestion
from rhale.output.text import MAX_NAMED_IN_SENTENCE, Note
from rhale.stability.table import CORRELATED
from rhale.stats.arrays import (
    LARGEST_SQUARABLE,
    FloatArray,
    IntArray,
    correlate,
    crosses_processes,
    rank_values,
)

MAX_PAIR_CHUNK_NUMBERS, MIN_PAIR_CHUNK_ROWS = 2**23, 2**9  # differences or slopes; rows at least
Sums_co = TypeVar("Sums_co", covariant=True)
# Rows times all pairs of a chunk: less is added up while numba is loaded.
MIN_COMPILED_PAIR_ROWS = 2**21


@crosses_processes
@dataclass(frozen=True, eq=False)
class Answers:
    """Mean and squared deviations of predictions, by output; whether all are of one kind.

    Single precision holds them all, or they are whole numbers, which double precision holds exactly.
    """

    weight: float
    mean: FloatArray
    squares: FloatArray
    is_single: bool = False
    is_whole: bool = False

    def __add__(self, other: Answers) -> Answers:
        # merge of two means and sums of squared deviations (Chan, Golub & LeVeque 1983)
        weight = self.weight + other.weight
        share = other.weight / weight if weight > 0 else 0.0
        step = other.mean - self.mean
        squares = self.squares + other.squares + self.weight * share * step**2
        kinds = (self.is_single and other.is_single, self.is_whole and other.is_whole)
        return Answers(weight, self.mean + step * share, squares, *kinds)

    @property
    def variance(self) -> FloatArray:
        """Variance of the predictions, shape (n_outputs,)."""
        return self.squares / self.weight if self.weight > 0 else np.zeros_like(self.squares)

    @property
    def size(self) -> FloatArray:
        """Root of their mean squares, shape (n_outputs,)."""
        return np.hypot(self.mean, np.sqrt(self.variance))


def measure_predictions(found: FloatArray, weights: FloatArray | None) -> Answers:
    """Add up predictions of some rows, shape (n_rows, n_outputs)."""
    weight = np.ones(len(found)) if weights is None else weights
    with np.errstate(over="ignore"):
        is_single = bool(np.array_equal(found, found.astype(np.float32)))
    total, kinds = float(weight.sum()), (is_single, np.array_equal(found, np.rint(found)))
    if total <= 0:
        return Answers(0.0, np.zeros(found.shape[1]), np.zeros(found.shape[1]), *kinds)
    mean = found[0] + weight @ (found - found[0]) / total
    far = float(np.abs(found - mean).max())
    if far > LARGEST_SQUARABLE:
        msg = (
            f"predictions differ by {far:.3g} from their mean; squares of this do not fit into a "
            "number. Divide the model's output by a power of ten first"
        )
        raise BadEffectsError(msg)
    return Answers(total, mean, weight @ (found - mean) ** 2, *kinds)


@crosses_processes
@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums of one or more chunks, by pair and by feature; `a + b` describes the rows of both."""

    # one for each pair; with gradients those along the second feature as the first crosses its cell
    pairs: tuple[PairMoments, ...]
    # the same with both features exchanged; None where differences have no direction
    reversed: tuple[PairMoments | None, ...]
    # differences of one feature alone; None where it is in no pair that has them
    mains: tuple[MainMoments | None, ...]
    answers: Answers  # predictions of the rows as they are
    asked: int  # rows that were predicted

    def __add__(self, other: PairSums) -> PairSums:
        return PairSums(
            tuple(a + b for a, b in zip(self.pairs, other.pairs, strict=True)),
            tuple(map(_add, self.reversed, other.reversed)),
            tuple(map(_add, self.mains, other.mains)),
            self.answers + other.answers,
            self.asked + other.asked,
        )


def _add(a: Any, b: Any) -> Any:
    """Sum of two terms; None where there is none."""
    return None if a is None or b is None else a + b


class PairPass(Protocol[Sums_co]):
    """A task that measures all pairs in a chunk of rows."""

    @property
    def model(self) -> BatchedModel:
        """The model."""

    def chunk_rows(self, batch_rows: int) -> int:
        """Rows in a chunk."""

    def __call__(self, chunk: Chunk) -> Sums_co:
        """Measure one chunk, and return its sums."""


@dataclass(frozen=True, eq=False)
class PairTask:
    """The task of the pass: mixed differences of all pairs in a chunk, summed by cell."""

    model: BatchedModel
    plan: PairPlan
    seed: int  # of the row hashes

    @property
    def predictor(self) -> Predictor:
        """The model, for whoever sends the task to other processes."""
        return self.model.predictor

    def chunk_rows(self, batch_rows: int) -> int:
        """Rows in a chunk: their differences and slopes stay in memory, sums are few."""
        plan, n_outputs = self.plan, self.predictor.n_all
        n_numbers = 1
        if "walk" in plan.ways:
            n_numbers = n_outputs * len(plan.pairs)
        elif "gradient" in plan.ways:
            n_numbers = len(self.model.outputs) * max(len(self.model.names), 2 * len(plan.pairs))
        elif "corners" in plan.ways:
            batch_rows = -(-batch_rows // 4)
        return int(
            np.clip(
                MAX_PAIR_CHUNK_NUMBERS // n_numbers,
                MIN_PAIR_CHUNK_ROWS,
                max(batch_rows, MIN_PAIR_CHUNK_ROWS),
            )
        )

    def __call__(self, chunk: Chunk) -> PairSums:
        """Measure every pair in one chunk: by tree walks, gradients, or predictions at corners."""
        key = rows_keys(chunk, self.seed)
        found = PairChunk(self.plan.question(chunk, key), chunk.weights)
        n_asked = self.gather_walked(chunk, found) + self.gather_slopes(chunk, found)
        if found.answers is None:  # neither walk nor gradients gave the predictions of the rows
            found.answers = self.predictor.predict(chunk.rows, chunk.n_rows)
            n_asked += chunk.n_rows
        answers = measure_predictions(found.answers, chunk.weights)
        n_asked += self.gather_corners(chunk, found)
        # pairs in which a feature has one value: rows are counted, nothing is predicted
        for place in self.plan.places("still").tolist():
            n_ways = np.prod([axis.n_ways for axis in self.plan.axes(place)])
            nothing = np.zeros((len(self.model.outputs), chunk.n_rows, int(n_ways)))
            found.add([place], found.measure(self.plan.pairs[place][None], [nothing]))
        n_pairs = len(self.plan.pairs)
        return PairSums(
            tuple(found.pairs[i] for i in range(n_pairs)),
            tuple(found.reversed.get(i) for i in range(n_pairs)),
            tuple(found.mains.get(i) for i in range(len(self.plan.sides))),
            answers,
            n_asked,
        )

    def gather_walked(self, chunk: Chunk, found: PairChunk) -> int:
        """Walk trees once for all pairs; return how many rows were predicted."""
        places = self.plan.places("walk")
        if not places.size:
            return 0
        asked = replace(found.question, pairs=self.plan.pairs[places])
        reply = self.model.ask_pairs(chunk, asked)
        found.add(places, found.measure(asked.pairs, reply.mixed, is_fast=True))
        for side in np.unique(asked.pairs).tolist():
            found.add_main(side, reply.single[side])
        found.answers = reply.answers
        return chunk.n_rows

    def gather_slopes(self, chunk: Chunk, found: PairChunk) -> int:
        """Mixed differences as changes of gradients while one feature after the other crosses its cell."""
        places = self.plan.places("gradient")
        if not places.size:
            return 0
        pairs, sides = self.plan.pairs[places], found.question.sides
        crossing = np.unique(pairs)
        answers, slopes, n_asked = None, None, 0
        if any(sides[side].axis.is_levels for side in crossing):
            (answers, slopes), n_asked = self.predictor.gradient(chunk), chunk.n_rows
            found.answers = answers
        mixed: list[list[FloatArray]] = [[] for _ in pairs]  # one for each way round
        for side in crossing.tolist():
            own_pairs = np.flatnonzero((pairs == side).any(axis=1)).tolist()
            partners = {place: sides[int(pairs[place].sum()) - side] for place in own_pairs}
            numbers = {place: it for place, it in partners.items() if not it.axis.is_levels}
            crossed = cross_cell(
                self.predictor, chunk, sides[side], (answers, slopes), slopes_matter=bool(numbers)
            )
            found.add_main(side, crossed.single)
            n_asked += 2 * chunk.n_rows
            for place, other in numbers.items():
                mixed[place].append(crossed.change_along(other))
        # outputs come once, or twice: for either feature that crosses its cell
        n_outputs = len(self.model.outputs)
        moments = found.measure(pairs, [np.concatenate(both) for both in mixed])
        for place, one in zip(places.tolist(), moments, strict=True):
            found.pairs[place] = one.of_outputs(slice(0, n_outputs))
            if len(one.mean) > n_outputs:
                found.reversed[place] = one.of_outputs(slice(n_outputs, None))
        return n_asked

    def gather_corners(self, chunk: Chunk, found: PairChunk) -> int:
        """Predict the corners of each row's cells, pair by pair."""
        n_asked = 0
        for place in self.plan.places("corners").tolist():
            pair = self.plan.pairs[place]
            first, second = (found.question.sides[side] for side in pair)
            mixed, *along = predict_corners(self.model, chunk, first, second)
            found.add([place], found.measure(pair[None], [mixed]))
            for side, differences in zip(pair.tolist(), along, strict=True):
                found.add_main(side, differences)
            n_asked += n_corners(first, second) * chunk.n_rows
        return n_asked


class PairChunk:
    """Sums of one chunk so far: by pair, and by feature."""

    def __init__(self, question: PairQuestion, weights: FloatArray | None) -> None:
        self.question, self.weights = question, weights
        self.pairs: dict[int, PairMoments] = {}
        self.reversed: dict[int, PairMoments] = {}
        self.mains: dict[int, MainMoments] = {}
        self.answers: FloatArray | None = None

    def measure(
        self, pairs: IntArray, mixed: Sequence[FloatArray], *, is_fast: bool = False
    ) -> list[PairMoments]:
        """Sums of some pairs, in a compiled loop where that is worth it."""
        asked = replace(self.question, pairs=pairs)
        n_rows = self.question.sides[0].low.size
        is_worth_it = n_rows * len(self.question.pairs) >= MIN_COMPILED_PAIR_ROWS
        if is_fast or (is_worth_it and find_spec("numba")):
            from rhale.models.trees.pair_walk import measure_pairs

            return measure_pairs(asked, mixed, self.weights)
        return [
            measure_pair(
                (asked.sides[a].axis, asked.sides[b].axis),
                (asked.sides[a].positions, asked.sides[b].positions),
                differences,
                self.weights,
            )
            for (a, b), differences in zip(pairs.tolist(), mixed, strict=True)
        ]

    def add(self, places: Iterable[int], moments: Sequence[PairMoments]) -> None:
        """Keep the sums of some pairs."""
        self.pairs.update(zip((int(place) for place in places), moments, strict=True))

    def add_main(self, side: int, differences: FloatArray) -> None:
        """Keep the sums of one feature's own differences, once."""
        if side not in self.mains:
            asked = self.question.sides[side]
            self.mains[side] = measure_main(asked.axis, asked.positions, differences, self.weights)


# --- From sums over all rows to the effect of each pair


PAIR_SINGLE_PRECISION = 2.0**-20  # of predictions: the rounding of their differences, at most
CONSTANT_FEATURE = (
    "one of the two features has one value only, so there is no interaction to measure"
)
NOT_RANKED = Note(
    CORRELATED_NOTE_KIND,
    "cannot be ranked by this model: a feature of the pair is correlated with another one, and a "
    "learner may use either",
)
Correlations = dict[frozenset[str], float]  # of two features


def conclude_pairs(
    plan: PairPlan, sums: PairSums, outputs: Sequence[str], asked: PairSettings, n_rows: int
) -> tuple[PairEffect, ...]:
    """Make the effects of all pairs, outputs within them."""
    mains = main_effects(plan, sums, len(outputs))
    variance = sums.answers.variance
    made = list[PairEffect]()
    chosen = choose_directions(plan, sums, len(outputs), asked)
    for place, (first, second) in enumerate(plan.pairs.tolist()):
        features = [plan.sides[side].feature for side in (first, second)]
        n_left_out = n_rows - int(sums.pairs[place].count.sum())
        notes = [Note("constant", CONSTANT_FEATURE)] if plan.ways[place] == "still" else []
        if n_left_out:
            names = " or ".join(repr(feature.name) for feature in features)
            text = f"{n_left_out:,} of {n_rows:,} rows have no value of {names}, and are left out"
            notes.append(Note("missing", text))
        notes += dict.fromkeys(note for feature in features for note in feature.notes)
        for output, name in enumerate(outputs):
            moments, square = chosen[place][output]
            made.append(
                PairEffect(
                    names=(features[0].name, features[1].name),
                    output=name,
                    axes=plan.axes(place),
                    moments=moments,
                    main=(mains[first][output].heights, mains[second][output].heights),
                    square=square,
                    variance=float(variance[output]),
                    n_left_out=n_left_out,
                    reading=asked.reading,
                    smooth=asked.smooth,
                    way=plan.ways[place],
                    notes=tuple(notes),
                )
            )
    return tuple(made)


def choose_directions(
    plan: PairPlan, sums: PairSums, n_outputs: int, asked: PairSettings
) -> list[list[tuple[PairMoments, Square]]]:
    """Sums and mean squares of every pair and output; of two directions, those of the stronger."""
    # A jump has no slope: where predictions jump along one of the two features, only gradients along
    # the other one, as the first crosses its cell, measure the interaction.
    # how large mixed differences of predictions in single precision may be by rounding alone
    is_rounded = sums.answers.is_single and not sums.answers.is_whole
    rounding = sums.answers.size * (PAIR_SINGLE_PRECISION if is_rounded else 0.0)
    offers = [
        (place, output, zero_rounding_differences(moments.of_output(output), least))
        for place in range(len(plan.pairs))
        for output in range(n_outputs)
        for least in [rounding[output] if plan.ways[place] == "corners" else 0.0]
        for moments in (sums.pairs[place], sums.reversed[place])
        if moments is not None
    ]
    fits = [PairFit(plan.axes(p), m, asked.reading, asked.smooth) for p, _, m in offers]
    found: list[list[tuple[PairMoments, Square]]] = [[] for _ in plan.pairs]
    for (place, output, moments), square in zip(offers, find_squares(fits), strict=True):
        here = found[place]
        if len(here) <= output:
            here.append((moments, square))
        elif square.raw - square.noise > here[output][1].raw - here[output][1].noise:
            here[output] = (moments, square)
    return found


def zero_rounding_differences(moments: PairMoments, least: float) -> PairMoments:
    """Sums of one output, with all differences 0 if their root mean square is no larger than `least`."""
    # Of the pair as a whole, since rows of a weak pair that is real may differ by as little. In
    # units of 2^-24 of the predictions, differences were 1 (a sum of terms, a layer) to 6 (1,000
    # stumps) by rounding, and 42 for a product of a ten-thousandth of all else.
    if least <= 0:
        return moments
    own = np.einsum("...ii->...", moments.products[0])
    squares = own + moments.weight * (moments.mean[0] ** 2).sum(-1)
    if squares.sum() > least**2 * moments.weight.sum():
        return moments
    return replace(
        moments, mean=np.zeros_like(moments.mean), products=np.zeros_like(moments.products)
    )


def main_effects(plan: PairPlan, sums: PairSums, n_outputs: int) -> list[list[MainEffect]]:
    """Effects of each feature alone, at the nodes of its axis; flat where it has one value."""
    flat = [[MainEffect(np.zeros(side.axis.nodes.size), 0.0)] * n_outputs for side in plan.sides]
    return [
        still if main is None else [main.curve(side.axis, o) for o in range(n_outputs)]
        for side, main, still in zip(plan.sides, sums.mains, flat, strict=True)
    ]


def importances(plan: PairPlan, sums: PairSums, n_outputs: int) -> FloatArray:
    """Deviation over the rows of what each feature does alone, (n_features, n_outputs)."""
    mains = main_effects(plan, sums, n_outputs)
    return np.array([[effect.importance for effect in row] for row in mains]).reshape(-1, n_outputs)


def correlate_sampled(
    pairs: Sequence[PairEffect], features: Sequence[str], sample: FloatArray, weight: FloatArray
) -> Correlations:
    """Rank correlations of each feature of some pairs with all other features, in sampled rows.

    `sample` has shape (n_rows, n_features), `weight` (n_rows,).
    """
    ranks = {name: rank_values(column) for name, column in zip(features, sample.T, strict=True)}
    used = dict.fromkeys(name for pair in pairs for name in pair.names if name in ranks)
    both = {frozenset((a, b)) for a in used for b in ranks if a != b}
    found = {}
    for two in both:
        first, second = (ranks[name] for name in sorted(two))
        found[two] = correlate(first, second, weight)
    return found


def mark_correlated(
    pairs: Sequence[PairEffect], correlations: Correlations
) -> tuple[tuple[PairEffect, ...], tuple[Note, ...]]:
    """Mark the pairs that one model cannot rank, and note which features are correlated."""
    # Let b and c be near copies. A learner cannot know whether a interacts with b or with c, and an
    # interaction of b and c looks like a curve of one of them. So all pairs that have b or c are
    # marked: at correlation .9, nearly all pairs that came before the true one were of this kind
    # (accuracy.md). Pairs that do not interact in this model at all are not.
    alike = {two: r for two, r in correlations.items() if abs(r) > CORRELATED}
    copied = frozenset[str]().union(*alike)
    is_marked = [pair.strength > 0 and not copied.isdisjoint(pair.names) for pair in pairs]
    if not any(is_marked):
        return tuple(pairs), ()
    made = tuple(
        replace(pair, notes=(*pair.notes, NOT_RANKED)) if marked else pair
        for pair, marked in zip(pairs, is_marked, strict=True)
    )
    closest = sorted(alike, key=lambda two: (-abs(alike[two]), sorted(two)))
    named = [
        f"{' and '.join(map(repr, sorted(two)))} ({alike[two]:.2f})"
        for two in closest[:MAX_NAMED_IN_SENTENCE]
    ]
    more = (
        f" and {len(closest) - MAX_NAMED_IN_SENTENCE} more"
        if len(closest) > MAX_NAMED_IN_SENTENCE
        else ""
    )
    text = f"correlated features, with the correlation of their ranks: {', '.join(named)}{more}"
    return made, (Note(CORRELATED_NOTE_KIND, text),)
