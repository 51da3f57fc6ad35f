"""One effect among all of an explanation: a sentence on its size, and the panels of its picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes

from rhale.effects.result import Result
from rhale.effects.support import has_free_order
from rhale.errors import BadSettingError
from rhale.output.number_format import write_share
from rhale.plots import canvas, style
from rhale.plots.canvas import TwoPanels
from rhale.plots.categorical_axis import OrientedAxes
from rhale.plots.labels import number_with_error
from rhale.plots.view import Sort, require_choice

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

    `among` holds all results of the same output, with this one.
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


def keep_in_proportion(
    oriented: OrientedAxes, among: Sequence[Result], *, per: float = 1.0
) -> None:
    """Let the axis of values reach over a tenth of what the largest effect takes, or more.

    Where the axis shows slopes, `per` is the length over which the effect takes that.
    """
    low, high = oriented.ax.get_xlim() if oriented.horizontal else oriented.ax.get_ylim()
    more = (LEAST_SPAN * largest_importance(among) / per - (high - low)) / 2
    if more > 0:
        set_limits = oriented.ax.set_xlim if oriented.horizontal else oriented.ax.set_ylim
        set_limits(low - more, high + more, auto=True)


# --- Which panels a picture of one feature has: its curve, what it is made of, or both


Kind = Literal["both", "curve", "bins"]
PANEL_KINDS = ("both", "curve", "bins")


def choose_kind(
    result: Result, kind: Kind | None, sort: Sort | None, ax: Axes | Sequence[Axes] | None
) -> tuple[Kind, Sort | None]:
    """Choose panels, and the order of levels that goes with them."""
    # Steps lead from a level to the next in the order in which they were measured, so that
    # levels which are sorted otherwise have none to show. Between two names there is one
    # step, which their curve tells.
    if kind is not None:
        require_choice("kind", kind, PANEL_KINDS)
    has_two = ax is not None and not isinstance(ax, Axes)
    if kind is None and not has_two:
        is_sorted = (sort or "effect") == "effect" if has_free_order(result) else sort == "effect"
        is_one_step = result.column_kind == "categories" and len(result.labels) == 2
        return ("curve" if (is_sorted and result.labels) or is_one_step else "both"), sort
    if kind in ("curve", "bins") and has_two:
        msg = f"kind={kind!r} draws one panel, and ax has several axes; give one of them"
        raise BadSettingError(msg)
    if kind == "curve":
        return kind, sort
    if result.labels and sort == "effect":
        msg = (
            f"the steps between the levels of {result.name!r} were measured in another order; "
            "use sort='order' to show them, or kind='curve' with one Axes"
        )
        raise BadSettingError(msg)
    return kind or "both", "order" if result.labels else sort


def open_effect_panels(
    ax: Axes | Sequence[Axes] | None, kind: Kind
) -> tuple[Axes | None, Axes | None]:
    """Find or make the panels of numbers: top and bottom, of which one may be none."""
    if kind == "both":
        return canvas.open_two_panels(ax)
    if ax is not None and not isinstance(ax, Axes):
        msg = f"kind={kind!r} draws one panel, and ax is {ax!r}; give one Axes"
        raise BadSettingError(msg)
    one = canvas.new_axes(style.PROFILE_SIZE) if ax is None else ax
    return (one, None) if kind == "curve" else (None, one)


def give_back(top: Axes | None, bottom: Axes | None) -> Any:
    """Give back two panels, or the one that there is."""
    if top is not None and bottom is not None:
        return TwoPanels(top, bottom)
    return bottom if top is None else top
