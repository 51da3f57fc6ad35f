"""One page of sections: its records, the words that all sections share, and its HTML file."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar

from rhale.effects.result import Result
from rhale.output import colours
from rhale.output.text import Note
from rhale.report.charts import SERIES_DASHES, import_report_library
from rhale.report.sentences import (
    breakable,
    clean,
    format_report_number,
    isolated,
    listed,
    shorten_middle,
    without_steering,
)

METHODS_IN_WORDS = {
    "rhale": "RHALE: accumulated local effects with bins chosen from the data",
    "dale": "DALE: accumulated derivatives",
    "ale": "ALE: accumulated local effects over bins of equal counts",
    "pdp": "partial dependence: average predictions with the feature set to each value",
    "ice": "individual conditional expectation: one curve for each row, and their average",
    "mplot": "marginal plot: average predictions of the rows near each value",
}
LONGEST_FACT = 300
LONGEST_CODE = 2_000  # letters of one argument
EFFECT_SIZE_ROUNDING = 1e-9  # of the largest effect


@dataclass(frozen=True)
class Footnote:
    """What a reader should know, and about which features; none: about the whole."""

    text: str
    about: str = ""


@dataclass(frozen=True)
class OutputName:
    """An output as people read it, by its key."""

    name: str
    key: str


@dataclass(frozen=True)
class Section:
    """One part of a page, frozen numbers and words; the files of `templates` have its kind's name."""

    kind: ClassVar[str]
    title: str  # heading
    code: str  # how to make the same again
    brief: bool  # whether it is one of several, so that it shows only the most important
    outputs: tuple[Any, ...]  # what is said of each; at least its name and its key

    def data(self) -> dict[str, Any]:
        """What the script needs, as plain values."""
        return {}

    def charts(self) -> dict[str, Any]:
        """Vega specifications that the script needs."""
        return {}


@dataclass(frozen=True)
class Page:
    """Everything that a page says."""

    title: str  # title, lead: heading, and what was explained in one sentence
    lead: str
    # facts, settings: what stands at the top for everyone, and at the end for who wants to do
    # it again.
    facts: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...]
    notes: tuple[Footnote, ...]  # what a reader should know
    sections: tuple[Any, ...]

    @property
    def outputs(self) -> tuple[Any, ...]:
        """Outputs that a reader may choose from."""
        found: tuple[Any, ...] = self.sections[0].outputs
        return found

    @property
    def version(self) -> str:
        """The version of the library that made it."""
        versions = dict(self.settings).get("Versions", "")
        return versions.partition(",")[0].removeprefix("rhale ")


# --- Words that all sections share


def footnotes(effect: Result) -> list[Note]:
    """Notes that stand below a chart: jumps and regions are told in sentences."""
    return [note for note in effect.notes if note.kind not in ("jump", "regions")]


def short_model(provenance: Mapping[str, Any]) -> str:
    """The model without what was asked of it."""
    return isolated(clean(provenance.get("model", "model"), LONGEST_FACT).partition(", ")[0])


def list_known(found: Sequence[tuple[str, object]]) -> tuple[tuple[str, str], ...]:
    """Names and words of what is known; what is empty is left out."""
    return tuple((clean(name, 60), clean(text, LONGEST_FACT)) for name, text in found if text)


def list_settings(
    method: str, provenance: Mapping[str, Any], bins: object = ""
) -> tuple[tuple[str, str], ...]:
    """Say how something was explained, when and with what; names and words."""
    made = str(provenance.get("created", "")).replace("T", " ").replace("+00:00", " UTC")
    names = [name for name in ("rhale", "numpy") if name in provenance]
    versions = ", ".join(f"{name} {provenance[name]}" for name in names)
    return list_known([("Method", method), ("Bins", bins), ("Made", made), ("Versions", versions)])


def rows_in_words(provenance: Mapping[str, Any]) -> str:
    """Count the rows, and say whether they are all, and whether they have weights."""
    rows = provenance.get("rows")
    if not isinstance(rows, int):
        return ""
    of, words = provenance.get("rows_in_table", rows), f"{rows:,}"
    if rows != of:
        words += f" of {of:,}, drawn with seed {provenance.get('seed', '?')}"
    return f"{words}, weighted" if provenance.get("weighted") else words


def describe_explained_shares(explained: Mapping[str, float]) -> str:
    """Say how much of the model the curves explain, for each output."""
    known = {clean(o, 60): share for o, share in explained.items() if math.isfinite(share)}
    shares = [f"{name} {format_report_number(100 * share)} %" for name, share in known.items()]
    if len(known) == 1:
        shares = [f"{format_report_number(100 * share)} %" for share in known.values()]
    return f"{listed(shares)} of the variance of the predictions" if known else ""


