"""Marks: dots, whiskers, lines and bands, also of several trainings."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.transforms import Bbox

from rhale.effects.result import Result, Trace, is_constant
from rhale.plots import canvas, style
from rhale.plots.categorical_axis import OrientedAxes
from rhale.plots.labels import interval_name
from rhale.stability.refit_effect import RefitTrace


def draw_zero_line(oriented: OrientedAxes) -> None:
    """Draw the line of no effect."""
    zero = oriented.zero()
    zero.set(color=style.ZERO_LINE, linewidth=style.THIN_LINE, zorder=0.5, gid="rhale:zero")


def draw_missing_dot(oriented: OrientedAxes, path: Trace, width: float, look: style.Look) -> Artist:
    """Draw the mean without a value: a hollow dot, as it is no level."""
    x, y = oriented.points(path.x, path.curve).T
    dot = oriented.ax.scatter(x, y, marker=look.marker)
    dot.set(
        sizes=[(0.8 * width) ** 2], facecolor=oriented.ax.get_facecolor(), edgecolor=look.colour
    )
    dot.set(linewidth=1.2, zorder=4, gid="rhale:missing", label="missing")
    return dot


def draw_spread(oriented: OrientedAxes, path: Trace, width: float) -> list[Artist]:
    """Draw wide pale strokes that say how rows differ; nothing where it is not known."""
    known = np.isfinite(path.spread) & np.isfinite(path.curve)
    if not known.any():
        return []
    curve, spread = path.curve[known], path.spread[known]
    strokes = oriented.strokes(path.x[known], curve - spread, curve + spread)
    strokes.set(color=style.SPREAD, alpha=style.STROKE_ALPHA, linewidth=width, zorder=1)
    strokes.set(capstyle="butt", gid="rhale:spread", label="± spread between rows")
    return [strokes]


def draw_ci(
    oriented: OrientedAxes, path: Trace, level: float, width: float, colour: str | None = None
) -> list[Artist]:
    """Draw thin whiskers with caps of this width that say how well the mean is known."""
    known = np.isfinite(path.low) & np.isfinite(path.high)
    if not known.any():
        return []
    places, low, high = path.x[known], path.low[known], path.high[known]
    whiskers, colour = oriented.strokes(places, low, high), colour or style.UNCERTAINTY
    whiskers.set(color=colour, linewidth=style.WHISKER_LINE, zorder=3.9)
    whiskers.set(gid="rhale:ci", label=interval_name(level))
    for end in (low, high):
        at = oriented.points(places, end)
        (caps,) = oriented.ax.plot(*at.T, "|" if oriented.horizontal else "_", color=colour)
        caps.set(markersize=width, markeredgewidth=style.WHISKER_LINE, zorder=3.9)
        caps.set_gid("rhale:caps")
    return [whiskers]


# --- How several trainings are drawn: lines and a band, or dots and bars at single places


OWN_MODEL_DASH, OWN_MARKER = (0, (5, 1.5)), "D"
SMALL_DOT, MEAN_DOT, OWN_DOT = 0.35, 0.75, 0.7  # of the width of the largest dot


class LineMarks(NamedTuple):
    """Numbers, dates or durations along x: a thin line for each training, a band with edges."""

    ax: Axes

    def draw_trainings(self, path: RefitTrace, label: str) -> list[Artist]:
        """Draw the curve of every training."""
        lines = LineCollection([np.column_stack([path.x, curve]) for curve in path.curves])
        lines.set(color=style.BETWEEN, linewidth=style.THIN_LINE, alpha=style.TRAINING_ALPHA)
        lines.set(zorder=1.6, gid="rhale:trainings", label=label)
        self.ax.add_collection(lines)
        return [lines]

    def draw_interval(self, path: RefitTrace) -> list[Artist]:
        """Draw where the mean of all possible trainings is; nothing where that is not known."""
        if not np.isfinite(path.low).any():
            return []
        band = self.ax.fill_between(path.x, path.low, path.high)
        band.set(facecolor=(style.BETWEEN, style.BETWEEN_ALPHA), edgecolor=style.BETWEEN)
        band.set(linewidth=style.WHISKER_LINE, zorder=1.2, gid="rhale:between")
        return [band]

    def draw_mean(self, path: RefitTrace, label: str) -> list[Artist]:
        """Draw the mean of the trainings."""
        (line,) = self.ax.plot(path.x, path.curve, color=style.ALONE.colour, label=label)
        line.set(linewidth=style.LINE_WIDTH, zorder=4, gid="rhale:curve")
        return [line]

    def draw_own(self, path: RefitTrace, label: str) -> list[Artist]:
        """Draw the curve of the user's own model over it, where there is one."""
        if path.own is None:
            return []
        (line,) = self.ax.plot(path.x, path.own, color=style.TRUTH, label=label)
        line.set(
            linestyle=OWN_MODEL_DASH, linewidth=style.WHISKER_LINE, zorder=4.5, gid="rhale:own"
        )
        return [line]

    def draw_rows(self, own: Trace, label: str) -> list[Artist]:
        """Draw the interval of the user's model, which knows of no other training."""
        ribbon = self.ax.fill_between(own.x, own.low, own.high)
        ribbon.set(facecolor=style.UNCERTAINTY, alpha=style.UNCERTAINTY_ALPHA, linewidth=0)
        ribbon.set(zorder=3, gid="rhale:ci", label=label)
        return [ribbon]


