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
from matplotlib.transforms import Bbox

from rhale.effects.curve import Center
from rhale.effects.result import Result, Trace, find_result_axis_kind, is_constant, reach
from rhale.plots import canvas, style
from rhale.plots.categorical_axis import (
    LevelLayout,
    OrientedAxes,
    lay_out_levels,
    new_oriented_axes,
)
from rhale.plots.labels import (
    LITERAL,
    LOG_PARTS,
    MAX_TICKS,
    count_log,
    dress_places,
    folded,
    interval_name,
    log_text,
)
from rhale.plots.view import PLAIN_VIEW, AxisView
from rhale.stability.refit_effect import RefitTrace
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

    def moved(self, by: float) -> Item:
        """The same with the curve, its interval and the point of missing values higher by a number."""
        path, missing = (
            one and one._replace(curve=one.curve + by, low=one.low + by, high=one.high + by)
            for one in (self.path, self.missing)
        )
        return self._replace(path=cast(Trace, path), missing=missing)


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
        self.oriented.draw_zero_line()

    def draw_curve(self, path: Trace | RefitTrace, label: str, look: style.Look) -> Artist:
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

    def draw_ci(
        self, path: Trace | RefitTrace, level: float, colour: str | None = None
    ) -> list[Artist]:
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
        if not self.view.count_rows(result)[1].max() > 0:
            return []
        strip = self.draw_strip(result, 0.0, style.STRIP_HEIGHT)
        strip.set(color=style.COUNT, alpha=style.COUNT_ALPHA, linewidth=0, zorder=2)
        strip.set(gid="rhale:counts", label="where rows are")
        values = np.unique(result.support().values)
        if 0 < values.size <= MAX_DISTINCT_VALUES:
            self.ax.set_xticks(values)  # two classes have no tick between them
        return [strip]

    def draw_strip(self, result: Result, floor: float, top: float) -> Artist:
        """Draw where rows are, between two heights in shares of the axes; there are some."""
        limits, density = self.view.count_rows(result)
        height = np.where(density > 0, np.maximum(density / density.max(), style.STRIP_FLOOR), 0.0)
        heights = floor + (top - floor) * np.append(height, height[-1])
        place = self.ax.get_xaxis_transform()
        return self.ax.fill_between(limits, floor, heights, step="post", transform=place)

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
        heights = any(item.missing is not None for item in items)
        canvas.write_constant_feature(self.ax, items[0].result, heights=heights)

    def draw_aside(
        self,
        items: Sequence[Item],
        level: float,
        looks: Sequence[style.Look] | None = None,
        *,
        spread: bool = True,
        uncertainty: bool = True,
    ) -> None:
        """Draw missing values in a narrow panel of their own; with `looks` side by side in these."""
        points = [(item.missing, i) for i, item in enumerate(items) if item.missing is not None]
        if not points:
            return
        side, label = find_side(self.ax), "missing"
        oriented, size = OrientedAxes(side), style.NUMBER_TEXT if self.small else style.NAME_TEXT
        for nth, (point, i) in enumerate(points):
            if looks is None:
                path = point._replace(x=np.zeros(1))
                draw_missing_point(oriented, path, level, spread=spread, uncertainty=uncertainty)
                reserve(self.ax, path, spread=spread)
                continue
            width = 0.6 * style.LARGEST_DOT
            path = point._replace(x=np.array([0.8 * ((nth + 0.5) / len(points) - 0.5)]))
            oriented.draw_ci(path, level, width, looks[i].colour)
            oriented.draw_missing_dot(path, width, looks[i])
            reserve(self.ax, path, spread=False)
        first = items[0].result
        if looks is None and not self.small and first.missing is not None:
            label = f"missing\n{100 * first.missing.share:.3g} %"
            if is_constant(first):
                low, high = self.ax.dataLim.intervaly
                ends, margin = (min(low, 0.0), max(high, 0.0)), style.AXIS_MARGIN
                self.ax.set_ylim(canvas.widen_interval(*ends, margin, margin))
        label_side(side, label, size)

    def place_missing(self, point: Trace) -> tuple[Axes, Trace]:
        """Find the narrow panel."""
        return find_side(self.ax), point._replace(x=np.zeros(1))

    def mark_trainings(self) -> LineMarks:
        """Draw trainings as lines."""
        return LineMarks(self)

    def locate(self, result: Result, x: FloatArray) -> FloatArray:  # noqa: ARG002
        """Find places of a result on the axis: numbers are their own."""
        return x

    def fit(self, *, strip: bool = True) -> None:
        """Let the axes reach as far as what is drawn, with room for a strip of counts."""
        canvas.fit_limits(self.ax, strip=strip, view=self.view)

    def name_places(self, result: Result) -> None:
        """Write numbers, dates or durations."""
        most = style.SMALL_TICKS if self.small else MAX_TICKS
        if self.view.is_log:
            # Write plain numbers along a logarithmic x axis, as many as have room.
            ax = self.ax
            low, high = ax.get_xlim()
            finest = next(
                (parts for parts in LOG_PARTS if count_log(low, high, parts) <= most),
                (1.0,),
            )
            ax.xaxis.set_major_locator(LogLocator(subs=finest, numticks=most))
            ax.xaxis.set_major_formatter(FuncFormatter(log_text))
            ax.xaxis.set_minor_locator(NullLocator())
        else:
            dress_places(self.ax, find_result_axis_kind(result), reach(result), ticks=most)
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
        self.oriented.draw_zero_line()
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
        """Draw dots, wide pale strokes for the spread, whiskers for the uncertainty.

        Many numbers are drawn as a line, its band and its ribbon.
        """
        layers = {"spread": spread, "uncertainty": uncertainty}
        if self.is_crowded():
            if item.missing is not None:
                _, point = self.place_missing(item.missing)
                draw_missing_point(self.oriented, point, level, **layers)
            return ContinuousAxis(self.oriented.ax).draw_one(item, label, level, **layers)
        width = self.dot_width()
        explained, path = self.draw_dots(item, label, style.ALONE, width)
        explained += self.oriented.draw_spread(path, width) if spread else []
        if uncertainty:
            explained += self.oriented.draw_ci(path, level, style.CAP_WIDTH * width)
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
        self.oriented.draw_ci(path, level, width, look.colour)
        return explained

    def is_crowded(self, n_items: int = 1) -> bool:
        """Tell whether dots and bars of numbers would touch those of their neighbours."""
        if not self.layout.is_number or self.oriented.horizontal:
            return False
        room = self.oriented.points_per_slot(self.layout)
        return room < style.CLOSE_SLOT or room / n_items < style.LEAST_DOT

    def draw_line(self, item: Item, label: str, level: float, look: style.Look) -> list[Artist]:
        """Draw numbers as a line and its ribbon, and missing values in their slot."""
        if item.missing is not None:
            _, missing = self.place_missing(item.missing)
            self.oriented.draw_ci(missing, level, style.LEAST_NUMBER_DOT, look.colour)
            self.oriented.draw_missing_dot(missing, style.LEAST_NUMBER_DOT, look)
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
        oriented.draw_missing_dot(missing, width, look)
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
        note = canvas.write_constant_feature(oriented.ax, result, heights=missing is not None)
        if missing is None:
            return
        note.set(text="constant:\none level,\nno curve", position=(0.27, 0.96), va="top")
        self.begin()
        draw_missing_point(oriented, self.place_missing(missing)[1], level)
        oriented.fit(self.layout, strip=False)

    def draw_aside(
        self,
        items: Sequence[Item],
        level: float,
        looks: Sequence[style.Look] | None = None,
        *,
        spread: bool = True,
        uncertainty: bool = True,
    ) -> None:
        """Nothing: missing values have a slot."""

    def place_missing(self, point: Trace) -> tuple[Axes, Trace]:
        """Find their slot."""
        return self.oriented.ax, point._replace(x=np.array([self.layout.missing]))

    def mark_trainings(self) -> Marks:
        """Draw trainings as dots at the levels, or as lines where these are many numbers."""
        if self.is_crowded():
            return LineMarks(ContinuousAxis(self.oriented.ax))
        return PointMarks(self.oriented, self.dot_width(), self.room, self.layout.is_number)

    def locate(self, result: Result, x: FloatArray) -> FloatArray:
        """Find the slots of the levels of a result."""
        return self.layout.locate(result, x)

    def fit(self, *, strip: bool = True) -> None:
        """Let the axes reach over all levels, and as far as what is drawn."""
        self.oriented.fit(self.layout, strip=strip)

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


