"""Charts of trainings without data: thin curves of all, their mean and its interval."""

from __future__ import annotations

from functools import cache
from typing import Any

from rhale.report.charts import (
    CHART_DOT_AREA,
    CHART_WIDTH,
    CURVE_PANEL_HEIGHT,
    LABELS,
    LEVEL_HEIGHT,
    LINE,
    THIN,
    VALUE,
    ZOOM,
    alt,
    beside_panel,
    data,
    hover_band,
    hover_line,
    level_axis,
    level_place,
    missing_dot,
    no_effect,
    settled,
    strip_panel,
    to_vega,
    x_axis,
    y_axis,
)

REFIT_CHART_KINDS = {
    "curve": "trainings",
    "log": "log trainings",
    "dates": "date trainings",
    "levels": "level trainings",
}
OWN_MODEL_CHART_DASH = [6, 3]  # of the user's model, so that a grey print still tells


def compile_refit_charts(forms: set[str]) -> dict[str, Any]:
    """Make the charts that a page of trainings needs."""
    return {
        REFIT_CHART_KINDS[form]: compile_refit_chart(form)
        for form in sorted(forms & set(REFIT_CHART_KINDS))
    }


@cache
def compile_refit_chart(form: str) -> dict[str, Any]:
    """Make one kind of chart, ready for Vega."""
    if form == "levels":
        return to_vega(level_trainings_chart())
    return to_vega(trainings_chart({"dates": "utc", "log": "log"}.get(form, "linear")))


def trainings_chart(scale: str) -> Any:
    """Curves of trainings above, and where the rows are."""
    panels = [
        trainings_panel(x_axis(scale, labels=False)),
        strip_panel(x_axis(scale, labels=True)),
    ]
    return settled(
        alt.vconcat(*panels, spacing=26, bounds="flush")
        .resolve_scale(x="shared")
        .add_params(alt.param(name=ZOOM, value=None))
    )


def trainings_panel(x: Any) -> Any:
    """The interval, single trainings, the user's model, the mean; dots where there are levels."""
    y, band, dots, own = (
        y_axis(VALUE),
        data("band"),
        data("dots"),
        data("own"),
    )
    singles = data("trainings").mark_line(style="training-line", strokeWidth=THIN, clip=True)
    ends = dots.mark_rule(style="between-rule", strokeWidth=3 * LINE, clip=True)
    layers = [
        no_effect(),
        hover_band(x),
        band.mark_area(style="between-area", clip=True).encode(x, y_axis("", "low"), y2="high"),
        ends.encode(x, y_axis("", "low"), y2="high"),
        singles.encode(x, y, detail="k:N"),
        own.mark_line(
            style="own-line", strokeWidth=LINE, strokeDash=OWN_MODEL_CHART_DASH, clip=True
        ).encode(x, y),
        data("line").mark_line(style="effect-line", strokeWidth=LINE, clip=True).encode(x, y),
        dots.mark_point(
            style="effect-dot", size=CHART_DOT_AREA, filled=True, opacity=1, clip=True
        ).encode(x, y),
        data("missing")
        .mark_rule(style="between-rule", strokeWidth=3 * LINE)
        .encode(y=y_axis("", "low"), y2="high", **beside_panel()),
        *missing_dot(y),
        hover_line(x),
    ]
    return alt.layer(*layers).properties(width=CHART_WIDTH, height=CURVE_PANEL_HEIGHT)


def level_trainings_chart() -> Any:
    """Levels below one another: the mean as a dot, its interval, and a stroke for each training."""
    x, y = level_axis(VALUE), level_place(labels=True)
    dots, singles = data("dots"), data("trainings")
    strokes = singles.mark_tick(style="training-tick", thickness=THIN, height=LEVEL_HEIGHT / 2)
    own = data("own").mark_point(
        style="own-dot", shape="diamond", size=2 * CHART_DOT_AREA, strokeWidth=LINE, opacity=1
    )
    layers = [
        data("here").mark_rect(style="here-area").encode(y=y),
        no_effect("x"),
        dots.mark_rule(style="between-rule", strokeWidth=3 * LINE).encode(
            level_axis("", "low"), y, x2="high"
        ),
        strokes.encode(x, y),
        dots.transform_filter("!datum.m")
        .mark_point(style="effect-dot", size=CHART_DOT_AREA, filled=True, opacity=1)
        .encode(x, y),
        dots.transform_filter("datum.m")
        .mark_point(style="missing-dot", size=CHART_DOT_AREA, strokeWidth=LINE, opacity=1)
        .encode(x, y),
        own.encode(x, y),
    ]
    return settled(
        alt.layer(*layers)
        .properties(width=CHART_WIDTH, height=alt.Step(LEVEL_HEIGHT))
        .add_params(alt.param(name=LABELS, value=[]))
    )
