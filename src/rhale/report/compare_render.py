"""The page of a comparison to the text of one HTML file that loads nothing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rhale.report.compare_charts import DASHES, compile_compare_charts
from rhale.report.compare_page import ComparePage
from rhale.report.refit_render import without_empty
from rhale.report.render import (
    COLOURS,
    as_json,
    bundle,
    environment,
    parts_as_is,
    policy,
    template,
)
from rhale.results import inks

SCRIPTS = ("format.js", "elements.js", "chart.js", "parts.js", "compare_page.js")
STYLES = ("style.css", "compare_style.css")
DARK = ("#56b4e9", "#e68abb", "#e0b93c", "#f0f0f0", "#b79bff", "#c49a6c", "#8f9df0", "#a9b4bd")


def render_comparison(page: ComparePage) -> str:
    """Write the page; words and scripts are kept apart as in `render`."""
    parts = environment()
    looks = list(zip(inks.LINES, DARK, strict=True))
    dashes = [" ".join(map(str, dash)) for dash in DASHES]
    style = "\n".join(
        parts.get_template(name).render(inks=COLOURS, looks=looks, dashes=dashes) for name in STYLES
    )
    forms: set[str] = {part.shape.form for output in page.outputs for part in output.parts}
    charts = compile_compare_charts(forms, len(page.drawn))
    script = '"use strict";\n' + "\n".join(template(name) for name in SCRIPTS)
    libraries = bundle() if charts else ""
    return str(
        parts.get_template("compare_page.html").render(
            page=page,
            policy=policy([libraries, script] if libraries else [script], [style]),
            style=parts_as_is(style),
            data=parts_as_is(as_json(content(page, charts))),
            libraries=parts_as_is(libraries),
            script=parts_as_is(script),
            version=dict(page.facts).get("Versions", "").partition(",")[0].removeprefix("rhale "),
        )
    )


def content(page: ComparePage, charts: dict[str, Any]) -> dict[str, Any]:
    """What the scripts need, as plain values; what is empty is left out."""
    return {
        "names": page.drawn,
        "outputs": [
            [without_empty(asdict(part.shape)) for part in output.parts] for output in page.outputs
        ],
        "charts": charts,
    }
