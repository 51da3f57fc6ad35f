"""Results along a continuous axis or at the levels of a categorical one.

Both classes draw the same layers under the same names; a method that draws returns the artists
that a legend explains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from rhale.effects.curve import Center
from rhale.effects.result import Result, Trace, find_result_axis_kind, is_constant, reach
from rhale.plots import canvas, style, ticks
from rhale.plots import marks as dots
from rhale.plots.categorical_axis import (
    LevelLayout,
    OrientedAxes,
    lay_out_levels,
    new_oriented_axes,
)
from rhale.plots.labels import LITERAL, folded, interval_name
from rhale.plots.marks import LineMarks, PointMarks
from rhale.plots.view import PLAIN_VIEW, AxisView
from rhale.stats.arrays import FloatArray

MAX_DISTINCT_VALUES = 4
NO_CURVE = Trace(*np.empty((5, 0)))


class Layers(NamedTuple):
    """What is drawn of a result besides its mean, where that is zero, and among which others."""

    center: Center | None = "mean"
    level: float = 0.95
    spread: bool = True
    uncertainty: bool = True
    among: Sequence[Result] = ()


class Item(NamedTuple):
    """What is drawn of one result: curve or levels (none if constant), and missing values."""

    result: Result
    path: Trace
    missing: Trace | None


def read_item(
    result: Result,
    center: Center | None,
    level: float,
    *,
    smooth: bool = False,
    view: AxisView = PLAIN_VIEW,
) -> Item:
    """Read what is drawn of one result, where a view shows it."""
    if is_constant(result):
        path = NO_CURVE
    elif view.is_plain or result.labels:
        path = result.trace(center, level, smooth=smooth)
    else:
        x, path = view.places(result), NO_CURVE
        if x.size:
            zero: Center = (
                "mean" if center is None and result.quantity == "effect" else cast(Center, center)
            )
            low, high = result.ci(x, level=level, center=zero, smooth=smooth)
            curve = result.curve(x, center=zero, smooth=smooth)
            path = Trace(x, curve, result.spread(x, center=zero), low, high)
    return Item(result, path, result.missing_trace(center, level))


class ContinuousAxis(NamedTuple):
    """Numbers, dates or durations along x: lines, bands and ribbons; missing values aside."""

    ax: Axes
    small: bool = False
    view: AxisView = PLAIN_VIEW

    @property
    def oriented(self) -> OrientedAxes:
        """The axes."""
        return OrientedAxes(self.ax)

    def begin(self) -> None:
        """Draw the line of no effect."""
        dots.draw_zero_line(self.oriented)

    def draw_curve(self, path: Trace, label: str, look: style.Look) -> Artist:
        """Draw the mean."""
        (line,) = self.ax.plot(
            path.x, path.curve, color=look.colour, linestyle=look.dash, label=label
        )
        line.set(linewidth=style.LINE_WIDTH, gid="rhale:curve", zorder=4)
        return line

    def draw_spread(self, path: Trace) -> list[Artist]:
        """Draw the band that says how rows differ; nothing where it is not known."""
        if not np.isfinite(path.spread).any():
            return []
        band = self.ax.fill_between(path.x, path.curve - path.spread, path.curve + path.spread)
        band.set(color=style.SPREAD, alpha=style.SPREAD_ALPHA, linewidth=0, zorder=1)
        band.set(gid="rhale:spread", label="± spread between rows")
        return [band]

    def draw_ci(self, path: Trace, level: float, colour: str | None = None) -> list[Artist]:
        """Draw the ribbon that says how well the mean is known; nothing where it is not known."""
        if not np.isfinite(path.low).any():
            return []
        ribbon, colour = (
            self.ax.fill_between(path.x, path.low, path.high),
            colour or style.UNCERTAINTY,
        )
        ribbon.set(facecolor=colour, edgecolor=colour, alpha=style.UNCERTAINTY_ALPHA, zorder=3)
        ribbon.set(linewidth=style.HAIR_LINE, gid="rhale:ci", label=interval_name(level))
        return [ribbon]

    def draw_one(
        self, item: Item, label: str, level: float, *, spread: bool = True, uncertainty: bool = True
    ) -> list[Artist]:
        """Draw the line, its band and its ribbon."""
        explained = [self.draw_curve(item.path, label, style.ALONE)]
        explained += self.draw_spread(item.path) if spread else []
        return explained + (self.draw_ci(item.path, level) if uncertainty else [])

    def draw_among(
        self,
        item: Item,
        label: str,
        level: float,
        index: int,
        n_items: int,  # noqa: ARG002
        look: style.Look | None = None,
    ) -> list[Artist]:
        """Draw one line and its ribbon, in the look of its number or in a given one."""
        look = look or style.line_style(index)
        for ribbon in self.draw_ci(item.path, level, look.colour):
            ribbon.set(alpha=style.THIN_RIBBON_ALPHA, linewidth=0)
        return [self.draw_curve(item.path, label, look)]

    def draw_common(self, item: Item, label: str) -> Artist:
        """Draw the mean of all rows, thin, behind those of some."""
        line = self.draw_curve(item.path, label, style.COMMON)
        line.set(linewidth=style.WHISKER_LINE, zorder=3.5, gid="rhale:common")
        return line

    def explain_intervals(self, level: float, n_items: int = 1) -> list[Artist]:  # noqa: ARG002
        """Make the legend's entry for the ribbons."""
        name = interval_name(level)
        return [Patch(color=style.NOTE, alpha=style.THIN_RIBBON_ALPHA, linewidth=0, label=name)]

    def draw_counts(self, result: Result) -> list[Artist]:
        """Draw a strip along the x axis that is high where there are many rows."""
        values, (limits, density) = result.support().values, self.view.count_rows(result)
        if not density.max() > 0:
            return []
        height = np.where(density > 0, np.maximum(density / density.max(), style.STRIP_FLOOR), 0.0)
        strip = self.ax.fill_between(
            limits,
            0.0,
            style.STRIP_HEIGHT * np.append(height, height[-1]),
            step="post",
            transform=self.ax.get_xaxis_transform(),
        )
        strip.set(color=style.COUNT, alpha=style.COUNT_ALPHA, linewidth=0, zorder=2)
        strip.set(gid="rhale:counts", label="where rows are")
        if 0 < np.unique(values).size <= MAX_DISTINCT_VALUES:
            self.ax.set_xticks(np.unique(values))  # two classes have no tick between them
        return [strip]

    def draw_gaps(self, result: Result) -> list[Artist]:
        """Hatch the bins that have no rows."""
        gaps: list[Artist] = []
        for left, right in result.support().gaps:
            gap = self.ax.axvspan(left, right, facecolor="none", hatch="////")
            gap.set(edgecolor=style.COUNT, alpha=0.35, linewidth=0, zorder=0.4)
            gap.set(gid="rhale:empty", label="no rows")
            gaps.append(gap)
        return gaps[:1]

    def draw_constant(self, items: Sequence[Item], level: float) -> None:  # noqa: ARG002
        """Say that there is no curve."""
        value, words = reach(items[0].result)[0], ticks.write_only_value(items[0].result)
        heights = any(item.missing is not None for item in items)
        canvas.write_constant_feature(self.ax, value, words, heights=heights)

    def draw_aside(
        self, items: Sequence[Item], level: float, looks: Sequence[style.Look] | None = None
    ) -> None:
        """Draw missing values in a narrow panel of their own."""
        if looks is None:
            for item in items:
                if item.missing is not None:
                    dots.draw_one(self.ax, item.missing, level)
            return
        pairs = zip(items, looks, strict=True)
        points = [(item.missing, look) for item, look in pairs if item.missing is not None]
        if not points:
            return
        # Several points stand side by side, each in its colour.
        side, width = dots.find_side(self.ax), 0.6 * style.LARGEST_DOT
        for index, (point, look) in enumerate(points):
            place = 0.8 * ((index + 0.5) / len(points) - 0.5)
            path = point._replace(x=np.array([place]))
            dots.draw_ci(OrientedAxes(side), path, level, width, look.colour)
            dots.draw_missing_dot(OrientedAxes(side), path, width, look)
            dots.reserve(self.ax, path, spread=False)
        size = style.NUMBER_TEXT if self.small else style.NAME_TEXT
        dots.label_side(side, "missing", size)

    def place_missing(self, point: Trace) -> tuple[Axes, Trace]:
        """Find the narrow panel."""
        return dots.find_side(self.ax), point._replace(x=np.zeros(1))

    def mark_trainings(self) -> LineMarks:
        """Draw trainings as lines."""
        return LineMarks(self.ax)

    def locate(self, result: Result, x: FloatArray) -> FloatArray:  # noqa: ARG002
        """Find places of a result on the axis: numbers are their own."""
        return x

    def fit(self) -> None:
        """Let the axes reach as far as what is drawn."""
        canvas.fit_limits(self.ax, strip=True, view=self.view)

    def name_places(self, result: Result) -> None:
        """Write numbers, dates or durations."""
        most = style.SMALL_TICKS if self.small else ticks.MAX_TICKS
        if self.view.is_log:
            # Write plain numbers along a logarithmic x axis, as many as have room.
            ax = self.ax
            low, high = ax.get_xlim()
            finest = next(
                (parts for parts in ticks.LOG_PARTS if ticks.count_log(low, high, parts) <= most),
                (1.0,),
            )
            ax.xaxis.set_major_locator(LogLocator(subs=finest, numticks=most))
            ax.xaxis.set_major_formatter(FuncFormatter(ticks.log_text))
            ax.xaxis.set_minor_locator(NullLocator())
        else:
            ticks.dress_places(self.ax, find_result_axis_kind(result), reach(result), ticks=most)
        # Draw a triangle at each end of the x axis beyond which there are rows.
        for x, shape, is_cut in ((0.0, "<", self.view.cut[0]), (1.0, ">", self.view.cut[1])):
            if is_cut:
                (mark,) = self.ax.plot(
                    x, 0.0, shape, transform=self.ax.transAxes, scalex=False, scaley=False
                )
                mark.set(color=style.NOTE, markersize=5.0, zorder=6, clip_on=False)
                mark.set_gid("rhale:beyond")

    def name_scale(self) -> None:
        """Say that the axis is logarithmic, or that it ends before some rows, where it does."""
        ax, view = self.ax, self.view
        remarks = ["log scale"] if view.is_log else []
        remarks += [view.beyond] if view.beyond else []
        if not remarks:
            return
        size = style.NUMBER_TEXT if self.small else "medium"
        inches = ax.get_window_extent().width / ax.figure.dpi
        length = canvas.wide_letters(inches, size)
        words = f"{ax.get_xlabel()} ({'; '.join(remarks)})".strip()
        if view.beyond and len(words) > length:
            words = "\n".join(filter(None, [ax.get_xlabel(), folded("; ".join(remarks), length)]))
        ax.set_xlabel(words, fontsize=size, **LITERAL)


