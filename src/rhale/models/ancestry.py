"""What a model is, by the names of its classes: nothing is imported to ask."""

from __future__ import annotations

from typing import Any


def classes_of(model: Any) -> list[str]:
    """Names of a model's class and its ancestors, with their libraries.

    Examples
    --------
    >>> classes_of(True)
    ['builtins.bool', 'builtins.int', 'builtins.object']
    """
    return [f"{c.__module__.partition('.')[0]}.{c.__name__}" for c in type(model).__mro__]
