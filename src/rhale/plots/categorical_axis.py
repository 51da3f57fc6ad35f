"""The categorical axis: levels along x, or along y where their names are long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.font_manager import FontProperties
from matplotlib.transforms import Transform

from rhale.effects.curve import Center
from rhale.effects.result import Result, Trace
from rhale.plots import canvas, style
from rhale.plots.labels import (
    BREAKS,
    LITERAL,
    axis_name,
    fit_name,
    interval_name,
    join_names,
    value_label,
    wrapped,
)
from rhale.stability.refit_effect import RefitTrace
from rhale.stats.arrays import FloatArray

# --- Where levels stand on an axis, and how they are named there


EMPTY_LEVEL_LABEL = "(empty)"  # a label of no letters
SLANTED_LINES = 1.5  # distance of slanted names along the axis, by the height of their lines
MAX_LEVEL_NAME_LETTERS = 120  # letters that are looked at
ROOM_FOR_MISSING = 1.5  # in slots, after the last category
NUMBER_ROOM = 0.2  # the same after the last number, as a share of their range
LEVEL_MARGIN, GAP_MARGIN = 0.05, 0.25  # beside numbers: of their range, of their least distance


@dataclass(frozen=True)
class LevelLayout:
    """Places of levels along an axis."""

    labels: tuple[str, ...]  # the levels, in order
    places: FloatArray  # where each stands, increasing
    is_number: bool  # whether the places are the values of the levels
    has_missing: bool  # whether there is a place for missing values, after the last level.

    @property
    def gap(self) -> float:
        """Least distance of two levels."""
        return float(np.diff(self.places).min()) if self.places.size > 1 else 1.0

    @property
    def span(self) -> float:
        """Distance of the first and the last level, at least one gap."""
        return float(self.places[-1] - self.places[0]) or self.gap

    @property
    def missing(self) -> float:
        """Where missing values stand."""
        room = NUMBER_ROOM * self.span if self.is_number else ROOM_FOR_MISSING
        return float(self.places[-1]) + room

    @property
    def limits(self) -> tuple[float, float]:
        """How far the axis reaches."""
        margin = max(LEVEL_MARGIN * self.span, GAP_MARGIN * self.gap) if self.is_number else 0.6
        margin = margin if self.places.size > 1 else 0.6
        last = self.missing if self.has_missing else float(self.places[-1])
        return float(self.places[0]) - margin, last + margin

    def locate(self, result: Result, x: FloatArray) -> FloatArray:
        """Turn places on a result's own axis into places here."""
        if self.is_number:
            return x
        mine = np.array([self.labels.index(label) for label in result.labels], dtype=np.float64)
        return mine[np.searchsorted(result.axis, x)]  # numbers may stand among names


def lay_out_levels(results: Sequence[Result], order: Sequence[str] = ()) -> LevelLayout:
    """Find the places of the levels of all results; those of the first come first.

    Levels named in `order` come before all others; numbers keep their places.
    """
    has_missing = any(result.missing is not None for result in results)
    if not all(result.column_kind == "steps" for result in results):
        found_labels = (label for result in results for label in result.labels)
        labels = tuple(dict.fromkeys([*order, *found_labels]))
        return replace(lay_out_names(labels), has_missing=has_missing)
    found = {
        place: label
        for result in reversed(results)
        for place, label in zip(result.axis.tolist(), result.labels, strict=True)
    }
    numbers = sorted(found)
    names = tuple(found[number] for number in numbers)
    return LevelLayout(names, np.array(numbers), is_number=True, has_missing=has_missing)


def lay_out_names(names: Sequence[str]) -> LevelLayout:
    """Put names at even places, one after the other."""
    places = np.arange(float(len(names)))
    return LevelLayout(tuple(names), places, is_number=False, has_missing=False)


@dataclass(frozen=True)
class Naming:
    """How levels are written: one text for each (none where there is no room), and its turn."""

    labels: list[str]
    rotation: float


