"""Pictures of comparisons: curves at one zero, their differences, the rows of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from rhale.comparison.feature_comparison import FeatureComparison
from rhale.comparison.overlay import moved, refuse_mixture
from rhale.effects.alignment import can_compare
from rhale.effects.binning.partition import require_count
from rhale.effects.difference import CurveDifference
from rhale.effects.result import find_result_axis_kind, is_constant, reach
from rhale.errors import BadSettingError
from rhale.output.number_format import write_number
from rhale.plots import canvas, style, ticks
from rhale.plots import marks as dots
from rhale.plots.axes import (
    CategoricalAxis,
    ContinuousAxis,
    Item,
    PlotAxis,
    make_plot_axis,
    read_item,
)
from rhale.plots.canvas import AxesArray, as_axes_array
from rhale.plots.categorical_axis import OrientedAxes, lay_out_levels, should_turn, turned_height
from rhale.plots.labels import LITERAL, fit_name, join_names
from rhale.plots.overview import choose_columns
from rhale.plots.view import PLAIN_VIEW, AxisView, read_common_view

# --- What pictures of comparisons are made of: curves at one zero, differences, and rows of each


ROW_STRIP_SHARE = 0.055  # of a small panel, for the rows of one explanation
COMPARED_LEVEL_WIDTH = 0.72  # of a slot, for all explanations side by side


def read_curves(
    one: FeatureComparison, *, smooth: bool, view: AxisView = PLAIN_VIEW
) -> list[Item | None]:
    """Read the curves of all explanations, moved to one zero; None where there is no curve."""
    level = one.differences[0].level
    return [
        None
        if is_constant(result)
        else moved(read_item(result, "mean", level, smooth=smooth, view=view), lift)
        for result, lift in zip(one.results, one.lifts, strict=True)
    ]


def draw_compared_curves(
    field: PlotAxis, one: FeatureComparison, looks: Sequence[style.Look], *, smooth: bool
) -> list[Artist]:
    """Draw the curves of all explanations with thin intervals; return what a legend explains."""
    level, n_items = one.differences[0].level, len(one.names)
    explained: list[Artist] = []
    for index, item in enumerate(read_curves(one, smooth=smooth, view=field.view)):
        if item is not None:
            name = one.names[index]
            explained += field.draw_among(item, name, level, index, n_items, looks[index])
    return explained


def draw_difference(
    field: PlotAxis, found: CurveDifference, look: style.Look, index: int, n_items: int
) -> None:
    """Draw one difference and its interval: a line and a ribbon, or dots and whiskers."""
    path = found.trace(within=field.view.limits)
    if not path.x.size:
        return
    if isinstance(field, ContinuousAxis):
        ribbon = field.ax.fill_between(path.x, path.low, path.high)
        ribbon.set(color=look.colour, alpha=style.THIN_RIBBON_ALPHA, linewidth=0, zorder=3)
        ribbon.set_gid("rhale:ci")
        (line,) = field.ax.plot(path.x, path.difference, color=look.colour, linestyle=look.dash)
        line.set(linewidth=style.LINE_WIDTH, gid="rhale:difference", zorder=4)
        return
    places = field.layout.locate(found.first, path.x) + aside(field, index, n_items)
    whiskers = field.oriented.strokes(places, path.low, path.high)
    whiskers.set(color=look.colour, linewidth=style.WHISKER_LINE, gid="rhale:ci", zorder=3)
    x, y = field.oriented.points(places, path.difference).T
    size = min(field.dot_width(n_items), style.LARGEST_DOT) ** 2
    marks = field.oriented.ax.scatter(x, y, s=size, color=look.colour, marker=look.marker)
    marks.set(linewidth=0, gid="rhale:difference", zorder=4)


def aside(field: CategoricalAxis, index: int, n_items: int) -> float:
    """How far from its slot one of several stands."""
    return field.room * ((index + 0.5) / n_items - 0.5)


def draw_compared_rows(
    field: PlotAxis, one: FeatureComparison, looks: Sequence[style.Look], *, height: float = 1.0
) -> None:
    """Draw where the rows of each explanation are, below one another, or beside at levels."""
    if isinstance(field, CategoricalAxis):
        largest = max(float(result.level_rows().share.max()) for result in one.results)
        for index, (result, look) in enumerate(zip(one.results, looks, strict=True)):
            share = result.level_rows().share
            places = field.layout.locate(result, result.axis) + aside(field, index, len(looks))
            # Draw upright bars at levels, as shares of the axes.
            bars = field.oriented.strip(places, height * share / largest)
            bars.set(alpha=style.COUNT_ALPHA, zorder=2, gid="rhale:counts", capstyle="butt")
            width = (
                0.8
                * COMPARED_LEVEL_WIDTH
                * field.oriented.points_per_slot(field.layout)
                / len(looks)
            )
            bars.set(color=look.colour, linewidth=float(np.clip(width, 1.0, 9.0)))
        return
    part = height / len(looks)
    for index, (result, look) in enumerate(zip(one.results, looks, strict=True)):
        if is_constant(result):
            continue
        limits, density = field.view.count_rows(result)
        if not density.max() > 0:
            continue
        # A strip is high where there are many rows; it takes its part of the height.
        floor = height - (index + 1) * part
        share = np.where(density > 0, np.maximum(density / density.max(), style.STRIP_FLOOR), 0.0)
        top = floor + (floor + 0.85 * part - floor) * np.append(share, share[-1])
        ax = field.ax
        strip = ax.fill_between(limits, floor, top, step="post", transform=ax.get_xaxis_transform())
        strip.set(color=look.colour, alpha=style.COUNT_ALPHA, linewidth=0, zorder=2)
        strip.set_gid("rhale:counts")


def draw_comparison_zero(field: PlotAxis) -> None:
    """Draw the line of no effect, or of no difference."""
    dots.draw_zero_line(field.oriented)


HEIGHTS = (3.0, 2.0)  # of curves and differences
ROWS_HEIGHT, LEVEL_ROWS_HEIGHT = 0.28, 0.9  # of the rows of one explanation; of all at levels
DETAIL_SIZE = (6.4, 6.2)
TURNED_WIDTHS = (3.0, 2.2, 1.0)
N_DETAIL_PANELS = 3
SMALLEST_PART = 0.25  # of the range of the curves, for differences


def plot_difference(
    comparison: FeatureComparison,
    *,
    axes: Axes | Sequence[Axes] | None = None,
    smooth: bool = False,
) -> AxesArray:
    """Draw one feature in several explanations.

    Parameters
    ----------
    comparison : FeatureComparison
        What to draw: `cx["age"]`.
    axes : Axes or sequence of Axes, optional
        Where: one takes the curves, two the differences, too, three the rows, too; None makes a
        new figure with all three.
    smooth : bool
        As in `plot_effect`.

    Returns
    -------
    ndarray of Axes, shape (n_panels,)
        Artists carry a gid: rhale:curve or rhale:levels, rhale:ci, rhale:difference, rhale:counts.

    Examples
    --------
    >>> import rhale
    >>> x = np.random.default_rng(0).normal(size=(200, 1))
    >>> fx, other = (rhale.explain(lambda x, a=a: a * x[:, 0], x) for a in (1.0, 2.0))
    >>> len(plot_difference(rhale.compare(fx, other)["x0"]))
    3
    """
    curved = [result for result in comparison.results if not is_constant(result)]
    refuse_mixture(curved)
    looks = [style.line_style(index) for index in range(len(comparison.names))]
    panels, turned = open_detail_panels(comparison, axes)
    if not curved:
        first = comparison.results[0]
        canvas.write_constant_feature(panels[0], reach(first)[0], ticks.write_only_value(first))
        return panels
    fields = [make_detail_axis(comparison, ax, turned=turned) for ax in panels]
    draw_comparison_zero(fields[0])
    explained = draw_compared_curves(fields[0], comparison, looks, smooth=smooth)
    explained += fields[0].explain_intervals(comparison.differences[0].level, len(looks))
    if len(fields) > 1:
        # Draw the difference of every other explanation to the first, in the look of the other.
        below = fields[1]
        draw_comparison_zero(below)
        n_items = len(comparison.differences)
        for index, found in enumerate(comparison.differences):
            draw_difference(below, found, looks[index + 1], index, n_items)
        if not any(found.is_known for found in comparison.differences):
            where = below.oriented.ax
            where.text(0.5, 0.5, "no rows in common", transform=where.transAxes, ha="center")
    if len(fields) == N_DETAIL_PANELS:
        draw_compared_rows(fields[2], comparison, looks)
    for field in fields[1::-1]:  # curves last: they reach farther, and the axis is shared
        fit(field)
    if len(fields) > 1:
        keep_scale(fields[0].oriented, fields[1].oriented)
    write_detail_ticks(fields, comparison)
    # Name the axes, explain the colours, and say what was found.
    new = axes is None
    is_row = new and panels[0].get_shared_y_axes().joined(panels[0], panels[-1]) and len(panels) > 1
    # Say what curves, differences and strips show.
    verb = "prediction of" if comparison.results[0].quantity == "prediction" else "effect on"
    output = comparison.captions.value_axis(comparison.output)
    side: Literal["width", "height"] = "width" if is_row else "height"
    words = [
        f"{verb} {fit_name(output, max(8, canvas.letters(panels[0], side) - len(verb)))}",
        f"difference to {fit_name(comparison.names[0], 20)}",
        "rows",
    ]
    for ax, word in zip(panels, words, strict=False):
        (ax.set_xlabel if is_row else ax.set_ylabel)(word, fontsize=style.NAME_TEXT, **LITERAL)
    first = comparison.results[0]
    name = join_names([comparison.captions.axis(comparison.name)], style.LABEL_LENGTH)
    if (
        find_result_axis_kind(first) == "date"
        and not first.labels
        and not ticks.in_calendar(reach(first))
    ):
        name += " (days since 1970)"
    if is_row:
        panels[0].set_ylabel(name, **LITERAL)
    else:
        panels[-1].set_xlabel(name, **LITERAL)
    sentence = tell_found(comparison)
    if new:
        figure = cast(Figure, panels[0].figure)
        canvas.add_figure_legend(figure, explained, title="")
        figure.suptitle(fit_name(sentence, 80), fontsize=style.NAME_TEXT, **LITERAL)
    else:
        canvas.add_legend(panels[0], explained, outside=False)
        panels[0].set_title(fit_name(sentence, 60), fontsize=style.NAME_TEXT, loc="left", **LITERAL)
    fields[-1].name_scale()
    return panels


def open_detail_panels(
    one: FeatureComparison, axes: Axes | Sequence[Axes] | None
) -> tuple[AxesArray, bool]:
    """Make the panels, or take them from the caller; tell whether levels stand below one another."""
    if axes is not None:
        given = as_axes_array([axes] if isinstance(axes, Axes) else axes)
        if not 0 < len(given) <= N_DETAIL_PANELS:
            msg = (
                f"axes are {len(given)}; give one for curves, two with differences, three with rows"
            )
            raise BadSettingError(msg)
        return given, False
    labelled = [result for result in one.results if result.labels]
    if len(labelled) == len(one.results):
        layout = lay_out_levels(one.results)
        if should_turn(layout, None):
            lines = 1 + 0.3 * (len(one.results) - 1)
            size = (style.TURNED_WIDTH + 1.4, turned_height(layout, lines) + 0.4)
            # Three panels side by side with one y axis.
            figure = canvas.new_figure(size)
            places = figure.add_gridspec(1, 3, width_ratios=TURNED_WIDTHS)
            first = figure.add_subplot(places[0])
            panels = [first, *(figure.add_subplot(places[i], sharey=first) for i in (1, 2))]
            for ax in panels[:2]:
                canvas.write_plain_values(ax)
            for ax in panels[1:]:
                ax.tick_params(labelleft=False)
            return as_axes_array(panels), True
    rows = LEVEL_ROWS_HEIGHT if labelled else ROWS_HEIGHT * len(one.names)
    # Three panels below one another with one x axis.
    figure = canvas.new_figure(DETAIL_SIZE)
    places = figure.add_gridspec(3, 1, height_ratios=(*HEIGHTS, rows))
    first = figure.add_subplot(places[0])
    panels = [first, *(figure.add_subplot(places[i], sharex=first) for i in (1, 2))]
    for ax in panels[:2]:
        canvas.write_plain_numbers(ax, 6)
        ax.tick_params(labelbottom=False)
    return as_axes_array(panels), False


def make_detail_axis(one: FeatureComparison, ax: Axes, *, turned: bool) -> PlotAxis:
    """Choose how a feature is drawn on axes: along numbers, or at levels."""
    if all(result.labels for result in one.results):
        return CategoricalAxis(OrientedAxes(ax, turned), lay_out_levels(one.results))
    return ContinuousAxis(ax, view=read_common_view(one.results))


def fit(field: PlotAxis) -> None:
    """Let the axes reach as far as what is drawn; rows have a panel of their own."""
    if isinstance(field, CategoricalAxis):
        field.oriented.fit(field.layout, strip=False)
    else:
        canvas.fit_limits(field.ax, strip=False, view=field.view)


def keep_scale(curves: OrientedAxes, differences: OrientedAxes) -> None:
    """Let differences have a part of the curves' scale: what is small beside these looks small."""
    turned = curves.horizontal
    low, high = (curves.ax.get_xlim if turned else curves.ax.get_ylim)()
    drawn = differences.ax.dataLim
    found = np.array(drawn.intervalx if turned else drawn.intervaly)
    ends = np.append(found[np.isfinite(found)], 0.0)
    missing = SMALLEST_PART * abs(high - low) - np.ptp(ends)
    if missing > 0:
        reach_to = (float(ends.min()) - missing / 2, float(ends.max()) + missing / 2)
        (differences.ax.set_xlim if turned else differences.ax.set_ylim)(reach_to, auto=True)


