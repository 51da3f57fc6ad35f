"""Lazy imports: results draw themselves and show themselves in notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The imports upwards are inside of the functions: a result needs no Matplotlib until it is drawn.


def draw_result_lazily(result: Any, options: Mapping[str, Any]) -> Any:
    """Draw the result of one feature."""
    from rhale.plots import choice

    return choice.plot_result_by_options(result, **options)


def draw_refit_lazily(effect: Any, options: Mapping[str, Any]) -> Any:
    """Draw one feature in all trainings."""
    from rhale.plots import choice

    return choice.plot_refit_by_options(effect, **options)


def draw_surface_lazily(pair: Any, kind: str, options: Mapping[str, Any]) -> Any:
    """Draw a pair that has a surface."""
    from rhale.plots import choice

    return choice.draw_pair(pair, kind, **options)


# --- Pages for notebooks: the last line of a cell may be a single result


def show_result(result: Any) -> str:
    """The result of one feature as a small page."""
    from rhale.report import notebook

    return notebook.effect_as_html(result)


def show_pair(pair: Any) -> str:
    """A pair as a small page."""
    from rhale.interaction import report

    return report.pair_as_html(pair)


def show_refit(effect: Any) -> str:
    """One feature in all trainings as a small page."""
    from rhale.stability import report

    return report.refit_as_html(effect)
