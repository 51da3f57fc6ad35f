"""What two features do together, in one plain sentence, and only as far as errors allow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from rhale.kernels import BoolArray, IntArray
from rhale.report.pair_numbers import MAX_NAME_LETTERS_IN_TEXT, write_pair_value
from rhale.report.region_courses import SEARCHED_INTERVAL_ERROR_RATE, farthest_apart
from rhale.report.sentences import Z_SCORE_95
from rhale.report.wording import (
    clean,
    format_report_number,
    isolated,
    named_output,
    plus_minus,
    unbroken,
)
from rhale.results.pair_effect import PairEffect
from rhale.results.pair_sections import (
    PairSection,
    PairSurface,
    change_apart,
    choose_section_cells,
    cut_sections,
    with_errors,
)

# that a claim about a stretch that nobody searched for is wrong, as three standard errors
FIXED_INTERVAL_ERROR_RATE = 1.35e-3
PAIR_SIGNIFICANCE = 0.05  # of p
UNSURE = "Partial dependence comes without errors: how sure the lines are is not known."
UNSURE_PAIR = "The two work together, but how is not sure"
NEGLIGIBLE_PAIR_CHANGE = 0.1  # of the difference between two curves: a smaller change is hardly one
PAIR_ROUNDING = 1e-9  # of the deviation of the predictions
MIN_SHARED_NODES = 0.5  # of the nodes: curves that have less in common are not all compared


class Contrast(NamedTuple):
    """Two curves over the stretch on which they differ most.

    Attributes
    ----------
    start, stop : float
        The stretch.
    values : pair of float
        Of the other feature.
    changes : pair of float
        What the prediction does there.
    apart, error : float
        The second change less the first, and its standard error.
    is_gradual : bool
        Whether what lies between the two values does something between.
    """

    start: float
    stop: float
    values: tuple[float, float]
    changes: tuple[float, float]
    apart: float
    error: float
    is_gradual: bool


def tell_surface(pair: PairSurface, n_pairs: int) -> str:
    """Say what a pair does, if errors tell how sure that is; arguments as in `tell_pair`."""
    known = with_errors(pair)
    return UNSURE if known is None else tell_pair(known, n_pairs)


def tell_pair(pair: PairEffect, n_pairs: int) -> str:
    """Say what the second feature does to the effect of the first.

    Parameters
    ----------
    pair : PairEffect
        The pair.
    n_pairs : int
        How many pairs it was chosen among: the more, the surer a claim has to be.
    """
    spoken = [pair.captions.feature(name) for name in pair.names]
    names = [isolated(clean(name, MAX_NAME_LETTERS_IN_TEXT)) for name in spoken]
    if pair.strength <= PAIR_ROUNDING * math.sqrt(pair.variance):
        return f"On average {names[0]} and {names[1]} do nothing together that each does not alone."
    middle, widest = contrast_middle(pair), contrast(pair)
    for found, chance in (
        (middle, FIXED_INTERVAL_ERROR_RATE),
        (widest, SEARCHED_INTERVAL_ERROR_RATE),
    ):
        limit = -NormalDist().inv_cdf(chance / max(n_pairs, 1))
        if found is not None and abs(found.apart) > limit * found.error:
            return unbroken(f"{headline(pair, found, names)}: {tell_changes(pair, found, names)}.")
    if widest is None:
        return "No stretch has rows at two values of the other feature: no lines can be compared."
    size = plus_minus(abs(widest.apart), widest.error)
    if pair.p_value * n_pairs < PAIR_SIGNIFICANCE:
        return unbroken(
            f"{UNSURE_PAIR}: no two lines are surely apart over a stretch (at most {size})."
        )
    return unbroken(f"Chance could make what sets the lines apart: at most {size}.")


def headline(pair: PairEffect, found: Contrast, names: Sequence[str]) -> str:
    """Say in few words how one effect goes with the other feature."""
    small, (low, high) = least_change(found), found.changes
    verb = "differs with"
    if not pair.axes[1].is_levels and found.is_gradual:
        if abs(low) > small and abs(high) > small and low * high < 0:
            verb = "turns with"
        else:
            verb = "grows with" if abs(high) > abs(low) else "shrinks with"
    return f"The effect of {names[0]} {verb} {names[1]}"


def tell_changes(pair: PairEffect, found: Contrast, names: Sequence[str]) -> str:
    """Say what the prediction does at both values, and how far that is apart."""
    small, about = least_change(found), "" if pair.axes[1].is_levels else "about "
    first, second = (change_in_words(change, small) for change in found.changes)
    verb, _, rest = second.partition(" ")
    second = rest if rest.startswith("by") and first.startswith(f"{verb} by") else second
    start, stop = (write_pair_value(pair.axes[0], end) for end in (found.start, found.stop))
    where = [f"{about}{write_pair_value(pair.axes[1], value)}" for value in found.values]
    size = plus_minus(abs(found.apart), found.error)
    output = named_output(pair.captions, pair.output)
    return (
        f"from {start} to {stop} {output} {first} where {names[1]} is {where[0]}, "
        f"and {second} where it is {where[1]} ({size} apart)"
    )


def least_change(found: Contrast) -> float:
    """What a change needs to be one; the error of two curves' difference stands for its own."""
    return max(NEGLIGIBLE_PAIR_CHANGE * abs(found.apart), Z_SCORE_95 * found.error)


