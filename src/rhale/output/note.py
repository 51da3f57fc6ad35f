"""What a reader of a result should know: a kind, for programs, and a text, for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self


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
