"""Refits as small pieces of HTML for notebooks, one feature or all: no script, no style sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from rhale.report.notebook import (
    LONGEST_NOTE,
    MAX_EFFECT_ROWS,
    NUMBER_CELL_STYLE,
    TEXT_CELL_STYLE,
    card,
    folded_notes,
    named,
    table,
    write_curve_svg,
    write_paragraph,
)
from rhale.report.refit_numbers import shape_of_refits, trace_refits
from rhale.report.refit_page import (
    RefitRow,
    effect_row,
    end_of_bars,
    replicated_in_words,
    size_with_interval,
)
from rhale.report.refit_sentences import tell_refits
from rhale.report.sparkline import write_sparkline_path
from rhale.report.wording import clean
from rhale.results import inks
from rhale.results.refit_effect import RefitEffect
from rhale.results.refit_listing import refit_head
from rhale.results.result import is_constant

REFIT_TEXT_COLUMNS = (
    "feature",
    "output",
    "mean curve",
    "",
    "comes back",
)  # columns that are no numbers
NOTEBOOK_BAR_WIDTH, IMPORTANCE_BAR_HEIGHT = 96, 12  # of a bar


def refits_as_html(
    ranked: Sequence[RefitEffect], provenance: Mapping[str, Any], remarks: Sequence[str]
) -> str:
    """Write what would come back as a table.

    Parameters
    ----------
    ranked : sequence of RefitEffect
        Largest replicated importance first.
    provenance : mapping
        What was trained, and how.
    remarks : sequence of str
        Notes about the whole, and trainings that failed.
    """
    several, shown = len({effect.output for effect in ranked}) > 1, ranked[:MAX_EFFECT_ROWS]
    scale = max((effect.importance for effect in shown), default=0.0)
    rows = [effect_row(effect, effect.importance_ci(), scale) for effect in shown]
    largest = end_of_bars(rows)
    heads = ["feature", *(["output"] if several else []), "mean curve", ""]
    heads += ["importance [95 %]", "replicated", "p", "comes back"]
    body = "".join(
        write_refit_row(row, effect, largest, several=several)
        for row, effect in zip(rows, shown, strict=True)
    )
    more = len(ranked) - len(shown)
    after = [f"and {more} more: rx.replication() has all"] if more > 0 else []
    after += [clean(remark, LONGEST_NOTE) for remark in remarks]
    return table(refit_head(ranked, provenance), heads, REFIT_TEXT_COLUMNS, body, after)


def refit_as_html(effect: RefitEffect) -> str:
    """Write one feature in all trainings: curves, sentences, notes."""
    path, captions = trace_refits(effect), effect.captions
    name, output = captions.axis(effect.name), captions.value_axis(effect.output)
    on = output if effect.quantity == "prediction" else f"effect on {output}"
    told = tell_refits(effect, path, effect.importance_ci(), [])
    parts = [write_paragraph(told), folded_notes(effect.notes)]
    if not is_constant(effect.effects[0]):
        parts.insert(0, curves_of(effect, clean(f"{name}: {told}", LONGEST_NOTE)))
    return card(name, f"{on}, between trainings", parts)


def curves_of(effect: RefitEffect, told: str) -> str:
    """Draw the curves of all trainings."""
    from rhale.plots.choice import plot_refit_by_options  # tables need no Matplotlib
    from rhale.report import inline_svg

    return inline_svg.draw_inline_svg(plot_refit_by_options, told, effect)


def write_refit_row(row: RefitRow, effect: RefitEffect, largest: float, *, several: bool) -> str:
    """Write one line of the table."""
    shape = shape_of_refits(effect, trace_refits(effect))
    captions = effect.captions
    output = [named(captions.output(effect.output))] if several else []
    words = [named(captions.feature(effect.name)), *output]
    words += [write_curve_svg(write_sparkline_path(shape)), write_importance_bar(row, largest)]
    numbers = [size_with_interval(row, largest), replicated_in_words(row, largest), row.p]
    cells = [f"<td{TEXT_CELL_STYLE}>{word}</td>" for word in words]
    cells += [f"<td{NUMBER_CELL_STYLE}>{escape(text)}</td>" for text in numbers]
    return f"<tr>{''.join(cells)}<td{TEXT_CELL_STYLE}>{row.comes_back}</td></tr>"


def write_importance_bar(row: RefitRow, largest: float) -> str:
    """Draw the importance, and its interval between trainings."""
    size, low, high = (
        NOTEBOOK_BAR_WIDTH * (v or 0.0) / largest if largest > 0 else 0.0
        for v in (row.size, row.low, row.high)
    )
    return (
        f'<svg width="{NOTEBOOK_BAR_WIDTH}" height="{IMPORTANCE_BAR_HEIGHT}" aria-hidden="true">'
        f'<rect y="3" width="{size:.3g}" height="6" fill="{inks.EFFECT_COLOUR}" opacity="0.35"/>'
        f'<path d="M{low:.3g} 6H{high:.3g}" stroke="{inks.BETWEEN_COLOUR}" stroke-width="2"/></svg>'
    )
