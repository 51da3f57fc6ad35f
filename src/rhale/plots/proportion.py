"""One effect among all of an explanation: a sentence on its size, and an axis that does not magnify it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rhale.plots.board import OrientedAxes
from rhale.plots.lettering import number_with_error
from rhale.results.listing import write_share
from rhale.results.result import Result

LEAST_SPAN = 0.4  # of an axis of values, by the largest importance: a tenth of what that takes
IMPORTANCE_ROUNDING = 1e-9  # of the largest importance: rounding
SMALL_SHARE = 0.001  # smaller ones are not told apart


def largest_importance(results: Sequence[Result]) -> float:
    """Importance of the largest effect; 0 where none is known."""
    known = [result.importance for result in results if np.isfinite(result.importance)]
    return max(known, default=0.0)


def is_negligible_effect(result: Result, among: Sequence[Result]) -> bool:
    """Tell whether an effect is nothing but rounding beside the largest one."""
    return bool(result.importance < IMPORTANCE_ROUNDING * largest_importance(among))


def describe_relative_importance(result: Result, among: Sequence[Result]) -> str:
    """Say how important a feature is, beside the most important one; nothing where it is alone.

    Parameters
    ----------
    result : Result
        What is drawn.
    among : sequence of Result
        What else is known of the same output, with the result itself.
    """
    largest = largest_importance(among)
    if len(among) < 2 or not largest > 0 or not np.isfinite(result.importance):
        return ""
    share = result.importance / largest
    if is_negligible_effect(result, among):
        return "importance 0: no effect but rounding"
    size = f"importance {number_with_error(result.importance, result.importance_error)}"
    if share == 1:
        return f"{size}, the largest of {len(among)} features"
    percent = f"{write_share(share)}" if share >= 0.01 else f"{100 * share:.1f} %"
    percent = percent if share >= SMALL_SHARE else f"less than {100 * SMALL_SHARE:g} %"
    return f"{size}, {percent} of the largest"


def keep_in_proportion(board: OrientedAxes, among: Sequence[Result], *, per: float = 1.0) -> None:
    """Let the axis of values reach over a tenth of what the largest effect takes, or more.

    Parameters
    ----------
    board : OrientedAxes
        Which axis.
    among : sequence of Result
        All effects.
    per : float
        Length over which it takes that, where the axis shows slopes.
    """
    low, high = board.ax.get_xlim() if board.turned else board.ax.get_ylim()
    more = (LEAST_SPAN * largest_importance(among) / per - (high - low)) / 2
    if more > 0:
        set_limits = board.ax.set_xlim if board.turned else board.ax.set_ylim
        set_limits(low - more, high + more, auto=True)
