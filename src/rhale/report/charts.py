"""Vega specifications without data: axes, sizes and marks of all charts, and those of effects.

Specifications hold no word of the user's: fields have names of our own, data and labels come in
as values. Colours are left to the page's style sheet, which knows light from dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from rhale.errors import MissingExtraError

Spec = dict[str, Any]
LINE, THIN, WHISKER, CHART_DOT_AREA = 2.0, 1.0, 1.4, 60
CURVE_PANEL_HEIGHT, ROW_STRIP_HEIGHT, LOWER_PANEL_HEIGHT, MAP_HEIGHT = 210, 22, 130, 320
CHART_WIDTH = 640  # before the page says how much room there is
LEVEL_HEIGHT, LEVEL_ROOM = 26, 170
ROW_TICK = 16  # a sampled row at a level
AXIS_ROOM = 52  # left of a panel: axes of panels that stand above one another are in line
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif"
VEGA_LITE = "6.4"  # the version that these specifications are written in
# Values that the page sets: the stretch that is shown, ends of the axis of slopes (null for all),
# names of levels, how many curves stand side by side at a level.
ZOOM, SLOPE_REACH_PARAM, LABELS, SIDES = "zoom", "reach", "labels", "sides"
REGION_LINE_CLASSES = {  # classes of the style sheet, and dashes, so that a grey print still tells
    "first": [1, 0],
    "second": [8, 3],
    "third": [9, 3, 2, 3],
    "fourth": [2, 2],
}
SERIES_DASHES = (  # of several curves, as many as they have colours
    [1, 0],
    [8, 3],
    [2, 2],
    [9, 3, 2, 3],
    [12, 3],
    [5, 2, 1, 2],
    [4, 4],
    [10, 2, 4, 2],
)
SHORT = (  # very large numbers along an axis are millions, very small ones have a power of ten
    "abs(datum.value) >= 1e12 || (datum.value != 0 && abs(datum.value) < 1e-4)"
    " ? format(datum.value, '.3~e') : abs(datum.value) >= 1e6"
    " ? replace(format(datum.value, '.4~s'), 'G', 'B')"
    " : abs(datum.value) < 1e4 ? replace(datum.label, ',', '') : datum.label"  # years, too
)
# Titles of axes are the user's words: these stand for them, each with its value of the page.
VALUE, PLACE_TITLE, SLOPE = "@value", "@place", "@slope"
TITLES = {VALUE: "value_title", PLACE_TITLE: "place_title", SLOPE: "slope_title"}
EMPTY_TITLE = "x"  # stands for a title, so that an empty chart is as high as one with words


def import_report_library(name: str) -> Any:
    """Import a library of the extra `report`, or say how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        msg = f"the report needs {name}, which is not installed: pip install 'rhale[report]'"
        raise MissingExtraError(msg) from error


def to_vega(chart: Spec, *params: tuple[str, Any]) -> Spec:
    """Compile a chart with the values that the page sets, and name its marks for the style sheet."""
    vl_convert = import_report_library("vl_convert")
    axis: Spec = {"domain": False, "ticks": False, "labelPadding": 6, "labelFontSize": 11}
    looks: Spec = {"font": FONT, "aria": False, "background": "transparent", "padding": 2}
    chart = {
        **chart,
        "params": [{"name": name, "value": value} for name, value in params],
        "config": {"view": {"stroke": None}, "axis": axis, **looks},
    }
    known = VEGA_LITE if VEGA_LITE in vl_convert.get_vegalite_versions() else None
    vega: Spec = vl_convert.vegalite_to_vega(chart, vl_version=known)
    del vega["$schema"]
    # Make titles of axes values that the page sets: Vega-Lite itself takes but fixed words.
    for group in (vega, *all_marks(vega)):
        for axis in group.get("axes", ()):
            if axis.get("title") in TITLES:
                axis["title"] = {"signal": TITLES[axis["title"]]}
    titles = [{"name": name, "value": EMPTY_TITLE} for name in TITLES.values()]
    vega["signals"] = [*vega.get("signals", []), *titles]
    for i, mark in enumerate(all_marks(vega)):
        styles = [style for style in mark.get("style", ()) if "-" in style]
        if styles:  # Vega writes names, not styles, into the classes of its SVG; names differ
            mark["name"] = f"{styles[0]} n{i}"
    return vega


def all_marks(group: Spec) -> Iterator[Spec]:
    """Go through the marks of a group and of the groups inside it."""
    for mark in group.get("marks", ()):
        yield mark
        yield from all_marks(mark)


