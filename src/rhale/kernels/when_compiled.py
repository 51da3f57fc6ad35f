"""Compiled loops, where numba is there and loading it pays."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from rhale.system.compiled import can_compile

# Local effects that a process measures by NumPy first. It loses on them about as much time as
# loading numba takes: .4 s, four times as long as explaining a small table. Where numba is loaded,
# as once trees were walked, loading the loops takes a sixteenth of it.
PAYS_FROM, LOADED = 2**25, 1 / 16


@dataclass
class Measured:
    """How many local effects this process has measured. It changes times, never a bit."""

    n_numbers: int = 0


MEASURED_SO_FAR = Measured()


class Loops(NamedTuple):
    """What is compiled: moments of a block of rows, keys of rows, and the search for bins."""

    measure_block: Callable[..., Any]
    stir: Callable[..., Any]
    search: Callable[..., Any]


def choose_compiled_loops(n_numbers: int) -> Loops | None:
    """Give the compiled loops if so much was measured before these numbers that they pay."""
    before = MEASURED_SO_FAR.n_numbers
    MEASURED_SO_FAR.n_numbers += n_numbers
    needed = PAYS_FROM * LOADED if "numba" in sys.modules else PAYS_FROM
    return None if before < needed else load_loops()


@cache
def load_loops() -> Loops | None:
    """Load the loops, or compile them; None without numba."""
    if not can_compile():
        return None
    from rhale.kernels.keys_loop import mix_hash
    from rhale.kernels.moments_loop import measure_block
    from rhale.kernels.search_loop import search

    return Loops(measure_block, mix_hash, search)
