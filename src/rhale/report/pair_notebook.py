"""Pairs as small pieces of HTML for notebooks, one or the strongest: no script, no style sheet."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from rhale.report.notebook import (
    LONGEST_NOTE,
    NUMBER,
    WORD,
    card,
    folded_notes,
    line_of,
    named,
    sized,
    table,
)
from rhale.report.pair_numbers import map_of
from rhale.report.pair_page import METHODS, RankedPair, percent, rank
from rhale.report.pair_sentences import tell_surface
from rhale.report.wording import clean, number
from rhale.results import inks
from rhale.results.note import as_notes
from rhale.results.pair_effect import ALIKE, TIMES, PairResult, can_be_ranked, write_head
from rhale.results.pair_listing import captioned, tell_evidence, tell_output
from rhale.results.pair_sections import with_surface

MOST_ROWS = 15
WIDTH, HEIGHT = 96, 8  # of a bar
COLOURS = "Colours say what the two do beyond their own effects; cells without rows are hatched."


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
    heads = ["pair", *(["output"] if several else []), "", "strength ± error", "share"]
    words = ("pair", "output", "")
    body = "".join(
        line(row, largest, pair, several=several) for row, pair in zip(rows, shown, strict=True)
    )
    more = len(ranked) - len(shown)
    after = [f"and {more} more: ix.to_frame() has all"] if more > 0 else []
    marked = [f"* {note}" for pair in shown for note in as_notes(pair.notes) if note.kind == ALIKE]
    told = (*marked[:1], *tell_evidence(ranked), *notes)
    after += [clean(note, LONGEST_NOTE) for note in told]
    method = METHODS[shown[0].method] if shown else ""
    model = provenance.get("model", "model")
    title = f"{model}: {method}{tell_output(ranked)}"
    return table(title, heads, words, body, after)


def deviation(pairs: Sequence[PairResult]) -> float:
    """Deviation of the predictions: what strengths and shares are told by."""
    found = [pair.strength / math.sqrt(pair.share) for pair in pairs if pair.share > 0]
    return max(found, default=0.0)


def pair_as_html(pair: PairResult) -> str:
    """Write one pair: its map, strength, a sentence, notes."""
    names = captioned(pair)
    on = f"interaction on {pair.captions.value_axis(pair.output)}"
    told = write_head(pair)
    parts = [line_of(told)]
    for surface in with_surface([pair]):  # an index has none
        if map_of(surface).reach > 0:
            parts = [draw_map(surface, clean(told, LONGEST_NOTE)), line_of(COLOURS), *parts]
        parts.append(line_of(tell_surface(surface, 1)))
    return card(TIMES.join(names), on, [*parts, folded_notes(pair.notes)])


def draw_map(surface: Any, told: str) -> str:
    """Draw the surface of a pair."""
    from rhale.plots.choice import draw_pair  # tables need no Matplotlib
    from rhale.report import inline_svg

    return inline_svg.picture(draw_pair, told, surface, "map")


def line(row: RankedPair, largest: float, pair: PairResult, *, several: bool) -> str:
    """Write one line of the table."""
    output = [named(pair.captions.output(pair.output))] if several else []
    mark = "" if can_be_ranked(pair) else " *"
    words = [TIMES.join(map(named, captioned(pair))) + mark, *output]
    cells = [f"<td{WORD}>{word}</td>" for word in (*words, bar(row.strength or 0.0, largest))]
    size = row.strength or 0.0
    strength = sized(size, row.error) if row.error else number(size)
    numbers = [strength, percent(row.share)]
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
