"""Charts of comparisons without data: curves at one zero, their differences, rows of each.

What stands beside differences is the title of slopes elsewhere: no chart has both.
"""

from __future__ import annotations

from functools import cache
from typing import Any

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

COMPARE_CHART_KINDS = {"curve": "compared", "dates": "date compared", "levels": "level compared"}
NARROW = "narrow compared"  # levels on a small screen
CURVES, DIFFERENCE_HEIGHT, COMPARE_STRIP_HEIGHT = (
    210,
    130,
    22,
)  # heights of panels, and of the rows of one explanation
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
        return to_vega(level_compare_chart(n_compared, is_narrow=kind == NARROW))
    return to_vega(
        compared_chart("utc" if kind == COMPARE_CHART_KINDS["dates"] else "linear", n_compared)
    )


def compared_chart(scale: str, n_compared: int) -> Any:
    """Curves above, differences below them, and where the rows of each are."""
    hidden, shown = x_axis(scale, labels=False), x_axis(scale, labels=True)
    panels = [
        lines_panel("lines", VALUE, hidden, n_compared, CURVES),
        lines_panel("gaps", SLOPE, hidden, n_compared, DIFFERENCE_HEIGHT),
        rows_panel(shown, n_compared),
    ]
    return settled(
        alt.vconcat(*panels, spacing=30, bounds="flush")
        .resolve_scale(x="shared")
        .add_params(alt.param(name=ZOOM, value=None))
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


def level_compare_chart(n_compared: int, *, is_narrow: bool) -> Any:
    """Levels below one another: dots with whiskers, their differences, shares of rows."""
    panels = [
        level_compare_panel("lines", VALUE, n_compared, labels=True),
        level_compare_panel("gaps", SLOPE, n_compared, labels=False),
        *([] if is_narrow else [level_shares_panel(n_compared)]),
    ]
    params = [alt.param(name=LABELS, value=[]), alt.param(name=SIDES, value=n_compared)]
    chart = alt.hconcat(*panels, spacing=18, bounds="flush").resolve_scale(y="shared")
    return settled(chart.add_params(*params))


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
