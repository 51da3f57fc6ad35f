"""The two panels of an effect of levels: dots above, the steps between levels below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rhale.kernels import FloatArray
from rhale.kernels.curve import Center, middles
from rhale.plots import canvas, dots, layers, style, ticks
from rhale.plots.board import Board
from rhale.plots.lettering import LITERAL, joined, shown
from rhale.plots.slots import Slots, fits_level, gather_slots
from rhale.results.level_effect import LevelEffect
from rhale.results.result import Result, Trace, is_constant, normal_quantile, reach

Side = Literal["width", "height"]
LevelTruth = Callable[[Any], FloatArray]


def plot_levels(
    effect: LevelEffect,
    *,
    ax: Axes | Sequence[Axes] | None = None,
    center: Center = "mean",
    level: float = 0.95,
    spread: bool = True,
    uncertainty: bool = True,
    truth: LevelTruth | None = None,
    turned: bool | None = None,
) -> tuple[Axes, Axes]:
    """Draw the effect of a feature that has levels; arguments as in `plot_effect`."""
    slots = gather_slots([effect])
    turn = should_turn(slots, ax) if turned is None else turned
    pair = as_pair(ax, slots, turned=turn)
    top, bottom = (Board(panel, turn) for panel in pair)
    if is_constant(effect):
        draw_only_level(top, slots, effect, effect.missing_trace(center, level), level)
        bottom.ax.set(xticks=[], yticks=[])
    else:
        spots = dots.read_spots(effect, center, level)
        above = draw_levels(
            top, slots, effect, spots, level, spread=spread, uncertainty=uncertainty
        )
        above += draw_truth(top, effect, center, truth)
        top.fit(slots, strip=True)
        below = draw_steps(bottom, slots, effect, level)
        bottom.fit(slots, strip=False)
        write_legends(top, bottom, above, below, new=ax is None)
    label_pair(top, bottom, slots, effect, center)
    return pair


def should_turn(slots: Slots, ax: Axes | Sequence[Axes] | None) -> bool:
    """Tell whether levels are better written below one another: many, or with long names."""
    if slots.is_number or not (ax is None or isinstance(ax, Axes)):
        return False
    inches = style.EFFECT_SIZE[0] - 1.2
    if isinstance(ax, Axes):
        inches = ax.get_window_extent().width / ax.figure.dpi
    return not fits_level(slots, inches)


def as_pair(ax: Axes | Sequence[Axes] | None, slots: Slots, *, turned: bool) -> tuple[Axes, Axes]:
    """Find or make the two panels, side by side where levels stand below one another."""
    if ax is None:
        return canvas.new_sides(turned_height(slots)) if turned else canvas.new_pair()
    if isinstance(ax, Axes):
        return canvas.split(ax, sideways=turned)
    return canvas.given_pair(ax)


def turned_height(slots: Slots, lines: float = 1.0) -> float:
    """Height of a figure whose levels stand below one another, in inches."""
    low, high = slots.limits
    height = style.TURNED_HEAD + style.TURNED_LINE * lines * (high - low)
    return float(np.clip(height, *style.TURNED_REACH))


def new_board(slots: Slots, ax: Axes | None, *, n_items: int = 1) -> Board:
    """Find or make one panel for levels, turned where names are long."""
    if ax is not None:
        return Board(ax, should_turn(slots, ax))
    if not should_turn(slots, None):
        return Board(canvas.new_axes(style.PROFILE_SIZE))
    height = turned_height(slots, 1 + 0.25 * (n_items - 1))
    board = Board(canvas.new_axes((style.PROFILE_SIZE[0], height)), turned=True)
    canvas.write_plain_values(board.ax)
    return board


def label_board(board: Board, results: Sequence[Result], center: Center | None) -> None:
    """Name the axes of one panel."""
    value = layers.value_label(
        results, center, canvas.letters(board.ax, "width" if board.turned else "height")
    )
    name = joined([result.name for result in results], style.LABEL_LENGTH)
    x, y = (value, name) if board.turned else (name, value)
    board.ax.set_xlabel(x, **LITERAL)
    board.ax.set_ylabel(y, **LITERAL)


def draw_levels(
    board: Board,
    slots: Slots,
    effect: LevelEffect,
    spots: dots.Spots,
    level: float,
    *,
    spread: bool,
    uncertainty: bool,
) -> list[Artist]:
    """Draw the levels, missing values and where rows are; return what a legend explains."""
    dots.draw_zero(board)
    dots.set_apart(board, slots)
    explained = dots.draw_one(
        board, slots, effect, spots,
        label="mean effect", level=level, spread=spread, uncertainty=uncertainty,
    )  # fmt: skip
    return explained + dots.draw_counts(board, slots, effect)


def draw_steps(board: Board, slots: Slots, effect: LevelEffect, level: float) -> list[Artist]:
    """Draw the mean step between neighbouring levels, its spread and its uncertainty."""
    gap, width = np.diff(effect.edges), dots.dot_width(board, slots)
    half = normal_quantile(level) * effect.standard_error * gap
    places, step = middles(slots.places), effect.step
    path = Trace(places, step, effect.std * gap, step - half, step + half)
    dots.draw_zero(board)
    (marks,) = board.ax.plot(*board.points(places, step).T, "D", color=style.EFFECT)
    marks.set(markersize=0.55 * width, zorder=4, gid="rhale:steps", label="mean step")
    explained: list[Artist] = [marks]
    for stroke in dots.draw_spread(board, path, width):
        stroke.set(gid="rhale:whiskers", label="± std between rows")
        explained.append(stroke)
    return explained + dots.draw_ci(board, path, level, style.CAP_WIDTH * width)


def draw_truth(
    board: Board, effect: LevelEffect, center: Center, truth: LevelTruth | None
) -> list[Artist]:
    """Draw known values of the levels, zero where the effect's curve is."""
    if truth is None:
        return []
    known = np.asarray(truth(effect.edges if effect.is_number else effect.levels), dtype=float)
    weights = {"mean": effect.share, "start": np.eye(1, known.size)[0]}
    zero = np.average(known, weights=weights.get(center))
    at = board.points(effect.edges, known - zero)
    (marks,) = board.ax.plot(*at.T, "x", color=style.TRUTH, label="truth")
    marks.set(markersize=6, zorder=5.5, gid="rhale:truth")
    return [marks]


