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

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, NamedTuple

from rhale.output.number_format import MINUS_SIGN, write_number
from rhale.output.text import align_points, aligned, as_notes, shorten_name

MAX_LISTED_ROWS = 20  # of a table that is read
WIDEST_TABLE = 100  # letters; with wider ones, headers take two lines
MAX_NOTE_LETTERS = 300  # of a line below a table in a notebook
URGENT_NOTES = ("audit", "correlated")  # kinds that a notebook shows unfolded


def always(_: Sequence[Any]) -> bool:
    """Every table has the column."""
    return True


def several(name: str) -> Callable[[Sequence[Any]], bool]:
    """Whether rows differ in an attribute."""
    return lambda rows: len({getattr(row, name) for row in rows}) > 1


def some(name: str) -> Callable[[Sequence[Any]], bool]:
    """Whether an attribute of any row says something."""
    return lambda rows: any(getattr(row, name) for row in rows)


@dataclass(frozen=True)
class TableRow:
    """A row of a table: what it is about, whose attributes it has besides its own."""

    found: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.found, name)


@dataclass(frozen=True)
class Column:
    r"""One column of the tables of a kind of rows.

    Attributes
    ----------
    key : str or None
        Its name in data frames; None where they do not have it.
    header : str, callable or None
        What people read above it, perhaps by the rows; None where only data frames have it.
    text, value : callable, optional
        What people read of a row, and what data frames hold: by default the attribute `key`.
    markup : callable, optional
        HTML of a cell, where that is more than its text: a picture.
    shown, kept : callable
        Whether a table of these rows has it, for people and in data frames.
    is_words : bool
        Whether it holds words, which begin at the left; numbers end at the right.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> rank = Column("rank", "rank")
    >>> rows = [TableRow(SimpleNamespace(rank=i)) for i in (1, 2)]
    >>> tabulate(rows, [rank]), str(lay_out(rows, [rank]))
    ({'rank': [1, 2]}, 'rank\n   1\n   2')
    """

    key: str | None = None
    header: str | Callable[[Sequence[Any]], str] | None = None
    text: Callable[[Any], str] | None = None
    value: Callable[[Any], Any] | None = None
    markup: Callable[[Any], str] | None = None
    shown: Callable[[Sequence[Any]], bool] = always
    kept: Callable[[Sequence[Any]], bool] = always
    is_words: bool = False

    def read(self, row: Any) -> Any:
        """What data frames hold of a row; nothing of a column that they do not have."""
        if self.value is not None:
            return self.value(row)
        return "" if self.key is None else getattr(row, self.key)

    def write(self, row: Any) -> str:
        """What people read of a row."""
        if self.text is not None:
            return self.text(row)
        found = self.read(row)
        return write_number(found) if isinstance(found, float) else str(found)

    def write_markup(self, row: Any, text: str) -> str:
        """The same as HTML: words keep their direction to themselves, numbers have a minus."""
        if self.markup is not None:
            return self.markup(row)
        if self.is_words:
            return isolate(text)
        return escape(text.replace("-", MINUS_SIGN))


def isolate(text: str) -> str:
    """A text as HTML that turns no words around it, whatever its direction of writing."""
    return f"<bdi>{escape(text)}</bdi>" if text else ""


def words(*fields: Any, **more: Any) -> Column:
    """A column of words."""
    return replace(Column(*fields, **more), is_words=True)


def frame_only(*keys: str) -> tuple[Column, ...]:
    """Columns that only data frames have, of attributes of the rows."""
    return tuple(map(Column, keys))


def write_feature(row: Any) -> str:
    """What people read for the feature of a row."""
    return shorten_name(row.captions.feature(row.name))


def write_output(row: Any) -> str:
    """What people read for the output of a row."""
    return shorten_name(row.captions.output(row.output))


FEATURE_COLUMN = words("feature", "feature", write_feature, lambda row: row.name)
OUTPUT_COLUMN = words("output", "output", write_output, shown=several("output"))


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
    """A table that people read: rows in the columns that they have; `more` says what is left out.

    Pages iterate `headers` and `cells`.
    """

    columns: tuple[Column, ...]
    rows: tuple[Any, ...]
    more: str = ""

    @property
    def headers(self) -> list[Header]:
        """What stands above the columns."""
        return [
            Header(c.header(self.rows) if callable(c.header) else str(c.header), c.is_words)
            for c in self.columns
        ]

    @property
    def cells(self) -> list[list[TableCell]]:
        """Texts and HTML, row by row."""
        texts = [[column.write(row) for column in self.columns] for row in self.rows]
        return [
            [
                TableCell(text, c.write_markup(row, text))
                for c, text in zip(self.columns, own, strict=True)
            ]
            for row, own in zip(self.rows, texts, strict=True)
        ]

    @property
    def texts(self) -> list[list[str]]:
        """Headers and cells as text, numbers padded so that their points are below one another."""
        columns = []
        for column, header in zip(self.columns, self.headers, strict=True):
            cells = [column.write(row) for row in self.rows]
            columns.append([header.text, *(cells if column.is_words else align_points(cells))])
        return [list(row) for row in zip(*columns, strict=True)]

    def __str__(self) -> str:
        is_words = [column.is_words for column in self.columns]
        lines = aligned(self.texts, is_words, WIDEST_TABLE)
        return "\n".join([*lines, *([self.more] if self.more else [])])

    def as_html(self) -> str:
        """The table as HTML, without scripts and style sheets."""

        def line(tag: str, cells: Sequence[str]) -> str:
            sides = ["left" if column.is_words else "right" for column in self.columns]
            nowrap = ";white-space:nowrap" if tag == "td" else ""
            inside = (
                f'<{tag} style="padding:2px 8px;text-align:{side}{nowrap if side == "right" else ""}">{cell}</{tag}>'
                for side, cell in zip(sides, cells, strict=True)
            )
            return f"<tr>{''.join(inside)}</tr>"

        head = line("th", [escape(header.text) for header in self.headers])
        body = "".join(line("td", [cell.markup for cell in row]) for row in self.cells)
        more = f"<p>{escape(self.more)}</p>" if self.more else ""
        return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{more}"


def tabulate(rows: Sequence[Any], columns: Sequence[Column]) -> dict[str, list[Any]]:
    """The columns of a data frame: one list of values for each key."""
    return {
        column.key: [column.read(row) for row in rows]
        for column in columns
        if column.key is not None and column.kept(rows)
    }


def lay_out(rows: Sequence[Any], columns: Sequence[Column], more: str = "") -> LaidOut:
    """The table that people read, of the columns that have a header and something to show."""
    shown = tuple(c for c in columns if c.header is not None and c.shown(rows))
    return LaidOut(shown, tuple(rows), more)


def lay_out_further(
    rows: Sequence[Any], columns: Sequence[Column], drawn: Collection[str]
) -> tuple[tuple[Header, ...], list[tuple[str, ...]]]:
    """Headers and texts of the columns that a page does not draw in a way of its own.

    `drawn` are those that it does, by their keys, or by their headers where they have none. A column
    that is new in the list of its kind of rows appears on the page by itself.
    """
    table = lay_out(
        rows, [column for column in columns if (column.key or column.header) not in drawn]
    )
    texts = [tuple(cell.text for cell in row) for row in table.cells]
    return tuple(table.headers), texts


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


def insert_after(columns: Sequence[Column], header: str, *more: Column) -> tuple[Column, ...]:
    """The columns of a table with more of them behind the one below `header`: pictures of a notebook."""
    place = [column.header for column in columns].index(header) + 1
    return (*columns[:place], *more, *columns[place:])


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
