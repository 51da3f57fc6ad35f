"""The section of effects and their regions, and the page that begins with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from rhale.effects.listing import EFFECT_COLUMNS, EffectRow, count_some, differs_by
from rhale.effects.result import Result, is_constant, reach
from rhale.effects.support import find_shown_part
from rhale.errors import BadSettingError
from rhale.output.columns import Header, lay_out_further
from rhale.output.labels import Captions
from rhale.output.number_format import write_share
from rhale.regions.report import RegionPart, regions_of
from rhale.regions.wording import call_features
from rhale.report.charts import compile_chart
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
    write_sparkline_path,
)
from rhale.report.page import (
    METHODS_IN_WORDS,
    Footnote,
    OutputName,
    Page,
    Section,
    describe_explained_shares,
    drop_size_rounding,
    footnotes,
    list_known,
    list_settings,
    read_arguments,
    rows_in_words,
    short_model,
    without_nothing,
    write_arguments,
)
from rhale.report.sentences import (
    at,
    clean,
    curve_range,
    describe_effect,
    fixed_or_dash,
    isolated,
    listed,
    output_of,
    straight,
    unbroken,
    with_unit,
)

if TYPE_CHECKING:
    from rhale.comparison.result import Comparison
    from rhale.interaction.result import Interactions
    from rhale.regions.partners import Partners
    from rhale.stability.result import Refits

MOST_WITH_ROWS = 40  # effects, the largest ones, whose rows may be drawn: a page stays small
DRAWN_EFFECT_COLUMNS = (
    *("feature", "output", "kind", "importance", "typical_spread", "bins", "differs_by"),
    *("missing_mean", "notes"),  # which stand below the chart
)
MAX_PARTNERS_IN_TEXT, MAX_PARTNER_LETTERS = 3, 40


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
    differs: str = ""  # which features make rows differ, in a few words; nothing where unknown.
    regions: RegionPart | None = None  # of the effect; None where they were not requested
    choice: tuple[OtherBins, ...] = ()  # other bins that a reader may choose; none where bins stay
    further: tuple[str, ...] = ()  # cells of the ranking that have no field of their own
    partners: str = ""  # which features account for the spread, where no regions tell it

    def size_in_words(self, largest: float) -> str:
        """Size of the effect and its error, aligned with the largest."""
        size = fixed_or_dash(self.size, largest)
        return f"{size} ± {fixed_or_dash(self.error, largest)}" if self.error else size

    def spread_in_words(self, largest: float) -> str:
        """Typical spread and its error."""
        spread = fixed_or_dash(self.spread, largest)
        has_error = self.spread and self.spread_error
        return f"{spread} ± {fixed_or_dash(self.spread_error, largest)}" if has_error else spread

    def plain(self, *left: str) -> dict[str, Any]:
        """What the script needs: no empty columns, no bins where there are none, not what is left."""
        part = asdict(self)
        shape = without_nothing(part["shape"])
        shape.pop("titles", None)  # which all parts share
        if not self.shape.bins.mean:
            del shape["bins"]
        left += tuple(name for name in ("partners", "choice", "further") if not part[name])
        left += ("differs", "regions") if self.regions is None else ()
        return {name: value for name, value in part.items() if name not in left} | {"shape": shape}


@dataclass(frozen=True)
class FeaturePart:
    """One feature: what people read and its key, what it is, and one part for each output."""

    name: str
    key: str
    kind: str
    range: str
    counted: str
    parts: tuple[EffectPart, ...]

    @property
    def table_title(self) -> str:
        """Name of the table below the chart."""
        shape = self.parts[0].shape
        if shape.sorted or (self.counted == "levels" and not shape.bins.mean):
            return "Table of levels"
        words = {"bins": "Table of bins", "levels": "Table of steps"}
        return words.get(self.counted, "Table of points")

    def plain(self) -> dict[str, Any]:
        """What the script needs."""
        key = clean(self.key)
        # What a single output has in the text of the page is not needed again.
        told = ("reading", "sparkline") if len(self.parts) == 1 else ()
        return {
            "name": self.name,
            **({"key": key} if key != self.name else {}),
            "counted": self.counted,
            "titles": self.parts[0].shape.titles[1:],
            "parts": [part.plain(*told) for part in self.parts],
        }


@dataclass(frozen=True)
class EffectsSection(Section):
    """Ranking, importance and spread, and each feature with its regions."""

    kind: ClassVar[str] = "effects"
    outputs: tuple[OutputName, ...]
    features: tuple[FeaturePart, ...]
    notes: tuple[str, ...]  # texts that parts name by their places
    is_profile: bool  # whether curves show predictions
    further: tuple[Header, ...] = ()  # columns of the ranking that the template does not name

    @property
    def parts(self) -> list[EffectPart]:
        """Of all features and outputs."""
        return [part for feature in self.features for part in feature.parts]

    @property
    def has_steps(self) -> bool:
        """Whether some curves can be drawn in two ways."""
        return any(part.shape.smooth for part in self.parts)

    @property
    def has_choices(self) -> bool:
        """Whether some bins may be changed."""
        return any(part.choice for part in self.parts)

    @property
    def has_row_lines(self) -> bool:
        """Whether curves of rows may be drawn."""
        return any(part.shape.row_lines for part in self.parts)

    @property
    def has_regions(self) -> bool:
        """Whether regions were asked for."""
        return any(part.regions for part in self.parts)

    @property
    def has_differing(self) -> bool:
        """Whether rows were found to differ by something, so that the ranking has a column for it."""
        return any(part.differs for part in self.parts)

    @property
    def ranked(self) -> list[tuple[int, FeaturePart]]:
        """Features and their places, the largest effect first."""
        pairs = list(enumerate(self.features))
        return sorted(pairs, key=lambda pair: -(pair[1].parts[0].size or 0.0))

    @property
    def largest(self) -> float:
        """The largest effect."""
        return max(feature.parts[0].size or 0.0 for feature in self.features)

    @property
    def counted(self) -> str:
        """What features have: "Bins/levels"."""
        return "/".join(dict.fromkeys(one.counted for one in self.features)).capitalize()

    def data(self) -> dict[str, Any]:
        """Numbers of all features; titles of axes stand once."""
        known = [feature.parts for feature in self.features if feature.parts[0].shape.titles]
        return {
            "features": [feature.plain() for feature in self.features],
            "outputs": [output.name for output in self.outputs],
            "effects": [part.shape.titles[0] for part in known[0]] if known else [],
            "notes": self.notes,
        }

    def charts(self) -> dict[str, Any]:
        """Kinds of charts of effects, of their regions, and the map of all features."""
        kinds = {"map"} if len(self.features) > 1 else set()
        regions = {"curve": "regions", "dates": "date regions", "levels": "level regions"}
        plain = {"curve": "profile", "dates": "date profile"}
        for part in self.parts:
            shape = part.shape
            if shape.form == "levels":
                kinds |= {"levels", "narrow levels"}
            elif shape.form != "constant":
                form = shape.form if shape.bins.mean else plain[shape.form]
                kinds.add("log " * shape.log + form)
            if part.regions is not None and part.regions.lines:
                kinds.add("log regions" if shape.log else regions[shape.form])
        return {kind: compile_chart(kind) for kind in sorted(kinds)}


def make_page(
    effects: Sequence[Result],
    provenance: Mapping[str, Any],
    *,
    notes: Sequence[str] = (),
    explained: Mapping[str, float] | None = None,
    explained_with_regions: Mapping[str, float] | None = None,
    title: str | None = None,
    others: Sequence[Sequence[Result]] = (),
    partners: Mapping[tuple[str, str], Partners] | None = None,
) -> Page:
    """Gather what a page of effects shows.

    `explained` is the share of each output's variance that the curves explain, and
    `explained_with_regions` the same where every row takes the curve of its region. `others` holds
    the same effects with other bins, any number of times; `partners` are those of some features and
    outputs, by their keys.
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
    choices = map(collect_other_bins, effects, zip(*others, strict=True)) if others else None
    further, cells = lay_out_further(
        [EffectRow(e, largest[e.output]) for e in effects], EFFECT_COLUMNS, DRAWN_EFFECT_COLUMNS
    )
    found = [
        replace(
            make_effect_part(e, texts, largest[e.output], rows=(e.name, e.output) in drawn),
            choice=next(choices) if choices else (),
            further=cells[i],
            partners=""
            if e.regions is not None or (e.name, e.output) not in (partners or {})
            else tell_partners((partners or {})[e.name, e.output], e.captions),
        )
        for i, e in enumerate(effects)
    ]
    # The usual title says what the page is about, in words that need no model's name.
    first, n_features = groups[0][0], len(groups)
    who = f"{n_features} features" if n_features > 1 else first.captions.feature(first.name)
    what = output_of(first) if len(groups[0]) == 1 else f"{len(groups[0])} predictions"
    method = str(provenance.get("method", ""))
    section = EffectsSection(
        "Effects",
        write_effect_code(effects, provenance),
        brief=False,
        outputs=tuple(OutputName(clean(e.captions.output(e.output)), e.output) for e in groups[0]),
        features=tuple(
            make_feature(group, found[i * len(outputs) : (i + 1) * len(outputs)])
            for i, group in enumerate(groups)
        ),
        notes=tuple(map(clean, texts)),
        is_profile=all(effect.quantity == "prediction" for effect in effects),
        further=further,
    )
    return Page(
        title=clean(title or f"How {who} {'move' if n_features > 1 else 'moves'} {what}"),
        lead=write_effect_lead(groups, provenance),
        facts=summarize_effect_page(
            groups, provenance, explained or {}, explained_with_regions or {}
        ),
        settings=list_settings(
            METHODS_IN_WORDS.get(method, method),
            provenance,
            provenance.get("bins", "") if method in ("rhale", "dale", "ale") else "",
        ),
        notes=tuple(Footnote(clean(text), list_noted_features(text, groups)) for text in texts)
        + tuple(Footnote(clean(text)) for text in notes),
        sections=(section,),
    )


