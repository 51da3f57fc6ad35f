"""Who differs, in one sentence: what the curves of the regions do over the stretch that all have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np

from rhale.kernels import FloatArray
from rhale.report.sentences import SURE, at, is_sure, levels_of
from rhale.report.wording import clean, in_per_cent, isolated, listed, number, plus_minus, shortened
from rhale.results.region_tree import Region, RegionTree
from rhale.results.result import Difference, Result, is_constant, reach

Way = Literal["rises", "falls", "hardly moves", "unclear"]
WAYS: tuple[Way, ...] = ("rises", "falls", "hardly moves", "unclear")
N_POINTS = 121
MOST_TOLD = 4  # regions; of more, the two that differ most
WHOLE = 0.8  # of the difference between two regions: the ends of the stretch tell the rest
ALIKE = 0.1  # of a curve: what is left of it beside so many times another one
HALF = 0.5  # of the stretch of the largest region: a region with less is not compared
HARDLY = 0.1  # of the largest change among the regions
CHANCE = 0.00135  # that two regions are told apart that are not: three standard errors
BROAD = 0.25  # of a ratio: an interval that is wider tells no number
LONGEST_RULE, SHORT_NAME = 80, 60


class Course(NamedTuple):
    """What the curve of one region does over a stretch; `who` is "where sex = male"."""

    who: str
    change: Difference


@dataclass(frozen=True)
class Comparison:
    """Regions over one stretch.

    Attributes
    ----------
    start, stop : str
        The stretch, in words.
    tells_all : bool
        Whether it stands for all that the regions have in common: it is all of it, or two curves
        are multiples of one another. Otherwise it is where they differ most.
    courses : tuple of Course
        What each region does there.
    apart : tuple of int
        The two that differ most.
    is_sure : bool
        Whether these two differ by more than chance could make.
    """

    start: str
    stop: str
    tells_all: bool
    courses: tuple[Course, ...]
    apart: tuple[int, int]
    is_sure: bool


def tell_regions(effect: Result) -> str:
    """Say who differs, and how, and how far to trust it; nothing where nobody asked.

    Parameters
    ----------
    effect : Effect or LevelEffect
        The effect of all rows, with its regions.
    """
    tree = effect.regions
    if tree is None:
        return ""
    name = isolated(shortened(effect.name, SHORT_NAME))
    if tree.state == "doubtful":
        return doubtful_sentence(tree, name)
    if len(tree) < 2:
        return f"No regions: {clean(tree.why) or 'none was found'}."
    if tree.gradual is not None:
        return gradual_sentence(effect, tree, name)
    return region_sentence(effect, tree, name)


def doubtful_sentence(tree: RegionTree, name: str) -> str:
    """Say that something was seen that the model's own steps could make."""
    names = dict.fromkeys(split.feature for split in tree.doubtful)
    who = listed([isolated(shortened(one, SHORT_NAME)) for one in names], most=3)
    return (
        f"There are hints that the effect of {name} differs {f'by {who}' if who else 'between rows'}, "
        "but no larger than the steps of the model."
    )


def gradual_sentence(effect: Result, tree: RegionTree, name: str) -> str:
    """Say with whom an effect changes, and what it is at both ends."""
    partner = isolated(shortened(tree.gradual, SHORT_NAME))
    start = f"The effect of {name} changes gradually with {partner}"
    start += which_explains(tree)
    ends = (tree.thirds[0], tree.thirds[-1]) if len(tree.thirds) > 1 else ()
    who = (f"in the lowest third of {partner}", "in the highest")
    found = compare_regions(effect, ends, who)
    if found is None or not found.is_sure:
        return f"{start}."
    return f"{start}: {over(found)} {in_order(found)}."


