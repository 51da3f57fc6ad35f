"""`--bins` as text: a number, or a name with its numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rhale.errors import BadSettingError
from rhale.kernels.adaptive import Adaptive
from rhale.kernels.fixed import Edges, Fixed, Quantile
from rhale.kernels.optimal import Optimal

KINDS: dict[str, Callable[[list[float]], Any]] = {
    "adaptive": lambda _: Adaptive(),
    "optimal": lambda n: Optimal(max_bins=int(n[0])) if n else Optimal(),
    "fixed": lambda n: Fixed(int(n[0]) if n else 20),
    "quantile": lambda n: Quantile(int(n[0]) if n else 20),
    "edges": Edges,
}
KNOWN = "20, adaptive, optimal, optimal:50, fixed:20, quantile:20 or edges:0,10,50"


def read_bins(text: str | None) -> Any:
    """Turn `--bins` into what `explain` takes.

    Examples
    --------
    >>> read_bins("quantile:10")
    Quantile(n_bins=10, closed='left')
    """
    if text is None:
        return None
    name, _, numbers = text.strip().lower().partition(":")
    try:
        found = [float(n) for n in numbers.split(",")] if numbers else []
        return int(name) if name.isdigit() else KINDS[name](found)
    except (KeyError, ValueError, TypeError) as error:
        if isinstance(error, BadSettingError):
            raise
        msg = f"--bins {text} is not understood; use {KNOWN}"
        raise BadSettingError(msg) from error
