"""What pictures of comparisons are made of: curves at one zero, differences, and rows of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from rhale.kernels import FloatArray
from rhale.plots import dots, style
from rhale.plots.board import OrientedAxes
from rhale.plots.compare import moved
from rhale.plots.fields import CategoricalAxis, ContinuousAxis, Item, PlotAxis, read_item
from rhale.plots.view import PLAIN_VIEW, AxisView
from rhale.results.curve_difference import CurveDifference
from rhale.results.feature_comparison import FeatureComparison
from rhale.results.result import is_constant

ROW_STRIP_SHARE = 0.055  # of a small panel, for the rows of one explanation
COMPARED_LEVEL_WIDTH = 0.72  # of a slot, for all explanations side by side


def read_curves(
    one: FeatureComparison, *, smooth: bool, view: AxisView = PLAIN_VIEW
) -> list[Item | None]:
    """Read the curves of all explanations, moved to one zero; None where there is no curve."""
    level = one.differences[0].level
    return [
        None
        if is_constant(result)
        else moved(read_item(result, "mean", level, smooth=smooth, view=view), lift)
        for result, lift in zip(one.results, one.lifts, strict=True)
    ]


def draw_compared_curves(
    field: PlotAxis, one: FeatureComparison, looks: Sequence[style.Look], *, smooth: bool
) -> list[Artist]:
    """Draw the curves of all explanations with thin intervals; return what a legend explains."""
    level, n_items = one.differences[0].level, len(one.names)
    explained: list[Artist] = []
    for index, item in enumerate(read_curves(one, smooth=smooth, view=field.view)):
        if item is not None:
            name = one.names[index]
            explained += field.draw_among(item, name, level, index, n_items, looks[index])
    return explained


def draw_difference(
    field: PlotAxis, found: CurveDifference, look: style.Look, index: int, n_items: int
) -> None:
    """Draw one difference and its interval: a line and a ribbon, or dots and whiskers."""
    path = found.trace(within=field.view.limits)
    if not path.x.size:
        return
    if isinstance(field, ContinuousAxis):
        ribbon = field.ax.fill_between(path.x, path.low, path.high)
        ribbon.set(color=look.colour, alpha=style.THIN_RIBBON_ALPHA, linewidth=0, zorder=3)
        ribbon.set_gid("rhale:ci")
        (line,) = field.ax.plot(path.x, path.difference, color=look.colour, linestyle=look.dash)
        line.set(linewidth=style.LINE_WIDTH, gid="rhale:difference", zorder=4)
        return
    places = field.slots.locate(found.first, path.x) + aside(field, index, n_items)
    whiskers = field.board.strokes(places, path.low, path.high)
    whiskers.set(color=look.colour, linewidth=style.WHISKER_LINE, gid="rhale:ci", zorder=3)
    x, y = field.board.points(places, path.difference).T
    size = min(field.dot_width(n_items), style.LARGEST_DOT) ** 2
    marks = field.board.ax.scatter(x, y, s=size, color=look.colour, marker=look.marker)
    marks.set(linewidth=0, gid="rhale:difference", zorder=4)


def aside(field: CategoricalAxis, index: int, n_items: int) -> float:
    """How far from its slot one of several stands."""
    return field.room * ((index + 0.5) / n_items - 0.5)


def draw_compared_rows(
    field: PlotAxis, one: FeatureComparison, looks: Sequence[style.Look], *, height: float = 1.0
) -> None:
    """Draw where the rows of each explanation are, below one another, or beside at levels.

    Parameters
    ----------
    field : PlotAxis
        Where.
    one : FeatureComparison
        Whose rows.
    looks : sequence of Look
        One for each explanation.
    height : float
        Of the axes, for all of them.
    """
    if isinstance(field, CategoricalAxis):
        for index, (result, look) in enumerate(zip(one.results, looks, strict=True)):
            share = result.level_rows().share
            places = field.slots.locate(result, result.axis) + aside(field, index, len(looks))
            bars = draw_row_share_bars(field.board, places, height * share / largest_share(one))
            width = (
                0.8 * COMPARED_LEVEL_WIDTH * field.board.points_per_slot(field.slots) / len(looks)
            )
            bars.set(color=look.colour, linewidth=float(np.clip(width, 1.0, 9.0)))
        return
    part = height / len(looks)
    for index, (result, look) in enumerate(zip(one.results, looks, strict=True)):
        if is_constant(result):
            continue
        limits, density = field.view.count_rows(result)
        floor = height - (index + 1) * part
        draw_strip(field.ax, limits, density, (floor, floor + 0.85 * part), look)


def largest_share(one: FeatureComparison) -> float:
    """The largest share of rows that any level has in any explanation."""
    return max(float(result.level_rows().share.max()) for result in one.results)


def draw_row_share_bars(board: OrientedAxes, places: FloatArray, heights: FloatArray) -> Artist:
    """Draw upright bars at levels, as shares of the axes."""
    bars = board.strip(places, heights)
    bars.set(alpha=style.COUNT_ALPHA, zorder=2, gid="rhale:counts", capstyle="butt")
    return bars


def draw_strip(
    ax: Axes,
    limits: FloatArray,
    density: FloatArray,
    between: tuple[float, float],
    look: style.Look,
) -> None:
    """Draw a strip that is high where there are many rows, between two shares of the axes."""
    if not density.max() > 0:
        return
    low, high = between
    height = np.where(density > 0, np.maximum(density / density.max(), style.STRIP_FLOOR), 0.0)
    top = low + (high - low) * np.append(height, height[-1])
    strip = ax.fill_between(limits, low, top, step="post", transform=ax.get_xaxis_transform())
    strip.set(color=look.colour, alpha=style.COUNT_ALPHA, linewidth=0, zorder=2)
    strip.set_gid("rhale:counts")


def draw_comparison_zero(field: PlotAxis) -> None:
    """Draw the line of no effect, or of no difference."""
    dots.draw_zero_line(field.board)