# --- Axes, which are channels of marks


def x_axis(scale: str, *, labels: bool) -> Spec:
    """The axis of the feature: `scale` is linear, log or utc."""
    axis: Spec = {"labels": labels, "grid": False, "tickCount": 7, "labelFlush": True}
    axis |= {"title": PLACE_TITLE if labels else None, "titleFontWeight": "normal"}
    axis |= {"labelOverlap": True} if scale == "utc" else {"labelOverlap": True, "labelExpr": SHORT}
    zero: Spec = {} if scale == "log" else {"zero": False}
    return {
        "field": "x",
        "type": "temporal" if scale == "utc" else "quantitative",
        "scale": {"type": scale, "nice": False, "domainRaw": {"expr": ZOOM}, **zero},
        "axis": axis,
    }


def y_axis(title: str, field: str = "y", *, zero: bool = False, reach: bool = False) -> Spec:
    """The axis of the prediction, or of its slope, which may be told how far to reach."""
    axis: Spec = {"title": title, "tickCount": 5, "labelExpr": SHORT, "grid": True}
    axis |= {"titleAlign": "left", "titleAngle": 0, "titleX": 0, "titleY": -8}
    axis |= {"titleFontWeight": "normal", "minExtent": AXIS_ROOM, "maxExtent": AXIS_ROOM}
    raw: Spec = {"domainRaw": {"expr": SLOPE_REACH_PARAM}} if reach else {}
    scale: Spec = {"zero": zero, "nice": True, **raw}
    return {"field": field, "type": "quantitative", "axis": axis, "scale": scale, "stack": None}


def level_axis(title: str, field: str = "y") -> Spec:
    """The axis of the prediction, below levels that stand below one another."""
    axis: Spec = {"title": title, "tickCount": 5, "titleFontWeight": "normal", "labelExpr": SHORT}
    scale: Spec = {"zero": False, "padding": 8}
    return {"field": field, "type": "quantitative", "axis": axis, "scale": scale}


def level_place(*, labels: bool = False, band: float = 0.5) -> Spec:
    """The axis of levels, which are numbered; their names are values of a parameter."""
    names: Spec = {"title": None, "grid": False, "labelExpr": f"{LABELS}[datum.value]"}
    names |= {"labelLimit": 2 * LEVEL_ROOM, "labelOverlap": False, "labelFontSize": 12}
    scale: Spec = {"domain": {"expr": f"sequence(length({LABELS}))"}}
    axis = names if labels else None
    return {"field": "x", "type": "ordinal", "axis": axis, "scale": scale, "bandPosition": band}


def beside_at_level() -> Spec:
    """Channel of curves that stand side by side at one level."""
    scale: Spec = {"domain": {"expr": f"sequence({SIDES})"}, "paddingOuter": 0.4}
    return {"yOffset": {"field": "k", "type": "ordinal", "scale": scale}}


# --- Marks, and panels that have them


def draw_marks(
    rows: str, mark: str, style: str, channels: Spec, where: str = "", **looks: Any
) -> Spec:
    """Rows that the page fills in, as marks; `where` chooses some of them."""
    looks |= {"style": style} if style else {}
    spec: Spec = {"data": {"name": rows}, "mark": {"type": mark, **looks}, "encoding": channels}
    return {**spec, "transform": [{"filter": where}]} if where else spec