def read_arguments(provenance: Mapping[str, Any], method: str) -> dict[str, str]:
    """Arguments that the user gave, by name, as Python; `method` is the usual one."""
    given = provenance.get("asked")
    method = repr(provenance.get("method", method))
    return {"method": method, **(given if isinstance(given, Mapping) else {})}


def write_arguments(given: Mapping[str, str]) -> str:
    """Write arguments, one a line; what is too long for a page is a variable of its name."""
    lines = []
    for name, source in given.items():
        text = without_steering(f"{clean(name)}={source}")
        text = text if len(text) <= LONGEST_CODE else f"{clean(name)}={clean(name)}"
        lines.append(f"    {text},\n")
    return "".join(lines)


def drop_size_rounding(value: float, scale: float) -> float | None:
    """A number, zero if it is only rounding, or None if it is not known."""
    if not math.isfinite(value):
        return None
    return float(value) if value > EFFECT_SIZE_ROUNDING * scale else 0.0


# --- The page as one HTML file that loads nothing


SCRIPTS = ("format.js", "page.js", "chart.js")
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


def render(page: Page) -> str:
    """Write the page; without Vega where no section has charts."""
    # Words of the user are escaped by the template, or are JSON that no browser takes for
    # HTML. The policy of the page allows the three texts below by their hash and nothing
    # else: neither other scripts, nor `eval`, nor anything from a network.
    data, charts = dict[str, Any](), dict[str, Any]()
    for section in page.sections:
        data |= section.data()
        charts |= section.charts()
    kinds = [section.kind for section in page.sections]
    texts = [read_template(name) for name in (*SCRIPTS, *(f"{kind}.js" for kind in kinds))]
    script = "\n".join(['"use strict";', *texts, "start();"])
    words = make_environment()
    dashes = [" ".join(map(str, dash)) for dash in SERIES_DASHES]
    looks = {"inks": PAGE_COLOURS, "looks": PAGE_LINE_COLOURS, "dashes": dashes}
    style = words.get_template("style.css").render(looks)
    libraries = bundle() if charts else ""
    as_is = markup_class()  # texts of our own are not escaped
    return str(
        words.get_template("page.html").render(
            page=page,
            policy=policy([*([libraries] if libraries else []), script], [style]),
            style=as_is(style),
            data=as_is(as_json(data | {"charts": charts})),
            libraries=as_is(pack_script(libraries)) if libraries else "",
            script=as_is(script),
        )
    )


@cache
def make_environment() -> Any:
    """Templates; all words are escaped."""
    jinja2 = import_report_library("jinja2")
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(read_template),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "cut": clean,
        "bar": bar_position,
        "counted": lambda n, plural: f"{n} {plural if n != 1 else plural[:-1]}",
        "breakable": with_breaks,
        "shortened": shorten_middle,
    }
    return made


@cache
def read_template(name: str) -> str:
    """Read a file of the folder `templates`."""
    return files("rhale.report").joinpath("templates", name).read_text(encoding="utf-8")


def with_breaks(name: str) -> Any:
    r"""Let the lines of a long name end between its parts, and not inside a word.

    Examples
    --------
    >>> str(with_breaks("a_<b>"))
    'a_&lt;b&gt;'
    >>> str(with_breaks("body_mass"))
    'body_<wbr>mass'
    """
    return markup_class()("<wbr>").join(breakable(name))


@cache
def markup_class() -> Any:
    """The class of texts that are not escaped, whose methods escape all others."""
    return import_report_library("markupsafe").Markup


def bar_position(value: float | None, largest: float) -> str:
    """Where a number is on a bar of length 100."""
    return f"{100 * (value or 0.0) / largest:.3g}" if largest > 0 else "0"


def without_nothing(shape: dict[str, Any]) -> dict[str, Any]:
    """Leave out what a shape does not have."""
    return {name: value for name, value in shape.items() if value not in ((), "", None, False)}


def as_json(value: Any) -> str:
    r"""Write JSON that cannot end a script element, and that any parser takes."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return "".join(UNSAFE.get(letter, letter) for letter in text)


@cache
def bundle() -> str:
    """Vega and its companions as one script."""
    text: str = import_report_library("vl_convert").javascript_bundle(SNIPPET)
    text = text.replace("\r\n", "\n").replace(
        "\r", "\n"
    )  # the hash is that of what a browser reads
    return f'(() => {{"use strict";\n{text}\n}})();'  # short names stay inside


@cache
def pack_script(script: str) -> str:
    """A script in less than half of its letters; the page unpacks it, and its policy knows its hash."""
    return base64.b64encode(gzip.compress(script.encode(), mtime=0)).decode()


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
