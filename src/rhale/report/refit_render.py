"""A page of refits to the text of one HTML file that loads nothing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rhale.report.refit_charts import compile_refit_charts
from rhale.report.refit_page import RefitPage, replicated_in_words, size_with_interval
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

SCRIPTS = ("format.js", "elements.js", "chart.js", "parts.js", "refit_page.js")
STYLES = ("style.css", "refit_style.css")
REFIT_COLOURS = {**COLOURS, "between": inks.BETWEEN}


def render_refits(page: RefitPage) -> str:
    """Write the page; words and scripts are kept apart as in `render`."""
    parts = environment()
    parts.filters |= {
        "interval": size_with_interval,
        "replicated": replicated_in_words,
        "along": along,
    }
    style = "\n".join(parts.get_template(name).render(inks=REFIT_COLOURS) for name in STYLES)
    forms: set[str] = {part.shape.form for output in page.outputs for part in output.parts}
    charts = compile_refit_charts(forms)
    script = '"use strict";\n' + "\n".join(template(name) for name in SCRIPTS)
    libraries = bundle() if charts else ""
    return str(
        parts.get_template("refit_page.html").render(
            page=page,
            policy=policy([libraries, script] if libraries else [script], [style]),
            style=parts_as_is(style),
            data=parts_as_is(as_json(content(page, charts))),
            libraries=parts_as_is(libraries),
            script=parts_as_is(script),
            version=dict(page.facts).get("Versions", "").partition(",")[0].removeprefix("rhale "),
        )
    )


def along(value: float | None, largest: float) -> str:
    """Where a number is on a bar of length 100.

    Examples
    --------
    >>> along(0.25, 0.5), along(None, 0.5)
    ('50', '0')
    """
    return f"{100 * (value or 0.0) / largest:.3g}" if largest > 0 else "0"


def content(page: RefitPage, charts: dict[str, Any]) -> dict[str, Any]:
    """What the scripts need, as plain values; what is empty is left out."""
    return {
        "outputs": [
            [without_empty(asdict(part.shape)) for part in output.parts] for output in page.outputs
        ],
        "charts": charts,
    }


def without_empty(shape: dict[str, Any]) -> dict[str, Any]:
    """Leave out what the shape does not have."""
    return {name: value for name, value in shape.items() if value not in ((), "", None, False)}
