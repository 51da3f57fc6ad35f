"""Effects to a page: frozen, plain numbers and words, and no word of HTML."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rhale.report.bin_cells import Choice, write_choice
from rhale.report.chart_numbers import LONGEST_LEVEL, Shape, shape_of
from rhale.report.region_numbers import RegionPart, regions_of
from rhale.report.sentences import at, curve_range, read
from rhale.report.sparkline import path_of
from rhale.report.wording import clean, listed, number, straight, unbroken, without_steering
from rhale.results.listing import differs_by
from rhale.results.note import Note
from rhale.results.plain_bins import OtherBins
from rhale.results.result import Result, is_constant, reach

METHODS = {
    "rhale": "RHALE: accumulated local effects with bins chosen from the data",
    "dale": "DALE: accumulated derivatives",
    "ale": "ALE: accumulated local effects over bins of equal counts",
    "pdp": "partial dependence: average predictions with the feature set to each value",
    "ice": "individual conditional expectation: one curve for each row, and their average",
    "mplot": "marginal plot: average predictions of the rows near each value",
}
LONGEST_FACT = 300
LONGEST_CODE = 2_000  # letters of one argument
ROUNDING = 1e-9  # of the largest effect


@dataclass(frozen=True)
class Part:
    """One feature and output.

    Attributes
    ----------
    size, error, spread : float or None
        Size of the effect, its standard error, the typical spread; None where not known.
    n_bins : int
        Bins, levels or points.
    reading : tuple of str
        Sentences.
    notes : tuple of int
        Which of the page's notes belong to it.
    shape : Shape
        What is drawn.
    sparkline : str
        Path of the tiny picture.
    differs : str
        By whom rows differ, in a few words; nothing where that is not known.
    regions : RegionPart or None
        Who differs; None where nobody asked.
    choice : Choice or None
        How a reader may change the bins; None where they stay.
    """

    size: float | None
    error: float | None
    spread: float | None
    n_bins: int
    reading: tuple[str, ...]
    notes: tuple[int, ...]
    shape: Shape
    sparkline: str
    differs: str = ""
    regions: RegionPart | None = None
    choice: Choice | None = None


@dataclass(frozen=True)
class Section:
    """One feature: its name, what it is, and one part for each output."""

    name: str
    kind: str
    range: str
    counted: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Footnote:
    """What a reader should know, and about which features; none: about the whole."""

    text: str
    about: str


@dataclass(frozen=True)
class Page:
    """Everything that the page says."""

    title: str
    facts: tuple[tuple[str, str], ...]
    features: tuple[Section, ...]
    outputs: tuple[str, ...]
    notes: tuple[Footnote, ...]
    code: str
    is_profile: bool

    @property
    def has_steps(self) -> bool:
        """Whether some curves can be drawn in two ways."""
        return any(part.shape.smooth for feature in self.features for part in feature.parts)

    @property
    def has_choices(self) -> bool:
        """Whether some bins may be changed."""
        return any(part.choice for feature in self.features for part in feature.parts)

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
) -> Page:
    """Gather what a page shows.

    Parameters
    ----------
    effects : sequence of Effect, LevelEffect or Profile
        Features first, outputs within them.
    provenance : mapping
        What was explained, and how.
    notes : sequence of str
        About the whole.
    explained : mapping of str to float, optional
        Share of each output's variance that the curves explain.
    explained_with_regions : mapping of str to float, optional
        The same where every row takes the curve of its region.
    title : str, optional
        Heading of the page.
    """
    outputs = tuple(dict.fromkeys(effect.output for effect in effects))
    groups = [effects[i : i + len(outputs)] for i in range(0, len(effects), len(outputs))]
    texts = list(dict.fromkeys(note for effect in effects for note in footnotes(effect)))
    largest = {o: largest_range(e for e in effects if e.output == o) for o in outputs}
    model = clean(provenance.get("model", "model"), LONGEST_FACT)
    return Page(
        clean(title or f"What moves the predictions of a {model}"),
        tuple(facts(groups, provenance, explained or {}, explained_with_regions or {})),
        tuple(make_feature(group, texts, largest) for group in groups),
        tuple(clean(output) for output in outputs),
        tuple(Footnote(clean(text), about(text, groups)) for text in texts)
        + tuple(Footnote(clean(text), "") for text in notes),
        code(effects, provenance),
        all(effect.quantity == "prediction" for effect in effects),
    )


def with_choices(page: Page, effects: Sequence[Result], others: Sequence[OtherBins | None]) -> Page:
    """Let readers change bins.

    Parameters
    ----------
    page : Page
        Of the effects.
    effects, others : sequence of Result, and of OtherBins or None
        As in `make_page`, and how the bins of each may be changed; None where they stay.
    """
    choices = map(write_choice, effects, others)
    features = [
        replace(one, parts=tuple(replace(part, choice=next(choices)) for part in one.parts))
        for one in page.features
    ]
    return replace(page, features=tuple(features))


def largest_range(effects: Any) -> float:
    """Largest range of a curve; 0 if none is known."""
    return float(np.nanmax([0.0, *(curve_range(effect) for effect in effects)]))


def make_feature(
    group: Sequence[Result], texts: Sequence[str], largest: Mapping[str, float]
) -> Section:
    """Gather what is said of one feature."""
    first = group[0]
    parts = tuple(make_part(effect, texts, largest[effect.output]) for effect in group)
    return Section(clean(first.name), first.column_kind, range_in_words(first), first.parts, parts)


def make_part(effect: Result, texts: Sequence[str], largest: float) -> Part:
    """Gather what is said of one feature and output."""
    shape = shape_of(effect)
    return Part(
        size=known(effect.importance, largest),
        error=known(effect.importance_error, largest),
        spread=known(effect.typical_spread, largest),
        n_bins=effect.n_parts,
        reading=read(effect, largest=largest),
        notes=tuple(texts.index(note) for note in footnotes(effect)),
        shape=shape,
        sparkline=path_of(shape),
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
    return f"from {at(effect, low)} to {at(effect, high)}"


def about(text: str, groups: Sequence[Sequence[Result]]) -> str:
    """List the features that have a note."""
    names = [clean(g[0].name, 60) for g in groups if any(text in effect.notes for effect in g)]
    return "all features" if len(names) == len(groups) > 1 else listed(names)


def facts(
    groups: Sequence[Sequence[Result]],
    provenance: Mapping[str, Any],
    explained: Mapping[str, float],
    with_regions: Mapping[str, float],
) -> list[tuple[str, str]]:
    """Say what was explained, how, when and with what; names and words."""
    method = str(provenance.get("method", ""))
    found = [
        ("Model", provenance.get("model", "")),
        ("Method", METHODS.get(method, method)),
        ("Rows", rows_in_words(provenance)),
        ("Features", f"{len(groups)}"),
        ("Outputs", listed([clean(effect.output, 60) for effect in groups[0]])),
        ("Explained by the curves", shares_in_words(explained)),
        ("Explained with regions", shares_in_words(with_regions)),
        ("Made", str(provenance.get("created", "")).replace("T", " ").replace("+00:00", " UTC")),
        ("Versions", versions(provenance)),
        ("Bins", provenance.get("bins", "") if method in ("rhale", "dale", "ale") else ""),
    ]
    return [(name, clean(text, LONGEST_FACT)) for name, text in found if text]


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


def shares_in_words(explained: Mapping[str, float]) -> str:
    """Say how much of the model the curves tell, for each output."""
    known = {clean(o, 60): share for o, share in explained.items() if math.isfinite(share)}
    if not known:
        return ""
    if len(known) == 1:
        return f"{number(100 * next(iter(known.values())))} % of the variance of the predictions"
    shares = [f"{output} {number(100 * share)} %" for output, share in known.items()]
    return f"{listed(shares)} of the variance of the predictions"


def versions(provenance: Mapping[str, Any]) -> str:
    """List the versions that are recorded."""
    names = [name for name in ("rhale", "numpy") if name in provenance]
    return ", ".join(f"{name} {provenance[name]}" for name in names)


def code(effects: Sequence[Result], provenance: Mapping[str, Any]) -> str:
    """Write how to make the same again, from the arguments that were given."""
    asked = provenance.get("asked")
    asked = {
        "method": repr(provenance.get("method", "rhale")),
        **(asked if isinstance(asked, Mapping) else {}),
    }
    inside = "".join(f"    {argument(name, text)},\n" for name, text in asked.items())
    name = clean(effects[0].name, LONGEST_LEVEL)
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


def argument(name: object, source: object) -> str:
    """One argument as Python; what is too long for a page is a variable of its name."""
    text = without_steering(f"{clean(name)}={source}")
    return text if len(text) <= LONGEST_CODE else f"{clean(name)}={clean(name)}"


def known(value: float, scale: float) -> float | None:
    """A number, zero if it is only rounding, or None if it is not known."""
    if not math.isfinite(value):
        return None
    return float(value) if value > ROUNDING * scale else 0.0
