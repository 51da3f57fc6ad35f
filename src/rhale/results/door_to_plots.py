"""The one door from results to plots: a result is held by itself, and is drawn by itself, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The imports upwards stand inside of the functions, see pyproject.toml: a result needs no
# Matplotlib until it is drawn, and a hook that the top sets would hide the same from types.


def draw_result(result: Any, options: Mapping[str, Any]) -> Any:
    """Draw the result of one feature."""
    from rhale.plots import choice

    return choice.draw_result(result, **options)


def draw_refit(effect: Any, options: Mapping[str, Any]) -> Any:
    """Draw one feature in all trainings."""
    from rhale.plots import choice

    return choice.draw_refit(effect, **options)


def draw_surface(pair: Any, kind: str, options: Mapping[str, Any]) -> Any:
    """Draw a pair that has a surface."""
    from rhale.plots import choice

    return choice.draw_pair(pair, kind, **options)
