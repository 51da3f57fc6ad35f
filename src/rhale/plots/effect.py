"""The two panels of one effect: the curve above, the bins it is made of below."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection

from rhale.effects.binning.cells import Grid
from rhale.effects.curve import Center, middles
from rhale.effects.effect import Effect
from rhale.effects.level_effect import LevelEffect
from rhale.effects.result import Result, is_constant
from rhale.effects.staircase import MAX_JUMP_LABELS
from rhale.effects.support import reach_slopes
from rhale.errors import BadSettingError
from rhale.plots import canvas, marks, style, ticks
from rhale.plots.axes import ContinuousAxis, Item, Layers, read_item
from rhale.plots.categorical_axis import OrientedAxes, label_pair, lay_out_levels
from rhale.plots.labels import LITERAL, format_label_number, slope_label, value_label
from rhale.plots.levels import open_level_panels, plot_levels
from rhale.plots.proportion import (
    Kind,
    choose_kind,
    describe_relative_importance,
    give_back,
    is_negligible_effect,
    keep_in_proportion,
    open_effect_panels,
)
from rhale.plots.row_curves import DrawnRows, RowColors, draw_along, read_drawn_rows
from rhale.plots.view import PLAIN_VIEW, AxisView, Limits, Scale, Sort, read_view
from rhale.stats.arrays import BoolArray, FloatArray

Truth = Callable[[FloatArray], FloatArray]
LEAST_FOR_VIOLIN = 8  # fewer rows are drawn one by one
MANY_BINS = 30
N_LEVELS = 64
ROW_TAIL_QUANTILES = (0.01, 0.99)


def plot_effect(
    effect: Effect | LevelEffect,
    *,
    ax: Axes | Sequence[Axes] | None = None,
    kind: Kind | None = None,
    center: Center = "mean",
    level: float = 0.95,
    smooth: bool = False,
    spread: bool = True,
    uncertainty: bool = True,
    violins: bool = True,
    rows: bool | int | None = None,
    color: RowColors | None = None,
    truth: Truth | None = None,
    turned: bool | None = None,
    limits: Limits = None,
    xscale: Scale = "auto",
    sort: Sort | None = None,
    among: Sequence[Result] = (),
) -> Any:
    """Draw one effect as the paper does: the curve on top, its bins below.

    Parameters
    ----------
    effect : Effect or LevelEffect
        What to draw. Levels are dots, the larger the more rows they have; below stand the steps
        between them.
    ax : Axes or pair of Axes, optional
        One: its place is divided into the two panels, or is that of the one panel. Two: top and
        bottom. None: a new figure.
    kind : {"both", "curve", "bins"}, optional
        Both panels, the curve alone, or its bins (of levels, the steps between them) alone. If not
        given it is both; of levels that are sorted by effect it is "curve", since their steps were
        measured in another order.
    center : {"mean", "start", "uniform"}
        Where the curve is zero, as in `Effect.curve`.
    level : float
        Of the interval of the mean.
    smooth : bool
        Of a model that moves in steps, such as trees: False draws its own curve, flat but for its
        jumps; True evens out small steps and keeps the real jumps, as in `Effect.curve`. Other
        curves are the same either way.
    spread : bool
        Draw curve ± spread, which says how rows differ.
    uncertainty : bool
        Draw the interval of the curve, which says how well the mean is known.
    violins : bool
        Draw the local effects of the sampled rows in each bin; levels have none.
    rows : bool or int, optional
        Draw the curves of so many sampled rows, evenly chosen along the feature, each centred as
        the mean curve is; True is 50, and 100 are kept. A row is moved to values near its own: there
        its curve is solid. Beyond, it is estimated from how rows differ, and is faint. Between the
        places that rows are moved to, they have the bends and steps of the mean curve.
    color : RowColors, optional
        A feature whose values colour these curves. `Explanation.plot` makes it from a name:
        fx.plot("longitude", rows=50, color="latitude").
    truth : callable, optional
        Known curve, from values of shape (n,) to values of shape (n,), drawn dashed. It is
        shifted to be zero where the curve is, so that shapes are compared. For levels it is
        called with their labels, or with their values if they are numbers.
    turned : bool, optional
        Write levels below one another, the two panels side by side. If not given, this is done
        where there are many levels or long names, unless a pair of axes is given.
    limits : str or pair, optional
        Which part of the axis is shown: "1%..99%" between these shares of the rows, (20, 65) between
        these values, of which one may be None. The y axes follow what is seen.
    xscale : {"auto", "linear", "log"}
        Scale of an axis of numbers. "auto" is logarithmic where all values are positive, the middle
        90 % of the rows would stand on less than a third of a plain axis, and a logarithmic one
        gives them half as much room again. The axis says "log scale" then.
    sort : {"effect", "order"}, optional
        How levels stand: by their effect, the highest first, or in the order in which their steps
        were measured. If not given, by effect where that order means nothing, as that of names does.
    among : sequence of results
        All of the same output, as `Explanation.plot` gives them: a small effect does not fill its
        picture then as a large one does, and the legend of a new figure says how large it is.

    Returns
    -------
    Axes, or top and bottom
        The given ones, or new ones. Artists carry a gid: rhale:curve, rhale:spread, rhale:ci,
        rhale:counts, rhale:truth, rhale:missing, rhale:rows, rhale:rows-beyond; rhale:bars, rhale:tops, rhale:whiskers, rhale:violins,
        rhale:dots, rhale:empty, rhale:jumps; for levels rhale:levels and rhale:steps.

    Notes
    -----
    Whiskers and violins tell how rows differ from their bin's fit: in a bin with a slope both are
    read at its middle. A violin reaches from the 1st to the 99th percentile of its bin's local effects, so that one
    odd row does not flatten the picture. Bins with fewer than eight sampled rows show each row
    as a dot. Slopes of single rows of a stepped model have its steps in them, which `std` leaves
    out: they are drawn as far apart as `std` says (`Effect.shown_effects`), and where that is 0
    there is no violin. A bar that holds a jump is cut where it would leave nothing to see of the
    others, and the size of the jump stands beside it.

    Examples
    --------
    >>> import rhale
    >>> x = np.linspace(0, 1, 200)
    >>> top, bottom = plot_effect(rhale.effect(x, 2 * x, name="age"))
    >>> bottom.get_xlabel()
    'age'
    """
    kind, sort = choose_kind(effect, kind, sort, ax)
    view, layers = (
        read_view([effect], limits, xscale, sort),
        Layers(center, level, spread, uncertainty, among),
    )
    single = read_drawn_rows(effect, rows, color, center)
    if single is not None and kind == "bins":
        msg = (
            "rows= are drawn beside the curve, and kind='bins' has none; use kind='curve' or 'both'"
        )
        raise BadSettingError(msg)
    if isinstance(effect, LevelEffect):
        fields = open_level_panels(lay_out_levels([effect], view.order), kind, ax, turned=turned)
        return plot_levels(effect, layers, fields, rows=single, truth=truth, new=ax is None)
    top, bottom = open_effect_panels(ax, kind)
    if top is not None:
        item = read_item(effect, center, level, smooth=smooth, view=view)
        known = draw_known_curve(top, effect, view, center, truth)
        draw_effect_curve(
            ContinuousAxis(top, view=view), item, layers, known, rows=single, new=ax is None
        )
    if bottom is not None:
        draw_bins_panel(
            ContinuousAxis(bottom, view=view), effect, among, violins=violins, new=ax is None
        )
        if top is not None:
            bottom.set_xlim(top.get_xlim(), auto=True)
    for panel in (top, bottom):
        if panel is not None:
            ContinuousAxis(panel, view=view).name_places(effect)
    name_effect_axes(top, bottom, effect, center)
    for panel in (top, bottom):
        if panel is not None and panel.get_xlabel():
            ContinuousAxis(panel, view=view).name_scale()
    return give_back(top, bottom)


def draw_effect_curve(
    field: ContinuousAxis,
    item: Item,
    layers: Layers,
    known: list[Artist],
    *,
    rows: DrawnRows | None = None,
    new: bool,
) -> None:
    """Draw the curve, its spread and interval, and where rows are; `known` is drawn already."""
    effect, ax = item.result, field.ax
    drawn = {"spread": layers.spread, "uncertainty": layers.uncertainty}
    if is_constant(effect):
        field.draw_constant([item], layers.level)
        marks.draw_missing_result(ax, effect, item.missing, layers.level, **drawn)
        return
    field.begin()
    explained = field.draw_one(item, "mean effect", layers.level, **drawn)
    field.draw_gaps(effect)
    explained += field.draw_counts(effect) + draw_along(field, item, rows) + known
    marks.draw_missing_result(ax, effect, item.missing, layers.level, **drawn)
    field.fit()
    keep_in_proportion(field.oriented, layers.among)
    title = describe_relative_importance(effect, layers.among) if new else ""
    canvas.add_legend(ax, explained, outside=new, title=title)


def draw_bins_panel(
    field: ContinuousAxis, effect: Effect, among: Sequence[Result], *, violins: bool, new: bool
) -> None:
    """Draw the bins that the curve is made of."""
    ax, view = field.ax, field.view
    if is_constant(effect):
        # Show the local effects of the one value of a feature where they are known.
        if np.isfinite(effect.mean).any():
            marks.draw_zero_line(OrientedAxes(ax))
            ax.plot(effect.edges[:1], effect.mean[:1], "o", color=style.EFFECT, gid="rhale:bars")
            draw_whiskers(ax, effect)
            canvas.fit_limits(ax, strip=False)
        else:
            ax.tick_params(left=False, labelleft=False)
        return
    # Draw bars, whiskers, violins and gaps; return what a legend explains.
    marks.draw_zero_line(OrientedAxes(ax))
    explained = draw_bin_bars(ax, effect, view) + draw_whiskers(ax, effect, view)
    if violins:
        explained += draw_bin_rows(ax, effect, view)
    explained += ContinuousAxis(ax).draw_gaps(effect)
    canvas.fit_limits(ax, strip=False, view=view)
    clip_slope_axis(ax, effect, view)
    if is_negligible_effect(effect, among):
        keep_in_proportion(field.oriented, among, per=float(np.ptp(effect.edges)))
    canvas.add_legend(ax, explained, outside=new)


def draw_known_curve(
    ax: Axes, effect: Effect, view: AxisView, center: Center, truth: Truth | None
) -> list[Artist]:
    """Draw a known curve, zero where the effect's curve is."""
    if truth is None or is_constant(effect):
        return []
    x = effect.places() if view.is_plain else view.places(effect)
    if center == "mean" and effect.density == "rows" and effect.sample.x.size:
        places, weights = effect.sample.x, effect.sample.weight
    else:
        places, weights = effect._fit.places(center)  # noqa: SLF001 - its quadrature
    zero = np.average(np.asarray(truth(places), dtype=np.float64), weights=weights)
    (line,) = ax.plot(x, np.asarray(truth(x), dtype=np.float64) - zero, label="truth")
    line.set(color=style.TRUTH, linestyle="--", linewidth=style.THIN_LINE, zorder=5)
    line.set_gid("rhale:truth")
    return [line]


