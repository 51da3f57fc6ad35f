"""JSON as it is defined: what Python's reader lets pass is refused."""

from __future__ import annotations

from typing import Any


def once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of names and values, for `json.loads`; ValueError for a name that comes twice.

    Examples
    --------
    >>> once_each([("a", 1), ("b", 2)])
    {'a': 1, 'b': 2}
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        msg = "an object has a name twice"
        raise ValueError(msg)
    return found
