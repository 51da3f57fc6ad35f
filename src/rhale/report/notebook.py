"""Effects as small pieces of HTML for notebooks, with sparklines."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rhale.effects.listing import (
    EFFECT_COLUMNS,
    EffectRow,
    differs_by,
    read_size_numbers,
    write_spread,
)
from rhale.effects.result import Result, is_constant
from rhale.output import colours
from rhale.output.columns import MAX_NOTE_LETTERS, insert_after, words
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

MAX_NOTEBOOK_NAME_LETTERS = 60
MOST_NOTES = 12
DOT_SEPARATOR = " \u00b7 "


def draw_curve_cell(row: EffectRow) -> str:
    """Draw the shape of an effect, for its table."""
    return write_curve_svg(write_sparkline_path(shape_of(row.found)))


NOTEBOOK_COLUMNS = insert_after(
    EFFECT_COLUMNS, "kind", words(header="curve", markup=draw_curve_cell)
)


def effect_as_html(effect: Result) -> str:
    """Write one effect: its curve, numbers, sentences, notes."""
    captions, is_prediction = effect.captions, effect.quantity == "prediction"
    output = captions.value_axis(effect.output)
    on = output if is_prediction else f"effect on {output}"
    size, error, *spread = read_size_numbers(effect, effect.importance)
    importance = f"importance {write_with_error(size, error)}".replace("-", MINUS_SIGN)
    counted = f"{effect.n_parts} {effect.parts if effect.n_parts != 1 else effect.parts[:-1]}"
    facts = [importance, f"typical spread {write_spread(*spread)}", counted]
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
                clean(f"{name}: {on}, {importance}", MAX_NOTE_LETTERS),
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
    return f"<p>{escape(clean(text, 2 * MAX_NOTE_LETTERS))}</p>" if text else ""


def folded_notes(notes: Sequence[str]) -> str:
    """Notes that are read on demand; nothing if there are none."""
    if not notes:
        return ""
    lines = [clean(note, MAX_NOTE_LETTERS) for note in notes[:MOST_NOTES]]
    lines += [f"and {len(notes) - MOST_NOTES} more"] if len(notes) > MOST_NOTES else []
    counted = "1 note" if len(notes) == 1 else f"{len(notes)} notes"
    items = "".join(f"<li>{escape(text)}</li>" for text in lines)
    return f"<details><summary>{counted}</summary><ul>{items}</ul></details>"


def named(name: str) -> str:
    """Write a name that is taken for nothing but a name, whatever its direction."""
    return f"<bdi>{escape(clean(name, MAX_NOTEBOOK_NAME_LETTERS))}</bdi>"


def write_curve_svg(path: str, colour: str = colours.EFFECT_COLOUR) -> str:
    """Draw the path of a curve."""
    return (
        f'<svg width="{SPARKLINE_WIDTH:g}" height="{SPARKLINE_HEIGHT:g}" viewBox="0 0 {SPARKLINE_WIDTH:g} {SPARKLINE_HEIGHT:g}" '
        f'aria-hidden="true"><path d="{path}" fill="none" '
        f'stroke="{colour}" stroke-width="1.6"/></svg>'
    )
