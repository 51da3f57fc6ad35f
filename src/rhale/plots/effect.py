"""One effect in detail: its curve above, the bins it is made of below; of levels dots, and the steps between.

Also where one effect stands among all: its axis is in proportion to theirs, and its legend says how
large it is beside them.
"""

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
from rhale.effects.result import Result, Trace, is_constant
from rhale.effects.staircase import MAX_JUMP_LABELS
from rhale.effects.support import has_free_order, reach_slopes
from rhale.errors import BadSettingError
from rhale.output.number_format import write_share
from rhale.output.picture_options import Kind, Limits, Scale, Sort
from rhale.plots import canvas, style
from rhale.plots.axes import CategoricalAxis, ContinuousAxis, Item, Layers, PlotAxis, read_item
from rhale.plots.canvas import TwoPanels
from rhale.plots.categorical_axis import (
    OrientedAxes,
    add_levels_legend,
    label_one,
    label_pair,
    lay_out_levels,
    new_oriented_axes,
    should_turn,
    turned_height,
)
from rhale.plots.labels import (
    LITERAL,
    axis_name,
    folded_first,
    format_label_number,
    in_sentence,
    number_with_error,
    slope_label,
    value_label,
)
from rhale.plots.row_curves import DrawnRows, RowColors, draw_row_curves, read_drawn_rows
from rhale.plots.view import PLAIN_VIEW, AxisView, read_view, require_choice
from rhale.stats.arrays import BoolArray, FloatArray
from rhale.stats.distributions import student_quantile

Truth = Callable[[Any], FloatArray]
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
    smooth: bool | None = None,
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
    smooth : bool, optional
        Of a model that moves in steps, such as trees: False, as None, draws its own curve, flat but for its
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
    view, new = read_view([effect], limits, xscale, sort), ax is None
    layers = Layers(center, level, spread, uncertainty, among)
    single = read_drawn_rows(effect, rows, color, center)
    if single is not None and kind == "bins":
        msg = (
            "rows= are drawn beside the curve, and kind='bins' has none; use kind='curve' or 'both'"
        )
        raise BadSettingError(msg)
    top, bottom = open_effect_panels(effect, view, kind, ax, turned=turned)
    above: list[Artist] = []
    below: list[Artist] = []
    if top is not None:
        item = read_item(effect, center, level, smooth=bool(smooth), view=view)
        known = draw_known_curve(top, effect, center, truth)
        above = draw_effect_curve(top, item, layers, known, single)
    if isinstance(bottom, CategoricalAxis) and isinstance(effect, LevelEffect):
        below = draw_level_steps(bottom, effect, level)
    elif isinstance(bottom, ContinuousAxis) and isinstance(effect, Effect):
        below = draw_bins_panel(bottom, effect, among, violins=violins)
        if top is not None:
            bottom.ax.set_xlim(top.oriented.ax.get_xlim(), auto=True)
    title = describe_relative_importance(effect, among) if new else ""
    if top is not None and bottom is not None and new and top.oriented.horizontal:
        both = above + [a for a in below if a.get_gid() != "rhale:ci"]  # side by side: one legend
        add_levels_legend(top.oriented, both, new=True, title=title)
    else:
        for field, explained, words in ((top, above, title), (bottom, below, "")):
            if field is not None and explained:
                add_levels_legend(field.oriented, explained, new=new, title=words)
    name_effect_axes(top, bottom, effect, center)
    panels = [field.oriented.ax for field in (top, bottom) if field is not None]
    return TwoPanels(*panels) if len(panels) > 1 else panels[0]


def open_effect_panels(
    effect: Result,
    view: AxisView,
    kind: Kind,
    ax: Axes | Sequence[Axes] | None,
    *,
    turned: bool | None = None,
) -> tuple[PlotAxis | None, PlotAxis | None]:
    """Find or make the panels: top and bottom, of which one may be none."""
    layout = lay_out_levels([effect], view.order) if effect.labels else None
    turn = layout is not None and (should_turn(layout, ax) if turned is None else turned)
    if kind == "both":
        height = turned_height(layout) if turn and layout is not None else None
        given: Sequence[Axes] = canvas.open_two_panels(ax, sideways=height)
    elif ax is not None and not isinstance(ax, Axes):
        msg = f"kind={kind!r} draws one panel, and ax is {ax!r}; give one Axes"
        raise BadSettingError(msg)
    elif layout is not None:
        given = [new_oriented_axes(layout, ax, turned=turn).ax]
    else:
        given = [canvas.new_axes(style.PROFILE_SIZE) if ax is None else ax]
    made = [
        ContinuousAxis(one, view=view)
        if layout is None
        else CategoricalAxis(OrientedAxes(one, turn), layout)
        for one in given
    ]
    if kind == "both":
        return made[0], made[1]
    return (made[0], None) if kind == "curve" else (None, made[0])


