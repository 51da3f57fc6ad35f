"""Pictures of one pair: lines at values of the other feature, and the map of the surface."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from operator import itemgetter
from statistics import NormalDist
from typing import Literal, NamedTuple, cast, get_args

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, MaxNLocator

from rhale.effects.curve import middles
from rhale.effects.result import Trace
from rhale.interaction.moments import PairAxis
from rhale.interaction.pair_effect import PairEffect, PairMethod
from rhale.interaction.pair_profile import PairProfile
from rhale.naming import find_feature
from rhale.output.labels import NO_CAPTIONS, Captions
from rhale.output.number_format import MINUS_SIGN, format_axis_value, write_short
from rhale.plots import canvas, style
from rhale.plots.axes import ContinuousAxis
from rhale.plots.categorical_axis import EMPTY_LEVEL_LABEL, LevelLayout, OrientedAxes, lay_out_names
from rhale.plots.labels import (
    CENTRED,
    LITERAL,
    dress_places,
    fit_name,
    folded,
    format_rounded_number,
    in_sentence,
    number_with_error,
    places_name,
    small_percent,
)
from rhale.stats.arrays import BoolArray, FloatArray, IntArray
from rhale.stats.distributions import CONFIDENCE_LEVEL

# --- The two sides of a pair on a picture: where cells and levels lie, how they are named, their rows


Along = Literal["x", "y"]
LARGE_LETTERS = 11.0  # of the name of an axis, in an inch
RUG_START = 1.01  # of a strip outside of the axes, in shares of them


DrawnPair = PairEffect | PairProfile  # what has a surface


class ColourCells(NamedTuple):
    """Parts of the cells of a side, small enough for one colour each; levels are not divided."""

    limits: FloatArray  # where parts end in a picture
    cell_index: IntArray  # the cell or level that each is of
    shares: FloatArray  # how much each node counts in the middle of a part


class DrawnPairFeature(NamedTuple):
    """One feature of a pair."""

    name: str  # the feature
    axis: PairAxis  # its cells or levels
    weight: FloatArray  # weight of the rows in each
    main: FloatArray  # its own effect
    captions: Captions = NO_CAPTIONS  # what people read

    @property
    def words(self) -> str:
        """What people read for the feature."""
        return self.captions.feature(self.name)

    @property
    def is_constant(self) -> bool:
        """Whether there is nothing to go along."""
        nodes = self.axis.nodes
        return nodes.size < 2 or not nodes[-1] > nodes[0]

    @property
    def ends(self) -> tuple[float, float]:
        """First and last value."""
        return float(self.axis.nodes[0]), float(self.axis.nodes[-1])

    @property
    def layout(self) -> LevelLayout:
        """Places of levels in a picture: evenly, one after the other."""
        return lay_out_names(self.axis.labels)

    @property
    def places(self) -> FloatArray:
        """Where nodes lie in a picture."""
        return self.layout.places if self.axis.is_levels else self.axis.nodes

    @property
    def limits(self) -> FloatArray:
        """Where stands end in a picture, (n_cells + 1,)."""
        if not self.axis.is_levels:
            return self.axis.nodes
        return np.arange(float(self.axis.nodes.size + 1)) - 0.5

    @property
    def density(self) -> FloatArray:
        """Weight of the rows by the width of their cell in a picture; 1 where most rows are."""
        density = self.weight / np.diff(self.limits)
        return (
            np.asarray(density / density.max()) if density.size and density.max() > 0 else density
        )

    def divide(self, parts: int) -> ColourCells:
        """Divide cells into about so many parts of like width, each cell into two at least."""
        if self.axis.is_levels:
            every = np.arange(self.axis.nodes.size)
            return ColourCells(self.limits, every, np.eye(every.size))
        share = self.axis.widths / self.axis.widths.sum()
        n_parts = np.maximum(2, np.ceil(share * parts)).astype(np.intp)
        cell = np.repeat(np.arange(n_parts.size), n_parts)
        nth = np.arange(cell.size) - np.repeat(np.cumsum(n_parts) - n_parts, n_parts)
        place = (nth + 0.5) / n_parts[cell]
        shares = np.zeros((cell.size, self.axis.nodes.size))
        every = np.arange(cell.size)
        shares[every, cell], shares[every, cell + 1] = 1 - place, place
        starts = self.axis.nodes[cell] + nth / n_parts[cell] * self.axis.widths[cell]
        return ColourCells(np.append(starts, self.axis.nodes[-1]), cell, shares)


def read_drawn_pair_features(pair: DrawnPair) -> tuple[DrawnPairFeature, DrawnPairFeature]:
    """Read both features of a pair."""
    first, second = (pair.weight.sum(axis=1), pair.weight.sum(axis=0))
    return (
        DrawnPairFeature(pair.names[0], pair.axes[0], first, pair.main[0], pair.captions),
        DrawnPairFeature(pair.names[1], pair.axes[1], second, pair.main[1], pair.captions),
    )


def dress_side(ax: Axes, side: DrawnPairFeature, along: Along, *, count: int = 8) -> None:
    """Write the values of a feature along an axis as what they are, and name it."""
    if side.axis.is_levels:
        OrientedAxes(ax, horizontal=along == "y").name_levels(side.layout)
    else:
        if along == "y":
            canvas.write_plain_numbers(ax, 8)
        dress_places(ax, side.axis.kind, side.ends, ticks=count, along=along)
    box = ax.get_window_extent()
    inches = (box.width if along == "x" else box.height) / ax.figure.dpi
    length = int(np.clip(LARGE_LETTERS * inches, 8, style.LABEL_LENGTH))
    name = places_name(side.captions.axis(side.name), side.axis.kind, side.ends, length)
    (ax.set_xlabel if along == "x" else ax.set_ylabel)(name, **LITERAL)


def draw_row_density(ax: Axes, side: DrawnPairFeature, along: Along, *, beyond: bool) -> Polygon:
    """Draw a strip that is high where many rows are.

    With `beyond` they lie outside of the axes, above or at the right; else inside, at the bottom.
    """
    height = np.where(side.weight > 0, np.maximum(side.density, style.STRIP_FLOOR), 0.0)
    floor, most = (RUG_START, style.RUG_HEIGHT) if beyond else (0.0, style.STRIP_HEIGHT)
    places = np.repeat(side.limits, 2)
    heights = floor + most * np.concatenate([[0.0], np.repeat(height, 2), [0.0]])
    outline = np.column_stack([places, heights] if along == "x" else [heights, places])
    transform = ax.get_xaxis_transform() if along == "x" else ax.get_yaxis_transform()
    strip = Polygon(outline, closed=True, transform=transform)
    strip.set(color=style.COUNT, alpha=style.COUNT_ALPHA, linewidth=0, zorder=2)
    strip.set(gid="rhale:counts", label="where rows are")
    ax.add_artist(strip)  # no part of the limits of the axes, as a patch would be
    strip.set_clip_on(not beyond)
    return strip


def is_blank(sides: tuple[DrawnPairFeature, DrawnPairFeature]) -> bool:
    """Whether there is nothing to draw: one value only, or no row that has both."""
    return any(side.is_constant or not side.weight.any() for side in sides)


def say_blank(ax: Axes, sides: tuple[DrawnPairFeature, DrawnPairFeature]) -> None:
    """Write which features have one value, or that no row has both, in place of a picture."""
    reasons = list[str]()
    for side in sides:
        if side.is_constant:
            name = fit_name(side.words, canvas.letters(ax, "width") - 12)
            reasons.append(f"{name} is constant: {write_only_pair_value(side.axis)}")
    reasons = (
        [*reasons, "no interaction"]
        if reasons
        else ["no row has a value of both", "nothing is known"]
    )
    words = "\n".join(reasons)
    note = ax.text(0.5, 0.5, words, transform=ax.transAxes, ha="center", va="center", **LITERAL)
    note.set(gid="rhale:constant", color=style.NOTE, fontsize=style.LEGEND_TEXT)
    ax.set(xticks=[], yticks=[])


def write_only_pair_value(axis: PairAxis) -> str:
    """Write the one value of a constant feature."""
    if not axis.nodes.size:
        return "no value"
    return (
        fit_name(axis.labels[0], 20)
        if axis.labels
        else format_axis_value(float(axis.nodes[0]), axis.kind)
    )


PERCENTILES = {"low": 10, "middle": 50, "high": 90}
MAX_FIXED_LEVELS = 5  # held at once
STEP_ASIDE = 0.08  # of a slot, so that whiskers of levels do not cover each other
PAIR_ROUNDING = 1e-9  # of the deviation of predictions: smaller intervals are none
LINE_DOT_POINTS = 120.0  # points that all dots of a line take


class Held(NamedTuple):
    """A value of the feature that is held."""

    label: str  # what a legend says
    cell_index: int  # the cell or level that it is in
    shares: FloatArray  # how much each node of its side counts there
    look: style.Look  # of its line


def plot_pair_lines(
    pair: DrawnPair,
    *,
    ax: Axes | None = None,
    by: str | int | None = None,
    uncertainty: bool = True,
) -> Axes:
    """Draw the curve of one feature at some values of the other: its own effect, and the joint one.

    Parameters
    ----------
    pair : PairEffect or PairProfile
        What to draw.
    ax : Axes, optional
        Where; None makes a new figure.
    by : str or int, optional
        The feature that is held: a number at its 10th, 50th and 90th percentile, levels at each of
        them, or at the five with the most rows. If not given, the one with fewer cells or levels,
        of two alike the second.
    uncertainty : bool
        Draw the interval of the joint effect about each line.

    Returns
    -------
    Axes
        The given ones, or new ones. Artists carry a gid: rhale:curve and rhale:ci for each line,
        rhale:counts for the rows along x.

    Notes
    -----
    A line shows the effect of the feature that moves, plus what both do together at the held value
    of the other. That one's own effect would but move whole lines, often far beyond what the pair
    does; `PairEffect.effect_at` has it. Lines that lie on each other do not interact. A line is
    drawn only over cells in which rows are, together with the held value. The interval is that of
    the joint effect; how well main effects are known is shown where they are explained. Lines set
    the y axis: intervals widen it by half at most, and go on beyond.

    Examples
    --------
    >>> import rhale
    >>> rows = np.random.default_rng(0).normal(size=(500, 3))
    >>> ix = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], rows)
    >>> plot_pair_lines(ix["x0", "x1"]).get_legend().get_title().get_text()
    'x1 held at its 10th, 50th and 90th percentile'
    """
    if by is None:  # the one with fewer cells or levels is held, of two alike the second
        side = 0 if pair.axes[0].nodes.size < pair.axes[1].nodes.size else 1
    else:
        side = find_feature(by, pair.names)
    pair = pair if side == 1 else pair.transposed()
    moving, holding = sides = read_drawn_pair_features(pair)
    new = ax is None
    ax = canvas.new_axes(style.PROFILE_SIZE) if ax is None else ax
    if is_blank(sides):
        say_blank(ax, sides)
        return ax
    field, levels = ContinuousAxis(ax), moving.axis.is_levels
    field.begin()
    lines: list[Line2D] = []
    unsure: list[Artist] = []
    values = choose_levels(holding) if holding.axis.is_levels else choose_percentiles(holding)
    for index, held in enumerate(values):
        # Each line at levels has a place of its own, so that whiskers do not cover each other.
        aside = STEP_ASIDE * (index - (len(values) - 1) / 2) if levels else 0.0
        # Find the line of one held value: heights at nodes, nan where no rows are.
        joint, error = (
            np.nan_to_num(values) @ held.shares for values in (pair.heights, pair.standard_error)
        )
        known = pair.measured[:, held.cell_index]
        nodes, gone = np.arange(known.size), ~known
        if not moving.axis.is_levels:
            nodes, gone = join_cells(known)
        heights = moving.main + joint
        y = np.where(gone, np.nan, heights[nodes])
        half = NormalDist().inv_cdf(0.5 + CONFIDENCE_LEVEL / 2) * error[nodes]
        path = Trace(moving.places[nodes], y, np.full(y.size, np.nan), y - half, y + half)
        path = path._replace(x=path.x + aside)
        lines.append(draw_line(field, path, held, levels=levels))
        widest = np.nanmax(path.high - path.low, initial=0.0)
        if uncertainty and widest > PAIR_ROUNDING * pair.variance**0.5:  # more than rounding
            draw_interval(field, path, held, levels=levels)
            unsure = field.explain_intervals(CONFIDENCE_LEVEL)
            unsure[0].set_label(f"{100 * CONFIDENCE_LEVEL:.4g} % interval of the joint effect")
    explained: list[Artist] = [*lines, *unsure, draw_row_density(ax, moving, "x", beyond=False)]
    field.fit()
    keep_near(ax, lines)
    if levels:
        ax.set_xlim(*moving.layout.limits)
    if not new:  # no room for much
        explained = list(lines)
    canvas.add_legend(ax, explained, outside=new, title=tell_held(ax, holding, new=new))
    dress_side(ax, moving, "x")
    words = folded(f"effect on {in_sentence(pair)}", canvas.letters(ax, "height"))
    ax.set_ylabel(f"{words}\n({CENTRED['mean']})", **LITERAL)
    return ax


def choose_levels(side: DrawnPairFeature) -> list[Held]:
    """All levels, or those with the most rows, in their own order."""
    most = np.argsort(-side.weight, kind="stable")[:MAX_FIXED_LEVELS]
    chosen = np.sort(most[side.weight[most] > 0])
    every, names = np.eye(side.weight.size), side.axis.labels
    return [
        Held(names[k] or EMPTY_LEVEL_LABEL, int(k), every[k], look)
        for k, look in zip(chosen, style.LEVELS, strict=False)
    ]


def choose_percentiles(side: DrawnPairFeature) -> list[Held]:
    """The 10th, 50th and 90th percentile of the rows, who lie evenly in their cells."""
    above = np.cumsum(side.weight)
    chosen = []
    for (word, percent), look in zip(PERCENTILES.items(), style.THIRDS, strict=True):
        wanted = percent / 100 * above[-1]
        cell = int(np.searchsorted(above, wanted))  # which has rows, as the sum grows there
        place = 1 - (above[cell] - wanted) / side.weight[cell]
        shares = np.zeros(side.axis.nodes.size)
        shares[cell], shares[cell + 1] = 1 - place, place
        value = write_short(float(shares @ side.axis.nodes), side.axis.kind)
        if side.axis.kind == "number":
            value = value.replace("-", MINUS_SIGN)
        chosen.append(Held(f"{word}: {value}", cell, shares, look))
    return chosen


def join_cells(known: BoolArray) -> tuple[IntArray, BoolArray]:
    """List the nodes along cells that have rows, and which of them break the line between stretches."""
    nodes: list[int] = []
    gone: list[bool] = []
    for cell in np.flatnonzero(known).tolist():
        if nodes and nodes[-1] != cell:
            nodes.append(nodes[-1])
            gone.append(True)
        if not nodes or gone[-1]:
            nodes.append(cell)
            gone.append(False)
        nodes.append(cell + 1)
        gone.append(False)
    return np.array(nodes, dtype=np.intp), np.array(gone, dtype=np.bool_)


def draw_line(field: ContinuousAxis, path: Trace, held: Held, *, levels: bool) -> Line2D:
    """Draw one line; levels along it are dots, joined by thin lines that lead the eye."""
    line = cast(Line2D, field.draw_curve(path, held.label, held.look))
    if levels:
        line.set(marker=held.look.marker, markersize=mark(path), linewidth=style.THIN_LINE)
    return line


def mark(path: Trace) -> float:
    """Size of dots in points: those of many levels are small."""
    return float(np.clip(LINE_DOT_POINTS / max(path.x.size, 1), 2.5, 6.0))


def draw_interval(field: ContinuousAxis, path: Trace, held: Held, *, levels: bool) -> None:
    """Draw how well the joint effect is known: a pale ribbon, or whiskers at levels."""
    colour = held.look.colour
    if levels:
        field.oriented.draw_ci(path, CONFIDENCE_LEVEL, mark(path), colour)
        return
    for ribbon in field.draw_ci(path, CONFIDENCE_LEVEL, colour):
        ribbon.set(alpha=style.PALE_RIBBON_ALPHA, linewidth=0, zorder=1.5)


def keep_near(ax: Axes, lines: Sequence[Line2D]) -> None:
    """Let lines set the y axis; intervals widen it by half of that at most, on either side."""
    heights = np.concatenate([np.asarray(line.get_ydata(), dtype=np.float64) for line in lines])
    heights = heights[np.isfinite(heights)]
    if not np.ptp(heights) > 0:
        return
    room = style.SPREAD_ROOM * np.ptp(heights)
    y = np.clip(ax.dataLim.intervaly, heights.min() - room, heights.max() + room)
    ax.set_ylim(
        canvas.widen_interval(y[0], y[1], style.ROOM_FOR_STRIP, style.AXIS_MARGIN), auto=True
    )


def tell_held(ax: Axes, side: DrawnPairFeature, *, new: bool) -> str:
    """Say which feature is held, and where."""
    room = canvas.wide_letters(ax.get_window_extent().width / ax.figure.dpi, style.LEGEND_TEXT)
    if not new:
        return fit_name(side.words, room // 3)
    where = "held at"
    if not side.axis.is_levels:
        where = "held at its 10th, 50th and 90th percentile"
    elif np.count_nonzero(side.weight) > MAX_FIXED_LEVELS:
        where = f"held at {MAX_FIXED_LEVELS} of {len(side.axis.labels)} levels"
    return f"{fit_name(side.words, max(8, room - len(where) - 1))} {where}"


# --- Tiles of a map or matrix: hatched where nothing is known, a number in each where there is room


LETTERS = 5  # of a number of two digits, with its sign
TILE_ROUNDING = 1e-9  # of the largest number: rounding
TILE_LINE_HEIGHT = 1.5  # height of a tile with a number, by the size of its letters


def hatch_tiles(
    ax: Axes, x: FloatArray, y: FloatArray, wanted: BoolArray, label: str
) -> PolyCollection:
    """Hatch some tiles, `wanted` by x and y, (n_x, n_y); they keep the paper's colour."""
    corners = [
        [(x[i], y[j]), (x[i + 1], y[j]), (x[i + 1], y[j + 1]), (x[i], y[j + 1])]
        for i, j in np.argwhere(wanted)
    ]
    hatched = PolyCollection(corners, facecolor="none", hatch="////", linewidth=0)
    hatched.set(edgecolor=style.COUNT, alpha=style.EMPTY_ALPHA, zorder=0.5)
    hatched.set(gid="rhale:empty", label=label)
    ax.add_collection(hatched, autolim=False)
    return hatched