def draw_bin_bars(ax: Axes, effect: Effect, view: AxisView = PLAIN_VIEW) -> list[Artist]:
    """Draw one bar per bin, as wide as the bin; a linear fit slopes its top.

    A fit to a stepped model slopes with the windows that slopes of rows are taken over, and no
    curve does: its bars are flat. They are known without rows, too.
    """
    left, right = view.clip(effect.edges[:-1], effect.edges[1:])
    known = np.isfinite(effect.mean) & (effect.measured | (effect.stairs is not None))
    shown = np.flatnonzero(known & (left < right))
    slope = effect.slope if effect.stairs is None else np.zeros(effect.mean.size)
    outlines = [outline(effect, int(k), float(slope[k]), view) for k in shown]
    bars = PolyCollection(outlines, gid="rhale:bars", label="bin effect")
    bars.set_facecolor((style.EFFECT, style.BAR_ALPHA))
    bars.set(edgecolor=(style.EFFECT, style.BAR_EDGE_ALPHA), linewidth=style.HAIR_LINE, zorder=2)
    ax.add_collection(bars)
    # Draw the tops of bars, which say it all; the sides but lead to them.
    tops = [corners[1:-1] for corners in outlines]
    width = style.LINE_WIDTH if len(tops) <= MANY_BINS else style.THIN_LINE
    lines = LineCollection(list(tops), colors=style.EFFECT, linewidths=width)
    lines.set(zorder=2.5, gid="rhale:tops", capstyle="butt")
    ax.add_collection(lines)
    if np.any(slope[shown] != 0):
        bars.set_label("bin effect (sloped)")
    return [bars]


