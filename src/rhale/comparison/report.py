"""Comparisons on the page and in notebooks: sentences, parts, tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rhale.comparison.charts import MOST_DRAWN, CompareShape, shape_of_comparison
from rhale.comparison.feature_comparison import FeatureComparison
from rhale.comparison.table import (
    COMPARISON_COLUMNS,
    ComparisonLine,
    list_lines,
    name_peak,
    write_difference_verdict,
    write_peak,
)
from rhale.effects.alignment import can_be_named
from rhale.effects.difference import CurveDifference
from rhale.effects.result import find_result_axis_kind, reach
from rhale.output import colours
from rhale.output.columns import insert_after, words
from rhale.output.number_format import UNKNOWN_DASH
from rhale.report.notebook import write_curve_svg, write_sparkline_path
from rhale.report.numbers import MAX_CHART_LEVEL_LETTERS, Shape
from rhale.report.page import EFFECT_METHODS, LONGEST_FACT, Footnote, list_settings, rows_in_words
from rhale.report.sentences import (
    at,
    chance_in_words,
    clean,
    format_axis_position,
    format_report_number,
    isolated,
    listed,
    plus_minus,
    unbroken,
)

if TYPE_CHECKING:
    from rhale.comparison.result import Comparison


# --- What a comparison says about one feature, in plain sentences: curves first, then rows


MIN_DIFFERING_FOR_CHANCE = 20  # features: one in twenty is said to differ by chance


def tell_overall(found: Sequence[FeatureComparison], level: float) -> str:
    """Say how many features differ, how many of their rows moved, and what chance would give."""
    known = [one for one in found if math.isfinite(one.size)]
    if not known:
        return "No curves can be compared."
    n, n_differ, n_moved = (
        len(known),
        sum(one.differs for one in known),
        sum(o.moved for o in found),
    )
    curves = "The curves agree" if n_differ == 0 else f"Curves differ in {n_differ} of {n} features"
    rows = "no rows moved" if n_moved == 0 else f"the rows of {n_moved} of {len(found)} moved"
    chance = ""
    if n >= MIN_DIFFERING_FOR_CHANCE:
        chance = (
            f" Were all curves the same, chance would still let about {(1 - level) * n:.0f} differ."
        )
    return f"{curves}; {rows}.{chance}"


def tell_feature(one: FeatureComparison) -> str:
    """Say what was found about one feature, explanation by explanation."""
    name = isolated(clean(one.captions.feature(one.name), MAX_COMPARED_NAME_LETTERS))
    sentences = [tell_curves(found, name) for found in one.differences]
    sentences += [words for found in one.differences if (words := tell_rows(found, name))]
    return unbroken(" ".join(sentences))


def called(name: str) -> str:
    """What an explanation is called, in a sentence."""
    return isolated(clean(name, MAX_COMPARED_NAME_LETTERS))


def tell_curves(found: CurveDifference, name: str) -> str:
    """Say whether two curves differ, by how much, and where most."""
    first, second = called(found.first_name), called(found.second_name)
    both = f"{second} and {first}"
    if not found.is_known:
        return f"{name} cannot be compared between {both}: see the notes."
    if found.size == 0:
        return f"The curves of {name} are the same in {both}."
    p = chance_in_words(found.p_value)
    p = f"p\u00a0{p}" if p.startswith("<") else f"p\u00a0=\u00a0{p}"
    if not found.differs:
        small = found.p_value < 1 - found.level
        why = (
            "less than a hundredth of the effect" if small else f"no more than chance explains, {p}"
        )
        return f"The curves of {name} agree in {both}: they are {format_report_number(found.size)} apart, {why}."
    size = plus_minus(found.size, found.size_error)
    share = f"{100 * found.share:.0f} % of the larger effect"
    return f"The curves of {name} differ by {size} between {both}, {share} ({p}). {tell_peak(found, second)}"


def tell_peak(found: CurveDifference, second: str) -> str:
    """Say where curves are farthest apart."""
    peak = found.peak
    side = "above" if peak.difference > 0 else "below"
    ends = sorted((abs(peak.low), abs(peak.high)))
    sure = (
        f" ({format_report_number(ends[0])} to {format_report_number(ends[1])})"
        if peak.low * peak.high > 0
        else ""
    )
    where = (
        at(found.first, peak.x)
        if not found.first.labels or found.peak.x in found.first.axis
        else name_peak(found)
    )
    return f"{second} is farthest {side} at {where}, by {format_report_number(abs(peak.difference))}{sure}."


def tell_rows(found: CurveDifference, name: str) -> str:
    """Say how rows moved; nothing where they did not."""
    drift = found.drift
    if drift is None or not drift.moved:
        return ""
    second, share = called(found.second_name), f"{100 * drift.apart:.0f} %"
    if can_be_named(found.first):
        # Say which levels gained and lost rows.
        changes = (
            [f"more at “{clean(drift.gained, MAX_COMPARED_NAME_LETTERS)}”"] if drift.gained else []
        )
        changes += (
            [f"fewer at “{clean(drift.lost, MAX_COMPARED_NAME_LETTERS)}”"] if drift.lost else []
        )
        return (
            f"In {second} {share} of the rows have another level of {name}: {', '.join(changes)}."
        )
    low, high = reach(found.first)
    kind = find_result_axis_kind(found.first)
    before, after = (
        format_axis_position(s.median, kind, high - low) for s in (drift.before, drift.after)
    )
    if before == after:
        return f"The rows of {second} stand elsewhere: {share} of them, around the same median of {name}."
    way = "up" if drift.shift > 0 else "down"
    return f"Its rows moved {way} in {second}: the median of {name} from {before} to {after}, and {share} of the rows stand elsewhere."


MAX_COMPARED_NAME_LETTERS = 60


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
    """Gather what the page of a comparison shows."""
    names = tuple(clean(name, MAX_COMPARED_NAME_LETTERS) for name in table.names)
    usual = f"{listed(list(names[1:]), most=3)} compared with {names[0]}"
    others = listed([isolated(name) for name in names[1:]], most=3)
    every = [fx.provenance for fx in table.explanations]
    methods = list(dict.fromkeys(str(one.get("method", "")) for one in every))
    words = [clean(table.captions.output(output), 60) for output in table.outputs]
    found = [
        (name, f"{one.get('model', 'model')}, {rows_in_words(one)} rows")
        for name, one in zip(table.names, every, strict=True)
    ]
    found += [
        ("Zero", table.zero_in_words),
        ("Outputs" if len(words) > 1 else "Output", listed(words)),
    ]
    is_cut = len(table.names) > MOST_DRAWN
    not_drawn = [f"charts show the first {MOST_DRAWN} explanations"] if is_cut else []
    return ComparePage(
        title=clean(title or usual),
        lead=f"The curves of {others} beside those of {isolated(names[0])}, at one zero: where they "
        "differ by more than chance, and how the rows moved.",
        facts=tuple(
            (clean(name, MAX_COMPARED_NAME_LETTERS), clean(text, LONGEST_FACT))
            for name, text in found
            if text
        ),
        settings=list_settings(
            listed([EFFECT_METHODS.get(method, method) for method in methods]), every[0]
        ),
        names=names,
        zero=clean(table.zero_in_words),
        percent=f"{100 * table.level:.4g} %",
        outputs=tuple(make_compare_output(table, output) for output in table.outputs),
        notes=tuple(Footnote(clean(note), "") for note in (*table.notes, *not_drawn)),
        code=write_compare_code(table),
    )


def make_compare_output(table: Comparison, output: str) -> CompareOutput:
    """Gather what is said of one output."""
    ranked = table.ranked(output)
    lines = list_lines(ranked)
    size = max((one.size for one in ranked if one.size > 0), default=0.0)
    largest = size, max((line.largest for line in lines), default=0.0)
    return CompareOutput(
        clean(table.captions.output(output)),
        tell_overall(ranked, table.level),
        tuple(make_compare_part(one, largest) for one in ranked),
        key=output,
    )


def make_compare_part(one: FeatureComparison, largest: tuple[float, float]) -> ComparePart:
    """Gather what is drawn and said of one feature and output."""
    shape, name = shape_of_comparison(one), clean(one.captions.axis(one.name))
    rows = tuple(
        make_row(found, name, k, shape, largest) for k, found in enumerate(one.differences, start=1)
    )
    return ComparePart(name, rows, tell_feature(one), shape)


def make_row(
    found: CurveDifference, name: str, k: int, shape: CompareShape, largest: tuple[float, float]
) -> CompareRow:
    """One line of the table; `largest` are the largest size and the largest difference."""
    longest, reach = largest
    known = found.is_known
    return CompareRow(
        name=name,
        compared=clean(found.second_name, MAX_COMPARED_NAME_LETTERS),
        k=min(k, MOST_DRAWN - 1),
        size=plus_minus(found.size, found.size_error) if known else UNKNOWN_DASH,
        length=100 * found.size / longest if known and longest > 0 else 0.0,
        share=f"{100 * found.share:.0f} %" if known else UNKNOWN_DASH,
        p=chance_in_words(found.p_value),
        differs=write_difference_verdict(found) or UNKNOWN_DASH,
        largest=signed(found.peak.difference) if known else UNKNOWN_DASH,
        at=clean(write_peak(found), MAX_COMPARED_NAME_LETTERS),
        rows=UNKNOWN_DASH if found.drift is None else f"{100 * found.drift.apart:.0f} %",
        moved=bool(found.drift is not None and found.drift.moved),
        sparkline=draw_difference_path(shape, k, reach),
    )


def draw_difference_path(shape: CompareShape, k: int, reach: float) -> str:
    """The path of a difference of curves, between -reach and reach: noise looks small beside it."""
    for line in shape.gaps:
        if line.k == k:
            found = Shape("curve", line.x, line.y, dots=shape.dots, shown=shape.shown)
            return write_sparkline_path(found, reach)
    return ""


def signed(value: float) -> str:
    """Write a difference with its sign."""
    return format_report_number(value) if value <= 0 else f"+{format_report_number(value)}"


def write_compare_code(table: Comparison) -> str:
    """Write how to make the same again."""
    ranked = table.ranked(table.outputs[0])
    given = "".join(
        f"    {clean(name, MAX_COMPARED_NAME_LETTERS)!r}: fx{number},\n"
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


# --- A comparison in notebooks: its columns, with pictures


def draw_difference_cell(row: ComparisonLine) -> str:
    """Draw a difference of curves, for its table: grey where it is not significant."""
    shape = shape_of_comparison(row.one)
    k = row.one.differences.index(row.found) + 1
    path = draw_difference_path(shape, k, row.largest)
    return write_curve_svg(
        path, colours.EFFECT_COLOUR if row.found.differs else colours.ROW_COUNT_COLOUR
    )


COMPARISON_NOTEBOOK_COLUMNS = insert_after(
    COMPARISON_COLUMNS,
    "compared",
    words(header="difference", markup=draw_difference_cell),
)