def region_sentence(effect: Result, tree: RegionTree, name: str) -> str:
    """Compare the regions, and say how much of the spread they explain."""
    who = [where(region) for region in tree]
    found = compare_regions(effect, tree.regions, who)
    groups = "groups" if tree.state == "given" else "regions"
    if found is None:
        return f"The {groups} have no stretch of {name} in common to compare.{they_explain(tree)}"
    share = f"; this explains {explained(tree)} of the spread." if explained(tree) else "."
    if not found.is_sure and tree.state == "given":
        return not_told_apart(found, name) + they_explain(tree)
    if not found.is_sure:
        return f"The effect of {name} differs between {len(tree)} regions in its shape{share}"
    if (ratio := ratio_words(found)) is not None:
        return f"{capital(ratio_sentence(found, name, ratio))}{share}"
    if len(found.courses) > MOST_TOLD:
        found = replace(found, courses=tuple(found.courses[i] for i in found.apart), apart=(0, 1))
        start = f"Of {len(tree)} {groups} two differ most: "
        return f"{start}{over(found)} {in_groups(found)}{share}"
    if not found.tells_all:
        start = f"The effect of {name} differs most {stretch(found)}: there "
        return f"{start}the prediction {in_groups(found)}{share}"
    return f"{capital(over(found))} {in_groups(found)}{share}"


def not_told_apart(found: Comparison, name: str) -> str:
    """Say of given groups that no two differ by more than chance could make."""
    return (
        f"The groups differ in the effect of {name} by no more than chance could make, "
        f"{stretch(found)}."
    )


def ratio_sentence(found: Comparison, name: str, ratio: str) -> str:
    """Compare two regions whose curves go the same way: the stronger one comes first."""
    strong, weak = sorted(found.courses, key=lambda course: -abs(course.change.size))
    sizes = [amount(course.change) for course in (strong, weak)]
    way = way_of(strong.change, abs(strong.change.size))
    weak_who = weak.who if len(weak.who) <= SHORT_NAME else "elsewhere"
    return (
        f"{strong.who} the effect of {name} is {ratio} that {weak_who} "
        f"({over(found)} {way} by {sizes[0]} and by {sizes[1]})"
    )


def ratio_words(found: Comparison) -> str | None:
    """How many times as strong one of two regions is; None where that cannot be told.

    Notes
    -----
    Rows of two regions are different rows, so the errors are independent, and relative errors of
    a ratio add up as squares.
    """
    if len(found.courses) != 2 or not found.tells_all:
        return None
    changes = sorted((c.change for c in found.courses), key=lambda change: -abs(change.size))
    strong, weak = changes
    largest = abs(strong.size)
    ways = {way_of(change, largest) for change in changes}
    if ways not in ({"rises"}, {"falls"}):
        return None
    ratio = largest / abs(weak.size)
    if SURE * math.hypot(strong.error / strong.size, weak.error / weak.size) > BROAD:
        return None
    return "about twice" if 1.9 <= ratio < 2.1 else f"about {number(ratio, 2)} times"


def in_groups(found: Comparison) -> str:
    """List what regions do, those that go one way together: "rises by 3 where a, by 1 where b"."""
    largest = max(abs(course.change.size) for course in found.courses)
    order = sorted(found.courses, key=lambda course: -abs(course.change.size))
    said: list[str] = []
    for way in WAYS[:3]:
        mine = [course for course in order if way_of(course.change, largest) == way]
        if not mine:
            continue
        if way == "hardly moves":
            said.append(f"{way} {', '.join(course.who for course in mine)}")
        else:
            sizes = [f"by {amount(course.change)} {course.who}" for course in mine]
            said.append(f"{way} {joined(sizes) if len(mine) == len(order) else ', '.join(sizes)}")
    unclear = [course.who for course in order if way_of(course.change, largest) == "unclear"]
    more = f"; {', '.join(unclear)} these rows do not tell which way it goes" if unclear else ""
    return joined(said) + more


def in_order(found: Comparison) -> str:
    """Say what two ends do, the first one first: "rises by 1 in the lowest third, and by 3 ..."."""
    largest = max(abs(course.change.size) for course in found.courses)
    said, last = [], ""
    for who, change in found.courses:
        way = way_of(change, largest)
        verb = "" if way == last else f"{way} "
        if way == "unclear":
            said.append(f"moves in no clear way {who}")
        else:
            said.append(
                f"{way} {who}" if way == "hardly moves" else f"{verb}by {amount(change)} {who}"
            )
        last = way
    return joined(said)


