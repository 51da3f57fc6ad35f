"""From when on a process measures rows by the compiled loop: as soon as it pays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

# Local effects that a process measures by NumPy first, in about a second. numba takes half a second
# to load, and some seconds to compile, once on a machine: nobody waits much longer than they must.
PAYS_FROM = 2**26


@dataclass
class Measured:
    """How many local effects this process has measured. It changes times, never a bit."""

    n_numbers: int = 0


SO_FAR = Measured()


def loop_after(n_numbers: int) -> Callable[..., Any] | None:
    """Give the compiled loop if enough was measured before these numbers, and numba is there."""
    SO_FAR.n_numbers += n_numbers
    return load_loop() if SO_FAR.n_numbers - n_numbers >= PAYS_FROM else None


@cache
def load_loop() -> Callable[..., Any] | None:
    """Load the loop, or compile it; None without numba, or where it can compile or keep nothing."""
    try:
        from rhale.kernels.moments_loop import measure_block
    except (ImportError, RuntimeError):  # the latter: no folder for what is compiled
        return None
    return measure_block
