"""Interactions, refits and comparisons as sections of the page of effects."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rhale.comparison.report import make_compare_page
from rhale.errors import BadSettingError
from rhale.interaction.report import make_pair_page
from rhale.report.page import EffectPage
from rhale.stability.report import make_refit_page

if TYPE_CHECKING:
    from rhale.comparison.result import Comparison
    from rhale.interaction.result import Interactions
    from rhale.stability.result import Refits

MOST_SECTION_ROWS, MOST_SECTION_PAIRS = 10, 3  # of pairs: a section is not a page of its own


def add_sections(
    page: EffectPage,
    interactions: Interactions | None = None,
    refits: Refits | None = None,
    comparison: Comparison | None = None,
) -> EffectPage:
    """Show the strongest pairs, refits and a comparison below the features, where they are given.

    All have to be about outputs of the page; a `BadSettingError` says which one is not.
    """
    made: dict[str, Any] = {}
    if interactions is not None:
        made["interactions"] = make_pair_page(
            interactions, most_rows=MOST_SECTION_ROWS, most_pairs=MOST_SECTION_PAIRS
        )
    if refits is not None:
        made["refits"] = make_refit_page(refits)
    if comparison is not None:
        made["comparison"] = make_compare_page(comparison)
    for name, section in made.items():
        unknown = [output.key for output in section.outputs if output.key not in page.keys]
        if unknown:
            msg = (
                f"{name}= are about the output {unknown[0]!r}, and this explanation is about "
                f"{', '.join(map(repr, page.keys))}; give those of the same model and outputs"
            )
            raise BadSettingError(msg)
        outputs = tuple(replace(one, place=page.keys.index(one.key)) for one in section.outputs)
        page = replace(page, **{name: replace(section, outputs=outputs)})
    return page
