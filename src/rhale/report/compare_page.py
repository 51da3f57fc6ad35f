"""A comparison to a page: frozen, plain numbers and words, and no word of HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rhale.report.chart_numbers import MAX_CHART_LEVEL_LETTERS
from rhale.report.compare_numbers import MOST_DRAWN, CompareShape, shape_of_comparison
from rhale.report.compare_sentences import tell_feature, tell_overall
from rhale.report.page import (
    EFFECT_METHODS,
    LONGEST_FACT,
    Footnote,
    created,
    rows_in_words,
    versions,
)
from rhale.report.sparkline import write_sparkline_path
from rhale.report.wording import (
    UNKNOWN_DASH,
    chance_in_words,
    clean,
    format_report_number,
    isolated,
    listed,
    plus_minus,
)
from rhale.results.comparison_listing import write_difference_verdict, write_peak
from rhale.results.curve_difference import CurveDifference
from rhale.results.feature_comparison import FeatureComparison

if TYPE_CHECKING:
    from rhale.comparison import Comparison

MAX_NAME_LETTERS_IN_TEXT = 60


@dataclass(frozen=True)
class CompareRow:
    """One line of the table: a feature, and one explanation against the first."""

    name: str
    compared: str
    k: int
    size: str
    length: float
    share: str
    p: str
    differs: str
    largest: str
    at: str
    rows: str
    moved: bool
    sparkline: str


@dataclass(frozen=True)
class ComparePart:
    """A feature that is drawn."""

    name: str
    rows: tuple[CompareRow, ...]
    reading: str
    shape: CompareShape

    @property
    def is_told(self) -> bool:
        """Whether curves differ, or rows moved."""
        return any(row.differs == "yes" or row.moved for row in self.rows)


@dataclass(frozen=True)
class CompareOutput:
    """All that is said of one output."""

    name: str
    reading: str
    parts: tuple[ComparePart, ...]
    key: str = ""
    place: int = 0  # among the outputs of a page of effects


@dataclass(frozen=True)
class ComparePage:
    """Everything that the page of a comparison says."""

    title: str
    lead: str
    facts: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...]
    names: tuple[str, ...]
    zero: str
    percent: str
    outputs: tuple[CompareOutput, ...]
    notes: tuple[Footnote, ...]
    code: str

    @property
    def drawn(self) -> tuple[str, ...]:
        """Explanations that charts show."""
        return self.names[:MOST_DRAWN]


def make_compare_page(table: Comparison, title: str | None = None) -> ComparePage:
    """Gather what the page of a comparison shows.

    Parameters
    ----------
    table : Comparison
        What was compared.
    title : str, optional
        Heading of the page.
    """
    names = tuple(clean(name, MAX_NAME_LETTERS_IN_TEXT) for name in table.names)
    usual = f"{listed(list(names[1:]), most=3)} compared with {names[0]}"
    return ComparePage(
        title=clean(title or usual),
        lead=write_compare_lead(names),
        facts=tuple(summarize_compare_page(table)),
        settings=tuple(list_compare_settings(table)),
        names=names,
        zero=clean(table.zero_in_words),
        percent=f"{100 * table.level:.4g} %",
        outputs=tuple(make_compare_output(table, output) for output in table.outputs),
        notes=tuple(Footnote(clean(note), "") for note in collect_compare_notes(table)),
        code=write_compare_code(table),
    )


def collect_compare_notes(table: Comparison) -> list[str]:
    """Notes of the comparison, and that charts do not show all, where they do not."""
    more = len(table.names) - MOST_DRAWN
    return [
        *table.notes,
        *([f"charts show the first {MOST_DRAWN} explanations"] if more > 0 else []),
    ]


def make_compare_output(table: Comparison, output: str) -> CompareOutput:
    """Gather what is said of one output."""
    ranked = table.ranked(output)
    largest = max((one.size for one in ranked if one.size > 0), default=0.0)
    return CompareOutput(
        clean(table.captions.output(output)),
        tell_overall(ranked, table.level),
        tuple(make_compare_part(one, largest) for one in ranked),
        key=output,
    )


def make_compare_part(one: FeatureComparison, largest: float) -> ComparePart:
    """Gather what is drawn and said of one feature and output."""
    shape, name = shape_of_comparison(one), clean(one.captions.axis(one.name))
    rows = tuple(
        make_row(found, name, k, shape, largest) for k, found in enumerate(one.differences, start=1)
    )
    return ComparePart(name, rows, tell_feature(one), shape)


def make_row(
    found: CurveDifference, name: str, k: int, shape: CompareShape, largest: float
) -> CompareRow:
    """One line of the table."""
    known = found.is_known
    flat = None if found.differs else 0.0  # noise, as large as the picture, would look like a shape
    lines = [
        Small(
            line.x,
            tuple(y if flat is None else flat for y in line.y),
            dots=shape.dots,
            shown=shape.shown,
        )
        for line in shape.gaps
        if line.k == k
    ]
    return CompareRow(
        name=name,
        compared=clean(found.second_name, MAX_NAME_LETTERS_IN_TEXT),
        k=min(k, MOST_DRAWN - 1),
        size=plus_minus(found.size, found.size_error) if known else UNKNOWN_DASH,
        length=100 * found.size / largest if known and largest > 0 else 0.0,
        share=f"{100 * found.share:.0f} %" if known else UNKNOWN_DASH,
        p=chance_in_words(found.p_value),
        differs=write_difference_verdict(found) or UNKNOWN_DASH,
        largest=signed(found.peak.difference) if known else UNKNOWN_DASH,
        at=clean(write_peak(found), MAX_NAME_LETTERS_IN_TEXT),
        rows=UNKNOWN_DASH if found.drift is None else f"{100 * found.drift.apart:.0f} %",
        moved=bool(found.drift is not None and found.drift.moved),
        sparkline=write_sparkline_path(lines[0]) if lines else "",
    )


@dataclass(frozen=True)
class Small:
    """What a tiny picture shows."""

    x: tuple[float | None, ...]
    y: tuple[float | None, ...]
    dots: bool
    log: bool = False
    shown: tuple[float | None, ...] = ()


def signed(value: float) -> str:
    """Write a difference with its sign."""
    return format_report_number(value) if value <= 0 else f"+{format_report_number(value)}"


def write_compare_lead(names: Sequence[str]) -> str:
    """Say in one sentence what was done."""
    others = listed([isolated(name) for name in names[1:]], most=3)
    return (
        f"The curves of {others} beside those of {isolated(names[0])}, at one zero: where they "
        "differ by more than chance, and how the rows moved."
    )


def summarize_compare_page(table: Comparison) -> list[tuple[str, str]]:
    """Say what was compared; names and words."""
    every = [fx.provenance for fx in table.explanations]
    words = [clean(table.captions.output(output), 60) for output in table.outputs]
    found = [
        (name, describe_explanation(one)) for name, one in zip(table.names, every, strict=True)
    ]
    found += [
        ("Zero", table.zero_in_words),
        ("Outputs" if len(words) > 1 else "Output", listed(words)),
    ]
    return [
        (clean(name, MAX_NAME_LETTERS_IN_TEXT), clean(text, LONGEST_FACT))
        for name, text in found
        if text
    ]


def list_compare_settings(table: Comparison) -> list[tuple[str, str]]:
    """Say how it was explained, when and with what; names and words."""
    every = [fx.provenance for fx in table.explanations]
    methods = list(dict.fromkeys(str(one.get("method", "")) for one in every))
    found = [
        ("Method", listed([EFFECT_METHODS.get(method, method) for method in methods])),
        ("Made", created(every[0])),
        ("Versions", versions(every[0])),
    ]
    return [(name, clean(text, LONGEST_FACT)) for name, text in found if text]


def describe_explanation(provenance: Mapping[str, Any]) -> str:
    """Say in few words what was explained."""
    return f"{provenance.get('model', 'model')}, {rows_in_words(provenance)} rows"


def write_compare_code(table: Comparison) -> str:
    """Write how to make the same again."""
    ranked = table.ranked(table.outputs[0])
    given = "".join(
        f"    {clean(name, MAX_NAME_LETTERS_IN_TEXT)!r}: fx{number},\n"
        for number, name in enumerate(table.names, 1)
    )
    zero = "" if table.zero is None else f", zero={clean(repr(table.zero), LONGEST_FACT)}"
    name = clean(ranked[0].name, MAX_CHART_LEVEL_LETTERS)
    key = ", ".join(map(repr, [name, *table.outputs[: len(table.outputs) > 1]]))
    return (
        "import rhale\n\n"
        f"cx = rhale.compare({{\n{given}}}{zero})  # explanations, as rhale.explain makes them\n"
        "cx.summary()  # the table above\n"
        f"cx[{clean(key)}]  # the numbers of one feature\n"
        'cx.report("compare.html")  # this page\n'
    )
