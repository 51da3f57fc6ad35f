"""What the curves of regions do over the stretch that all have: numbers behind a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from rhale.kernels import FloatArray
from rhale.report.sentences import MAX_STEEP_SHARE, at, levels_of, output_of
from rhale.report.wording import isolated
from rhale.results.region_tree import Region
from rhale.results.result import Difference, Result, is_constant, reach

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
    """Regions over one stretch.

    Attributes
    ----------
    start, stop : str
        The stretch, in words.
    tells_all : bool
        Whether it stands for all that the regions have in common: it is all of it, or two curves
        are multiples of one another. Otherwise it is where they differ most.
    courses : tuple of RegionTrend
        What each region does there.
    apart : tuple of int
        The two that differ most.
    is_sure : bool
        Whether these two differ by more than chance could make.
    n_left : int
        How many regions are not compared: too few rows, or on another stretch.
    output : str
        What is moved, in words.
    """

    start: str
    stop: str
    tells_all: bool
    courses: tuple[RegionTrend, ...]
    apart: tuple[int, int]
    is_sure: bool
    n_left: int = 0
    output: str = "the prediction"


def compare_regions(
    effect: Result, regions: Sequence[Region], who: Sequence[str]
) -> RegionComparison | None:
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
    RegionComparison or None
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
    limit = NormalDist().inv_cdf(1 - SEARCHED_INTERVAL_ERROR_RATE / math.comb(len(kept), 2))
    error = math.hypot(known_error(one), known_error(other))
    return RegionComparison(
        start=written_at(effects[0], places[0][first]),
        stop=written_at(effects[0], places[0][last]),
        tells_all=last - first == len(places[0]) - 1
        or effect.column_kind == "categories"
        or are_multiples(heights),
        courses=tuple(RegionTrend(who[i], change) for i, change in zip(kept, changes, strict=True)),
        apart=apart,
        is_sure=abs(one.size - other.size) > limit * error,
        n_left=len(regions) - len(kept),
        output=output_of(effect),
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
    if has_order and abs(gap[-1] - gap[0]) >= MIN_CHANGE_SHARE * np.ptp(gap) > 0:
        return pairs[best], *narrow_interval(gap)
    low, high = int(np.argmin(gap)), int(np.argmax(gap))
    first, last = (
        sorted((low, high)) if has_order else rising(heights[list(pairs[best])], low, high)
    )
    return pairs[best], first, last


def narrow_interval(gap: FloatArray) -> tuple[int, int]:
    """Positions between which nearly all of a change happens; the ends, if that is most of the way.

    Examples
    --------
    >>> narrow_interval(np.arange(9.0)), narrow_interval(np.array([0, 0, 0, 0, 0, 0, 0, 1.0, 2.0]))
    ((0, 8), (6, 8))
    """
    share = (gap - gap[0]) / (gap[-1] - gap[0])
    start = int(np.flatnonzero(share <= REST)[-1])
    stop = start + int(np.flatnonzero(share[start:] >= 1 - REST)[0])
    return (start, stop) if stop - start < MAX_STEEP_SHARE * (gap.size - 1) else (0, gap.size - 1)


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
    return bool(
        np.ptp(strong - weak * (weak @ strong) / squares) <= MULTIPLE_TOLERANCE * np.ptp(strong)
    )


def rising(heights: FloatArray, low: int, high: int) -> tuple[int, int]:
    """Order two levels so that the curve that changes more goes up."""
    change = heights[:, high] - heights[:, low]
    return (low, high) if change[np.argmax(np.abs(change))] >= 0 else (high, low)


def shared_places(regions: Sequence[Region]) -> tuple[list[int], list[FloatArray]]:
    """Find places that regions have in common, and the regions that have them.

    Returns
    -------
    kept : list of int
        Regions that can be compared. One that would leave less than half of the rows of the
        largest region is left out, and so is one of few rows, or with a single value.
    places : list of ndarray of shape (n_places,)
        The places of each, on its own axis.
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
