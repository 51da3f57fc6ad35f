"""Which panels a picture of one feature has: its curve, what it is made of, or both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from matplotlib.axes import Axes

from rhale.errors import BadSettingError
from rhale.plots import canvas, style
from rhale.plots.axes_array import TwoPanels
from rhale.plots.view import Sort, require_choice
from rhale.results.result import Result
from rhale.results.row_quantiles import has_free_order

Kind = Literal["both", "curve", "bins"]
PANEL_KINDS = ("both", "curve", "bins")


def choose_kind(
    result: Result, kind: Kind | None, sort: Sort | None, ax: Axes | Sequence[Axes] | None
) -> tuple[Kind, Sort | None]:
    """Choose panels, and the order of levels that goes with them.

    Notes
    -----
    Steps lead from a level to the next in the order in which they were measured, so that levels
    which are sorted otherwise have none to show. Between two names there is one step, which their
    curve tells.
    """
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
