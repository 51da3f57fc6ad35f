"""Pairs as small pieces of HTML for notebooks, one or the strongest: no script, no style sheet."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from rhale.report.notebook import (
    LONGEST_NOTE,
    NUMBER_CELL_STYLE,
    TEXT_CELL_STYLE,
    card,
    folded_notes,
    named,
    sized,
    table,
    write_paragraph,
)
from rhale.report.pair_numbers import map_of
from rhale.report.pair_page import PAIR_METHODS, RankedPair, format_variance_percent, rank
from rhale.report.pair_sentences import tell_surface
from rhale.report.wording import clean, format_report_number
from rhale.results import inks
from rhale.results.note import as_notes
from rhale.results.pair_effect import (
    CORRELATED_NOTE_KIND,
    PAIR_NAME_SEPARATOR,
    PairResult,
    can_be_ranked,
    write_head,
)
from rhale.results.pair_listing import captioned, tell_evidence, tell_output
from rhale.results.pair_sections import with_surface

MAX_PAIR_ROWS = 15
NOTEBOOK_BAR_WIDTH, STRENGTH_BAR_HEIGHT = 96, 8  # of a bar
MAP_COLOURS_NOTE = (
    "Colours say what the two do beyond their own effects; cells without rows are hatched."
)


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
    shown = ranked[:MAX_PAIR_ROWS]
    rows = [rank(pair, prediction_std(shown), None, ()) for pair in shown]
    largest = max((row.strength or 0.0 for row in rows), default=0.0)
    heads = ["pair", *(["output"] if several else []), "", "strength ± error", "share"]
    words = ("pair", "output", "")
    body = "".join(
        write_pair_row(row, largest, pair, several=several)
        for row, pair in zip(rows, shown, strict=True)
    )
    more = len(ranked) - len(shown)
    after = [f"and {more} more: ix.to_frame() has all"] if more > 0 else []
    marked = [
        f"* {note}"
        for pair in shown
        for note in as_notes(pair.notes)
        if note.kind == CORRELATED_NOTE_KIND
    ]
    told = (*marked[:1], *tell_evidence(ranked), *notes)
    after += [clean(note, LONGEST_NOTE) for note in told]
    method = PAIR_METHODS[shown[0].method] if shown else ""
    model = provenance.get("model", "model")
    title = f"{model}: {method}{tell_output(ranked)}"
    return table(title, heads, words, body, after)


def prediction_std(pairs: Sequence[PairResult]) -> float:
    """Deviation of the predictions: what strengths and shares are told by."""
    found = [pair.strength / math.sqrt(pair.share) for pair in pairs if pair.share > 0]
    return max(found, default=0.0)


def pair_as_html(pair: PairResult) -> str:
    """Write one pair: its map, strength, a sentence, notes."""
    names = captioned(pair)
    on = f"interaction on {pair.captions.value_axis(pair.output)}"
    told = write_head(pair)
    parts = [write_paragraph(told)]
    for surface in with_surface([pair]):  # an index has none
        if map_of(surface).reach > 0:
            parts = [
                draw_map(surface, clean(told, LONGEST_NOTE)),
                write_paragraph(MAP_COLOURS_NOTE),
                *parts,
            ]
        parts.append(write_paragraph(tell_surface(surface, 1)))
    return card(PAIR_NAME_SEPARATOR.join(names), on, [*parts, folded_notes(pair.notes)])


def draw_map(surface: Any, told: str) -> str:
    """Draw the surface of a pair."""
    from rhale.plots.choice import draw_pair  # tables need no Matplotlib
    from rhale.report import inline_svg

    return inline_svg.draw_inline_svg(draw_pair, told, surface, "map")


def write_pair_row(row: RankedPair, largest: float, pair: PairResult, *, several: bool) -> str:
    """Write one line of the table."""
    output = [named(pair.captions.output(pair.output))] if several else []
    mark = "" if can_be_ranked(pair) else " *"
    words = [PAIR_NAME_SEPARATOR.join(map(named, captioned(pair))) + mark, *output]
    cells = [
        f"<td{TEXT_CELL_STYLE}>{word}</td>"
        for word in (*words, write_strength_bar(row.strength or 0.0, largest))
    ]
    size = row.strength or 0.0
    strength = sized(size, row.error) if row.error else format_report_number(size)
    numbers = [strength, format_variance_percent(row.share)]
    return f"<tr>{''.join(cells)}{''.join(f'<td{NUMBER_CELL_STYLE}>{n}</td>' for n in map(escape, numbers))}</tr>"


def write_strength_bar(strength: float, largest: float) -> str:
    """Draw how strong a pair is."""
    width = NOTEBOOK_BAR_WIDTH * strength / largest if largest > 0 else 0.0
    return (
        f'<svg width="{NOTEBOOK_BAR_WIDTH}" height="{STRENGTH_BAR_HEIGHT}" aria-hidden="true">'
        f'<rect width="{width:.3g}" height="{STRENGTH_BAR_HEIGHT}" fill="{inks.STRENGTH_COLOUR}"/></svg>'
    )
