"""The page of a comparison to the text of one HTML file that loads nothing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rhale.report.compare_charts import compile_compare_charts
from rhale.report.compare_page import ComparePage
from rhale.report.render import (
    Means,
    render_alone,
)

SCRIPTS = ("format.js", "elements.js", "chart.js", "parts.js", "compare_page.js", "alone.js")
STYLES = ("style.css", "compare_style.css")
START = "start(drawCompared, leaveRoomForCompared);"


def render_comparison(page: ComparePage) -> str:
    """Write the page; words and scripts are kept apart as in `render`."""
    forms: set[str] = {part.shape.form for output in page.outputs for part in output.parts}
    charts = compile_compare_charts(forms, len(page.drawn))
    means = Means(STYLES, SCRIPTS, START)
    return render_alone("compare_page.html", page, means, content(page, charts))


def content(page: ComparePage, charts: dict[str, Any]) -> dict[str, Any]:
    """What the scripts need, as plain values; what is empty is left out."""
    return {
        "names": page.drawn,
        "compared": [
            [without_empty(asdict(part.shape)) for part in output.parts] for output in page.outputs
        ],
        "charts": charts,
    }


def without_empty(shape: dict[str, Any]) -> dict[str, Any]:
    """Leave out what the shape does not have."""
    return {name: value for name, value in shape.items() if value not in ((), "", None, False)}
