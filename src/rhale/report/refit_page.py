"""Refits to a page: frozen, plain numbers and words, and no word of HTML."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rhale.report.chart_numbers import MAX_CHART_LEVEL_LETTERS
from rhale.report.page import (
    EFFECT_METHODS,
    LONGEST_FACT,
    Footnote,
    argument,
    created,
    drop_size_rounding,
    footnotes,
    rows_in_words,
    versions,
)
from rhale.report.refit_numbers import RefitShape, shape_of_refits, trace_refits
from rhale.report.refit_sentences import (
    NO,
    comes_back_in_words,
    count_stable_sentence,
    tell_nothing,
    tell_refits,
)
from rhale.report.sparkline import write_sparkline_path
from rhale.report.wording import (
    UNKNOWN_DASH,
    chance_in_words,
    clean,
    fixed,
    fixed_or_dash,
    isolated,
    listed,
)
from rhale.results.refit_effect import RefitEffect
from rhale.results.refit_listing import write_rules
from rhale.results.refit_pair import RefitPair, rank_pairs
from rhale.results.refit_table import find_correlated

if TYPE_CHECKING:
    from rhale.trainings import Refits

MAX_REFIT_PAIR_ROWS = 30  # in their table
REFIT_TABLE_DIGITS = 3
MAX_FAILURE_LETTERS = 300  # letters of why a training failed
REFIT_SCHEME_TEXTS = {
    "half-samples": "on a random half of the rows",
    "subsamples": "on a random part of the rows",
    "folds": "on all rows but one fold",
    "bootstraps": "on rows that were drawn with replacement",
    "own rows": "on the rows that were given for it",
}
PREFITTED_SCHEME = "models as given"
LONGEST_SCHEME = 60
HIDDEN = ("moved limits",)  # notes: every training has them, since all have the same bins


@dataclass(frozen=True)
class RefitRow:
    """One row of a table of what would come back; numbers are None where they are not known.

    `size` is the mean importance of a feature or the mean strength of a pair, `low` and `high` its
    interval, `notes` are places among the page's notes.
    """

    names: tuple[str, ...]
    size: float | None
    low: float | None
    high: float | None
    replicated: float | None
    p: str
    comes_back: str
    rules: str = ""
    correlated: str = ""
    sparkline: str = ""
    notes: tuple[int, ...] = ()


@dataclass(frozen=True)
class RefitPart:
    """A feature that is drawn."""

    row: RefitRow
    reading: str
    shape: RefitShape


@dataclass(frozen=True)
class RefitOutput:
    """All that is said of one output; `n_left` pairs are but counted.

    `largest` and `largest_pair` are the ends of the axes of the bars, `place` is that of the output
    on the page.
    """

    name: str
    key: str
    place: int
    reading: str
    parts: tuple[RefitPart, ...]
    largest: float
    pairs: tuple[RefitRow, ...]
    n_left: int
    largest_pair: float


@dataclass(frozen=True)
class RefitPage:
    """Everything that the page of refits says."""

    title: str
    lead: str
    facts: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...]
    trained: str
    outputs: tuple[RefitOutput, ...]
    notes: tuple[Footnote, ...]
    code: str
    has_intervals: bool

    @property
    def has_rules(self) -> bool:
        """Whether some trainings found regions."""
        return any(part.row.rules for output in self.outputs for part in output.parts)

    @property
    def has_correlated(self) -> bool:
        """Whether some features can hardly be told from others."""
        return any(part.row.correlated for output in self.outputs for part in output.parts)

    @property
    def has_own(self) -> bool:
        """Whether the user's own model is drawn."""
        return any(part.shape.own for output in self.outputs for part in output.parts)


def make_refit_page(table: Refits, title: str | None = None) -> RefitPage:
    """Gather what a page of refits shows.

    Parameters
    ----------
    table : Refits
        Effects of all trainings, and how they came about.
    title : str, optional
        Heading of the page.
    """
    first = table.explanations[0]
    alike = find_correlated(first.features, first.sample_x, first.sample_weight)
    notes = collect_refit_notes(table)
    return RefitPage(
        title=clean(title or "What would come back if the model were trained again"),
        lead=write_refit_lead(table),
        facts=tuple(summarize_refit_page(table)),
        settings=tuple(list_refit_settings(table)),
        trained=trained_in_words(table),
        outputs=tuple(make_refit_output(table, output, alike, notes) for output in table.outputs),
        notes=tuple(notes),
        code=write_refit_code(table),
        has_intervals=math.isfinite(table.overlap.factor),
    )


def write_refit_lead(table: Refits) -> str:
    """Say in one sentence what was done."""
    learner = isolated(clean(table.provenance.get("learner", "model"), LONGEST_FACT))
    n = table.overlap.n_trainings
    return f"A {learner} was trained {n} times: what all trainings agree on would come back."