def change_in_words(change: float, small: float) -> str:
    """Say what a prediction does.

    Examples
    --------
    >>> change_in_words(1.25, 0.1), change_in_words(-3.0, 0.1), change_in_words(0.01, 0.1)
    ('rises by 1.25', 'falls by 3', 'hardly moves')
    """
    if abs(change) <= small:
        return "hardly moves"
    return f"{'rises' if change > 0 else 'falls'} by {format_report_number(abs(change))}"


def contrast_middle(pair: PairEffect) -> Contrast | None:
    """Compare the curves at low and high values between low and high places: nothing is searched for.

    Notes
    -----
    Most of the rows lie between them. Beyond, cells are wide and hold few rows, whose disagreement
    adds up: of trees, what is sure is mostly seen here. None for levels, or without rows there.
    """
    sections = cut_sections(pair)
    if any(axis.is_levels for axis in pair.axes) or len(sections) < 2:
        return None
    stands = choose_section_cells(pair.axes[0], pair.weight.sum(axis=1))
    ends = [int(stands[0]), int(stands[-1])]
    if ends[0] == ends[1] or not all(s.has_rows[ends].all() for s in (sections[0], sections[-1])):
        return None
    return compare_sections(pair, sections, (0, len(sections) - 1), (ends[0], ends[1] + 1))


def contrast(pair: PairEffect) -> Contrast | None:
    """Find the two curves, and the stretch, that differ most; None where none can be compared."""
    found = find_shared_nodes(cut_sections(pair), is_levels=pair.axes[0].is_levels)
    if found is None:
        return None
    sections, nodes = found
    heights = np.array([section.height[nodes] for section in sections])
    which, first, last = farthest_apart(heights, has_order=not pair.axes[0].is_levels)
    return compare_sections(pair, sections, which, (int(nodes[first]), int(nodes[last])))


def compare_sections(
    pair: PairEffect,
    sections: Sequence[PairSection],
    which: tuple[int, int],
    nodes: tuple[int, int],
) -> Contrast:
    """What two curves do from one node to another, and whether those between do something between."""
    changes = np.array([s.height[nodes[1]] - s.height[nodes[0]] for s in sections])
    start, stop = pair.axes[0].nodes[list(nodes)].tolist()
    values = sections[which[0]].value, sections[which[1]].value
    apart, error = change_apart(pair, (start, stop), values)
    low, high = np.sort(changes[list(which)])
    middle = changes[which[0] + 1 : which[1]]
    middle = middle[np.isfinite(middle)]
    between = bool(np.all((middle >= low - error) & (middle <= high + error)))
    is_gradual = which == (0, len(sections) - 1) and between
    both = float(changes[which[0]]), float(changes[which[1]])
    return Contrast(start, stop, values, both, apart, error, is_gradual)


def find_shared_nodes(
    sections: Sequence[PairSection], *, is_levels: bool
) -> tuple[list[PairSection], IntArray] | None:
    """The curves that have a stretch in common, and its nodes: all of them, or the best two."""
    least = 2 if is_levels else 3
    groups = [list(sections)] if len(sections) > 1 else []
    nodes = shared_nodes(groups[0], is_levels=is_levels) if groups else np.arange(0)
    if groups and nodes.size >= max(least, MIN_SHARED_NODES * sections[0].height.size):
        return groups[0], nodes
    pairs = [list(two) for two in combinations(sections, 2)]
    if not pairs:
        return None
    common = [shared_nodes(two, is_levels=is_levels) for two in pairs]
    best = int(np.argmax([nodes.size for nodes in common]))
    return (pairs[best], common[best]) if common[best].size >= least else None


def shared_nodes(sections: Sequence[PairSection], *, is_levels: bool) -> IntArray:
    """Levels that all curves have, or the nodes of the longest stretch of cells."""
    has: BoolArray = np.all([section.has_rows for section in sections], axis=0)
    if is_levels:
        return np.flatnonzero(has)
    ends = np.flatnonzero(np.diff(np.concatenate([[False], has, [False]]).astype(int)))
    starts, stops = ends[::2], ends[1::2]
    if not starts.size:
        return np.arange(0)
    longest = int(np.argmax(stops - starts))
    return np.arange(starts[longest], stops[longest] + 1)