def choose_level_labels(layout: LevelLayout, inches: float, points: float, longest: int) -> Naming:
    """Choose how levels are written along an x axis, so that no two names touch."""
    # Numbers stay level, and some are left out. Names of categories are written on two lines,
    # or turned, before they are cut.
    names = level_names(layout, longest)
    at = np.append(layout.places, layout.missing)[: len(names)]
    at = at * inches / (layout.limits[1] - layout.limits[0])
    letter, line = style.LETTER_WIDTH * points / 72, style.LINE_HEIGHT * points / 72
    if layout.is_number:
        return Naming(keep_apart(names, at, [letter * len(name) for name in names], letter), 0.0)
    closest = min((b - a for a, b in pairwise(at)), default=inches)
    whole = level_names(layout, MAX_LEVEL_NAME_LETTERS)
    for rotation, length, lines in ways_to_write(closest, letter, line, longest):
        folds = [fold_whole(name, length) if lines > 1 else name for name in whole]
        if all(fold is not None and max(map(len, fold.split("\n"))) <= length for fold in folds):
            return Naming([fold or "" for fold in folds], rotation)
    steep = closest < SLANTED_LINES * line
    return Naming(keep_apart(names, at, [line] * len(names), 0.0), 90.0 if steep else 35.0)


def ways_to_write(
    closest: float, letter: float, line: float, longest: int
) -> Iterator[tuple[float, int, int]]:
    """Ways to write names that leave none out: the turn, letters of a line, and lines."""
    level = int(closest / letter) - 1
    ways = ((0.0, level, 0.0), (35.0, longest, SLANTED_LINES), (90.0, longest, 1.0))
    for rotation, length, room in ways:
        for lines in (1, 2):
            if closest >= room * line * lines and length > 0:
                yield rotation, length, lines


def fold_whole(name: str, length: int) -> str | None:
    r"""Write a name on at most two lines, none of which ends inside of a word; None if it cannot be."""
    folded = wrapped(name, length)
    first = folded.partition("\n")[0]
    ends_whole = folded == name or first[-1:] in BREAKS or name[len(first) :].startswith(" ")
    return folded if ends_whole and "…" not in folded.replace(name, "") else None


def fits_level(layout: LevelLayout, inches: float) -> bool:
    """Tell whether names can stand along an axis of this length, slanted at most."""
    if len(layout.labels) > style.MOST_SLANTED:
        return False
    names = level_names(layout, style.LABEL_LENGTH)
    letter = style.LETTER_WIDTH * style.LETTER_POINTS / 72
    slot = inches / (layout.limits[1] - layout.limits[0])
    if max(map(len, names)) * letter <= max(slot, style.SLANTED_ROOM):
        return True
    length = int(slot / letter) - 1
    return length > 0 and all(fold_whole(name, length) for name in names)


def level_names(layout: LevelLayout, longest: int) -> list[str]:
    """Write the levels, and the missing ones where they have a place."""
    names = [fit_name(label, longest) or EMPTY_LEVEL_LABEL for label in layout.labels]
    return [*names, "missing"] if layout.has_missing else names


