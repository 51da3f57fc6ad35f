"""From when on a process works on rows by compiled loops: as soon as it pays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

# Local effects that a process measures by NumPy first, in about a second. numba takes half a second
# to load, and some seconds to compile, once on a machine: nobody waits much longer than they must.
PAYS_FROM = 2**26
STIRRED = 4  # numbers become part of a key in the time that one local effect takes


@dataclass
class Measured:
    """How many local effects this process has measured. It changes times, never a bit."""

    n_numbers: int = 0


SO_FAR = Measured()


def pays_after(n_numbers: int) -> bool:
    """Tell whether enough was measured before these numbers, and count them."""
    SO_FAR.n_numbers += n_numbers
    return SO_FAR.n_numbers - n_numbers >= PAYS_FROM


def loop_after(n_numbers: int) -> Callable[..., Any] | None:
    """Give the compiled loop for moments of so many numbers, if it pays and numba is there."""
    return load_loop() if pays_after(n_numbers) else None


def stir_after(n_numbers: int) -> Callable[..., Any] | None:
    """Give the compiled loop for keys of so many numbers, if it pays and numba is there."""
    return load_stir() if pays_after(n_numbers // STIRRED) else None


@cache
def load_loop() -> Callable[..., Any] | None:
    """Load the loop, or compile it; None without numba, or where it can compile or keep nothing."""
    try:
        from rhale.kernels.moments_loop import measure_block
    except (ImportError, RuntimeError):  # the latter: no folder for what is compiled
        return None
    return measure_block


@cache
def load_stir() -> Callable[..., Any] | None:
    """The same for keys."""
    try:
        from rhale.kernels.keys_loop import stir
    except (ImportError, RuntimeError):
        return None
    return stir
