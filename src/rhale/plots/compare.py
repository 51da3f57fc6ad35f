"""Several methods or models for one feature, on one panel."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from rhale.errors import BadSettingError
from rhale.kernels.curve import Center
from rhale.plots import canvas, layers, style
from rhale.plots.text import LITERAL, joined

LEVEL = 0.95


def plot_compare(
    items: Mapping[str, layers.Result], *, ax: Axes | None = None, center: Center = "mean"
) -> Axes:
    """Draw the curves of several methods or models for one feature.

    Parameters
    ----------
    items : mapping from str to Effect or Profile
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
        interval of the mean) for every item, rhale:counts for the rows of the first.

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
    new = ax is None
    ax = canvas.new_axes(style.PROFILE_SIZE) if ax is None else ax
    results = list(items.values())
    curved = {name: item for name, item in items.items() if not layers.is_constant(item)}
    if curved:
        layers.draw_zero(ax)
        explained: list[Artist] = []
        for index, (name, item) in enumerate(curved.items()):
            explained += draw_line(ax, layers.trace(item, center, LEVEL), name, index, LEVEL)
        explained += explain_ribbon(LEVEL)
        explained += layers.draw_counts(ax, next(iter(curved.values())))
        canvas.fit_limits(ax, strip=True)
        canvas.add_legend(ax, explained, outside=new)
    else:
        canvas.say_constant(ax, layers.reach(results[0])[0])
    ax.set_xlabel(joined([item.name for item in results], style.LABEL_LENGTH), **LITERAL)
    length = canvas.letters(ax, "height")
    ax.set_ylabel(layers.value_label(results, center, length), **LITERAL)
    return ax


def draw_line(ax: Axes, path: layers.Trace, name: str, index: int, level: float) -> list[Artist]:
    """Draw one line and its ribbon, in the look of its number."""
    look = style.look(index)
    for ribbon in layers.draw_ci(ax, path, level, look.colour):
        ribbon.set(alpha=style.THIN_RIBBON_ALPHA, linewidth=0)
    return [layers.draw_curve(ax, path, name, look)]


def explain_ribbon(level: float) -> list[Artist]:
    """Make the legend's entry for the ribbons, which have the colours of their lines."""
    name = layers.interval_name(level)
    return [Patch(color=style.NOTE, alpha=style.THIN_RIBBON_ALPHA, linewidth=0, label=name)]
