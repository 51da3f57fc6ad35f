"""What axes and intervals are called."""

from __future__ import annotations

from collections.abc import Sequence

from rhale.kernels.curve import Center
from rhale.kernels.times import UNITS
from rhale.plots.lettering import joined, shown
from rhale.results.result import Result, axis_kind

CENTRED = {"mean": "centred", "start": "zero at the start", "uniform": "centred over x"}


def value_label(
    results: Sequence[Result], center: Center | None, length: int, *, each: bool = False
) -> str:
    """Say what the y axis of a curve shows: the outputs by name, or each of them."""
    profiles = all(result.quantity == "prediction" for result in results)
    kind = "prediction of" if center is None or profiles else "effect on"
    names = joined([result.output for result in results], max(8, length - len(kind)))
    zero = "" if center is None else f"\n({CENTRED[center]})"
    return f"{kind} {'each output' if each else names}{zero}"


def slope_label(result: Result, length: int) -> str:
    """Write the derivative."""
    unit = UNITS[axis_kind(result)]
    words = (result.output, result.name)
    output, name = (shown(word, max(6, length // 2 - 4)) for word in words)
    return f"d {output} / d {name}" + (f", per {unit}" if unit else "")


def interval_name(level: float) -> str:
    """Say what the ribbon is.

    Examples
    --------
    >>> interval_name(0.95)
    '95 % interval of the mean'
    """
    return f"{100 * level:.4g} % interval of the mean"
