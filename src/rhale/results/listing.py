"""Results as text: the ranked table that `print` and the command show."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np

from rhale.results.result import Parts, Result

LONGEST_NAME = 32
JOINER = "\u200d"  # makes one emoji of two


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
    if {e.column_kind for e in ranked} != {"number"}:
        columns["kind"] = [e.column_kind for e in ranked]
    n_left = len(columns)
    columns["effect ± error"] = [f"{e.importance:.4g} ± {e.importance_error:.2g}" for e in ranked]
    columns["typical spread"] = [f"{e.typical_spread:.4g}" for e in ranked]
    columns[_bins_header(ranked)] = [str(e.n_parts) for e in ranked]
    if any(e.missing is not None for e in ranked):
        columns["if missing (share)"] = [_missing_text(e) for e in ranked]
    marks = [[remarks.setdefault(note, len(remarks) + 1) for note in e.notes] for e in ranked]
    columns["notes"] = [", ".join(map(str, numbers)) for numbers in marks]
    return columns, n_left, list(remarks)


def _bins_header(effects: Sequence[Result]) -> str:
    """Name what is counted: bins, levels, points, or several of these."""
    found = {effect.parts for effect in effects}
    return "/".join(name for name in get_args(Parts) if name in found)


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
