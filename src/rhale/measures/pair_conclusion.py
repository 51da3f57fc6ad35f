"""From sums over all rows to what is told about each pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.pair_main import MainEffect
from rhale.kernels.pair_moments import PairMoments
from rhale.kernels.pair_settings import PairSettings
from rhale.kernels.pair_strength import PairFit, Square, find_squares
from rhale.kernels.sorting import correlate, rank_values
from rhale.measures.pair_plan import PairPlan
from rhale.measures.pair_task import PairSums
from rhale.results.listing import MAX_NAMED_IN_SENTENCE
from rhale.results.note import Note
from rhale.results.pair_effect import CORRELATED_NOTE_KIND, PairEffect
from rhale.results.refit_table import CORRELATED

PAIR_SINGLE_PRECISION = (
    2.0**-20
)  # of predictions: what differences of answers in single precision lose, at most
STILL = "one of the two has one value only: nothing can change with it"
NOT_RANKED = Note(
    CORRELATED_NOTE_KIND,
    "cannot be ranked by this model: a feature of the pair goes together with another one, and a "
    "learner may take either",
)
Correlations = dict[frozenset[str], float]  # of two features


def conclude_pairs(
    plan: PairPlan, sums: PairSums, outputs: Sequence[str], asked: PairSettings, n_rows: int
) -> tuple[PairEffect, ...]:
    """Make the effects of all pairs, outputs within them.

    Parameters
    ----------
    plan : PairPlan
        What was measured.
    sums : PairSums
        Over all rows.
    outputs : sequence of str
        Names of the outputs.
    asked : PairSettings
        How surfaces are read.
    n_rows : int
        Rows of the table.
    """
    mains = main_effects(plan, sums, len(outputs))
    variance = sums.answers.variance
    made = list[PairEffect]()
    chosen = choose_directions(plan, sums, len(outputs), asked)
    for place, (first, second) in enumerate(plan.pairs.tolist()):
        sides, count = (plan.sides[first], plan.sides[second]), int(sums.pairs[place].count.sum())
        for output, name in enumerate(outputs):
            moments, square = chosen[place][output]
            made.append(
                PairEffect(
                    names=(sides[0].feature.name, sides[1].feature.name),
                    output=name,
                    axes=plan.axes(place),
                    moments=moments,
                    main=(mains[first][output].heights, mains[second][output].heights),
                    square=square,
                    variance=float(variance[output]),
                    n_left_out=n_rows - count,
                    reading=asked.reading,
                    smooth=asked.smooth,
                    way=plan.ways[place],
                    notes=describe_pair(plan, place, n_rows - count, n_rows),
                )
            )
    return tuple(made)


def choose_directions(
    plan: PairPlan, sums: PairSums, n_outputs: int, asked: PairSettings
) -> list[list[tuple[PairMoments, Square]]]:
    """Sums and mean squares of every pair and output; of two directions, those of the stronger.

    A step has no slope: where one of the two features makes predictions jump, only slopes along
    the other, as that one crosses its cell, tell.
    """
    rounding = find_rounding(sums)
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


def find_rounding(sums: PairSums) -> FloatArray:
    """How large mixed differences of predictions may be by their rounding alone, (n_outputs,)."""
    is_rounded = sums.answers.is_single and not sums.answers.is_whole
    return np.asarray(sums.answers.size * (PAIR_SINGLE_PRECISION if is_rounded else 0.0))


def zero_rounding_differences(moments: PairMoments, least: float) -> PairMoments:
    """Sums of one output; without any difference where all of them together are no larger than this.

    Notes
    -----
    Of the pair as a whole, since rows of a weak pair that is real may differ by as little. In units
    of 2^-24 of the predictions, differences were 1 (a sum of terms, a layer) to 6 (1,000 stumps)
    by rounding, and 42 for a product of a ten-thousandth of all else.
    """
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


def describe_pair(plan: PairPlan, place: int, n_left_out: int, n_rows: int) -> tuple[Note, ...]:
    """What a reader should know of a pair."""
    sides = [plan.sides[side].feature for side in plan.pairs[place]]
    notes = [Note("constant", STILL)] if plan.ways[place] == "still" else []
    if n_left_out:
        names = " or ".join(repr(feature.name) for feature in sides)
        text = f"{n_left_out:,} of {n_rows:,} rows have no value of {names} there, and are left out"
        notes.append(Note("missing", text))
    return (*notes, *dict.fromkeys(note for feature in sides for note in feature.notes))


def correlate_measured(pairs: Sequence[PairEffect]) -> Correlations:
    """Rank correlations of the features of measured pairs, from all rows."""
    return {frozenset(pair.names): pair.rank_correlation for pair in pairs}


def correlate_sampled(
    pairs: Sequence[PairEffect], features: Sequence[str], sample: FloatArray, weight: FloatArray
) -> Correlations:
    """Rank correlations of each feature of some pairs with all other features, in sampled rows.

    Parameters
    ----------
    pairs : sequence of PairEffect
        Which are not all pairs of the features.
    features : sequence of str
        All features.
    sample, weight : ndarrays of shape (n_rows, n_features) and (n_rows,)
        Their values; how much each row counts.
    """
    ranks = {name: rank_values(column) for name, column in zip(features, sample.T, strict=True)}
    used = dict.fromkeys(name for pair in pairs for name in pair.names if name in ranks)
    both = {frozenset((a, b)) for a in used for b in ranks if a != b}
    found = {}
    for two in both:
        first, second = (ranks[name] for name in sorted(two))
        found[two] = correlate(first, second, weight)
    return found


def mark_alike(
    pairs: Sequence[PairEffect], correlations: Correlations
) -> tuple[tuple[PairEffect, ...], tuple[Note, ...]]:
    """Mark the pairs that one model cannot rank; and say which features go together.

    Parameters
    ----------
    pairs : sequence of PairEffect
        What was measured.
    correlations : dict of frozenset of str to float
        Rank correlations of two features.

    Notes
    -----
    Let b and c be near copies. Data cannot tell a learner whether a acts together with b or with c,
    and what b and c do together is hardly told from a curve of one of them. So all pairs that have
    b or c are marked: at correlation .9, nearly all pairs that stood before the true one were of
    this kind (accuracy.md). Pairs that do not act together in this model at all are not.
    """
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
    text = f"features that go together, by the correlation of their ranks: {', '.join(named)}{more}"
    return made, (Note(CORRELATED_NOTE_KIND, text),)
