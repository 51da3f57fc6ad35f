"""Numbers to rows, and rows to text or to the user's kind of data frame."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, cast

import numpy as np

from rhale.errors import MissingExtraError
from rhale.kernels.times import AxisKind, as_dates
from rhale.results.effect import Effect
from rhale.results.level_effect import LevelEffect
from rhale.results.profile import Profile

Result = Effect | LevelEffect | Profile
Rows = dict[str, list[Any]]
FRAMES = ("pandas", "polars", "pyarrow")
LONGEST_NAME = 32
MISSING = "missing"
NAN = float("nan")
JOINER = "\u200d"  # makes one emoji of two


def bin_rows(effects: Sequence[Result]) -> Rows:
    """One row per feature, output and bin (step between levels, or point of a profile).

    Notes
    -----
    `left`, `right` and `x` are numbers: days since 1970 for dates, seconds for durations, places
    of levels. `from`, `to` and `at` are the same as text: ISO dates, numbers, labels of levels.
    A step counts the rows of both its levels; a feature of one level has one row, from it to it.
    Where the removal of values was measured, one more row follows the bins: `from`, `to` or `at`
    is "missing", its places are nan, `mean` is the change of the prediction (of a profile: the
    prediction) without a value, `count` and `weight` are those of the rows that have none.
    """
    parts = [_with_missing(effect) for effect in effects]
    return {name: [v for part in parts for v in part[name]] for name in parts[0]}


def _with_missing(effect: Result) -> Rows:
    if isinstance(effect, Profile):
        rows, extra = _of_profile(effect), _missing_point(effect)
    else:
        rows, extra = _of_effect(effect), _missing_bin(effect)
    if effect.missing is not None:
        rows = {name: [*values, extra[name]] for name, values in rows.items()}
    n_rows = len(rows["mean"])
    return {"feature": [effect.name] * n_rows, "output": [effect.output] * n_rows, **rows}


def _of_effect(effect: Effect | LevelEffect) -> Rows:
    edges, at_edges, labels = effect.edges, _at_edges(effect), _labels(effect)
    if len(edges) == 1:
        return _of_one_level(cast(LevelEffect, effect))
    return {
        "bin": list(range(effect.mean.size)),
        "from": labels[:-1],
        "to": labels[1:],
        "left": edges[:-1].tolist(),
        "right": edges[1:].tolist(),
        "count": effect.count.tolist(),
        "weight": effect.weight.tolist(),
        "mean": effect.mean.tolist(),
        "slope": effect.slope.tolist(),
        "std": effect.std.tolist(),
        "std_plain": effect.std_plain.tolist(),
        "standard_error": effect.standard_error.tolist(),
        "curve_left": at_edges[:-1].tolist(),
        "curve_right": at_edges[1:].tolist(),
    }


def _of_one_level(effect: LevelEffect) -> Rows:
    """Keep a feature of one level in the table, as one of one value: there is no step."""
    row = {
        "bin": 0,
        "from": effect.levels[0],
        "to": effect.levels[0],
        "left": float(effect.edges[0]),
        "right": float(effect.edges[0]),
        "count": int(effect.level_count[0]),
        "weight": float(effect.level_weight[0]),
        **dict.fromkeys(("mean", "slope", "std", "std_plain", "standard_error"), NAN),
        "curve_left": 0.0,
        "curve_right": 0.0,
    }
    return {name: [value] for name, value in row.items()}


def _missing_bin(effect: Effect | LevelEffect) -> dict[str, Any]:
    """The row of missing values: the mean change is also their place on the centred curve."""
    if (missing := effect.missing) is None:
        return {}
    present = effect.level_weight if isinstance(effect, LevelEffect) else effect.weight
    share = missing.share
    return {
        "bin": max(effect.mean.size, 1),
        "from": MISSING,
        "to": MISSING,
        "left": NAN,
        "right": NAN,
        "count": int(missing.count),
        "weight": float(present.sum()) * share / (1 - share) if share < 1 else NAN,
        "mean": float(missing.mean),
        "slope": NAN,
        "std": float(missing.std),
        "std_plain": float(missing.std),
        "standard_error": float(missing.standard_error),
        "curve_left": float(missing.mean),
        "curve_right": float(missing.mean),
    }


def _of_profile(profile: Profile) -> Rows:
    return {
        "point": list(range(profile.grid.size)),
        "at": _labels(profile),
        "x": profile.grid.tolist(),
        "rows": profile.rows.tolist(),
        "mean": profile.mean.tolist(),
        "std": profile.std.tolist(),
        "standard_error": profile.standard_error.tolist(),
        "curve": profile.curve(profile.grid).tolist(),
        "spread": profile.spread(profile.grid).tolist(),
    }


def _missing_point(profile: Profile) -> dict[str, Any]:
    """The row of missing values; how rows differ once their curves are centred is not known."""
    if (missing := profile.missing) is None:
        return {}
    level = float(profile.centring("mean") @ np.nan_to_num(profile.mean))
    return {
        "point": profile.grid.size,
        "at": MISSING,
        "x": NAN,
        "rows": float(missing.rows),
        "mean": float(missing.mean),
        "std": float(missing.std),
        "standard_error": float(missing.standard_error),
        "curve": float(missing.mean) - level,
        "spread": NAN,
    }


def effect_rows(effects: Sequence[Result]) -> Rows:
    """One row per feature and output, in the given order.

    Notes
    -----
    `kind` is number, date, duration, steps (few whole numbers) or categories. `bins` counts the
    levels of the last two, and the points of profiles. `low` and `high` are numbers, `from` and
    `to` the same as text. `missing_share` and `missing_mean` are nan where not measured.
    """
    measured = [e.missing for e in effects]
    return {
        "feature": [e.name for e in effects],
        "output": [e.output for e in effects],
        "kind": [kind_of(e) for e in effects],
        "importance": [e.importance for e in effects],
        "importance_error": [e.importance_error for e in effects],
        "typical_spread": [e.typical_spread for e in effects],
        "heterogeneity": [e.heterogeneity for e in effects],
        "bins": [_n_bins(e) for e in effects],
        "low": [float(_axis(e)[0]) for e in effects],
        "high": [float(_axis(e)[-1]) for e in effects],
        "from": [_labels(e)[0] for e in effects],
        "to": [_labels(e)[-1] for e in effects],
        "missing_share": [float(m.share) if m else NAN for m in measured],
        "missing_mean": [float(m.mean) if m else NAN for m in measured],
        "notes": ["; ".join(e.notes) for e in effects],
    }


def kind_of(effect: Result) -> str:
    """Say what the values of a feature are: a kind of axis, steps or categories."""
    if isinstance(effect, LevelEffect) or (isinstance(effect, Profile) and effect.levels):
        return "steps" if effect.is_number else "categories"
    return effect.kind


def as_frame(rows: Rows, backend: str | None) -> Any:
    """Turn rows into a data frame of the given kind, or of the first kind that is installed."""
    import narwhals.stable.v2 as nw

    known = backend if backend in FRAMES else None
    chosen = known or next((name for name in FRAMES if find_spec(name)), None)
    if chosen is None or not find_spec(chosen):
        msg = f"a data frame needs {backend or 'pandas, polars or pyarrow'}: pip install pandas"
        raise MissingExtraError(msg)
    shown = {name: [_readable(value) for value in values] for name, values in rows.items()}
    return nw.from_dict(shown, backend=cast(Any, chosen)).to_native()


def _readable(value: Any) -> Any:
    r"""A value as tables can hold it: halves of signs, which UTF-8 has not, as they are escaped."""
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode(errors="backslashreplace").decode()


def as_text(effects: Sequence[Result], provenance: Mapping[str, Any], notes: Sequence[str]) -> str:
    """Write the ranked table that `print` shows.

    Notes
    -----
    Columns for the output, the kind of feature and the change without a value are there only
    where they tell something.
    """
    columns, n_left, remarks = ranking(effects)
    table = aligned([list(columns), *zip(*columns.values(), strict=True)], n_left=n_left)
    footer = [f"{number}  {note}" for number, note in enumerate(remarks, start=1)] + list(notes)
    return "\n".join([title(provenance), *table, *footer])


def ranking(effects: Sequence[Result]) -> tuple[dict[str, list[str]], int, list[str]]:
    """The cells of the ranked table, the largest effect first.

    Returns
    -------
    columns : dict of str to list of str
        The cells below each header.
    n_left : int
        How many columns hold words; the others, but for the notes, hold numbers.
    remarks : list of str
        The notes, whose numbers stand in the last column.
    """
    ranked = sorted(effects, key=lambda e: -np.nan_to_num(e.importance))
    remarks: dict[str, int] = {}
    columns = {"feature": [shorten(e.name) for e in ranked]}
    if len({e.output for e in ranked}) > 1:
        columns["output"] = [shorten(e.output) for e in ranked]
    if {kind_of(e) for e in ranked} != {"number"}:
        columns["kind"] = [kind_of(e) for e in ranked]
    n_left = len(columns)
    columns["effect ± error"] = [f"{e.importance:.4g} ± {e.importance_error:.2g}" for e in ranked]
    columns["typical spread"] = [f"{e.typical_spread:.4g}" for e in ranked]
    columns[_bins_header(ranked)] = [str(_n_bins(e)) for e in ranked]
    if any(e.missing is not None for e in ranked):
        columns["if missing (share)"] = [_missing_text(e) for e in ranked]
    marks = [[remarks.setdefault(note, len(remarks) + 1) for note in e.notes] for e in ranked]
    columns["notes"] = [", ".join(map(str, numbers)) for numbers in marks]
    return columns, n_left, list(remarks)


def _bins_header(effects: Sequence[Result]) -> str:
    """Name what is counted: bins, levels, points, or several of these."""
    named = {Effect: "bins", LevelEffect: "levels", Profile: "points"}
    found = {type(effect) for effect in effects}
    return "/".join(name for kind, name in named.items() if kind in found)


def _missing_text(effect: Result) -> str:
    missing = effect.missing
    return "" if missing is None else f"{missing.mean:.4g} ({100 * missing.share:.3g} %)"


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
    """Count the columns that a text takes in a terminal.

    Examples
    --------
    >>> text_width("ab"), text_width("日本"), text_width("e\u0301")
    (2, 4, 1)
    """
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


def shorten(name: str, longest: int = LONGEST_NAME) -> str:
    """Cut a long name, and keep a name on one line; signs that steer a terminal are left out.

    Examples
    --------
    >>> shorten("a name that goes on", 10)
    'a name th…'
    """
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


def _n_bins(effect: Result) -> int:
    return len(effect.levels) if isinstance(effect, LevelEffect) else effect.mean.size


def _axis(effect: Result) -> Any:
    return effect.grid if isinstance(effect, Profile) else effect.edges


def _at_edges(effect: Effect | LevelEffect) -> Any:
    return effect.curve() if isinstance(effect, LevelEffect) else effect.curve(effect.edges)


def _labels(effect: Result) -> list[str]:
    """Write the places of an axis as text: labels of levels, ISO dates, numbers."""
    levels: tuple[str, ...] = () if isinstance(effect, Effect) else effect.levels
    if levels:
        return [str(level) for level in levels]
    kind = "number" if isinstance(effect, LevelEffect) else effect.kind
    return [_place_text(place, kind) for place in _axis(effect).tolist()]


def _place_text(place: float, kind: AxisKind) -> str:
    """Write a place in full: an ISO date, or all digits of a number.

    Examples
    --------
    >>> _place_text(1.5, "date"), _place_text(1.0, "date"), _place_text(0.1, "number")
    ('1970-01-02T12:00:00', '1970-01-02', '0.1')
    """
    if kind != "date" or not np.isfinite(place):
        return f"{place:.15g}"
    date = str(as_dates(np.array([place]))[0])
    return date.removesuffix(".000000").removesuffix("T00:00:00")
