"""Find features and outputs by name or position, and suggest what may have been meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from operator import index
from typing import Any

import numpy as np

from rhale.errors import BadSettingError, UnknownFeatureError, UnknownOutputError


def find_feature(asked: Any, known: Sequence[str]) -> int:
    """Position of a feature, given by name or position.

    Examples
    --------
    >>> find_feature("age", ["sex", "age"]), find_feature(-1, ["sex", "age"])
    (1, 1)
    """
    place = find(asked, known)
    if place is None:
        msg = f"there is no feature {asked!r}; {near_names(str(asked), known)}"
        raise UnknownFeatureError(msg)
    return place


def find_output(asked: Any, known: Sequence[str]) -> int:
    """Position of an output, given by label or position."""
    place = find(asked, known)
    if place is None:
        msg = f"there is no output {asked!r}; {near_names(str(asked), known)}"
        raise UnknownOutputError(msg)
    return place


def find_level(feature: str, asked: Any, known: Sequence[str]) -> int:
    """Position of a level of a feature, given by its label."""
    if str(asked) in known:
        return list(known).index(str(asked))
    msg = f"feature {feature!r} has no level {asked!r}; {near_names(str(asked), known)}"
    raise BadSettingError(msg)


def list_asked(wanted: Any, argument: str) -> list[Any]:
    """List what one name, one position or any collection of them asks for.

    Examples
    --------
    >>> list_asked("age", "features"), list_asked(["age", 2], "features")
    (['age'], ['age', 2])
    """
    single = isinstance(wanted, str) or not isinstance(wanted, Iterable)
    asked = [wanted] if single else list(wanted)
    if not asked:
        msg = f"{argument}=[] asks for nothing; name at least one, or leave it out for all"
        raise BadSettingError(msg)
    return asked


def find(asked: Any, known: Sequence[str]) -> int | None:
    """Position of a name, or else of a position; None if it is neither."""
    if str(asked) in known:
        return list(known).index(str(asked))
    if isinstance(asked, bool | np.bool_):
        return None
    try:
        position = index(asked)
    except TypeError:
        return None
    return position % len(known) if -len(known) <= position < len(known) else None


def near_names(name: str, known: Sequence[str], limit: int = 12) -> str:
    """Say which names are meant or possible, as the end of a message.

    Examples
    --------
    >>> near_names("agee", ["age", "income"])
    "did you mean 'age'? Known: 'age', 'income'"
    """
    shown = ", ".join(repr(k) for k in known[:limit])
    more = f" and {len(known) - limit} more" if len(known) > limit else ""
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    ask = f"did you mean {' or '.join(repr(c) for c in close)}? " if close else ""
    return f"{ask}Known: {shown}{more}"
