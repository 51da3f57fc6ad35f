"""Dictionaries that nobody can change: what a finished explanation says stays said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from rhale.errors import ReadOnlyError


class ReadOnlyDict(dict[str, Any]):
    """A dictionary that can be read, copied, compared, pickled and written as JSON.

    Examples
    --------
    >>> told = ReadOnlyDict({"rows": 10})
    >>> told == {"rows": 10}, {**told, "seed": 0}
    (True, {'rows': 10, 'seed': 0})
    """

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        msg = "this belongs to a finished explanation and cannot be changed; make a copy: dict(...)"
        raise ReadOnlyError(msg)

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type[ReadOnlyDict], tuple[dict[str, Any]]]:
        return ReadOnlyDict, (dict(self),)


def as_read_only(content: Mapping[str, Any]) -> ReadOnlyDict:
    """Make a mapping, and the mappings in it, read-only, without touching the caller's."""
    if isinstance(content, ReadOnlyDict):
        return content
    return ReadOnlyDict(
        {k: as_read_only(v) if isinstance(v, Mapping) else v for k, v in content.items()}
    )