def outline(effect: Effect, k: int, slope: float, view: AxisView) -> FloatArray:
    """Corners of the bar of one bin, as far as it is shown; a straight top bends on a log axis."""
    middle = middles(effect.edges)[k]
    left, right = view.clip(effect.edges[k], effect.edges[k + 1])
    x = view.evenly(left, right, N_LEVELS if view.is_log and slope else 2)
    top = effect.mean[k] + slope * (x - middle)
    return np.column_stack([[left, *x, right], [0.0, *top, 0.0]])


def draw_whiskers(ax: Axes, effect: Effect, view: AxisView = PLAIN_VIEW) -> list[Artist]:
    """Draw mean ± std at the middle of every bin where both are known."""
    known = effect.measured & np.isfinite(effect.mean) & np.isfinite(effect.std)
    known &= view.shows(middles(effect.edges))
    if not known.any():
        return []
    caps, width = (2.5, 1.2) if effect.mean.size <= MANY_BINS else (0.0, style.HAIR_LINE)
    drawn = ax.errorbar(
        middles(effect.edges)[known],
        effect.mean[known],
        effect.std[known],
        fmt="none",
        ecolor=style.SPREAD,
        elinewidth=width,
        capsize=caps,
        zorder=3.5,
    )
    (whiskers,) = drawn.lines[2]
    whiskers.set(gid="rhale:whiskers", label="± std between rows")
    return [whiskers]


