"""Charts of comparisons on the page: their numbers, and Vega specifications without data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from rhale.comparison.feature_comparison import FeatureComparison
from rhale.effects.difference import CurveDifference, DifferenceTrace
from rhale.effects.result import Result, is_constant, reach
from rhale.effects.support import ShownPart, find_shown_part
from rhale.report.charts import (
    CHART_DOT_AREA,
    CHART_WIDTH,
    LABELS,
    LEVEL_HEIGHT,
    LINE,
    SIDES,
    SLOPE,
    VALUE,
    WHISKER,
    ZOOM,
    alt,
    data,
    hover_band,
    hover_line,
    level_axis,
    level_place,
    no_effect,
    settled,
    to_vega,
    x_axis,
    y_axis,
)
from rhale.report.numbers import (
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
from rhale.report.sentences import clean
from rhale.stats.arrays import FloatArray

MOST_DRAWN = 8  # explanations in one chart: there are as many colours
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
    """What is drawn of one feature in several explanations."""

    # form, dots, unit, labels, titles, shown, beyond: as in `Shape`; the last title is that
    # of differences
    form: Form
    x: Numbers = ()  # places that a reader steps through
    # lines, gaps: curves at one zero, and differences to the first
    lines: tuple[CompareLine, ...] = ()
    gaps: tuple[CompareLine, ...] = ()
    rows: tuple[CompareRows, ...] = ()  # where rows are
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


# --- Charts of comparisons without data: curves at one zero, their differences, rows of each

# What stands beside differences is the title of slopes elsewhere: no chart has both.


COMPARE_CHART_KINDS = {"curve": "compared", "dates": "date compared", "levels": "level compared"}
NARROW = "narrow compared"  # levels on a small screen
# Heights of panels, and of the rows of one explanation.
CURVES, DIFFERENCE_HEIGHT, COMPARE_STRIP_HEIGHT = 210, 130, 22
COMPARE_DASHES = (
    [1, 0],
    [8, 3],
    [2, 2],
    [9, 3, 2, 3],
    [12, 3],
    [5, 2, 1, 2],
    [4, 4],
    [10, 2, 4, 2],
)
GAPS_WIDTH, ROWS_WIDTH = 480, 70


def compile_compare_charts(forms: set[str], n_compared: int) -> dict[str, Any]:
    """Make the charts that a page needs for so many explanations."""
    kinds = [COMPARE_CHART_KINDS[form] for form in sorted(forms & set(COMPARE_CHART_KINDS))]
    kinds += [NARROW] if "levels" in forms else []
    return {kind: compile_compare_chart(kind, n_compared) for kind in kinds}


@cache
def compile_compare_chart(kind: str, n_compared: int) -> dict[str, Any]:
    """Make one kind of chart, ready for Vega."""
    if kind in (COMPARE_CHART_KINDS["levels"], NARROW):
        # Levels below one another: dots with whiskers, their differences, shares of rows.
        panels = [
            level_compare_panel("lines", VALUE, n_compared, labels=True),
            level_compare_panel("gaps", SLOPE, n_compared, labels=False),
            *([] if kind == NARROW else [level_shares_panel(n_compared)]),
        ]
        params = [alt.param(name=LABELS, value=[]), alt.param(name=SIDES, value=n_compared)]
        chart = alt.hconcat(*panels, spacing=18, bounds="flush").resolve_scale(y="shared")
        return to_vega(settled(chart.add_params(*params)))
    # Curves above, differences below them, and where the rows of each are.
    scale = "utc" if kind == COMPARE_CHART_KINDS["dates"] else "linear"
    hidden, shown = x_axis(scale, labels=False), x_axis(scale, labels=True)
    panels = [
        lines_panel("lines", VALUE, hidden, n_compared, CURVES),
        lines_panel("gaps", SLOPE, hidden, n_compared, DIFFERENCE_HEIGHT),
        rows_panel(shown, n_compared),
    ]
    return to_vega(
        settled(
            alt.vconcat(*panels, spacing=30, bounds="flush")
            .resolve_scale(x="shared")
            .add_params(alt.param(name=ZOOM, value=None))
        )
    )


def lines_panel(name: str, title: str, x: Any, n_compared: int, height: int) -> Any:
    """Lines with thin ribbons, one look for each explanation; dots where there are levels."""
    y, layers = y_axis(title), [no_effect(), hover_band(x)]
    for k in range(n_compared):
        rows = data(name).transform_filter(f"datum.k === {k}")
        ribbon = rows.mark_area(style=f"look{k}-ribbon", clip=True)
        layers.append(ribbon.encode(x, y_axis("", "low"), y2="high"))
    for k in range(n_compared):
        rows = data(name).transform_filter(f"datum.k === {k}")
        line = rows.mark_line(
            style=f"look{k}-line", strokeWidth=LINE, strokeDash=COMPARE_DASHES[k], clip=True
        )
        layers.append(line.encode(x, y))
        dots = rows.transform_filter("datum.dot").mark_point(
            style=f"look{k}-dot", size=CHART_DOT_AREA / 2, filled=True, opacity=1, clip=True
        )
        layers.append(dots.encode(x, y))
    room = data(f"{name}-room").mark_point(opacity=0, clip=True).encode(x=alt.value(0), y=y)
    return alt.layer(*layers, room, hover_line(x)).properties(width=CHART_WIDTH, height=height)


def rows_panel(x: Any, n_compared: int) -> Any:
    """Strips that are high where there are many rows, one for each explanation."""
    scale = alt.Scale(domain=[0, 100 * n_compared])
    y, layers = alt.Y("y:Q", axis=None, scale=scale), []
    for k in range(n_compared):
        rows = data("rows").transform_filter(f"datum.k === {k}")
        strip = rows.transform_filter("!datum.bar").mark_rect(style=f"look{k}-rows", clip=True)
        layers.append(strip.encode(x, x2="x2", y=y, y2="y2"))
        bars = rows.transform_filter("datum.bar").mark_rule(
            style=f"look{k}-bars", strokeWidth=5, clip=True
        )
        layers.append(bars.encode(x, y=y, y2="y2"))
    return alt.layer(*layers, hover_line(x)).properties(
        width=CHART_WIDTH, height=COMPARE_STRIP_HEIGHT * n_compared
    )


def offset_explanations() -> Any:
    """Explanations beside one another at a level."""
    sides = alt.Scale(domain=alt.ExprRef(f"sequence({SIDES})"), paddingOuter=0.4)
    return alt.YOffset("k:O", scale=sides)


def level_compare_panel(name: str, title: str, n_compared: int, *, labels: bool) -> Any:
    """Dots and whiskers of all explanations."""
    x, y = level_axis(title), level_place(labels=labels)
    layers = [data("here").mark_rect(style="here-area").encode(y=y), no_effect("x")]
    for k in range(n_compared):
        dots = data(name).transform_filter(f"datum.k === {k}")
        whiskers = dots.mark_rule(style=f"look{k}-rule", strokeWidth=WHISKER)
        layers.append(
            whiskers.encode(level_axis("", "low"), y, x2="high", yOffset=offset_explanations())
        )
        points = dots.mark_point(
            style=f"look{k}-dot", size=CHART_DOT_AREA / 2, filled=True, opacity=1
        )
        layers.append(points.encode(x, y, yOffset=offset_explanations()))
    room = data(f"{name}-room").mark_point(opacity=0).encode(x=x, y=alt.value(0))
    size = alt.Step(LEVEL_HEIGHT, **{"for": "position"})
    # panels of one width would share a signal, and could not be given their own
    width = CHART_WIDTH if name == "lines" else GAPS_WIDTH
    return alt.layer(*layers, room).properties(width=width, height=size)


def level_shares_panel(n_compared: int) -> Any:
    """Which share of the rows every level has in each explanation."""
    axis = alt.Axis(title="rows, %", titleFontWeight="normal", grid=False, tickCount=2)
    x, y, layers = alt.X("y:Q", axis=axis), level_place(), []
    for k in range(n_compared):
        rows = data("rows").transform_filter(f"datum.k === {k}")
        bars = rows.mark_bar(style=f"look{k}-rows")
        layers.append(bars.encode(x, y, yOffset=offset_explanations()))
    size = alt.Step(LEVEL_HEIGHT, **{"for": "position"})
    return alt.layer(*layers).properties(width=ROWS_WIDTH, height=size)
