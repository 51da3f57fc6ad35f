"""Comparisons as rows and as text, and notes on what only some explanations have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rhale.comparison.feature_comparison import FeatureComparison
from rhale.effects.alignment import can_be_named, can_compare
from rhale.effects.difference import CurveDifference
from rhale.effects.result import Result, find_result_axis_kind, is_constant
from rhale.effects.table import UNDEFINED, Columns, name_places
from rhale.interaction.pair_effect import write_p
from rhale.output.columns import (
    FEATURE_COLUMN,
    OUTPUT_COLUMN,
    Column,
    Listing,
    TableRow,
    frame_only,
    lay_out,
    several,
    tabulate,
    words,
)
from rhale.output.frame import stack_columns
from rhale.output.number_format import write_digits, write_share, write_short, write_with_error
from rhale.output.text import SIGN, Note, name_few, shorten_name
from rhale.stats.arrays import FloatArray

if TYPE_CHECKING:
    from rhale.effects.explanation import Explanation


N_COMPARISON_POINTS = 41  # of a curve in a table
MAX_COMPARED_FEATURES = 30
MAX_COMPARED_NAME_LENGTH = 24
MAX_COMPARISON_HEAD_LENGTH = 14


# --- The ranked table of a comparison: its columns, for data frame, `print`, notebook, page and command


@dataclass(frozen=True)
class ComparisonLine(TableRow):
    """A feature in a table: the difference of one explanation to the first; the largest of all."""

    one: FeatureComparison
    largest: float = 0.0

    name = property(lambda self: self.one.name)
    output = property(lambda self: self.one.output)
    captions = property(lambda self: self.one.captions)

    @property
    def medians(self) -> tuple[float, float]:
        """Of the rows of the first explanation and of the other; nan where there is none."""
        drift = self.found.drift
        return (
            (UNDEFINED, UNDEFINED) if drift is None else (drift.before.median, drift.after.median)
        )


def name_importances(rows: Sequence[ComparisonLine]) -> list[str]:
    """Headers of importances: with the names of the two explanations, where there are but two."""
    named = {(row.first_name, row.second_name) for row in rows}
    names = named.pop() if len(named) == 1 else ("first", "compared")
    heads = [f"importance {shorten_name(name, MAX_COMPARISON_HEAD_LENGTH)}" for name in names]
    return heads if heads[0] != heads[1] else ["importance (1)", "importance (2)"]


def shorten_compared(name: str) -> str:
    """A name that has less room than others."""
    return shorten_name(name, MAX_COMPARED_NAME_LENGTH)


# One row per feature, output and explanation that is compared with the first. `size` is the deviation
# over the rows of the difference of the curves, `by_chance` what the draw of the rows would make of
# equal curves, `share` the size over the larger importance. `largest` is the largest difference among
# the rows, between `low` and `high`, found `at` some value. `rows` is the part of the rows of the
# common zero that are where both have a curve, `rows_apart` which part of the rows drifted.
COMPARISON_COLUMNS = (
    FEATURE_COLUMN,
    OUTPUT_COLUMN,
    words(
        "compared",
        "compared",
        lambda row: shorten_compared(row.second_name),
        lambda row: row.second_name,
        shown=several("second_name"),
    ),
    Column("with", value=lambda row: row.first_name),
    Column("size", f"difference{SIGN}error", lambda row: write_size(row.found)),
    *frame_only("size_error"),
    Column("by_chance", value=lambda row: row.chance_size),
    Column("share", "relative to effect", lambda row: write_share(row.share)),
    Column("p_value", "p-value of no difference", lambda row: write_p(row.p_value)),
    words("differs", "differs", lambda row: write_difference_verdict(row.found)),
    Column(
        "largest",
        "largest",
        lambda row: write_signed(row.peak.difference),
        lambda row: row.peak.difference,
    ),
    Column("low", value=lambda row: row.peak.low),
    Column("high", value=lambda row: row.peak.high),
    words(
        "at",
        "at",
        lambda row: shorten_compared(write_peak(row.found)),
        lambda row: name_peak(row.found),
    ),
    Column("rows", value=lambda row: row.places.part),
    Column(
        "importance_with",
        lambda rows: name_importances(rows)[0],
        lambda row: write_digits(row.first.importance),
        lambda row: row.first.importance,
    ),
    Column(
        "importance",
        lambda rows: name_importances(rows)[1],
        lambda row: write_digits(row.second.importance),
        lambda row: row.second.importance,
    ),
    Column("spread_with", value=lambda row: row.first.typical_spread),
    Column("spread", value=lambda row: row.second.typical_spread),
    words(
        "rows_apart",
        "data drift (shift of median)",
        lambda row: write_drift(row.found),
        lambda row: UNDEFINED if row.drift is None else row.drift.apart,
    ),
    Column("rows_moved", value=lambda row: row.drift is not None and row.drift.moved),
    Column("median_with", value=lambda row: row.medians[0]),
    Column("median", value=lambda row: row.medians[1]),
)


def list_lines(ranked: Sequence[FeatureComparison]) -> list[ComparisonLine]:
    """The rows of the table; `largest` is the largest difference on the same output."""
    largest: dict[str, float] = {}
    for one in ranked:
        peaks = [abs(found.peak.difference) for found in one.differences if found.is_known]
        largest[one.output] = max(largest.get(one.output, 0.0), *peaks, 0.0)
    return [
        ComparisonLine(found, one, largest[one.output])
        for one in ranked
        for found in one.differences
    ]


def comparison_rows(ranked: Sequence[FeatureComparison]) -> Columns:
    """One row per feature, output and explanation that is compared with the first."""
    return tabulate(list_lines(ranked), COMPARISON_COLUMNS)


def place_rows_of(ranked: Sequence[FeatureComparison]) -> Columns:
    """One row per feature, output, explanation and place, for tables of curves.

    `curve_with` and `curve` are the curves of both at one common zero, `difference` is the second
    less the first, between `low` and `high`. `x` is a number, `at` the same as text.
    """
    parts = []
    for row in list_lines(ranked):
        path = row.trace(N_COMPARISON_POINTS)
        mine = row.first.height(path.x) + row.one.lifts[0]
        named = {"feature": row.name, "output": row.output}
        named |= {"compared": row.second_name, "with": row.first_name}
        curves = {"curve_with": mine, "curve": mine + path.difference, **path._asdict()}
        table = {"at": name_axis(row.first, path.x), "x": path.x.tolist()}
        table |= {
            name: curves[name].tolist()
            for name in ("curve_with", "curve", "difference", "low", "high")
        }
        parts.append((named, table))
    return stack_columns(parts)


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


def list_comparison(
    ranked: Sequence[FeatureComparison],
    names: Sequence[str],
    zero: str,
    notes: Sequence[str],
    columns: Sequence[Column] = COMPARISON_COLUMNS,
    most: int = MAX_COMPARED_FEATURES,
) -> Listing:
    """The ranked table that `print` shows, of at most so many features.

    `names` are what the explanations are called, `zero` says in words where curves are zero, and
    `notes` follow the table.
    """
    n_more = len(ranked) - most
    more = f"and {n_more:,} that differ less: cx.summary() has all" if n_more > 0 else ""
    table = lay_out(list_lines(ranked[:most]), columns, more)
    counts = write_comparison_counts(ranked)
    return Listing(head_of(names, zero), (table,), notes=(counts, *notes))


def head_of(names: Sequence[str], zero: str) -> str:
    """Say what is compared with what, and where curves are zero."""
    others = ", ".join(shorten_name(name) for name in names[1:])
    return f"{others} compared with {shorten_name(names[0])}; zero {zero}"


def write_comparison_counts(ranked: Sequence[FeatureComparison]) -> str:
    """Say how many features differ, and how many drifted."""
    known = [one for one in ranked if np.isfinite(one.size)]
    n_differ, n_moved = sum(one.differs for one in known), sum(one.moved for one in ranked)
    curves = "the curves of all features agree"
    if n_differ:
        curves = f"curves differ in {n_differ} of {len(known)} features"
    if not known:
        curves = "no curves can be compared"
    return f"{curves}; data drift: {n_moved} of {len(ranked)} features drifted"


def write_size(found: CurveDifference) -> str:
    """Write a difference and its error; nothing where it is not known."""
    if not found.is_known:
        return ""
    return write_with_error(found.size, found.size_error) if found.size else "0"


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
    return f"{'+' if value > 0 else ''}{write_digits(value)}"


def write_peak(found: CurveDifference) -> str:
    """Where curves are farthest apart, in few digits; nothing where they are alike."""
    if not found.is_known or found.peak.difference == 0:
        return ""
    if found.first.labels:
        return name_peak(found)
    return write_short(found.peak.x, find_result_axis_kind(found.first))


def write_drift(found: CurveDifference) -> str:
    """Say which part of the rows drifted, and how far their median is shifted."""
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
        for name, some in zip(names, known, strict=True):
            if lone := [one for one in some if one not in common]:
                where = "only in" if len(names) == 2 else "not in all explanations, but in"
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
        feature = shorten_name(read_feature_caption(results[0]))
        by_level: dict[str, list[str]] = {}
        for name, result in zip(comparison.names, results, strict=True):
            for label in result.labels:
                by_level.setdefault(label, []).append(name)
        grouped: dict[tuple[str, ...], list[str]] = {}
        for label, having in by_level.items():
            if len(having) < len(results):
                grouped.setdefault(tuple(having), []).append(label)
        for holders, labels in grouped.items():
            where = " and ".join(f'"{shorten_name(name)}"' for name in holders)
            counted = "level" if len(labels) == 1 else "levels"
            notes.append(
                Note("levels", f"{feature}: {counted} only in {where}: {name_few(labels)}")
            )
    return tuple(dict.fromkeys(notes))


def read_feature_caption(result: Result) -> str:
    """What people read for the feature of a result."""
    return result.captions.feature(result.name)