def draw_bin_rows(ax: Axes, effect: Effect, view: AxisView = PLAIN_VIEW) -> list[Artist]:
    """Draw the sampled local effects of every bin: a violin, or dots where they are few."""
    outlines, dots = [], np.zeros(effect.sample.x.size, dtype=np.bool_)
    for k, inside in members(effect):
        if inside.sum() < LEAST_FOR_VIOLIN:
            dots |= inside & view.shows(effect.sample.x)
        elif (shape := violin(effect, k, inside, view)) is not None:
            outlines.append(shape)
    explained: list[Artist] = []
    if outlines:
        bodies = PolyCollection(outlines, facecolor=style.SPREAD, alpha=style.VIOLIN_ALPHA)
        bodies.set(linewidth=0, zorder=3, gid="rhale:violins", label="local effects of rows")
        ax.add_collection(bodies)
        explained.append(bodies)
    if dots.any():
        points = ax.scatter(effect.sample.x[dots], effect.shown_effects[dots], s=14)
        points.set(color=style.SPREAD, linewidth=0, zorder=3, alpha=0.8)
        points.set(gid="rhale:dots", label="single rows")
        explained.append(points)
    return explained


def clip_slope_axis(ax: Axes, effect: Effect, view: AxisView = PLAIN_VIEW) -> None:
    """Let the axis reach as far as slopes that can be compared; write beside jumps how far they go."""
    reach = reach_slopes(effect)
    if reach is None:
        return
    ax.set_ylim(canvas.widen_interval(*reach, style.AXIS_MARGIN, style.AXIS_MARGIN), auto=True)
    middle = view.evenly(*view.ends(effect), 3)[1]
    seen = [jump for jump in effect.jumps if view.shows(np.array([jump.start, jump.stop])).all()]
    for jump in sorted(seen, key=lambda jump: -abs(jump.size))[:MAX_JUMP_LABELS]:
        is_left, is_up = jump.stop < middle, jump.size > 0
        words = ax.annotate(
            f" jumps by {format_label_number(jump.size)} ",
            (jump.stop if is_left else jump.start, float(is_up)),
            (0, -3 if is_up else 3),
            ax.get_xaxis_transform(),
            textcoords="offset points",
            **LITERAL,
        )
        words.set(ha="left" if is_left else "right", va="top" if is_up else "bottom")
        words.set(fontsize=style.NUMBER_TEXT, color=style.EFFECT, gid="rhale:jumps", zorder=5)


