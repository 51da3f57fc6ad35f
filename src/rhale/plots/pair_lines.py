"""A pair as lines: the curve of one feature while the other is held, where rows are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import NamedTuple, cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.times import write_short
from rhale.names import find_feature
from rhale.plots import canvas, dots, style
from rhale.plots.fields import ContinuousAxis
from rhale.plots.labels import CENTRED, in_sentence
from rhale.plots.lettering import LITERAL, MINUS_SIGN, fit_name, folded
from rhale.plots.pair_sides import (
    DrawnPair,
    DrawnPairFeature,
    draw_row_density,
    dress_side,
    is_blank,
    read_drawn_pair_features,
    say_blank,
)
from rhale.plots.slots import EMPTY_LEVEL_LABEL
from rhale.results.result import Trace

PERCENTILES = {"low": 10, "middle": 50, "high": 90}
MAX_FIXED_LEVELS = 5  # held at once
STEP_ASIDE = 0.08  # of a slot, so that whiskers of levels do not cover each other
CONFIDENCE_LEVEL = 0.95
PAIR_ROUNDING = 1e-9  # of the deviation of predictions: smaller intervals are none
LINE_DOT_POINTS = 120.0  # points that all dots of a line take


class Held(NamedTuple):
    """A value of the feature that is held.

    Attributes
    ----------
    label : str
        What a legend says.
    stand : int
        The cell or level that it is in.
    shares : ndarray of shape (n_nodes,)
        How much each node of its side counts there.
    look : Look
        Of its line.
    """

    label: str
    stand: int
    shares: FloatArray
    look: style.Look


class BrokenLine(NamedTuple):
    """Nodes along a line, and where the line is broken."""

    nodes: IntArray
    gone: BoolArray


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
    pair = pair if chosen_side(pair, by) == 1 else pair.transposed()
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
    for held, aside in step_aside(choose_values(holding), levels=levels):
        path = trace_pair_section(pair, moving, held)
        path = path._replace(x=path.x + aside)
        lines.append(draw_line(field, path, held, levels=levels))
        if uncertainty and has_interval(pair, path):
            draw_interval(field, path, held, levels=levels)
            unsure = [explain_interval()]
    explained: list[Artist] = [*lines, *unsure, draw_row_density(ax, moving, "x", beyond=False)]
    field.fit()
    keep_near(ax, lines)
    if levels:
        ax.set_xlim(*moving.slots.limits)
    if not new:  # no room for much
        explained = list(lines)
    canvas.add_legend(ax, explained, outside=new, title=tell_held(ax, holding, new=new))
    dress_side(ax, moving, "x")
    words = folded(f"effect on {in_sentence(pair)}", canvas.letters(ax, "height"))
    ax.set_ylabel(f"{words}\n({CENTRED['mean']})", **LITERAL)
    return ax


def chosen_side(pair: DrawnPair, by: str | int | None) -> int:
    """Which of the two features is held."""
    if by is not None:
        return find_feature(by, pair.names)
    return 0 if pair.axes[0].nodes.size < pair.axes[1].nodes.size else 1


def choose_values(side: DrawnPairFeature) -> list[Held]:
    """Choose where a feature is held: low, middle and high, or at its levels."""
    return choose_levels(side) if side.axis.is_levels else choose_percentiles(side)


def step_aside(held: Sequence[Held], *, levels: bool) -> Iterator[tuple[Held, float]]:
    """Give each line at levels a place of its own, so that whiskers do not cover each other."""
    for index, one in enumerate(held):
        yield one, STEP_ASIDE * (index - (len(held) - 1) / 2) if levels else 0.0


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


def trace_pair_section(pair: DrawnPair, moving: DrawnPairFeature, held: Held) -> Trace:
    """Find the line of one held value: heights at nodes, nan where no rows are."""
    joint, error = (
        np.nan_to_num(values) @ held.shares for values in (pair.heights, pair.standard_error)
    )
    known = pair.measured[:, held.stand]
    nodes, gone = BrokenLine(np.arange(known.size), ~known)
    if not moving.axis.is_levels:
        nodes, gone = join_cells(known)
    heights = moving.main + joint
    y = np.where(gone, np.nan, heights[nodes])
    half = NormalDist().inv_cdf(0.5 + CONFIDENCE_LEVEL / 2) * error[nodes]
    return Trace(moving.places[nodes], y, np.full(y.size, np.nan), y - half, y + half)


def join_cells(known: BoolArray) -> BrokenLine:
    """List the nodes along cells that have rows; between stretches of them the line is broken.

    Examples
    --------
    >>> join_cells(np.array([True, True, False, True])).nodes
    array([0, 1, 2, 2, 3, 4])
    """
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
    return BrokenLine(np.array(nodes, dtype=np.intp), np.array(gone, dtype=np.bool_))


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
        dots.draw_ci(field.board, path, CONFIDENCE_LEVEL, mark(path), colour)
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


def has_interval(pair: DrawnPair, path: Trace) -> bool:
    """Whether the joint effect is uncertain by more than rounding."""
    return bool(np.nanmax(path.high - path.low, initial=0.0) > PAIR_ROUNDING * pair.variance**0.5)


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


def explain_interval() -> Artist:
    """Make the legend's entry for intervals."""
    name = f"{100 * CONFIDENCE_LEVEL:.4g} % interval of the joint effect"
    return Patch(color=style.NOTE, alpha=style.THIN_RIBBON_ALPHA, linewidth=0, label=name)
