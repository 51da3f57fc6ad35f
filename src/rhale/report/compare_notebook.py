"""A comparison as a small piece of HTML for notebooks: no script, no style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rhale.report.compare_page import CompareRow, make_compare_part
from rhale.report.notebook import (
    LONGEST_NOTE,
    MAX_EFFECT_ROWS,
    NUMBER_CELL_STYLE,
    TEXT_CELL_STYLE,
    named,
    table,
    write_curve_svg,
)
from rhale.report.wording import clean
from rhale.results.comparison_listing import head_of, write_comparison_counts
from rhale.results.feature_comparison import FeatureComparison

COMPARE_TEXT_COLUMNS = (
    "feature",
    "output",
    "compared",
    "difference",
    "differs",
)  # columns that are no numbers


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
    for one in ranked[:MAX_EFFECT_ROWS]:
        output = one.captions.output(one.output) if has_outputs else None
        body += "".join(
            write_compare_row(row, output, several=several)
            for row in make_compare_part(one, 0.0).rows
        )
    more = len(ranked) - MAX_EFFECT_ROWS
    after = [f"and {more} more: cx.summary() has all"] if more > 0 else []
    after += [write_comparison_counts(ranked), *(clean(note, LONGEST_NOTE) for note in notes)]
    return table(head_of(names, zero), heads, COMPARE_TEXT_COLUMNS, body, after)


def write_compare_row(row: CompareRow, output: str | None, *, several: bool) -> str:
    """Write one line of the table."""
    words = [named(row.name), *([] if output is None else [named(output)])]
    words += [named(row.compared)] if several else []
    cells = [
        f"<td{TEXT_CELL_STYLE}>{word}</td>" for word in [*words, write_curve_svg(row.sparkline)]
    ]
    cells += [
        f"<td{NUMBER_CELL_STYLE}>{escape(text)}</td>" for text in (row.size, row.share, row.p)
    ]
    where = f"{row.largest} at {row.at}" if row.at else row.largest
    cells += [f"<td{TEXT_CELL_STYLE}>{escape(row.differs)}</td>"]
    cells += [f"<td{NUMBER_CELL_STYLE}>{escape(text)}</td>" for text in (where, row.rows)]
    return f"<tr>{''.join(cells)}</tr>"
