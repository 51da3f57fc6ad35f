"""The two panels of an effect of levels: dots above, the steps between levels below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from rhale.kernels import FloatArray
from rhale.kernels.curve import Center, middles
from rhale.kernels.student import student_quantile
from rhale.plots import canvas, dots, style
from rhale.plots.board import Board, explain, label_pair, should_turn, turned_height
from rhale.plots.fields import Layers, SlotField, read_item
from rhale.plots.labels import in_sentence, value_label
from rhale.plots.lettering import folded_first
from rhale.plots.proportion import keep_in_proportion, tell_size
from rhale.plots.slots import gather_slots
from rhale.plots.ticks import axis_name
from rhale.results.level_effect import LevelEffect
from rhale.results.result import Result, Trace, is_constant

Side = Literal["width", "height"]
LevelTruth = Callable[[Any], FloatArray]


def plot_levels(
    effect: LevelEffect,
    layers: Layers,
    *,
    ax: Axes | Sequence[Axes] | None = None,
    truth: LevelTruth | None = None,
    turned: bool | None = None,
    among: Sequence[Result] = (),
) -> tuple[Axes, Axes]:
    """Draw the effect of a feature that has levels; arguments as in `plot_effect`."""
    center, level, spread, uncertainty = layers
    slots = gather_slots([effect])
    turn = should_turn(slots, ax) if turned is None else turned
    pair = canvas.find_pair(ax, sideways=turned_height(slots) if turn else None)
    top, bottom = (SlotField(Board(panel, turn), slots) for panel in pair)
    item = read_item(effect, center, level)
    if is_constant(effect):
        top.draw_constant([item], level)
        bottom.board.ax.set(xticks=[], yticks=[])
    else:
        top.begin()
        above = top.draw_one(item, "mean effect", level, spread=spread, uncertainty=uncertainty)
        above += top.draw_counts(effect) + draw_truth(top.board, effect, center, truth)
        top.fit()
        keep_in_proportion(top.board, among)
        below = draw_steps(bottom, effect, level)
        bottom.board.fit(slots, strip=False)
        told = tell_size(effect, among) if ax is None else ""
        write_legends((top.board, bottom.board), above, below, new=ax is None, title=told)
    name_axes(top, bottom, effect, center)
    return pair


def draw_steps(field: SlotField, effect: LevelEffect, level: float) -> list[Artist]:
    """Draw the mean step between neighbouring levels, its spread and its uncertainty."""
    board, gap, width = field.board, np.diff(effect.edges), field.dot_width()
    half = student_quantile(level, effect.rows - 1) * effect.standard_error * gap
    places, step = middles(field.slots.places), effect.step
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


def write_legends(
    boards: tuple[Board, Board], above: list[Artist], below: list[Artist], *, new: bool, title: str
) -> None:
    """Explain both panels: each by itself, or both below where they stand side by side."""
    top, bottom = boards
    if new and top.turned:
        explain(top, above + [a for a in below if a.get_gid() != "rhale:ci"], new=True, title=title)
        return
    explain(top, above, new=new, title=title)
    explain(bottom, below, new=new)


def name_axes(top: SlotField, bottom: SlotField, effect: LevelEffect, center: Center) -> None:
    """Name the axes of both panels, and the levels."""
    side: Side = "width" if top.board.turned else "height"
    value = value_label([effect], center, canvas.letters(top.board.ax, side))
    step = "step to the next level"
    steps = [f"{step}, change of {in_sentence(effect)}", step]
    step = folded_first(steps, canvas.letters(bottom.board.ax, side), lines=3)
    for field in (top, bottom):
        field.name_places(effect)
    label_pair(top.board, bottom.board, (value, step), axis_name(effect, style.LABEL_LENGTH))
