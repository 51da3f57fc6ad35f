"""Comparisons as text: the ranked table that `print` and the command show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rhale.kernels.times import write_short
from rhale.results.comparison_table import name_peak
from rhale.results.curve_difference import CurveDifference
from rhale.results.feature_comparison import FeatureComparison
from rhale.results.listing import aligned, shorten_name, write_share
from rhale.results.numerals import write_number, write_with_error
from rhale.results.pair_effect import write_p
from rhale.results.result import find_result_axis_kind

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
    """Write the ranked table that `print` shows.

    Parameters
    ----------
    ranked : sequence of FeatureComparison
        The largest difference first.
    names : sequence of str
        What the explanations are called.
    zero : str
        Where curves are zero, in words.
    notes : sequence of str
        What follows the table.
    most : int
        How many features are listed.
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
    columns["difference ± error"] = list(map(write_size, every))
    columns["of effect"] = [write_share(found.share) for found in every]
    columns["p"] = [write_p(found.p_value) for found in every]
    columns["differs"] = list(map(write_difference_verdict, every))
    columns["largest"] = [write_signed(found.peak.difference) for found in every]
    columns["at"] = [shorten_name(write_peak(found), MAX_COMPARED_NAME_LENGTH) for found in every]
    columns |= importance_columns(every)
    columns["rows elsewhere (median)"] = list(map(write_drift, every))
    return columns, n_left


def importance_columns(every: Sequence[CurveDifference]) -> Mapping[str, list[str]]:
    """How large the effects are; under the names of the two where there are but two."""
    names = {(found.first_name, found.second_name) for found in every}
    first, second = names.pop() if len(names) == 1 else ("first", "compared")
    heads = [
        f"importance {shorten_name(name, MAX_COMPARISON_HEAD_LENGTH)}" for name in (first, second)
    ]
    if heads[0] == heads[1]:
        heads = ["importance (1)", "importance (2)"]
    return {
        heads[0]: [write_number(found.first.importance, 3) for found in every],
        heads[1]: [write_number(found.second.importance, 3) for found in every],
    }


def write_size(found: CurveDifference) -> str:
    """The size of a difference and its error; what chance would give where it may be all chance."""
    if not found.is_known:
        return ""
    if found.size == 0:
        return "0"
    return write_with_error(found.size, found.size_error)


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
    """Say how many of the rows stand elsewhere, and how far their median moved."""
    drift = found.drift
    if drift is None:
        return ""
    share = write_share(drift.apart)
    if not drift.moved or found.first.labels or find_result_axis_kind(found.first) != "number":
        return share
    return f"{share} ({write_signed(drift.shift)})"
