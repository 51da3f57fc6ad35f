"""The two panels of one effect: the curve above, the bins it is made of below."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection

from rhale.kernels import BoolArray, FloatArray
from rhale.kernels.curve import Center, middles
from rhale.kernels.grid import Grid
from rhale.plots import canvas, dots, missing_panel, style, ticks
from rhale.plots.board import Board, label_pair
from rhale.plots.fields import Layers, LineField, read_item
from rhale.plots.labels import slope_label, value_label
from rhale.plots.lettering import LITERAL, number
from rhale.plots.level_plot import plot_levels
from rhale.plots.proportion import is_rounding, keep_in_proportion, tell_size
from rhale.results.effect import Effect
from rhale.results.level_effect import LevelEffect
from rhale.results.result import Result, is_constant
from rhale.results.slope_reach import reach_slopes

Truth = Callable[[FloatArray], FloatArray]
LEAST_FOR_VIOLIN = 8  # fewer rows are drawn one by one
MANY_BINS = 30
MOST_JUMPS = 3  # written beside their bars
N_LEVELS = 64
TAILS = (0.01, 0.99)


def plot_effect(
    effect: Effect | LevelEffect,
    *,
    ax: Axes | Sequence[Axes] | None = None,
    center: Center = "mean",
    level: float = 0.95,
    smooth: bool = False,
    spread: bool = True,
    uncertainty: bool = True,
    violins: bool = True,
    truth: Truth | None = None,
    turned: bool | None = None,
    among: Sequence[Result] = (),
) -> tuple[Axes, Axes]:
    """Draw one effect as the paper does: the curve on top, its bins below.

    Parameters
    ----------
    effect : Effect or LevelEffect
        What to draw. Levels are dots, the larger the more rows they have; below stand the steps
        between them.
    ax : Axes or pair of Axes, optional
        One: its place is divided into the two panels. Two: top and bottom. None: a new figure.
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
    truth : callable, optional
        Known curve, from values of shape (n,) to values of shape (n,), drawn dashed. It is
        shifted to be zero where the curve is, so that shapes are compared. For levels it is
        called with their labels, or with their values if they are numbers.
    turned : bool, optional
        Write levels below one another, the two panels side by side. If not given, this is done
        where there are many levels or long names, unless a pair of axes is given.
    among : sequence of results
        All of the same output, as `Explanation.plot` gives them: a small effect does not fill its
        picture then as a large one does, and the legend of a new figure says how large it is.

    Returns
    -------
    top, bottom : Axes
        The given ones, or new ones. Artists carry a gid: rhale:curve, rhale:spread, rhale:ci,
        rhale:counts, rhale:truth, rhale:missing; rhale:bars, rhale:tops, rhale:whiskers, rhale:violins,
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
    if isinstance(effect, LevelEffect):
        layers = Layers(center, level, spread, uncertainty)
        return plot_levels(effect, layers, ax=ax, truth=truth, turned=turned, among=among)
    top, bottom = canvas.find_pair(ax)
    new, field = ax is None, LineField(top)
    item = read_item(effect, center, level, smooth=smooth)
    drawn = {"spread": spread, "uncertainty": uncertainty}
    if is_constant(effect):
        draw_constant(top, bottom, effect)
        missing_panel.draw_result(top, effect, item.missing, level, **drawn)
    else:
        field.begin()
        explained = field.draw_one(item, "mean effect", level, **drawn)
        field.draw_gaps(effect)
        explained += field.draw_counts(effect) + draw_truth(top, effect, center, truth)
        missing_panel.draw_result(top, effect, item.missing, level, **drawn)
        field.fit()
        keep_in_proportion(field.board, among)
        canvas.add_legend(
            top, explained, outside=new, title=tell_size(effect, among) if new else ""
        )
        explained = draw_bottom(bottom, effect, violins=violins)
        canvas.fit_limits(bottom, strip=False)
        cut_jumps(bottom, effect)
        if is_rounding(effect, among):
            keep_in_proportion(Board(bottom), among, per=float(np.ptp(effect.edges)))
        bottom.set_xlim(top.get_xlim(), auto=True)
        canvas.add_legend(bottom, explained, outside=new)
    for panel in (top, bottom):
        ticks.dress(panel, effect)
    name_axes(top, bottom, effect, center)
    return top, bottom


def draw_truth(ax: Axes, effect: Effect, center: Center, truth: Truth | None) -> list[Artist]:
    """Draw a known curve, zero where the effect's curve is."""
    if truth is None:
        return []
    x = effect.places()
    if center == "mean" and effect.density == "rows" and effect.sample.x.size:
        places, weights = effect.sample.x, effect.sample.weight
    else:
        places, weights = effect.fit.places(center)
    zero = np.average(np.asarray(truth(places), dtype=np.float64), weights=weights)
    (line,) = ax.plot(x, np.asarray(truth(x), dtype=np.float64) - zero, label="truth")
    line.set(color=style.TRUTH, linestyle="--", linewidth=style.THIN_LINE, zorder=5)
    line.set_gid("rhale:truth")
    return [line]


def draw_bottom(ax: Axes, effect: Effect, *, violins: bool) -> list[Artist]:
    """Draw bars, whiskers, violins and gaps; return what a legend explains."""
    dots.draw_zero(Board(ax))
    explained = draw_bars(ax, effect) + draw_whiskers(ax, effect)
    if violins:
        explained += draw_rows(ax, effect)
    return explained + LineField(ax).draw_gaps(effect)


