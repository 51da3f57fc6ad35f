"""Regions as few plain numbers and words: their curves over the common one, their table, partners."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.report.chart_numbers import (
    Numbers,
    form_of,
    is_inside,
    order_chart_levels,
    places,
    round_for_chart,
    scale_trace,
    simplify,
    steps_differ,
    trace_along,
)
from rhale.report.region_courses import rows_reach
from rhale.report.region_sentences import tell_regions
from rhale.report.wording import format_report_number, isolated, shorten_middle, unbroken
from rhale.results.listing import write_share
from rhale.results.region_heights import align
from rhale.results.region_tree import Region, RegionTree
from rhale.results.result import Result, Trace, is_constant
from rhale.results.row_quantiles import find_shown_part

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
    """The curve of one region, where it stands beside the common one.

    Attributes
    ----------
    row : int
        Which row of the table of regions it is.
    path : RegionPath
        As the model has it.
    smooth : RegionPath or None
        With small steps evened out, where that can be told from it.
    """

    row: int
    path: RegionPath
    smooth: RegionPath | None


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
    """Who differs in one feature and output.

    Attributes
    ----------
    reading : str
        The sentence.
    lines : tuple of RegionLine
        What is drawn; nothing where there is one region.
    rows : tuple of RegionRow
        The table: all regions, or the thirds of what the effect changes with gradually.
    gradual : bool
        Whether these are thirds.
    partners : str
        With whom the spread goes; nothing where that is not known.
    """

    reading: str
    lines: tuple[RegionLine, ...] = ()
    rows: tuple[RegionRow, ...] = ()
    gradual: bool = False
    partners: str = ""


def regions_of(effect: Result) -> RegionPart | None:
    """Read off an effect what is said and drawn of its regions; None where nobody asked."""
    tree = effect.regions
    if tree is None:
        return None
    partners = unbroken(partners_in_words(tree))
    if len(tree) < 2:
        return RegionPart(tell_regions(effect), partners=partners)
    gradual = tree.gradual is not None and len(tree.thirds) > 1
    shown = tree.thirds if gradual else tree.regions
    return RegionPart(
        reading=unbroken(tell_regions(effect)),
        lines=() if is_constant(effect) else draw_lines(effect, shown),
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


def draw_lines(effect: Result, regions: Sequence[Region]) -> tuple[RegionLine, ...]:
    """Curves of the regions that have most rows, moved to where the common one is zero."""
    able = [i for i, region in enumerate(regions) if not is_constant(region.effect)]
    largest = sorted(able, key=lambda i: -regions[i].share_of_rows)[:MOST_LINES]
    drawn = {i: trace_region(effect, regions[i].effect) for i in sorted(largest)}
    part = find_shown_part(effect)
    paths = [effect.trace(), *drawn.values()]
    seen = np.concatenate([path.curve[is_inside(path.x, part)] for path in paths])
    span = float(np.ptp(seen))
    return tuple(
        RegionLine(
            i,
            make_region_path(effect, regions[i].effect, path, span),
            smooth_path(effect, regions[i].effect, span),
        )
        for i, path in drawn.items()
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
    where, kept = choose_region_points(effect, region, path, span)
    half = (path.high[kept] - path.low[kept]) / 2
    return RegionPath(
        where, round_for_chart(path.curve[kept], span), round_for_chart(half, span, 3)
    )


def choose_region_points(
    effect: Result, region: Result, path: Trace, span: float
) -> tuple[Numbers, IntArray]:
    """Places as drawn, and which points these are; levels stand where the common ones do."""
    if form_of(effect) == "levels":
        order = {effect.labels[i]: place for place, i in enumerate(order_chart_levels(effect))}
        kept = np.array([i for i, n in enumerate(region.labels) if n in order], dtype=np.int64)
        return tuple(order[region.labels[i]] for i in kept.tolist()), kept
    part = find_shown_part(effect)
    seen = scale_trace(path, log=part.is_log)
    kept = (
        np.arange(path.x.size) if region.labels else simplify(seen, MAX_REGION_CURVE_POINTS, span)
    )
    return places(effect, inside(effect, path.x[kept]), part), kept


def inside(effect: Result, x: FloatArray) -> FloatArray:
    """Keep places within the axis that is drawn."""
    return np.clip(x, effect.axis[0], effect.axis[-1])


def smooth_path(effect: Result, region: Result, span: float) -> RegionPath | None:
    """The line without its small steps; None where nobody could tell the two apart."""
    if not steps_differ(region, trace_region(effect, region)):
        return None
    return make_region_path(effect, region, trace_region(effect, region, smooth=True), span)


def partners_in_words(tree: RegionTree) -> str:
    """List with whom the spread goes, however they act; nothing where that is not known.

    Examples
    --------
    >>> from rhale.results.region_tree import Partner
    >>> told = (Partner("income", 0.6, 0.02), Partner("age", 0.12, 0.01), Partner("x", 0.01, 0.02))
    >>> partners_in_words(RegionTree("a", "y", "none", "", (), partners=told, unexplained=0.2))
    'The spread goes with income 60 ± 2 %, age 12 ± 1 %; with no feature 20 %.'
    """
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
        words += f"; with no feature {format_report_number(max(0.0, 100 * tree.unexplained), 2)} %"
    return f"The spread goes with {words}."