def write_detail_ticks(fields: Sequence[PlotAxis], one: FeatureComparison) -> None:
    """Write numbers, dates or levels; none beside the rows."""
    if isinstance(fields[0], CategoricalAxis):
        last = fields[0] if fields[0].oriented.horizontal else fields[-1]
        last.name_places(one.results[0])
        if len(fields) == N_DETAIL_PANELS:
            fields[-1].oriented.fit(fields[0].layout, strip=False)
    else:
        for field in fields:
            field.name_places(one.results[0])
    if len(fields) < N_DETAIL_PANELS:
        return
    ax, turned = fields[2].oriented.ax, fields[2].oriented.horizontal
    (ax.set_xlim if turned else ax.set_ylim)(
        0.0, 1.0 if isinstance(fields[2], ContinuousAxis) else 1.08
    )
    ax.tick_params(
        left=turned and False, labelleft=False, bottom=not turned, labelbottom=not turned
    )
    for side in ("top", "right", "bottom" if turned else "left"):
        ax.spines[side].set_visible(False)


def tell_found(one: FeatureComparison) -> str:
    """Say in few words what was found."""
    known = [found for found in one.differences if found.is_known]
    name = one.captions.feature(one.name)
    if not known:
        return f"{name}: cannot be compared"
    rows = "; its rows moved" if one.moved else ""
    if not one.differs:
        return f"{name}: the curves agree{rows}"
    most = max(known, key=lambda found: found.size)
    size, share = write_number(most.size, 3), 100 * most.share
    return f"{name}: the curves differ by {size}, {share:.0f} % of the effect{rows}"


