"""The surface of a pair as a map: what two features do together, where rows are."""

from __future__ import annotations

from operator import itemgetter
from typing import get_args

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.contour import QuadContourSet
from matplotlib.font_manager import FontProperties
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, MaxNLocator

from rhale.kernels import FloatArray
from rhale.kernels.curve import middles
from rhale.plots import canvas, style
from rhale.plots.labels import in_sentence
from rhale.plots.lettering import (
    LITERAL,
    folded,
    format_rounded_number,
    number_with_error,
    small_percent,
)
from rhale.plots.pair_sides import (
    Along,
    DrawnPair,
    DrawnPairFeature,
    draw_row_density,
    dress_side,
    is_blank,
    read_drawn_pair_features,
    say_blank,
)
from rhale.plots.tiles import Tiles, has_room, hatch_tiles, write_tiles
from rhale.results.pair_effect import PairMethod

N_MAP_CELLS = 160  # of a side, each of one colour: the surface is bilinear, and looks smooth
N_CONTOURS = 6  # at most, on both sides of zero
BY: dict[PairMethod, str] = {"pdp": " by partial dependence"}
LEAST_CONTOUR = 2.5  # length of a line with a number, by the length of that
PAIR_ROUNDING = 1e-9  # of the deviation of predictions: smaller surfaces are zero


def plot_pair_map(
    pair: DrawnPair,
    *,
    ax: Axes | None = None,
    contours: bool = True,
    rows: bool = True,
    limit: float | None = None,
) -> Axes:
    """Draw what two features do together, beyond what each does alone, as a map.

    Parameters
    ----------
    pair : PairEffect or PairProfile
        What to draw: the first feature goes along x, the second along y.
    ax : Axes, optional
        Where; None makes a new figure.
    contours : bool
        Draw lines of equal height between numbers, a few of them named.
    rows : bool
        Draw at the edges where the rows of each feature are.
    limit : float, optional
        Largest height that colours tell apart, the same above and below zero; the largest one on
        the map if not given. For several maps with one scale.

    Returns
    -------
    Axes
        The given ones, or new ones. Artists carry a gid: rhale:map, rhale:empty for what has no
        rows, rhale:contours, rhale:counts; rhale:numbers of tiles, where both features have
        levels.

    Notes
    -----
    Cells without rows are hatched and have no colour: the model may say anything there. Inside a
    cell the surface is bilinear, and contour lines follow it. Main effects are not in it, so that
    a map without interaction is blank paper whatever the features do alone; `plot_pair_lines`
    shows both together.

    Examples
    --------
    >>> import rhale
    >>> rows = np.random.default_rng(0).normal(size=(500, 3))
    >>> ix = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], rows)
    >>> plot_pair_map(ix["x0", "x1"]).get_xlabel()
    'x0'
    """
    ax = canvas.new_axes(style.MAP_SIZE) if ax is None else ax
    first, second = sides = read_drawn_pair_features(pair)
    if is_blank(sides):
        say_blank(ax, sides)
        return ax
    limits, heights = paint(pair, sides)
    reach = largest_map_height(pair, heights)
    most = limit or reach or 1.0
    cells = ax.pcolormesh(*limits, heights.T, cmap=style.SURFACE_MAP, vmin=-most, vmax=most)
    cells.set(gid="rhale:map", rasterized=True, zorder=1)
    hatch_tiles(ax, Tiles(first.limits, second.limits), ~pair.measured, "no rows")
    set_limits(ax, sides)
    for side, along in zip(sides, get_args(Along), strict=True):
        if rows:
            draw_row_density(ax, side, along, beyond=True)
        dress_side(ax, side, along)
    add_map_colorbar(ax, cells, pair)
    if first.axis.is_levels and second.axis.is_levels:
        if has_room(ax, *pair.measured.shape):
            write_tiles(ax, np.where(pair.measured, pair.heights, np.nan), most)
    elif not reach:
        say_nothing(ax)
    elif contours and not (first.axis.is_levels or second.axis.is_levels):
        draw_contours(ax, limits, heights, reach)
    write_strength_above_map(ax, pair, rows=rows)
    return ax


def paint(
    pair: DrawnPair, sides: tuple[DrawnPairFeature, DrawnPairFeature]
) -> tuple[tuple[FloatArray, FloatArray], FloatArray]:
    """Find where colours change and the heights between, (n_x, n_y); nan where no row is."""
    x, y = (side.divide(N_MAP_CELLS) for side in sides)
    heights = x.shares @ np.nan_to_num(pair.heights) @ y.shares.T
    measured = pair.measured[np.ix_(x.stand, y.stand)]
    return (x.limits, y.limits), np.where(measured, heights, np.nan)


def largest_map_height(pair: DrawnPair, heights: FloatArray) -> float:
    """Largest height, above or below zero; 0 where there is nothing but rounding."""
    largest = float(np.abs(heights[np.isfinite(heights)]).max(initial=0.0))
    return (
        largest
        if largest > max(PAIR_ROUNDING * pair.variance**0.5, canvas.SMALLEST_PLOT_RANGE)
        else 0.0
    )