# --- How several trainings are drawn: lines and a band, or dots and bars at single places


OWN_MODEL_DASH, OWN_MARKER = (0, (5, 1.5)), "D"
SMALL_DOT, MEAN_DOT, OWN_DOT = 0.35, 0.75, 0.7  # of the width of the largest dot


class LineMarks(NamedTuple):
    """Numbers, dates or durations along x: a thin line for each training, a band with edges."""

    field: ContinuousAxis

    def draw_trainings(self, path: RefitTrace, label: str) -> list[Artist]:
        """Draw the curve of every training."""
        lines = LineCollection([np.column_stack([path.x, curve]) for curve in path.curves])
        lines.set(color=style.BETWEEN, linewidth=style.THIN_LINE, alpha=style.TRAINING_ALPHA)
        lines.set(zorder=1.6, gid="rhale:trainings", label=label)
        self.field.ax.add_collection(lines)
        return [lines]

    def draw_interval(self, path: RefitTrace) -> list[Artist]:
        """Draw where the mean of all possible trainings is; nothing where that is not known."""
        bands = self.field.draw_ci(path, 0.95, style.BETWEEN)
        for band in bands:
            band.set(alpha=None, facecolor=(style.BETWEEN, style.BETWEEN_ALPHA))
            band.set(linewidth=style.WHISKER_LINE, zorder=1.2, gid="rhale:between")
        return bands

    def draw_mean(self, path: RefitTrace, label: str) -> list[Artist]:
        """Draw the mean of the trainings."""
        return [self.field.draw_curve(path, label, style.ALONE)]

    def draw_own(self, path: RefitTrace, label: str) -> list[Artist]:
        """Draw the curve of the user's own model over it, where there is one."""
        if path.own is None:
            return []
        look = style.Look(style.TRUTH, OWN_MODEL_DASH, OWN_MARKER)
        line = self.field.draw_curve(path._replace(curve=path.own), label, look)
        line.set(linewidth=style.WHISKER_LINE, zorder=4.5, gid="rhale:own")
        return [line]

    def draw_rows(self, own: Trace, label: str) -> list[Artist]:
        """Draw the interval of the user's model, which knows of no other training."""
        ribbons = self.field.draw_ci(own, 0.95)
        for ribbon in ribbons:
            ribbon.set(linewidth=0, label=label)
        return ribbons


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
        width = style.CAP_WIDTH * self.width
        bars = self.oriented.draw_whiskers(path, width, style.BETWEEN, style.LINE_WIDTH)
        for bar in bars:
            bar.set(zorder=3, gid="rhale:between")
        return bars

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
        whiskers = self.oriented.draw_ci(own, 0.5, OWN_DOT * self.width)
        for stroke in whiskers:
            stroke.set_label(label)
        return whiskers


Marks = LineMarks | PointMarks


# --- Missing values beside the axis of numbers, dates or durations: a narrow panel of their own


PANEL = "rhale:missing-panel"


def draw_missing_point(
    oriented: OrientedAxes,
    point: Trace,
    level: float,
    *,
    spread: bool = True,
    uncertainty: bool = True,
) -> None:
    """Draw the mean without a value, how rows differ there, and how well it is known."""
    if spread:
        oriented.draw_spread(point, style.LARGEST_DOT)
    if uncertainty:
        oriented.draw_ci(point, level, style.CAP_WIDTH * style.LARGEST_DOT)
    oriented.draw_missing_dot(point, style.LARGEST_DOT, style.ALONE)


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
        OrientedAxes(side).draw_zero_line()
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