class PointMarks(NamedTuple):
    """Levels, or missing values: a small dot for each training, a bar for the interval."""

    oriented: OrientedAxes  # where
    width: float  # of the largest dot, in points
    room: float  # how far dots of trainings stand apart, in units of the places.
    joined: bool = False  # whether a line joins the means, as places are numbers

    def draw_trainings(self, path: RefitTrace, label: str) -> list[Artist]:
        """Draw every training at every place, each a little aside of the others."""
        n_trainings = len(path.curves)
        aside = self.room * ((np.arange(n_trainings) + 0.5) / n_trainings - 0.5)
        x, y = self.oriented.points((path.x + aside[:, None]).ravel(), path.curves.ravel()).T
        marks = self.oriented.ax.scatter(x, y, s=(SMALL_DOT * self.width) ** 2, color=style.BETWEEN)
        marks.set(linewidth=0, alpha=style.TRAINING_ALPHA, zorder=1.6, label=label)
        marks.set_gid("rhale:trainings")
        return [marks]

    def draw_interval(self, path: RefitTrace) -> list[Artist]:
        """Draw bars with caps; nothing where they are not known."""
        if not np.isfinite(path.low).any():
            return []
        bars = self.oriented.strokes(path.x, path.low, path.high)
        bars.set(color=style.BETWEEN, linewidth=style.LINE_WIDTH, zorder=3, gid="rhale:between")
        for end in (path.low, path.high):
            x, y = self.oriented.points(path.x, end).T
            (caps,) = self.oriented.ax.plot(x, y, "|" if self.oriented.horizontal else "_")
            caps.set(color=style.BETWEEN, markeredgewidth=style.LINE_WIDTH, zorder=3)
            caps.set(markersize=style.CAP_WIDTH * self.width, gid="rhale:caps")
        return [bars]

    def draw_mean(self, path: RefitTrace, label: str) -> list[Artist]:
        """Draw a dot at every place."""
        x, y = self.oriented.points(path.x, path.curve).T
        if self.joined:
            (line,) = self.oriented.ax.plot(
                x, y, color=style.ALONE.colour, linewidth=style.THIN_LINE
            )
            line.set(zorder=3.6, gid="rhale:curve")
        marks = self.oriented.ax.scatter(
            x, y, s=(MEAN_DOT * self.width) ** 2, marker=style.ALONE.marker
        )
        marks.set(color=style.ALONE.colour, linewidth=0, zorder=4, gid="rhale:levels", label=label)
        return [marks]

    def draw_own(self, path: RefitTrace, label: str) -> list[Artist]:
        """Draw a hollow mark beside every place, where there is a model of the user's own."""
        if path.own is None:
            return []
        x, y = self.oriented.points(path.x + self.room / 2, path.own).T
        marks = self.oriented.ax.scatter(x, y, s=(OWN_DOT * self.width) ** 2, marker=OWN_MARKER)
        marks.set(facecolor="none", edgecolor=style.TRUTH, linewidth=style.WHISKER_LINE)
        marks.set(zorder=4.5, gid="rhale:own", label=label, clip_on=False)
        return [marks]

    def draw_rows(self, own: Trace, label: str) -> list[Artist]:
        """Draw whiskers at the marks of the user's model, which know of no other training."""
        own = own._replace(x=own.x + self.room / 2)
        whiskers = draw_ci(self.oriented, own, 0.5, OWN_DOT * self.width)
        for stroke in whiskers:
            stroke.set_label(label)
        return whiskers


Marks = LineMarks | PointMarks


# --- Missing values beside the axis of numbers, dates or durations: a narrow panel of their own


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
        draw_spread(oriented, path, style.LARGEST_DOT)
    if uncertainty:
        draw_ci(oriented, path, level, style.CAP_WIDTH * style.LARGEST_DOT)
    draw_missing_dot(oriented, path, style.LARGEST_DOT, style.ALONE)
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
        draw_zero_line(OrientedAxes(side))
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