@dataclass(frozen=True)
class ChartPanel:
    """Two axes: places along one, heights along the other."""

    along: Spec  # channel of the places
    title: str  # of heights
    is_levels: bool = False  # whether places stand below one another, so that heights go right
    reach: bool = False  # whether the page may say how far the axis of heights reaches

    def heights(self, field: str) -> Spec:
        """Channel of the heights; those beside the main ones bring no title."""
        title = self.title if field == "y" else ""
        if self.is_levels:
            return level_axis(title, field)
        return y_axis(title, field, reach=self.reach and field == "y")

    def marks(
        self,
        rows: str,
        mark: str,
        style: str,
        *fields: str,
        on: Spec | None = None,
        where: str = "",
        **looks: Any,
    ) -> Spec:
        """Marks at one height, or from one height to another; `on` are more channels."""
        place, value = ("y", "x") if self.is_levels else ("x", "y")
        low, *high = fields or ("y",)
        channels: Spec = {place: self.along, value: self.heights(low)}
        channels |= {f"{value}2": {"field": field} for field in high} | (on or {})
        clip: Spec = {} if self.is_levels else {"clip": True}
        return draw_marks(rows, mark, style, channels, where, **clip, **looks)

    def line(self, rows: str, style: str, width: float = LINE, **more: Any) -> Spec:
        """A line through rows."""
        return self.marks(rows, "line", style, strokeWidth=width, **more)

    def rule(self, rows: str, style: str, low: str, high: str, width: float, **more: Any) -> Spec:
        """A bar from one height to another at every place."""
        return self.marks(rows, "rule", style, low, high, strokeWidth=width, **more)

    def dots(self, rows: str, style: str, size: float = CHART_DOT_AREA, **more: Any) -> Spec:
        """A dot at every place."""
        return self.marks(rows, "point", style, size=size, opacity=1, **more)

    def whiskers(self, rows: str) -> list[Spec]:
        """At every place, how rows differ and how well the mean is known."""
        return [
            self.rule(rows, "spread-rule", "a", "b", 5),
            self.rule(rows, "mean-rule", "low", "high", LINE),
        ]

    def behind(self) -> list[Spec]:
        """Where there is no effect, and the stretch or level that the reader looks at."""
        if self.is_levels:
            here = draw_marks("here", "rect", "here-area", {"y": self.along})
            return [here, no_effect("x")]
        dragged: Spec = {"x": self.along, "x2": {"field": "x2"}}
        return [no_effect(), draw_marks("dragged", "rect", "drag-area", dragged, clip=True)]

    def here(self) -> Spec:
        """A line at the place that the reader looks at."""
        return draw_marks(
            "here", "rule", "here-line", {"x": self.along}, strokeWidth=THIN, clip=True
        )

    def room(self, rows: str = "room") -> Spec:
        """Nothing to see: heights that the axis has room for, so that two charts have the same one."""
        place, value = ("y", "x") if self.is_levels else ("x", "y")
        channels: Spec = {place: {"value": 0}, value: self.heights("y")}
        clip: Spec = {} if self.is_levels else {"clip": True}
        return draw_marks(rows, "point", "", channels, opacity=0, **clip)


def no_effect(channel: str = "y") -> Spec:
    """The line of no effect."""
    rule = {"type": "rule", "style": "zero-line", "strokeWidth": THIN}
    return {"data": {"values": [{}]}, "mark": rule, "encoding": {channel: {"datum": 0}}}


def layered(layers: Iterable[Spec], height: Any, width: float = CHART_WIDTH) -> Spec:
    """Marks over one another in a panel of this size."""
    return {"layer": list(layers), "width": width, "height": height}


def stacked(panels: Iterable[Spec], spacing: float) -> Spec:
    """Panels above one another, which share the axis of places."""
    shared = {"scale": {"x": "shared"}}
    return {"vconcat": list(panels), "spacing": spacing, "bounds": "flush", "resolve": shared}


def side_by_side(panels: Iterable[Spec]) -> Spec:
    """Panels beside one another, which share their levels."""
    shared = {"scale": {"y": "shared"}}
    return {"hconcat": list(panels), "spacing": 18, "bounds": "flush", "resolve": shared}


# --- Charts of effects and of their regions


@cache
def compile_chart(kind: str) -> Spec:
    """Make one kind of chart; the same for all pages."""
    first, _, what = kind.rpartition(" ")
    scale = {"log": "log", "date": "utc"}.get(first, "linear")
    if kind == "map":
        return to_vega(feature_map_chart())
    if kind in ("levels", "narrow levels"):
        # Levels below one another: dots with whiskers, steps to the next level, rows.
        steps = [level_steps_panel()] if kind == "levels" else []
        panels = [level_effect_panel(), *steps, level_counts_panel()]
        return to_vega(side_by_side(panels), (LABELS, []))
    if kind == "level regions":
        return to_vega(level_region_chart(), (LABELS, []), (SIDES, 2))
    if what == "regions":
        return to_vega(region_chart(scale), (ZOOM, None))
    # The curve above, where the rows are, and below the bins that the curve is made of.
    scale = "utc" if what == "dates" else scale
    bins = what != "profile"
    panels = [
        effect_panel(x_axis(scale, labels=False)),
        strip_panel(x_axis(scale, labels=not bins)),
    ]
    panels += [bins_panel(x_axis(scale, labels=True))] if bins else []
    return to_vega(stacked(panels, 26), (ZOOM, None), (SLOPE_REACH_PARAM, None))


