"""Levels as dots: mean, spread between rows, uncertainty of the mean, where rows are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.lines import Line2D

from rhale.kernels import FloatArray
from rhale.kernels.curve import Center
from rhale.plots import layers, style
from rhale.plots.board import Board
from rhale.plots.slots import Slots
from rhale.results.result import Result, Trace


class Spots(NamedTuple):
    """What is drawn of one result: its levels, missing values as one more, shares of the data."""

    levels: Trace
    missing: Trace | None
    share: FloatArray

    @property
    def together(self) -> Trace:
        """Levels and missing values."""
        if self.missing is None:
            return self.levels
        return Trace(*map(np.append, self.levels, self.missing))


def read_spots(result: Result, center: Center | None, level: float) -> Spots:
    """Read what is drawn of one result."""
    return make_spots(result, result.trace(center, level), result.missing_trace(center, level))


def make_spots(result: Result, path: Trace, missing: Trace | None) -> Spots:
    """Find the shares of the levels that have a mean: all, but of a marginal plot."""
    return Spots(path, missing, result.level_rows().share[np.searchsorted(result.axis, path.x)])


def place_spots(slots: Slots, result: Result, spots: Spots, shift: float = 0.0) -> Spots:
    """Move a result's levels to their places on the axis."""
    levels = spots.levels._replace(x=slots.locate(result, spots.levels.x) + shift)
    missing = spots.missing
    if missing is not None:
        missing = missing._replace(x=np.array([slots.missing + shift]))
    return Spots(levels, missing, spots.share)


def draw_one(
    board: Board,
    slots: Slots,
    result: Result,
    spots: Spots,
    *,
    label: str,
    level: float,
    spread: bool = True,
    uncertainty: bool = True,
) -> list[Artist]:
    """Draw one result: dots, wide pale strokes for the spread, whiskers for the uncertainty."""
    spots, width = place_spots(slots, result, spots), dot_width(board, slots)
    explained = draw_dots(board, spots, label, style.look(0), width, joined=slots.is_number)
    if spread:
        explained += draw_spread(board, spots.together, width)
    if uncertainty:
        explained += draw_ci(board, spots.together, level, style.CAP_WIDTH * width)
    return explained


def draw_among(
    board: Board,
    slots: Slots,
    result: Result,
    spots: Spots,
    *,
    label: str,
    level: float,
    index: int,
    n_items: int,
) -> list[Artist]:
    """Draw one result among several: dots and whiskers of one colour, a little aside."""
    look, width = style.look(index), dot_width(board, slots, n_items)
    spots = place_spots(slots, result, spots, dodge(slots, index, n_items))
    explained = draw_dots(board, spots, label, look, width, joined=slots.is_number)
    draw_ci(board, spots.together, level, width, look.colour)
    return explained


def draw_dots(
    board: Board, spots: Spots, label: str, look: style.Look, width: float, *, joined: bool
) -> list[Artist]:
    """Draw the means: the more rows, the larger the dot. Levels that are numbers are `joined`."""
    levels, share = spots.levels, spots.share
    sizes = width**2 * np.maximum(share / share.max(), style.DOT_FLOOR)
    x, y = board.points(levels.x, levels.curve).T
    if joined:
        (line,) = board.ax.plot(x, y, color=look.colour, linestyle=look.dash)
        line.set(linewidth=style.THIN_LINE, gid="rhale:curve", zorder=3.6)
    dots = board.ax.scatter(x, y, s=sizes, color=look.colour, marker=look.marker)
    dots.set(linewidth=0, zorder=4, gid="rhale:levels", label=label)
    if spots.missing is not None:
        draw_missing_dot(board, spots.missing, width, look)
    return [dots]


def draw_missing_dot(board: Board, path: Trace, width: float, look: style.Look) -> Artist:
    """Draw the mean without a value: a hollow dot, as it is no level."""
    x, y = board.points(path.x, path.curve).T
    dot = board.ax.scatter(x, y, marker=look.marker)
    dot.set(sizes=[(0.8 * width) ** 2], facecolor=board.ax.get_facecolor(), edgecolor=look.colour)
    dot.set(linewidth=1.2, zorder=4, gid="rhale:missing", label="missing")
    return dot


def draw_spread(board: Board, path: Trace, width: float) -> list[Artist]:
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
    board: Board, path: Trace, level: float, width: float, colour: str = style.UNCERTAINTY
) -> list[Artist]:
    """Draw thin whiskers with caps of this width that say how well the mean is known."""
    known = np.isfinite(path.low) & np.isfinite(path.high)
    if not known.any():
        return []
    places, low, high = path.x[known], path.low[known], path.high[known]
    whiskers = board.strokes(places, low, high)
    whiskers.set(color=colour, linewidth=style.WHISKER_LINE, zorder=3.9)
    whiskers.set(gid="rhale:ci", label=layers.interval_name(level))
    for end in (low, high):
        at = board.points(places, end)
        (caps,) = board.ax.plot(*at.T, "|" if board.turned else "_", color=colour)
        caps.set(markersize=width, markeredgewidth=style.WHISKER_LINE, zorder=3.9)
        caps.set_gid("rhale:caps")
    return [whiskers]


def draw_counts(board: Board, slots: Slots, result: Result) -> list[Artist]:
    """Draw a short grey stroke at every level, the longer the more rows it has."""
    share, places = result.level_rows().share, slots.locate(result, result.axis)
    if slots.has_missing and result.missing is not None:
        absent = result.missing.share
        share, places = np.append(share * (1 - absent), absent), np.append(places, slots.missing)
    if not share.max() > 0:
        return []
    height = np.where(share > 0, np.maximum(share / share.max(), style.STRIP_FLOOR), 0.0)
    strip = board.strip(places, style.STRIP_HEIGHT * height)
    strip.set(color=style.COUNT, alpha=style.COUNT_ALPHA, zorder=2, capstyle="butt")
    strip.set(linewidth=dot_width(board, slots), gid="rhale:counts", label="where rows are")
    return [strip]


def draw_zero(board: Board) -> None:
    """Draw the line of no effect."""
    zero = board.zero()
    zero.set(color=style.ZERO_LINE, linewidth=style.THIN_LINE, zorder=0.5, gid="rhale:zero")


def set_apart(board: Board, slots: Slots) -> None:
    """Draw a line between the levels and missing values."""
    if slots.has_missing:
        rule = board.rule((slots.places[-1] + slots.missing) / 2)
        rule.set(color=style.ZERO_LINE, linewidth=style.THIN_LINE, linestyle=":", zorder=0.5)
        rule.set_gid("rhale:apart")


def explain_whiskers(level: float) -> list[Artist]:
    """Make the legend's entry for whiskers that have the colours of their dots."""
    name = layers.interval_name(level)
    return [Line2D([], [], color=style.NOTE, linewidth=style.WHISKER_LINE, label=name)]


def dot_width(board: Board, slots: Slots, n_items: int = 1) -> float:
    """Choose the width of the largest dot, in points: less where levels are close."""
    room = 0.8 * board.points_per_slot(slots) / n_items
    least = style.LEAST_NUMBER_DOT if slots.is_number and n_items == 1 else style.LEAST_DOT
    return float(np.clip(room, least, style.LARGEST_DOT))


def dodge(slots: Slots, index: int, n_items: int) -> float:
    """Shift the dots of one item among several, so that all are seen."""
    room = 0.4 if slots.is_number else 0.7
    return slots.gap * room * ((index + 0.5) / n_items - 0.5)
