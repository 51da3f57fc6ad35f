"""From when on a process works on rows by compiled loops: as soon as it pays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

# Local effects that a process measures by NumPy first, in about a second. numba takes half a second
# to load, and some seconds to compile, once on a machine: nobody waits much longer than they must.
PAYS_FROM = 2**26


@dataclass
class Measured:
    """How many local effects this process has measured. It changes times, never a bit."""

    n_numbers: int = 0


SO_FAR = Measured()


class Loops(NamedTuple):
    """What is compiled: moments of a block of rows, and keys of rows."""

    measure_block: Callable[..., Any]
    stir: Callable[..., Any]


def loops_after(n_numbers: int) -> Loops | None:
    """Give the compiled loops if enough was measured before these numbers, and numba is there."""
    SO_FAR.n_numbers += n_numbers
    return load_loops() if SO_FAR.n_numbers - n_numbers >= PAYS_FROM else None


@cache
def load_loops() -> Loops | None:
    """Load the loops, or compile them; None without numba, or where it can compile or keep nothing."""
    try:
        from rhale.kernels.keys_loop import stir
        from rhale.kernels.moments_loop import measure_block
    except (ImportError, RuntimeError):  # the latter: no folder for what is compiled
        return None
    return Loops(measure_block, stir)