def joined(said: Sequence[str]) -> str:
    """Join parts of a sentence.

    Examples
    --------
    >>> joined(["a"]), joined(["a", "b", "c"])
    ('a', 'a, b, and c')
    """
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])}, and {said[-1]}"


def way_of(change: Difference, largest: float) -> Way:
    """Tell which way a curve goes, as far as its rows tell."""
    if abs(change.size) + SURE * known_error(change) <= HARDLY * largest:
        return "hardly moves"
    if not is_sure(change._replace(error=known_error(change))):
        return "unclear"
    return "rises" if change.size > 0 else "falls"


def known_error(change: Difference) -> float:
    """Standard error of a change; endless where too few rows tell none."""
    return change.error if math.isfinite(change.error) else math.inf


def amount(change: Difference) -> str:
    """Size of a change, and its error."""
    return plus_minus(abs(change.size), change.error)


def compare_regions(
    effect: Result, regions: Sequence[Region], who: Sequence[str]
) -> Comparison | None:
    """Follow the curves of regions over the stretch on which they differ most.

    Parameters
    ----------
    effect : Effect or LevelEffect
        The effect of all rows, which knows how places are written.
    regions : sequence of Region
        At least two.
    who : sequence of str
        What to call each.

    Returns
    -------
    Comparison or None
        None where fewer than two regions have a stretch, or two levels, in common.
    """
    kept, places = shared_places(regions)
    if len(kept) < 2:
        return None
    effects = [regions[i].effect for i in kept]
    heights = np.array([e.height(x) for e, x in zip(effects, places, strict=True)])
    apart, first, last = farthest_apart(heights, has_order=effect.column_kind != "categories")
    changes = [e.difference(x[first], x[last]) for e, x in zip(effects, places, strict=True)]
    one, other = (changes[i] for i in apart)
    limit = NormalDist().inv_cdf(1 - CHANCE / math.comb(len(kept), 2))
    error = math.hypot(known_error(one), known_error(other))
    return Comparison(
        start=written_at(effects[0], places[0][first]),
        stop=written_at(effects[0], places[0][last]),
        tells_all=last - first == len(places[0]) - 1
        or effect.column_kind == "categories"
        or are_multiples(heights),
        courses=tuple(Course(who[i], change) for i, change in zip(kept, changes, strict=True)),
        apart=apart,
        is_sure=abs(one.size - other.size) > limit * error,
    )


def farthest_apart(heights: FloatArray, *, has_order: bool) -> tuple[tuple[int, int], int, int]:
    """Find the two curves, and the two places, between which their difference changes most.

    Parameters
    ----------
    heights : ndarray of shape (n_curves, n_places)
        Curves, each up to a constant.
    has_order : bool
        Whether places have an order: the ends are taken where they tell most of it.

    Examples
    --------
    >>> farthest_apart(np.array([[0.0, 1, 2, 3], [0, 0, 0, 0], [0, 1, 5, 6]]), has_order=True)
    ((1, 2), 0, 3)
    """
    pairs = list(combinations(range(len(heights)), 2))
    gaps = [heights[i] - heights[j] for i, j in pairs]
    best = int(np.argmax([np.ptp(gap) for gap in gaps]))
    gap = gaps[best]
    if has_order and abs(gap[-1] - gap[0]) >= WHOLE * np.ptp(gap):
        return pairs[best], 0, gap.size - 1
    low, high = int(np.argmin(gap)), int(np.argmax(gap))
    first, last = (
        sorted((low, high)) if has_order else rising(heights[list(pairs[best])], low, high)
    )
    return pairs[best], first, last


def are_multiples(heights: FloatArray) -> bool:
    """Tell whether of two curves, each up to a constant, one is so many times the other.

    Examples
    --------
    >>> are_multiples(np.array([[0.0, 1, 4], [1, 3, 9]])), are_multiples(np.array([[0, 1.0], [1, 1]]))
    (True, False)
    """
    if len(heights) != 2:
        return False
    strong, weak = sorted(heights - heights.mean(axis=1, keepdims=True), key=lambda h: -np.ptp(h))
    squares = float(weak @ weak)
    if not squares > 0:
        return False
    return bool(np.ptp(strong - weak * (weak @ strong) / squares) <= ALIKE * np.ptp(strong))