def has_room(ax: Axes, n_x: int, n_y: int) -> bool:
    """Tell whether a number fits into each of so many tiles."""
    box = ax.get_window_extent()
    size = FontProperties(size=style.NUMBER_TEXT).get_size_in_points() / 72
    wide = box.width / ax.figure.dpi / n_x >= LETTERS * style.LETTER_WIDTH * size
    return bool(wide and box.height / ax.figure.dpi / n_y >= TILE_LINE_HEIGHT * size)


def write_tiles(ax: Axes, values: FloatArray, reach: float) -> None:
    """Write numbers into tiles around 0, 1, 2, ...; none where a value is nan.

    `values` has shape (n_x, n_y); the scale of their colours ends at `reach`.
    """
    for i, j in np.argwhere(np.isfinite(values)):
        value = float(values[i, j])
        words = format_rounded_number(round_tile_number(value, reach), 2)
        text = ax.text(i, j, words, ha="center", va="center", **LITERAL)
        text.set(color="white" if abs(value) > style.DARK_TILE_SHARE * reach else "black")
        text.set(fontsize=style.NUMBER_TEXT, gid="rhale:numbers", zorder=4)


def round_tile_number(value: float, reach: float) -> float:
    """Leave out digits that are not compared: those beyond the third of the largest number.

    Examples
    --------
    >>> round_tile_number(0.4567, 0.75), round_tile_number(-0.0081, 75.0), round_tile_number(1e-17, 0.75)
    (0.457, -0.008, 0.0)
    """
    # What is smaller than that keeps one digit, since only 0 is nothing; but for rounding.
    if abs(value) < TILE_ROUNDING * reach:
        return 0.0
    return round(value, 2 - floor(log10(reach))) or float(f"{value:.1g}")


