"""One feature in several explanations: curves at one zero, their differences, and where rows are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rhale.errors import BadSettingError
from rhale.plots import canvas, style, ticks
from rhale.plots.axes_array import AxesArray, as_axes_array
from rhale.plots.board import OrientedAxes, should_turn, turned_height
from rhale.plots.compare import refuse_mixture
from rhale.plots.compare_marks import (
    draw_compared_curves,
    draw_compared_rows,
    draw_comparison_zero,
    draw_difference,
)
from rhale.plots.fields import CategoricalAxis, ContinuousAxis, PlotAxis
from rhale.plots.lettering import LITERAL, fit_name, join_names
from rhale.plots.slots import lay_out_levels
from rhale.plots.view import read_common_view
from rhale.results.feature_comparison import FeatureComparison
from rhale.results.numerals import write_number
from rhale.results.result import find_result_axis_kind, is_constant, reach

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
        draw_all_differences(fields[1], comparison, looks)
    if len(fields) == N_DETAIL_PANELS:
        draw_compared_rows(fields[2], comparison, looks)
    for field in fields[1::-1]:  # curves last: they reach farther, and the axis is shared
        fit(field)
    if len(fields) > 1:
        keep_scale(fields[0].board, fields[1].board)
    write_detail_ticks(fields, comparison)
    write_words(panels, comparison, explained, new=axes is None)
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
        slots = lay_out_levels(one.results)
        if should_turn(slots, None):
            lines = 1 + 0.3 * (len(one.results) - 1)
            size = (style.TURNED_WIDTH + 1.4, turned_height(slots, lines) + 0.4)
            return new_detail_row(size), True
    rows = LEVEL_ROWS_HEIGHT if labelled else ROWS_HEIGHT * len(one.names)
    return below_one_another(DETAIL_SIZE, rows), False


def below_one_another(size: tuple[float, float], rows: float) -> AxesArray:
    """Make three panels with one x axis."""
    figure = canvas.new_figure(size)
    places = figure.add_gridspec(3, 1, height_ratios=(*HEIGHTS, rows))
    first = figure.add_subplot(places[0])
    panels = [first, *(figure.add_subplot(places[i], sharex=first) for i in (1, 2))]
    for ax in panels[:2]:
        canvas.write_plain_numbers(ax, 6)
        ax.tick_params(labelbottom=False)
    return as_axes_array(panels)


def new_detail_row(size: tuple[float, float]) -> AxesArray:
    """Make three panels with one y axis."""
    figure = canvas.new_figure(size)
    places = figure.add_gridspec(1, 3, width_ratios=TURNED_WIDTHS)
    first = figure.add_subplot(places[0])
    panels = [first, *(figure.add_subplot(places[i], sharey=first) for i in (1, 2))]
    for ax in panels[:2]:
        canvas.write_plain_values(ax)
    for ax in panels[1:]:
        ax.tick_params(labelleft=False)
    return as_axes_array(panels)


def make_detail_axis(one: FeatureComparison, ax: Axes, *, turned: bool) -> PlotAxis:
    """Choose how a feature is drawn on axes: along numbers, or at levels."""
    if all(result.labels for result in one.results):
        return CategoricalAxis(OrientedAxes(ax, turned), lay_out_levels(one.results))
    return ContinuousAxis(ax, view=read_common_view(one.results))


def draw_all_differences(
    field: PlotAxis, one: FeatureComparison, looks: Sequence[style.Look]
) -> None:
    """Draw the difference of every other explanation to the first, in the look of the other."""
    draw_comparison_zero(field)
    n_items = len(one.differences)
    for index, found in enumerate(one.differences):
        draw_difference(field, found, looks[index + 1], index, n_items)
    if not any(found.is_known for found in one.differences):
        where = field.board.ax
        where.text(0.5, 0.5, "no rows in common", transform=where.transAxes, ha="center")


def fit(field: PlotAxis) -> None:
    """Let the axes reach as far as what is drawn; rows have a panel of their own."""
    if isinstance(field, CategoricalAxis):
        field.board.fit(field.slots, strip=False)
    else:
        canvas.fit_limits(field.ax, strip=False, view=field.view)


def keep_scale(curves: OrientedAxes, differences: OrientedAxes) -> None:
    """Let differences have a part of the curves' scale: what is small beside these looks small."""
    turned = curves.turned
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
        last = fields[0] if fields[0].board.turned else fields[-1]
        last.name_places(one.results[0])
        if len(fields) == N_DETAIL_PANELS:
            fields[-1].board.fit(fields[0].slots, strip=False)
    else:
        for field in fields:
            field.name_places(one.results[0])
    if len(fields) < N_DETAIL_PANELS:
        return
    ax, turned = fields[2].board.ax, fields[2].board.turned
    (ax.set_xlim if turned else ax.set_ylim)(
        0.0, 1.0 if isinstance(fields[2], ContinuousAxis) else 1.08
    )
    ax.tick_params(
        left=turned and False, labelleft=False, bottom=not turned, labelbottom=not turned
    )
    for side in ("top", "right", "bottom" if turned else "left"):
        ax.spines[side].set_visible(False)


def write_words(
    panels: AxesArray,
    one: FeatureComparison,
    explained: list[Artist],
    *,
    new: bool,
) -> None:
    """Name the axes, explain the colours, and say what was found."""
    turned = new and panels[0].get_shared_y_axes().joined(panels[0], panels[-1]) and len(panels) > 1
    name_values(panels, one, turned=turned)
    first = one.results[0]
    name = join_names([one.captions.axis(one.name)], style.LABEL_LENGTH)
    if (
        find_result_axis_kind(first) == "date"
        and not first.labels
        and not ticks.has_calendar(first)
    ):
        name += " (days since 1970)"
    if turned:
        panels[0].set_ylabel(name, **LITERAL)
    else:
        panels[-1].set_xlabel(name, **LITERAL)
    told = tell_found(one)
    if new:
        figure = cast(Figure, panels[0].figure)
        canvas.add_figure_legend(figure, explained, title="")
        figure.suptitle(fit_name(told, 80), fontsize=style.NAME_TEXT, **LITERAL)
    else:
        canvas.add_legend(panels[0], explained, outside=False)
        panels[0].set_title(fit_name(told, 60), fontsize=style.NAME_TEXT, loc="left", **LITERAL)


def name_values(panels: AxesArray, one: FeatureComparison, *, turned: bool) -> None:
    """Say what curves, differences and strips show."""
    verb = "prediction of" if one.results[0].quantity == "prediction" else "effect on"
    output = one.captions.value_axis(one.output)
    side: Literal["width", "height"] = "width" if turned else "height"
    words = [
        f"{verb} {fit_name(output, max(8, canvas.letters(panels[0], side) - len(verb)))}",
        f"difference to {fit_name(one.names[0], 20)}",
        "rows",
    ]
    for ax, word in zip(panels, words, strict=False):
        (ax.set_xlabel if turned else ax.set_ylabel)(word, fontsize=style.NAME_TEXT, **LITERAL)


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