def set_limits(ax: Axes, sides: tuple[DrawnPairFeature, DrawnPairFeature]) -> None:
    """Let the axes end where the map does; levels along y begin at the top, as in a table."""
    x, y = (side.limits[[0, -1]] for side in sides)
    ax.set_xlim(*x)
    ax.set_ylim(*(y[::-1] if sides[1].axis.is_levels else y))


def draw_contours(
    ax: Axes, limits: tuple[FloatArray, FloatArray], heights: FloatArray, reach: float
) -> None:
    """Draw a few lines of equal height, and write on them how high they are."""
    levels = MaxNLocator(N_CONTOURS, symmetric=True).tick_values(-reach, reach)
    known = heights[np.isfinite(heights)]
    levels = levels[(levels > known.min()) & (levels < known.max())]
    if not levels.size:
        return
    x, y = (middles(limit) for limit in limits)
    masked = np.ma.masked_invalid(heights.T)
    lines = ax.contour(x, y, masked, levels=levels, colors=style.TRUTH)
    lines.set(linewidths=style.HAIR_LINE, linestyles="solid", alpha=0.6, zorder=3)
    lines.set(gid="rhale:contours")
    name_contours(ax, lines)


def name_contours(ax: Axes, lines: QuadContourSet) -> None:
    """Write heights in the middle of lines that are long enough, where they touch no other."""
    points = FontProperties(size=style.NUMBER_TEXT).get_size_in_points()
    pixels = points * ax.figure.dpi / 72
    taken: list[tuple[float, float, float]] = []
    for height, path in zip(lines.levels, lines.get_paths(), strict=True):
        words = format_rounded_number(float(height))
        room = style.LETTER_WIDTH * pixels * (len(words) + 2)
        ways = [ax.transData.transform(p) for p in path.to_polygons(closed_only=False)]
        for middle, length in sorted(map(half_way, ways), key=itemgetter(1), reverse=True):
            near = (np.hypot(middle[0] - x, middle[1] - y) < room + r for x, y, r in taken)
            if length > LEAST_CONTOUR * room and not any(near):
                taken.append((middle[0], middle[1], room))
                write_height(ax, ax.transData.inverted().transform(middle), words)


def half_way(way: FloatArray) -> tuple[FloatArray, float]:
    """The point half-way along a line, and the length of the line."""
    far = np.append(0.0, np.cumsum(np.hypot(*np.diff(way, axis=0).T)))
    middle = np.array([np.interp(far[-1] / 2, far, values) for values in way.T])
    return middle, float(far[-1])


def write_height(ax: Axes, place: FloatArray, words: str) -> None:
    """Write the height of a contour line onto it."""
    name = ax.text(place[0], place[1], words, ha="center", va="center", **LITERAL)
    name.set(fontsize=style.NUMBER_TEXT, gid="rhale:heights", zorder=3.5, clip_on=True)
    name.set_path_effects([withStroke(linewidth=2.5, foreground=style.HALO)])


def say_nothing(ax: Axes) -> None:
    """Write that the two do not interact."""
    note = ax.text(0.5, 0.5, "no interaction", transform=ax.transAxes, **LITERAL)
    note.set(ha="center", va="center", color=style.NOTE, fontsize=style.LEGEND_TEXT)
    note.set(gid="rhale:nothing", zorder=4)


def write_strength_above_map(ax: Axes, pair: DrawnPair, *, rows: bool) -> None:
    """Write above the map how strong the interaction is."""
    strip = (style.RUG_HEIGHT + 0.01) * ax.get_window_extent().height * 72 / ax.figure.dpi
    room = canvas.wide_letters(ax.get_window_extent().width / ax.figure.dpi, style.LEGEND_TEXT)
    told = tell_strength(pair)
    words = next((words for words in told if len(words) <= room), told[-1])
    title = ax.set_title(words, loc="left", pad=4 + (strip if rows else 0.0), **LITERAL)
    title.set(fontsize=style.LEGEND_TEXT, color=style.NOTE)


def tell_strength(pair: DrawnPair) -> tuple[str, str, str]:
    """Say how strong an interaction is, and how sure that is, at length and shorter.

    Notes
    -----
    What is rounding is zero.
    """
    least = PAIR_ROUNDING * pair.variance**0.5
    size, error = (x if x > least else 0.0 for x in (pair.strength, pair.strength_error))
    share = small_percent(pair.share if size else 0.0)
    words, by = f"strength {format_rounded_number(size)}", BY.get(pair.method, "")
    both = f"strength {number_with_error(size, error)}" if error else words
    return f"{both}{by}, {share} of the variance", both, words


def add_map_colorbar(ax: Axes, cells: ScalarMappable, pair: DrawnPair) -> None:
    """Draw the scale of colours beside the map, and say what they mean."""
    scale = ax.figure.colorbar(cells, ax=ax, pad=style.RUG_HEIGHT + 0.04, fraction=0.06, aspect=28)
    scale.outline.set_visible(False)
    scale.ax.yaxis.set_major_formatter(FuncFormatter(canvas.short_tick_text))
    words = folded(f"effect on {in_sentence(pair)}", canvas.letters(ax, "height"))
    words = f"{words}\nof both, beyond each alone"
    scale.set_label(words, fontsize=style.NAME_TEXT, **LITERAL)
    scale.ax.set_gid("rhale:scale")
