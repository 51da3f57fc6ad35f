"""One small panel: the curves or levels of one feature, for one output or several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties

from rhale.plots import canvas, style, theme
from rhale.plots.board import OrientedAxes
from rhale.plots.fields import Item, Layers, PlotAxis, make_plot_axis, read_item
from rhale.plots.labels import tell_apart
from rhale.plots.lettering import (
    LITERAL,
    MINUS_SIGN,
    format_label_number,
    number_with_error,
    wrapped,
)
from rhale.plots.proportion import IMPORTANCE_ROUNDING, is_negligible_effect, largest_importance
from rhale.plots.region_curves import (
    RegionCurve,
    describe_briefly,
    name_regions,
    read_region_curves,
    require_regions,
)
from rhale.plots.region_plot import draw_region_curves, make_key
from rhale.plots.view import PLAIN_VIEW, AxisView
from rhale.results.listing import write_spread
from rhale.results.result import Result, Trace


class Panel(NamedTuple):
    """What one panel shows: the results of one feature, under a title."""

    title: str
    items: list[Item]
    curves: tuple[RegionCurve, ...] = ()
    view: AxisView = PLAIN_VIEW

    @property
    def first(self) -> Result:
        """The result of the first output."""
        return self.items[0].result

    @property
    def everything(self) -> list[Trace]:
        """Curves and missing values; of regions where they are drawn, as far as they are."""
        if self.curves:
            items = [self.items[0], *(curve.item for curve in self.curves)]
            paths = [path for item in items for path in (item.path, item.missing)]
            return [without_spread(path) for path in paths if path is not None and path.x.size]
        return self.paths + [item.missing for item in self.items if item.missing is not None]

    @property
    def paths(self) -> list[Trace]:
        """Curves; none if constant."""
        return [item.path for item in self.items if item.path.x.size]

    @property
    def has_side(self) -> bool:
        """Whether missing values stand beside the panel, as numbers have no place for them."""
        items = [*self.items, *(curve.item for curve in self.curves)]
        return not self.first.labels and any(item.missing is not None for item in items)

    @property
    def head(self) -> float:
        """Room above the panel for the names of regions, in inches."""
        size = FontProperties(size=style.NUMBER_TEXT).get_size_in_points()
        return style.REGION_LINE * len(self.curves) * size / 72

    @property
    def label_depth(self) -> float:
        """Room below the panel for turned names of levels, in inches."""
        if self.first.column_kind != "categories":
            return 0.0
        longest = max(map(len, self.first.labels))
        return style.LABEL_DEPTH * min(1.0, longest / style.SMALL_LABEL)

    def place(self, ax: Axes) -> PlotAxis:
        """Choose how the results are drawn on small axes."""
        results = [item.result for item in self.items]
        return make_plot_axis(OrientedAxes(ax), results, small=True, view=self.view)


def without_spread(path: Trace) -> Trace:
    """What is drawn of one curve among several, where it is drawn."""
    known = np.isfinite(path.curve)
    return Trace(*(values[known] for values in path))._replace(spread=np.zeros(known.sum()))


def read_feature(
    title: str,
    results: list[Result],
    layers: Layers,
    *,
    smooth: bool = False,
    regions: bool = False,
    view: AxisView = PLAIN_VIEW,
) -> Panel:
    """Read what one panel shows: with `regions` their curves, where there is one output."""
    items = [
        read_item(result, layers.center, layers.level, smooth=smooth, view=view)
        for result in results
    ]
    if not (regions and len(results) == 1 and results[0].regions is not None):
        return Panel(title, items, view=view)
    curves = read_region_curves(results[0], layers, smooth=smooth, view=view)
    return Panel(title, items, tuple(curves), view)


def draw_effect_panel(ax: Axes, feature: Panel, outputs: list[str], level: float) -> list[Artist]:
    """Draw one feature, for one output or for several; return what a legend explains."""
    field, several = feature.place(ax), len(outputs) > 1
    places = [outputs.index(item.result.output) for item in feature.items]
    explained: list[Artist] = []
    if feature.curves and feature.paths:
        _, explained = draw_region_curves(
            field, feature.items[0], feature.curves, Layers(level=level)
        )
        field.name_places(feature.first)
        field.name_scale()
        return explained
    if not feature.paths:
        field.draw_constant(feature.items, level)
    else:
        field.begin()
        names = tell_apart([feature.first.captions.output(output) for output in outputs])
        for item, place in zip(feature.items, places, strict=True):
            if several:
                explained += field.draw_among(item, names[place], level, place, len(outputs))
            else:
                explained += field.draw_one(item, "mean effect", level)
        explained += field.explain_intervals(level, len(outputs)) if several else []
        explained += field.draw_gaps(feature.first) + field.draw_counts(feature.first)
    field.draw_aside(
        feature.items, level, [style.line_style(p) for p in places] if several else None
    )
    if feature.paths:
        field.fit()
    field.name_places(feature.first)
    field.name_scale()
    return explained


def write_effect_title(ax: Axes, feature: Panel, among: Sequence[Result] = ()) -> None:
    """Write the feature's name, and under it its importance and typical spread.

    Parameters
    ----------
    ax : Axes
        Where.
    feature : Panel
        What it shows.
    among : sequence of Result
        All that is drawn: what is rounding beside it is nothing.
    """
    one = feature.first
    size = FontProperties(size=style.NUMBER_TEXT).get_size_in_points()
    above = 2.0
    words = write_effect_importance(feature, among)
    if feature.curves:
        tree = require_regions(one)
        inches = ax.get_window_extent().width / ax.figure.dpi
        length = canvas.wide_letters(inches, style.NUMBER_TEXT)
        words += f"\n{describe_briefly(tree, length)}"
        above += 72 * feature.head
        name_curves(ax, feature, name_regions(tree, length - 6, ""))
    note = ax.annotate(
        words, (0, 1), (0, above), "axes fraction", textcoords="offset points", **LITERAL
    )
    note.set(fontsize=style.NUMBER_TEXT, color=style.NOTE, gid="rhale:numbers", va="bottom")
    pad = 2 + above + 1.35 * size * (1 + words.count("\n"))
    words = wrapped(feature.title, canvas.letters(ax, "width"))
    ax.set_title(words, loc="left", fontsize=style.NAME_TEXT, pad=pad, fontweight="bold", **LITERAL)


def write_effect_importance(feature: Panel, among: Sequence[Result]) -> str:
    """Say how important a feature is, and how much rows differ; of several outputs the largest."""
    results = [item.result for item in feature.items]
    if all(is_negligible_effect(result, among) for result in results):
        return "importance 0"
    if len(results) > 1:
        return (
            f"importance up to {format_label_number(max(result.importance for result in results))}"
        )
    (one,) = results
    words = f"importance {number_with_error(one.importance, one.importance_error)}"
    spread, error = one.typical_spread, one.typical_spread_error
    spread = 0.0 if spread < IMPORTANCE_ROUNDING * largest_importance(among) else spread
    return words if feature.curves else f"{words}\ntypical spread {tell_spread(spread, error)}"


def tell_spread(spread: float, error: float) -> str:
    """Write a typical spread, with its error where that is known."""
    return write_spread(spread, error).replace("-", MINUS_SIGN)


def name_curves(ax: Axes, feature: Panel, labels: Sequence[str]) -> None:
    """Name the curves of regions above a small panel."""
    if not theme.current().legend:
        return
    common, curves = feature.items[0], feature.curves
    lines = [make_key(curve, 4.0, is_point=curve.is_point(common)) for curve in curves]
    legend = ax.legend(
        lines,
        canvas.dummies(lines),
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        fontsize=style.NUMBER_TEXT,
        frameon=False,
        handlelength=1.8,
        labelspacing=0.2,
        borderpad=0.0,
        borderaxespad=0.2,
    )
    for text, curve in zip(legend.get_texts(), curves, strict=True):
        text.set(text=labels[curve.place], **LITERAL)
