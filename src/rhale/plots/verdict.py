"""What pictures of refits say in words: how large an effect is in other trainings, and whether it comes back."""

from __future__ import annotations

import numpy as np

from rhale.plots.lettering import format_rounded_number
from rhale.results.refit_effect import REPLICATION_LEVEL, RefitEffect

LEAST_P = 0.001  # smaller ones are not told apart
UNKNOWN_RETURN = "whether it comes back is not known"
SAME_ROWS_VERDICT = "all trainings had the same rows: nothing is known of others"


def interval_between(level: float, length: int, *, cut: bool = False) -> str:
    """Name the interval that covers other trainings; say so where the axis ends before it.

    Examples
    --------
    >>> interval_between(0.95, 40), interval_between(0.95, 28, cut=True)
    ('95 % interval between trainings', '95 % between trainings, cut')
    """
    percent, end = f"{100 * level:.4g} %", ", cut" if cut else ""
    words = f"{percent} interval between trainings{end}"
    return words if len(words) <= length else f"{percent} between trainings{end}"


def tell_verdict(effect: RefitEffect, level: float) -> tuple[str, str]:
    """Say how large an effect is, and whether other trainings show it again; at length and shorter."""
    told = SAME_ROWS_VERDICT if effect.overlap.is_same else tell_return(effect.p_value)
    return f"{write_refit_importance(effect, level)}, {told}", told


def write_refit_importance(effect: RefitEffect, level: float) -> str:
    """Write the importance with its interval between trainings, where that is known."""
    low, high = effect.importance_ci(level)
    ends = (
        f" [{format_rounded_number(low)}, {format_rounded_number(high)}]"
        if np.isfinite(high)
        else ""
    )
    return f"importance {format_rounded_number(effect.importance)}{ends}"


def tell_return(p_value: float) -> str:
    """Say whether an effect comes back.

    Examples
    --------
    >>> tell_return(1e-9), tell_return(0.2)
    ('comes back (p < 0.001)', 'does not come back (p = 0.2)')
    """
    if np.isnan(p_value):
        return UNKNOWN_RETURN
    words = "comes back" if p_value <= REPLICATION_LEVEL else "does not come back"
    return f"{words} ({tell_p(p_value)})"


def tell_p(p_value: float) -> str:
    """Write a p-value with digits enough to see on which side of the level it is.

    Examples
    --------
    >>> tell_p(0.0123), tell_p(0.0504), tell_p(0.0), tell_p(float("nan"))
    ('p = 0.012', 'p = 0.0504', 'p < 0.001', 'p not known')
    """
    if np.isnan(p_value):
        return "p not known"
    if p_value < LEAST_P:
        return f"p < {LEAST_P}"
    written = (f"{p_value:.{digits}g}" for digits in range(2, 18))
    return f"p = {next(w for w in written if (float(w) <= REPLICATION_LEVEL) == (p_value <= REPLICATION_LEVEL))}"
