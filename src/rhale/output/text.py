"""Text in columns: widths, names cut to a length, numbers below one another; notes for readers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np


class Note(str):
    """A text that knows what it is about.

    Parameters
    ----------
    kind : str
        What it is about, in one or two words: "missing", "gap", "black box".
    text : str
        What people read. Nothing is ever read back out of it.

    Examples
    --------
    >>> note = Note("missing", "3 of 9 rows have no value")
    >>> note.kind, note == "3 of 9 rows have no value"
    ('missing', True)
    """

    __slots__ = ("kind",)
    kind: str

    def __new__(cls, kind: str, text: str) -> Self:  # noqa: D102 - the class says it
        note = super().__new__(cls, text)
        object.__setattr__(note, "kind", kind)
        return note

    def __reduce__(self) -> tuple[type[Note], tuple[str, str]]:
        return Note, (self.kind, self.text)

    @property
    def text(self) -> str:
        """The text alone."""
        return str.__str__(self)


def as_notes(texts: Iterable[str], kind: str = "") -> tuple[Note, ...]:
    """Give texts that are no notes a kind.

    Examples
    --------
    >>> [note.kind for note in as_notes(["a text", Note("gap", "no rows")])]
    ['', 'gap']
    """
    return tuple(text if isinstance(text, Note) else Note(kind, text) for text in texts)


def short_notes(notes: Sequence[Note]) -> str:
    """Say what notes are about, each once: a cell of a table is one line high.

    Examples
    --------
    >>> short_notes([Note("secants", "windows hold 0.01 of the rows"), Note("", "a text")])
    'secants, other'
    """
    return ", ".join(dict.fromkeys(note.kind or "other" for note in notes))


# --- Text in columns: the width of names in a terminal, names cut to a length, cells below one another


MAX_LISTED_NAME_LENGTH = 32
MAX_NAMED_IN_SENTENCE = 3
SIGN = " ± "
JOINER = "\u200d"  # makes one emoji of two
NUMBER_PATTERN = re.compile(r"-?[\d,]+(\.\d+)?")


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


def name_few(names: Sequence[str]) -> str:
    """Name some features, and say how many more there are."""
    more = len(names) - MAX_NAMED_IN_SENTENCE
    named = ", ".join(map(shorten_name, names[:MAX_NAMED_IN_SENTENCE]))
    return f"{named} and {more} more" if more > 0 else named


def align_points(cells: Sequence[str]) -> list[str]:
    """Pad numbers, and numbers with their errors, so that points and signs are below one another.

    Cells that hold anything else, as per cent, leave all as they are.

    Examples
    --------
    >>> align_points(["37.7 ± 1.3", "0.476 ± 0.013", "0"])
    ['37.7   ± 1.3  ', ' 0.476 ± 0.013', ' 0            ']
    >>> align_points(["5 %", "12 %"])
    ['5 %', '12 %']
    """
    parts = [cell.partition(SIGN) for cell in cells]
    if not parts or not all(NUMBER_PATTERN.fullmatch(first) for first, _, _ in parts if first):
        return list(cells)
    wholes = [first.partition(".") for first, _, _ in parts]
    left, right = (max(len(one[i]) for one in wholes) for i in (0, 2))
    errors = max(len(error) for _, _, error in parts)
    width = left + right + (right > 0)
    return [
        f"{whole.rjust(left) + point + decimals:<{width}}"
        + (f"{sign or ' ' * len(SIGN)}{error:<{errors}}" if errors else "")
        for (whole, point, decimals), (_, sign, error) in zip(wholes, parts, strict=True)
    ]


def aligned(
    rows: Sequence[Sequence[str]], is_words: Sequence[bool], widest: int | None = None
) -> list[str]:
    """Pad cells to columns: words to the left, numbers to the right, no blanks at the end.

    The first row holds the headers. Where lines would be wider than `widest`, headers that are
    longer than what is below them go on in a second line.
    """
    rows = list(map(list, rows))
    table = _pad(rows, is_words)
    if widest is None or max(map(text_width, table)) <= widest:
        return table
    below = [max(map(text_width, column[1:]), default=0) for column in zip(*rows, strict=True)]
    halves = [_halve(text, width) for text, width in zip(rows[0], below, strict=True)]
    return _pad([[first for first, _ in halves], [last for _, last in halves], *rows[1:]], is_words)


def _pad(rows: Sequence[Sequence[str]], is_words: Sequence[bool]) -> list[str]:
    widths = [max(map(text_width, column)) for column in zip(*rows, strict=True)]
    text = []
    for row in rows:
        cells = []
        for cell, width, left in zip(row, widths, is_words, strict=True):
            blanks = " " * (width - text_width(cell))
            cells.append(cell + blanks if left else blanks + cell)
        text.append("  ".join(cells).rstrip())
    return text


def _halve(header: str, width: int) -> tuple[str, str]:
    """Two lines of a header, as even as can be, or an empty one above what fits into its column."""
    ends = [match.end() for match in re.finditer("[ /]", header)]
    if text_width(header) <= width or not ends:
        return "", header
    cut = min(ends, key=lambda end: (max(end, len(header) - end), end))
    return header[:cut].rstrip(), header[cut:]
