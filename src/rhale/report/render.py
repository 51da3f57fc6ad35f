"""A page rendered to one HTML file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import Any

from rhale.comparison.charts import COMPARE_DASHES, compile_compare_charts
from rhale.comparison.report import ComparePage
from rhale.interaction.charts import compile_pair_charts
from rhale.interaction.report import (
    OutputPart,
    PairPage,
    format_variance_percent,
    strength_in_words,
)
from rhale.output import colours
from rhale.report.charts import compile_charts, import_report_library
from rhale.report.page import EffectPage, EffectPart, Section
from rhale.report.sentences import breakable, clean, fixed_or_dash, shorten_middle
from rhale.stability.charts import compile_refit_charts
from rhale.stability.report import RefitPage, replicated_in_words, size_with_interval

jinja2 = import_report_library("jinja2")
vl_convert = import_report_library("vl_convert")

SCRIPTS = ("format.js", "elements.js", "chart.js", "parts.js", "page.js")
SNIPPET = "window.vegaEmbed = vegaEmbed;"
UNSAFE = {c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}  # in JSON within a script element
PAGE_COLOURS = {
    "effect": colours.EFFECT_COLOUR,
    "spread": colours.SPREAD_COLOUR,
    "mean": colours.UNCERTAINTY_COLOUR,
    "count": colours.ROW_COUNT_COLOUR,
    **dict(zip(("first", "second", "third", "fourth"), colours.REGION_COLOURS, strict=True)),
    **dict(zip(("low", "middle", "high"), colours.THIRD_COLOURS, strict=True)),
    "below": colours.BELOW_ZERO_COLOUR,
    "zero": colours.AT_ZERO_COLOUR,
    "above": colours.ABOVE_ZERO_COLOUR,
    "strength": colours.STRENGTH_COLOUR,
    "between": colours.BETWEEN_COLOUR,
}
PAGE_LINE_COLOURS = tuple(  # of several curves: on paper, and on a dark page
    zip(
        colours.SERIES_COLOURS,
        ("#56b4e9", "#e68abb", "#e0b93c", "#f0f0f0", "#b79bff", "#c49a6c", "#8f9df0", "#a9b4bd"),
        strict=True,
    )
)


def render(page: EffectPage) -> str:
    """Write the page."""
    # Words of the user are escaped by the template, or are JSON that no browser takes for
    # HTML. The policy of the page allows the three texts below by their hash and nothing
    # else: neither other scripts, nor `eval`, nor anything from a network.
    parts = environment()
    # The scripts that a page needs; that which starts it comes last.
    *before, last = SCRIPTS
    # The style sheets that a page needs.
    sheets = {
        "pair_style.css": page.interactions,
        "refit_style.css": page.refits,
        "compare_style.css": page.comparison,
    }
    style = write_style(("style.css", *(name for name, section in sheets.items() if section)))
    script = write_script((*before, *(["pair_page.js"] if page.interactions else []), last))
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
            version=version_of(page.settings),
        )
    )


def render_pairs(page: PairPage) -> str:
    """Write a page of interactions alone; without Vega where its pairs are numbers alone."""
    data = {
        "pairs": [pairs_of(output) for output in page.outputs],
        "charts": compile_pair_charts(pair_forms(page)),
    }
    return render_alone("pair", page, "start(drawPair, leaveRoomForPairs);", data)


def render_refits(page: RefitPage) -> str:
    """Write a page of refits alone."""
    shapes = [[part.shape for part in output.parts] for output in page.outputs]
    forms = {"log" if one.log else one.form for several in shapes for one in several}
    data = {"trainings": known_fields(shapes), "charts": compile_refit_charts(forms)}
    return render_alone("refit", page, "start(drawTrainings, leaveRoomForTrainings);", data)


def render_comparison(page: ComparePage) -> str:
    """Write the page of a comparison alone."""
    shapes = [[part.shape for part in output.parts] for output in page.outputs]
    forms: set[str] = {one.form for several in shapes for one in several}
    charts = compile_compare_charts(forms, len(page.drawn))
    data = {"names": page.drawn, "compared": known_fields(shapes), "charts": charts}
    return render_alone("compare", page, "start(drawCompared, leaveRoomForCompared);", data)


def known_fields(shapes: Sequence[Sequence[Any]]) -> list[list[dict[str, Any]]]:
    """What shapes hold, as plain values, by output; what is empty is left out."""
    return [[without_nothing(asdict(shape)) for shape in several] for several in shapes]


def without_nothing(shape: dict[str, Any]) -> dict[str, Any]:
    """Leave out what a shape does not have."""
    return {name: value for name, value in shape.items() if value not in ((), "", None, False)}


def render_alone(
    kind: str, page: PairPage | RefitPage | ComparePage, start: str, data: Mapping[str, Any]
) -> str:
    """Write a page of one kind of result, as `render` that of effects.

    `data` is what the scripts need, as plain values; a page without `charts` comes without Vega.
    """
    scripts = ("format.js", "elements.js", "chart.js", "parts.js", f"{kind}_page.js", "alone.js")
    script = write_script(scripts, start)
    style = write_style(("style.css", f"{kind}_style.css"))
    libraries = bundle() if data["charts"] else ""
    return str(
        environment()
        .get_template(f"{kind}_page.html")
        .render(
            page=page,
            policy=policy([libraries, script] if libraries else [script], [style]),
            style=parts_as_is(style),
            data=parts_as_is(as_json(data)),
            libraries=parts_as_is(libraries),
            script=parts_as_is(script),
            version=version_of(page.settings),
        )
    )


def write_script(names: tuple[str, ...], last: str = "") -> str:
    """One script of several files, and what it ends with."""
    return '"use strict";\n' + "\n".join([*map(template, names), last])


def write_style(names: tuple[str, ...]) -> str:
    """One style sheet of several files, with the colours of the plots."""
    parts = environment()
    dashes = [" ".join(map(str, dash)) for dash in COMPARE_DASHES]
    words = {"inks": PAGE_COLOURS, "looks": PAGE_LINE_COLOURS, "dashes": dashes}
    return "\n".join(parts.get_template(name).render(words) for name in names)


def version_of(settings: tuple[tuple[str, str], ...]) -> str:
    """The version of the library that made a page."""
    return dict(settings).get("Versions", "").partition(",")[0].removeprefix("rhale ")


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
        "spread": spread_in_words,
        "share": lambda part, largest: bar_position(part.size, largest),
        "counted": lambda n, plural: f"{n} {plural if n != 1 else plural[:-1]}",
        "table_title": table_title,
        "breakable": with_breaks,
        "shortened": shorten_middle,
        "strength": strength_in_words,
        "percent": format_variance_percent,
        "bar": bar_position,
        "along": bar_position,
        "interval": size_with_interval,
        "replicated": replicated_in_words,
    }
    return made


def template(name: str) -> str:
    """Read a file of the folder `templates`."""
    return files("rhale.report").joinpath("templates", name).read_text(encoding="utf-8")


def parts_as_is(text: str) -> Any:
    """Mark a text of our own (style, scripts, escaped JSON), which is not to be escaped."""
    return import_report_library("markupsafe").Markup(text)


def with_breaks(name: str) -> Any:
    r"""Let the lines of a long name end between its parts, and not inside a word.

    Examples
    --------
    >>> str(with_breaks("a_<b>"))
    'a_&lt;b&gt;'
    >>> str(with_breaks("body_mass"))
    'body_<wbr>mass'
    """
    return parts_as_is("<wbr>").join(breakable(name))


def bar_position(value: float | None, largest: float) -> str:
    """Where a number is on a bar of length 100."""
    return f"{100 * (value or 0.0) / largest:.3g}" if largest > 0 else "0"


def size_in_words(part: EffectPart, largest: float) -> str:
    """Size of an effect and its error."""
    size = fixed_or_dash(part.size, largest)
    return f"{size} ± {fixed_or_dash(part.error, largest)}" if part.error else size


def spread_in_words(part: EffectPart, largest: float) -> str:
    """Typical spread and its error."""
    spread = fixed_or_dash(part.spread, largest)
    has_error = part.spread and part.spread_error
    return f"{spread} ± {fixed_or_dash(part.spread_error, largest)}" if has_error else spread


def table_title(feature: Section) -> str:
    """Name the table below a chart."""
    if feature.parts[0].shape.sorted:
        return "Table of levels"
    return {"bins": "Table of bins", "levels": "Table of steps"}.get(
        feature.counted, "Table of points"
    )


def content(page: EffectPage) -> dict[str, Any]:
    """What the scripts need, as plain values; what is empty is left out."""
    features = [
        {
            "name": feature.name,
            **({"key": clean(feature.key)} if clean(feature.key) != feature.name else {}),
            "counted": feature.counted,
            "titles": feature.parts[0].shape.titles[1:],
            "parts": [without_empty(asdict(part)) for part in feature.parts],
        }
        for feature in page.features
    ]
    # What stands beside the axis of each output; nothing where no feature has one.
    known = [feature.parts for feature in page.features if feature.parts[0].shape.titles]
    found: dict[str, Any] = {
        "features": features,
        "outputs": page.outputs,
        "effects": [part.shape.titles[0] for part in known[0]] if known else [],
        "notes": [note.text for note in page.notes],
        "charts": compile_charts(chart_kinds(page)),
    }
    if page.interactions is None:
        return found
    pairs = {output.place: pairs_of(output) for output in page.interactions.outputs}
    listed = [pairs.get(place, []) for place in range(len(page.outputs))]
    charts = found["charts"] | compile_pair_charts(pair_forms(page.interactions))
    return found | {"pairs": listed, "charts": charts}


def pairs_of(output: OutputPart) -> list[dict[str, Any]]:
    """What the scripts need of the pairs that are drawn."""
    return [
        {"names": pair.names, "lines": asdict(pair.lines), "map": asdict(pair.map)}
        for pair in output.pairs
    ]


def pair_forms(page: PairPage) -> set[str]:
    """Kinds of lines that pairs need."""
    return {pair.lines.form for output in page.outputs for pair in output.pairs}


def without_empty(part: dict[str, Any]) -> dict[str, Any]:
    """Leave out empty columns of the shape, bins where there are none, titles that all share."""
    shape = without_nothing(part["shape"])
    shape.pop("titles", None)
    if not part["partners"]:
        del part["partners"]
    if not part["shape"]["bins"]["mean"]:
        del shape["bins"]
    if not part["choice"]:
        del part["choice"]
    if part["regions"] is None:
        part = {name: value for name, value in part.items() if name not in ("differs", "regions")}
    return {**part, "shape": shape}


def chart_kinds(page: EffectPage) -> set[str]:
    """Kinds of charts that the page needs."""
    kinds = {"map"} if len(page.features) > 1 else set()
    for shape in (part.shape for feature in page.features for part in feature.parts):
        if shape.form == "levels":
            kinds |= {"levels", "narrow levels"}
        elif shape.form != "constant":
            plain = {"curve": "profile", "dates": "date profile"}[shape.form]
            kinds.add("log " * shape.log + (shape.form if shape.bins.mean else plain))
    # Kinds of charts that its regions need.
    region_charts = {"curve": "regions", "dates": "date regions", "levels": "level regions"}
    return kinds | {
        "log regions" if part.shape.log else region_charts[part.shape.form]
        for feature in page.features
        for part in feature.parts
        if part.regions is not None and part.regions.lines
    }


def as_json(value: Any) -> str:
    r"""Write JSON that cannot end a script element, and that any parser takes."""
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