# --- All features of a comparison in small pictures, the largest difference first


N_LARGEST_DIFFERENCES = 12
PANEL_TITLE_INCHES = 0.75  # inches above a panel, for two lines of title


def plot_differences(
    ranked: Sequence[FeatureComparison],
    *,
    axes: Axes | Sequence[Axes] | None = None,
    top: int = N_LARGEST_DIFFERENCES,
    sharey: bool = True,
    smooth: bool = False,
) -> AxesArray:
    """Draw the curves of every feature in a small panel, in the given order.

    Parameters
    ----------
    ranked : sequence of FeatureComparison
        What to draw, of one output.
    axes : Axes or sequence of Axes, optional
        Where, one for each feature; None makes a new figure.
    top : int
        How many features are drawn; the legend says how many there are.
    sharey : bool
        One y axis for all panels, so that sizes can be compared.
    smooth : bool
        As in `plot_effect`.

    Returns
    -------
    ndarray of Axes, shape (n_features,)
        Strips below the curves say where the rows of each explanation are.
    """
    require_count("top", top)
    if not ranked:
        msg = "there is nothing to plot: no feature is in all explanations"
        raise BadSettingError(msg)
    kept, names = list(ranked[:top]), ranked[0].names
    looks = [style.line_style(index) for index in range(len(names))]
    panels = open_comparison_panels(kept, axes, sharey=sharey)
    explained: list[Artist] = []
    for ax, one in zip(panels, kept, strict=True):
        explained += draw_comparison_panel(ax, one, looks, smooth=smooth)
        # Name the feature, and say how far its curves are apart.
        name = fit_name(one.captions.axis(one.name), canvas.letters(ax, "width"))
        ax.set_title(
            f"{name}\n{in_few_words(one)}",
            loc="left",
            fontsize=style.NAME_TEXT,
            linespacing=1.3,
            **LITERAL,
        )
    set_comparison_ylim(panels, len(names), sharey=sharey)
    write_comparison_labels(panels, kept, len(ranked), explained, new=axes is None)
    return panels


