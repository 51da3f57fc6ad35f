"""One small panel: the curves or levels of one feature, for one output or several."""

from __future__ import annotations

from typing import NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties

from rhale.kernels.curve import Center
from rhale.plots import canvas, style
from rhale.plots.board import Board
from rhale.plots.fields import Field, Item, place_field, read_item
from rhale.plots.lettering import LITERAL, number, wrapped
from rhale.results.result import Result, Trace


class Panel(NamedTuple):
    """What one panel shows: the results of one feature."""

    name: str
    items: list[Item]

    @property
    def first(self) -> Result:
        """The result of the first output."""
        return self.items[0].result

    @property
    def everything(self) -> list[Trace]:
        """Curves and missing values."""
        return self.paths + [item.missing for item in self.items if item.missing is not None]

    @property
    def paths(self) -> list[Trace]:
        """Curves; none if constant."""
        return [item.path for item in self.items if item.path.x.size]

    @property
    def has_side(self) -> bool:
        """Whether missing values stand beside the panel, as numbers have no place for them."""
        return not self.first.labels and any(item.missing is not None for item in self.items)

    @property
    def label_depth(self) -> float:
        """Room below the panel for turned names of levels, in inches."""
        if self.first.column_kind != "categories":
            return 0.0
        longest = max(map(len, self.first.labels))
        return style.LABEL_DEPTH * min(1.0, longest / style.SMALL_LABEL)

    def place(self, ax: Axes) -> Field:
        """Choose how the results are drawn on small axes."""
        return place_field(Board(ax), [item.result for item in self.items], small=True)


def read_feature(
    name: str, results: list[Result], center: Center, level: float, *, smooth: bool = False
) -> Panel:
    """Read what one panel shows."""
    return Panel(name, [read_item(result, center, level, smooth=smooth) for result in results])


def draw_panel(ax: Axes, feature: Panel, outputs: list[str], level: float) -> list[Artist]:
    """Draw one feature, for one output or for several; return what a legend explains."""
    field, several = feature.place(ax), len(outputs) > 1
    places = [outputs.index(item.result.output) for item in feature.items]
    explained: list[Artist] = []
    if not feature.paths:
        field.draw_constant(feature.items, level)
    else:
        field.begin()
        for item, place in zip(feature.items, places, strict=True):
            if several:
                explained += field.draw_among(item, outputs[place], level, place, len(outputs))
            else:
                explained += field.draw_one(item, "mean effect", level)
        explained += field.explain_intervals(level) if several else []
        explained += field.draw_gaps(feature.first) + field.draw_counts(feature.first)
    field.draw_aside(feature.items, level, [style.look(p) for p in places] if several else None)
    if feature.paths:
        field.fit()
    field.name_places(feature.first)
    return explained


def write_title(ax: Axes, feature: Panel) -> None:
    """Write the feature's name, and under it its importance and typical spread."""
    if len(feature.items) == 1:
        one = feature.first
        error, spread = number(one.importance_error, 2), number(one.typical_spread)
        words = f"importance {number(one.importance)} ± {error}\ntypical spread {spread}"
    else:
        words = f"importance up to {number(max(i.result.importance for i in feature.items))}"
    size = FontProperties(size=style.NUMBER_TEXT).get_size_in_points()
    note = ax.annotate(
        words, (0, 1), (0, 2), "axes fraction", textcoords="offset points", **LITERAL
    )
    note.set(fontsize=style.NUMBER_TEXT, color=style.NOTE, gid="rhale:numbers", va="bottom")
    pad = 4 + 1.35 * size * (1 + words.count("\n"))
    name = wrapped(feature.name, canvas.letters(ax, "width"))
    ax.set_title(name, loc="left", fontsize=style.NAME_TEXT, pad=pad, fontweight="bold", **LITERAL)
