"""A comparison as a small piece of HTML for notebooks: no script, no style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rhale.report.compare_page import CompareRow, make_part
from rhale.report.notebook import LONGEST_NOTE, MOST_ROWS, NUMBER, WORD, drawn, named, table
from rhale.report.wording import clean
from rhale.results.comparison_listing import head_of, tell_count
from rhale.results.feature_comparison import FeatureComparison

WORDS = ("feature", "output", "compared", "difference", "differs")  # columns that are no numbers


def comparison_as_html(
    ranked: Sequence[FeatureComparison], names: Sequence[str], zero: str, notes: Sequence[str]
) -> str:
    """Write the ranked table.

    Parameters
    ----------
    ranked : sequence of FeatureComparison
        The largest difference first.
    names : sequence of str
        What the explanations are called.
    zero : str
        Where curves are zero, in words.
    notes : sequence of str
        What follows the table.
    """
    has_outputs, several = len({one.output for one in ranked}) > 1, len(names) > 2
    heads = ["feature", *(["output"] if has_outputs else []), *(["compared"] if several else [])]
    heads += ["difference", "size", "of effect", "p", "differs", "largest", "rows elsewhere"]
    body = ""
    for one in ranked[:MOST_ROWS]:
        output = one.captions.output(one.output) if has_outputs else None
        body += "".join(line(row, output, several=several) for row in make_part(one, 0.0).rows)
    more = len(ranked) - MOST_ROWS
    after = [f"and {more} more: cx.summary() has all"] if more > 0 else []
    after += [tell_count(ranked), *(clean(note, LONGEST_NOTE) for note in notes)]
    return table(head_of(names, zero), heads, WORDS, body, after)


def line(row: CompareRow, output: str | None, *, several: bool) -> str:
    """Write one line of the table."""
    words = [named(row.name), *([] if output is None else [named(output)])]
    words += [named(row.compared)] if several else []
    cells = [f"<td{WORD}>{word}</td>" for word in [*words, drawn(row.sparkline)]]
    cells += [f"<td{NUMBER}>{escape(text)}</td>" for text in (row.size, row.share, row.p)]
    where = f"{row.largest} at {row.at}" if row.at else row.largest
    cells += [f"<td{WORD}>{escape(row.differs)}</td>"]
    cells += [f"<td{NUMBER}>{escape(text)}</td>" for text in (where, row.rows)]
    return f"<tr>{''.join(cells)}</tr>"
