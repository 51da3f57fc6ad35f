"""Regions on the page: sentences, trends, tables and numbers of charts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np

from rhale.effects.alignment import align
from rhale.effects.listing import read_explained_share
from rhale.effects.result import Difference, Result, Trace, is_constant, reach
from rhale.effects.support import find_shown_part
from rhale.output.number_format import write_share
from rhale.regions.result import Region, RegionTree
from rhale.report.numbers import (
    Numbers,
    form_of,
    is_inside,
    order_chart_levels,
    places,
    round_for_chart,
    simplify,
    steps_differ,
    trace_along,
)
from rhale.report.sentences import (
    MAX_STEEP_SHARE,
    at,
    capital,
    clean,
    format_report_number,
    is_sure,
    isolated,
    levels_of,
    listed,
    output_of,
    plus_minus,
    shorten_middle,
    unbroken,
)
from rhale.stats.arrays import FloatArray
from rhale.stats.distributions import Z_SCORE_95

# --- What the curves of regions do over the stretch that all have: numbers behind a sentence


N_REGION_POINTS = 121
MIN_CHANGE_SHARE = (
    0.8  # of the difference between two regions: the ends of the stretch tell the rest
)
REST = 0.05  # of that difference, at either end
MULTIPLE_TOLERANCE = 0.1  # of a curve: what is left of it beside so many times another one
MIN_SHARED_REGION_SHARE = (
    0.5  # of the rows, or levels, of the largest region: one that leaves less is not compared
)
MIN_ROWS_PER_COMPARED_REGION = 30  # rows: the error of a mean of fewer is hardly known
# that two regions are told apart that are not, as 4.5 standard errors: the stretch is searched for
SEARCHED_INTERVAL_ERROR_RATE = 3.4e-6


class RegionTrend(NamedTuple):
    """What the curve of one region does over a stretch; `who` is "where sex = male"."""

    who: str
    change: Difference


@dataclass(frozen=True)
class RegionComparison:
    """Regions over one stretch."""

    start: str  # start, stop: the stretch, in words
    stop: str
    # whether it stands for all that the regions have in common: it is all of it, or two
    # curves are multiples of one another. Otherwise it is where they differ most.
    tells_all: bool
    trends: tuple[RegionTrend, ...]  # what each region does there
    apart: tuple[int, int]  # the two that differ most
    is_sure: bool  # whether these two differ by more than chance could make
    n_left: int = 0  # how many regions are not compared: too few rows, or on another stretch.
    output: str = "the prediction"  # what is moved, in words


def compare_regions(
    effect: Result, regions: Sequence[Region], who: Sequence[str]
) -> RegionComparison | None:
    """Follow the curves of regions over the stretch on which they differ most.

    `effect` is that of all rows, which knows how places are written. None is returned where fewer
    than two regions have a stretch, or two levels, in common.
    """
    kept, places = shared_places(regions)
    if len(kept) < 2:
        return None
    effects = [regions[i].effect for i in kept]
    heights = np.array([e.height(x) for e, x in zip(effects, places, strict=True)])
    apart, first, last = farthest_apart(heights, has_order=effect.column_kind != "categories")
    changes = [e.difference(x[first], x[last]) for e, x in zip(effects, places, strict=True)]
    one, other = (changes[i] for i in apart)
    limit = NormalDist().inv_cdf(1 - SEARCHED_INTERVAL_ERROR_RATE / math.comb(len(kept), 2))
    error = math.hypot(known_error(one), known_error(other))
    return RegionComparison(
        start=written_at(effects[0], places[0][first]),
        stop=written_at(effects[0], places[0][last]),
        tells_all=last - first == len(places[0]) - 1
        or effect.column_kind == "categories"
        or are_multiples(heights),
        trends=tuple(RegionTrend(who[i], change) for i, change in zip(kept, changes, strict=True)),
        apart=apart,
        is_sure=abs(one.size - other.size) > limit * error,
        n_left=len(regions) - len(kept),
        output=output_of(effect),
    )


def farthest_apart(heights: FloatArray, *, has_order: bool) -> tuple[tuple[int, int], int, int]:
    """Find the two curves, and the two places, between which their difference changes most.

    `heights` has shape (n_curves, n_places). If places have an order, the two ends are taken where
    most of the change lies between them.
    """
    pairs = list(combinations(range(len(heights)), 2))
    gaps = [heights[i] - heights[j] for i, j in pairs]
    best = int(np.argmax([np.ptp(gap) for gap in gaps]))
    gap = gaps[best]
    if has_order and abs(gap[-1] - gap[0]) >= MIN_CHANGE_SHARE * np.ptp(gap) > 0:
        # The stretch on which nearly all of the change happens; the ends, if that is most of it.
        share = (gap - gap[0]) / (gap[-1] - gap[0])
        start = int(np.flatnonzero(share <= REST)[-1])
        stop = start + int(np.flatnonzero(share[start:] >= 1 - REST)[0])
        is_narrow = stop - start < MAX_STEEP_SHARE * (gap.size - 1)
        return (pairs[best], start, stop) if is_narrow else (pairs[best], 0, gap.size - 1)
    low, high = int(np.argmin(gap)), int(np.argmax(gap))
    first, last = (
        sorted((low, high)) if has_order else rising(heights[list(pairs[best])], low, high)
    )
    return pairs[best], first, last


def are_multiples(heights: FloatArray) -> bool:
    """Tell whether of two curves, each up to a constant, one is so many times the other."""
    if len(heights) != 2:
        return False
    strong, weak = sorted(heights - heights.mean(axis=1, keepdims=True), key=lambda h: -np.ptp(h))
    squares = float(weak @ weak)
    if not squares > 0:
        return False
    return bool(
        np.ptp(strong - weak * (weak @ strong) / squares) <= MULTIPLE_TOLERANCE * np.ptp(strong)
    )


def rising(heights: FloatArray, low: int, high: int) -> tuple[int, int]:
    """Order two levels so that the curve that changes more goes up."""
    change = heights[:, high] - heights[:, low]
    return (low, high) if change[np.argmax(np.abs(change))] >= 0 else (high, low)


def shared_places(regions: Sequence[Region]) -> tuple[list[int], list[FloatArray]]:
    """Find places that regions have in common, and the regions that have them.

    A region that would leave less than half of the rows of the largest one is left out, and so is one
    of few rows, or with a single value. Places are those on the axis of each region, (n_places,).
    """
    able = [
        i
        for i, r in enumerate(regions)
        if r.count >= MIN_ROWS_PER_COMPARED_REGION and not is_constant(r.effect)
    ]
    able.sort(key=lambda i: -regions[i].share_of_rows)
    if not able:
        return [], []
    if regions[able[0]].effect.labels:
        return shared_levels(regions, able)
    largest, kept = regions[able[0]].effect, able[:1]
    low, high = rows_reach(largest)
    for i in able[1:]:
        start, stop = rows_reach(regions[i].effect)
        both = max(low, start), min(high, stop)
        if share_between(largest, *both) >= MIN_SHARED_REGION_SHARE:
            low, high = both
            kept.append(i)
    return sorted(kept), [np.linspace(low, high, N_REGION_POINTS)] * len(kept)


def share_between(effect: Result, low: float, high: float) -> float:
    """Share of the rows that lie on a stretch; of those sampled, or by the bins."""
    values, limits, density, _ = effect.support()
    if values.size:
        return float(np.mean((values >= low) & (values <= high)))
    inside = np.clip(np.minimum(limits[1:], high) - np.maximum(limits[:-1], low), 0.0, None)
    total = float(density @ np.diff(limits))
    return float(density @ inside) / total if total > 0 else 0.0


def shared_levels(
    regions: Sequence[Region], able: Sequence[int]
) -> tuple[list[int], list[FloatArray]]:
    """The same for levels, which regions may have in different orders."""
    labels, kept = levels_with_rows(regions[able[0]].effect), list(able[:1])
    least = max(2.0, MIN_SHARED_REGION_SHARE * len(labels))
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


def known_error(change: Difference) -> float:
    """Standard error of a change; endless where too few rows tell none."""
    return change.error if math.isfinite(change.error) else math.inf


Way = Literal["rises", "falls", "hardly moves", "unclear"]
DIRECTIONS: tuple[Way, ...] = ("rises", "falls", "hardly moves", "unclear")
MOST_TOLD = 4  # regions; of more, the two that differ most
NEGLIGIBLE_REGION_CHANGE = 0.1  # of the largest change among the regions
BROAD = 0.25  # of a ratio: an interval that is wider tells no number
UNMEASURED = "no measurable part"
MAX_RULE_LETTERS_IN_TEXT, MAX_NAME_LETTERS_IN_TEXT = 80, 60


def tell_regions(effect: Result) -> str:
    """Say which rows differ, how, and how sure that is; nothing where regions were not requested."""
    tree = effect.regions
    if tree is None:
        return ""
    name = isolated(shorten_middle(effect.captions.feature(effect.name), MAX_NAME_LETTERS_IN_TEXT))
    if tree.state == "doubtful":
        # Say that something was seen that the model's own steps could make.
        names = dict.fromkeys(split.feature for split in tree.doubtful)
        who = listed(
            [isolated(shorten_middle(one, MAX_NAME_LETTERS_IN_TEXT)) for one in names], most=3
        )
        return (
            f"The effect of {name} may differ {f'by {who}' if who else 'between rows'}, but the steps of this "
            "model can give as much by chance: treat it as a hint."
        )
    if len(tree) < 2:
        why = clean(tree.why).removeprefix("No groups found: ")
        return f"No groups found: {why}." if why else "No groups were found."
    if tree.gradual is not None:
        return gradual_sentence(effect, tree, name)
    # Compare the regions, and say how much of the spread they explain.
    groups = "groups" if tree.state == "given" else "regions"
    found = compare_regions(effect, tree.regions, [where(region) for region in tree])
    if found is None:
        return f"The {groups} cannot be compared: they have no range of {name} in common.{they_explain(tree)}"
    if found.is_sure:
        sentence = capital(difference_sentence(found, groups, name)) + this_explains(tree)
    elif tree.state == "given" or explained(tree) == UNMEASURED:
        sentence = f"The effect of {name} does not differ significantly between the {groups}."
        sentence += they_explain(tree) if explained(tree) != UNMEASURED else ""
    else:
        sentence = f"The effect of {name} differs between {len(tree)} {groups} in its shape"
        sentence += this_explains(tree)
    return sentence + left_out(found, groups)


def gradual_sentence(effect: Result, tree: RegionTree, name: str) -> str:
    """Say which feature an effect changes with, and what it is at both ends."""
    partner = isolated(shorten_middle(tree.gradual, MAX_NAME_LETTERS_IN_TEXT))
    others = [
        isolated(shorten_middle(n, MAX_NAME_LETTERS_IN_TEXT))
        for n in tree.splitters
        if n != tree.gradual
    ]
    start = f"The effect of {name} changes gradually with {partner}"
    start += f", and differs by {listed(others)}" if others else ""
    start += f", which explains {explained(tree)} {of_the_spread(tree)}" if explained(tree) else ""
    ends = (tree.thirds[0], tree.thirds[-1]) if len(tree.thirds) > 1 else ()
    who = [where(region) for region in ends]
    if len(tree.thirds) == 3:  # values that many rows share leave fewer
        who = [f"in the lowest third of {partner}", "in the highest"]
    found = compare_regions(effect, ends, who)
    if found is None or not found.is_sure:
        return f"{start}."
    return f"{start}: {over(found)} {in_order(found)}."


def difference_sentence(found: RegionComparison, groups: str, name: str) -> str:
    """Say how regions differ that do."""
    if (ratio := ratio_words(found)) is not None:
        # Compare two regions whose curves go the same way: the stronger one comes first.
        strong, weak = sorted(found.trends, key=lambda trend: -abs(trend.change.size))
        sizes = [amount(trend.change) for trend in (strong, weak)]
        way = way_of(strong.change, abs(strong.change.size))
        is_long = len(weak.who) > MAX_NAME_LETTERS_IN_TEXT and not found.n_left
        weak_who = "elsewhere" if is_long else weak.who
        return (
            f"{strong.who} the effect of {name} is {ratio} that {weak_who} "
            f"({over(found)} {way} by {sizes[0]} and by {sizes[1]})"
        )
    if len(found.trends) > MOST_TOLD:
        start = f"of {len(found.trends)} {groups} two differ most: "
        two = tuple(found.trends[i] for i in found.apart)
        return f"{start}{over(found)} {in_groups(two)}"
    start = (
        f"the effect of {name} differs most {write_region_interval(found)}: there {found.output}"
    )
    return f"{over(found) if found.tells_all else start} {in_groups(found.trends)}"


def left_out(found: RegionComparison, groups: str) -> str:
    """Say how many regions are not compared."""
    if not found.n_left:
        return ""
    words = f"{groups} are" if found.n_left > 1 else f"{groups[:-1]} is"
    return f" {found.n_left} {words} not compared, for too few rows or no range in common."


def ratio_words(found: RegionComparison) -> str | None:
    """How many times as strong one of two regions is; None where that cannot be told."""
    # Rows of two regions are different rows, so the errors are independent, and relative
    # errors of a ratio add up as squares.
    if len(found.trends) != 2 or not found.tells_all:
        return None
    changes = sorted((c.change for c in found.trends), key=lambda change: -abs(change.size))
    strong, weak = changes
    largest = abs(strong.size)
    ways = {way_of(change, largest) for change in changes}
    if ways not in ({"rises"}, {"falls"}):
        return None
    ratio = largest / abs(weak.size)
    if Z_SCORE_95 * math.hypot(strong.error / strong.size, weak.error / weak.size) > BROAD:
        return None
    return "about twice" if 1.9 <= ratio < 2.1 else f"about {format_report_number(ratio, 2)} times"


def in_groups(trends: Sequence[RegionTrend]) -> str:
    """List what regions do, those that go one way together: "rises by 3 where a, by 1 where b"."""
    largest = max(abs(trend.change.size) for trend in trends)
    order = sorted(trends, key=lambda trend: -abs(trend.change.size))
    said: list[str] = []
    for way in DIRECTIONS[:3]:
        mine = [trend for trend in order if way_of(trend.change, largest) == way]
        if not mine:
            continue
        if way == "hardly moves":
            said.append(f"{way} {' or '.join(course.who for course in mine)}")
        else:
            sizes = [f"by {size} {' or '.join(who)}" for size, who in by_size(mine).items()]
            said.append(
                f"{way} {join_clauses(sizes) if len(mine) == len(order) else ', '.join(sizes)}"
            )
    unclear = [trend.who for trend in order if way_of(trend.change, largest) == "unclear"]
    more = f"; the direction is unclear {' or '.join(unclear)}" if unclear else ""
    return join_clauses(said) + more


def by_size(trends: Sequence[RegionTrend]) -> dict[str, list[str]]:
    """Who changes by how much; those that change alike together."""
    found: dict[str, list[str]] = {}
    for trend in trends:
        found.setdefault(amount(trend.change), []).append(trend.who)
    return found


def in_order(found: RegionComparison) -> str:
    """Say what two ends do, the first one first: "rises by 1 in the lowest third, and by 3 ..."."""
    largest = max(abs(trend.change.size) for trend in found.trends)
    said, last = [], ""
    for who, change in found.trends:
        way = way_of(change, largest)
        verb = "" if way == last else f"{way} "
        if way == "unclear":
            said.append(f"has no clear direction {who}")
        else:
            said.append(
                f"{way} {who}" if way == "hardly moves" else f"{verb}by {amount(change)} {who}"
            )
        last = way
    return join_clauses(said)


def join_clauses(said: Sequence[str]) -> str:
    """Join parts of a sentence."""
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])}, and {said[-1]}"


def way_of(change: Difference, largest: float) -> Way:
    """Tell which way a curve goes, as far as its rows tell."""
    if abs(change.size) + Z_SCORE_95 * known_error(change) <= NEGLIGIBLE_REGION_CHANGE * largest:
        return "hardly moves"
    if not is_sure(change._replace(error=known_error(change))):
        return "unclear"
    return "rises" if change.size > 0 else "falls"


def amount(change: Difference) -> str:
    """Size of a change, and its error."""
    return plus_minus(abs(change.size), change.error)


def write_region_interval(found: RegionComparison) -> str:
    """Write the stretch.

    Examples
    --------
    >>> write_region_interval(RegionComparison("0", "1", True, (), (0, 1), True))
    'from 0 to 1'
    """
    return f"from {found.start} to {found.stop}"


def over(found: RegionComparison) -> str:
    """Begin a sentence about the stretch."""
    return f"{write_region_interval(found)} {found.output}"


def where(region: Region) -> str:
    """Say which rows are in a region."""
    return f"where {isolated(shorten_middle(region.rule, MAX_RULE_LETTERS_IN_TEXT))}"


def explained(tree: RegionTree) -> str:
    """Share of the spread that the regions explain; nothing where that is not known."""
    share, error = read_explained_share(tree)
    if share <= 0 or share <= Z_SCORE_95 * error:
        return UNMEASURED
    return write_share(share, error)


def this_explains(tree: RegionTree) -> str:
    """The same as the end of a sentence."""
    return f"; this explains {explained(tree)} {of_the_spread(tree)}." if explained(tree) else "."


def they_explain(tree: RegionTree) -> str:
    """The same as a sentence of its own."""
    return f" They explain {explained(tree)} {of_the_spread(tree)}." if explained(tree) else ""


def of_the_spread(tree: RegionTree) -> str:
    """Say what a share is of; what a search found was found in one model."""
    return "of the spread in this model" if tree.state == "found" else "of the spread"


# --- Regions as few plain numbers and words: their curves over the common one, their table, partners


MOST_LINES = 4  # more cannot be told apart
MAX_REGION_CURVE_POINTS = 80  # of a line: it is one of several
MOST_PARTNERS = 5
LEAST_PARTNER = 0.01  # of the spread
MAX_TABLE_RULE_LETTERS, MAX_PARTNER_NAME_LETTERS = 300, 40


@dataclass(frozen=True)
class RegionPath:
    """A curve, and how far its interval reaches to either side; places as in `Shape`."""

    x: Numbers
    y: Numbers
    half: Numbers


@dataclass(frozen=True)
class RegionLine:
    """The curve of one region, where it stands beside the common one."""

    row: int  # which row of the table of regions it is
    path: RegionPath  # as the model has it
    smooth: RegionPath | None  # with small steps evened out, where that can be told from it.


@dataclass(frozen=True)
class RegionRow:
    """One row of the table of regions: who, how many, their share, and what the effect is there."""

    rule: str
    count: int
    share: float
    size: float | None
    error: float | None
    spread: float | None
    spread_error: float | None


@dataclass(frozen=True)
class RegionPart:
    """Regions of one feature and output."""

    reading: str  # the sentence
    lines: tuple[RegionLine, ...] = ()  # what is drawn; nothing where there is one region
    # the table: all regions, or the thirds of what the effect changes with gradually.
    rows: tuple[RegionRow, ...] = ()
    gradual: bool = False  # whether these are thirds
    partners: str = ""  # which features account for the spread; nothing where that is not known


def regions_of(effect: Result) -> RegionPart | None:
    """Gather what is said and drawn of the regions of an effect; None where none were requested."""
    tree = effect.regions
    if tree is None:
        return None
    partners = unbroken(partners_in_words(tree))
    if len(tree) < 2:
        return RegionPart(tell_regions(effect), partners=partners)
    gradual = tree.gradual is not None and len(tree.thirds) > 1
    shown = tree.thirds if gradual else tree.regions
    lines: list[RegionLine] = []
    if not is_constant(effect):
        # Curves of the regions that have most rows, moved to where the common one is zero.
        able = [i for i, region in enumerate(shown) if not is_constant(region.effect)]
        largest = sorted(able, key=lambda i: -shown[i].share_of_rows)[:MOST_LINES]
        drawn = {i: trace_region(effect, shown[i].effect) for i in sorted(largest)}
        part = find_shown_part(effect)
        paths = [effect.trace(), *drawn.values()]
        seen = np.concatenate([path.curve[is_inside(path.x, part)] for path in paths])
        span = float(np.ptp(seen))
        for i, path in drawn.items():
            region = shown[i].effect
            line = make_region_path(effect, region, path, span)
            lines.append(RegionLine(i, line, smooth_path(effect, region, span)))
    return RegionPart(
        reading=unbroken(tell_regions(effect)),
        lines=tuple(lines),
        rows=tuple(row_of(region) for region in shown),
        gradual=gradual,
        partners=partners,
    )


def row_of(region: Region) -> RegionRow:
    """One row of the table."""
    effect, known = region.effect, math.isfinite
    spread = (effect.typical_spread, effect.typical_spread_error)
    sizes = (effect.importance, effect.importance_error, *spread)
    return RegionRow(
        shorten_middle(region.rule, MAX_TABLE_RULE_LETTERS),
        int(region.count),
        round(float(region.share_of_rows), 4),
        *(float(f"{size:.4g}") if known(size) else None for size in sizes),
    )


def trace_region(effect: Result, region: Result, *, smooth: bool = False) -> Trace:
    """The curve of a region, where it has rows, on the scale of the common one; no spread."""
    path = trace_along(region, find_shown_part(effect), smooth=smooth)
    shift = align(region, effect)
    if not region.labels:
        low, high = rows_reach(region)
        path = Trace(*(values[(path.x >= low) & (path.x <= high)] for values in path))
    moved = (path.curve + shift, np.zeros(path.x.size), path.low + shift, path.high + shift)
    return Trace(path.x, *moved)


def make_region_path(effect: Result, region: Result, path: Trace, span: float) -> RegionPath:
    """The points that a line needs, with the digits that can be seen."""
    # Places as drawn, and which points these are; levels stand where the common ones do.
    if form_of(effect) == "levels":
        order = {effect.labels[i]: place for place, i in enumerate(order_chart_levels(effect))}
        kept = np.array([i for i, n in enumerate(region.labels) if n in order], dtype=np.int64)
        where: Numbers = tuple(order[region.labels[i]] for i in kept.tolist())
    else:
        part = find_shown_part(effect)
        seen = path._replace(x=np.log(path.x)) if part.is_log else path
        kept = (
            np.arange(path.x.size)
            if region.labels
            else simplify(seen, MAX_REGION_CURVE_POINTS, span)
        )
        where = places(effect, inside(effect, path.x[kept]), part)
    half = (path.high[kept] - path.low[kept]) / 2
    return RegionPath(
        where, round_for_chart(path.curve[kept], span), round_for_chart(half, span, 3)
    )


def inside(effect: Result, x: FloatArray) -> FloatArray:
    """Keep places within the axis that is drawn."""
    return np.clip(x, effect.axis[0], effect.axis[-1])


def smooth_path(effect: Result, region: Result, span: float) -> RegionPath | None:
    """The line without its small steps; None where the difference could not be seen."""
    if not steps_differ(region, trace_region(effect, region)):
        return None
    return make_region_path(effect, region, trace_region(effect, region, smooth=True), span)


def partners_in_words(tree: RegionTree) -> str:
    """List which features account for the spread; nothing where that is not known."""
    sure = [
        f"{isolated(shorten_middle(name, MAX_PARTNER_NAME_LETTERS))} {write_share(share, error)}"
        for name, share, error in tree.partners
        if share >= LEAST_PARTNER and not share <= 2 * error
    ]
    if not sure:
        return ""
    more = len(sure) - MOST_PARTNERS
    words = ", ".join(sure[:MOST_PARTNERS]) + (f" and {more} more" if more > 0 else "")
    if math.isfinite(tree.unexplained):
        words += f"; {format_report_number(max(0.0, 100 * tree.unexplained), 2)} % is unexplained"
    return f"Spread accounted for by single features: {words}."
