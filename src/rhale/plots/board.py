"""Axes on which levels stand along x, or along y where their names are long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.transforms import Transform

from rhale.kernels import FloatArray
from rhale.kernels.curve import Center
from rhale.plots import canvas, style
from rhale.plots.labels import value_label
from rhale.plots.lettering import LITERAL, join_names
from rhale.plots.slots import (
    LevelLayout,
    Naming,
    choose_level_labels,
    fits_level,
    keep_apart,
    level_names,
)
from rhale.results.result import Result

MAX_LEVEL_TICKS = 60  # of which some have no name


class OrientedAxes(NamedTuple):
    """Axes in terms of places (of levels) and values, whichever of the two is x."""

    ax: Axes
    turned: bool = False

    def points(self, places: FloatArray, values: FloatArray) -> FloatArray:
        """Coordinates of points, shape (n, 2)."""
        pair = (values, places) if self.turned else (places, values)
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
        return turned() if self.turned else plain()

    def rule(self, place: float) -> Artist:
        """Draw a line across, at a place."""
        return self.ax.axhline(place) if self.turned else self.ax.axvline(place)

    def zero(self) -> Artist:
        """Draw a line along the places, at no effect."""
        return self.ax.axvline(0.0) if self.turned else self.ax.axhline(0.0)

    @property
    def inches(self) -> float:
        """Length of the axis of places."""
        box = self.ax.get_window_extent()
        return float((box.height if self.turned else box.width) / self.ax.figure.dpi)

    def points_per_slot(self, slots: LevelLayout) -> float:
        """Room of a level in points, of which there are 72 in an inch."""
        low, high = slots.limits
        return 72 * self.inches * slots.gap / (high - low)

    def fit(self, slots: LevelLayout, *, strip: bool) -> None:
        """Let the axes reach over all levels, and as far as what is drawn."""
        below = style.ROOM_FOR_STRIP if strip else style.AXIS_MARGIN
        low, high = slots.limits
        if self.turned:
            x = self.ax.dataLim.intervalx
            self.ax.set_xlim(canvas.widen_interval(x[0], x[1], below, style.AXIS_MARGIN), auto=True)
            self.ax.set_ylim(high, low)  # the first level on top
        else:
            y = self.ax.dataLim.intervaly
            self.ax.set_ylim(canvas.widen_interval(y[0], y[1], below, style.AXIS_MARGIN), auto=True)
            self.ax.set_xlim(low, high)

    def name_levels(self, slots: LevelLayout, *, size: str = "medium", longest: int = 0) -> None:
        """Write the levels at their places."""
        points = FontProperties(size=size).get_size_in_points()
        if self.turned:
            names = level_names(slots, longest or self._longest_name(points))
            at = np.append(slots.places, slots.missing)[: len(names)]
            at = at * self.inches / (slots.limits[1] - slots.limits[0])
            line = style.LINE_HEIGHT * points / 72
            naming = Naming(keep_apart(names, at, [line] * len(names), 0.0), 0.0)
        else:
            naming = choose_level_labels(slots, self.inches, points, longest or style.LEVEL_LABEL)
        self._write(slots, naming, size)

    def _longest_name(self, points: float) -> int:
        """Most letters of a name beside the axes: names shall not take all of their room."""
        inches = self.ax.get_window_extent().width / self.ax.figure.dpi
        room = style.NAME_SHARE * inches / (style.LETTER_WIDTH * points / 72)
        return int(np.clip(room, 8, style.TURNED_LABEL))

    def _write(self, slots: LevelLayout, naming: Naming, size: str) -> None:
        places = np.append(slots.places, slots.missing)[: len(naming.labels)]
        labels = np.array(naming.labels, dtype=object)
        if len(labels) > MAX_LEVEL_TICKS:  # Matplotlib takes seconds for hundreds of ticks
            places, labels = places[labels != ""], labels[labels != ""]
        axis = self.ax.yaxis if self.turned else self.ax.xaxis
        axis.set_ticks(places, labels=list(labels))
        slanted = naming.rotation not in (0.0, 90.0)
        for tick in axis.get_major_ticks():
            tick.label1.set(fontsize=size, rotation=naming.rotation, **LITERAL)
            if slanted:
                tick.label1.set(ha="right", rotation_mode="anchor")


def should_turn(slots: LevelLayout, ax: Axes | Sequence[Axes] | None) -> bool:
    """Tell whether levels are better written below one another: many, or with long names."""
    if slots.is_number or not (ax is None or isinstance(ax, Axes)):
        return False
    inches = style.EFFECT_SIZE[0] - 1.2
    if isinstance(ax, Axes):
        inches = ax.get_window_extent().width / ax.figure.dpi
    return not fits_level(slots, inches)


def turned_height(slots: LevelLayout, lines: float = 1.0) -> float:
    """Height of a figure whose levels stand below one another, in inches."""
    low, high = slots.limits
    height = style.TURNED_HEAD + style.TURNED_LINE * lines * (high - low)
    return float(np.clip(height, *style.TURNED_REACH))


def new_oriented_axes(
    slots: LevelLayout, ax: Axes | None, *, n_items: int = 1, turned: bool | None = None
) -> OrientedAxes:
    """Find or make one panel for levels, turned where names are long or that is asked for."""
    turned = should_turn(slots, ax) if turned is None else turned
    if ax is not None:
        return OrientedAxes(ax, turned)
    if not turned:
        return OrientedAxes(canvas.new_axes(style.PROFILE_SIZE))
    height = turned_height(slots, 1 + 0.25 * (n_items - 1))
    board = OrientedAxes(canvas.new_axes((style.PROFILE_SIZE[0], height)), turned=True)
    canvas.write_plain_values(board.ax)
    return board


def label_oriented_axes(
    board: OrientedAxes, results: Sequence[Result], center: Center | None
) -> None:
    """Name the axes of one panel."""
    value = value_label(
        results, center, canvas.letters(board.ax, "width" if board.turned else "height")
    )
    names = [result.captions.axis(result.name) for result in results]
    label_one(board, join_names(names, style.LABEL_LENGTH), value)


def label_one(board: OrientedAxes, name: str, value: str) -> None:
    """Write the name of the feature along its places, and what is shown along the values."""
    x, y = (value, name) if board.turned else (name, value)
    board.ax.set_xlabel(x, **LITERAL)
    board.ax.set_ylabel(y, **LITERAL)


def label_pair(top: OrientedAxes, bottom: OrientedAxes, words: tuple[str, str], name: str) -> None:
    """Name the values of both panels; the feature and its places once, where these are shared."""
    for board, word in zip((top, bottom), words, strict=True):
        write = board.ax.set_xlabel if board.turned else board.ax.set_ylabel
        write(word, fontsize=style.NAME_TEXT, **LITERAL)
    if top.turned:
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
    board: OrientedAxes, artists: list[Artist], *, new: bool, title: str = ""
) -> None:
    """Write a legend; below a new figure whose levels have long names."""
    if new and board.turned:
        canvas.add_figure_legend(cast(Figure, board.ax.figure), artists, title=title)
    else:
        canvas.add_legend(board.ax, artists, outside=new, title=title)
