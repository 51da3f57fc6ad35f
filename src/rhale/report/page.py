"""The page of effects: frozen numbers and words, no HTML."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rhale.effects.listing import count_some, differs_by
from rhale.effects.result import Result, is_constant, reach
from rhale.effects.support import find_shown_part
from rhale.output.note import Note
from rhale.regions.report import RegionPart, regions_of
from rhale.regions.wording import call_features
from rhale.report.notebook import write_sparkline_path
from rhale.report.numbers import (
    MAX_CHART_LEVEL_LETTERS,
    Bins,
    Line,
    Shape,
    make_chart_bins,
    make_chart_line,
    shape_of,
    simplify_parts,
    trace_along,
)
from rhale.report.sentences import (
    at,
    clean,
    curve_range,
    describe_effect,
    format_report_number,
    isolated,
    listed,
    output_of,
    straight,
    unbroken,
    with_unit,
    without_steering,
)

if TYPE_CHECKING:
    from rhale.comparison.report import ComparePage
    from rhale.interaction.report import PairPage
    from rhale.stability.report import RefitPage

EFFECT_METHODS = {
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
MOST_WITH_ROWS = 60  # effects, the largest ones, whose rows may be drawn: a page stays small


@dataclass(frozen=True)
class OtherBins:
    """The same effect with other bins, which a reader may choose."""

    bins: Bins  # the bins
    line: Line | None  # the curve; None where it does not depend on bins


@dataclass(frozen=True)
class EffectPart:
    """One feature and output."""

    # size, error, spread, spread_error: size of the effect and the typical spread, each with
    # its standard error; None where not known.
    size: float | None
    error: float | None
    spread: float | None
    spread_error: float | None
    n_bins: int  # bins, levels or points
    reading: tuple[str, ...]  # sentences
    notes: tuple[int, ...]  # which of the page's notes belong to it
    shape: Shape  # what is drawn
    sparkline: str  # path of the tiny picture
    differs: str = ""  # by whom rows differ, in a few words; nothing where that is not known.
    regions: RegionPart | None = None  # of the effect; None where they were not requested
    choice: tuple[OtherBins, ...] = ()  # other bins that a reader may choose; none where bins stay
    partners: str = ""  # with whom the spread goes, where no regions tell it


@dataclass(frozen=True)
class Section:
    """One feature: what people read and its key, what it is, and one part for each output."""

    name: str
    key: str
    kind: str
    range: str
    counted: str
    parts: tuple[EffectPart, ...]


@dataclass(frozen=True)
class Footnote:
    """What a reader should know, and about which features; none: about the whole."""

    text: str
    about: str


@dataclass(frozen=True)
class EffectPage:
    """Everything that the page says."""

    title: str  # title, lead: heading, and what was explained in one sentence
    lead: str
    # facts, settings: what stands at the top for everyone, and at the end for who wants to do
    # it again.
    facts: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...]
    features: tuple[Section, ...]  # features
    outputs: tuple[str, ...]  # outputs, keys: outputs as people read them, and by their keys
    keys: tuple[str, ...]
    notes: tuple[Footnote, ...]  # what a reader should know
    code: str  # how to make the same again
    is_profile: bool  # whether curves show predictions
    # interactions, refits, comparison: pages of pairs, of trainings and of other
    # explanations, which are sections here; None where there are none.
    interactions: PairPage | None = None
    refits: RefitPage | None = None
    comparison: ComparePage | None = None

    @property
    def has_steps(self) -> bool:
        """Whether some curves can be drawn in two ways."""
        return any(part.shape.smooth for feature in self.features for part in feature.parts)

    @property
    def has_choices(self) -> bool:
        """Whether some bins may be changed."""
        return any(part.choice for feature in self.features for part in feature.parts)

    @property
    def has_row_lines(self) -> bool:
        """Whether curves of rows may be drawn."""
        return any(part.shape.row_lines for feature in self.features for part in feature.parts)

    @property
    def has_regions(self) -> bool:
        """Whether regions were asked for."""
        return any(part.regions for feature in self.features for part in feature.parts)


def make_page(
    effects: Sequence[Result],
    provenance: Mapping[str, Any],
    *,
    notes: Sequence[str] = (),
    explained: Mapping[str, float] | None = None,
    explained_with_regions: Mapping[str, float] | None = None,
    title: str | None = None,
) -> EffectPage:
    """Gather what a page shows.

    `explained` is the share of each output's variance that the curves explain, and
    `explained_with_regions` the same where every row takes the curve of its region.
    """
    outputs = tuple(dict.fromkeys(effect.output for effect in effects))
    groups = [effects[i : i + len(outputs)] for i in range(0, len(effects), len(outputs))]
    texts = list(dict.fromkeys(note for effect in effects for note in footnotes(effect)))
    # Largest range of a curve of each output; 0 if none is known.
    largest = {
        o: float(np.nanmax([0.0, *(curve_range(e) for e in effects if e.output == o)]))
        for o in outputs
    }
    by_size = sorted(effects, key=lambda effect: -np.nan_to_num(effect.importance))
    drawn = {(effect.name, effect.output) for effect in by_size[:MOST_WITH_ROWS]}
    # The usual title says what the page is about, in words that need no model's name.
    first, n_features = groups[0][0], len(groups)
    who = f"{n_features} features" if n_features > 1 else first.captions.feature(first.name)
    what = output_of(first) if len(groups[0]) == 1 else f"{len(groups[0])} predictions"
    method = str(provenance.get("method", ""))
    return EffectPage(
        title=clean(title or f"How {who} {'move' if n_features > 1 else 'moves'} {what}"),
        lead=write_effect_lead(groups, provenance),
        facts=summarize_effect_page(
            groups, provenance, explained or {}, explained_with_regions or {}
        ),
        settings=list_settings(
            EFFECT_METHODS.get(method, method),
            provenance,
            provenance.get("bins", "") if method in ("rhale", "dale", "ale") else "",
        ),
        features=tuple(make_feature(group, texts, largest, drawn) for group in groups),
        outputs=tuple(clean(effect.captions.output(effect.output)) for effect in groups[0]),
        keys=outputs,
        notes=tuple(Footnote(clean(text), list_noted_features(text, groups)) for text in texts)
        + tuple(Footnote(clean(text), "") for text in notes),
        code=write_effect_code(effects, provenance),
        is_profile=all(effect.quantity == "prediction" for effect in effects),
    )


def write_effect_lead(groups: Sequence[Sequence[Result]], provenance: Mapping[str, Any]) -> str:
    """Say in one sentence what was explained."""
    model = short_model(provenance)
    rows = rows_in_words(provenance)
    where = f", on average over {rows} rows" if rows else ""
    first = ": the features that move it most come first" if len(groups) > 1 else ""
    who = f"A {model}" if model != "function" else "A model"
    what = output_of(groups[0][0]) if len(groups[0]) == 1 else "its predictions"
    each = "each feature" if len(groups) > 1 else "one feature"
    return f"{who} was asked how {each} moves {what}{where}{first}."


def short_model(provenance: Mapping[str, Any]) -> str:
    """The model without what was asked of it."""
    return isolated(clean(provenance.get("model", "model"), LONGEST_FACT).partition(", ")[0])


def add_partners(page: EffectPage, found: Mapping[tuple[str, str], str]) -> EffectPage:
    """Say with whom spreads go, by the keys of feature and output, where no regions tell it."""

    def with_partners(section: Section) -> tuple[EffectPart, ...]:
        keys = [(section.key, output) for output in page.keys]
        return tuple(
            part if part.regions else replace(part, partners=found.get(key, ""))
            for key, part in zip(keys, section.parts, strict=True)
        )

    return replace(page, features=tuple(replace(s, parts=with_partners(s)) for s in page.features))


def with_choices(
    page: EffectPage, effects: Sequence[Result], others: Sequence[Sequence[Result]]
) -> EffectPage:
    """Let readers change bins.

    `others` holds the same effects with other bins, any number of times.
    """
    choices = map(collect_other_bins, effects, zip(*others, strict=True))
    features = [
        replace(one, parts=tuple(replace(part, choice=next(choices)) for part in one.parts))
        for one in page.features
    ]
    return replace(page, features=tuple(features))


def collect_other_bins(effect: Result, others: Sequence[Result]) -> tuple[OtherBins, ...]:
    """Gather bins that differ from all before them, and the curves that follow from them."""
    found: list[OtherBins] = []
    seen = [effect.axis]
    for other in others:
        if any(np.array_equal(other.axis, axis) for axis in seen):
            continue
        seen.append(other.axis)
        part = find_shown_part(other)
        path = trace_along(other, part)
        line = None
        if other.stairs is None:  # that of a walked model is read off the model
            line = make_chart_line(other, path, simplify_parts(path, part), part)
        found.append(OtherBins(make_chart_bins(other, part), line))
    return tuple(found)


def make_feature(
    group: Sequence[Result],
    texts: Sequence[str],
    largest: Mapping[str, float],
    drawn: AbstractSet[tuple[str, str]],
) -> Section:
    """Gather what is said of one feature; `drawn` are those whose rows may be drawn, too."""
    first = group[0]
    parts = tuple(
        make_effect_part(e, texts, largest[e.output], rows=(e.name, e.output) in drawn)
        for e in group
    )
    name = clean(first.captions.feature(first.name))
    return Section(name, first.name, first.column_kind, range_in_words(first), first.parts, parts)


def make_effect_part(
    effect: Result, texts: Sequence[str], largest: float, *, rows: bool
) -> EffectPart:
    """Gather what is said of one feature and output."""
    if effect.regions is not None:  # features by what people read
        regions = call_features(effect.regions, effect.captions)
        effect = cast("Result", replace(cast("Any", effect), regions=regions))
    shape = shape_of(effect, sampled=rows)
    return EffectPart(
        size=drop_size_rounding(effect.importance, largest),
        error=drop_size_rounding(effect.importance_error, largest),
        spread=drop_size_rounding(effect.typical_spread, largest),
        spread_error=drop_size_rounding(effect.typical_spread_error, largest),
        n_bins=effect.n_parts,
        reading=describe_effect(effect, largest=largest),
        notes=tuple(
            texts.index(note)
            for note in footnotes(effect)
            if not (shape.sorted and note.kind == "order")  # which is not the order that is drawn
        ),
        shape=shape,
        sparkline=write_sparkline_path(shape),
        differs=unbroken(straight(clean(differs_by(effect.regions)))),
        regions=regions_of(effect),
    )


def footnotes(effect: Result) -> list[Note]:
    """Notes that stand below a chart: jumps and regions are told in sentences."""
    return [note for note in effect.notes if note.kind not in ("jump", "regions")]


def range_in_words(effect: Result) -> str:
    """Say between which values a feature lies; nothing for categories."""
    if is_constant(effect):
        return "one value"
    if effect.column_kind == "categories":
        return ""
    low, high = reach(effect)
    return f"from {at(effect, low)} to {with_unit(effect, high)}"


def list_noted_features(text: str, groups: Sequence[Sequence[Result]]) -> str:
    """List the features that have a note."""
    some = [g[0] for g in groups if any(text in effect.notes for effect in g)]
    names = [isolated(clean(one.captions.feature(one.name), 60)) for one in some]
    return "all features" if len(names) == len(groups) > 1 else listed(names)


def summarize_effect_page(
    groups: Sequence[Sequence[Result]],
    provenance: Mapping[str, Any],
    explained: Mapping[str, float],
    with_regions: Mapping[str, float],
) -> tuple[tuple[str, str], ...]:
    """Say what was explained, and how well; names and words."""
    first = groups[0]
    words = [clean(effect.captions.value_axis(effect.output), 60) for effect in first]
    read = {effect.output: effect.captions.output(effect.output) for effect in first}
    some = count_some(provenance, [group[0].name for group in groups])
    of = " of these features" if some else ""
    found = [
        ("Model", provenance.get("model", "")),
        ("Rows", rows_in_words(provenance)),
        ("Features", some or f"{len(groups)}"),
        ("Outputs" if len(words) > 1 else "Output", listed(words)),
        (f"Explained by the curves{of}", describe_explained_shares(by_caption(explained, read))),
        ("Explained with regions", describe_explained_shares(by_caption(with_regions, read))),
    ]
    return list_known(found)


def by_caption(shares: Mapping[str, float], read: Mapping[str, str]) -> dict[str, float]:
    """Shares by what people read for the outputs."""
    return {read.get(output, output): share for output, share in shares.items()}


def list_known(found: Sequence[tuple[str, object]]) -> tuple[tuple[str, str], ...]:
    """Names and words of what is known; what is empty is left out."""
    return tuple((name, clean(text, LONGEST_FACT)) for name, text in found if text)


def list_settings(
    method: str, provenance: Mapping[str, Any], bins: object = ""
) -> tuple[tuple[str, str], ...]:
    """Say how something was explained, when and with what; names and words."""
    made = [("Made", created(provenance)), ("Versions", versions(provenance))]
    return list_known([("Method", method), ("Bins", bins), *made])


def created(provenance: Mapping[str, Any]) -> str:
    """When it was made."""
    return str(provenance.get("created", "")).replace("T", " ").replace("+00:00", " UTC")


def rows_in_words(provenance: Mapping[str, Any]) -> str:
    """Count the rows, and say whether they are all, and whether they have weights."""
    rows = provenance.get("rows")
    if not isinstance(rows, int):
        return ""
    of = provenance.get("rows_in_table", rows)
    words = (
        f"{rows:,}"
        if rows == of
        else f"{rows:,} of {of:,}, drawn with seed " + str(provenance.get("seed", "?"))
    )
    return f"{words}, weighted" if provenance.get("weighted") else words


def describe_explained_shares(explained: Mapping[str, float]) -> str:
    """Say how much of the model the curves tell, for each output."""
    known = {clean(o, 60): share for o, share in explained.items() if math.isfinite(share)}
    if not known:
        return ""
    if len(known) == 1:
        return f"{format_report_number(100 * next(iter(known.values())))} % of the variance of the predictions"
    shares = [f"{output} {format_report_number(100 * share)} %" for output, share in known.items()]
    return f"{listed(shares)} of the variance of the predictions"


def versions(provenance: Mapping[str, Any]) -> str:
    """List the versions that are recorded."""
    names = [name for name in ("rhale", "numpy") if name in provenance]
    return ", ".join(f"{name} {provenance[name]}" for name in names)


def write_effect_code(effects: Sequence[Result], provenance: Mapping[str, Any]) -> str:
    """Write how to make the same again, from the arguments that were given."""
    inside = write_arguments(read_arguments(provenance, "rhale"))
    name = clean(effects[0].name, MAX_CHART_LEVEL_LETTERS)
    key = (
        repr(name) if len({e.output for e in effects}) == 1 else f"{name!r}, {effects[0].output!r}"
    )
    return (
        f"import rhale  # version {clean(provenance.get('rhale', '?'), 40)}\n\n"
        f"fx = rhale.explain(\n    model,\n    X,\n{inside})\n"
        f"fx[{clean(key)}]  # the numbers of one effect\n"
        "fx.to_frame()  # one row for each feature, output and bin\n"
        'fx.report("effects.html")  # this page\n'
    )


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
