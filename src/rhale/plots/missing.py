"""Missing values beside the axis of numbers, dates or durations: a narrow panel of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
from matplotlib.axes import Axes

from rhale.plots import canvas, dots, layers, style
from rhale.plots.board import Board

PANEL = "rhale:missing-panel"


class Item(NamedTuple):
    """One point without a value, and how it looks."""

    path: layers.Trace
    look: style.Look


def draw_missing(
    ax: Axes, items: Sequence[Item], level: float, *, spread: bool, uncertainty: bool, size: str
) -> Axes | None:
    """Draw points right of the axes, with the same y axis; None where there are none."""
    if not items:
        return None
    side = find_side(ax)
    if any(line.get_gid() == "rhale:zero" for line in ax.lines):
        layers.draw_zero(side)
    width = style.LARGEST_DOT / (1 + 0.5 * (len(items) > 1))
    for index, item in enumerate(items):
        place = np.array([0.8 * ((index + 0.5) / len(items) - 0.5)])
        path, board = item.path._replace(x=place), Board(side)
        several = len(items) > 1
        if spread and not several:
            dots.draw_spread(board, path, width)
        if uncertainty:
            colour = item.look.colour if several else style.UNCERTAINTY
            dots.draw_ci(board, path, level, width, colour)
        dots.draw_missing_dot(board, path, width, item.look)
        reserve(ax, path, spread=spread and not several)
    side.set_xlim(-0.6, 0.6)
    side.set_xticks([0.0], labels=["missing"], fontsize=size)
    return side


def find_side(ax: Axes) -> Axes:
    """Find the narrow panel beside the axes, or make it."""
    for child in ax.child_axes:
        if child.get_gid() == PANEL:
            return cast(Axes, child)
    inches = ax.get_window_extent().width / ax.figure.dpi
    gap, width = style.MISSING_GAP / inches, style.MISSING_WIDTH / inches
    side = ax.inset_axes((1 + gap, 0, width, 1), sharey=ax, gid=PANEL)
    side.tick_params(left=False, labelleft=False)
    for name in ("left", "right", "top", "bottom"):
        side.spines[name].set(color=style.ZERO_LINE)
    return side


def show_heights(ax: Axes) -> None:
    """Give a panel without a curve the y axis of its missing values."""
    low, high = ax.dataLim.intervaly
    ax.set_ylim(canvas.widen(min(low, 0.0), max(high, 0.0), style.MARGIN, style.MARGIN))
    ax.tick_params(left=True, labelleft=True)


def reserve(ax: Axes, path: layers.Trace, *, spread: bool) -> None:
    """Let the y axis reach as far as a point and its whiskers."""
    values = [path.curve, path.low, path.high]
    values += [path.curve - path.spread, path.curve + path.spread] if spread else []
    known = np.concatenate(values)
    known = known[np.isfinite(known)]
    x = ax.dataLim.intervalx[1] if np.isfinite(ax.dataLim.intervalx[1]) else 0.0
    ax.update_datalim(np.column_stack([np.full(known.size, x), known]))