def rising(heights: FloatArray, low: int, high: int) -> tuple[int, int]:
    """Order two levels so that the curve that changes more goes up."""
    change = heights[:, high] - heights[:, low]
    return (low, high) if change[np.argmax(np.abs(change))] >= 0 else (high, low)


def shared_places(regions: Sequence[Region]) -> tuple[list[int], list[FloatArray]]:
    """Find places that regions have in common, and the regions that have them.

    Returns
    -------
    kept : list of int
        Regions that can be compared. One that would leave less than half of the stretch of the
        largest region is left out, and so is one where the feature has a single value.
    places : list of ndarray of shape (n_places,)
        The places of each, on its own axis.
    """
    able = [i for i, region in enumerate(regions) if not is_constant(region.effect)]
    able.sort(key=lambda i: -regions[i].share_of_rows)
    if not able:
        return [], []
    if regions[able[0]].effect.labels:
        return shared_levels(regions, able)
    low, high = rows_reach(regions[able[0]].effect)
    least, kept = HALF * (high - low), able[:1]
    for i in able[1:]:
        start, stop = rows_reach(regions[i].effect)
        if min(high, stop) - max(low, start) >= least:
            low, high = max(low, start), min(high, stop)
            kept.append(i)
    return sorted(kept), [np.linspace(low, high, N_POINTS)] * len(kept)


def shared_levels(
    regions: Sequence[Region], able: Sequence[int]
) -> tuple[list[int], list[FloatArray]]:
    """The same for levels, which regions may have in different orders."""
    labels, kept = levels_with_rows(regions[able[0]].effect), list(able[:1])
    least = max(2.0, HALF * len(labels))
    for i in able[1:]:
        mine = set(levels_with_rows(regions[i].effect))
        both = [label for label in labels if label in mine]
        if len(both) >= least:
            labels = both
            kept.append(i)
    kept = sorted(kept)
    places = [
        np.array([regions[i].effect.axis[regions[i].effect.labels.index(n)] for n in labels])
        for i in kept
    ]
    return kept, places


def levels_with_rows(effect: Result) -> list[str]:
    """Levels that some row has."""
    rows = effect.level_rows().rows
    return [label for label, n in zip(effect.labels, rows, strict=True) if n > 0]


def rows_reach(effect: Result) -> tuple[float, float]:
    """First and last place that has rows: limits may lie beyond them."""
    low, high = reach(effect)
    for start, stop in sorted(effect.support().gaps.tolist()):
        low = stop if start == low else low
    for start, stop in sorted(effect.support().gaps.tolist(), reverse=True):
        high = start if stop == high else high
    return low, high


def written_at(effect: Result, place: float) -> str:
    """Write a place, or a level."""
    if effect.labels:
        return isolated(levels_of(effect)[int(np.searchsorted(effect.axis, place))])
    return at(effect, place)


def stretch(found: Comparison) -> str:
    """Write the stretch.

    Examples
    --------
    >>> stretch(Comparison("0", "1", True, (), (0, 1), True))
    'from 0 to 1'
    """
    return f"from {found.start} to {found.stop}"


def over(found: Comparison) -> str:
    """Begin a sentence about the stretch."""
    return f"{stretch(found)} the prediction"


def where(region: Region) -> str:
    """Say who is in a region."""
    return f"where {isolated(shortened(region.rule, LONGEST_RULE))}"


def explained(tree: RegionTree) -> str:
    """Share of the spread that the regions explain; nothing where that is not known."""
    return in_per_cent(tree.share, tree.standard_error) if math.isfinite(tree.share) else ""


def which_explains(tree: RegionTree) -> str:
    """Say how much a gradual change explains."""
    return f", which explains {explained(tree)} of the spread" if explained(tree) else ""


def they_explain(tree: RegionTree) -> str:
    """The same as a sentence of its own."""
    return f" They explain {explained(tree)} of the spread." if explained(tree) else ""


def capital(sentence: str) -> str:
    """Begin with a capital letter."""
    return sentence[:1].upper() + sentence[1:]
