"""Several methods or models for one feature, on one panel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes

from rhale.effects.alignment import offset
from rhale.effects.curve import Center
from rhale.effects.result import Result, Trace, find_result_axis_kind, is_constant, reach
from rhale.errors import BadSettingError
from rhale.plots import canvas, style, ticks
from rhale.plots.axes import Item, open_plot_axis, read_item
from rhale.plots.categorical_axis import OrientedAxes, add_levels_legend, label_oriented_axes
from rhale.plots.view import read_common_view
from rhale.stats.distributions import CONFIDENCE_LEVEL


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
        of the first, so that the same curve over other rows stands where it stood; intervals move
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
        # Say that no result has a curve.
        oriented, first = (
            OrientedAxes(ax or canvas.new_axes(style.PROFILE_SIZE)),
            next(iter(items.values())),
        )
        canvas.write_constant_feature(oriented.ax, reach(first)[0], ticks.write_only_value(first))
    else:
        view = read_common_view(results)
        field = open_plot_axis(results, ax, view)
        oriented = field.oriented
        read = {
            name: read_item(result, center, CONFIDENCE_LEVEL, smooth=smooth, view=view)
            for name, result in curved.items()
        }
        if center == "mean":
            read = {
                name: moved(item, offset(results[0], item.result)) for name, item in read.items()
            }
        # Draw every result in its look, and the rows of the first; return what a legend explains.
        field.begin()
        explained: list[Artist] = []
        for index, (name, item) in enumerate(read.items()):
            explained += field.draw_among(item, name, CONFIDENCE_LEVEL, index, len(read))
        looks = [style.line_style(index) for index in range(len(read))]
        field.draw_aside(list(read.values()), CONFIDENCE_LEVEL, looks)
        explained += field.explain_intervals(CONFIDENCE_LEVEL, len(read))
        explained += field.draw_counts(next(iter(read.values())).result)
        field.fit()
        field.name_places(results[0])
        add_levels_legend(oriented, explained, new=ax is None)
    label_oriented_axes(oriented, list(items.values()), center)
    if curved:
        field.name_scale()
    return oriented.ax


def moved(item: Item, by: float) -> Item:
    """Move a curve, its interval and its point of missing values up."""
    missing = None if item.missing is None else lifted(item.missing, by)
    return item._replace(path=lifted(item.path, by), missing=missing)


def lifted(path: Trace, by: float) -> Trace:
    """The same curve, higher by a number; rows differ as before."""
    return path._replace(curve=path.curve + by, low=path.low + by, high=path.high + by)


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
