"""Results as rows, as a data frame, and as the ranked table that `print` shows."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple, cast, get_args

import numpy as np

from rhale.effects.curve import Center
from rhale.effects.result import (
    STATISTICS,
    Parts,
    Result,
    Trace,
    find_result_axis_kind,
    reach,
    zero_rounding_of_effect,
)
from rhale.effects.table import (
    MISSING_ROW_LABEL,
    UNDEFINED,
    Columns,
    add_labels,
    name_places,
    short_notes,
)
from rhale.errors import BadSettingError, MissingExtraError
from rhale.output.labels import NO_CAPTIONS, Captions
from rhale.output.number_format import write_number, write_with_error
from rhale.output.times import format_axis_value
from rhale.regions.result import RegionTree
from rhale.stats.arrays import FloatArray

MAX_LISTED_NAME_LENGTH = 32
MAX_LISTED_ROWS = 20  # of a table that is read
SIGN = " ± "
LONGEST_OUTPUT = 60
MAX_NAMED_IN_SENTENCE = 3
MOST_PERCENT = 1e4  # what is more is no share of anything
JOINER = "\u200d"  # makes one emoji of two


def as_text(
    effects: Sequence[Result],
    provenance: Mapping[str, Any],
    notes: Sequence[str],
    most: int | None = MAX_LISTED_ROWS,
) -> str:
    """Write the ranked table that `print` shows: the largest effects first, all if `most` is None.

    Columns for the output, the kind of feature, regions and the change without a value are there
    only where they are not the same for all. `notes` follow the table.
    """
    columns, n_left, remarks = ranking(effects, most)
    table = aligned([list(columns), *zip(*columns.values(), strict=True)], n_left=n_left)
    n_more = len(effects) - len(columns["feature"])
    footer = [f"and {n_more:,} smaller ones: fx.summary() has all"] if n_more else []
    footer += [f"{number}  {note}" for number, note in enumerate(remarks, start=1)]
    return "\n".join([head(effects, provenance), *table, *footer, *notes])


def ranking(
    effects: Sequence[Result], most: int | None = None
) -> tuple[dict[str, list[str]], int, list[str]]:
    """The cells below each header of the ranked table, the largest effect first.

    Also how many columns hold words (the others, but for the notes, hold numbers), and the notes,
    whose numbers are in the last column.
    """
    ranked = sorted(effects, key=lambda e: -np.nan_to_num(e.importance))[:most]
    remarks: dict[str, int] = {}
    columns = {"feature": [shorten_name(e.captions.feature(e.name)) for e in ranked]}
    if len({e.output for e in effects}) > 1:
        columns["output"] = [shorten_name(e.captions.output(e.output)) for e in ranked]
    if {e.column_kind for e in ranked} != {"number"}:
        columns["kind"] = [e.column_kind for e in ranked]
    if any(e.regions is not None for e in ranked):
        columns["differs by (in this model)"] = [differs_by(e.regions, e.captions) for e in ranked]
    n_left = len(columns)
    sizes = [
        read_size_numbers(e, scale)
        for e, scale in zip(ranked, scales(effects, ranked), strict=True)
    ]
    columns["importance ± error"] = align_signs([write_with_error(*one[:2]) for one in sizes])
    spreads = [write_spread(*one[2:]) for one in sizes]
    header = "typical spread" + (SIGN + "error" if any(SIGN in one for one in spreads) else "")
    columns[header] = align_signs(spreads)
    found = {effect.parts for effect in ranked}  # what is counted: bins, levels, points
    columns["/".join(name for name in get_args(Parts) if name in found)] = [
        str(e.n_parts) for e in ranked
    ]
    if any(e.missing is not None for e in ranked):
        columns["if missing (share)"] = [
            ""
            if (missing := e.missing) is None
            else f"{write_number(missing.mean)} ({100 * missing.share:.3g} %)"
            for e in ranked
        ]
    marks = [[remarks.setdefault(note, len(remarks) + 1) for note in e.notes] for e in ranked]
    columns["notes"] = [", ".join(map(str, numbers)) for numbers in marks]
    return columns, n_left, list(remarks)


def scales(effects: Sequence[Result], shown: Sequence[Result]) -> list[float]:
    """For each effect that is shown, the largest size on its output: the scale of rounding."""
    largest: dict[str, float] = {}
    for effect in effects:
        size = float(np.nan_to_num(max(effect.importance, effect.typical_spread)))
        largest[effect.output] = max(size, largest.get(effect.output, 0.0))
    return [largest[effect.output] for effect in shown]


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
    >>> write_spread(0.3123, 0.0214), write_spread(0.3123, float("nan")), write_spread(0.0, 0.0)
    ('0.312 ± 0.021', '0.312', '0')
    """
    is_known = math.isfinite(error) and spread > 0
    return write_with_error(spread, error) if is_known else write_number(spread, 3)


