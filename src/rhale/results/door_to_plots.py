"""The one door from results to plots: a result is held by itself, and is drawn by itself, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The imports upwards stand inside of the functions, see pyproject.toml: a result needs no
# Matplotlib until it is drawn, and a hook that the top sets would hide the same from types.


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
