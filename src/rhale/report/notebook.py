"""Effects as small pieces of HTML for notebooks, with sparklines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from rhale.effects.listing import differs_by, head, read_size_numbers, scales, write_spread
from rhale.effects.result import Result, is_constant
from rhale.output import colours
from rhale.output.number_format import MINUS_SIGN, write_with_error
from rhale.report.numbers import (
    MOST_SINGLE_CURVES,
    SPARKLINE_HEIGHT,
    SPARKLINE_WIDTH,
    shape_of,
    write_sparkline_path,
)
from rhale.report.sentences import clean, describe_effect

NOTEBOOK_BAR_WIDTH = 96  # pixels

MAX_EFFECT_ROWS = 30
MAX_NOTEBOOK_NAME_LETTERS, LONGEST_NOTE = 60, 300
MOST_NOTES = 12
DOT_SEPARATOR = " \u00b7 "
# Columns that are no numbers.
EFFECT_TEXT_COLUMNS = "feature", "output", "curve", "differs by (in this model)", "kind"
NUMBER_CELL_STYLE = ' style="text-align:right;white-space:nowrap"'
TEXT_CELL_STYLE = ' style="text-align:left"'


def as_html(ranked: Sequence[Result], provenance: Mapping[str, Any], notes: Sequence[str]) -> str:
    """Write the largest effects as a table."""
    several = len({effect.output for effect in ranked}) > 1
    heads = ["feature", *(["output"] if several else []), "curve", "importance ± error"]
    differ = any(effect.regions is not None for effect in ranked)
    heads += ["typical spread", *(["differs by (in this model)"] if differ else []), "kind"]
    shown = ranked[:MAX_EFFECT_ROWS]
    rows = "".join(
        row(effect, scale, several=several, differ=differ)
        for effect, scale in zip(shown, scales(ranked, shown), strict=True)
    )
    more = len(ranked) - MAX_EFFECT_ROWS
    after = [f"and {more} more: fx.summary() has all"] if more > 0 else []
    doubted = [(e, note) for e in shown for note in e.notes if note.kind == "audit"]
    after += [clean(f"{e.captions.feature(e.name)}: {note}", LONGEST_NOTE) for e, note in doubted]
    after += [clean(note, LONGEST_NOTE) for note in notes]
    return table(head(ranked, provenance), heads, EFFECT_TEXT_COLUMNS, rows, after)


def table(
    title: str, heads: Sequence[str], words: Sequence[str], body: str, after: Sequence[str]
) -> str:
    """Put a table together; `words` are the columns that hold no numbers, `after` stands below."""
    return (
        f"<div><p>{escape(clean(title, LONGEST_NOTE))}</p><table><thead><tr>"
        + "".join(
            f"<th{TEXT_CELL_STYLE if h in words else NUMBER_CELL_STYLE}>{h}</th>" for h in heads
        )
        + f"</tr></thead><tbody>{body}</tbody></table>"
        + "".join(f"<p>{escape(line)}</p>" for line in after)
        + "</div>"
    )


def table_row(*groups: tuple[str, Iterable[str]]) -> str:
    """Write one line of a table: groups of cells, each of one style, whose texts are HTML."""
    cells = [f"<td{look}>{text}</td>" for look, texts in groups for text in texts]
    return f"<tr>{''.join(cells)}</tr>"


def row(effect: Result, scale: float, *, several: bool, differ: bool = False) -> str:
    """Write one line of the table; what is rounding beside the scale is zero."""
    size, error, *spread = read_size_numbers(effect, scale)
    captions = effect.captions
    words = [named(captions.feature(effect.name))]
    words += [
        *([named(captions.output(effect.output))] if several else []),
        write_curve_svg(write_sparkline_path(shape_of(effect))),
    ]
    numbers = [sized(size, error), spread_of(*spread)]
    more = [named(differs_by(effect.regions, captions))] if differ else []
    return table_row(
        (TEXT_CELL_STYLE, words),
        (NUMBER_CELL_STYLE, numbers),
        (TEXT_CELL_STYLE, [*more, effect.column_kind]),
    )


def sized(size: float, error: float) -> str:
    """Write an importance and its error, for a page."""
    return write_with_error(size, error).replace("-", MINUS_SIGN)


def spread_of(spread: float, error: float) -> str:
    """Write a typical spread and its error, for a page."""
    return write_spread(spread, error).replace("-", MINUS_SIGN)


def effect_as_html(effect: Result) -> str:
    """Write one effect: its curve, numbers, sentences, notes."""
    captions, is_prediction = effect.captions, effect.quantity == "prediction"
    output = captions.value_axis(effect.output)
    on = output if is_prediction else f"effect on {output}"
    size, error, *spread = read_size_numbers(effect, effect.importance)
    importance = f"importance {sized(size, error)}"
    counted = f"{effect.n_parts} {effect.parts if effect.n_parts != 1 else effect.parts[:-1]}"
    facts = [importance, f"typical spread {spread_of(*spread)}", counted]
    if effect.regions is not None and (who := differs_by(effect.regions, captions)):
        facts.append(f"differs in this model by {who}")
    name = captions.axis(effect.name)
    parts = [
        write_paragraph(DOT_SEPARATOR.join(facts)),
        write_paragraph(" ".join(describe_effect(effect))),
        folded_notes(effect.notes),
    ]
    if not is_constant(effect):
        # Draw the curve.
        from rhale.plots.choice import plot_result_by_options  # tables need no Matplotlib
        from rhale.report import inline_svg

        limits = {"max_curves": MOST_SINGLE_CURVES} if effect.parts == "points" else {}
        parts.insert(
            0,
            inline_svg.draw_inline_svg(
                plot_result_by_options,
                clean(f"{name}: {on}, {importance}", LONGEST_NOTE),
                effect,
                kind="curve",
                **limits,
            ),
        )
    return card(name, on, parts)


def card(name: str, what: str, parts: Sequence[str]) -> str:
    """Put a small page together."""
    head = f"<p><b>{named(name)}</b>: {named(what)}</p>"
    return f'<div style="max-width:600px">{head}{"".join(parts)}</div>'


def write_paragraph(text: str) -> str:
    """A paragraph; nothing if there is nothing to say."""
    return f"<p>{escape(clean(text, 2 * LONGEST_NOTE))}</p>" if text else ""


def folded_notes(notes: Sequence[str]) -> str:
    """Notes that are read on demand; nothing if there are none."""
    if not notes:
        return ""
    lines = [clean(note, LONGEST_NOTE) for note in notes[:MOST_NOTES]]
    lines += [f"and {len(notes) - MOST_NOTES} more"] if len(notes) > MOST_NOTES else []
    counted = "1 note" if len(notes) == 1 else f"{len(notes)} notes"
    items = "".join(f"<li>{escape(text)}</li>" for text in lines)
    return f"<details><summary>{counted}</summary><ul>{items}</ul></details>"


def named(name: str) -> str:
    """Write a name that is taken for nothing but a name, whatever its direction."""
    return f"<bdi>{escape(clean(name, MAX_NOTEBOOK_NAME_LETTERS))}</bdi>"


def write_curve_svg(path: str) -> str:
    """Draw the path of a curve."""
    return (
        f'<svg width="{SPARKLINE_WIDTH:g}" height="{SPARKLINE_HEIGHT:g}" viewBox="0 0 {SPARKLINE_WIDTH:g} {SPARKLINE_HEIGHT:g}" '
        f'aria-hidden="true"><path d="{path}" fill="none" '
        f'stroke="{colours.EFFECT_COLOUR}" stroke-width="1.6"/></svg>'
    )
