"""The two panels of an effect of levels: dots above, the steps between levels below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from rhale.effects.curve import Center, middles
from rhale.effects.level_effect import LevelEffect
from rhale.effects.result import Trace, is_constant
from rhale.plots import canvas, style
from rhale.plots import marks as dots
from rhale.plots.axes import CategoricalAxis, Layers, read_item
from rhale.plots.categorical_axis import (
    LevelLayout,
    OrientedAxes,
    add_levels_legend,
    label_one,
    label_pair,
    new_oriented_axes,
    should_turn,
    turned_height,
)
from rhale.plots.labels import folded_first, in_sentence, value_label
from rhale.plots.proportion import Kind, describe_relative_importance, give_back, keep_in_proportion
from rhale.plots.row_curves import DrawnRows, draw_levels
from rhale.plots.ticks import axis_name
from rhale.stats.arrays import FloatArray
from rhale.stats.distributions import student_quantile

LevelTruth = Callable[[Any], FloatArray]
LevelPanels = tuple[CategoricalAxis | None, CategoricalAxis | None]


def plot_levels(
    effect: LevelEffect,
    layers: Layers,
    fields: LevelPanels,
    *,
    rows: DrawnRows | None = None,
    truth: LevelTruth | None = None,
    new: bool = True,
) -> Any:
    """Draw the effect of a feature that has levels; arguments as in `plot_effect`."""
    top, bottom = fields
    above: list[Artist] = []
    below: list[Artist] = []
    if top is not None:
        above = draw_level_means(top, effect, layers, truth, rows)
    if bottom is not None:
        below = draw_level_steps(bottom, effect, layers.level)
    title = describe_relative_importance(effect, layers.among) if new else ""
    write_legends(top, bottom, above, below, new=new, title=title)
    name_level_axes(top, bottom, effect, layers.center)
    return give_back(*(None if field is None else field.oriented.ax for field in (top, bottom)))


def open_level_panels(
    layout: LevelLayout, kind: Kind, ax: Axes | Sequence[Axes] | None, *, turned: bool | None = None
) -> LevelPanels:
    """Find or make the panels: levels and the steps between them, of which one may be none."""
    turn = should_turn(layout, ax) if turned is None else turned
    if kind == "both":
        pair = canvas.open_two_panels(ax, sideways=turned_height(layout) if turn else None)
        first, second = (CategoricalAxis(OrientedAxes(panel, turn), layout) for panel in pair)
        return first, second
    given = ax if isinstance(ax, Axes) else None
    one = CategoricalAxis(new_oriented_axes(layout, given, turned=turn), layout)
    return (one, None) if kind == "curve" else (None, one)


def draw_level_means(
    field: CategoricalAxis,
    effect: LevelEffect,
    layers: Layers,
    truth: LevelTruth | None,
    rows: DrawnRows | None = None,
) -> list[Artist]:
    """Draw the levels, their spread and interval, and how many rows they have."""
    center, level, spread, uncertainty, among = layers
    item = read_item(effect, center, level)
    if is_constant(effect):
        field.draw_constant([item], level)
        return []
    field.begin()
    explained = field.draw_one(item, "mean effect", level, spread=spread, uncertainty=uncertainty)
    explained += field.draw_counts(effect) + draw_levels(field, effect, rows)
    # Draw known values of the levels, zero where the effect's curve is.
    if truth is not None:
        known = np.asarray(truth(effect.edges if effect.is_number else effect.levels), dtype=float)
        weights = {"mean": effect.share, "start": np.eye(1, known.size)[0]}
        zero = np.average(known, weights=weights.get(center or "mean"))
        at = field.oriented.points(field.locate(effect, effect.edges), known - zero)
        (marks,) = field.oriented.ax.plot(*at.T, "x", color=style.TRUTH, label="truth")
        marks.set(markersize=6, zorder=5.5, gid="rhale:truth")
        explained += [marks]
    field.fit()
    keep_in_proportion(field.oriented, among)
    return explained


def draw_level_steps(field: CategoricalAxis, effect: LevelEffect, level: float) -> list[Artist]:
    """Draw the steps between levels; nothing where there is one level."""
    if is_constant(effect):
        field.oriented.ax.set(xticks=[], yticks=[])
        return []
    # Draw the mean step between neighbouring levels, its spread and its uncertainty.
    oriented, gap, width = field.oriented, np.diff(effect.edges), field.dot_width()
    half = student_quantile(level, effect.rows - 1) * effect.standard_error * gap
    places, step = middles(field.layout.places), effect.step
    path = Trace(places, step, effect.std * gap, step - half, step + half)
    dots.draw_zero_line(oriented)
    (marks,) = oriented.ax.plot(*oriented.points(places, step).T, "D", color=style.EFFECT)
    marks.set(markersize=0.55 * width, zorder=4, gid="rhale:steps", label="mean step")
    explained: list[Artist] = [marks]
    for stroke in dots.draw_spread(oriented, path, width):
        stroke.set(gid="rhale:whiskers", label="± std between rows")
        explained.append(stroke)
    explained += dots.draw_ci(oriented, path, level, style.CAP_WIDTH * width)
    field.oriented.fit(field.layout, strip=False)
    return explained


def write_legends(
    top: CategoricalAxis | None,
    bottom: CategoricalAxis | None,
    above: list[Artist],
    below: list[Artist],
    *,
    new: bool,
    title: str,
) -> None:
    """Explain both panels: each by itself, or both below where they stand side by side."""
    if top is not None and bottom is not None and new and top.oriented.horizontal:
        both = above + [a for a in below if a.get_gid() != "rhale:ci"]
        add_levels_legend(top.oriented, both, new=True, title=title)
        return
    for field, explained in ((top, above), (bottom, below)):
        if field is not None and explained:
            add_levels_legend(
                field.oriented, explained, new=new, title=title if field is top else ""
            )


def name_level_axes(
    top: CategoricalAxis | None,
    bottom: CategoricalAxis | None,
    effect: LevelEffect,
    center: Center | None,
) -> None:
    """Name the axes of both panels or of the one there is, and the levels."""
    name, words = axis_name(effect, style.LABEL_LENGTH), ["", ""]
    if top is not None:
        words[0] = value_label([effect], center, _letters(top))
    if bottom is not None:
        # Say what steps are; shorter where there is little room.
        step = "step to the next level"
        words[1] = folded_first(
            [f"{step}, change of {in_sentence(effect)}", step], _letters(bottom), lines=3
        )
    for field in (top, bottom):
        if field is not None:
            field.name_places(effect)
    if top is not None and bottom is not None:
        label_pair(top.oriented, bottom.oriented, (words[0], words[1]), name)
        return
    for field, word in zip((top, bottom), words, strict=True):
        if field is not None:
            label_one(field.oriented, name, word)


def _letters(field: CategoricalAxis) -> int:
    """Letters of the name of values that fit beside the axes."""
    return canvas.letters(field.oriented.ax, "width" if field.oriented.horizontal else "height")