def make_refit_output(
    table: Refits, output: str, alike: Mapping[str, list[str]], notes: Sequence[Footnote]
) -> RefitOutput:
    """Gather what is said of one output."""
    texts = [note.text for note in notes]
    ranked = table.ranked(output)
    scale = max((effect.importance for effect in ranked), default=0.0)
    parts = tuple(make_refit_part(effect, alike[effect.name], scale, texts) for effect in ranked)
    pairs = rank_pairs([pair for pair in table.pairs if pair.output == output])
    strongest = max((pair.strength for pair in pairs), default=0.0)
    rows = tuple(pair_row(pair, strongest) for pair in pairs[:MAX_REFIT_PAIR_ROWS])
    return RefitOutput(
        name=clean(table.captions.output(output)),
        key=output,
        place=table.outputs.index(output),
        reading=count_stable_sentence([part.row.comes_back for part in parts]),
        parts=parts,
        largest=end_of_bars([part.row for part in parts]),
        pairs=rows,
        n_left=len(pairs) - len(rows),
        largest_pair=end_of_bars(rows),
    )


def make_refit_part(
    effect: RefitEffect, alike: list[str], scale: float, texts: Sequence[str]
) -> RefitPart:
    """Gather what is drawn and said of one feature and output."""
    path, ends = trace_refits(effect), effect.importance_ci()
    alike = [effect.captions.feature(name) for name in alike]
    shape = shape_of_refits(effect, path)
    row = replace(
        effect_row(effect, ends, scale),
        rules=clean(write_rules(effect)),
        correlated=listed([isolated(clean(name, 60)) for name in alike], most=3),
        sparkline=write_sparkline_path(shape),
        notes=tuple(texts.index(clean(text)) for text in list_refit_note_texts(effect)),
    )
    told = (
        tell_refits(effect, path, ends, alike) if row.size or path is None else tell_nothing(effect)
    )
    return RefitPart(row, told, shape)


def effect_row(effect: RefitEffect, ends: tuple[float, float], scale: float) -> RefitRow:
    """One feature as a row, with the interval of its importance.

    What is but rounding of the largest importance, `scale`, is zero, and does not come back.
    """
    if drop_size_rounding(effect.importance, scale) == 0:
        return nothing_row((spoken_name(effect),), effect)
    return RefitRow(
        (spoken_name(effect),),
        drop_size_rounding(effect.importance, 0.0),
        drop_size_rounding(ends[0], 0.0),
        drop_size_rounding(ends[1], 0.0),
        drop_size_rounding(effect.replicated, 0.0),
        p=chance_in_words(effect.p_value),
        comes_back=comes_back_in_words(effect),
    )


def spoken_name(effect: RefitEffect) -> str:
    """What people read for the feature."""
    return clean(effect.captions.feature(effect.name))


def pair_row(pair: RefitPair, scale: float) -> RefitRow:
    """One pair as a row."""
    names = tuple(clean(pair.captions.feature(name)) for name in pair.names)
    if drop_size_rounding(pair.strength, scale) == 0:
        return nothing_row(names, pair)
    low, high = pair.strength_ci()
    return RefitRow(
        names,
        drop_size_rounding(pair.strength, 0.0),
        drop_size_rounding(low, 0.0),
        drop_size_rounding(high, 0.0),
        drop_size_rounding(pair.replicated, 0.0),
        p=chance_in_words(pair.p_value),
        comes_back=comes_back_in_words(pair),
    )


def nothing_row(names: tuple[str, ...], found: RefitEffect | RefitPair) -> RefitRow:
    """A row of zeros; p of what is but rounding tells nothing."""
    is_known = math.isfinite(found.p_value)
    none = 0.0 if is_known else None
    return RefitRow(names, 0.0, none, none, none, UNKNOWN_DASH, NO if is_known else UNKNOWN_DASH)


def end_of_bars(rows: Sequence[RefitRow]) -> float:
    """The largest number that bars have to reach."""
    return max((row.high or row.size or 0.0 for row in rows), default=0.0)


def size_with_interval(row: RefitRow, largest: float) -> str:
    r"""Importance or strength, and between what its mean over trainings is.

    Examples
    --------
    >>> row = RefitRow(("age",), 0.62, 0.52, 0.72, 0.6, "0.01", "yes")
    >>> size_with_interval(row, 0.72)
    '0.620 [0.520,\xa00.720]'
    """
    size = fixed_or_dash(row.size, largest, REFIT_TABLE_DIGITS)
    if row.low is None or row.high is None:
        return size
    low, high = (
        fixed(row.low, largest, REFIT_TABLE_DIGITS),
        fixed(row.high, largest, REFIT_TABLE_DIGITS),
    )
    return f"{size} [{low},\u00a0{high}]"


def replicated_in_words(row: RefitRow, largest: float) -> str:
    """What trainings agree on."""
    return fixed_or_dash(row.replicated, largest, REFIT_TABLE_DIGITS)


