"""Several methods or models for one feature, on one panel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from rhale.errors import BadSettingError
from rhale.kernels.curve import Center
from rhale.plots import canvas, dots, layers, level_plot, missing_panel, slots, style, ticks
from rhale.plots.board import Board
from rhale.plots.lettering import LITERAL, joined
from rhale.results.result import Result, Trace, axis_kind, is_constant, reach

LEVEL = 0.95


def plot_compare(
    items: Mapping[str, Result], *, ax: Axes | None = None, center: Center = "mean"
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
        Where the curves are zero. Profiles are centred too, so that all have one level.

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
    results = list(items.values())
    if curved and all(item.labels for item in curved.values()):
        return compare_levels(curved, ax, center)
    refuse_mixture(list(curved.values()))
    new = ax is None
    ax = canvas.new_axes(style.PROFILE_SIZE) if ax is None else ax
    if curved:
        explained = draw_curves(ax, curved, center)
        canvas.fit_limits(ax, strip=True)
        ticks.dress(ax, next(iter(curved.values())))
        canvas.add_legend(ax, explained, outside=new)
    else:
        canvas.say_constant(ax, reach(results[0])[0], ticks.only_value(results[0]))
    ax.set_xlabel(joined([item.name for item in results], style.LABEL_LENGTH), **LITERAL)
    length = canvas.letters(ax, "height")
    ax.set_ylabel(layers.value_label(results, center, length), **LITERAL)
    return ax


def refuse_mixture(results: Sequence[Result]) -> None:
    """Refuse numbers and categories on one axis; levels that are numbers are numbers."""
    kinds = {axis_kind(r) for r in results if not r.labels}
    categories = [r for r in results if r.column_kind == "categories"]
    if len(kinds) > 1 or (kinds and categories):
        msg = (
            f"{results[0].name!r} has categories in one result and numbers or dates in another; "
            "compare results that treat it alike (see `categorical=` of explain)"
        )
        raise BadSettingError(msg)


def draw_curves(ax: Axes, items: Mapping[str, Result], center: Center) -> list[Artist]:
    """Draw lines, ribbons and missing values; return what a legend explains."""
    layers.draw_zero(ax)
    explained: list[Artist] = []
    for index, (name, item) in enumerate(items.items()):
        explained += draw_line(ax, item.trace(center, LEVEL), name, index, LEVEL)
    points = [item.missing_trace(center, LEVEL) for item in items.values()]
    found = [missing_panel.Item(p, style.look(i)) for i, p in enumerate(points) if p is not None]
    missing_panel.draw_several(ax, found, LEVEL, style.NAME_TEXT)
    explained += explain_ribbon(LEVEL)
    return explained + layers.draw_counts(ax, next(iter(items.values())))


def compare_levels(items: Mapping[str, Result], ax: Axes | None, center: Center) -> Axes:
    """Draw dots side by side at every level."""
    results = list(items.values())
    stand = slots.gather_slots(results)
    board = level_plot.new_board(stand, ax, n_items=len(results))
    dots.draw_zero(board)
    dots.set_apart(board, stand)
    explained = draw_side_by_side(board, stand, items, center)
    board.fit(stand, strip=True)
    board.name_levels(stand)
    level_plot.label_board(board, results, center)
    level_plot.explain(board, explained, new=ax is None)
    return board.ax


def draw_side_by_side(
    board: Board,
    stand: slots.Slots,
    items: Mapping[str, Result],
    center: Center,
) -> list[Artist]:
    """Draw the dots of every item; return what a legend explains."""
    explained: list[Artist] = []
    for index, (name, item) in enumerate(items.items()):
        spots = dots.read_spots(item, center, LEVEL)
        explained += dots.draw_among(
            board, stand, item, spots, label=name, level=LEVEL, index=index, n_items=len(items)
        )
    explained += dots.explain_whiskers(LEVEL)
    return explained + dots.draw_counts(board, stand, next(iter(items.values())))


def draw_line(ax: Axes, path: Trace, name: str, index: int, level: float) -> list[Artist]:
    """Draw one line and its ribbon, in the look of its number."""
    look = style.look(index)
    for ribbon in layers.draw_ci(ax, path, level, look.colour):
        ribbon.set(alpha=style.THIN_RIBBON_ALPHA, linewidth=0)
    return [layers.draw_curve(ax, path, name, look)]


def explain_ribbon(level: float) -> list[Artist]:
    """Make the legend's entry for the ribbons, which have the colours of their lines."""
    name = layers.interval_name(level)
    return [Patch(color=style.NOTE, alpha=style.THIN_RIBBON_ALPHA, linewidth=0, label=name)]