def draw_only_level(
    board: Board, slots: Slots, result: Result, missing: Trace | None, level: float
) -> None:
    """Say that there is one level; show missing values where they were measured."""
    value, words = reach(result)[0], ticks.only_value(result)
    note = canvas.say_constant(board.ax, value, words, heights=missing is not None)
    if missing is None:
        return
    note.set(text="constant:\none level,\nno curve", position=(0.27, 0.96), va="top")
    path, width = missing._replace(x=np.array([slots.missing])), style.LARGEST_DOT
    dots.draw_zero(board)
    dots.set_apart(board, slots)
    dots.draw_missing_dot(board, path, width, style.look(0))
    dots.draw_spread(board, path, width)
    dots.draw_ci(board, path, level, style.CAP_WIDTH * width)
    board.fit(slots, strip=False)


def write_legends(
    top: Board, bottom: Board, above: list[Artist], below: list[Artist], *, new: bool
) -> None:
    """Explain both panels: each by itself, or both below where they stand side by side."""
    if new and top.turned:
        explain(top, above + [a for a in below if a.get_gid() != "rhale:ci"], new=True)
        return
    explain(top, above, new=new)
    explain(bottom, below, new=new)


def explain(board: Board, artists: list[Artist], *, new: bool) -> None:
    """Write a legend; below a new figure whose levels have long names."""
    if new and board.turned:
        canvas.add_figure_legend(cast(Figure, board.ax.figure), artists, title="")
    else:
        canvas.add_legend(board.ax, artists, outside=new)


def label_pair(
    top: Board, bottom: Board, slots: Slots, effect: LevelEffect, center: Center
) -> None:
    """Name the axes of both panels, and the levels."""
    side: Side = "width" if top.turned else "height"
    value = layers.value_label([effect], center, canvas.letters(top.ax, side))
    output = shown(effect.output, max(8, canvas.letters(bottom.ax, side) - 10))
    step, name = f"step to the next\nchange of {output}", shown(effect.name, style.LABEL_LENGTH)
    for board, words in ((top, value), (bottom, step)):
        write = board.ax.set_xlabel if board.turned else board.ax.set_ylabel
        write(words, fontsize=style.NAME_TEXT, **LITERAL)
        board.name_levels(slots)
    hide_between(top, bottom, name)


def hide_between(top: Board, bottom: Board, name: str) -> None:
    """Write the levels and the feature's name once where both panels have one axis of levels."""
    if top.turned:
        top.ax.set_ylabel(name, **LITERAL)
        if top.ax.get_shared_y_axes().joined(top.ax, bottom.ax):
            bottom.ax.tick_params(labelleft=False)
        else:
            bottom.ax.set_ylabel(name, **LITERAL)
        return
    bottom.ax.set_xlabel(name, **LITERAL)
    if canvas.share_x(top.ax, bottom.ax):
        top.ax.tick_params(labelbottom=False)
    else:
        top.ax.set_xlabel(name, **LITERAL)
