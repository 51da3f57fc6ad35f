"""Charts of comparisons on the page: their numbers, and Vega specifications without data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from rhale.comparison.feature_comparison import FeatureComparison
from rhale.effects.difference import CurveDifference, DifferenceTrace
from rhale.effects.result import Result, is_constant, reach
from rhale.effects.support import ShownPart, find_shown_part
from rhale.report.charts import (
    CHART_DOT_AREA,
    CHART_WIDTH,
    CURVE_PANEL_HEIGHT,
    LABELS,
    LEVEL_HEIGHT,
    LOWER_PANEL_HEIGHT,
    SERIES_DASHES,
    SIDES,
    SLOPE,
    VALUE,
    WHISKER,
    ZOOM,
    ChartPanel,
    Spec,
    beside_at_level,
    draw_marks,
    layered,
    level_place,
    side_by_side,
    stacked,
    to_vega,
    x_axis,
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
COMPARE_STRIP_HEIGHT = 22  # of the rows of one explanation
GAPS_WIDTH, ROWS_WIDTH = 480, 70


def compile_compare_charts(forms: set[str], n_compared: int) -> dict[str, Spec]:
    """Make the charts that a page needs for so many explanations."""
    kinds = [COMPARE_CHART_KINDS[form] for form in sorted(forms & set(COMPARE_CHART_KINDS))]
    kinds += [NARROW] if "levels" in forms else []
    return {kind: compile_compare_chart(kind, n_compared) for kind in kinds}


@cache
def compile_compare_chart(kind: str, n_compared: int) -> Spec:
    """Make one kind of chart, ready for Vega."""
    if kind in (COMPARE_CHART_KINDS["levels"], NARROW):
        # Levels below one another: dots with whiskers, their differences, shares of rows.
        # Panels of one width would share a signal, and could not be given their own.
        panels = [
            level_compare_panel("lines", VALUE, n_compared, CHART_WIDTH),
            level_compare_panel("gaps", SLOPE, n_compared, GAPS_WIDTH),
            *([] if kind == NARROW else [level_shares_panel(n_compared)]),
        ]
        return to_vega(side_by_side(panels), (LABELS, []), (SIDES, n_compared))
    # Curves above, differences below them, and where the rows of each are.
    scale = "utc" if kind == COMPARE_CHART_KINDS["dates"] else "linear"
    hidden, shown = x_axis(scale, labels=False), x_axis(scale, labels=True)
    panels = [
        lines_panel("lines", ChartPanel(hidden, VALUE), n_compared, CURVE_PANEL_HEIGHT),
        lines_panel("gaps", ChartPanel(hidden, SLOPE), n_compared, LOWER_PANEL_HEIGHT),
        rows_panel(shown, n_compared),
    ]
    return to_vega(stacked(panels, 30), (ZOOM, None))


def lines_panel(name: str, panel: ChartPanel, n_compared: int, height: int) -> Spec:
    """Lines with thin ribbons, one look for each explanation; dots where there are levels."""
    each = [(k, f"look{k}", f"datum.k === {k}") for k in range(n_compared)]
    layers = panel.behind()
    layers += [
        panel.marks(name, "area", f"{look}-ribbon", "low", "high", where=mine)
        for _, look, mine in each
    ]
    for k, look, mine in each:
        layers += [
            panel.line(name, f"{look}-line", where=mine, strokeDash=SERIES_DASHES[k]),
            panel.dots(
                name, f"{look}-dot", CHART_DOT_AREA / 2, where=f"{mine} && datum.dot", filled=True
            ),
        ]
    return layered([*layers, panel.room(f"{name}-room"), panel.here()], height)


def rows_panel(x: Spec, n_compared: int) -> Spec:
    """Strips that are high where there are many rows, one for each explanation."""
    scale = {"domain": [0, 100 * n_compared]}
    channels: Spec = {
        "x": x,
        "y": {"field": "y", "type": "quantitative", "axis": None, "scale": scale},
    }
    channels |= {"y2": {"field": "y2"}}
    layers = []
    for k in range(n_compared):
        mine, strip = f"datum.k === {k}", {**channels, "x2": {"field": "x2"}}
        bar: Spec = {"strokeWidth": 5, "clip": True}
        layers += [
            draw_marks("rows", "rect", f"look{k}-rows", strip, f"{mine} && !datum.bar", clip=True),
            draw_marks("rows", "rule", f"look{k}-bars", channels, f"{mine} && datum.bar", **bar),
        ]
    return layered([*layers, ChartPanel(x, "").here()], COMPARE_STRIP_HEIGHT * n_compared)


def level_compare_panel(name: str, title: str, n_compared: int, width: float) -> Spec:
    """Dots and whiskers of all explanations."""
    panel = ChartPanel(level_place(labels=name == "lines"), title, is_levels=True)
    layers = panel.behind()
    for k in range(n_compared):
        beside: Spec = {"on": beside_at_level(), "where": f"datum.k === {k}"}
        layers += [
            panel.rule(name, f"look{k}-rule", "low", "high", WHISKER, **beside),
            panel.dots(name, f"look{k}-dot", CHART_DOT_AREA / 2, filled=True, **beside),
        ]
    layers.append(panel.room(f"{name}-room"))
    return layered(layers, {"step": LEVEL_HEIGHT, "for": "position"}, width)


def level_shares_panel(n_compared: int) -> Spec:
    """Which share of the rows every level has in each explanation."""
    axis = {"title": "rows, %", "titleFontWeight": "normal", "grid": False, "tickCount": 2}
    channels: Spec = {"x": {"field": "y", "type": "quantitative", "axis": axis}, "y": level_place()}
    layers = [
        draw_marks("rows", "bar", f"look{k}-rows", channels | beside_at_level(), f"datum.k === {k}")
        for k in range(n_compared)
    ]
    return layered(layers, {"step": LEVEL_HEIGHT, "for": "position"}, ROWS_WIDTH)
