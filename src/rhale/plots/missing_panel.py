"""Missing values beside the axis of numbers, dates or durations: a narrow panel of their own."""

from __future__ import annotations

from typing import cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

from rhale.effects.result import Result, Trace, is_constant
from rhale.plots import canvas, marks, style
from rhale.plots.categorical_axis import OrientedAxes

PANEL = "rhale:missing-panel"


def draw_missing_result(
    ax: Axes,
    result: Result,
    path: Trace | None,
    level: float,
    *,
    spread: bool = True,
    uncertainty: bool = True,
) -> None:
    """Draw the point of one result, where it was measured, and say how many values are missing."""
    if path is None or result.missing is None:
        return
    side = draw_one(ax, path, level, spread=spread, uncertainty=uncertainty)
    label_side(side, f"missing\n{100 * result.missing.share:.3g} %", style.NAME_TEXT)
    if is_constant(result):
        low, high = ax.dataLim.intervaly
        ax.set_ylim(
            canvas.widen_interval(
                min(low, 0.0), max(high, 0.0), style.AXIS_MARGIN, style.AXIS_MARGIN
            )
        )


def draw_one(
    ax: Axes, path: Trace, level: float, *, spread: bool = True, uncertainty: bool = True
) -> Axes:
    """Draw one point right of the axes, with the same y axis."""
    oriented, path = OrientedAxes(find_side(ax)), path._replace(x=np.zeros(1))
    if spread:
        marks.draw_spread(oriented, path, style.LARGEST_DOT)
    if uncertainty:
        marks.draw_ci(oriented, path, level, style.CAP_WIDTH * style.LARGEST_DOT)
    marks.draw_missing_dot(oriented, path, style.LARGEST_DOT, style.ALONE)
    reserve(ax, path, spread=spread)
    label_side(oriented.ax, "missing", style.NUMBER_TEXT)
    return oriented.ax


def label_side(side: Axes, label: str, size: str) -> None:
    """Name the narrow panel."""
    side.set_xlim(-0.6, 0.6)
    side.set_xticks([0.0], labels=[label], fontsize=size)


def find_side(ax: Axes) -> Axes:
    """Find the narrow panel beside the axes, or make it."""
    for child in ax.child_axes:
        if child.get_gid() == PANEL:
            return cast(Axes, child)
    inches = ax.get_window_extent().width / ax.figure.dpi
    if ax.figure.get_layout_engine() is None:
        # Make room beside axes, and those below with the same x axis, that no layout engine moves.
        share = 1 - (style.MISSING_GAP + style.MISSING_WIDTH) / inches
        for panel in ax.get_shared_x_axes().get_siblings(ax):
            spec, place = panel.get_subplotspec(), panel.get_position(original=True)
            if spec is not None:  # the place in the grid is divided: `tight_layout` may follow
                columns = spec.subgridspec(1, 2, width_ratios=(share, 1 - share), wspace=0)
                panel.set_subplotspec(columns[0])
            elif panel.get_axes_locator() is None:
                panel.set_position((place.x0, place.y0, share * place.width, place.height))
    side = ax.inset_axes((1, 0, 0.1, 1), sharey=ax, gid=PANEL)
    side.set_axes_locator(RightAxesLocator(ax))  # type: ignore[arg-type]
    side.tick_params(left=False, labelleft=False)
    if any(line.get_gid() == "rhale:zero" for line in ax.lines):
        marks.draw_zero_line(OrientedAxes(side))
    for name in ("left", "right", "top", "bottom"):
        side.spines[name].set(color=style.ZERO_LINE)
    return side


class RightAxesLocator:
    """Places axes right of others, as high as they are and of a width in inches."""

    def __init__(self, ax: Axes) -> None:
        self.ax = ax

    def __call__(self, side: Axes, renderer: object) -> Bbox:  # noqa: ARG002
        """Find the place, in shares of the figure."""
        place, figure = self.ax.get_position(), self.ax.figure
        gap, width = (
            inches * figure.dpi / figure.bbox.width
            for inches in (style.MISSING_GAP, style.MISSING_WIDTH)
        )
        return Bbox.from_bounds(place.x1 + gap, place.y0, width, place.height)


def reserve(ax: Axes, path: Trace, *, spread: bool) -> None:
    """Let the y axis reach as far as a point and its whiskers."""
    values = [path.curve, path.low, path.high]
    values += [path.curve - path.spread, path.curve + path.spread] if spread else []
    known = np.concatenate(values)
    known = known[np.isfinite(known)]
    x = ax.dataLim.intervalx[1] if np.isfinite(ax.dataLim.intervalx[1]) else 0.0
    ax.update_datalim(np.column_stack([np.full(known.size, x), known]))
