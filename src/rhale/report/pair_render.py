"""A page of interactions to the text of one HTML file that loads nothing."""

from __future__ import annotations

from typing import Any

from rhale.report.pair_charts import compile_pair_charts
from rhale.report.pair_page import PairPage
from rhale.report.render import (
    as_json,
    bundle,
    environment,
    pair_forms,
    pairs_of,
    parts_as_is,
    policy,
    version_of,
    write_script,
    write_style,
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
    style, script = write_style(STYLES), write_script(SCRIPTS, START)
    charts = compile_pair_charts(pair_forms(page))
    libraries = bundle() if charts else ""
    return str(
        environment()
        .get_template("pair_page.html")
        .render(
            page=page,
            policy=policy([libraries, script] if libraries else [script], [style]),
            style=parts_as_is(style),
            data=parts_as_is(as_json(content(page, charts))),
            libraries=parts_as_is(libraries),
            script=parts_as_is(script),
            version=version_of(page.settings),
        )
    )


def content(page: PairPage, charts: dict[str, Any]) -> dict[str, Any]:
    """What the scripts need, as plain values."""
    return {"pairs": [pairs_of(output) for output in page.outputs], "charts": charts}
