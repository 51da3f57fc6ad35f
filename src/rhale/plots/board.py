"""Axes on which levels stand along x, or along y where their names are long."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.font_manager import FontProperties
from matplotlib.transforms import Transform

from rhale.kernels import FloatArray
from rhale.plots import canvas, style
from rhale.plots.lettering import LITERAL
from rhale.plots.slots import Naming, Slots, keep_apart, level_names, name_slots

MOST_TICKS = 60  # of which some have no name


class Board(NamedTuple):
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

    def points_per_slot(self, slots: Slots) -> float:
        """Room of a level in points, of which there are 72 in an inch."""
        low, high = slots.limits
        return 72 * self.inches * slots.gap / (high - low)

    def fit(self, slots: Slots, *, strip: bool) -> None:
        """Let the axes reach over all levels, and as far as what is drawn."""
        below = style.ROOM_FOR_STRIP if strip else style.MARGIN
        low, high = slots.limits
        if self.turned:
            x = self.ax.dataLim.intervalx
            self.ax.set_xlim(canvas.widen(x[0], x[1], below, style.MARGIN), auto=True)
            self.ax.set_ylim(high, low)  # the first level on top
        else:
            y = self.ax.dataLim.intervaly
            self.ax.set_ylim(canvas.widen(y[0], y[1], below, style.MARGIN), auto=True)
            self.ax.set_xlim(low, high)

    def name_levels(self, slots: Slots, *, size: str = "medium", longest: int = 0) -> None:
        """Write the levels at their places."""
        points = FontProperties(size=size).get_size_in_points()
        if self.turned:
            names = level_names(slots, longest or self._longest_name(points))
            at = np.append(slots.places, slots.missing)[: len(names)]
            at = at * self.inches / (slots.limits[1] - slots.limits[0])
            line = style.LINE_HEIGHT * points / 72
            naming = Naming(keep_apart(names, at, [line] * len(names), 0.0), 0.0)
        else:
            naming = name_slots(slots, self.inches, points, longest or style.LEVEL_LABEL)
        self._write(slots, naming, size)

    def _longest_name(self, points: float) -> int:
        """Most letters of a name beside the axes: names shall not take all of their room."""
        inches = self.ax.get_window_extent().width / self.ax.figure.dpi
        room = style.NAME_SHARE * inches / (style.LETTER_WIDTH * points / 72)
        return int(np.clip(room, 8, style.TURNED_LABEL))

    def _write(self, slots: Slots, naming: Naming, size: str) -> None:
        places = np.append(slots.places, slots.missing)[: len(naming.labels)]
        labels = np.array(naming.labels, dtype=object)
        if len(labels) > MOST_TICKS:  # Matplotlib takes seconds for hundreds of ticks
            places, labels = places[labels != ""], labels[labels != ""]
        axis = self.ax.yaxis if self.turned else self.ax.xaxis
        axis.set_ticks(places, labels=list(labels))
        slanted = naming.rotation not in (0.0, 90.0)
        for tick in axis.get_major_ticks():
            tick.label1.set(fontsize=size, rotation=naming.rotation, **LITERAL)
            if slanted:
                tick.label1.set(ha="right", rotation_mode="anchor")