def members(effect: Effect) -> Iterator[tuple[int, BoolArray]]:
    """Yield every bin's number and which of the sampled rows are in it."""
    sample, grid = effect.sample, Grid(effect.edges, effect.closed)
    inside = grid.covers(sample.x) & (sample.weight > 0)
    place = grid.locate(sample.x)
    for k in range(effect.mean.size):
        yield k, inside & (place == k)


def violin(
    effect: Effect, k: int, inside: BoolArray, view: AxisView = PLAIN_VIEW
) -> FloatArray | None:
    """Outline of the local effects of one bin, shape (2 n_levels, 2); None without spread."""
    sample, middle = effect.sample, middles(effect.edges)[k]
    trend = np.nan_to_num(effect.slope[k]) * (sample.x[inside] - middle)
    values, weight = effect.shown_effects[inside] - trend, sample.weight[inside]
    low, high = np.quantile(values, ROW_TAIL_QUANTILES)
    std = float(
        np.sqrt(np.average((values - np.average(values, weights=weight)) ** 2, weights=weight))
    )
    if not high - low > 1e-9 * max(abs(low), abs(high)) or not view.shows(np.array([middle])).all():
        return None
    bandwidth = 1.06 * std * values.size**-0.2  # Silverman's rule
    levels = np.linspace(low, high, N_LEVELS)
    density = np.exp(-0.5 * ((levels[:, None] - values) / bandwidth) ** 2) @ weight
    shown = view.clip(effect.edges[k], effect.edges[k + 1])
    left, right, at = view.scaled(np.array([*shown, middle]))
    span = np.diff(view.scaled(np.array(view.ends(effect))))[0]
    half = min(style.VIOLIN_SHARE_OF_BIN * (right - left), style.VIOLIN_SHARE_OF_AXIS * span)
    sides = min(half, right - at) * density / density.max()
    x = view.unscaled(np.concatenate([at - sides, (at + sides)[::-1]]))
    return np.column_stack([x, np.concatenate([levels, levels[::-1]])])


def name_effect_axes(top: Axes | None, bottom: Axes | None, effect: Effect, center: Center) -> None:
    """Name the axes of both panels, or of the one there is."""
    name = ticks.axis_name(effect, style.LABEL_LENGTH)
    words = [
        "" if top is None else value_label([effect], center, canvas.letters(top, "height")),
        "" if bottom is None else slope_label(effect, canvas.letters(bottom, "height")),
    ]
    if top is not None and bottom is not None:
        label_pair(OrientedAxes(top), OrientedAxes(bottom), (words[0], words[1]), name)
        return
    for panel, word in zip((top, bottom), words, strict=True):
        if panel is not None:
            panel.set_xlabel(name, **LITERAL)
            panel.set_ylabel(word, **LITERAL)
