"""From when on a process works by compiled loops: as soon as it pays."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from rhale.system.compiled import CompiledOnce, can_compile

# Local effects that a process measures by NumPy first, in about a second: numba takes some seconds
# to compile, once for a user. Where that was done before, as many as it takes to load numba; where
# numba is loaded, as many as it takes to load what was compiled.
PAYS_FROM, KEPT, LOADED = 2**26, 1 / 2, 1 / 32


@dataclass
class Measured:
    """How many local effects this process has measured. It changes times, never a bit."""

    n_numbers: int = 0


SO_FAR = Measured()


class Loops(NamedTuple):
    """What is compiled: moments of a block of rows, keys of rows, and the search for bins."""

    measure_block: Callable[..., Any]
    stir: Callable[..., Any]
    search: Callable[..., Any]


def loops_after(n_numbers: int) -> Loops | None:
    """Give the compiled loops if enough was measured before these numbers, and numba is there."""
    before = SO_FAR.n_numbers
    SO_FAR.n_numbers += n_numbers
    if before < PAYS_FROM * (LOADED if "numba" in sys.modules else KEPT):
        return None
    return load_loops() if before >= PAYS_FROM or are_kept() else None


@cache
def are_kept() -> bool:
    """Whether the loops were compiled before."""
    found = find_loops()
    return found is not None and all(one.is_kept for one in found)


@cache
def load_loops() -> Loops | None:
    """Load the loops, or compile them; None without numba, or where it can compile or keep nothing."""
    found = find_loops()
    return None if found is None else Loops(*(one.load() for one in found))


@cache
def find_loops() -> tuple[CompiledOnce, ...] | None:
    """What there is to load, as in `Loops`."""
    if not can_compile():
        return None
    try:
        from rhale.kernels.keys_loop import stir
        from rhale.kernels.moments_loop import measure_block
        from rhale.kernels.search_loop import search
    except (ImportError, RuntimeError):  # the latter: no folder for what is compiled
        return None
    return measure_block, stir, search
