"""A page of refits to the text of one HTML file that loads nothing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rhale.report.refit_charts import compile_refit_charts
from rhale.report.refit_page import RefitPage
from rhale.report.render import (
    Means,
    render_alone,
)

SCRIPTS = ("format.js", "elements.js", "chart.js", "parts.js", "refit_page.js", "alone.js")
STYLES = ("style.css", "refit_style.css")
START = "start(drawTrainings, leaveRoomForTrainings);"


def render_refits(page: RefitPage) -> str:
    """Write the page; words and scripts are kept apart as in `render`."""
    charts = compile_refit_charts(refit_forms(page))
    return render_alone(
        "refit_page.html", page, Means(STYLES, SCRIPTS, START), content(page, charts)
    )


def refit_forms(page: RefitPage) -> set[str]:
    """Kinds of charts that trainings need."""
    shapes = [part.shape for output in page.outputs for part in output.parts]
    return {"log" if shape.log else shape.form for shape in shapes}


def content(page: RefitPage, charts: dict[str, Any]) -> dict[str, Any]:
    """What the scripts need, as plain values; what is empty is left out."""
    return {
        "trainings": [
            [without_empty(asdict(part.shape)) for part in output.parts] for output in page.outputs
        ],
        "charts": charts,
    }


def without_empty(shape: dict[str, Any]) -> dict[str, Any]:
    """Leave out what the shape does not have."""
    return {name: value for name, value in shape.items() if value not in ((), "", None, False)}
