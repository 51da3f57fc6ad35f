"""What a comparison says about one feature, in plain sentences: curves first, then rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rhale.report.sentences import at
from rhale.report.wording import (
    chance_in_words,
    clean,
    format_axis_position,
    format_report_number,
    isolated,
    plus_minus,
    unbroken,
)
from rhale.results.comparison_table import name_peak
from rhale.results.curve_difference import CurveDifference
from rhale.results.differences import can_be_named
from rhale.results.feature_comparison import FeatureComparison
from rhale.results.result import find_result_axis_kind, reach
from rhale.results.row_drift import Drift

MAX_NAME_LETTERS_IN_TEXT = 60
MIN_FEATURES_FOR_CHANCE = 20  # features: one in twenty is said to differ by chance


def tell_overall(found: Sequence[FeatureComparison], level: float) -> str:
    """Say how many features differ, how many of their rows moved, and what chance would give."""
    known = [one for one in found if math.isfinite(one.size)]
    if not known:
        return "No curves can be compared."
    n, n_differ, n_moved = (
        len(known),
        sum(one.differs for one in known),
        sum(o.moved for o in found),
    )
    curves = "The curves agree" if n_differ == 0 else f"Curves differ in {n_differ} of {n} features"
    rows = "no rows moved" if n_moved == 0 else f"the rows of {n_moved} of {len(found)} moved"
    chance = ""
    if n >= MIN_FEATURES_FOR_CHANCE:
        chance = (
            f" Were all curves the same, chance would still let about {(1 - level) * n:.0f} differ."
        )
    return f"{curves}; {rows}.{chance}"


def tell_feature(one: FeatureComparison) -> str:
    """Say what was found about one feature, explanation by explanation."""
    name = isolated(clean(one.captions.feature(one.name), MAX_NAME_LETTERS_IN_TEXT))
    told = [tell_curves(found, name) for found in one.differences]
    told += [words for found in one.differences if (words := tell_rows(found, name))]
    return unbroken(" ".join(told))


def called(name: str) -> str:
    """What an explanation is called, in a sentence."""
    return isolated(clean(name, MAX_NAME_LETTERS_IN_TEXT))


def tell_curves(found: CurveDifference, name: str) -> str:
    """Say whether two curves differ, by how much, and where most."""
    first, second = called(found.first_name), called(found.second_name)
    both = f"{second} and {first}"
    if not found.is_known:
        return f"{name} cannot be compared between {both}: see the notes."
    if found.size == 0:
        return f"The curves of {name} are the same in {both}."
    p = chance_in_words(found.p_value)
    p = f"p\u00a0{p}" if p.startswith("<") else f"p\u00a0=\u00a0{p}"
    if not found.differs:
        small = found.p_value < 1 - found.level
        why = (
            "less than a hundredth of the effect" if small else f"no more than chance explains, {p}"
        )
        return f"The curves of {name} agree in {both}: they are {format_report_number(found.size)} apart, {why}."
    size = plus_minus(found.size, found.size_error)
    share = f"{100 * found.share:.0f} % of the larger effect"
    return f"The curves of {name} differ by {size} between {both}, {share} ({p}). {tell_peak(found, second)}"


def tell_peak(found: CurveDifference, second: str) -> str:
    """Say where curves are farthest apart."""
    peak = found.peak
    side = "above" if peak.difference > 0 else "below"
    ends = sorted((abs(peak.low), abs(peak.high)))
    sure = (
        f" ({format_report_number(ends[0])} to {format_report_number(ends[1])})"
        if peak.low * peak.high > 0
        else ""
    )
    where = at(found.first, peak.x) if x_is_named(found) else name_peak(found)
    return f"{second} is farthest {side} at {where}, by {format_report_number(abs(peak.difference))}{sure}."


def x_is_named(found: CurveDifference) -> bool:
    """Whether the place of the peak is one of the first axis."""
    return not found.first.labels or found.peak.x in found.first.axis


def tell_rows(found: CurveDifference, name: str) -> str:
    """Say how rows moved; nothing where they did not."""
    drift = found.drift
    if drift is None or not drift.moved:
        return ""
    second, share = called(found.second_name), f"{100 * drift.apart:.0f} %"
    if can_be_named(found.first):
        return tell_level_rows(drift, name, second, share)
    low, high = reach(found.first)
    kind = find_result_axis_kind(found.first)
    before, after = (
        format_axis_position(s.median, kind, high - low) for s in (drift.before, drift.after)
    )
    if before == after:
        return f"The rows of {second} stand elsewhere: {share} of them, around the same median of {name}."
    way = "up" if drift.shift > 0 else "down"
    return f"Its rows moved {way} in {second}: the median of {name} from {before} to {after}, and {share} of the rows stand elsewhere."


def tell_level_rows(drift: Drift, name: str, second: str, share: str) -> str:
    """Say which levels gained and lost rows."""
    told = [f"more at “{clean(drift.gained, MAX_NAME_LETTERS_IN_TEXT)}”"] if drift.gained else []
    told += [f"fewer at “{clean(drift.lost, MAX_NAME_LETTERS_IN_TEXT)}”"] if drift.lost else []
    return f"In {second} {share} of the rows have another level of {name}: {', '.join(told)}."