def draw_bars(ax: Axes, effect: Effect) -> list[Artist]:
    """Draw one bar per bin, as wide as the bin; a linear fit slopes its top.

    A fit to a stepped model slopes with the windows that slopes of rows are taken over, and no
    curve does: its bars are flat. They are known without rows, too.
    """
    known = np.isfinite(effect.mean) & (effect.measured | (effect.stairs is not None))
    left, right = effect.edges[:-1][known], effect.edges[1:][known]
    slope = effect.slope[known] if effect.stairs is None else 0.0
    rise = 0.5 * slope * (right - left)
    start, end = effect.mean[known] - rise, effect.mean[known] + rise
    zero = np.zeros(left.size)
    corners = np.stack([left, zero, left, start, right, end, right, zero], axis=1)
    bars = PolyCollection(corners.reshape(-1, 4, 2).tolist(), gid="rhale:bars", label="bin effect")
    bars.set_facecolor((style.EFFECT, style.BAR_ALPHA))
    bars.set(edgecolor=(style.EFFECT, style.BAR_EDGE_ALPHA), linewidth=style.HAIR_LINE, zorder=2)
    ax.add_collection(bars)
    draw_tops(ax, corners[:, 2:6].reshape(-1, 2, 2))
    if np.any(slope != 0):
        bars.set_label("bin effect (sloped)")
    return [bars]


def draw_tops(ax: Axes, ends: FloatArray) -> None:
    """Draw the tops of bars, shape (n_bins, 2, 2), which say it all; the sides but lead to them."""
    width = style.LINE_WIDTH if len(ends) <= MANY_BINS else style.THIN_LINE
    tops = LineCollection(list(ends), colors=style.EFFECT, linewidths=width)
    tops.set(zorder=2.5, gid="rhale:tops", capstyle="butt")
    ax.add_collection(tops)


def draw_whiskers(ax: Axes, effect: Effect) -> list[Artist]:
    """Draw mean ± std at the middle of every bin where both are known."""
    known = effect.measured & np.isfinite(effect.mean) & np.isfinite(effect.std)
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


def draw_rows(ax: Axes, effect: Effect) -> list[Artist]:
    """Draw the sampled local effects of every bin: a violin, or dots where they are few."""
    outlines, dots = [], np.zeros(effect.sample.x.size, dtype=np.bool_)
    for k, inside in members(effect):
        if inside.sum() < LEAST_FOR_VIOLIN:
            dots |= inside
        elif (shape := violin(effect, k, inside)) is not None:
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


def cut_jumps(ax: Axes, effect: Effect) -> None:
    """Let the axis reach as far as slopes that can be compared; write beside jumps how far they go."""
    reach = reach_slopes(effect)
    if reach is None:
        return
    ax.set_ylim(canvas.widen(*reach, style.MARGIN, style.MARGIN), auto=True)
    middle = 0.5 * (effect.edges[0] + effect.edges[-1])
    for jump in sorted(effect.jumps, key=lambda jump: -abs(jump.size))[:MOST_JUMPS]:
        is_left, is_up = jump.stop < middle, jump.size > 0
        words = ax.annotate(
            f" jumps by {number(jump.size)} ",
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


def violin(effect: Effect, k: int, inside: BoolArray) -> FloatArray | None:
    """Outline of the local effects of one bin, shape (2 n_levels, 2); None without spread."""
    sample, middle = effect.sample, middles(effect.edges)[k]
    trend = np.nan_to_num(effect.slope[k]) * (sample.x[inside] - middle)
    values, weight = effect.shown_effects[inside] - trend, sample.weight[inside]
    low, high = np.quantile(values, TAILS)
    std = float(
        np.sqrt(np.average((values - np.average(values, weights=weight)) ** 2, weights=weight))
    )
    if not high - low > 1e-9 * max(abs(low), abs(high)):
        return None
    bandwidth = 1.06 * std * values.size**-0.2  # Silverman's rule
    levels = np.linspace(low, high, N_LEVELS)
    density = np.exp(-0.5 * ((levels[:, None] - values) / bandwidth) ** 2) @ weight
    width = effect.edges[k + 1] - effect.edges[k]
    span = effect.edges[-1] - effect.edges[0]
    half = min(style.VIOLIN_SHARE_OF_BIN * width, style.VIOLIN_SHARE_OF_AXIS * span)
    sides = half * density / density.max()
    x = np.concatenate([middle - sides, (middle + sides)[::-1]])
    return np.column_stack([x, np.concatenate([levels, levels[::-1]])])


def draw_constant(top: Axes, bottom: Axes, effect: Effect) -> None:
    """Say that there is no curve; show the local effects of the one value where known."""
    words, heights = ticks.only_value(effect), effect.missing is not None
    canvas.say_constant(top, float(effect.edges[0]), words, heights=heights)
    known = np.isfinite(effect.mean)
    if known.any():
        dots.draw_zero(Board(bottom))
        bottom.plot(effect.edges[:1], effect.mean[:1], "o", color=style.EFFECT, gid="rhale:bars")
        draw_whiskers(bottom, effect)
        canvas.fit_limits(bottom, strip=False)
    else:
        bottom.tick_params(left=False, labelleft=False)
    bottom.set_xlim(top.get_xlim())


def name_axes(top: Axes, bottom: Axes, effect: Effect, center: Center) -> None:
    """Name the axes of both panels."""
    value = value_label([effect], center, canvas.letters(top, "height"))
    slope = slope_label(effect, canvas.letters(bottom, "height"))
    words = (value, slope)
    name = ticks.axis_name(effect, style.LABEL_LENGTH)
    label_pair(Board(top), Board(bottom), words, name)
