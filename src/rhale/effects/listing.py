"""Results as rows, as a data frame, and as the ranked table that `print` shows."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, get_args

import numpy as np

from rhale.effects.curve import Center
from rhale.effects.result import (
    Parts,
    Result,
    Trace,
    find_result_axis_kind,
    reach,
    zero_rounding_of_effect,
)
from rhale.effects.table import MISSING_ROW_LABEL, UNDEFINED, Columns, name_places
from rhale.errors import BadSettingError
from rhale.output.columns import (
    FEATURE_COLUMN,
    MAX_LISTED_ROWS,
    OUTPUT_COLUMN,
    Column,
    Listing,
    TableRow,
    frame_only,
    lay_out,
    number_notes,
    some,
    tabulate,
    words,
)
from rhale.output.frame import add_labels, as_frame, stack_columns
from rhale.output.labels import NO_CAPTIONS, Captions
from rhale.output.number_format import (
    format_axis_value,
    write_digits,
    write_number,
    write_share,
    write_with_error,
)
from rhale.output.text import MAX_NAMED_IN_SENTENCE, SIGN, name_few, short_notes, shorten_name
from rhale.regions.result import RegionTree
from rhale.regions.wording import ALL_ROWS

LONGEST_OUTPUT = 60

# --- The ranked table of effects: its columns, for data frame, `print`, notebook, page and command


@dataclass(frozen=True)
class EffectRow(TableRow):
    """An effect in a table: the largest size on its output, and the numbers of its notes."""

    scale: float = 0.0
    marks: str = ""

    @cached_property
    def sizes(self) -> SizeNumbers:
        """Importance and spread with their errors; zero where they are rounding beside the scale."""
        return read_size_numbers(self.found, self.scale)

    @cached_property
    def places(self) -> list[str]:
        """What places on the axis are called."""
        return name_places(self.axis, self.labels, find_result_axis_kind(self.found))

    @property
    def explained(self) -> tuple[float, float]:
        """Share of the spread that regions explain, and its error."""
        return (
            (UNDEFINED, UNDEFINED) if self.regions is None else read_explained_share(self.regions)
        )


def have_regions(rows: Sequence[EffectRow]) -> bool:
    """Whether regions were asked for."""
    return any(row.regions is not None for row in rows)


def name_spread(rows: Sequence[EffectRow]) -> str:
    """The header of the spread: with its error, where that is known."""
    has_error = any(SIGN in write_spread(*row.sizes[2:]) for row in rows)
    return "typical spread" + (SIGN + "error" if has_error else "")


def name_parts(rows: Sequence[EffectRow]) -> str:
    """What is counted: bins, levels, points."""
    return "/".join(name for name in get_args(Parts) if name in {row.parts for row in rows})


def write_missing(row: EffectRow) -> str:
    """The change without a value, and how many rows have none."""
    gone = row.missing
    return "" if gone is None else f"{write_number(gone.mean)} ({write_share(gone.share)})"


# One row per feature and output. `kind` is number, date, duration, steps (few whole numbers) or
# categories. `bins` counts the levels of the last two, and the points of profiles. `low` and `high`
# are numbers, `from` and `to` the same as text. `missing_share` and `missing_mean` are nan where not
# measured. `notes` says what the notes are about; `effect.notes` has them in full.
EFFECT_COLUMNS = (
    FEATURE_COLUMN,
    OUTPUT_COLUMN,
    words(
        "kind",
        "kind",
        value=lambda row: row.column_kind,
        shown=lambda rows: {row.column_kind for row in rows} != {"number"},
    ),
    Column("importance", f"importance{SIGN}error", lambda row: write_with_error(*row.sizes[:2])),
    *frame_only("importance_error"),
    Column("typical_spread", name_spread, lambda row: write_spread(*row.sizes[2:])),
    *frame_only("typical_spread_error", "heterogeneity"),
    Column("bins", name_parts, value=lambda row: row.n_parts),
    Column("low", value=lambda row: reach(row.found)[0]),
    Column("high", value=lambda row: reach(row.found)[1]),
    Column("from", value=lambda row: row.places[0]),
    Column("to", value=lambda row: row.places[-1]),
    Column("missing_share", value=lambda r: float(r.missing.share) if r.missing else UNDEFINED),
    Column(
        "missing_mean",
        "if missing (share)",
        write_missing,
        lambda row: float(row.missing.mean) if row.missing else UNDEFINED,
        shown=some("missing"),
    ),
    words(
        "differs_by",
        "differs by (in this model)",
        lambda row: differs_by(row.regions, row.captions),
        lambda row: "" if row.regions is None else name_differing(row.regions),
        shown=lambda rows: any(differs_by(row.regions) for row in rows),
        kept=have_regions,
    ),
    Column("share", value=lambda row: float(row.explained[0]), kept=have_regions),
    Column("share_error", value=lambda row: float(row.explained[1]), kept=have_regions),
    Column("regions", value=lambda row: len(row.regions or ()), kept=have_regions),
    words("notes", "notes", lambda r: r.marks, lambda r: short_notes(r.notes), shown=some("marks")),
)


def tabulate_effects(effects: Sequence[Result]) -> Columns:
    """One row per feature and output, in the given order, and what people read for both."""
    columns = tabulate([EffectRow(effect) for effect in effects], EFFECT_COLUMNS)
    return add_labels(columns, effects[0].captions)


def list_effects(
    effects: Sequence[Result],
    provenance: Mapping[str, Any],
    notes: Sequence[str],
    most: int | None = MAX_LISTED_ROWS,
    columns: Sequence[Column] = EFFECT_COLUMNS,
) -> Listing:
    """The ranked table that `print` shows: the largest effects first, all if `most` is None.

    `notes` follow the table.
    """
    largest: dict[str, float] = {}  # of each output
    for effect in effects:
        size = float(np.nan_to_num(max(effect.importance, effect.typical_spread)))
        largest[effect.output] = max(size, largest.get(effect.output, 0.0))
    ranked = sorted(effects, key=lambda e: -np.nan_to_num(e.importance))[:most]
    marks, remarks = number_notes([effect.notes for effect in ranked])
    rows = [EffectRow(e, largest[e.output], mark) for e, mark in zip(ranked, marks, strict=True)]
    n_more = len(effects) - len(ranked)
    more = f"and {n_more:,} smaller ones: fx.summary() has all" if n_more else ""
    table = lay_out(rows, columns, more)
    return Listing(head(effects, provenance), (table,), remarks, tuple(notes))


class SizeNumbers(NamedTuple):
    """Importance and typical spread of an effect, each with its error; zero where it is rounding."""

    size: float
    error: float
    spread: float
    spread_error: float


def read_size_numbers(effect: Result, scale: float) -> SizeNumbers:
    """Importance and typical spread with their errors; zero where they are rounding."""
    found = (
        *(effect.importance, effect.importance_error),
        *(effect.typical_spread, effect.typical_spread_error),
    )
    return SizeNumbers(*(zero_rounding_of_effect(number, scale) for number in found))


def write_spread(spread: float, error: float) -> str:
    """Write a typical spread, with its error where that is known.

    Examples
    --------
    >>> write_spread(0.3123, 0.0214), write_spread(0.1, float("nan")), write_spread(0.0, 0.0)
    ('0.312 ± 0.021', '0.100', '0')
    """
    is_known = math.isfinite(error) and spread > 0
    return write_with_error(spread, error) if is_known else write_digits(spread)


def write_effect_line(effect: Result) -> str:
    """Say in one line what an effect is: names, range, parts, importance, spread.

    "age on prediction: 4 bins from 18 to 80, importance 0.829 ± 0.012, typical spread 0.1"
    """
    name, output = effect.captions.axis(effect.name), effect.captions.value_axis(effect.output)
    kind = find_result_axis_kind(effect)
    if effect.labels:
        ends = [effect.labels[0], effect.labels[-1]]
    else:  # dates, or few digits of numbers
        first, last = float(effect.axis[0]), float(effect.axis[-1])
        write: Callable[[float], str] = (
            write_number if kind == "number" else partial(format_axis_value, kind=kind)
        )
        ends = [write(first), write(last)]
    numbers = read_size_numbers(effect, effect.importance)
    counted = f"{effect.n_parts} {effect.parts if effect.n_parts != 1 else effect.parts[:-1]}"
    return (
        f"{shorten_name(name)} on {shorten_name(output)}: {counted} from {shorten_name(ends[0])} to "
        f"{shorten_name(ends[-1])}, importance {write_with_error(numbers.size, numbers.error)}, "
        f"typical spread {write_spread(numbers.spread, numbers.spread_error)}"
    )


def differs_by(tree: RegionTree | None, captions: Captions = NO_CAPTIONS) -> str:
    """Say in few words which features define the regions, and how much of the spread they explain.

    "sex (92 ± 1 %)", "gradually with income (88 ± 2 %)", "perhaps x4" where that is doubtful,
    "(groups: 40 %)" where groups were given, "" where nobody differs, or regions were not asked for.
    """
    if tree is None:
        return ""
    share = write_share(*read_explained_share(tree))
    if tree.state == "given":
        return f"(groups: {share})" if share else ""
    who = name_differing(tree, captions)
    return f"{who} ({share})" if share and tree.state == "found" else who


def name_differing(tree: RegionTree, captions: Captions = NO_CAPTIONS) -> str:
    """Name the features that define regions; also whether they act gradually, or perhaps."""
    if tree.state == "doubtful":
        doubted = dict.fromkeys(captions.feature(split.feature) for split in tree.doubtful)
        return f"perhaps {name_few(list(doubted))}" if doubted else ""
    if tree.groups is not None:
        return shorten_name(captions.feature(tree.groups.feature))
    names = [captions.feature(name) for name in tree.splitters if name != tree.gradual]
    if tree.gradual is None:
        return name_few(names)
    gradual = f"gradually with {shorten_name(captions.feature(tree.gradual))}"
    return f"{gradual}, {name_few(names)}" if names else gradual


def read_explained_share(tree: RegionTree) -> tuple[float, float]:
    """Share of the spread, and its error: of regions, or of what acts gradually, however it does."""
    alone = set(tree.splitters) <= {tree.gradual}
    for partner in tree.partners:
        if partner.feature == tree.gradual and alone:
            return partner.share, partner.standard_error
    return tree.share, tree.standard_error


def count_some(provenance: Mapping[str, Any], features: Collection[str]) -> str:
    """Count features and those of the model, where it sees more than these; "" where it does not.

    Examples
    --------
    >>> count_some({"columns": ["age", "rooms", "income"]}, ["age", "rooms"])
    '2 of 3'
    """
    n_all = len(provenance.get("columns", features))
    return f"{len(features)} of {n_all}" if len(features) < n_all else ""


def describe_shares(
    outputs: Sequence[str], shares: Sequence[tuple[float, float]], some: str = ""
) -> tuple[str, ...]:
    """Say how much of the predictions curves explain, alone and with those of the regions, if known.

    `some` is how many features of how many have curves, where these are not all (`count_some`).
    """
    known = [(o, *pair) for o, pair in zip(outputs, shares, strict=True) if np.isfinite(pair[0])]
    start = f"the sum of the curves{f' of these {some} features' if some else ''} explains"
    if not known:
        return ()
    if len(outputs) == 1:
        ((_, alone, both),) = known
        with_regions = f", {write_share(both)} with regions" if np.isfinite(both) else ""
        return (f"{start} {write_share(alone)} of the variance of the predictions{with_regions}",)
    parts = [
        f"{write_share(alone)} for {shorten_name(output)!r}"
        + (f" ({write_share(both)} with regions)" if np.isfinite(both) else "")
        for output, alone, both in known[:MAX_NAMED_IN_SENTENCE]
    ]
    n_more = len(known) - MAX_NAMED_IN_SENTENCE
    more = f" and so on for {n_more} more" if n_more > 0 else ""
    return (f"{start} of the variance of the predictions {', '.join(parts)}{more}",)


def head(results: Sequence[Result], provenance: Mapping[str, Any]) -> str:
    """Say in one line what was explained, on how many rows, and what the effects are on."""
    outputs = list(dict.fromkeys(result.output for result in results))
    if len(outputs) != 1:
        return f"{title(provenance)}; {len(outputs)} outputs"
    output = shorten_name(results[0].captions.value_axis(outputs[0]), LONGEST_OUTPUT)
    on = "" if results[0].quantity == "prediction" else "effects on "
    return f"{title(provenance)}; {on}{output}"


def title(provenance: Mapping[str, Any]) -> str:
    """Say in one line what was explained, and on how many rows."""
    method, rows = provenance.get("method", "?"), provenance.get("rows", 0)
    of = provenance.get("rows_in_table", rows)
    shown = f"{rows:,} rows" if rows == of else f"{rows:,} of {of:,} rows"
    return f"{method} of a {provenance.get('model', 'model')}, {shown}"


# --- A curve on a grid as rows, with its spread and its interval


def curve_rows(
    result: Result,
    n: int | None = None,
    *,
    center: Center | None = "mean",
    level: float = 0.95,
    smooth: bool = False,
) -> Columns:
    """One row for each place of a curve, and one for missing values, where they were measured.

    `n` places evenly from end to end; by default, and of levels always, those that are drawn. `x` is
    a number: days since 1970 for dates, seconds for durations, the position of a level; `at` is the
    same as text. `spread` is how rows differ, `low` and `high` how well the curve is known.
    """
    trace = result.trace(center, level, smooth=smooth)
    if n is not None and not result.labels:  # evenly spaced instead
        given: Any = n
        is_count = isinstance(given, int | np.integer) and not isinstance(given, bool)
        if not is_count or n < 2:
            msg = f"n={n!r:.60} is no number of places; pass a whole number of two or more"
            raise BadSettingError(msg)
        options: dict[str, Any] = {"center": center, "smooth": smooth}
        x = np.linspace(result.axis[0], result.axis[-1], n)
        ends = result.ci(x, level=level, **options)
        spread = result.spread(x, center=options["center"])
        trace = Trace(x, result.curve(x, **options), spread, *ends)
    named = (
        [result.labels[i] for i in np.searchsorted(result.axis, trace.x)] if result.labels else ()
    )
    columns: Columns = {
        "x": trace.x.tolist(),
        "at": name_places(trace.x, tuple(named), find_result_axis_kind(result)),
        **{name: getattr(trace, name).tolist() for name in Trace._fields[1:]},
    }
    gone = result.missing_trace(center, level)
    if gone is None:
        return columns
    last = {
        "at": MISSING_ROW_LABEL,
        **{name: float(getattr(gone, name)[0]) for name in Trace._fields},
    }
    return {name: [*held, last[name]] for name, held in columns.items()}


# --- Results as rows, and rows as the user's kind of data frame


def bin_rows(effects: Sequence[Result]) -> Columns:
    """One row per feature, output and bin (step between levels, or point of a profile).

    `left`, `right` and `x` are numbers: days since 1970 for dates, seconds for durations, places
    of levels. `from`, `to` and `at` are the same as text: ISO dates, numbers, labels of levels.
    A step counts the rows of both its levels; a feature of one level has one row, from it to it.
    Where the removal of values was measured, one more row follows the bins: `from`, `to` or `at`
    is "missing", its places are nan, `mean` is the change of the prediction (of a profile: the
    prediction) without a value, `count` and `weight` are those of the rows that have none.
    """
    parts = [({"feature": e.name, "output": e.output}, e.table()) for e in effects]
    return add_labels(stack_columns(parts), effects[0].captions)


def region_rows(effects: Sequence[Result]) -> Columns:
    """The same for all rows, whose `region` is -1, and for each of the regions, where there are any."""
    parts = []
    for effect in effects:
        tree = effect.regions
        regions = tree.regions if tree is not None and len(tree) > 1 else ()
        named = [(-1, ALL_ROWS, effect), *((i, r.rule, r.effect) for i, r in enumerate(regions))]
        for number, rule, own in named:
            first = {"region": number, "rule": rule, "feature": own.name, "output": own.output}
            parts.append((first, own.table()))
    return add_labels(stack_columns(parts), effects[0].captions)


def curve_frame(
    effects: Sequence[Result], backend: str | None, usual: str | None = None, **options: Any
) -> Any:
    """The curves of some effects on a grid, one below the other, as a data frame.

    `backend` and `usual` as in `as_frame`, the other options as in `curve_rows`.
    """
    parts = [({"feature": e.name, "output": e.output}, curve_rows(e, **options)) for e in effects]
    return as_frame(add_labels(stack_columns(parts), effects[0].captions), backend, usual)


def tabulate_splits(effects: Sequence[Result]) -> Columns:
    """One row per feature, output and split."""
    splits = [(e, split) for e in effects if e.regions is not None for split in e.regions.splits]
    columns: Columns = {
        "feature": [e.name for e, _ in splits],
        "output": [e.output for e, _ in splits],
        "depth": [split.depth for _, split in splits],
        "splitter": [split.feature for _, split in splits],
        "threshold": [UNDEFINED if s.threshold is None else float(s.threshold) for _, s in splits],
        "above": [UNDEFINED if s.above is None else float(s.above) for _, s in splits],
        "levels": [", ".join(split.levels) for _, split in splits],
        "missing": [split.missing for _, split in splits],
        "share": [float(split.share) for _, split in splits],
        "standard_error": [float(split.standard_error) for _, split in splits],
        "rows": [int(split.rows) for _, split in splits],
    }
    return add_labels(columns, effects[0].captions)
