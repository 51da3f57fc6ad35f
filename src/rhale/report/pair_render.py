"""A page of interactions to the text of one HTML file that loads nothing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rhale.report.pair_charts import compile_pair_charts
from rhale.report.pair_page import PairPage, percent, strength_in_words
from rhale.report.render import (
    COLOURS,
    as_json,
    bundle,
    environment,
    parts_as_is,
    policy,
    template,
)
from rhale.report.wording import shortened
from rhale.results import inks

SCRIPTS = ("format.js", "elements.js", "chart.js", "parts.js", "pair_page.js")
STYLES = ("style.css", "pair_style.css")
PAIR_COLOURS = {
    **COLOURS,
    "below": inks.LOW,
    "zero": inks.ZERO,
    "above": inks.HIGH,
    "strength": inks.STRENGTH,
}


def render_pairs(page: PairPage) -> str:
    """Write the page; words and scripts are kept apart as in `render`.

    Notes
    -----
    A page that draws nothing, since its pairs are numbers alone, comes without Vega.
    """
    parts = environment()
    parts.filters |= {
        "shortened": shortened,
        "strength": strength_in_words,
        "percent": percent,
        "bar": lambda value, top: f"{100 * (value or 0.0) / top:.3g}" if top > 0 else "0",
    }
    style = "\n".join(parts.get_template(name).render(inks=PAIR_COLOURS) for name in STYLES)
    charts = compile_pair_charts({p.lines.form for output in page.outputs for p in output.pairs})
    script = '"use strict";\n' + "\n".join(template(name) for name in SCRIPTS)
    libraries = bundle() if charts else ""
    return str(
        parts.get_template("pair_page.html").render(
            page=page,
            policy=policy([libraries, script] if libraries else [script], [style]),
            style=parts_as_is(style),
            data=parts_as_is(as_json(content(page, charts))),
            libraries=parts_as_is(libraries),
            script=parts_as_is(script),
            version=dict(page.facts).get("Versions", "").partition(",")[0].removeprefix("rhale "),
        )
    )


def content(page: PairPage, charts: dict[str, Any]) -> dict[str, Any]:
    """What the scripts need, as plain values."""
    pairs = [
        [
            {"names": pair.names, "lines": asdict(pair.lines), "map": asdict(pair.map)}
            for pair in output.pairs
        ]
        for output in page.outputs
    ]
    return {"outputs": pairs, "charts": charts}
