"""One feature in several explanations as few plain numbers: curves, differences, rows of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rhale.kernels import FloatArray
from rhale.report.chart_numbers import (
    MAX_CHART_LEVEL_LETTERS,
    N_CHART_POINTS,
    Form,
    Numbers,
    axis_unit,
    count_along,
    factor,
    form_of,
    on_scale,
    round_for_chart,
    tell_shown,
    thin_parts,
    titles_of,
    trace_along,
)
from rhale.report.wording import clean
from rhale.results.curve_difference import CurveDifference, DifferenceTrace
from rhale.results.feature_comparison import FeatureComparison
from rhale.results.result import Result, is_constant, reach
from rhale.results.row_quantiles import ShownPart, find_shown_part

MOST_DRAWN = 8  # explanations in one chart: there are as many inks
N_READ = 81  # places along a curve that a reader steps through
PLACE_DIGITS = 5  # of places


@dataclass(frozen=True)
class CompareLine:
    """A curve or a difference of explanation `k`: places, heights, ends of the interval."""

    k: int
    x: Numbers
    y: Numbers
    low: Numbers
    high: Numbers


@dataclass(frozen=True)
class CompareRows:
    """Where the rows of explanation `k` are: limits and heights, 0 to 100; at levels no limits."""

    k: int
    limits: Numbers
    rows: Numbers


@dataclass(frozen=True)
class CompareShape:
    """What is drawn of one feature in several explanations.

    Attributes
    ----------
    form, dots, unit, labels, titles, shown, beyond
        As in `Shape`; the last title is that of differences.
    x : tuple of float
        Places that a reader steps through.
    lines, gaps : tuple of CompareLine
        Curves at one zero, and differences to the first.
    rows : tuple of CompareRows
        Where rows are.
    """

    form: Form
    x: Numbers = ()
    lines: tuple[CompareLine, ...] = ()
    gaps: tuple[CompareLine, ...] = ()
    rows: tuple[CompareRows, ...] = ()
    dots: bool = False
    unit: str = ""
    labels: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    shown: Numbers = ()
    beyond: str = ""


def shape_of_comparison(one: FeatureComparison) -> CompareShape:
    """Read off what is drawn; nothing where no result has a curve, or axes differ in kind."""
    curved = [r for r in one.results[:MOST_DRAWN] if not is_constant(r)]
    if not curved or len({form_of(result) for result in curved}) > 1:
        return CompareShape("constant")
    first, form = curved[0], form_of(curved[0])
    labels = tuple(dict.fromkeys(label for result in curved for label in result.labels))
    part = find_shown_part(*curved, scale="linear")
    axis = CompareAxis(first, labels if form == "levels" else (), part)
    lines = [
        make_compare_line(axis, one, k)
        for k, r in enumerate(one.results[:MOST_DRAWN])
        if not is_constant(r)
    ]
    gaps = [
        gap_of(axis, found, k)
        for k, found in enumerate(one.differences[: MOST_DRAWN - 1], start=1)
        if found.is_known
    ]
    return CompareShape(
        form,
        axis.steps(curved),
        tuple(lines),
        tuple(gaps),
        tuple(
            count_compare_rows(axis, r, k)
            for k, r in enumerate(one.results[:MOST_DRAWN])
            if r in curved
        ),
        dots=bool(first.labels),
        unit=axis_unit(first),
        labels=tuple(clean(label, MAX_CHART_LEVEL_LETTERS) for label in axis.labels),
        titles=(
            *titles_of(first)[:2],
            clean(f"difference to {one.names[0]}", MAX_CHART_LEVEL_LETTERS),
        ),
        **tell_shown(first, part),
    )


@dataclass(frozen=True)
class CompareAxis:
    """The axis that all results of a feature are drawn along; levels are numbered."""

    first: Result
    labels: tuple[str, ...]
    part: ShownPart

    def places(self, result: Result, x: FloatArray) -> Numbers:
        """Places of a result as drawn."""
        if self.labels:
            names = [result.labels[i] for i in np.searchsorted(result.axis, x)]
            return tuple(self.labels.index(name) for name in names)
        span = self.part.high - self.part.low
        return round_for_chart(factor(self.first) * x, factor(self.first) * span, PLACE_DIGITS)

    def steps(self, results: list[Result]) -> Numbers:
        """Places that a reader steps through: levels, or evenly along the axis."""
        if self.labels:
            return tuple(range(len(self.labels)))
        if all(result.labels for result in results):
            return self.places(self.first, np.unique(np.concatenate([r.axis for r in results])))
        ends = [reach(result) for result in results]
        x = np.linspace(min(low for low, _ in ends), max(high for _, high in ends), N_READ)
        if self.part.beyond:
            x = np.union1d(x, np.linspace(self.part.low, self.part.high, N_READ))
        return self.places(self.first, x)


def make_compare_line(axis: CompareAxis, one: FeatureComparison, k: int) -> CompareLine:
    """The curve of one explanation, moved to the common zero."""
    result = one.results[k]
    if axis.part.beyond:
        path = trace_along(result, axis.part)
    else:
        path = result.trace("mean", one.differences[0].level, N_CHART_POINTS)
    heights = np.stack([path.curve, path.low, path.high]) + one.lifts[k]
    kept = np.arange(path.x.size) if result.labels else thin_parts(path.x, heights, axis.part)
    return CompareLine(k, axis.places(result, path.x[kept]), *on_scale(list(heights[:, kept])))


def gap_of(axis: CompareAxis, found: CurveDifference, k: int) -> CompareLine:
    """The difference of one explanation to the first."""
    path = found.trace(N_CHART_POINTS)
    if axis.part.beyond:
        more = found.trace(N_CHART_POINTS, within=axis.part[:2])
        x, first = np.unique(np.append(path.x, more.x), return_index=True)
        both = zip(path[1:], more[1:], strict=True)
        path = DifferenceTrace(x, *(np.append(a, b)[first] for a, b in both))
    heights = np.stack([path.difference, path.low, path.high])
    kept = np.arange(path.x.size)
    if not found.first.labels or not found.second.labels:
        kept = thin_parts(path.x, heights, axis.part)
    places = axis.places(found.first, path.x[kept])
    return CompareLine(k, places, *on_scale(list(heights[:, kept])))


def count_compare_rows(axis: CompareAxis, result: Result, k: int) -> CompareRows:
    """Where the rows of one explanation are; at levels their shares in per cent."""
    if not result.labels:
        low, high = reach(result)
        part = axis.part._replace(low=max(axis.part.low, low), high=min(axis.part.high, high))
        limits, density = count_along(result, part)
        top, width = float(density.max()), np.diff(limits)
        limits = limits[[0, -1]] if np.allclose(width, width.mean()) else limits
        rows = round_for_chart(100 * density / top, 1.0, 0) if top > 0 else ()
        return CompareRows(k, axis.places(axis.first, limits), rows)
    share = dict(zip(result.labels, 100 * result.level_rows().share, strict=True))
    if axis.labels:
        return CompareRows(k, (), tuple(round(float(share.get(n, 0.0)), 2) for n in axis.labels))
    shares = np.array(list(share.values()))
    places = axis.places(result, result.axis)
    return CompareRows(k, places, round_for_chart(100 * shares / shares.max(), 1.0, 0))