def collect_refit_notes(table: Refits) -> list[Footnote]:
    """All that a reader should know: trainings that failed, the whole, and single features."""
    found = [
        Footnote(clean(f"Training {one.number} failed: {one.reason}", MAX_FAILURE_LETTERS), "")
        for one in table.failures
    ]
    found += [Footnote(clean(text), "") for text in table.notes]
    names: dict[str, dict[str, None]] = {}
    for effect in table.effects:
        for text in list_refit_note_texts(effect):
            names.setdefault(clean(text), {})[spoken_name(effect)] = None
    everyone = {spoken_name(effect) for effect in table.effects}
    for text, some in names.items():
        told = listed([isolated(clean(name, 60)) for name in some])
        found.append(Footnote(text, "all features" if len(some) == len(everyone) > 1 else told))
    return found


def list_refit_note_texts(effect: RefitEffect) -> list[str]:
    """Notes of a feature, one of each kind: those of trainings differ by little but numbers."""
    first: dict[str, str] = {}
    for one in effect.effects:
        for note in footnotes(one):
            first.setdefault(note.kind, str(note))
    return [text for kind, text in first.items() if kind not in HIDDEN]


def trained_in_words(table: Refits) -> str:
    """Say what was trained, how often, and on which rows."""
    learner = isolated(clean(table.provenance.get("learner", "model"), LONGEST_FACT))
    scheme, n_trainings = str(table.provenance.get("scheme", "")), table.overlap.n_trainings
    how = REFIT_SCHEME_TEXTS.get(scheme, clean(scheme, LONGEST_SCHEME))
    if not table.overlap.n_rows:
        told = f"{n_trainings} models ({learner}) were given, each trained on data of its own."
    elif scheme == PREFITTED_SCHEME:
        told = f"{n_trainings} models ({learner}) were given, and the rows that each was trained on ({train_sizes(table)})."
    else:
        told = f"{learner} was trained {n_trainings} times, each time {how} ({train_sizes(table)})."
    where = "with the same bins" if table.effects[0].quantity == "effect" else "at the same places"
    return (
        f"{told} Every training was explained on the same {rows_in_words(table.provenance)} rows, "
        f"{where}, so that curves differ by what was learned and by nothing else."
    )


def train_sizes(table: Refits) -> str:
    """Say how many rows trainings had."""
    least, most = int(table.overlap.n_train.min()), int(table.overlap.n_train.max())
    some = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    return f"{some} of {table.overlap.n_rows:,}"


def summarize_refit_page(table: Refits) -> list[tuple[str, str]]:
    """Say what was trained and explained; names and words."""
    provenance = table.provenance
    n_failed = len(table.failures)
    failed = f", {n_failed} failed" if n_failed else ""
    scheme = clean(provenance.get("scheme", ""), LONGEST_SCHEME)
    words = [clean(table.captions.value_axis(output), 60) for output in table.outputs]
    found = [
        ("Learner", provenance.get("learner", "")),
        ("Trainings", f"{table.overlap.n_trainings}, {scheme}{failed}"),
        ("Rows of a training", train_sizes(table) if table.overlap.n_rows else ""),
        ("Explained on", f"{rows_in_words(provenance)} rows"),
        ("Features", f"{len({effect.name for effect in table.effects})}"),
        ("Outputs" if len(words) > 1 else "Output", listed(words)),
    ]
    return [(name, clean(text, LONGEST_FACT)) for name, text in found if text]


def list_refit_settings(table: Refits) -> list[tuple[str, str]]:
    """Say how it was explained, when and with what; names and words."""
    method = str(table.provenance.get("method", ""))
    found = [
        ("Method", EFFECT_METHODS.get(method, method)),
        ("Made", created(table.provenance)),
        ("Versions", versions(table.provenance)),
    ]
    return [(name, clean(text, LONGEST_FACT)) for name, text in found if text]


def write_refit_code(table: Refits) -> str:
    """Write how to make the same again, from the arguments that were given."""
    provenance, scheme = table.provenance, str(table.provenance.get("scheme", ""))
    asked = provenance.get("asked")
    asked = {
        "method": repr(provenance.get("method", "rhale")),
        **(asked if isinstance(asked, Mapping) else {}),
    }
    asked = {name: text for name, text in asked.items() if name != "partners"}
    n_trainings = provenance.get("trainings_asked", table.overlap.n_trainings)
    if scheme == PREFITTED_SCHEME:
        call, rows = "rhale.refits(\n    models,\n    X,\n", {"train": "train"}
    elif scheme == "own rows":
        call, rows = "rhale.refit(\n    estimator,\n    X,\n    y,\n", {"train": "train"}
    else:
        call = "rhale.refit(\n    estimator,\n    X,\n    y,\n"
        rows = {"scheme": repr(scheme), "n_refits": repr(n_trainings)}
    inside = "".join(f"    {argument(name, text)},\n" for name, text in (rows | asked).items())
    name = clean(table.effects[0].name, MAX_CHART_LEVEL_LETTERS)
    key = ", ".join(map(repr, [name, *table.outputs[: len(table.outputs) > 1]]))
    return (
        f"import rhale  # version {clean(provenance.get('rhale', '?'), 40)}\n\n"
        f"rx = {call}{inside})\n"
        f"rx[{clean(key)}]  # the numbers of one feature\n"
        "rx.replication()  # the table above\n"
        'rx.report("refits.html")  # this page\n'
    )
