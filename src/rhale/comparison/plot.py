"""Pictures of comparisons: curves of several results at one zero, their differences, the rows of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from rhale.comparison.feature_comparison import FeatureComparison
from rhale.effects.alignment import can_compare, offset
from rhale.effects.binning.partition import require_count
from rhale.effects.curve import Center
from rhale.effects.difference import CurveDifference
from rhale.effects.result import Result, Trace, find_result_axis_kind, is_constant
from rhale.errors import BadSettingError
from rhale.output.number_format import write_number
from rhale.plots import canvas, style
from rhale.plots.axes import (
    CategoricalAxis,
    ContinuousAxis,
    Item,
    PlotAxis,
    make_plot_axis,
    open_plot_axis,
    read_item,
)
from rhale.plots.canvas import AxesArray, as_axes_array
from rhale.plots.categorical_axis import (
    OrientedAxes,
    add_levels_legend,
    label_oriented_axes,
    lay_out_levels,
    should_turn,
    turned_height,
)
from rhale.plots.labels import LITERAL, axis_name, fit_name
from rhale.plots.view import PLAIN_VIEW, read_common_view
from rhale.stats.distributions import CONFIDENCE_LEVEL

# --- Several results of one feature in one panel


def plot_compare(
    items: Mapping[str, Result],
    *,
    ax: Axes | None = None,
    center: Center = "mean",
    smooth: bool = False,
) -> Axes:
    """Draw the curves of several methods or models for one feature.

    Parameters
    ----------
    items : mapping from str to Effect, LevelEffect or Profile
        What to draw, under the names that the legend shows. Up to eight are easily told apart:
        each has a colour and a dash pattern of its own.
    ax : Axes, optional
        Where; None makes a new figure.
    center : {"mean", "start", "uniform"}
        Where the curves are zero. "mean": all of them at one common zero, on average over the rows
        of the first, so that the same curve over other rows stays where it was; intervals move
        along. Otherwise each at its own. Profiles are centred too.
    smooth : bool
        As in `plot_effect`.

    Returns
    -------
    Axes
        The given ones, or new ones. Artists carry a gid: rhale:curve and rhale:ci (95 %
        interval of the mean) for every item, rhale:counts for the rows of the first. Levels are
        dots, rhale:levels, side by side; rhale:missing is the mean without a value.

    Examples
    --------
    >>> import numpy as np
    >>> import rhale
    >>> x = np.linspace(0, 1, 200)
    >>> few, many = (rhale.effect(x, 2 * x, bins=bins) for bins in (2, 20))
    >>> [text.get_text() for text in plot_compare({"few": few, "many": many}).get_legend().texts]
    ['few', 'many', '95 % interval of the mean', 'where rows are']
    """
    if not items:
        msg = "there is nothing to compare: give a mapping from names to effects or profiles"
        raise BadSettingError(msg)
    curved = {name: item for name, item in items.items() if not is_constant(item)}
    results = list(curved.values())
    refuse_mixture(results)
    if not curved:
        ax = ax or canvas.new_axes(style.PROFILE_SIZE)
        canvas.write_constant_feature(ax, next(iter(items.values())))
        label_oriented_axes(OrientedAxes(ax), list(items.values()), center)
        return ax
    view = read_common_view(results)
    field, level = open_plot_axis(results, ax, view), CONFIDENCE_LEVEL
    read: list[Item] = []
    for result in results:
        item = read_item(result, center, level, smooth=smooth, view=view)
        read.append(item.moved(offset(results[0], result)) if center == "mean" else item)
    # Draw every result in its look, and the rows of the first.
    field.begin()
    looks = [style.line_style(index) for index in range(len(read))]
    explained: list[Artist] = []
    for index, (name, item) in enumerate(zip(curved, read, strict=True)):
        explained += field.draw_among(item, name, level, index, len(read))
    field.draw_aside(read, level, looks)
    explained += field.explain_intervals(level, len(read)) + field.draw_counts(results[0])
    field.fit()
    field.name_places(results[0])
    add_levels_legend(field.oriented, explained, new=ax is None)
    label_oriented_axes(field.oriented, list(items.values()), center)
    field.name_scale()
    return field.oriented.ax


def refuse_mixture(results: Sequence[Result]) -> None:
    """Refuse numbers and categories on one axis; levels that are numbers are numbers."""
    kinds = {find_result_axis_kind(r) for r in results if not r.labels}
    categories = [r for r in results if r.column_kind == "categories"]
    if len(kinds) > 1 or (kinds and categories):
        msg = (
            f"{results[0].name!r} has categories in one result and numbers or dates in another; "
            "compare results that treat it alike (see `categorical=` of explain)"
        )
        raise BadSettingError(msg)


# --- What pictures of comparisons are made of: curves at one zero, differences, and rows of each


ROW_STRIP_SHARE = 0.055  # of a small panel, for the rows of one explanation
COMPARED_LEVEL_WIDTH = 0.72  # of a slot, for all explanations side by side


def draw_compared_curves(
    field: PlotAxis, one: FeatureComparison, looks: Sequence[style.Look], *, smooth: bool
) -> list[Artist]:
    """Draw the curves of all explanations, moved to one zero; return what a legend explains."""
    level, n_items = one.differences[0].level, len(one.names)
    explained: list[Artist] = []
    for index, (result, lift) in enumerate(zip(one.results, one.lifts, strict=True)):
        if not is_constant(result):
            item = read_item(result, "mean", level, smooth=smooth, view=field.view).moved(lift)
            drawn = (item, one.names[index], level, index, n_items, looks[index])
            explained += field.draw_among(*drawn)
    return explained + field.explain_intervals(level, n_items)


def draw_difference(
    field: PlotAxis, found: CurveDifference, look: style.Look, index: int, n_items: int
) -> None:
    """Draw one difference and its interval: a line and a ribbon, or dots and whiskers."""
    drawn = found.trace(within=field.view.limits)
    x, oriented = drawn.x, field.oriented
    if not x.size:
        return
    path = Trace(x, drawn.difference, np.full(x.size, np.nan), drawn.low, drawn.high)
    if isinstance(field, ContinuousAxis) or field.is_crowded(n_items):
        along = ContinuousAxis(oriented.ax)
        for ribbon in along.draw_ci(path, found.level, look.colour):
            ribbon.set(alpha=style.THIN_RIBBON_ALPHA, linewidth=0)
        along.draw_curve(path, "", look).set_gid("rhale:difference")
        return
    places = field.locate(found.first, x) + aside(field, index, n_items)
    oriented.draw_ci(path._replace(x=places), found.level, 0.0, look.colour)
    size = min(field.dot_width(n_items), style.LARGEST_DOT) ** 2
    x, y = oriented.points(places, path.curve).T
    dots = oriented.ax.scatter(x, y, s=size, color=look.colour, marker=look.marker)
    dots.set(linewidth=0, gid="rhale:difference", zorder=4)


def aside(field: CategoricalAxis, index: int, n_items: int) -> float:
    """How far from its slot one of several stands."""
    return field.room * ((index + 0.5) / n_items - 0.5)


def draw_compared_rows(
    field: PlotAxis, one: FeatureComparison, looks: Sequence[style.Look], *, height: float = 1.0
) -> None:
    """Draw where the rows of each explanation are, below one another, or beside at levels."""
    part = height / len(looks)
    if isinstance(field, CategoricalAxis):
        largest = max(float(result.level_rows().share.max()) for result in one.results)
        slot = COMPARED_LEVEL_WIDTH * field.oriented.points_per_slot(field.layout) / len(looks)
    for index, (result, look) in enumerate(zip(one.results, looks, strict=True)):
        if isinstance(field, CategoricalAxis):
            # Upright bars at levels, as shares of the axes.
            share = result.level_rows().share
            places = field.locate(result, result.axis) + aside(field, index, len(looks))
            strip: Any = field.oriented.strip(places, height * share / largest)
            strip.set(linewidth=float(np.clip(0.8 * slot, 1.0, 9.0)), capstyle="butt")
        elif not is_constant(result) and field.view.count_rows(result)[1].max() > 0:
            # A strip that is high where there are many rows; it takes its part of the height.
            floor = height - (index + 1) * part
            strip = field.draw_strip(result, floor, floor + 0.85 * part)
            strip.set(linewidth=0)
        else:
            continue
        strip.set(color=look.colour, alpha=style.COUNT_ALPHA, zorder=2, gid="rhale:counts")


# --- One feature: curves, differences and rows, one below the other


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
    results, first, new = comparison.results, comparison.results[0], axes is None
    curved = [result for result in results if not is_constant(result)]
    refuse_mixture(curved)
    looks = [style.line_style(index) for index in range(len(comparison.names))]
    panels, turned = open_detail_panels(comparison, axes)
    if not curved:
        canvas.write_constant_feature(panels[0], first)
        return panels
    named = all(result.labels for result in results)
    view = PLAIN_VIEW if named else read_common_view(results)
    fields = [make_plot_axis(OrientedAxes(ax, turned), results, view=view) for ax in panels]
    fields[0].oriented.draw_zero_line()
    explained = draw_compared_curves(fields[0], comparison, looks, smooth=smooth)
    if len(fields) > 1:
        # Draw the difference of every other explanation to the first, in the look of the other.
        below, n_items = fields[1], len(comparison.differences)
        below.oriented.draw_zero_line()
        for index, found in enumerate(comparison.differences):
            draw_difference(below, found, looks[index + 1], index, n_items)
        if not any(found.is_known for found in comparison.differences):
            where = below.oriented.ax
            where.text(0.5, 0.5, "no rows in common", transform=where.transAxes, ha="center")
    if len(fields) == N_DETAIL_PANELS:
        draw_compared_rows(fields[2], comparison, looks)
    for field in fields[1::-1]:  # curves last: they reach farther, and the axis is shared
        field.fit(strip=False)
    if len(fields) > 1:
        keep_scale(fields[0].oriented, fields[1].oriented)
    write_detail_ticks(fields, first)
    # Name the axes, explain the colours, and say what was found.
    is_row = turned and new
    room = canvas.letters(panels[0], "width" if is_row else "height")
    words = [
        describe_value(comparison, room),
        f"difference to {fit_name(comparison.names[0], 20)}",
        "rows",
    ]
    for ax, word in zip(panels, words, strict=False):
        (ax.set_xlabel if is_row else ax.set_ylabel)(word, fontsize=style.NAME_TEXT, **LITERAL)
    write_name = panels[0].set_ylabel if is_row else panels[-1].set_xlabel
    write_name(axis_name(first, style.LABEL_LENGTH), **LITERAL)
    sentence = tell_found(comparison)
    if new:
        figure = canvas.figure_of(panels[0])
        canvas.add_figure_legend(figure, explained, title="")
        figure.suptitle(fit_name(sentence, 80), fontsize=style.NAME_TEXT, **LITERAL)
    else:
        canvas.add_legend(panels[0], explained, outside=False)
        panels[0].set_title(fit_name(sentence, 60), fontsize=style.NAME_TEXT, loc="left", **LITERAL)
    fields[-1].name_scale()
    return panels


def describe_value(one: FeatureComparison, length: int) -> str:
    """Say what curves show, in at most so many letters."""
    verb = "prediction of" if one.results[0].quantity == "prediction" else "effect on"
    output = one.captions.value_axis(one.output)
    return f"{verb} {fit_name(output, max(8, length - len(verb)))}"


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
    layout = lay_out_levels(one.results) if len(labelled) == len(one.results) else None
    if layout is not None and should_turn(layout, None):
        lines = 1 + 0.3 * (len(one.results) - 1)
        size = (style.TURNED_WIDTH + 1.4, turned_height(layout, lines) + 0.4)
        panels = canvas.open_panels(size, TURNED_WIDTHS, sideways=True)
        for ax in panels[1:]:
            ax.tick_params(labelleft=False)
        return as_axes_array(panels), True
    rows = LEVEL_ROWS_HEIGHT if labelled else ROWS_HEIGHT * len(one.names)
    panels = canvas.open_panels(DETAIL_SIZE, (*HEIGHTS, rows))
    for ax in panels[:2]:
        ax.tick_params(labelbottom=False)
    return as_axes_array(panels), False


def keep_scale(curves: OrientedAxes, differences: OrientedAxes) -> None:
    """Let differences have a part of the curves' scale: what is small beside these looks small."""
    low, high = curves.value_limits
    drawn = differences.ax.dataLim
    found = np.array(drawn.intervalx if curves.horizontal else drawn.intervaly)
    ends = np.append(found[np.isfinite(found)], 0.0)
    missing = SMALLEST_PART * abs(high - low) - np.ptp(ends)
    if missing > 0:
        differences.limit_values(float(ends.min()) - missing / 2, float(ends.max()) + missing / 2)


