"""Comparisons as rows and as text, and notes on what only some explanations have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rhale.comparison.feature_comparison import FeatureComparison
from rhale.effects.alignment import can_be_named, can_compare
from rhale.effects.difference import CurveDifference
from rhale.effects.listing import aligned, name_few, shorten_name, write_share
from rhale.effects.result import Result, find_result_axis_kind, is_constant
from rhale.effects.table import UNDEFINED, Columns, name_places
from rhale.interaction.pair_effect import write_p
from rhale.output.note import Note
from rhale.output.number_format import write_number, write_with_error
from rhale.output.times import write_short
from rhale.stats.arrays import FloatArray

if TYPE_CHECKING:
    from rhale.effects.explanation import Explanation


N_COMPARISON_POINTS = 41  # of a curve in a table


def comparison_rows(ranked: Sequence[FeatureComparison]) -> Columns:
    """One row per feature, output and explanation that is compared with the first.

    `size` is the deviation over the rows of the difference of the curves, `by_chance` what the draw
    of the rows would make of equal curves, `share` the size over the larger importance. `largest`
    is the largest difference among the rows, between `low` and `high`, found `at` some value.
    `rows` is the part of the rows of the common zero that are where both have a curve,
    `rows_apart` how much of the rows is elsewhere, `shift` how far their median moved.
    """
    pairs = [(one, found) for one in ranked for found in one.differences]
    every = [found for _, found in pairs]
    drifts = [found.drift for found in every]
    return {
        "feature": [one.name for one, _ in pairs],
        "output": [one.output for one, _ in pairs],
        "compared": [found.second_name for found in every],
        "with": [found.first_name for found in every],
        "size": [found.size for found in every],
        "size_error": [found.size_error for found in every],
        "by_chance": [found.chance_size for found in every],
        "share": [found.share for found in every],
        "p_value": [found.p_value for found in every],
        "differs": [found.differs for found in every],
        "largest": [found.peak.difference for found in every],
        "low": [found.peak.low for found in every],
        "high": [found.peak.high for found in every],
        "at": [name_peak(found) for found in every],
        "rows": [found.places.part for found in every],
        "importance_with": [found.first.importance for found in every],
        "importance": [found.second.importance for found in every],
        "spread_with": [found.first.typical_spread for found in every],
        "spread": [found.second.typical_spread for found in every],
        "rows_apart": [UNDEFINED if drift is None else drift.apart for drift in drifts],
        "rows_moved": [drift is not None and drift.moved for drift in drifts],
        "median_with": [UNDEFINED if drift is None else drift.before.median for drift in drifts],
        "median": [UNDEFINED if drift is None else drift.after.median for drift in drifts],
    }


def place_rows_of(ranked: Sequence[FeatureComparison]) -> Columns:
    """One row per feature, output, explanation and place, for tables of curves.

    `curve_with` and `curve` are the curves of both at one common zero, `difference` is the second
    less the first, between `low` and `high`. `x` is a number, `at` the same as text.
    """
    names = ["feature", "output", "compared", "with", "at", "x"]
    names += ["curve_with", "curve", "difference", "low", "high"]
    columns: Columns = {name: [] for name in names}
    for one in ranked:
        for found in one.differences:
            path = found.trace(N_COMPARISON_POINTS)
            n_rows = path.x.size
            columns["feature"] += [one.name] * n_rows
            columns["output"] += [one.output] * n_rows
            columns["compared"] += [found.second_name] * n_rows
            columns["with"] += [found.first_name] * n_rows
            columns["at"] += name_axis(found.first, path.x)
            columns["x"] += path.x.tolist()
            mine = found.first.height(path.x) + one.lifts[0]
            columns["curve_with"] += mine.tolist()
            columns["curve"] += (mine + path.difference).tolist()
            columns["difference"] += path.difference.tolist()
            columns["low"] += path.low.tolist()
            columns["high"] += path.high.tolist()
    return columns


def name_axis(result: Result, x: FloatArray) -> list[str]:
    """Places of an axis as text: labels of levels, dates, numbers."""
    if result.labels:
        return [result.labels[i] for i in np.searchsorted(result.axis, x)]
    return list(name_places(x, (), find_result_axis_kind(result)))


def name_peak(found: CurveDifference) -> str:
    """Where the curves are farthest apart, as text; nothing where that is not known."""
    if not found.is_known:
        return ""
    x = found.peak.x
    if found.first.labels and x not in found.first.axis:  # numbers of the other between its levels
        return f"{x:.4g}"
    return name_axis(found.first, np.array([x]))[0]


# --- Comparisons as text: the ranked table that `print` and the command show


MAX_COMPARED_FEATURES = 30
MAX_COMPARED_NAME_LENGTH = 24
MAX_COMPARISON_HEAD_LENGTH = 14


def comparison_as_text(
    ranked: Sequence[FeatureComparison],
    names: Sequence[str],
    zero: str,
    notes: Sequence[str],
    most: int = MAX_COMPARED_FEATURES,
) -> str:
    """Write the ranked table that `print` shows, of at most so many features.

    `names` are what the explanations are called, `zero` says in words where curves are zero, and
    `notes` follow the table.
    """
    columns, n_left = comparison_ranking(ranked[:most])
    table = aligned(
        [(*row, "") for row in (list(columns), *zip(*columns.values(), strict=True))], n_left=n_left
    )
    more = [f"and {len(ranked) - most:,} that differ less"] if len(ranked) > most else []
    return "\n".join([head_of(names, zero), *table, *more, write_comparison_counts(ranked), *notes])


def head_of(names: Sequence[str], zero: str) -> str:
    """Say what is compared with what, and where curves are zero."""
    others = ", ".join(shorten_name(name) for name in names[1:])
    return f"{others} compared with {shorten_name(names[0])}; zero {zero}"


def write_comparison_counts(ranked: Sequence[FeatureComparison]) -> str:
    """Say how many features differ, and how many of the rows moved."""
    known = [one for one in ranked if np.isfinite(one.size)]
    n_differ, n_moved = sum(one.differs for one in known), sum(one.moved for one in ranked)
    curves = "the curves of all features agree"
    if n_differ:
        curves = f"curves differ in {n_differ} of {len(known)} features"
    if not known:
        curves = "no curves can be compared"
    return f"{curves}; rows moved in {n_moved} of {len(ranked)}"


def comparison_ranking(ranked: Sequence[FeatureComparison]) -> tuple[dict[str, list[str]], int]:
    """The cells of the ranked table, and how many of its columns hold words."""
    pairs = [(one, found) for one in ranked for found in one.differences]
    every = [found for _, found in pairs]
    columns = {"feature": [shorten_name(one.captions.feature(one.name)) for one, _ in pairs]}
    if len({one.output for one, _ in pairs}) > 1:
        columns["output"] = [shorten_name(one.captions.output(one.output)) for one, _ in pairs]
    if len({found.second_name for found in every}) > 1:
        columns["compared"] = [
            shorten_name(found.second_name, MAX_COMPARED_NAME_LENGTH) for found in every
        ]
    n_left = len(columns)
    columns["difference ± error"] = [
        ""
        if not found.is_known
        else "0"
        if found.size == 0
        else write_with_error(found.size, found.size_error)
        for found in every
    ]
    columns["of effect"] = [write_share(found.share) for found in every]
    columns["p"] = [write_p(found.p_value) for found in every]
    columns["differs"] = list(map(write_difference_verdict, every))
    columns["largest"] = [write_signed(found.peak.difference) for found in every]
    columns["at"] = [shorten_name(write_peak(found), MAX_COMPARED_NAME_LENGTH) for found in every]
    # importance under the names of the two explanations, where there are but two
    named = {(found.first_name, found.second_name) for found in every}
    first, second = named.pop() if len(named) == 1 else ("first", "compared")
    heads = [
        f"importance {shorten_name(name, MAX_COMPARISON_HEAD_LENGTH)}" for name in (first, second)
    ]
    if heads[0] == heads[1]:
        heads = ["importance (1)", "importance (2)"]
    columns[heads[0]] = [write_number(found.first.importance, 3) for found in every]
    columns[heads[1]] = [write_number(found.second.importance, 3) for found in every]
    columns["rows elsewhere (median)"] = list(map(write_drift, every))
    return columns, n_left


def write_difference_verdict(found: CurveDifference) -> str:
    """Say whether curves differ, or hardly: by less than a hundredth of the effect."""
    if not found.is_known:
        return ""
    if found.differs:
        return "yes"
    return "hardly" if found.p_value < 1 - found.level else "no"


def write_signed(value: float) -> str:
    """Write a difference with its sign; nothing if it is not known."""
    if not np.isfinite(value):
        return ""
    return f"{'+' if value > 0 else ''}{write_number(value, 3)}"


def write_peak(found: CurveDifference) -> str:
    """Where curves are farthest apart, in few digits; nothing where they are alike."""
    if not found.is_known or found.peak.difference == 0:
        return ""
    if found.first.labels:
        return name_peak(found)
    return write_short(found.peak.x, find_result_axis_kind(found.first))


def write_drift(found: CurveDifference) -> str:
    """Say how many of the rows are elsewhere, and how far their median moved."""
    drift = found.drift
    if drift is None:
        return ""
    share = write_share(drift.apart)
    if not drift.moved or found.first.labels or find_result_axis_kind(found.first) != "number":
        return share
    return f"{share} ({write_signed(drift.shift)})"


# --- Notes of a comparison: what only some explanations have, and what is not compared


LITTLE = 0.5  # of the rows on what both have: less is worth a word
MAX_OVERLAP_NOTES = 10


def describe_comparison(
    names: Sequence[str], given: Sequence[Explanation], found: Sequence[FeatureComparison]
) -> tuple[Note, ...]:
    """Notes on what only some explanations have, how they were made, and what is not compared.

    `names` are what the explanations `given` are called, `found` is what was compared.
    """
    notes = list[Note]()
    # features and outputs that are not in all; of one output each, names do not count
    for what, known in (
        ("feature", [fx.features for fx in given]),
        ("output", [fx.outputs for fx in given]),
    ):
        if what == "output" and all(len(some) == 1 for some in known):
            continue
        common = set(known[0]).intersection(*known[1:])
        where = "only in" if len(names) == 2 else "not in all, but in"
        for name, some in zip(names, known, strict=True):
            if lone := [one for one in some if one not in common]:
                text = f"{what}s {where} {shorten_name(name)}: {name_few(lone)}"
                notes.append(Note(f"{what}s", text))
    methods = [str(fx.provenance.get("method", "")) for fx in given]
    if len(set(methods)) > 1:
        made = ", ".join(
            f"{shorten_name(n)} by {shorten_name(m)}" for n, m in zip(names, methods, strict=True)
        )
        notes.append(Note("methods", f"made by different methods ({made}): these differ, too"))
    # explanations of the same rows as the first: their errors are not independent
    first = given[0]
    same = [
        name
        for name, fx in zip(names[1:], given[1:], strict=True)
        if fx.features == first.features
        and fx.sample_x.shape == first.sample_x.shape
        and first.sample_x.size
        and np.array_equal(fx.sample_x, first.sample_x, equal_nan=True)
    ]
    if same:
        text = (
            f"{name_few([names[0], *same])} explain the same rows: errors are added as if rows were "
            "drawn anew, which makes intervals too wide where models are alike"
        )
        notes.append(Note("same rows", text))
    # features whose curves are not compared, by the first reason that there is
    reasons = {
        "kind": "categories in one and numbers in the other",
        "constant": "one value only, so that there is no curve",
        "apart": "no stretch or level in common",
    }
    left_out: dict[str, dict[str, None]] = {kind: {} for kind in reasons}
    overlap: dict[str, float] = {}
    for one in (one for comparison in found for one in comparison.differences):
        name = read_feature_caption(one.first)
        if not can_compare(one.first, one.second):
            left_out["kind"][name] = None
        elif is_constant(one.first) or is_constant(one.second):
            left_out["constant"][name] = None
        elif not one.is_known:
            left_out["apart"][name] = None
        if one.is_known and one.places.part < LITTLE:
            overlap[name] = one.places.part
    for kind, features in left_out.items():
        if features:
            text = f"not compared: {name_few(list(features))} ({reasons[kind]})"
            notes.append(Note(kind, text))
    for name, part in list(overlap.items())[:MAX_OVERLAP_NOTES]:
        text = f"{shorten_name(name)} is compared where {write_share(part)} of the rows are"
        notes.append(Note("overlap", text))
    # levels that are not in all explanations
    for comparison in found:
        results = comparison.results
        if not all(map(can_be_named, results)):
            continue
        common = set(results[0].labels).intersection(*(r.labels for r in results[1:]))
        for name, result in zip(comparison.names, results, strict=True):
            if lone := [label for label in result.labels if label not in common]:
                levels = (
                    f"levels of {shorten_name(read_feature_caption(result))} that are not in all, "
                    f"but in {shorten_name(name)}"
                )
                notes.append(Note("levels", f"{levels}: {name_few(lone)}"))
    return tuple(dict.fromkeys(notes))


def read_feature_caption(result: Result) -> str:
    """What people read for the feature of a result."""
    return result.captions.feature(result.name)
