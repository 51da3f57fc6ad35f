"""Curves of single rows beside the mean.

A row is known where it was moved, near its own value: there its curve is drawn. Beyond, it is
estimated from how rows differ, and is drawn much paler; the axes do not follow it there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import index
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import is_color_like, to_rgb
from matplotlib.lines import Line2D

from rhale.effects.curve import Center
from rhale.effects.effect import Effect
from rhale.effects.level_effect import LevelEffect
from rhale.effects.result import Result, find_result_axis_kind, is_constant
from rhale.effects.spread import ShownRows
from rhale.effects.support import has_free_order
from rhale.errors import BadSettingError
from rhale.naming import find_feature, near_names
from rhale.output.number_format import format_axis_value
from rhale.plots import style
from rhale.plots.axes import CategoricalAxis, ContinuousAxis, Item, PlotAxis
from rhale.plots.labels import fit_name, format_label_number
from rhale.regions.partners import Partners
from rhale.stats.arrays import FloatArray

USUAL_ROWS = 50
COLOUR_QUANTILES = (0.05, 0.5, 0.95)  # of the values that colours tell apart: low, middle, high
ON_LIGHT, ON_DARK = (0.0, 0.85), (0.35, 1.0)  # of the colour map: what is seen on the paper
MAX_COLOURED_LEVELS = 7  # that have a colour of their own
DASH = 0.3  # half of a dash, by the distance of two levels


RowPath = tuple[int, bool, FloatArray]  # the row, whether it was measured there, points


class RowColors(NamedTuple):
    """A feature whose values colour the curves of rows."""

    result: Result  # its own effect, which knows its caption, its kind and its levels.
    values: FloatArray  # its values in the sampled rows


class DrawnRows(NamedTuple):
    """Curves of the rows that are drawn."""

    places: FloatArray  # where their curves are known
    curves: ShownRows  # as `Effect.row_curves` has them, of these rows
    off: FloatArray  # how far they are off the mean curve
    legend_label: str  # how many they are, for the legend
    colors: RowColors | None  # what colours them


def choose_color(color: Any, features: Sequence[str], partners: Partners | None) -> str:
    """Find the feature that colours the curves of rows.

    `color` is a feature as the user gave it, or True for the strongest of the `partners`.
    """
    if partners is not None:
        counting = [one.feature for one in partners if one.counts and one.feature in features]
        if not counting:
            msg = (
                f"color=True takes the feature that accounts for most of the spread of "
                f"{partners.feature!r}, and none does; name one, such as color={features[0]!r}, or draw the rows "
                "in one colour: rows=50"
            )
            raise BadSettingError(msg)
        return counting[0]
    if isinstance(color, str) and color not in features and is_color_like(color):
        msg = (
            f"color={color!r} is a colour, and color= names the feature that colours the curves of "
            f"rows; colors={color!r} is the colour of the mean curve, and "
            f"colors={{'single': {color!r}}} that of rows. {near_names(color, features)}"
        )
        raise BadSettingError(msg)
    return features[find_feature(color, features)]


def read_drawn_rows(
    effect: Effect | LevelEffect, rows: Any, color: Any, center: Center
) -> DrawnRows | None:
    """Read which curves of rows are drawn; None where none are asked for.

    `rows` is their number; True means 50, and so does None where a `color` is given. A name as
    colour is refused: an effect alone does not know the other features.
    """
    name, is_colored = effect.name, color is not None and color is not False
    if is_colored and not isinstance(color, RowColors):
        msg = (
            f"color={color!r} needs the other features of the rows, which the effect of {name!r} "
            f"alone does not have; use fx.plot({name!r}, color={color!r})"
        )
        raise BadSettingError(msg)
    n_rows = count_wanted(is_colored if rows is None else rows)
    if is_colored and not n_rows:
        msg = f"color= colours the curves of rows, and rows={rows!r} draws none; leave one out"
        raise BadSettingError(msg)
    if not n_rows or is_constant(effect):
        return None
    curves = effect.row_curves(center=center)
    if effect.row_spread is None or not curves.row.size:
        msg = (
            f"rows={n_rows}: no curves of single rows were kept of {name!r}, as they come with a "
            "model that can be queried; rhale.effect has none, nor have files of earlier versions "
            "and the effects of regions: call rhale.explain(model, table), and leave rows out here"
        )
        raise BadSettingError(msg)
    some = curves.choose(n_rows)
    label = tell_chosen(some.row.size, curves.row.size)
    places = effect.row_spread.places
    off = some.heights - effect.curve(None if effect.labels else places, center=center)
    return DrawnRows(places, some, off, label, color if is_colored else None)


def count_wanted(rows: Any) -> int:
    """How many rows are asked for; refuse what is no number of rows.

    Examples
    --------
    >>> count_wanted(True), count_wanted(12), count_wanted(False)
    (50, 12, 0)
    """
    if isinstance(rows, bool | np.bool_):
        return USUAL_ROWS if rows else 0
    try:
        n_rows = index(rows)
    except TypeError:
        n_rows = -1
    if n_rows < 0:
        msg = f"rows={rows!r} is no number of rows to draw; give one, such as 50, or True"
        raise BadSettingError(msg)
    return n_rows


def tell_chosen(n_chosen: int, n_kept: int) -> str:
    """Say how many rows of how many are drawn.

    Examples
    --------
    >>> tell_chosen(2, 3), tell_chosen(3, 3)
    ('2 of 3 rows', '3 rows')
    """
    return f"{n_chosen} of {n_kept} rows" if n_chosen < n_kept else f"{n_kept} rows"


def draw_row_curves(field: PlotAxis, item: Item, rows: DrawnRows | None) -> list[Artist]:
    """Draw curves of single rows; return what a legend explains."""
    if rows is None:
        return []
    if isinstance(field, ContinuousAxis):
        return add_paths(field.ax, rows, paths_along(item, rows))
    return add_paths(field.oriented.ax, rows, paths_at_levels(field, item.result, rows))


def paths_along(item: Item, rows: DrawnRows) -> list[RowPath]:
    """Curves of rows along numbers."""
    # How far a row is off the mean curve changes evenly between two places, so that its own
    # curve has the bends and steps of the mean curve there.
    paths = []
    for i, start, stop, is_known in stretches(rows.curves):
        path = cut_path(item.path.x, item.path.curve, *rows.places[[start, stop]])
        path[:, 1] += np.interp(path[:, 0], rows.places, rows.off[i])
        if len(path) > 1:
            paths.append((i, is_known, path))
    return paths


def paths_at_levels(field: CategoricalAxis, effect: Result, rows: DrawnRows) -> list[RowPath]:
    """Curves of rows at levels: joined where these have an order, and stand in it; else dashes."""
    layout, oriented, heights = field.layout, field.oriented, rows.curves.heights
    places = layout.locate(effect, rows.places)
    if not has_free_order(effect) and bool(np.all(np.diff(places) > 0)):
        return [
            (i, known, oriented.points(places[start : stop + 1], heights[i, start : stop + 1]))
            for i, start, stop, known in stretches(rows.curves)
        ]
    half, first, last = (
        DASH * layout.gap * np.array([-1.0, 1.0]),
        rows.curves.first,
        rows.curves.last,
    )
    return [
        (
            i,
            bool(first[i] <= k <= last[i]),
            oriented.points(place + half, np.full(2, heights[i, k])),
        )
        for i in range(len(heights))
        for k, place in enumerate(places)
    ]


def stretches(curves: ShownRows) -> Iterator[tuple[int, int, int, bool]]:
    """Row, first and last place of the parts of its curve, and whether that was measured."""
    end = curves.heights.shape[1] - 1
    for i, (first, last) in enumerate(zip(curves.first, curves.last, strict=True)):
        for start, stop, is_known in ((0, first, False), (first, last, True), (last, end, False)):
            if start < stop:
                yield i, int(start), int(stop), is_known


def cut_path(x: FloatArray, y: FloatArray, low: float, high: float) -> FloatArray:
    """Points of a curve between two places, shape (n, 2); no points where it lies outside."""
    low, high = max(low, x[0]), min(high, x[-1])
    if not low < high:
        return np.empty((0, 2))
    inside = (x > low) & (x < high)  # a jump is two points of one place
    ends = np.interp([low, high], x, y)
    at, heights = np.r_[low, x[inside], high], np.r_[ends[0], y[inside], ends[1]]
    return np.column_stack([at, heights])


def add_paths(ax: Axes, rows: DrawnRows, paths: Sequence[RowPath]) -> list[Artist]:
    """Draw parts of curves (row, whether measured, points), thin; the axes follow measured ones."""
    # Colours of the rows, and what the legend says of them.
    colours: list[Any] = [style.SINGLE_ROW] * rows.curves.row.size
    explained: list[Artist] = []
    if rows.colors is not None:
        result, values = rows.colors
        own, caption = values[rows.curves.row], result.captions.axis(result.name)
        named = result.labels and result.column_kind != "steps"
        colours, colour_names = (
            color_levels(ax, result, own) if named else color_numbers(ax, result, own, values)
        )
        if np.isnan(own).any():
            colour_names = [*colour_names, ("missing", style.SINGLE_ROW)]
        words = [
            f"{fit_name(caption, style.LABEL_LENGTH // 2)}: {colour_names[0][0]}",
            *(word for word, _ in colour_names[1:]),
        ]
        explained = [
            key_line(word, colour, style.LINE_WIDTH)
            for word, (_, colour) in zip(words, colour_names, strict=True)
        ]
    alpha = style.ROW_CURVE_ALPHA if rows.colors is None else style.COLORED_ROW_ALPHA
    parts = (("rhale:rows", True, alpha), ("rhale:rows-beyond", False, style.ROW_BEYOND_ALPHA))
    for gid, is_known, opacity in parts:
        some = [(colours[i], path) for i, known, path in paths if known is is_known]
        lines = LineCollection([path for _, path in some], colors=[colour for colour, _ in some])
        lines.set(linewidth=style.THIN_LINE, alpha=opacity, zorder=1.5 if is_known else 1.4)
        lines.set(gid=gid, capstyle="butt", label=rows.legend_label)
        ax.add_collection(lines, autolim=is_known)
    entries: list[Artist] = [key_line(rows.legend_label, style.SINGLE_ROW, style.THIN_LINE)]
    if any(not known for _, known, _ in paths):
        faint = key_line("estimated, not measured", style.SINGLE_ROW, style.THIN_LINE)
        faint.set_alpha(style.STROKE_ALPHA)
        entries.append(faint)
    return entries + explained


def key_line(label: str, colour: Any, width: float) -> Line2D:
    """A line that only the legend shows."""
    return Line2D([], [], color=colour, linewidth=width, label=label)


def color_numbers(
    ax: Axes, result: Result, own: FloatArray, values: FloatArray
) -> tuple[list[Any], list[tuple[str, Any]]]:
    """Colour numbers from low to high; between two quantiles colours change evenly."""
    # Quantiles of all sampled rows and not their range: one far value would leave one colour
    # to all others.
    known = values[np.isfinite(values)]
    ends = np.unique(np.quantile(known, COLOUR_QUANTILES)) if known.size else np.zeros(1)
    shares = {1: [0.5], 2: [0.0, 1.0], 3: [0.0, 0.5, 1.0]}[ends.size]
    names = {1: ["only"], 2: ["low", "high"], 3: ["low", "middle", "high"]}[ends.size]
    colours = [
        shade(ax, np.interp(v, ends, shares)) if np.isfinite(v) else style.SINGLE_ROW for v in own
    ]
    kind = find_result_axis_kind(result)
    if kind == "number" and np.ptp(ends) > 0:  # digits that tell colours apart
        ends = ends.round(2 - int(np.floor(np.log10(np.ptp(ends)))))
    words = [
        format_label_number(end, 4) if kind == "number" else format_axis_value(float(end), kind)
        for end in ends
    ]
    colour_names = [
        (f"{name} {word}", shade(ax, share))
        for name, word, share in zip(names, words, shares, strict=True)
    ]
    return colours, colour_names


def color_levels(
    ax: Axes, result: Result, own: FloatArray
) -> tuple[list[Any], list[tuple[str, Any]]]:
    """Colour levels: from low to high where they have an order, else each as it comes.

    Of many, those of most rows have a colour, and the others share one.
    """
    known = np.isfinite(own)
    place = np.searchsorted(result.axis, own[known]).clip(0, len(result.labels) - 1)
    found, counts = np.unique(place, return_counts=True)
    most = np.sort(found[np.argsort(-counts, kind="stable")[:MAX_COLOURED_LEVELS]])
    if has_free_order(result):
        colours = {
            int(k): style.line_style(i + 1).colour for i, k in enumerate(most)
        }  # the first is the curve's
    else:
        colours = {int(k): shade(ax, k / max(len(result.labels) - 1, 1)) for k in most}
    colour_names = [(result.labels[k] or "(empty)", colour) for k, colour in colours.items()]
    if most.size < found.size:
        colour_names.append(("other levels", style.SINGLE_ROW))
    mine = np.full(own.size, -1)
    mine[known] = place
    return [colours.get(int(k), style.SINGLE_ROW) for k in mine], colour_names


def shade(ax: Axes, share: float) -> Any:
    """A colour from low (0) to high (1): even steps to the eye, and to readers of any colour vision."""
    red, green, blue = to_rgb(ax.get_facecolor())
    is_light = 0.3 * red + 0.6 * green + 0.1 * blue > 0.5
    start, stop = ON_LIGHT if is_light else ON_DARK
    return mpl.colormaps["plasma"](start + (stop - start) * float(share))