def draw_effect_curve(
    field: PlotAxis, item: Item, layers: Layers, known: list[Artist], rows: DrawnRows | None = None
) -> list[Artist]:
    """Draw the curve or the levels, their spread and interval, and where rows are.

    Returns what a legend explains; `known` is drawn already.
    """
    effect, level = item.result, layers.level
    drawn: dict[str, Any] = {"spread": layers.spread, "uncertainty": layers.uncertainty}
    if is_constant(effect):
        field.draw_constant([item], level)
        field.draw_aside([item], level, **drawn)
        return []
    field.begin()
    explained = field.draw_one(item, "mean effect", level, **drawn)
    field.draw_gaps(effect)
    explained += field.draw_counts(effect) + draw_row_curves(field, item, rows) + known
    field.draw_aside([item], level, **drawn)
    field.fit()
    keep_in_proportion(field.oriented, layers.among)
    return explained


def draw_bins_panel(
    field: ContinuousAxis, effect: Effect, among: Sequence[Result], *, violins: bool
) -> list[Artist]:
    """Draw the bins that the curve is made of; return what a legend explains."""
    ax, view = field.ax, field.view
    if is_constant(effect):
        # Show the local effects of the one value of a feature where they are known.
        if np.isfinite(effect.mean).any():
            OrientedAxes(ax).draw_zero_line()
            ax.plot(effect.edges[:1], effect.mean[:1], "o", color=style.EFFECT, gid="rhale:bars")
            draw_whiskers(ax, effect)
            canvas.fit_limits(ax, strip=False)
        else:
            ax.tick_params(left=False, labelleft=False)
        return []
    OrientedAxes(ax).draw_zero_line()
    explained = draw_bin_bars(ax, effect, view) + draw_whiskers(ax, effect, view)
    if violins:
        explained += draw_bin_rows(ax, effect, view)
    explained += ContinuousAxis(ax).draw_gaps(effect)
    canvas.fit_limits(ax, strip=False, view=view)
    clip_slope_axis(ax, effect, view)
    if is_negligible_effect(effect, among):
        keep_in_proportion(field.oriented, among, per=float(np.ptp(effect.edges)))
    return explained


def draw_known_curve(
    field: PlotAxis, effect: Effect | LevelEffect, center: Center, truth: Truth | None
) -> list[Artist]:
    """Draw a known curve, or known values of levels, zero where the effect's curve is."""
    if truth is None or is_constant(effect):
        return []
    ax = field.oriented.ax
    if isinstance(effect, LevelEffect):
        known = np.asarray(truth(effect.edges if effect.is_number else effect.levels), dtype=float)
        weights = {"mean": effect.share, "start": np.eye(1, known.size)[0]}
        zero = np.average(known, weights=weights.get(center))
        at = field.oriented.points(field.locate(effect, effect.edges), known - zero)
        (line,) = ax.plot(*at.T, "x", label="truth", markersize=6)
    else:
        x = effect.places() if field.view.is_plain else field.view.places(effect)
        if center == "mean" and effect.density == "rows" and effect.sample.x.size:
            places, weight = effect.sample.x, effect.sample.weight
        else:
            places, weight = effect._fit.places(center)  # noqa: SLF001 - its quadrature
        zero = np.average(np.asarray(truth(places), dtype=np.float64), weights=weight)
        (line,) = ax.plot(x, np.asarray(truth(x), dtype=np.float64) - zero, "--", label="truth")
        line.set(linewidth=style.THIN_LINE)
    line.set(color=style.TRUTH, zorder=5.5, gid="rhale:truth")
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


def draw_level_steps(field: CategoricalAxis, effect: LevelEffect, level: float) -> list[Artist]:
    """Draw the steps between levels; nothing where there is one level."""
    if is_constant(effect):
        field.oriented.ax.set(xticks=[], yticks=[])
        return []
    # Draw the mean step between neighbouring levels, its spread and its uncertainty.
    oriented, gap, width = field.oriented, np.diff(effect.edges), field.dot_width()
    if field.is_crowded():
        width = style.CLOSE_BAR * oriented.points_per_slot(field.layout)
    half = student_quantile(level, effect.rows - 1) * effect.standard_error * gap
    places, step = middles(field.layout.places), effect.step
    path = Trace(places, step, effect.std * gap, step - half, step + half)
    oriented.draw_zero_line()
    (marks,) = oriented.ax.plot(*oriented.points(places, step).T, "D", color=style.EFFECT)
    marks.set(markersize=0.55 * width, zorder=4, gid="rhale:steps", label="mean step")
    explained: list[Artist] = [marks]
    for stroke in oriented.draw_spread(path, width):
        stroke.set(gid="rhale:whiskers", label="± std between rows")
        explained.append(stroke)
    explained += oriented.draw_ci(path, level, style.CAP_WIDTH * width)
    field.oriented.fit(field.layout, strip=False)
    return explained