def effect_panel(x: Spec) -> Spec:
    """Curve, how rows differ, how well the mean is known; dots where there are levels."""
    panel = ChartPanel(x, VALUE)
    lines: Spec = {"on": {"detail": {"field": "k", "type": "nominal"}}}
    layers = [
        *panel.behind(),
        panel.marks("band", "area", "spread-area", "a", "b"),
        *(
            panel.line(rows, f"{style}-line", THIN, **lines)
            for rows, style in (
                ("singles", "single"),
                ("estimated", "estimated"),
                ("measured", "measured"),
            )
        ),
        panel.marks("band", "area", "mean-area", "low", "high"),
        panel.line("line", "effect-line"),
        *panel.whiskers("dots"),
        panel.dots("dots", "effect-dot", filled=True),
        *missing_marks(panel, ("spread-rule", "a", "b", 5), ("mean-rule", "low", "high", LINE)),
        panel.room(),
        panel.here(),
    ]
    return layered(layers, CURVE_PANEL_HEIGHT)


def missing_marks(panel: ChartPanel, *rules: tuple[str, str, str, float]) -> list[Spec]:
    """The point of missing values right of the panel, its bars, and its name."""
    side: Spec = {"x": {"value": {"expr": "width + 30"}}}
    name: Spec = {"y": {"value": {"expr": "concat_0_height - 12"}}, **side}
    bars = [
        draw_marks(
            "missing",
            "rule",
            style,
            {"y": panel.heights(low), "y2": {"field": high}, **side},
            strokeWidth=width,
        )
        for style, low, high, width in rules
    ]
    dot: Spec = {"size": CHART_DOT_AREA, "filled": False, "opacity": 1, "strokeWidth": LINE}
    text: Spec = {"text": "missing", "baseline": "top", "fontSize": 11}
    return [
        *bars,
        draw_marks("missing", "point", "missing-dot", {"y": panel.heights("y"), **side}, **dot),
        draw_marks("missing", "text", "plain-text", name, **text),
    ]


def strip_panel(x: Spec) -> Spec:
    """Where the rows are, and triangles at the ends of the axis beyond which there are more."""
    y: Spec = {"field": "y", "type": "quantitative", "axis": None}
    rows: Spec = {"x": x, "x2": {"field": "x2"}, "y": {**y, "scale": {"domain": [0, 100]}}}
    zero: Spec = {"y2": {"datum": 0}}
    mark: Spec = {"size": 70, "opacity": 1, "filled": True}
    layers = [
        draw_marks("rows", "rect", "count-area", rows | zero, clip=True),
        draw_marks(
            "counts", "rule", "count-rule", {"x": x, "y": y} | zero, strokeWidth=6, clip=True
        ),
        ChartPanel(x, "").here(),
    ]
    for side, place in (("left", 0), ("right", {"expr": "width"})):
        ends = {"x": {"value": place}, "y": {"value": ROW_STRIP_HEIGHT}}
        is_here, shape = f"datum.side === '{side}'", f"triangle-{side}"
        layers.append(
            draw_marks("beyond", "point", "beyond-mark", ends, is_here, shape=shape, **mark)
        )
    return layered(layers, ROW_STRIP_HEIGHT)


def bins_panel(x: Spec) -> Spec:
    """Bins: the effect as a bar, sloped where the fit is, how rows differ, how sure the mean is."""
    panel = ChartPanel(x, SLOPE, reach=True)
    gaps: Spec = {"x": x, "x2": {"field": "x2"}}
    bars: Spec = {"on": {"detail": {"field": "k", "type": "nominal"}}}
    layers = [
        no_effect(),
        draw_marks("gaps", "rect", "gap-area", gaps, clip=True),
        panel.marks("bars", "area", "bar-area", **bars),
        panel.line("bars", "effect-line", **bars),
        *panel.whiskers("bins"),
    ]
    jump: Spec = {"x": x, "y": {"value": 0}, "text": {"field": "n", "type": "nominal"}}
    words: Spec = {"baseline": "top", "fontSize": 11}
    for where, align, dx in (("datum.left", "right", -5), ("!datum.left", "left", 5)):
        layers.append(
            draw_marks("jumps", "text", "plain-text", jump, where, align=align, dx=dx, **words)
        )
    return layered([*layers, panel.here()], LOWER_PANEL_HEIGHT)


