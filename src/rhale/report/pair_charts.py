"""Charts of pairs without data: the map is made here, lines are drawn as regions are."""

from __future__ import annotations

from functools import cache
from typing import Any

from rhale.report.charts import (
    CHART_WIDTH,
    CURVE_PANEL_HEIGHT,
    THIN,
    alt,
    compile_chart,
    data,
    settled,
    to_vega,
)

PAIR_LINE_KINDS = {"curve": "regions", "dates": "date regions", "levels": "level regions"}
MAP = "pair map"
MAP_ROOM = 76  # left of it: names of levels


def compile_pair_charts(forms: set[str]) -> dict[str, Any]:
    """Make the charts that a page of pairs needs: those of its kinds of lines, and the map."""
    if not forms:
        return {}
    return {
        PAIR_LINE_KINDS[form]: compile_chart(PAIR_LINE_KINDS[form]) for form in sorted(forms)
    } | {MAP: compile_map()}


@cache
def compile_map() -> dict[str, Any]:
    """Make the map, ready for Vega."""
    return to_vega(pair_map_chart())


def pair_map_chart() -> Any:
    """Cells that hold rows, in the ink of nothing, and over it how far the surface is up or down."""
    x, y = map_side("x"), map_side("y")
    layers = []
    for name in ("zero", "low", "high"):
        cells = data(name).mark_rect(style=f"{name}-cell", clip=True)
        shade = {"fillOpacity": alt.FillOpacity("o:Q", scale=None, legend=None)}
        layers.append(cells.encode(x, y, x2="x2", y2="y2", **(shade if name != "zero" else {})))
    here = data("here").mark_rect(style="here-cell", strokeWidth=2 * THIN, filled=False)
    layers.append(here.encode(x, y, x2="x2", y2="y2"))
    names = [f"{side}_{what}" for side in "xy" for what in ("ends", "ticks", "words")]
    return settled(
        alt.layer(*layers)
        .properties(width=CHART_WIDTH, height=CURVE_PANEL_HEIGHT)
        .add_params(*(alt.param(name=name, value=[]) for name in names))
    )


def map_side(side: str) -> Any:
    """One side: its ends, its ticks and what is written at them are values that the page sets."""
    ticks = f"{side}_ticks"
    axis = alt.Axis(
        title=None,
        grid=False,
        values=alt.ExprRef(ticks),
        labelExpr=f"{side}_words[indexof({ticks}, datum.value)]",
        labelOverlap=True,
        labelFlush=side == "x",
        **({"minExtent": MAP_ROOM, "maxExtent": MAP_ROOM} if side == "y" else {}),
        labelLimit=MAP_ROOM,
    )
    scale = alt.Scale(zero=False, nice=False, domainRaw=alt.ExprRef(f"{side}_ends"))
    kind = alt.X if side == "x" else alt.Y
    return kind(side, type="quantitative", axis=axis, scale=scale)
