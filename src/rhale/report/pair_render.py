"""A page of interactions to the text of one HTML file that loads nothing."""

from __future__ import annotations

from typing import Any

from rhale.report.pair_charts import compile_pair_charts
from rhale.report.pair_page import PairPage
from rhale.report.render import (
    Means,
    pair_forms,
    pairs_of,
    render_alone,
)

SCRIPTS = ("format.js", "elements.js", "chart.js", "parts.js", "pair_page.js", "alone.js")
STYLES = ("style.css", "pair_style.css")
START = "start(drawPair, leaveRoomForPairs);"


def render_pairs(page: PairPage) -> str:
    """Write the page; words and scripts are kept apart as in `render`.

    Notes
    -----
    A page that draws nothing, since its pairs are numbers alone, comes without Vega.
    """
    charts = compile_pair_charts(pair_forms(page))
    return render_alone(
        "pair_page.html", page, Means(STYLES, SCRIPTS, START), content(page, charts)
    )


def content(page: PairPage, charts: dict[str, Any]) -> dict[str, Any]:
    """What the scripts need, as plain values."""
    return {"pairs": [pairs_of(output) for output in page.outputs], "charts": charts}