def open_comparison_panels(
    kept: Sequence[FeatureComparison],
    axes: Axes | Sequence[Axes] | None,
    *,
    sharey: bool,
) -> AxesArray:
    """Make the panels, or take them from the caller."""
    if axes is not None:
        given = [axes] if isinstance(axes, Axes) else list(np.ravel(np.asarray(axes, dtype=object)))
        if len(given) < len(kept):
            msg = f"{len(kept)} features need as many axes; found {len(given)}. Or set top"
            raise BadSettingError(msg)
        return as_axes_array(given[: len(kept)])
    columns = min(choose_columns(len(kept)), 4)
    n_rows = -(-len(kept) // columns)
    width = style.PANEL_WIDTHS[columns - 1]
    size = (
        width * columns,
        (PANEL_TITLE_INCHES + style.PANEL_SHAPE * width) * n_rows + style.LEGEND_HEIGHT,
    )
    figure = canvas.new_figure(size)
    places, panels = figure.add_gridspec(n_rows, columns), list[Axes]()
    for index in range(len(kept)):
        first = panels[0] if sharey and panels else None
        ax = figure.add_subplot(places[index // columns, index % columns], sharey=first)
        ax.tick_params(labelsize=style.NUMBER_TEXT, labelleft=not sharey or index % columns == 0)
        ax.xaxis.set_major_locator(MaxNLocator(style.SMALL_TICKS))
        if first is None:
            ax.yaxis.set_major_locator(MaxNLocator(5))
            canvas.write_plain_numbers(ax, 4)
        panels.append(ax)
    return as_axes_array(panels)


def draw_comparison_panel(
    ax: Axes, one: FeatureComparison, looks: Sequence[style.Look], *, smooth: bool
) -> list[Artist]:
    """Draw the curves of one feature, and the rows of each below them."""
    curved = [result for result in one.results if not is_constant(result)]
    if not curved:
        canvas.write_constant_feature(
            ax, reach(one.results[0])[0], ticks.write_only_value(one.results[0])
        )
        return []
    if not all(can_compare(curved[0], other) for other in curved[1:]):
        note = ax.text(0.5, 0.5, "categories and numbers", transform=ax.transAxes, ha="center")
        note.set(color=style.NOTE, fontsize=style.LEGEND_TEXT)
        return []
    view = read_common_view(one.results)
    field = make_plot_axis(OrientedAxes(ax), one.results, small=True, view=view)
    draw_comparison_zero(field)
    explained = draw_compared_curves(field, one, looks, smooth=smooth)
    explained += field.explain_intervals(one.differences[0].level, len(looks))
    draw_compared_rows(field, one, looks, height=ROW_STRIP_SHARE * len(looks))
    # Let the axes reach over all places.
    field.fit()
    field.oriented.ax.autoscale_view()
    field.fit()
    field.name_places(one.results[0])
    field.name_scale()
    return explained


def in_few_words(one: FeatureComparison) -> str:
    """Say how far curves are apart, and whether rows moved."""
    known = [found for found in one.differences if found.is_known]
    if not known:
        return "not compared"
    rows = ", rows moved" if one.moved else ""
    if not one.differs:
        return f"agree{rows}"
    most = max(known, key=lambda found: found.size)
    return f"differ by {write_number(most.size, 2)} ({100 * most.share:.0f} %){rows}"


def set_comparison_ylim(panels: AxesArray, n_items: int, *, sharey: bool) -> None:
    """Set the y axes, with room for the strips of rows."""
    low = [ax.dataLim.intervaly[0] for ax in panels if np.isfinite(ax.dataLim.intervaly).all()]
    high = [ax.dataLim.intervaly[1] for ax in panels if np.isfinite(ax.dataLim.intervaly).all()]
    room = n_items * ROW_STRIP_SHARE + 0.06
    for index, ax in enumerate(panels):
        if not low:
            return
        ends = (
            (min(low), max(high))
            if sharey
            else (low[min(index, len(low) - 1)], high[min(index, len(high) - 1)])
        )
        ax.set_ylim(canvas.widen_interval(*ends, room / (1 - room), style.AXIS_MARGIN), auto=True)


def write_comparison_labels(
    panels: AxesArray,
    kept: Sequence[FeatureComparison],
    n_all: int,
    explained: list[Artist],
    *,
    new: bool,
) -> None:
    """Write what is said once for all panels: the y axis and the legend."""
    first, once = kept[0], {str(artist.get_label()): artist for artist in reversed(explained)}
    order = [name for name in first.names if name in once]
    once_each = [once[name] for name in (*order, *(n for n in once if n not in first.names))]
    verb = "prediction of" if first.results[0].quantity == "prediction" else "effect on"
    label = f"{verb} {fit_name(first.captions.value_axis(first.output), style.LABEL_LENGTH)}"
    note = f"{len(kept)} of {n_all} features" if len(kept) < n_all else ""
    if not new:
        panels[0].set_ylabel(label, **LITERAL)
        canvas.add_legend(panels[0], once_each, outside=False, title=note)
        return
    figure = cast(Figure, panels[0].figure)
    figure.supylabel(label, fontsize=style.NAME_TEXT, **LITERAL)
    canvas.add_figure_legend(figure, once_each, title=note)