class CategoricalAxis(NamedTuple):
    """Levels in slots, along x or below one another: dots, strokes and whiskers."""

    oriented: OrientedAxes
    layout: LevelLayout
    small: bool = False

    def begin(self) -> None:
        """Draw the line of no effect, and one between levels and missing values."""
        dots.draw_zero_line(self.oriented)
        self.set_apart()

    def set_apart(self) -> None:
        """Draw a line between the levels and missing values."""
        if self.layout.has_missing:
            rule = self.oriented.rule((self.layout.places[-1] + self.layout.missing) / 2)
            rule.set(color=style.ZERO_LINE, linewidth=style.THIN_LINE, linestyle=":", zorder=0.5)
            rule.set_gid("rhale:apart")

    @property
    def view(self) -> AxisView:
        """All levels, in the order of their slots."""
        return PLAIN_VIEW

    @property
    def room(self) -> float:
        """How far dots of one level may stand apart; numbers are read off the axis."""
        return self.layout.gap * (0.4 if self.layout.is_number else 0.7)

    def dot_width(self, n_items: int = 1) -> float:
        """Choose the width of the largest dot, in points: less where levels are close."""
        room = 0.8 * self.oriented.points_per_slot(self.layout) / n_items
        is_line = self.layout.is_number and n_items == 1
        least = style.LEAST_NUMBER_DOT if is_line else style.LEAST_DOT
        return float(np.clip(room, least, style.LARGEST_DOT))

    def draw_one(
        self, item: Item, label: str, level: float, *, spread: bool = True, uncertainty: bool = True
    ) -> list[Artist]:
        """Draw dots, wide pale strokes for the spread, whiskers for the uncertainty."""
        width = self.dot_width()
        explained, path = self.draw_dots(item, label, style.ALONE, width)
        explained += dots.draw_spread(self.oriented, path, width) if spread else []
        if uncertainty:
            explained += dots.draw_ci(self.oriented, path, level, style.CAP_WIDTH * width)
        return explained

    def draw_among(
        self,
        item: Item,
        label: str,
        level: float,
        index: int,
        n_items: int,
        look: style.Look | None = None,
    ) -> list[Artist]:
        """Draw dots and whiskers of one colour, a little aside, so that all are seen.

        Numbers whose dots would touch are drawn as a line and its ribbon.
        """
        look, width = look or style.line_style(index), self.dot_width(n_items)
        if self.is_crowded(n_items):
            return self.draw_line(item, label, level, look)
        shift = self.room * ((index + 0.5) / n_items - 0.5)
        explained, path = self.draw_dots(item, label, look, width, shift)
        dots.draw_ci(self.oriented, path, level, width, look.colour)
        return explained

    def is_crowded(self, n_items: int) -> bool:
        """Tell whether dots of numbers would touch those of their neighbours."""
        room = self.oriented.points_per_slot(self.layout) / n_items
        return self.layout.is_number and not self.oriented.horizontal and room < style.LEAST_DOT

    def draw_line(self, item: Item, label: str, level: float, look: style.Look) -> list[Artist]:
        """Draw numbers as a line and its ribbon, and missing values in their slot."""
        if item.missing is not None:
            _, missing = self.place_missing(item.missing)
            dots.draw_ci(self.oriented, missing, level, style.LEAST_NUMBER_DOT, look.colour)
            dots.draw_missing_dot(self.oriented, missing, style.LEAST_NUMBER_DOT, look)
        return ContinuousAxis(self.oriented.ax).draw_among(item, label, level, 0, 1, look)

    def draw_dots(
        self, item: Item, label: str, look: style.Look, width: float, shift: float = 0.0
    ) -> tuple[list[Artist], Trace]:
        """Draw the means, the larger the dot the more rows; give all that is drawn, in its place."""
        result, oriented = item.result, self.oriented
        levels = item.path._replace(x=self.layout.locate(result, item.path.x) + shift)
        share = result.level_rows().share[np.searchsorted(result.axis, item.path.x)]
        x, y = oriented.points(levels.x, levels.curve).T
        if self.layout.is_number:
            (line,) = oriented.ax.plot(x, y, color=look.colour, linestyle=look.dash)
            line.set(linewidth=style.THIN_LINE, gid="rhale:curve", zorder=3.6)
        sizes = width**2 * np.maximum(share / share.max(), style.DOT_FLOOR)
        marks = oriented.ax.scatter(x, y, s=sizes, color=look.colour, marker=look.marker)
        marks.set(linewidth=0, zorder=4, gid="rhale:levels", label=label)
        if item.missing is None:
            return [marks], levels
        missing = item.missing._replace(x=np.array([self.layout.missing + shift]))
        dots.draw_missing_dot(oriented, missing, width, look)
        return [marks], Trace(*map(np.append, levels, missing))

    def draw_common(self, item: Item, label: str) -> Artist:
        """Draw the means of all rows as short lines across the dots of some; of numbers one line."""
        if self.layout.is_number and not self.oriented.horizontal:
            return ContinuousAxis(self.oriented.ax).draw_common(item, label)
        x, y = self.layout.locate(item.result, item.path.x), item.path.curve
        if item.missing is not None:
            x, y = np.append(x, self.layout.missing), np.append(y, item.missing.curve)
        sides = (-self.room / 2, self.room / 2)
        ends = np.stack([self.oriented.points(x + side, y) for side in sides], axis=1)
        lines = LineCollection(list(ends), gid="rhale:common", zorder=3)
        lines.set(color=style.COMMON.colour, linewidth=style.WHISKER_LINE)
        self.oriented.ax.add_collection(lines)
        return self.stroke_entry(label, style.COMMON.colour, upright=self.oriented.horizontal)

    def stroke_entry(self, label: str, colour: str, *, upright: bool) -> Artist:
        """Make the legend's entry for short lines: upright, or not."""
        if not upright:
            return Line2D([], [], color=colour, linewidth=style.WHISKER_LINE, label=label)
        entry = Line2D([], [], color=colour, linestyle="none", marker="|", label=label)
        entry.set(markersize=9, markeredgewidth=style.WHISKER_LINE)
        return entry

    def explain_intervals(self, level: float, n_items: int = 1) -> list[Artist]:
        """Make the legend's entry for the whiskers of so many results."""
        if self.is_crowded(n_items):
            return ContinuousAxis(self.oriented.ax).explain_intervals(level)
        upright = not self.oriented.horizontal
        return [self.stroke_entry(interval_name(level), style.NOTE, upright=upright)]

    def draw_gaps(self, result: Result) -> list[Artist]:  # noqa: ARG002
        """Nothing: every level has rows, or no dot."""
        return []

    def draw_counts(self, result: Result) -> list[Artist]:
        """Draw a short grey stroke at every level, the longer the more rows it has."""
        share, places = result.level_rows().share, self.layout.locate(result, result.axis)
        if self.layout.has_missing and result.missing is not None:
            absent = result.missing.share
            share = np.append(share * (1 - absent), absent)
            places = np.append(places, self.layout.missing)
        if not share.max() > 0:
            return []
        height = np.where(share > 0, np.maximum(share / share.max(), style.STRIP_FLOOR), 0.0)
        strip = self.oriented.strip(places, style.STRIP_HEIGHT * height)
        strip.set(color=style.COUNT, alpha=style.COUNT_ALPHA, zorder=2, capstyle="butt")
        strip.set(linewidth=self.dot_width(), gid="rhale:counts", label="where rows are")
        return [strip]

    def draw_constant(self, items: Sequence[Item], level: float) -> None:
        """Say that there is one level; show missing values where they were measured."""
        result, missing, oriented = items[0].result, items[0].missing, self.oriented
        value, words = reach(result)[0], ticks.write_only_value(result)
        note = canvas.write_constant_feature(oriented.ax, value, words, heights=missing is not None)
        if missing is None:
            return
        note.set(text="constant:\none level,\nno curve", position=(0.27, 0.96), va="top")
        _, path = self.place_missing(missing)
        self.begin()
        dots.draw_missing_dot(oriented, path, style.LARGEST_DOT, style.ALONE)
        dots.draw_spread(oriented, path, style.LARGEST_DOT)
        dots.draw_ci(oriented, path, level, style.CAP_WIDTH * style.LARGEST_DOT)
        oriented.fit(self.layout, strip=False)

    def draw_aside(
        self, items: Sequence[Item], level: float, looks: Sequence[style.Look] | None = None
    ) -> None:
        """Nothing: missing values have a slot."""

    def place_missing(self, point: Trace) -> tuple[Axes, Trace]:
        """Find their slot."""
        return self.oriented.ax, point._replace(x=np.array([self.layout.missing]))

    def mark_trainings(self) -> PointMarks:
        """Draw trainings as dots at the levels."""
        return PointMarks(self.oriented, self.dot_width(), self.room, self.layout.is_number)

    def locate(self, result: Result, x: FloatArray) -> FloatArray:
        """Find the slots of the levels of a result."""
        return self.layout.locate(result, x)

    def fit(self) -> None:
        """Let the axes reach over all levels, and as far as what is drawn."""
        self.oriented.fit(self.layout, strip=True)

    def name_places(self, result: Result) -> None:  # noqa: ARG002
        """Write the levels at their places."""
        if self.small:
            self.oriented.name_levels(
                self.layout, size=style.NUMBER_TEXT, longest=style.SMALL_LABEL
            )
        else:
            self.oriented.name_levels(self.layout)

    def name_scale(self) -> None:
        """Nothing: levels stand at equal distances, or where their numbers are."""


PlotAxis = ContinuousAxis | CategoricalAxis


def make_plot_axis(
    oriented: OrientedAxes,
    results: Sequence[Result],
    *,
    small: bool = False,
    view: AxisView = PLAIN_VIEW,
) -> PlotAxis:
    """Choose how the results of one feature are drawn on given axes."""
    if all(result.labels for result in results):
        return CategoricalAxis(oriented, lay_out_levels(results, view.order), small)
    return ContinuousAxis(oriented.ax, small, view)


def open_plot_axis(
    results: Sequence[Result], ax: Axes | None, view: AxisView = PLAIN_VIEW
) -> PlotAxis:
    """Find or make the axes for one panel of results."""
    if all(result.labels for result in results):
        layout = lay_out_levels(results, view.order)
        return CategoricalAxis(new_oriented_axes(layout, ax, n_items=len(results)), layout)
    ax = canvas.new_axes(style.PROFILE_SIZE) if ax is None else ax
    return ContinuousAxis(ax, view=view)