def name_effect_axes(
    top: PlotAxis | None, bottom: PlotAxis | None, effect: Result, center: Center | None
) -> None:
    """Name the axes of both panels or of the one there is, and their places."""
    words = ["", ""]
    for field in (top, bottom):
        if field is None:
            continue
        length = canvas.letters(
            field.oriented.ax, "width" if field.oriented.horizontal else "height"
        )
        if field is top:
            words[0] = value_label([effect], center, length)
        elif effect.labels:  # shorter where there is little room
            step = "step to the next level"
            words[1] = folded_first(
                [f"{step}, change of {in_sentence(effect)}", step], length, lines=3
            )
        else:
            words[1] = slope_label(effect, length)
        field.name_places(effect)
    name = axis_name(effect, style.LABEL_LENGTH)
    if top is not None and bottom is not None:
        label_pair(top.oriented, bottom.oriented, (words[0], words[1]), name)
    for field, word in zip((top, bottom), words, strict=True):
        if field is None:
            continue
        if top is None or bottom is None:
            label_one(field.oriented, name, word)
        if field.oriented.ax.get_xlabel():
            field.name_scale()


# --- One effect among all: a sentence on its size, and an axis in proportion


LEAST_SPAN = 0.4  # of an axis of values, by the largest importance: a tenth of what that takes
IMPORTANCE_ROUNDING = 1e-9  # of the largest importance: rounding
SMALL_SHARE = 0.001  # smaller ones are not told apart


def largest_importance(results: Sequence[Result]) -> float:
    """Importance of the largest effect; 0 where none is known."""
    known = [result.importance for result in results if np.isfinite(result.importance)]
    return max(known, default=0.0)


def is_negligible_effect(result: Result, among: Sequence[Result]) -> bool:
    """Tell whether an effect is nothing but rounding beside the largest one."""
    return bool(result.importance < IMPORTANCE_ROUNDING * largest_importance(among))


def describe_relative_importance(result: Result, among: Sequence[Result]) -> str:
    """Say how important a feature is, beside the most important one; nothing where it is alone.

    `among` holds all results of the same output, with this one.
    """
    largest = largest_importance(among)
    if len(among) < 2 or not largest > 0 or not np.isfinite(result.importance):
        return ""
    share = result.importance / largest
    if is_negligible_effect(result, among):
        return "importance 0: no effect but rounding"
    size = f"importance {number_with_error(result.importance, result.importance_error)}"
    if share == 1:
        return f"{size}, the most important of {len(among)} features"
    percent = f"{write_share(share)}" if share >= 0.01 else f"{100 * share:.1f} %"
    percent = percent if share >= SMALL_SHARE else f"less than {100 * SMALL_SHARE:g} %"
    return f"{size}, {percent} of the most important feature"


def keep_in_proportion(
    oriented: OrientedAxes, among: Sequence[Result], *, per: float = 1.0
) -> None:
    """Let the axis of values reach over a tenth of what the largest effect takes, or more.

    Where the axis shows slopes, `per` is the length over which the effect takes that.
    """
    low, high = oriented.value_limits
    more = (LEAST_SPAN * largest_importance(among) / per - (high - low)) / 2
    if more > 0:
        oriented.limit_values(low - more, high + more)


# --- Which panels a picture of one feature has: its curve, what it is made of, or both


PANEL_KINDS = ("both", "curve", "bins")


def choose_kind(
    result: Result, kind: Kind | None, sort: Sort | None, ax: Axes | Sequence[Axes] | None
) -> tuple[Kind, Sort | None]:
    """Choose panels, and the order of levels that goes with them."""
    # Steps lead from a level to the next in the order in which they were measured, so that
    # levels which are sorted otherwise have none to show. Between two names there is one
    # step, which their curve tells; so there is between two levels of any kind.
    if kind is not None:
        require_choice("kind", kind, PANEL_KINDS)
    has_two = ax is not None and not isinstance(ax, Axes)
    if kind is None and not has_two:
        is_sorted = (sort or "effect") == "effect" if has_free_order(result) else sort == "effect"
        is_one_step = len(result.labels) == 2
        return ("curve" if (is_sorted and result.labels) or is_one_step else "both"), sort
    if kind in ("curve", "bins") and has_two:
        msg = f"kind={kind!r} draws one panel, and ax has several axes; give one of them"
        raise BadSettingError(msg)
    if kind == "curve":
        return kind, sort
    if result.labels and sort == "effect":
        msg = (
            f"the steps between the levels of {result.name!r} were measured in another order; "
            "use sort='order' to show them, or kind='curve' with one Axes"
        )
        raise BadSettingError(msg)
    return kind or "both", "order" if result.labels else sort
