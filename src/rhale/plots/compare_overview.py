"""All features of a comparison in small pictures, the largest difference first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from rhale.errors import BadSettingError
from rhale.kernels.partition import require_count
from rhale.plots import canvas, style, ticks
from rhale.plots.axes_array import AxesArray, as_axes_array
from rhale.plots.board import OrientedAxes
from rhale.plots.compare_marks import (
    ROW_STRIP_SHARE,
    draw_compared_curves,
    draw_compared_rows,
    draw_comparison_zero,
)
from rhale.plots.fields import PlotAxis, make_plot_axis
from rhale.plots.lettering import LITERAL, fit_name
from rhale.plots.small_pictures import choose_columns
from rhale.plots.view import read_common_view
from rhale.results.differences import can_compare
from rhale.results.feature_comparison import FeatureComparison
from rhale.results.numerals import write_number
from rhale.results.result import is_constant, reach

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
        write_comparison_title(ax, one)
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
    reach_over(field)
    field.name_places(one.results[0])
    field.name_scale()
    return explained


def reach_over(field: PlotAxis) -> None:
    """Let the axes reach over all places."""
    field.fit()
    field.board.ax.autoscale_view()
    field.fit()


def write_comparison_title(ax: Axes, one: FeatureComparison) -> None:
    """Name the feature, and say how far its curves are apart."""
    name = fit_name(one.captions.axis(one.name), canvas.letters(ax, "width"))
    ax.set_title(
        f"{name}\n{in_few_words(one)}",
        loc="left",
        fontsize=style.NAME_TEXT,
        linespacing=1.3,
        **LITERAL,
    )


def in_few_words(one: FeatureComparison) -> str:
    """Say how far curves are apart, and whether rows moved.

    Examples
    --------
    >>> import rhale
    >>> x = np.linspace(0, 1, 200)[:, None]
    >>> fx = rhale.explain(lambda x: x[:, 0], x)
    >>> in_few_words(rhale.compare(fx, fx)["x0"])
    'agree'
    """
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
