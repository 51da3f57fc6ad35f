"""Vega specifications without data, one for each kind of chart.

Specifications hold no word of the user's: fields have names of our own, data and labels come in
as values. Colours are left to the page's style sheet, which knows light from dark.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from rhale.errors import MissingExtraError

# --- Optional libraries of the report, and what to do where one is missing


def import_report_library(name: str) -> Any:
    """Import a library of the extra `report`, or say how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        msg = f"the report needs {name}, which is not installed: pip install 'rhale[report]'"
        raise MissingExtraError(msg) from error


alt = import_report_library("altair")
vl_convert = import_report_library("vl_convert")

LINE, THIN, WHISKER, CHART_DOT_AREA = 2.0, 1.0, 1.4, 60
CURVE_PANEL_HEIGHT, ROW_STRIP_HEIGHT, BOTTOM, MAP_HEIGHT = 210, 22, 130, 320
CHART_WIDTH = 640  # before the page says how much room there is
LEVEL_HEIGHT, LEVEL_ROOM = 26, 170
ROW_TICK = 16  # a sampled row at a level
AXIS_ROOM = 52  # left of a panel: axes of panels that stand above one another are in line
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif"
ZOOM = "zoom"  # the stretch that is shown, or null for all
SLOPE_REACH_PARAM = "reach"  # ends of the axis of slopes, or null for all of them
LABELS = "labels"  # names of levels
SIDES = "sides"  # how many regions stand side by side
REGION_LINE_CLASSES = {  # classes of the style sheet, and dashes, so that a grey print still tells
    "first": [1, 0],
    "second": [8, 3],
    "third": [9, 3, 2, 3],
    "fourth": [2, 2],
}
SHORT = (  # very large numbers along an axis are millions, very small ones have a power of ten
    "abs(datum.value) >= 1e12 || (datum.value != 0 && abs(datum.value) < 1e-4)"
    " ? format(datum.value, '.3~e') : abs(datum.value) >= 1e6"
    " ? replace(format(datum.value, '.4~s'), 'G', 'B')"
    " : abs(datum.value) < 1e4 ? replace(datum.label, ',', '') : datum.label"  # years, too
)
# Titles of axes, which are the user's words.
VALUE, PLACE_TITLE, SLOPE = "@value", "@place", "@slope"
TITLES = {
    VALUE: "value_title",
    PLACE_TITLE: "place_title",
    SLOPE: "slope_title",
}  # and their parameters
EMPTY_TITLE = "x"  # stands for a title, so that an empty chart is as high as one with words


def compile_charts(kinds: set[str]) -> dict[str, Any]:
    """Make the charts that a page needs, ready for Vega."""
    return {kind: compile_chart(kind) for kind in sorted(kinds)}


@cache
def compile_chart(kind: str) -> dict[str, Any]:
    """Make one kind of chart; the same for all pages."""
    makers = {
        "curve": lambda: curve_chart("linear", bins=True),
        "log curve": lambda: curve_chart("log", bins=True),
        "log profile": lambda: curve_chart("log", bins=False),
        "log regions": lambda: region_chart("log"),
        "dates": lambda: curve_chart("utc", bins=True),
        "profile": lambda: curve_chart("linear", bins=False),
        "date profile": lambda: curve_chart("utc", bins=False),
        "levels": lambda: level_effect_chart(steps=True),
        "narrow levels": lambda: level_effect_chart(steps=False),
        "map": feature_map_chart,
        "regions": lambda: region_chart("linear"),
        "date regions": lambda: region_chart("utc"),
        "level regions": level_region_chart,
    }
    return to_vega(makers[kind]())


def to_vega(chart: Any) -> dict[str, Any]:
    """Compile a chart, and name its marks so that the style sheet finds them."""
    version = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    known = version if version in vl_convert.get_vegalite_versions() else None
    vega: dict[str, Any] = vl_convert.vegalite_to_vega(chart.to_dict(), vl_version=known)
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


