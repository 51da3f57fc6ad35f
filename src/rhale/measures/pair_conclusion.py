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
from rhale.measures.pair_plan import PairPlan
from rhale.measures.pair_task import PairSums
from rhale.results.note import Note
from rhale.results.pair_effect import PairEffect

SINGLE = 2.0**-20  # of predictions: what differences of answers in single precision lose, at most
STILL = "one of the two has one value only: nothing can change with it"


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
        (place, output, drop_rounding(moments.of_output(output), least))
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
    return np.asarray(sums.answers.size * (SINGLE if is_rounded else 0.0))


def drop_rounding(moments: PairMoments, least: float) -> PairMoments:
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
