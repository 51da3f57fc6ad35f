"""Comparisons on the page and in notebooks: sentences, parts, tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from rhale.comparison.charts import (
    MOST_DRAWN,
    CompareShape,
    compile_compare_charts,
    shape_of_comparison,
)
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
from rhale.output.columns import Header, insert_after, lay_out_further, words
from rhale.output.number_format import UNKNOWN_DASH, write_share
from rhale.report.notebook import write_curve_svg
from rhale.report.numbers import MAX_CHART_LEVEL_LETTERS, Shape, write_sparkline_path
from rhale.report.page import (
    LONGEST_FACT,
    METHODS_IN_WORDS,
    Footnote,
    Page,
    Section,
    list_known,
    list_settings,
    rows_in_words,
    without_nothing,
)
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
    """Say how many features differ, how many drifted, and what chance would give."""
    known = [one for one in found if math.isfinite(one.size)]
    if not known:
        return "No effects can be compared."
    n, n_differ, n_moved = (
        len(known),
        sum(one.differs for one in known),
        sum(o.moved for o in found),
    )
    curves = (
        "The effects agree" if n_differ == 0 else f"Effects differ in {n_differ} of {n} features"
    )
    rows = "no feature drifted"
    if n_moved:
        rows = f"{n_moved} of {len(found)} {'feature' if len(found) == 1 else 'features'} drifted"
    chance = ""
    if n >= MIN_DIFFERING_FOR_CHANCE:
        chance = f" If all effects were the same, about {(1 - level) * n:.0f} would still differ by chance."
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
        return f"The effects of {name} cannot be compared between {both}: see the notes."
    if found.size == 0:
        return f"The effect of {name} is the same in {both}."
    p = chance_in_words(found.p_value)
    p = f"p\u00a0{p}" if p.startswith("<") else f"p\u00a0=\u00a0{p}"
    if not found.differs:
        small = found.p_value < 1 - found.level
        why = "less than 1 % of the effect" if small else f"which is not significant ({p})"
        return f"The effects of {name} agree between {both}: they differ by {format_report_number(found.size)}, {why}."
    size = plus_minus(found.size, found.size_error)
    share = f"{100 * found.share:.0f} % of the larger effect"
    return f"The effects of {name} differ by {size} between {both}, {share} ({p}). {tell_peak(found, second)}"


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
    return f"The largest difference is at {where}: {second} is {side} by {format_report_number(abs(peak.difference))}{sure}."


def tell_rows(found: CurveDifference, name: str) -> str:
    """Say how data drifted; nothing where they did not."""
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
        return f"Data drift: in {second} {share} of the rows have another level of {name}, {' and '.join(changes)}."
    low, high = reach(found.first)
    kind = find_result_axis_kind(found.first)
    before, after = (
        format_axis_position(s.median, kind, high - low) for s in (drift.before, drift.after)
    )
    if before == after:
        return f"Data drift: in {second} {share} of the rows have other values of {name}, with the same median."
    return f"Data drift: in {second} the median of {name} is {after} instead of {before}, and {share} of the rows have other values."


MAX_COMPARED_NAME_LETTERS = 60
DRAWN_COMPARISON_COLUMNS = (
    *("feature", "output", "compared", "size", "share", "p_value", "differs", "largest", "at"),
    *("importance_with", "importance", "rows_apart"),
)


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
    further: tuple[str, ...] = ()  # cells that have no field of their own


@dataclass(frozen=True)
class ComparePart:
    """A feature that is drawn."""

    name: str
    rows: tuple[CompareRow, ...]
    reading: str
    shape: CompareShape

    @property
    def is_told(self) -> bool:
        """Whether effects differ, or data drifted."""
        return any(row.differs == "yes" or row.moved for row in self.rows)


@dataclass(frozen=True)
class CompareOutput:
    """All that is said of one output."""

    name: str
    reading: str
    parts: tuple[ComparePart, ...]
    key: str = ""
    place: int = 0  # among the outputs of a page of effects
    further: tuple[Header, ...] = ()  # columns that the template does not name


@dataclass(frozen=True)
class ComparisonSection(Section):
    """What differs, and curves of all explanations at one zero."""

    kind: ClassVar[str] = "comparison"
    names: tuple[str, ...]
    zero: str
    percent: str
    outputs: tuple[CompareOutput, ...]

    @property
    def drawn(self) -> tuple[str, ...]:
        """Explanations that charts show."""
        return self.names[:MOST_DRAWN]

    def data(self) -> dict[str, Any]:
        """Numbers of the curves, by output; a brief section has no charts."""
        shapes = [[without_nothing(asdict(p.shape)) for p in one.parts] for one in self.outputs]
        return {} if self.brief else {"names": self.drawn, "compared": shapes}

    def charts(self) -> dict[str, Any]:
        """Kinds of charts of its curves."""
        shapes = [] if self.brief else [p.shape for one in self.outputs for p in one.parts]
        return compile_compare_charts({one.form for one in shapes}, len(self.drawn))


def names_and_title(table: Comparison) -> tuple[tuple[str, ...], str]:
    """Names of the explanations, and what is compared with what."""
    names = tuple(clean(name, MAX_COMPARED_NAME_LETTERS) for name in table.names)
    return names, f"{listed(list(names[1:]), most=3)} compared with {names[0]}"


def make_compare_page(table: Comparison, title: str | None = None) -> Page:
    """Gather what the page of a comparison shows."""
    names, usual = names_and_title(table)
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
    return Page(
        title=clean(title or usual),
        lead=f"This page compares the effects of {others} with those of {isolated(names[0])}: where they "
        "differ significantly, and which features drifted.",
        facts=list_known(found),
        settings=list_settings(
            listed([METHODS_IN_WORDS.get(method, method) for method in methods]), every[0]
        ),
        notes=tuple(Footnote(clean(note)) for note in (*table.notes, *not_drawn)),
        sections=(make_comparison_section(table),),
    )


def make_comparison_section(table: Comparison, *, brief: bool = False) -> ComparisonSection:
    """Gather what is shown of a comparison; a brief section is one of several."""
    names, usual = names_and_title(table)
    return ComparisonSection(
        f"Comparison: {usual}" if brief else "Comparison",
        write_compare_code(table),
        brief,
        names=names,
        zero=clean(table.zero_in_words),
        percent=f"{100 * table.level:.4g} %",
        outputs=tuple(make_compare_output(table, output) for output in table.outputs),
    )


def make_compare_output(table: Comparison, output: str) -> CompareOutput:
    """Gather what is said of one output."""
    ranked = table.ranked(output)
    lines = list_lines(ranked)
    size = max((one.size for one in ranked if one.size > 0), default=0.0)
    largest = size, max((line.largest for line in lines), default=0.0)
    further, cells = lay_out_further(lines, COMPARISON_COLUMNS, DRAWN_COMPARISON_COLUMNS)
    texts = iter(cells)
    parts = [make_compare_part(one, largest) for one in ranked]
    return CompareOutput(
        clean(table.captions.output(output)),
        tell_overall(ranked, table.level),
        tuple(
            replace(p, rows=tuple(replace(row, further=next(texts)) for row in p.rows))
            for p in parts
        ),
        key=output,
        place=table.outputs.index(output),
        further=further,
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
        share=write_share(found.share) if known else UNKNOWN_DASH,
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