def add_sections(
    page: Page,
    interactions: Interactions | None = None,
    refits: Refits | None = None,
    comparison: Comparison | None = None,
) -> Page:
    """Show the strongest pairs, refits and a comparison below the effects, where they are given.

    All have to be about outputs of the page; a `BadSettingError` says which one is not.
    """
    made: dict[str, Section] = {}
    if interactions is not None:
        from rhale.interaction.report import make_interactions_section

        made["interactions"] = make_interactions_section(interactions, brief=True)
    if refits is not None:
        from rhale.stability.report import make_stability_section

        made["refits"] = make_stability_section(refits, brief=True)
    if comparison is not None:
        from rhale.comparison.report import make_comparison_section

        made["comparison"] = make_comparison_section(comparison, brief=True)
    keys = [output.key for output in page.outputs]
    placed: list[Section] = []
    for name, section in made.items():
        unknown = [output.key for output in section.outputs if output.key not in keys]
        if unknown:
            msg = (
                f"{name}= are about the output {unknown[0]!r}, and this explanation is about "
                f"{', '.join(map(repr, keys))}; give those of the same model and outputs"
            )
            raise BadSettingError(msg)
        outputs = tuple(replace(one, place=keys.index(one.key)) for one in section.outputs)
        placed.append(replace(cast("Any", section), outputs=outputs))
    return replace(page, sections=(*page.sections, *placed))


