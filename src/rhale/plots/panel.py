"""One small panel: the curves or levels of one feature, for one output or several."""

from __future__ import annotations

from typing import NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties

from rhale.kernels.curve import Center
from rhale.plots import canvas, dots, layers, level_plot, missing_panel, style, ticks
from rhale.plots.board import Board
from rhale.plots.compare import draw_line, explain_ribbon
from rhale.plots.lettering import LITERAL, number, wrapped
from rhale.plots.slots import Slots, gather_slots
from rhale.results.result import Result, Trace, is_constant, reach


class Feature(NamedTuple):
    """What one panel shows: results of one feature, their curves (none if constant), missing."""

    name: str
    results: list[Result]
    paths: list[Trace]
    missing: list[Trace | None]

    @property
    def everything(self) -> list[Trace]:
        """Curves and missing values."""
        return self.paths + [path for path in self.missing if path is not None]

    @property
    def has_side(self) -> bool:
        """Whether missing values stand beside the panel, as numbers have no place for them."""
        return not self.results[0].labels and any(p is not None for p in self.missing)

    @property
    def label_depth(self) -> float:
        """Room below the panel for turned names of levels, in inches."""
        first = self.results[0]
        if first.column_kind != "categories":
            return 0.0
        longest = max(map(len, first.labels))
        return style.LABEL_DEPTH * min(1.0, longest / style.SMALL_LABEL)


def read_feature(name: str, results: list[Result], center: Center, level: float) -> Feature:
    """Read what one panel shows."""
    constant = is_constant(results[0])
    paths = [] if constant else [result.trace(center, level) for result in results]
    without = [result.missing_trace(center, level) for result in results]
    return Feature(name, results, paths, without)


def draw_panel(ax: Axes, feature: Feature, outputs: list[str], level: float) -> list[Artist]:
    """Draw one feature; return what a legend explains."""
    first = feature.results[0]
    if first.labels:
        return draw_level_panel(ax, feature, outputs, level)
    if not feature.paths:
        value, words = reach(first)[0], ticks.only_value(first)
        canvas.say_constant(ax, value, words, heights=feature.has_side)
        draw_aside(ax, feature, outputs, level)
        explained: list[Artist] = []
    else:
        explained = draw_curve_panel(ax, feature, outputs, level)
    ticks.dress(ax, first, ticks=style.SMALL_TICKS)
    return explained


def draw_curve_panel(ax: Axes, feature: Feature, outputs: list[str], level: float) -> list[Artist]:
    """Draw the curves of one feature; return what a legend explains."""
    first = feature.results[0]
    explained: list[Artist] = []
    layers.draw_zero(ax)
    if len(outputs) == 1:
        for path in feature.paths:
            explained += [layers.draw_curve(ax, path, "mean effect", style.look(0))]
            explained += layers.draw_spread(ax, path) + layers.draw_ci(ax, path, level)
    else:
        for result, path in zip(feature.results, feature.paths, strict=True):
            explained += draw_line(ax, path, result.output, outputs.index(result.output), level)
        explained += explain_ribbon(level)
    explained += layers.draw_gaps(ax, first)
    explained += layers.draw_counts(ax, first)
    draw_aside(ax, feature, outputs, level)
    canvas.fit_limits(ax, strip=True)
    return explained


def draw_aside(ax: Axes, feature: Feature, outputs: list[str], level: float) -> None:
    """Draw missing values beside a panel."""
    items = [
        missing_panel.Item(path, style.look(outputs.index(result.output)))
        for result, path in zip(feature.results, feature.missing, strict=True)
        if path is not None
    ]
    if len(outputs) > 1:
        missing_panel.draw_several(ax, items, level, style.NUMBER_TEXT)
    else:
        for item in items:
            missing_panel.draw_one(ax, item.path, level)


def draw_level_panel(ax: Axes, feature: Feature, outputs: list[str], level: float) -> list[Artist]:
    """Draw the levels of one feature; return what a legend explains."""
    slots, board = gather_slots(feature.results), Board(ax)
    explained: list[Artist] = []
    if not feature.paths:
        level_plot.draw_only_level(board, slots, feature.results[0], feature.missing[0], level)
    else:
        dots.draw_zero(board)
        dots.set_apart(board, slots)
        explained = draw_level_dots(board, slots, feature, outputs, level)
        explained += dots.draw_counts(board, slots, feature.results[0])
        board.fit(slots, strip=True)
    board.name_levels(slots, size=style.NUMBER_TEXT, longest=style.SMALL_LABEL)
    return explained


def draw_level_dots(
    board: Board, slots: Slots, feature: Feature, outputs: list[str], level: float
) -> list[Artist]:
    """Draw the dots of one output, or of several side by side."""
    explained: list[Artist] = []
    paths = zip(feature.results, feature.paths, feature.missing, strict=True)
    for result, path, without in paths:
        spots = dots.make_spots(result, path, without)
        if len(outputs) == 1:
            explained += dots.draw_one(
                board, slots, result, spots, label="mean effect", level=level
            )
        else:
            explained += dots.draw_among(
                board, slots, result, spots, label=result.output, level=level,
                index=outputs.index(result.output), n_items=len(outputs),
            )  # fmt: skip
    return explained + (dots.explain_whiskers(level) if len(outputs) > 1 else [])


def write_title(ax: Axes, feature: Feature) -> None:
    """Write the feature's name, and under it its importance and typical spread."""
    if len(feature.results) == 1:
        (one,) = feature.results
        error, spread = number(one.importance_error, 2), number(one.typical_spread)
        words = f"importance {number(one.importance)} ± {error}\ntypical spread {spread}"
    else:
        words = f"importance up to {number(max(r.importance for r in feature.results))}"
    size = FontProperties(size=style.NUMBER_TEXT).get_size_in_points()
    note = ax.annotate(
        words, (0, 1), (0, 2), "axes fraction", textcoords="offset points", **LITERAL
    )
    note.set(fontsize=style.NUMBER_TEXT, color=style.NOTE, gid="rhale:numbers", va="bottom")
    pad = 4 + 1.35 * size * (1 + words.count("\n"))
    name = wrapped(feature.name, canvas.letters(ax, "width"))
    ax.set_title(name, loc="left", fontsize=style.NAME_TEXT, pad=pad, fontweight="bold", **LITERAL)
