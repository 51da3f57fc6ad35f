"""A page to the text of one HTML file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import Any

from rhale.report.charts import compile_charts, vl_convert
from rhale.report.extras import load
from rhale.report.page import Page, Part, Section
from rhale.report.wording import clean, fixed_or_dash
from rhale.results import inks

jinja2 = load("jinja2")

SCRIPTS = ("format.js", "elements.js", "chart.js", "bins.js", "slider.js", "page.js")
SNIPPET = "window.vegaEmbed = vegaEmbed;"
UNSAFE = {c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}  # in JSON within a script element
COLOURS = {
    "effect": inks.EFFECT,
    "spread": inks.SPREAD,
    "mean": inks.UNCERTAINTY,
    "count": inks.COUNT,
    **dict(zip(("first", "second", "third", "fourth"), inks.REGIONS, strict=True)),
    **dict(zip(("low", "middle", "high"), inks.THIRDS, strict=True)),
}


def render(page: Page) -> str:
    """Write the page.

    Notes
    -----
    Words of the user are escaped by the template, or are JSON that no browser takes for HTML.
    The policy of the page allows the three texts below by their hash and nothing else: neither
    other scripts, nor `eval`, nor anything from a network.
    """
    parts = environment()
    style = parts.get_template("style.css").render(inks=COLOURS)
    script = '"use strict";\n' + "\n".join(template(name) for name in SCRIPTS)
    libraries = bundle()
    ranked = sorted(enumerate(page.features), key=lambda pair: -(pair[1].parts[0].size or 0.0))
    return str(
        parts.get_template("page.html").render(
            page=page,
            ranked=ranked,
            counted="/".join(
                dict.fromkeys(feature.counted for feature in page.features)
            ).capitalize(),
            largest=max((feature.parts[0].size or 0.0) for feature in page.features),
            policy=policy([libraries, script], [style]),
            style=parts_as_is(style),
            data=parts_as_is(as_json(content(page))),
            libraries=parts_as_is(libraries),
            script=parts_as_is(script),
            version=dict(page.facts).get("Versions", "").partition(",")[0].removeprefix("rhale "),
        )
    )


def environment() -> Any:
    """Templates; all words are escaped."""
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(template),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "cut": clean,
        "fixed": fixed_or_dash,
        "size": size_in_words,
        "share": share_of,
        "counted": lambda n, plural: f"{n} {plural if n != 1 else plural[:-1]}",
        "table_title": table_title,
    }
    return made


def template(name: str) -> str:
    """Read a file of the folder `templates`."""
    return files("rhale.report").joinpath("templates", name).read_text(encoding="utf-8")


def parts_as_is(text: str) -> Any:
    """Mark a text of our own (style, scripts, escaped JSON), which is not to be escaped."""
    return load("markupsafe").Markup(text)


def size_in_words(part: Part, largest: float) -> str:
    """Size of an effect and its error."""
    size = fixed_or_dash(part.size, largest)
    return f"{size} ± {fixed_or_dash(part.error, largest)}" if part.error else size


def share_of(part: Part, largest: float) -> str:
    """Length of a bar, of 100."""
    return f"{100 * (part.size or 0.0) / largest:.3g}" if largest > 0 else "0"


def table_title(feature: Section) -> str:
    """Name the table below a chart."""
    return {"bins": "Table of bins", "levels": "Table of steps"}.get(
        feature.counted, "Table of points"
    )


def content(page: Page) -> dict[str, Any]:
    """What the scripts need, as plain values; what is empty is left out."""
    features = [
        {
            "name": feature.name,
            "counted": feature.counted,
            "parts": [without_empty(asdict(part)) for part in feature.parts],
        }
        for feature in page.features
    ]
    return {
        "features": features,
        "outputs": page.outputs,
        "notes": [note.text for note in page.notes],
        "charts": compile_charts(chart_kinds(page)),
    }


def without_empty(part: dict[str, Any]) -> dict[str, Any]:
    """Leave out empty columns of the shape, and bins where there are none."""
    shape = {
        name: value for name, value in part["shape"].items() if value not in ((), "", None, False)
    }
    if not part["shape"]["bins"]["mean"]:
        del shape["bins"]
    if part["choice"] is None:
        del part["choice"]
    else:
        part["choice"] = {name: value for name, value in part["choice"].items() if value}
    if part["regions"] is None:
        part = {name: value for name, value in part.items() if name not in ("differs", "regions")}
    return {**part, "shape": shape}


def chart_kinds(page: Page) -> set[str]:
    """Kinds of charts that the page needs."""
    kinds = {"map"} if len(page.features) > 1 else set()
    for shape in (part.shape for feature in page.features for part in feature.parts):
        if shape.form == "levels":
            kinds |= {"levels", "narrow levels"}
        elif shape.form != "constant":
            plain = {"curve": "profile", "dates": "date profile"}[shape.form]
            kinds.add(shape.form if shape.bins.mean else plain)
    return kinds | region_kinds(page)


def region_kinds(page: Page) -> set[str]:
    """Kinds of charts that its regions need."""
    kinds = {"curve": "regions", "dates": "date regions", "levels": "level regions"}
    return {
        kinds[part.shape.form]
        for feature in page.features
        for part in feature.parts
        if part.regions is not None and part.regions.lines
    }


def as_json(value: Any) -> str:
    r"""Write JSON that cannot end a script element, and that any parser takes.

    Examples
    --------
    >>> as_json({"a": "</script>"})
    '{"a":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return "".join(UNSAFE.get(letter, letter) for letter in text)


@cache
def bundle() -> str:
    """Vega and its companions as one script; nothing in it can end its element."""
    text: str = vl_convert.javascript_bundle(SNIPPET)
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # as a browser reads it, for the hash
    text = re.sub(r"<(/script|!--)", r"<\\\1", text, flags=re.IGNORECASE)
    return f'(() => {{"use strict";\n{text}\n}})();'  # short names stay inside


def policy(scripts: list[str], styles: list[str]) -> str:
    """Content-Security-Policy: these texts by their hash, and nothing else."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(map(fingerprint, scripts))}",
            f"style-src {' '.join(map(fingerprint, styles))}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def fingerprint(text: str) -> str:
    """Hash of an inline script or style, as a policy names it."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