def level_effect_panel() -> Spec:
    """The effect of each level, how rows differ, how well the mean is known."""
    panel = ChartPanel(level_place(labels=True), VALUE, is_levels=True)
    ticks: Spec = {"thickness": THIN, "size": ROW_TICK}
    layers = [
        *panel.behind(),
        *panel.whiskers("dots"),
        panel.marks("estimated", "tick", "estimated-tick", **ticks),
        panel.marks("measured", "tick", "measured-tick", **ticks),
        panel.dots("dots", "effect-dot", where="!datum.m", filled=True),
        panel.room(),
        panel.dots("dots", "missing-dot", where="datum.m", strokeWidth=LINE),
    ]
    return layered(layers, {"step": LEVEL_HEIGHT})


def level_steps_panel() -> Spec:
    """Steps, each between the levels that it leads from and to."""
    panel = ChartPanel(level_place(band=1.0), "step to the next", is_levels=True)
    bars = panel.marks("steps", "rule", "bar-rule", on={"x2": {"datum": 0}}, strokeWidth=9)
    return layered([no_effect("x"), bars, *panel.whiskers("steps")], {"step": LEVEL_HEIGHT})


def level_counts_panel() -> Spec:
    """How many rows each level has."""
    axis: Spec = {"title": "rows", "labels": False, "titleFontWeight": "normal", "grid": False}
    channels: Spec = {"x": {"field": "y", "type": "quantitative", "axis": axis}, "y": level_place()}
    words: Spec = {**channels, "text": {"field": "n", "type": "nominal"}}
    layers = [
        draw_marks("counts", "bar", "count-area", channels, height=8),
        draw_marks("counts", "text", "plain-text", words, align="left", dx=5, fontSize=11),
    ]
    return layered(layers, {"step": LEVEL_HEIGHT}, 40)


def region_chart(scale: str) -> Spec:
    """Curves of regions and their intervals over the common one; dots where there are levels."""
    panel = ChartPanel(x_axis(scale, labels=True), VALUE)
    layers = [*panel.behind(), panel.line("common", "common-line", WHISKER)]
    for k, (name, dash) in enumerate(REGION_LINE_CLASSES.items()):
        style, mine = f"{name}-region", f"datum.k === {k}"
        layers += [
            panel.marks("curves", "area", f"{name}-ribbon", "low", "high", where=mine),
            panel.line("curves", style, where=mine, strokeDash=dash),
            panel.dots(
                "curves", style, CHART_DOT_AREA / 2, where=f"{mine} && datum.dot", strokeWidth=LINE
            ),
        ]
    return layered([*layers, panel.room(), panel.here()], CURVE_PANEL_HEIGHT)


def level_region_chart() -> Spec:
    """Levels below one another, and the regions of each side by side; the common one as a stroke."""
    panel = ChartPanel(level_place(labels=True), VALUE, is_levels=True)
    layers = [*panel.behind(), panel.marks("common", "tick", "common-tick", thickness=WHISKER)]
    for k, name in enumerate(REGION_LINE_CLASSES):
        style = f"{name}-region"
        beside: Spec = {"on": beside_at_level(), "where": f"datum.k === {k}"}
        layers += [
            panel.rule("curves", style, "low", "high", WHISKER, **beside),
            panel.dots("curves", style, CHART_DOT_AREA / 2, strokeWidth=LINE, **beside),
        ]
    return layered([*layers, panel.room()], {"step": 2 * LEVEL_HEIGHT, "for": "position"})


def feature_map_chart() -> Spec:
    """Every feature as a dot: how much it moves predictions, and how much rows differ."""
    axis: Spec = {"title": "typical spread between rows", "tickCount": 6, "labelExpr": SHORT}
    x: Spec = {"field": "s", "type": "quantitative", "axis": {**axis, "titleFontWeight": "normal"}}
    channels: Spec = {
        "x": {**x, "scale": {"zero": True}},
        "y": y_axis("importance", "e", zero=True),
    }
    text: Spec = {**channels, "text": {"field": "label", "type": "nominal"}}
    dot: Spec = {"size": 90, "filled": True, "opacity": 1, "cursor": "pointer"}
    layers = [
        draw_marks("diagonal", "line", "zero-line", channels, strokeDash=[4, 4], clip=True),
        draw_marks("points", "point", "map-dot", channels, **dot),
    ]
    for where, align, dx in (("!datum.left", "left", 9), ("datum.left", "right", -9)):
        words: Spec = {"align": align, "dx": dx, "fontSize": 12, "limit": 180}
        layers.append(draw_marks("points", "text", "plain-text", text, where, **words))
    return layered(layers, MAP_HEIGHT)
