"""Interactions, refits and comparisons as sections of the page of effects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rhale.comparison.report import make_compare_page
from rhale.errors import BadSettingError
from rhale.interaction.report import PairPageLimits, make_pair_page
from rhale.report.page import EffectPage
from rhale.stability.report import make_refit_page

if TYPE_CHECKING:
    from rhale.comparison.result import Comparison
    from rhale.interaction.result import Interactions
    from rhale.stability.result import Refits

SECTION_PAIR_LIMITS = PairPageLimits(
    rows=10, pairs=3
)  # of pairs: a section is not a page of its own


def add_interactions(page: EffectPage, table: Interactions) -> EffectPage:
    """Show the strongest pairs below the features.

    Parameters
    ----------
    page : EffectPage
        The page of effects.
    table : Interactions
        Of the same outputs.
    """
    shown = make_pair_page(table, limits=SECTION_PAIR_LIMITS)
    places = find_output_positions(page, [output.key for output in shown.outputs], "interactions")
    outputs = tuple(replace(o, place=place) for o, place in zip(shown.outputs, places, strict=True))
    return replace(page, interactions=replace(shown, outputs=outputs))


def add_refits(page: EffectPage, table: Refits) -> EffectPage:
    """Show what would come back below the features; arguments as in `add_interactions`."""
    shown = make_refit_page(table)
    places = find_output_positions(page, [output.key for output in shown.outputs], "refits")
    outputs = tuple(replace(o, place=place) for o, place in zip(shown.outputs, places, strict=True))
    return replace(page, refits=replace(shown, outputs=outputs))


def add_comparison(page: EffectPage, table: Comparison) -> EffectPage:
    """Show what differs from other explanations; arguments as in `add_interactions`."""
    shown = make_compare_page(table)
    places = find_output_positions(page, [output.key for output in shown.outputs], "comparison")
    outputs = tuple(replace(o, place=place) for o, place in zip(shown.outputs, places, strict=True))
    return replace(page, comparison=replace(shown, outputs=outputs))


def find_output_positions(page: EffectPage, keys: Sequence[str], what: str) -> list[int]:
    """Where outputs stand on the page; an error where it does not have them."""
    unknown = [key for key in keys if key not in page.keys]
    if unknown:
        msg = (
            f"{what}= are about the output {unknown[0]!r}, and this explanation is about "
            f"{', '.join(map(repr, page.keys))}; give those of the same model and outputs"
        )
        raise BadSettingError(msg)
    return [page.keys.index(key) for key in keys]