def keep_apart(names: list[str], at: FloatArray, widths: Sequence[float], room: float) -> list[str]:
    """Leave out names that would touch others; the last is kept in any case."""
    # Where places are even, every second is kept, or every third, ...; where they are not,
    # names are kept one by one, as long as they have room.
    last = len(names) - 1
    kept = with_room(range(last), last, at, widths, room)
    if np.allclose(np.diff(at[:last]), np.diff(at[:2])):
        for stride in range(1, last // 2 + 1):
            wanted = range(0, last, stride)
            kept = with_room(wanted, last, at, widths, room)
            if len(kept) >= len(wanted):  # all but one, which makes room for the last
                break
    return [name if i in kept else "" for i, name in enumerate(names)]


def with_room(
    wanted: Sequence[int], last: int, at: FloatArray, widths: Sequence[float], room: float
) -> list[int]:
    """Choose the last name, and then those that touch none that was chosen before."""
    kept = [last]
    for i in wanted:
        if all(abs(at[i] - at[k]) >= (widths[i] + widths[k]) / 2 + room for k in kept):
            kept.append(i)
    return kept


MAX_LEVEL_TICKS = 30  # of which some have no name


class OrientedAxes(NamedTuple):
    """Axes in terms of places (of levels) and values, whichever of the two is x."""

    ax: Axes
    horizontal: bool = False

    def points(self, places: FloatArray, values: FloatArray) -> FloatArray:
        """Coordinates of points, shape (n, 2)."""
        pair = (values, places) if self.horizontal else (places, values)
        return np.column_stack(pair)

    def strokes(self, places: FloatArray, low: FloatArray, high: FloatArray) -> LineCollection:
        """Draw lines along the axis of values, one at each place."""
        ends = np.stack([self.points(places, low), self.points(places, high)], axis=1)
        lines = LineCollection(list(ends))
        self.ax.add_collection(lines, autolim=False)
        self.ax.update_datalim(ends.reshape(-1, 2))
        return lines

    def strip(self, places: FloatArray, heights: FloatArray) -> LineCollection:
        """Draw lines from the edge of the axes inwards, heights in shares of the axes."""
        floor = np.zeros(places.size)
        ends = np.stack([self.points(places, floor), self.points(places, heights)], axis=1)
        lines = LineCollection(list(ends), transform=self.along)
        self.ax.add_collection(lines, autolim=False)
        return lines

    @property
    def along(self) -> Transform:
        """Places as they are, values as shares of the axes."""
        turned, plain = self.ax.get_yaxis_transform, self.ax.get_xaxis_transform
        return turned() if self.horizontal else plain()

    def rule(self, place: float) -> Artist:
        """Draw a line across, at a place."""
        return self.ax.axhline(place) if self.horizontal else self.ax.axvline(place)

    def draw_zero_line(self) -> None:
        """Draw the line of no effect along the places."""
        zero = self.ax.axvline(0.0) if self.horizontal else self.ax.axhline(0.0)
        zero.set(color=style.ZERO_LINE, linewidth=style.THIN_LINE, zorder=0.5, gid="rhale:zero")

    def draw_missing_dot(self, path: Trace, width: float, look: style.Look) -> Artist:
        """Draw the mean without a value: a hollow dot, as it is no level."""
        x, y = self.points(path.x, path.curve).T
        dot = self.ax.scatter(x, y, marker=look.marker)
        dot.set(
            sizes=[(0.8 * width) ** 2], facecolor=self.ax.get_facecolor(), edgecolor=look.colour
        )
        dot.set(linewidth=1.2, zorder=4, gid="rhale:missing", label="missing")
        return dot

    def draw_spread(self, path: Trace, width: float) -> list[Artist]:
        """Draw wide pale strokes that say how rows differ; nothing where it is not known."""
        known = np.isfinite(path.spread) & np.isfinite(path.curve)
        if not known.any():
            return []
        curve, spread = path.curve[known], path.spread[known]
        strokes = self.strokes(path.x[known], curve - spread, curve + spread)
        strokes.set(color=style.SPREAD, alpha=style.STROKE_ALPHA, linewidth=width, zorder=1)
        strokes.set(capstyle="butt", gid="rhale:spread", label="± spread between rows")
        return [strokes]

    def draw_whiskers(
        self, path: Trace | RefitTrace, width: float, colour: str, line: float = 0.0
    ) -> list[Artist]:
        """Draw lines from low to high with caps of this width; nothing where they are not known."""
        known, line = np.isfinite(path.low) & np.isfinite(path.high), line or style.WHISKER_LINE
        if not known.any():
            return []
        places, low, high = path.x[known], path.low[known], path.high[known]
        whiskers = self.strokes(places, low, high)
        whiskers.set(color=colour, linewidth=line, zorder=3.9, gid="rhale:ci")
        for end in (low, high) if width else ():
            at = self.points(places, end)
            (caps,) = self.ax.plot(*at.T, "|" if self.horizontal else "_", color=colour)
            caps.set(markersize=width, markeredgewidth=line, zorder=3.9, gid="rhale:caps")
        return [whiskers]

    def draw_ci(
        self, path: Trace, level: float, width: float, colour: str | None = None
    ) -> list[Artist]:
        """Draw whiskers that say how well the mean is known; nothing where it is not known."""
        whiskers = self.draw_whiskers(path, width, colour or style.UNCERTAINTY)
        for one in whiskers:
            one.set_label(interval_name(level))
        return whiskers

    @property
    def value_limits(self) -> tuple[float, float]:
        """How far the axis of values reaches."""
        return self.ax.get_xlim() if self.horizontal else self.ax.get_ylim()

    def limit_values(self, low: float, high: float) -> None:
        """Let the axis of values reach so far."""
        (self.ax.set_xlim if self.horizontal else self.ax.set_ylim)(low, high, auto=True)

    @property
    def inches(self) -> float:
        """Length of the axis of places."""
        box = self.ax.get_window_extent()
        return float((box.height if self.horizontal else box.width) / self.ax.figure.dpi)

    def points_per_slot(self, layout: LevelLayout) -> float:
        """Room of a level in points, of which there are 72 in an inch."""
        low, high = layout.limits
        return 72 * self.inches * layout.gap / (high - low)

    def fit(self, layout: LevelLayout, *, strip: bool) -> None:
        """Let the axes reach over all levels, and as far as what is drawn."""
        below, drawn = style.ROOM_FOR_STRIP if strip else style.AXIS_MARGIN, self.ax.dataLim
        low, high = drawn.intervalx if self.horizontal else drawn.intervaly
        self.limit_values(*canvas.widen_interval(low, high, below, style.AXIS_MARGIN))
        first, last = layout.limits
        if self.horizontal:
            self.ax.set_ylim(last, first)  # the first level on top
        else:
            self.ax.set_xlim(first, last)

    def name_levels(self, layout: LevelLayout, *, size: str = "medium", longest: int = 0) -> None:
        """Write the levels at their places."""
        points = FontProperties(size=size).get_size_in_points()
        if self.horizontal:
            # Names beside the axes shall not take all of their room.
            inches = self.ax.get_window_extent().width / self.ax.figure.dpi
            room = style.NAME_SHARE * inches / (style.LETTER_WIDTH * points / 72)
            usual = int(np.clip(room, 8, style.TURNED_LABEL))
            names = level_names(layout, longest or usual)
            at = np.append(layout.places, layout.missing)[: len(names)]
            at = at * self.inches / (layout.limits[1] - layout.limits[0])
            line = style.LINE_HEIGHT * points / 72
            naming = Naming(keep_apart(names, at, [line] * len(names), 0.0), 0.0)
        else:
            naming = choose_level_labels(layout, self.inches, points, longest or style.LEVEL_LABEL)
        self._write(layout, naming, size)

    def _write(self, layout: LevelLayout, naming: Naming, size: str) -> None:
        places = np.append(layout.places, layout.missing)[: len(naming.labels)]
        labels = np.array(naming.labels, dtype=object)
        # Ticks without a name are a comb, and Matplotlib takes seconds for hundreds of them.
        if layout.is_number or len(labels) > MAX_LEVEL_TICKS:
            places, labels = places[labels != ""], labels[labels != ""]
        axis = self.ax.yaxis if self.horizontal else self.ax.xaxis
        axis.set_ticks(places, labels=list(labels))
        slanted = naming.rotation not in (0.0, 90.0)
        for tick in axis.get_major_ticks():
            tick.label1.set(fontsize=size, rotation=naming.rotation, **LITERAL)
            if slanted:
                tick.label1.set(ha="right", rotation_mode="anchor")


def should_turn(layout: LevelLayout, ax: Axes | Sequence[Axes] | None) -> bool:
    """Tell whether levels are better written below one another: many, or with long names."""
    if layout.is_number or not (ax is None or isinstance(ax, Axes)):
        return False
    inches = style.EFFECT_SIZE[0] - 1.2
    if isinstance(ax, Axes):
        inches = ax.get_window_extent().width / ax.figure.dpi
    return not fits_level(layout, inches)


def turned_height(layout: LevelLayout, lines: float = 1.0) -> float:
    """Height of a figure whose levels stand below one another, in inches."""
    low, high = layout.limits
    height = style.TURNED_HEAD + style.TURNED_LINE * lines * (high - low)
    return float(np.clip(height, *style.TURNED_REACH))


def new_oriented_axes(
    layout: LevelLayout, ax: Axes | None, *, n_items: int = 1, turned: bool | None = None
) -> OrientedAxes:
    """Find or make one panel for levels, turned where names are long or that is asked for."""
    turned = should_turn(layout, ax) if turned is None else turned
    if ax is not None:
        return OrientedAxes(ax, turned)
    if not turned:
        return OrientedAxes(canvas.new_axes(style.PROFILE_SIZE))
    height = turned_height(layout, 1 + 0.25 * (n_items - 1))
    oriented = OrientedAxes(canvas.new_axes((style.PROFILE_SIZE[0], height)), horizontal=True)
    canvas.write_plain_values(oriented.ax)
    return oriented


def label_oriented_axes(
    oriented: OrientedAxes, results: Sequence[Result], center: Center | None
) -> None:
    """Name the axes of one panel."""
    value = value_label(
        results, center, canvas.letters(oriented.ax, "width" if oriented.horizontal else "height")
    )
    names = [axis_name(result, style.LABEL_LENGTH) for result in results]
    label_one(oriented, join_names(names, style.LABEL_LENGTH), value)


def label_one(oriented: OrientedAxes, name: str, value: str) -> None:
    """Write the name of the feature along its places, and what is shown along the values."""
    x, y = (value, name) if oriented.horizontal else (name, value)
    oriented.ax.set_xlabel(x, **LITERAL)
    oriented.ax.set_ylabel(y, **LITERAL)


def label_pair(top: OrientedAxes, bottom: OrientedAxes, words: tuple[str, str], name: str) -> None:
    """Name the values of both panels; the feature and its places once, where these are shared."""
    for oriented, word in zip((top, bottom), words, strict=True):
        write = oriented.ax.set_xlabel if oriented.horizontal else oriented.ax.set_ylabel
        write(word, fontsize=style.NAME_TEXT, **LITERAL)
    if top.horizontal:
        top.ax.set_ylabel(name, **LITERAL)
        if top.ax.get_shared_y_axes().joined(top.ax, bottom.ax):
            bottom.ax.tick_params(labelleft=False)
        else:
            bottom.ax.set_ylabel(name, **LITERAL)
        return
    bottom.ax.set_xlabel(name, **LITERAL)
    if canvas.share_x(top.ax, bottom.ax):
        top.ax.tick_params(labelbottom=False)
        top.ax.xaxis.get_offset_text().set_visible(False)
    else:
        top.ax.set_xlabel(name, **LITERAL)


def add_levels_legend(
    oriented: OrientedAxes, artists: list[Artist], *, new: bool, title: str = ""
) -> None:
    """Write a legend; below a new figure whose levels have long names."""
    if new and oriented.horizontal:
        canvas.add_figure_legend(canvas.figure_of(oriented.ax), artists, title=title)
    else:
        canvas.add_legend(oriented.ax, artists, outside=new, title=title)
