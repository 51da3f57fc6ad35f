"""The strongest pairs as a small piece of HTML for notebooks: no script, no style sheet."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from rhale.report.notebook import LONGEST_NOTE, NUMBER, WORD, named
from rhale.report.pair_page import METHODS, TIMES, RankedPair, percent, rank, strength_in_words
from rhale.report.wording import clean
from rhale.results import inks
from rhale.results.pair_effect import PairResult

MOST_ROWS = 15
WIDTH, HEIGHT = 96, 8  # of a bar


def pairs_as_html(
    ranked: Sequence[PairResult], provenance: Mapping[str, Any], notes: Sequence[str]
) -> str:
    """Write the strongest pairs as a table.

    Parameters
    ----------
    ranked : sequence of PairEffect or PairIndex
        Strongest first.
    provenance : mapping
        What was measured, and how.
    notes : sequence of str
        About the whole.
    """
    several = len({pair.output for pair in ranked}) > 1
    shown = ranked[:MOST_ROWS]
    rows = [rank(pair, deviation(shown), None, ()) for pair in shown]
    largest = max((row.strength or 0.0 for row in rows), default=0.0)
    has_p = any(row.error for row in rows)
    heads = ["pair", *(["output"] if several else []), "", "strength ± error", "share"]
    heads += ["p"] if has_p else []
    words = ("pair", "output", "")
    body = "".join(
        line(row, largest, pair.output if several else None, has_p=has_p)
        for row, pair in zip(rows, shown, strict=True)
    )
    more = len(ranked) - len(shown)
    after = [f"and {more} more: ix.to_frame() has all"] if more > 0 else []
    after += [clean(note, LONGEST_NOTE) for note in notes]
    method = METHODS[shown[0].method] if shown else ""
    title = clean(f"{provenance.get('model', 'model')}: {method}", LONGEST_NOTE)
    return (
        f"<div><p>{escape(title)}</p><table><thead><tr>"
        + "".join(f"<th{WORD if h in words else NUMBER}>{h}</th>" for h in heads)
        + f"</tr></thead><tbody>{body}</tbody></table>"
        + "".join(f"<p>{escape(text)}</p>" for text in after)
        + "</div>"
    )


def deviation(pairs: Sequence[PairResult]) -> float:
    """Deviation of the predictions: what strengths and shares are told by."""
    found = [pair.strength / math.sqrt(pair.share) for pair in pairs if pair.share > 0]
    return max(found, default=0.0)


def line(row: RankedPair, largest: float, output: str | None, *, has_p: bool) -> str:
    """Write one line of the table."""
    words = [TIMES.join(map(named, row.names)), *([] if output is None else [named(output)])]
    cells = [f"<td{WORD}>{word}</td>" for word in (*words, bar(row.strength or 0.0, largest))]
    numbers = [strength_in_words(row, largest), percent(row.share), *([row.p] if has_p else [])]
    return (
        f"<tr>{''.join(cells)}{''.join(f'<td{NUMBER}>{n}</td>' for n in map(escape, numbers))}</tr>"
    )


def bar(strength: float, largest: float) -> str:
    """Draw how strong a pair is."""
    width = WIDTH * strength / largest if largest > 0 else 0.0
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" aria-hidden="true">'
        f'<rect width="{width:.3g}" height="{HEIGHT}" fill="{inks.STRENGTH}"/></svg>'
    )