def write_detail_ticks(fields: Sequence[PlotAxis], first: Result) -> None:
    """Write numbers, dates or levels; none beside the rows."""
    names = list(fields)
    if isinstance(fields[0], CategoricalAxis):
        names = [fields[0] if fields[0].oriented.horizontal else fields[-1]]
    for field in names:
        field.name_places(first)
    if len(fields) < N_DETAIL_PANELS:
        return
    last, oriented = fields[2], fields[2].oriented
    ax, turned = oriented.ax, oriented.horizontal
    if isinstance(last, CategoricalAxis):
        last.fit(strip=False)
    oriented.limit_values(0.0, 1.0 if isinstance(last, ContinuousAxis) else 1.08)
    ax.tick_params(left=False, labelleft=False, bottom=not turned, labelbottom=not turned)
    ax.spines[["top", "right", "bottom" if turned else "left"]].set_visible(False)


def tell_found(one: FeatureComparison) -> str:
    """Say in few words what was found."""
    name, drift = one.captions.feature(one.name), "; data drift" if one.moved else ""
    known = [found for found in one.differences if found.is_known]
    if not known:
        return f"{name}: cannot be compared"
    if not one.differs:
        return f"{name}: the curves agree{drift}"
    most = max(known, key=lambda found: found.size)
    size, share = write_number(most.size, 3), 100 * most.share
    return f"{name}: the curves differ by {size}, {share:.0f} % of the effect{drift}"


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
    if axes is not None:
        panels = canvas.take_axes(axes, len(kept))
    else:
        columns = min(canvas.choose_columns(len(kept)), 4)
        width, lines = style.PANEL_WIDTHS[columns - 1], -(-len(kept) // columns)
        height = (PANEL_TITLE_INCHES + style.PANEL_SHAPE * width) * lines + style.LEGEND_HEIGHT
        size, ticks = (width * columns, height), style.SMALL_TICKS
        panels = canvas.open_grid(len(kept), columns, size, sharey=sharey, ticks=ticks)
    explained: list[Artist] = []
    for ax, one in zip(panels, kept, strict=True):
        explained += draw_comparison_panel(ax, one, looks, smooth=smooth)
        # Name the feature, and say how far its curves are apart.
        name = fit_name(one.captions.axis(one.name), canvas.letters(ax, "width"))
        title = ax.set_title(f"{name}\n{in_few_words(one)}", loc="left", linespacing=1.3, **LITERAL)
        title.set_fontsize(style.NAME_TEXT)
    set_comparison_ylim(panels, len(names), sharey=sharey)
    note = f"{len(kept)} of {len(ranked)} features" if len(kept) < len(ranked) else ""
    label = describe_value(kept[0], 2 * style.LABEL_LENGTH)
    canvas.label_grid(panels, explained, label, note, new=axes is None)
    return panels


def draw_comparison_panel(
    ax: Axes, one: FeatureComparison, looks: Sequence[style.Look], *, smooth: bool
) -> list[Artist]:
    """Draw the curves of one feature, and the rows of each below them."""
    curved = [result for result in one.results if not is_constant(result)]
    if not curved:
        canvas.write_constant_feature(ax, one.results[0])
        return []
    if not all(can_compare(curved[0], other) for other in curved[1:]):
        note = ax.text(0.5, 0.5, "categories and numbers", transform=ax.transAxes, ha="center")
        note.set(color=style.NOTE, fontsize=style.LEGEND_TEXT)
        return []
    view = read_common_view(one.results)
    field = make_plot_axis(OrientedAxes(ax), one.results, small=True, view=view)
    field.oriented.draw_zero_line()
    explained = draw_compared_curves(field, one, looks, smooth=smooth)
    draw_compared_rows(field, one, looks, height=ROW_STRIP_SHARE * len(looks))
    # Let the axes reach over all places.
    field.fit()
    ax.autoscale_view()
    field.fit()
    field.name_places(one.results[0])
    field.name_scale()
    return explained


def in_few_words(one: FeatureComparison) -> str:
    """Say how far curves are apart, and whether the data drifted."""
    known = [found for found in one.differences if found.is_known]
    if not known:
        return "not compared"
    drift = ", data drift" if one.moved else ""
    if not one.differs:
        return f"agree{drift}"
    most = max(known, key=lambda found: found.size)
    return f"differ by {write_number(most.size, 2)} ({100 * most.share:.0f} %){drift}"


def set_comparison_ylim(panels: AxesArray, n_items: int, *, sharey: bool) -> None:
    """Set the y axes, with room for the strips of rows."""
    drawn = [i for ax in panels if np.isfinite(i := ax.dataLim.intervaly).all()]
    room = n_items * ROW_STRIP_SHARE + 0.06
    for index, ax in enumerate(panels if drawn else ()):
        shown = drawn if sharey else [drawn[min(index, len(drawn) - 1)]]
        low, high = min(ends[0] for ends in shown), max(ends[1] for ends in shown)
        limits = canvas.widen_interval(low, high, room / (1 - room), style.AXIS_MARGIN)
        ax.set_ylim(limits, auto=True)
