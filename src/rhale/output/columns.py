"""Tables of results: one list of columns feeds data frame, `print`, notebook, page and command.

| here | what it does |
| --- | --- |
| `Column` | one column: its key in data frames, its header for people, value and text of a row |
| `tabulate` | rows and columns as a dictionary of lists, for a data frame |
| `lay_out` | rows and columns as headers and cells, which `print`, the command and pages iterate |
| `Listing` | a title, laid-out tables, notes: the text of `print`, or HTML for notebooks |

A column that is added to the list of its kind of rows is in all of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Generic, NamedTuple, TypeVar

from rhale.output.note import as_notes
from rhale.output.number_format import MINUS_SIGN, write_number
from rhale.output.text import align_points, aligned, shorten_name

Row = TypeVar("Row")
MAX_LISTED_ROWS = 20  # of a table that is read
WIDEST_TABLE = 100  # letters; with wider ones, headers take two lines
MAX_NOTE_LETTERS = 300  # of a line below a table in a notebook
URGENT_NOTES = ("audit", "correlated")  # kinds that a notebook shows unfolded
WORD_STYLE, NUMBER_STYLE = "text-align:left", "text-align:right;white-space:nowrap"


def always(_: Sequence[Any]) -> bool:
    """Every table has the column."""
    return True


@dataclass(frozen=True)
class Column(Generic[Row]):
    """One column of the tables of a kind of rows.

    Attributes
    ----------
    key : str or None
        Its name in data frames, which hold `value(row)`; None where they do not have it.
    header : str, callable or None
        What people read above it, perhaps by the rows; None where only data frames have it.
    value, text : callable
        What a data frame holds of a row, and what people read; without a text, the value is written.
    markup : callable, optional
        HTML of a cell; a column that has nothing else is in notebooks only.
    shown, kept : callable
        Whether a table of these rows has it, for people and in data frames.
    is_words : bool
        Whether it holds words, which begin at the left; numbers end at the right.

    Examples
    --------
    >>> rank = Column("rank", "rank", lambda row: row)
    >>> tabulate([1, 2], [rank]), str(lay_out([1, 2], [rank]))
    ({'rank': [1, 2]}, 'rank\\n   1\\n   2')
    """

    key: str | None = None
    header: str | Callable[[Sequence[Row]], str] | None = None
    value: Callable[[Row], Any] | None = None
    text: Callable[[Row], str] | None = None
    markup: Callable[[Row], str] | None = None
    shown: Callable[[Sequence[Row]], bool] = always
    kept: Callable[[Sequence[Row]], bool] = always
    is_words: bool = False

    def write(self, row: Row) -> str:
        """What people read of a row."""
        if self.text is not None:
            return self.text(row)
        found = self.value(row) if self.value is not None else ""
        return write_number(found) if isinstance(found, float) else str(found)

    def write_markup(self, row: Row, text: str) -> str:
        """The same as HTML: words keep their direction to themselves, numbers have a minus."""
        if self.markup is not None:
            return self.markup(row)
        if self.is_words:
            return f"<bdi>{escape(text)}</bdi>" if text else ""
        return escape(text.replace("-", MINUS_SIGN))


class Header(NamedTuple):
    """What stands above a column, and whether that holds words."""

    text: str
    is_words: bool


class TableCell(NamedTuple):
    """What people read of a row in one column, as text and as HTML."""

    text: str
    markup: str


@dataclass(frozen=True)
class LaidOut:
    """Headers and cells of a table, line by line; `more` says what it leaves out."""

    headers: tuple[Header, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    more: str = ""

    def __iter__(self) -> Iterator[tuple[TableCell, ...]]:
        return iter(self.rows)

    def texts(self) -> list[list[str]]:
        """Cells as text, numbers padded so that their points are below one another."""
        columns = [
            [row[i].text for row in self.rows]
            if header.is_words
            else align_points([row[i].text for row in self.rows] or [""])[: len(self.rows)]
            for i, header in enumerate(self.headers)
        ]
        return [list(row) for row in zip(*columns, strict=True)]

    def __str__(self) -> str:
        headers, is_words = zip(*self.headers, strict=True)
        lines = aligned([headers, *self.texts()], is_words, WIDEST_TABLE)
        return "\n".join([*lines, *([self.more] if self.more else [])])

    def as_html(self) -> str:
        """The table as HTML, without scripts and style sheets."""
        styles = [WORD_STYLE if header.is_words else NUMBER_STYLE for header in self.headers]
        head = "".join(
            f'<th style="{style}">{escape(header.text)}</th>'
            for style, header in zip(styles, self.headers, strict=True)
        )
        body = "".join(
            "<tr>"
            + "".join(
                f'<td style="{style}">{cell.markup}</td>'
                for style, cell in zip(styles, row, strict=True)
            )
            + "</tr>"
            for row in self.rows
        )
        more = f"<p>{escape(self.more)}</p>" if self.more else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def tabulate(rows: Sequence[Row], columns: Sequence[Column[Row]]) -> dict[str, list[Any]]:
    """The columns of a data frame: one list of values for each key."""
    return {
        column.key: [column.value(row) for row in rows]
        for column in columns
        if column.key is not None and column.value is not None and column.kept(rows)
    }


def lay_out(
    rows: Sequence[Row],
    columns: Sequence[Column[Row]],
    more: str = "",
    *,
    notebook: bool = False,
) -> LaidOut:
    """The table that people read; columns of pictures are those of a notebook."""
    shown = [
        column
        for column in columns
        if column.header is not None
        and (notebook or column.text is not None or column.value is not None)
        and column.shown(rows)
    ]
    headers = [
        Header(c.header(rows) if callable(c.header) else str(c.header), c.is_words) for c in shown
    ]
    cells = []
    for row in rows:
        texts = [column.write(row) for column in shown]
        cells.append(
            tuple(
                TableCell(text, column.write_markup(row, text) if notebook else "")
                for column, text in zip(shown, texts, strict=True)
            )
        )
    return LaidOut(tuple(headers), tuple(cells), more)


@dataclass(frozen=True)
class Listing:
    """What `print` and notebooks show of a result: a title, tables, numbered remarks, notes.

    Attributes
    ----------
    title : str
        What is listed.
    tables : tuple of LaidOut
        One below the other.
    remarks : tuple of str
        Notes on single rows, to which numbers in the column of notes refer.
    notes : tuple of str
        Notes on the whole.
    """

    title: str
    tables: tuple[LaidOut, ...]
    remarks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        remarks = [f"{number}  {note}" for number, note in enumerate(self.remarks, start=1)]
        return "\n".join([self.title, "\n\n".join(map(str, self.tables)), *remarks, *self.notes])

    def as_html(self) -> str:
        """The same for notebooks: remarks are folded, but for those that say what not to trust."""
        numbered = list(enumerate(as_notes(self.remarks), start=1))
        urgent = [f"{number}  {note}" for number, note in numbered if note.kind in URGENT_NOTES]
        folded = "".join(
            f'<li value="{number}">{write_line(note)}</li>'
            for number, note in numbered
            if note.kind not in URGENT_NOTES
        )
        n_folded = len(numbered) - len(urgent)
        counted = "1 note" if n_folded == 1 else f"{n_folded} notes"
        details = f"<details><summary>{counted}</summary><ol>{folded}</ol></details>"
        return (
            f"<div><p>{write_line(self.title)}</p>"
            + "".join(table.as_html() for table in self.tables)
            + "".join(f"<p>{write_line(line)}</p>" for line in (*urgent, *self.notes))
            + (details if folded else "")
            + "</div>"
        )


def write_line(text: str) -> str:
    """A line of a notebook as HTML; very long ones are cut."""
    return escape(shorten_name(text, MAX_NOTE_LETTERS))


def number_notes(all_notes: Sequence[Sequence[str]]) -> tuple[list[str], tuple[str, ...]]:
    """The numbers of the notes of every row, and the notes by their numbers, each once.

    Examples
    --------
    >>> number_notes([["few rows"], [], ["a gap", "few rows"]])
    (['1', '', '2, 1'], ('few rows', 'a gap'))
    """
    found: dict[str, int] = {}
    marks = [
        ", ".join(str(found.setdefault(note, len(found) + 1)) for note in notes)
        for notes in all_notes
    ]
    return marks, tuple(found)
