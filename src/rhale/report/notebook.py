"""The ranked table as a small piece of HTML for notebooks: no script, no style sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from rhale.report.chart_numbers import shape_of
from rhale.report.sparkline import HEIGHT, WIDTH, path_of
from rhale.report.wording import clean, fixed
from rhale.results import inks
from rhale.results.listing import differs_by, title
from rhale.results.result import Result

MOST_ROWS = 30
LONGEST_NAME, LONGEST_NOTE = 60, 300
WORDS = ("feature", "output", "shape", "differs by", "kind")  # columns that are no numbers
NUMBER = ' style="text-align:right"'
WORD = ' style="text-align:left"'


def as_html(ranked: Sequence[Result], provenance: Mapping[str, Any], notes: Sequence[str]) -> str:
    """Write the largest effects as a table.

    Parameters
    ----------
    ranked : sequence of Effect, LevelEffect or Profile
        Largest first.
    provenance : mapping
        What was explained, and how.
    notes : sequence of str
        About the whole.
    """
    several = len({effect.output for effect in ranked}) > 1
    heads = ["feature", *(["output"] if several else []), "shape", "effect ± error"]
    differ = any(effect.regions is not None for effect in ranked)
    heads += ["typical spread", *(["differs by"] if differ else []), "kind"]
    largest = float(np.nanmax([0.0, *(effect.importance for effect in ranked)]))
    rows = "".join(
        row(effect, largest, several=several, differ=differ) for effect in ranked[:MOST_ROWS]
    )
    more = len(ranked) - MOST_ROWS
    after = [f"and {more} more: fx.summary() has all"] if more > 0 else []
    after += [clean(note, LONGEST_NOTE) for note in notes]
    return (
        f"<div><p>{escape(clean(title(provenance), LONGEST_NOTE))}</p><table><thead><tr>"
        + "".join(f"<th{WORD if h in WORDS else NUMBER}>{h}</th>" for h in heads)
        + f"</tr></thead><tbody>{rows}</tbody></table>"
        + "".join(f"<p>{escape(line)}</p>" for line in after)
        + "</div>"
    )


def row(effect: Result, largest: float, *, several: bool, differ: bool = False) -> str:
    """Write one line of the table."""
    size = f"{fixed(effect.importance, largest)} ± {fixed(effect.importance_error, largest)}"
    words = [named(effect.name), *([named(effect.output)] if several else []), picture(effect)]
    cells = [f"<td{WORD}>{word}</td>" for word in words]
    cells += [f"<td{NUMBER}>{n}</td>" for n in (size, fixed(effect.typical_spread, largest))]
    if differ:
        cells.append(f"<td{WORD}>{named(differs_by(effect.regions))}</td>")
    return f"<tr>{''.join(cells)}<td{WORD}>{effect.column_kind}</td></tr>"


def named(name: str) -> str:
    """Write a name that is taken for nothing but a name, whatever its direction."""
    return f"<bdi>{escape(clean(name, LONGEST_NAME))}</bdi>"


def picture(effect: Result) -> str:
    """Draw the shape of the curve."""
    return drawn(path_of(shape_of(effect)))


def drawn(path: str) -> str:
    """Draw the path of a curve."""
    return (
        f'<svg width="{WIDTH:g}" height="{HEIGHT:g}" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" '
        f'aria-hidden="true"><path d="{path}" fill="none" '
        f'stroke="{inks.EFFECT}" stroke-width="1.6"/></svg>'
    )