def align_signs(cells: Sequence[str]) -> list[str]:
    """Pad numbers with their errors so that the signs between them are below one another.

    Examples
    --------
    >>> align_signs(["37.7 ± 1.3", "0.476 ± 0.013", "0"])
    [' 37.7 ± 1.3  ', '0.476 ± 0.013', '    0        ']
    """
    parts = [cell.partition(SIGN) for cell in cells]
    left, right = (max(len(part[i]) for part in parts) for i in (0, 2))
    if not right:
        return list(cells)
    return [f"{a:>{left}}{sign or ' ' * len(SIGN)}{b:<{right}}" for a, sign, b in parts]


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


def name_few(names: Sequence[str]) -> str:
    """Name some features, and say how many more there are."""
    more = (
        f" and {len(names) - MAX_NAMED_IN_SENTENCE} more"
        if len(names) > MAX_NAMED_IN_SENTENCE
        else ""
    )
    return ", ".join(map(shorten_name, names[:MAX_NAMED_IN_SENTENCE])) + more


def read_explained_share(tree: RegionTree) -> tuple[float, float]:
    """Share of the spread, and its error: of regions, or of what acts gradually, however it does."""
    alone = set(tree.splitters) <= {tree.gradual}
    for partner in tree.partners:
        if partner.feature == tree.gradual and alone:
            return partner.share, partner.standard_error
    return tree.share, tree.standard_error


def write_share(share: float, error: float = float("nan")) -> str:
    """Write a share and its error in per cent; a decimal where the error leaves one.

    Examples
    --------
    >>> write_share(0.921, 0.012), write_share(0.9921, 0.0031), write_share(0.4)
    ('92 ± 1 %', '99.2 ± 0.3 %', '40 %')
    """
    if not np.isfinite(share):
        return ""
    percent, off = 100 * share, 100 * error
    if abs(percent) >= MOST_PERCENT:
        return f"{percent:.3g} %"
    if not 0 < off < MOST_PERCENT:
        return f"{round(percent):d} %"
    if off >= 0.95:
        return f"{round(percent):d} ± {off:.0f} %"
    return f"{round(percent, 1) + 0.0:.1f} ± {max(off, 0.1):.1f} %"  # zero has no sign


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
    """Say how much of the predictions curves explain, alone and with those of the regions.

    `some` is how many features of how many have curves, where these are not all (`count_some`).
    """
    known = [(o, *pair) for o, pair in zip(outputs, shares, strict=True) if np.isfinite(pair[0])]
    start = f"the sum of the curves of these features ({some})" if some else "the sum of the curves"
    start += " explains"
    if not known:
        return ()
    if len(outputs) == 1:
        ((_, alone, both),) = known
        variance = "of the variance of the predictions"
        return (f"{start} {write_share(alone)} {variance}, {write_share(both)} with regions",)
    parts = [
        f"{write_share(alone)} for {shorten_name(output)!r} ({write_share(both)} with regions)"
        for output, alone, both in known[:MAX_NAMED_IN_SENTENCE]
    ]
    more = (
        f" and so on for {len(known) - MAX_NAMED_IN_SENTENCE} more"
        if len(known) > MAX_NAMED_IN_SENTENCE
        else ""
    )
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


def aligned(rows: Sequence[Sequence[str]], n_left: int) -> list[str]:
    """Pad cells to columns: the first to the left, numbers to the right, the last as it is."""
    widths = [max(map(text_width, column)) for column in zip(*rows, strict=True)]
    text = []
    for row in rows:
        cells = []
        for i, (cell, width) in enumerate(zip(row, widths, strict=True)):
            blanks = " " * (width - text_width(cell))
            left = i < n_left or i == len(row) - 1
            cells.append(cell + blanks if left else blanks + cell)
        text.append("  ".join(cells).rstrip())
    return text


def text_width(text: str) -> int:
    """Count the columns that a text takes in a terminal."""
    return sum(letter_widths(text))


def letter_widths(text: str) -> list[int]:
    """Columns of every letter: none for accents and for what is joined to an emoji, two if wide."""
    joined = [False, *(letter == JOINER for letter in text)]
    return [
        0
        if after_joiner or unicodedata.category(letter) in ("Mn", "Me", "Cf")
        else 1 + (unicodedata.east_asian_width(letter) in "WF")
        for letter, after_joiner in zip(text, joined, strict=False)
    ]


def shorten_name(name: str, longest: int = MAX_LISTED_NAME_LENGTH) -> str:
    """Cut a long name, and keep a name on one line; signs that steer a terminal are left out."""
    line = " ".join(name.split()) or name
    line = "".join(
        letter
        for letter in line
        if letter == JOINER or unicodedata.category(letter) not in ("Cc", "Cf", "Cs")
    )
    if text_width(line) <= longest:
        return line
    cut = int(np.searchsorted(np.cumsum(letter_widths(line)), longest - 1, "right"))
    return line[:cut].rstrip(JOINER) + "…"


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


FRAMES = ("pandas", "polars", "pyarrow")


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
    return _labelled(stack_columns(parts), effects)