def all_marks(group: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Go through the marks of a group and of the groups inside it."""
    for mark in group.get("marks", ()):
        yield mark
        yield from all_marks(mark)


def settled(chart: Any) -> Any:
    """Give a chart the looks that all have in common."""
    axis = {"domain": False, "ticks": False, "labelPadding": 6, "labelFontSize": 11}
    return chart.configure(
        font=FONT,
        view=alt.ViewConfig(stroke=None),
        axis=axis,
        aria=False,
        background="transparent",
        padding=2,
    )


def data(name: str) -> Any:
    """Name rows that the page fills in."""
    return alt.Chart(alt.NamedData(name))


def curve_chart(scale: str, *, bins: bool) -> Any:
    """The curve above, where the rows are, and below the bins that the curve is made of."""
    panels = [
        curve_panel(x_axis(scale, labels=False)),
        strip_panel(x_axis(scale, labels=not bins)),
    ]
    if bins:
        panels.append(bins_panel(x_axis(scale, labels=True)))
    return settled(
        alt.vconcat(*panels, spacing=26, bounds="flush")
        .resolve_scale(x="shared")
        .add_params(*(alt.param(name=name, value=None) for name in (ZOOM, SLOPE_REACH_PARAM)))
    )


def x_axis(scale: str, *, labels: bool) -> Any:
    """The axis of the feature."""
    words = {} if scale == "utc" else {"labelExpr": SHORT}
    zero = {} if scale == "log" else {"zero": False}
    axis = alt.Axis(
        title=PLACE_TITLE if labels else None,
        titleFontWeight="normal",
        labels=labels,
        grid=False,
        tickCount=7,
        labelFlush=True,
        labelOverlap=True,
        **words,
    )
    return alt.X(
        "x",
        type="temporal" if scale == "utc" else "quantitative",
        scale=alt.Scale(type=scale, nice=False, domainRaw=alt.ExprRef(ZOOM), **zero),
        axis=axis,
    )


def y_axis(title: str, field: str = "y", *, zero: bool = False, reach: bool = False) -> Any:
    """The axis of the prediction, or of its slope, which may be told how far to reach."""
    axis = alt.Axis(
        title=title,
        tickCount=5,
        labelExpr=SHORT,
        grid=True,
        titleAlign="left",
        titleAngle=0,
        titleX=0,
        titleY=-8,
        titleFontWeight="normal",
        minExtent=AXIS_ROOM,
        maxExtent=AXIS_ROOM,
    )
    raw = {"domainRaw": alt.ExprRef(SLOPE_REACH_PARAM)} if reach else {}
    scale = alt.Scale(zero=zero, nice=True, **raw)
    return alt.Y(field, type="quantitative", axis=axis, scale=scale, stack=None)


def curve_panel(x: Any) -> Any:
    """Curve, how rows differ, how well the mean is known; dots where there are levels."""
    y, band, dots = y_axis(VALUE), data("band"), data("dots")
    layers = [
        no_effect(),
        hover_band(x),
        band.mark_area(style="spread-area", clip=True).encode(x, y_axis("", "a"), y2="b"),
        data("singles")
        .mark_line(style="single-line", strokeWidth=THIN, clip=True)
        .encode(x, y, detail="k:N"),
        *[
            data(name)
            .mark_line(style=style, strokeWidth=THIN, clip=True)
            .encode(x, y, detail="k:N")
            for name, style in (("estimated", "estimated-line"), ("measured", "measured-line"))
        ],
        band.mark_area(style="mean-area", clip=True).encode(x, y_axis("", "low"), y2="high"),
        data("line").mark_line(style="effect-line", strokeWidth=LINE, clip=True).encode(x, y),
        dots.mark_rule(style="spread-rule", strokeWidth=5, clip=True).encode(
            x, y_axis("", "a"), y2="b"
        ),
        dots.mark_rule(style="mean-rule", strokeWidth=LINE, clip=True).encode(
            x, y_axis("", "low"), y2="high"
        ),
        dots.mark_point(
            style="effect-dot", size=CHART_DOT_AREA, filled=True, opacity=1, clip=True
        ).encode(x, y),
        *missing_layers(y),
        room_layer(y),
        hover_line(x),
    ]
    return alt.layer(*layers).properties(width=CHART_WIDTH, height=CURVE_PANEL_HEIGHT)


def room_layer(y: Any) -> Any:
    """Nothing to see: heights that the axis has room for, so that two charts have the same one."""
    return data("room").mark_point(opacity=0, clip=True).encode(x=alt.value(0), y=y)


def region_chart(scale: str) -> Any:
    """Curves of regions and their intervals over the common one; dots where there are levels."""
    x, y = x_axis(scale, labels=True), y_axis(VALUE)
    common = data("common").mark_line(style="common-line", strokeWidth=WHISKER, clip=True)
    layers = [no_effect(), hover_band(x), common.encode(x, y)]
    for k, (name, dash) in enumerate(REGION_LINE_CLASSES.items()):
        curves = data("curves").transform_filter(f"datum.k === {k}")
        looks = {"style": f"{name}-region", "strokeWidth": LINE, "clip": True}
        ribbon = curves.mark_area(style=f"{name}-ribbon", clip=True)
        layers.append(ribbon.encode(x, y_axis("", "low"), y2="high"))
        layers.append(curves.mark_line(strokeDash=dash, **looks).encode(x, y))
        dots = curves.transform_filter("datum.dot").mark_point(
            size=CHART_DOT_AREA / 2, opacity=1, **looks
        )
        layers.append(dots.encode(x, y))
    layers += [room_layer(y), hover_line(x)]
    return settled(
        alt.layer(*layers)
        .properties(width=CHART_WIDTH, height=CURVE_PANEL_HEIGHT)
        .add_params(alt.param(name=ZOOM, value=None))
    )


def level_region_chart() -> Any:
    """Levels below one another, and the regions of each side by side; the common one as a stroke."""
    x, y = level_axis(VALUE), level_place(labels=True)
    sides = alt.Scale(domain=alt.ExprRef(f"sequence({SIDES})"), paddingOuter=0.4)
    offset = alt.YOffset("k:O", scale=sides)
    common = data("common").mark_tick(style="common-tick", thickness=WHISKER)
    layers = [data("here").mark_rect(style="here-area").encode(y=y), no_effect("x")]
    layers.append(common.encode(x, y))
    for k, style in enumerate(f"{name}-region" for name in REGION_LINE_CLASSES):
        dots = data("curves").transform_filter(f"datum.k === {k}")
        whiskers = dots.mark_rule(style=style, strokeWidth=WHISKER)
        layers.append(whiskers.encode(level_axis("", "low"), y, x2="high", yOffset=offset))
        points = dots.mark_point(style=style, size=CHART_DOT_AREA / 2, opacity=1, strokeWidth=LINE)
        layers.append(points.encode(x, y, yOffset=offset))
    layers.append(data("room").mark_point(opacity=0).encode(x=x, y=alt.value(0)))
    return settled(
        alt.layer(*layers)
        .properties(width=CHART_WIDTH, height=alt.Step(2 * LEVEL_HEIGHT, **{"for": "position"}))
        .add_params(alt.param(name=LABELS, value=[]), alt.param(name=SIDES, value=2))
    )


def missing_layers(y: Any) -> list[Any]:
    """The point of missing values, right of the panel."""
    rows, side = data("missing"), beside_panel()
    return [
        rows.mark_rule(style="spread-rule", strokeWidth=5).encode(
            y=y_axis("", "a"), y2="b", **side
        ),
        rows.mark_rule(style="mean-rule", strokeWidth=LINE).encode(
            y=y_axis("", "low"), y2="high", **side
        ),
        *missing_dot(y),
    ]


def missing_dot(y: Any) -> list[Any]:
    """That point alone, and its name."""
    rows, side = data("missing"), beside_panel()
    return [
        rows.mark_point(
            style="missing-dot", size=CHART_DOT_AREA, filled=False, opacity=1, strokeWidth=LINE
        ).encode(y=y, **side),
        rows.mark_text(style="plain-text", text="missing", baseline="top", fontSize=11).encode(
            y=alt.value(alt.ExprRef("concat_0_height - 12")), **side
        ),
    ]


def beside_panel() -> dict[str, Any]:
    """A place right of the panel."""
    return {"x": alt.value(alt.ExprRef("width + 30"))}


def no_effect(channel: str = "y") -> Any:
    """The line of no effect."""
    one = alt.Chart(alt.InlineData([{}]))
    return one.mark_rule(style="zero-line", strokeWidth=THIN).encode(**{channel: alt.datum(0)})


def hover_line(x: Any) -> Any:
    """A line at the place that the reader looks at."""
    return data("here").mark_rule(style="here-line", strokeWidth=THIN, clip=True).encode(x)


def hover_band(x: Any) -> Any:
    """The stretch that the reader drags over."""
    return data("dragged").mark_rect(style="drag-area", clip=True).encode(x, x2="x2")


def strip_panel(x: Any) -> Any:
    """Where the rows are."""
    return alt.layer(
        data("rows")
        .mark_rect(style="count-area", clip=True)
        .encode(
            x, x2="x2", y=alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[0, 100])), y2=alt.datum(0)
        ),
        data("counts")
        .mark_rule(style="count-rule", strokeWidth=6, clip=True)
        .encode(x, y=alt.Y("y:Q", axis=None), y2=alt.datum(0)),
        hover_line(x),
        *beyond_marks(),
    ).properties(width=CHART_WIDTH, height=ROW_STRIP_HEIGHT)


def beyond_marks() -> list[Any]:
    """Triangles at the ends of the axis beyond which there are rows."""
    marks, places = data("beyond"), {"left": 0, "right": alt.ExprRef("width")}
    return [
        marks.transform_filter(f"datum.side === '{side}'")
        .mark_point(style="beyond-mark", shape=f"triangle-{side}", size=70, opacity=1, filled=True)
        .encode(x=alt.value(place), y=alt.value(ROW_STRIP_HEIGHT))
        for side, place in places.items()
    ]


def bins_panel(x: Any) -> Any:
    """Bins: the effect as a bar, sloped where the fit is, how rows differ, how sure the mean is."""
    y, bins, jumps = y_axis(SLOPE, reach=True), data("bins"), data("jumps")
    words = {"style": "plain-text", "baseline": "top", "fontSize": 11}
    layers = [
        no_effect(),
        data("gaps").mark_rect(style="gap-area", clip=True).encode(x, x2="x2"),
        data("bars").mark_area(style="bar-area", clip=True).encode(x, y, detail="k:N"),
        data("bars")
        .mark_line(style="effect-line", strokeWidth=LINE, clip=True)
        .encode(x, y, detail="k:N"),
        bins.mark_rule(style="spread-rule", strokeWidth=5, clip=True).encode(
            x, y_axis("", "a"), y2="b"
        ),
        bins.mark_rule(style="mean-rule", strokeWidth=LINE, clip=True).encode(
            x, y_axis("", "low"), y2="high"
        ),
        jumps.transform_filter("datum.left")
        .mark_text(align="right", dx=-5, **words)
        .encode(x, y=alt.value(0), text="n:N"),
        jumps.transform_filter("!datum.left")
        .mark_text(align="left", dx=5, **words)
        .encode(x, y=alt.value(0), text="n:N"),
        hover_line(x),
    ]
    return alt.layer(*layers).properties(width=CHART_WIDTH, height=BOTTOM)


def level_effect_chart(*, steps: bool) -> Any:
    """Levels below one another: dots with whiskers, steps to the next level, rows."""
    panels = [level_effect_panel(), *([step_panel()] if steps else []), level_counts_panel()]
    return settled(
        alt.hconcat(*panels, spacing=18, bounds="flush")
        .resolve_scale(y="shared")
        .add_params(alt.param(name=LABELS, value=[]))
    )


def level_place(*, labels: bool = False, band: float = 0.5) -> Any:
    """The axis of levels, which are numbered; their names are values of a parameter."""
    names = alt.Axis(
        title=None,
        grid=False,
        labelExpr=f"{LABELS}[datum.value]",
        labelLimit=2 * LEVEL_ROOM,
        labelOverlap=False,
        labelFontSize=12,
    )
    scale = alt.Scale(domain=alt.ExprRef(f"sequence(length({LABELS}))"))
    return alt.Y("x:O", axis=names if labels else None, scale=scale, bandPosition=band)


def level_effect_panel() -> Any:
    """The effect of each level, how rows differ, how well the mean is known."""
    dots, x, y = data("dots"), level_axis(VALUE), level_place(labels=True)
    own, missing = dots.transform_filter("!datum.m"), dots.transform_filter("datum.m")
    return alt.layer(
        data("here").mark_rect(style="here-area").encode(y=y),
        no_effect("x"),
        dots.mark_rule(style="spread-rule", strokeWidth=5).encode(level_axis("", "a"), y, x2="b"),
        dots.mark_rule(style="mean-rule", strokeWidth=LINE).encode(
            level_axis("", "low"), y, x2="high"
        ),
        *(
            data(name).mark_tick(style=style, thickness=THIN, size=ROW_TICK).encode(x, y)
            for name, style in (("estimated", "estimated-tick"), ("measured", "measured-tick"))
        ),
        own.mark_point(style="effect-dot", size=CHART_DOT_AREA, filled=True, opacity=1).encode(
            x, y
        ),
        data("room").mark_point(opacity=0).encode(x=x, y=alt.value(0)),
        missing.mark_point(
            style="missing-dot", size=CHART_DOT_AREA, strokeWidth=LINE, opacity=1
        ).encode(x, y),
    ).properties(width=CHART_WIDTH, height=alt.Step(LEVEL_HEIGHT))


def step_panel() -> Any:
    """Steps, each between the levels that it leads from and to."""
    steps, y = data("steps"), level_place(band=1.0)
    x = level_axis("step to the next")
    return alt.layer(
        no_effect("x"),
        steps.mark_rule(style="bar-rule", strokeWidth=9).encode(x, y, x2=alt.datum(0)),
        steps.mark_rule(style="spread-rule", strokeWidth=5).encode(level_axis("", "a"), y, x2="b"),
        steps.mark_rule(style="mean-rule", strokeWidth=LINE).encode(
            level_axis("", "low"), y, x2="high"
        ),
    ).properties(width=CHART_WIDTH, height=alt.Step(LEVEL_HEIGHT))


def level_counts_panel() -> Any:
    """How many rows each level has."""
    axis = alt.Axis(title="rows", labels=False, titleFontWeight="normal", grid=False)
    x, y, rows = alt.X("y:Q", axis=axis), level_place(), data("counts")
    return alt.layer(
        rows.mark_bar(style="count-area", height=8).encode(x, y),
        rows.mark_text(style="plain-text", align="left", dx=5, fontSize=11).encode(
            x, y, text="n:N"
        ),
    ).properties(width=40, height=alt.Step(LEVEL_HEIGHT))


def level_axis(title: str, field: str = "y") -> Any:
    """The axis of the prediction, below levels that stand below one another."""
    axis = alt.Axis(title=title, tickCount=5, titleFontWeight="normal", labelExpr=SHORT)
    return alt.X(field, type="quantitative", axis=axis, scale=alt.Scale(zero=False, padding=8))


def feature_map_chart() -> Any:
    """Every feature as a dot: how much it moves predictions, and how much rows differ."""
    x = alt.X(
        "s:Q",
        axis=alt.Axis(
            title="typical spread between rows",
            titleFontWeight="normal",
            tickCount=6,
            labelExpr=SHORT,
        ),
        scale=alt.Scale(zero=True),
    )
    y = y_axis("importance", "e", zero=True)
    points = data("points")
    return settled(
        alt.layer(
            data("diagonal")
            .mark_line(style="zero-line", strokeDash=[4, 4], clip=True)
            .encode(x, y),
            points.mark_point(
                style="map-dot", size=90, filled=True, opacity=1, cursor="pointer"
            ).encode(x, y),
            points.transform_filter("!datum.left")
            .mark_text(style="plain-text", align="left", dx=9, fontSize=12, limit=180)
            .encode(x, y, text="label:N"),
            points.transform_filter("datum.left")
            .mark_text(style="plain-text", align="right", dx=-9, fontSize=12, limit=180)
            .encode(x, y, text="label:N"),
        ).properties(width=CHART_WIDTH, height=MAP_HEIGHT)
    )