def write_effect_lead(groups: Sequence[Sequence[Result]], provenance: Mapping[str, Any]) -> str:
    """Say in one sentence what was explained."""
    model, rows = short_model(provenance), rows_in_words(provenance)
    where = f", on average over {rows} rows" if rows else ""
    first = "; the most important features come first" if len(groups) > 1 else ""
    whose = f"of a {model}" if model != "function" else "of a model"
    what = output_of(groups[0][0]) if len(groups[0]) == 1 else "the predictions"
    each = "each feature" if len(groups) > 1 else "one feature"
    return f"This page shows how {each} moves {what} {whose}{where}{first}."


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


def make_feature(group: Sequence[Result], parts: Sequence[EffectPart]) -> FeaturePart:
    """Gather what is said of one feature."""
    first = group[0]
    name = clean(first.captions.feature(first.name))
    range_ = range_in_words(first)
    return FeaturePart(name, first.name, first.column_kind, range_, first.parts, tuple(parts))


def make_effect_part(
    effect: Result, texts: Sequence[str], largest: float, *, rows: bool
) -> EffectPart:
    """Gather what is said of one feature and output; with `rows`, their curves may be drawn, too."""
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
        regions=None if effect.regions is None else regions_of(effect),
    )


def tell_partners(found: Partners, captions: Captions) -> str:
    """Name the features that account for the spread, largest share first; nothing where none does."""
    # Those that are but proxies of another one are left out: they would be named twice.

    def spoken(name: str) -> str:
        return isolated(clean(captions.feature(name), MAX_PARTNER_LETTERS))

    named = [one for one in found if one.counts and one.is_proxy_of is None]
    if not named:
        return ""
    first = f"{spoken(named[0].feature)} accounts for {write_share(named[0].share)}"
    words = [f"{first} of how the effect of {spoken(found.feature)} varies between rows"]
    words += [f"{spoken(one.feature)} for {write_share(one.share)}" for one in named[1:]]
    return unbroken(f"{listed(words, MAX_PARTNERS_IN_TEXT)}.")


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
    shares, more = (
        describe_explained_shares({read.get(o, o): share for o, share in found.items()})
        for found in (explained, with_regions)
    )
    return list_known(
        [
            ("Model", provenance.get("model", "")),
            ("Rows", rows_in_words(provenance)),
            ("Features", some or f"{len(groups)}"),
            ("Outputs" if len(words) > 1 else "Output", listed(words)),
            (f"Explained by the curves{of}", shares),
            ("Explained with regions", more),
        ]
    )


def write_effect_code(effects: Sequence[Result], provenance: Mapping[str, Any]) -> str:
    """Write how to make the same again, from the arguments that were given."""
    inside = write_arguments(read_arguments(provenance, "rhale"))
    name = clean(effects[0].name, MAX_CHART_LEVEL_LETTERS)
    is_single = len({e.output for e in effects}) == 1
    key = repr(name) if is_single else f"{name!r}, {effects[0].output!r}"
    return (
        f"import rhale  # version {clean(provenance.get('rhale', '?'), 40)}\n\n"
        f"fx = rhale.explain(\n    model,\n    X,\n{inside})\n"
        f"fx[{clean(key)}]  # the numbers of one effect\n"
        "fx.to_frame()  # one row for each feature, output and bin\n"
        'fx.report("effects.html")  # this page\n'
    )