def region_rows(effects: Sequence[Result]) -> Columns:
    """The same for all rows, whose `region` is -1, and for each of the regions, where there are any."""
    from rhale.regions.wording import ALL_ROWS  # which shortens names as this module does

    parts = []
    for effect in effects:
        tree = effect.regions
        regions = tree.regions if tree is not None and len(tree) > 1 else ()
        named = [(-1, ALL_ROWS, effect), *((i, r.rule, r.effect) for i, r in enumerate(regions))]
        for number, rule, own in named:
            first = {"region": number, "rule": rule, "feature": own.name, "output": own.output}
            parts.append((first, own.table()))
    return _labelled(stack_columns(parts), effects)


def _labelled(columns: Columns, effects: Sequence[Result]) -> Columns:
    """Add what people read for the features and outputs of a table."""
    captions = effects[0].captions
    words = {"feature": captions.feature, "output": captions.output}
    return add_labels(columns, {key: list(map(read, columns[key])) for key, read in words.items()})


def stack_columns(parts: Sequence[tuple[dict[str, Any], Columns]]) -> Columns:
    """Tables one below the other, each with columns that are alike in all of its rows."""
    named, table = parts[0]
    columns: Columns = {name: [] for name in (*named, *table)}
    for named, table in parts:
        n_rows = len(next(iter(table.values())))
        for name, value in named.items():
            columns[name] += [value] * n_rows
        for name, values in table.items():
            columns[name] += values
    return columns


def curve_frame(
    effects: Sequence[Result], backend: str | None, usual: str | None = None, **options: Any
) -> Any:
    """The curves of some effects on a grid, one below the other, as a data frame.

    `backend` and `usual` as in `as_frame`, the other options as in `curve_rows`.
    """
    parts = [({"feature": e.name, "output": e.output}, curve_rows(e, **options)) for e in effects]
    return as_frame(_labelled(stack_columns(parts), effects), backend, usual)


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
    return _labelled(columns, effects)


def tabulate_effects(effects: Sequence[Result]) -> Columns:
    """One row per feature and output, in the given order.

    `kind` is number, date, duration, steps (few whole numbers) or categories. `bins` counts the
    levels of the last two, and the points of profiles. `low` and `high` are numbers, `from` and
    `to` the same as text. `missing_share` and `missing_mean` are nan where not measured. Where
    regions were asked for, `differs_by` names the features that define them, `share` and `share_error` say how much
    of the spread that explains, and `regions` counts them. `notes` says what the notes are about;
    `effect.notes` has them in full. What people read for `feature` and `output` comes last.
    """
    measured = [e.missing for e in effects]
    places = [name_places(e.axis, e.labels, find_result_axis_kind(e)) for e in effects]
    trees, regions = [e.regions for e in effects], Columns()
    if any(tree is not None for tree in trees):
        shares = [(UNDEFINED, UNDEFINED) if t is None else read_explained_share(t) for t in trees]
        regions = {
            "differs_by": ["" if tree is None else name_differing(tree) for tree in trees],
            "share": [float(share) for share, _ in shares],
            "share_error": [float(error) for _, error in shares],
            "regions": [0 if tree is None else len(tree) for tree in trees],
        }
    columns: Columns = {
        "feature": [e.name for e in effects],
        "output": [e.output for e in effects],
        "kind": [e.column_kind for e in effects],
        **{name: [read(e) for e in effects] for name, read in STATISTICS.items()},
        "bins": [e.n_parts for e in effects],
        "low": [reach(e)[0] for e in effects],
        "high": [reach(e)[1] for e in effects],
        "from": [names[0] for names in places],
        "to": [names[-1] for names in places],
        "missing_share": [float(m.share) if m else UNDEFINED for m in measured],
        "missing_mean": [float(m.mean) if m else UNDEFINED for m in measured],
        **regions,
        "notes": [short_notes(e.notes) for e in effects],
    }
    return _labelled(columns, effects)


def as_frame(
    rows: Mapping[str, list[Any] | FloatArray], backend: str | None, usual: str | None = None
) -> Any:
    """Turn columns into a data frame: of the kind `backend`, else `usual`, else any installed.

    `usual` is the kind of the explained table, which need not be a data frame.
    """
    import narwhals.stable.v2 as nw

    if backend is not None and backend not in FRAMES:
        msg = f"backend={backend!r:.60} is not known; use one of {', '.join(FRAMES)}"
        raise BadSettingError(msg)
    asked = backend or (usual if usual in FRAMES else None)
    chosen = asked or next((name for name in FRAMES if find_spec(name)), None)
    if chosen is None or not find_spec(chosen):
        msg = f"a data frame needs {asked or 'pandas, polars or pyarrow'}: pip install pandas"
        raise MissingExtraError(msg)
    shown = {
        _readable(name): values if isinstance(values, np.ndarray) else [*map(_readable, values)]
        for name, values in rows.items()
    }
    return nw.from_dict(shown, backend=cast(Any, chosen)).to_native()


def _readable(value: Any) -> Any:
    r"""A value as tables can hold it: halves of signs, which UTF-8 has not, as they are escaped."""
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode(errors="backslashreplace").decode()
