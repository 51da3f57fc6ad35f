"""Marks at single places: dots, strokes for the spread, whiskers for the uncertainty."""

from __future__ import annotations

import numpy as np
from matplotlib.artist import Artist

from rhale.plots import style
from rhale.plots.board import OrientedAxes
from rhale.plots.labels import interval_name
from rhale.results.result import Trace


def draw_zero_line(board: OrientedAxes) -> None:
    """Draw the line of no effect."""
    zero = board.zero()
    zero.set(color=style.ZERO_LINE, linewidth=style.THIN_LINE, zorder=0.5, gid="rhale:zero")


def draw_missing_dot(board: OrientedAxes, path: Trace, width: float, look: style.Look) -> Artist:
    """Draw the mean without a value: a hollow dot, as it is no level."""
    x, y = board.points(path.x, path.curve).T
    dot = board.ax.scatter(x, y, marker=look.marker)
    dot.set(sizes=[(0.8 * width) ** 2], facecolor=board.ax.get_facecolor(), edgecolor=look.colour)
    dot.set(linewidth=1.2, zorder=4, gid="rhale:missing", label="missing")
    return dot


def draw_spread(board: OrientedAxes, path: Trace, width: float) -> list[Artist]:
    """Draw wide pale strokes that say how rows differ; nothing where it is not known."""
    known = np.isfinite(path.spread) & np.isfinite(path.curve)
    if not known.any():
        return []
    curve, spread = path.curve[known], path.spread[known]
    strokes = board.strokes(path.x[known], curve - spread, curve + spread)
    strokes.set(color=style.SPREAD, alpha=style.STROKE_ALPHA, linewidth=width, zorder=1)
    strokes.set(capstyle="butt", gid="rhale:spread", label="± spread between rows")
    return [strokes]


def draw_ci(
    board: OrientedAxes, path: Trace, level: float, width: float, colour: str | None = None
) -> list[Artist]:
    """Draw thin whiskers with caps of this width that say how well the mean is known."""
    known = np.isfinite(path.low) & np.isfinite(path.high)
    if not known.any():
        return []
    places, low, high = path.x[known], path.low[known], path.high[known]
    whiskers, colour = board.strokes(places, low, high), colour or style.UNCERTAINTY
    whiskers.set(color=colour, linewidth=style.WHISKER_LINE, zorder=3.9)
    whiskers.set(gid="rhale:ci", label=interval_name(level))
    for end in (low, high):
        at = board.points(places, end)
        (caps,) = board.ax.plot(*at.T, "|" if board.turned else "_", color=colour)
        caps.set(markersize=width, markeredgewidth=style.WHISKER_LINE, zorder=3.9)
        caps.set_gid("rhale:caps")
    return [whiskers]
