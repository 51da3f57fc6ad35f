"""Refits on the page and in notebooks: sentences, parts, tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rhale.effects.result import is_constant
from rhale.output import colours
from rhale.output.columns import MAX_NOTE_LETTERS, Header, insert_after, lay_out_further, words
from rhale.output.number_format import UNKNOWN_DASH
from rhale.report.notebook import (
    NOTEBOOK_BAR_WIDTH,
    card,
    folded_notes,
    write_curve_svg,
    write_paragraph,
)
from rhale.report.numbers import MAX_CHART_LEVEL_LETTERS, write_sparkline_path
from rhale.report.page import (
    EFFECT_SIZE_ROUNDING,
    LONGEST_FACT,
    METHODS_IN_WORDS,
    Footnote,
    Page,
    Section,
    drop_size_rounding,
    footnotes,
    list_known,
    list_settings,
    read_arguments,
    rows_in_words,
    without_nothing,
    write_arguments,
)
from rhale.report.sentences import (
    at,
    chance_in_words,
    clean,
    fixed,
    fixed_or_dash,
    format_report_number,
    isolated,
    listed,
    unbroken,
)
from rhale.stability.charts import RefitShape, compile_refit_charts, shape_of_refits, trace_refits
from rhale.stability.refit_effect import (
    REPLICATION_LEVEL,
    RefitEffect,
    RefitPair,
    RefitTrace,
    rank_pairs,
)
from rhale.stability.table import REFIT_COLUMNS, RefitLine, find_correlated, write_rules

if TYPE_CHECKING:
    from rhale.stability.result import Refits


# --- What retrained models say about one feature: whether its effect is stable, and how large it is


MAX_REFIT_NAME_LETTERS = 60
MIN_FEATURES_FOR_CHANCE = 20  # features: one in twenty comes back by chance
YES, NO = "yes", "no"


def comes_back_in_words(effect: RefitEffect | RefitPair) -> str:
    """Say whether something comes back; a dash where that cannot be told."""
    if not math.isfinite(effect.p_value):
        return UNKNOWN_DASH
    return YES if effect.comes_back else NO


def count_stable_sentence(found: Sequence[str]) -> str:
    """Say how many features come back, told in words, and how many would by chance alone."""
    tested = [words for words in found if words != UNKNOWN_DASH]
    if not tested:
        return "Whether effects are stable is unknown: all models were trained on the same rows."
    n_back, n = tested.count(YES), len(tested)
    sentence = f"{n_back} of {n} {'feature has' if n == 1 else 'features have'} a stable effect"
    if n < MIN_FEATURES_FOR_CHANCE:
        return f"{sentence}."
    return f"{sentence}; if no feature had an effect, about {REPLICATION_LEVEL * n:.0f} would still be called stable by chance."


def tell_nothing(effect: RefitEffect) -> str:
    """Say that a feature moves nothing, but for rounding."""
    return f"{isolated(clean(effect.captions.feature(effect.name), MAX_REFIT_NAME_LETTERS))} has no effect in any retrained model."


def tell_refits(
    effect: RefitEffect, path: RefitTrace | None, ends: tuple[float, float], alike: list[str]
) -> str:
    """Say what the trainings show.

    `path` is what is drawn of it; None where the feature has one value.
    """
    name = isolated(clean(effect.captions.feature(effect.name), MAX_REFIT_NAME_LETTERS))
    if path is None:
        return f"{name} has one value in these rows, so its effect cannot be measured."
    # Say how large the effect is, on average over trainings and in single ones.
    low, high = ends
    least, most = float(effect.importances.min()), float(effect.importances.max())
    sure = (
        f", with a 95 % interval from {format_report_number(low)} to {format_report_number(high)} for the average of all such models"
        if math.isfinite(high)
        else ", without an interval"
    )
    sentences = [
        tell_replication(effect, name),
        (
            f"Its importance is {format_report_number(effect.importance)}{sure}; "
            f"single models gave {format_report_number(least)} to {format_report_number(most)}."
        ),
    ]
    if not effect.p_value > REPLICATION_LEVEL:  # trainings share rows: they agree on chance, too
        sentences += describe_trend(effect, path) + describe_missing_values(effect)
    if alike:
        names = listed([isolated(clean(name, MAX_REFIT_NAME_LETTERS)) for name in alike])
        sentences.append(
            f"It is strongly correlated with {names}: a model may use one instead of the other."
        )
    return unbroken(" ".join(sentences))


def tell_replication(effect: RefitEffect, name: str) -> str:
    """Say whether the effect comes back, and by which evidence."""
    chance = chance_in_words(effect.p_value)
    p = f"p\u00a0{chance}" if chance.startswith("<") else f"p\u00a0=\u00a0{chance}"
    if not math.isfinite(effect.p_value):
        return f"Whether the effect of {name} is stable is unknown: all models were trained on the same rows."
    if effect.comes_back:
        return (
            f"The effect of {name} is stable: the retrained models agree more than by chance ({p})."
        )
    return f"The effect of {name} is not significant: retrained models can agree this well by chance ({p})."


def describe_trend(effect: RefitEffect, path: RefitTrace) -> list[str]:
    """Say where the mean curve is lowest and highest, and how many trainings have the same order."""
    finite = path.curve[np.isfinite(path.curve)]
    if not finite.size or np.ptp(finite) <= EFFECT_SIZE_ROUNDING * np.nanmax(np.abs(path.curves)):
        return []
    least, most = int(np.nanargmin(path.curve)), int(np.nanargmax(path.curve))
    higher = path.curves[:, most] > path.curves[:, least]
    some = f"{int(higher.sum())} of {effect.n_trainings} models"
    low, high = (at(effect.effects[0], float(path.x[i])) for i in (least, most))
    size = format_report_number(float(path.curve[most] - path.curve[least]))
    if effect.column_kind == "categories":
        sentence = f"On average {high}, the highest, is {size} above {low}, the lowest, and it is above it in {some}."
    elif least < most:
        sentence = f"The mean curve rises by {size} from its lowest point, at {low}, to its highest, at {high}; {some} rise between these points, too."
    else:
        sentence = f"The mean curve falls by {size} from its highest point, at {high}, to its lowest, at {low}; {some} fall between these points, too."
    return [sentence]


def describe_missing_values(effect: RefitEffect) -> list[str]:
    """Say where rows without a value stand; nothing where that was not measured."""
    found = effect.missing
    if found is None or not math.isfinite(found.curve):
        return []
    sure = (
        f" ({format_report_number(found.low)} to {format_report_number(found.high)})"
        if math.isfinite(found.low)
        else ""
    )
    return [f"For rows without a value the mean is {format_report_number(found.curve)}{sure}."]


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


DRAWN_REFIT_COLUMNS = (
    *("feature", "output", "importance", "replicated", "p_value", "comes_back"),
    *("differs by (retrained models)", "correlated_with"),
)


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
    further: tuple[str, ...] = ()  # cells that have no field of their own

    def size_in_words(self, largest: float) -> str:
        """Importance or strength, and the interval of its mean over retrainings."""
        size = fixed_or_dash(self.size, largest, REFIT_TABLE_DIGITS)
        if self.low is None or self.high is None:
            return size
        ends = (fixed(end, largest, REFIT_TABLE_DIGITS) for end in (self.low, self.high))
        return f"{size} [" + ",\u00a0".join(ends) + "]"

    def corrected_in_words(self, largest: float) -> str:
        """The same without what agrees by chance."""
        return fixed_or_dash(self.replicated, largest, REFIT_TABLE_DIGITS)


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
    further: tuple[Header, ...] = ()  # columns that the template does not name


@dataclass(frozen=True)
class StabilitySection(Section):
    """What was trained, which effects are stable, and the curves of all retrained models."""

    kind: ClassVar[str] = "stability"
    trained: str
    outputs: tuple[RefitOutput, ...]
    has_intervals: bool
    has_notes: bool

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

    def data(self) -> dict[str, Any]:
        """Numbers of the curves, by output; a brief section has no charts."""
        shapes = [[without_nothing(asdict(p.shape)) for p in one.parts] for one in self.outputs]
        return {} if self.brief else {"trainings": shapes}

    def charts(self) -> dict[str, Any]:
        """Kinds of charts of its curves."""
        shapes = [] if self.brief else [p.shape for one in self.outputs for p in one.parts]
        return compile_refit_charts({"log" if one.log else one.form for one in shapes})


def make_refit_page(table: Refits, title: str | None = None) -> Page:
    """Gather what a page of refits shows."""
    learner = isolated(clean(table.provenance.get("learner", "model"), LONGEST_FACT))
    n = table.overlap.n_trainings
    provenance, method = table.provenance, str(table.provenance.get("method", ""))
    n_failed = len(table.failures)
    failed = f", {n_failed} failed" if n_failed else ""
    scheme = clean(provenance.get("scheme", ""), LONGEST_SCHEME)
    words = [clean(table.captions.value_axis(output), 60) for output in table.outputs]
    found = [
        ("Learner", provenance.get("learner", "")),
        ("Retrainings", f"{table.overlap.n_trainings}, {scheme}{failed}"),
        ("Rows of each retraining", train_sizes(table) if table.overlap.n_rows else ""),
        ("Explained on", f"{rows_in_words(provenance)} rows"),
        ("Features", f"{len({effect.name for effect in table.effects})}"),
        ("Outputs" if len(words) > 1 else "Output", listed(words)),
    ]
    return Page(
        title=clean(title or "Which effects are stable when the model is trained again"),
        lead=f"A {learner} was trained {n} times. Effects that all {n} models share are stable; the others may be chance.",
        facts=list_known(found),
        settings=list_settings(METHODS_IN_WORDS.get(method, method), provenance),
        notes=tuple(collect_refit_notes(table)),
        sections=(make_stability_section(table),),
    )


def make_stability_section(table: Refits, *, brief: bool = False) -> StabilitySection:
    """Gather what is shown of refits; a brief section is one of several."""
    first = table.explanations[0]
    alike = find_correlated(first.features, first.sample_x, first.sample_weight)
    notes = collect_refit_notes(table)
    return StabilitySection(
        "Stability (retraining)",
        write_refit_code(table),
        brief,
        trained=trained_in_words(table),
        outputs=tuple(make_refit_output(table, output, alike, notes) for output in table.outputs),
        has_intervals=math.isfinite(table.overlap.factor),
        has_notes=bool(notes) and not brief,
    )


def make_refit_output(
    table: Refits, output: str, alike: Mapping[str, list[str]], notes: Sequence[Footnote]
) -> RefitOutput:
    """Gather what is said of one output."""
    texts = [note.text for note in notes]
    ranked = table.ranked(output)
    scale = max((effect.importance for effect in ranked), default=0.0)
    further, cells = lay_out_further(
        [RefitLine(effect, alike[effect.name]) for effect in ranked],
        REFIT_COLUMNS,
        DRAWN_REFIT_COLUMNS,
    )
    made = [make_refit_part(effect, alike[effect.name], scale, texts) for effect in ranked]
    parts = tuple(
        replace(part, row=replace(part.row, further=own))
        for part, own in zip(made, cells, strict=True)
    )
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
        further=further,
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
    reading = (
        tell_refits(effect, path, ends, alike) if row.size or path is None else tell_nothing(effect)
    )
    return RefitPart(row, reading, shape)


def effect_row(effect: RefitEffect, ends: tuple[float, float], scale: float) -> RefitRow:
    """One feature as a row, with the interval of its importance; `scale` is the largest one."""
    return make_refit_row((spoken_name(effect),), effect, effect.importance, ends, scale)


def pair_row(pair: RefitPair, scale: float) -> RefitRow:
    """One pair as a row."""
    names = tuple(clean(pair.captions.feature(name)) for name in pair.names)
    return make_refit_row(names, pair, pair.strength, pair.strength_ci(), scale)


def make_refit_row(
    names: tuple[str, ...],
    found: RefitEffect | RefitPair,
    size: float,
    ends: tuple[float, float],
    scale: float,
) -> RefitRow:
    """One row; what is but rounding of `scale` is zero, and its p means nothing."""
    if drop_size_rounding(size, scale) == 0:
        is_known = math.isfinite(found.p_value)
        none = 0.0 if is_known else None
        verdict = NO if is_known else UNKNOWN_DASH
        return RefitRow(names, 0.0, none, none, none, UNKNOWN_DASH, verdict)
    return RefitRow(
        names,
        drop_size_rounding(size, 0.0),
        drop_size_rounding(ends[0], 0.0),
        drop_size_rounding(ends[1], 0.0),
        drop_size_rounding(found.replicated, 0.0),
        p=chance_in_words(found.p_value),
        comes_back=comes_back_in_words(found),
    )


def spoken_name(effect: RefitEffect) -> str:
    """What people read for the feature."""
    return clean(effect.captions.feature(effect.name))


def end_of_bars(rows: Sequence[RefitRow]) -> float:
    """The largest number that bars have to reach."""
    return max((row.high or row.size or 0.0 for row in rows), default=0.0)


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
        features = listed([isolated(clean(name, 60)) for name in some])
        found.append(Footnote(text, "all features" if len(some) == len(everyone) > 1 else features))
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
        sentence = f"{n_trainings} models ({learner}) were given, each trained on its own data."
    elif scheme == PREFITTED_SCHEME:
        sentence = f"{n_trainings} models ({learner}) were given, with the rows that each was trained on ({train_sizes(table)})."
    else:
        sentence = (
            f"{learner} was trained {n_trainings} times, each time {how} ({train_sizes(table)})."
        )
    where = "with the same bins" if table.effects[0].quantity == "effect" else "at the same places"
    return (
        f"{sentence} All models were explained on the same {rows_in_words(table.provenance)} rows, "
        f"{where}, so that curves differ only by what was learned."
    )


def train_sizes(table: Refits) -> str:
    """Say how many rows trainings had."""
    least, most = int(table.overlap.n_train.min()), int(table.overlap.n_train.max())
    some = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    return f"{some} of {table.overlap.n_rows:,}"


def write_refit_code(table: Refits) -> str:
    """Write how to make the same again, from the arguments that were given."""
    provenance, scheme = table.provenance, str(table.provenance.get("scheme", ""))
    asked = read_arguments(provenance, "rhale")
    asked.pop("partners", None)
    n_trainings = provenance.get("trainings_asked", table.overlap.n_trainings)
    if scheme == PREFITTED_SCHEME:
        call, rows = "rhale.refits(\n    models,\n    X,\n", {"train": "train"}
    elif scheme == "own rows":
        call, rows = "rhale.refit(\n    estimator,\n    X,\n    y,\n", {"train": "train"}
    else:
        call = "rhale.refit(\n    estimator,\n    X,\n    y,\n"
        rows = {"scheme": repr(scheme), "n_refits": repr(n_trainings)}
    inside = write_arguments(rows | asked)
    name = clean(table.effects[0].name, MAX_CHART_LEVEL_LETTERS)
    key = ", ".join(map(repr, [name, *table.outputs[: len(table.outputs) > 1]]))
    return (
        f"import rhale  # version {clean(provenance.get('rhale', '?'), 40)}\n\n"
        f"rx = {call}{inside})\n"
        f"rx[{clean(key)}]  # the numbers of one feature\n"
        "rx.replication()  # the table above\n"
        'rx.report("refits.html")  # this page\n'
    )


# --- Refits as small pieces of HTML for notebooks, one feature or all: no script, no style sheet


IMPORTANCE_BAR_HEIGHT = 12


def draw_refit_cell(row: RefitLine) -> str:
    """Draw the mean curve of a feature, for its table."""
    return write_curve_svg(
        write_sparkline_path(shape_of_refits(row.found, trace_refits(row.found)))
    )


def draw_interval_cell(row: RefitLine) -> str:
    """Draw the importance of a feature, and its interval between retrainings, for its table."""
    size, low, high = (
        NOTEBOOK_BAR_WIDTH * v / row.largest if row.largest > 0 and math.isfinite(v) else 0.0
        for v in (row.found.importance, *row.interval)
    )
    return (
        f'<svg width="{NOTEBOOK_BAR_WIDTH}" height="{IMPORTANCE_BAR_HEIGHT}" aria-hidden="true">'
        f'<rect y="3" width="{size:.3g}" height="6" fill="{colours.EFFECT_COLOUR}" opacity="0.35"/>'
        f'<path d="M{low:.3g} 6H{high:.3g}" stroke="{colours.BETWEEN_COLOUR}" stroke-width="2"/></svg>'
    )


REFIT_NOTEBOOK_COLUMNS = insert_after(
    REFIT_COLUMNS,
    "output",
    words(header="mean curve", markup=draw_refit_cell),
    words(header="", markup=draw_interval_cell),
)


def refit_as_html(effect: RefitEffect) -> str:
    """Write one feature in all trainings: curves, sentences, notes."""
    path, captions = trace_refits(effect), effect.captions
    name, output = captions.axis(effect.name), captions.value_axis(effect.output)
    on = output if effect.quantity == "prediction" else f"effect on {output}"
    sentence = tell_refits(effect, path, effect.importance_ci(), [])
    parts = [write_paragraph(sentence), folded_notes(effect.notes)]
    if not is_constant(effect.effects[0]):
        # Draw the curves of all trainings.
        from rhale.plots.choice import plot_refit_by_options  # tables need no Matplotlib
        from rhale.report import inline_svg

        parts.insert(
            0,
            inline_svg.draw_inline_svg(
                plot_refit_by_options, clean(f"{name}: {sentence}", MAX_NOTE_LETTERS), effect
            ),
        )
    return card(name, f"{on}, between trainings", parts)
