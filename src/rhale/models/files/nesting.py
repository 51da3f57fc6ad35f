"""Brackets in brackets: counted before a reader that calls itself for each of them."""

from __future__ import annotations

import numpy as np

DEEPEST = 100  # brackets in brackets; a model has seven
OTHERS = bytes(set(range(256)) - set(b"[]{}"))


def check_depth(content: bytes, deepest: int = DEEPEST) -> None:
    """Refuse JSON that is nested too deep, or raise ValueError: native readers crash on it.

    Parameters
    ----------
    content : bytes
        The whole text.
    deepest : int
        Brackets in brackets that are allowed.

    Examples
    --------
    >>> check_depth(b'{"a": [1, 2]}')
    """
    brackets = np.frombuffer(content.translate(None, OTHERS), dtype=np.uint8)
    steps = np.where((brackets == ord("[")) | (brackets == ord("{")), 1, -1)
    if np.cumsum(steps).max(initial=0) > deepest:
        msg = f"its brackets are nested more than {deepest} deep"
        raise ValueError(msg)
