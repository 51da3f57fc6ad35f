"""Comparisons as rows: one for each feature and explanation, or one for each place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rhale.kernels import FloatArray
from rhale.results.curve_difference import CurveDifference
from rhale.results.feature_comparison import FeatureComparison
from rhale.results.result import Result, find_result_axis_kind
from rhale.results.table_rows import UNDEFINED, Columns, name_places

N_COMPARISON_POINTS = 41  # of a curve in a table


def comparison_rows(ranked: Sequence[FeatureComparison]) -> Columns:
    """One row per feature, output and explanation that is compared with the first.

    Notes
    -----
    `size` is the deviation over the rows of the difference of the curves, `by_chance` what the draw
    of the rows would make of equal curves, `share` the size over the larger importance. `largest`
    is the largest difference among the rows, between `low` and `high`, found `at` some value.
    `rows` is the part of the rows of the common zero that stand where both have a curve,
    `rows_apart` how much of the rows stand elsewhere, `shift` how far their median moved.
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

    Notes
    -----
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