# --- The surface of a pair as a map: what two features do together, where rows are


N_MAP_CELLS = 160  # of a side, each of one colour: the surface is bilinear, and looks smooth
N_CONTOURS = 6  # at most, on both sides of zero
BY: dict[PairMethod, str] = {"pdp": " by partial dependence"}
LEAST_CONTOUR = 2.5  # length of a line with a number, by the length of that


def plot_pair_map(
    pair: DrawnPair,
    *,
    ax: Axes | None = None,
    contours: bool = True,
    rows: bool = True,
    limit: float | None = None,
) -> Axes:
    """Draw the joint effect of two features (their interaction only) as a map.

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
    # Find where colours change and the heights between, (n_x, n_y); nan where no row is.
    x, y = (side.divide(N_MAP_CELLS) for side in sides)
    heights = x.shares @ np.nan_to_num(pair.heights) @ y.shares.T
    measured = pair.measured[np.ix_(x.cell_index, y.cell_index)]
    limits = x.limits, y.limits
    heights = np.where(measured, heights, np.nan)
    # Largest height, above or below zero; 0 where there is nothing but rounding.
    largest = float(np.abs(heights[np.isfinite(heights)]).max(initial=0.0))
    reach = (
        largest
        if largest > max(PAIR_ROUNDING * pair.variance**0.5, canvas.SMALLEST_PLOT_RANGE)
        else 0.0
    )
    most = limit or reach or 1.0
    cells = ax.pcolormesh(*limits, heights.T, cmap=style.SURFACE_MAP, vmin=-most, vmax=most)
    cells.set(gid="rhale:map", rasterized=True, zorder=1)
    hatch_tiles(ax, first.limits, second.limits, ~pair.measured, "no rows")
    set_limits(ax, sides)
    for side, along in zip(sides, get_args(Along), strict=True):
        if rows:
            draw_row_density(ax, side, along, beyond=True)
        dress_side(ax, side, along)
    # Draw the scale of colours beside the map, and say what they mean.
    scale = ax.figure.colorbar(cells, ax=ax, pad=style.RUG_HEIGHT + 0.04, fraction=0.06, aspect=28)
    scale.outline.set_visible(False)
    scale.ax.yaxis.set_major_formatter(FuncFormatter(canvas.short_tick_text))
    words = folded(f"joint effect on {in_sentence(pair)}", canvas.letters(ax, "height"))
    words = f"{words}\n(interaction only)"
    scale.set_label(words, fontsize=style.NAME_TEXT, **LITERAL)
    scale.ax.set_gid("rhale:scale")
    if first.axis.is_levels and second.axis.is_levels:
        if has_room(ax, *pair.measured.shape):
            write_tiles(ax, np.where(pair.measured, pair.heights, np.nan), most)
    elif not reach:
        # Write that the two do not interact.
        note = ax.text(0.5, 0.5, "no interaction", transform=ax.transAxes, **LITERAL)
        note.set(ha="center", va="center", color=style.NOTE, fontsize=style.LEGEND_TEXT)
        note.set(gid="rhale:nothing", zorder=4)
    elif contours and not (first.axis.is_levels or second.axis.is_levels):
        draw_contours(ax, limits, heights, reach)
    # Write above the map how strong the interaction is.
    strip = (style.RUG_HEIGHT + 0.01) * ax.get_window_extent().height * 72 / ax.figure.dpi
    room = canvas.wide_letters(ax.get_window_extent().width / ax.figure.dpi, style.LEGEND_TEXT)
    wordings = tell_strength(pair)
    title_words = next((words for words in wordings if len(words) <= room), wordings[-1])
    title = ax.set_title(title_words, loc="left", pad=4 + (strip if rows else 0.0), **LITERAL)
    title.set(fontsize=style.LEGEND_TEXT, color=style.NOTE)
    return ax


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
    # Write heights in the middle of lines that are long enough, where they touch no other.
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
                # Write the height of a contour line onto it.
                place = ax.transData.inverted().transform(middle)
                name = ax.text(place[0], place[1], words, ha="center", va="center", **LITERAL)
                name.set(fontsize=style.NUMBER_TEXT, gid="rhale:heights", zorder=3.5, clip_on=True)
                name.set_path_effects([withStroke(linewidth=2.5, foreground=style.HALO)])


def half_way(way: FloatArray) -> tuple[FloatArray, float]:
    """The point half-way along a line, and the length of the line."""
    far = np.append(0.0, np.cumsum(np.hypot(*np.diff(way, axis=0).T)))
    middle = np.array([np.interp(far[-1] / 2, far, values) for values in way.T])
    return middle, float(far[-1])


def tell_strength(pair: DrawnPair) -> tuple[str, str, str]:
    """Say how strong an interaction is, and how sure that is, at length and shorter."""
    # What is rounding is zero.
    least = PAIR_ROUNDING * pair.variance**0.5
    size, error = (x if x > least else 0.0 for x in (pair.strength, pair.strength_error))
    share = small_percent(pair.share if size else 0.0)
    words, by = f"strength {format_rounded_number(size)}", BY.get(pair.method, "")
    both = f"strength {number_with_error(size, error)}" if error else words
    return f"{both}{by}, {share} of the variance", both, words
