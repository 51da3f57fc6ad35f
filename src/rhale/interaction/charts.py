"""Charts of pairs on the page: their numbers, and Vega specifications without data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from rhale.interaction.moments import PairAxis
from rhale.interaction.pair_effect import PairSurface
from rhale.interaction.pair_profile import PairSection, cut_sections, read_surface_cells
from rhale.regions.report import RegionPath
from rhale.report.charts import (
    CURVE_PANEL_HEIGHT,
    THIN,
    Spec,
    compile_chart,
    draw_marks,
    layered,
    to_vega,
)
from rhale.report.numbers import (
    CHART_DIGITS,
    LONGEST_TITLE,
    MAX_CHART_LEVEL_LETTERS,
    MILLISECONDS,
    Form,
    Numbers,
    round_for_chart,
)
from rhale.report.sentences import (
    DURATION_UNITS,
    clean,
    format_axis_position,
    isolated,
    named_output,
    unit_of,
)
from rhale.stats.arrays import FloatArray
from rhale.stats.distributions import Z_SCORE_95

MAX_MAP_TICKS, MOST_DATES = 5, 3
MAX_PAIR_LEVEL_LETTERS, MAX_PAIR_NAME_LETTERS = 40, 60
COLOURED = 0.98  # of the rows
MAP_DIGITS = 3  # of a height on a map: a colour tells fewer


@dataclass(frozen=True)
class PairLine:
    """The effect of one feature where the other has a value: in words, and its path.

    The interval is that of what the pair adds to the feature's own effect.
    """

    rule: str
    path: RegionPath


@dataclass(frozen=True)
class LinesShape:
    """What is drawn of one feature at values of another; fields as in `Shape`."""

    form: Form  # form, unit, labels, dots, titles: as in `Shape`
    x: Numbers  # x, y: the first feature's own effect
    y: Numbers
    lines: tuple[PairLine, ...]  # at values of the other feature; nothing where no row is
    gradual: bool  # whether these values have an order
    unit: str = ""
    labels: tuple[str, ...] = ()
    dots: bool = False
    titles: tuple[str, ...] = ()


@dataclass(frozen=True)
class MapSide:
    """One side of a map."""

    edges: Numbers  # limits of the cells as drawn; levels are cells around 0, 1, 2, ...
    ticks: Numbers  # ticks, words: what is written along it, and where
    words: tuple[str, ...]
    names: tuple[str, ...]  # what each cell is called


@dataclass(frozen=True)
class MapShape:
    """What is drawn of a surface."""

    along: MapSide  # along, by: the two sides
    by: MapSide
    # heights, errors: of every cell, those of the first side one after another; None where no
    # row is.
    heights: Numbers
    errors: Numbers
    counts: tuple[int, ...]  # their rows
    # reach, largest: height of the full colour, which but few rows are beyond; and the
    # largest one.
    reach: float
    largest: float


def lines_of(pair: PairSurface) -> LinesShape:
    """Read off a pair the lines along its first feature."""
    axis, other = pair.axes
    spoken = pair.captions.feature(pair.names[1])
    sections = cut_sections(pair)
    heights = [pair.main[0], *(s.height for s in sections)]
    span = float(np.ptp(np.concatenate([h[np.isfinite(h)] for h in heights])))
    return LinesShape(
        form_of_axis(axis),
        scale_pair_places(axis, axis.nodes),
        round_for_chart(pair.main[0], span),
        tuple(
            PairLine(write_fixed_value(spoken, other, s.value), path_of_section(axis, s, span))
            for s in sections
        ),
        gradual=not other.is_levels and len(sections) == 3,
        unit=unit_of_axis(axis),
        labels=tuple(clean(label, MAX_CHART_LEVEL_LETTERS) for label in axis.labels),
        dots=axis.is_levels,
        titles=titles_of_pair(pair),
    )


def titles_of_pair(pair: PairSurface) -> tuple[str, ...]:
    """What stands beside the axes of lines, as in `Shape`."""
    captions, axis = pair.captions, pair.axes[0]
    place, unit = captions.axis(pair.names[0]), unit_of_axis(axis)
    if axis.kind == "duration":
        place = f"{captions.feature(pair.names[0])} ({unit})"
    value = f"effect on {named_output(captions, pair.output, unit=True)}"
    return clean(value, LONGEST_TITLE), clean(place, LONGEST_TITLE), ""


def path_of_section(axis: PairAxis, section: PairSection, span: float) -> RegionPath:
    """Points of a line; it is broken where no row stands."""
    x, y, half = axis.nodes, section.height, Z_SCORE_95 * section.error
    if axis.is_levels:
        kept = np.flatnonzero(section.has_rows)
        where = tuple(kept.tolist())
        return RegionPath(where, round_for_chart(y[kept], span), round_for_chart(half[kept], span))
    points: list[tuple[float, float, float]] = []
    for cell in np.flatnonzero(section.has_rows).tolist():
        is_next = bool(points) and points[-1][0] == x[cell]
        if points and not is_next:
            points.append(((points[-1][0] + x[cell]) / 2, math.nan, math.nan))
        nodes = (cell + 1,) if is_next else (cell, cell + 1)
        points += [(x[node], y[node], half[node]) for node in nodes]
    places, heights, halves = np.array(points, dtype=float).reshape(-1, 3).T
    return RegionPath(
        scale_pair_places(axis, places),
        round_for_chart(heights, span),
        round_for_chart(halves, span),
    )


def map_of(pair: PairSurface) -> MapShape:
    """Read off a pair its map."""
    heights, errors = read_surface_cells(pair)
    # The size that all but a few rows are below, and the largest: outer cells of few rows tower.
    sizes = np.abs(heights)
    known = np.isfinite(sizes) & (pair.weight > 0)
    reach, largest = 0.0, 0.0
    if known.any():
        order = np.argsort(sizes[known])
        rising, below = sizes[known][order], np.cumsum(pair.weight[known][order])
        place = int(np.searchsorted(below, COLOURED * below[-1]))
        reach = float(rising[min(place, rising.size - 1)])
        largest = float(rising[-1])
        reach = reach if reach > 0 else largest
    return MapShape(
        side_of(pair.axes[0]),
        side_of(pair.axes[1]),
        round_for_chart(heights.ravel(), reach, MAP_DIGITS),
        round_for_chart(errors.ravel(), reach, MAP_DIGITS),
        tuple(pair.count.ravel().tolist()),
        reach,
        largest,
    )


def side_of(axis: PairAxis) -> MapSide:
    """One side of a map."""
    if axis.is_levels:
        words = tuple(clean(label, MAX_PAIR_LEVEL_LETTERS) for label in axis.labels)
        numbers = tuple(range(len(words)))
        edges = tuple(n - 0.5 for n in (*numbers, len(words)))
        return MapSide(edges, numbers, words, tuple(f"“{word}”" for word in words))
    limits = [write_pair_value(axis, node) for node in axis.nodes]
    names = tuple(f"{a} to {b}" for a, b in pairwise(limits))
    ticks = choose_ticks(axis)
    words = tuple(write_pair_value(axis, tick) for tick in ticks)
    return MapSide(
        scale_pair_places(axis, axis.nodes), scale_pair_places(axis, ticks), words, names
    )


def choose_ticks(axis: PairAxis) -> FloatArray:
    """Few places that are written along a side: round numbers, or days apart by as many."""
    low, high = float(axis.nodes[0]), float(axis.nodes[-1])
    unit = DURATION_UNITS[unit_of_axis(axis)] if axis.kind == "duration" else 1.0
    most = MOST_DATES if axis.kind == "date" else MAX_MAP_TICKS
    least = (high - low) / unit / most
    power = 10.0 ** math.floor(math.log10(least)) if least > 0 else 1.0
    step = unit * next(power * by for by in (1.0, 2.0, 5.0, 10.0) if power * by >= least)
    return np.asarray(step * np.arange(math.ceil(low / step), math.floor(high / step) + 1))


def form_of_axis(axis: PairAxis) -> Form:
    """The kind of chart."""
    if axis.is_levels:
        return "levels"
    return "dates" if axis.kind == "date" else "curve"


def unit_of_axis(axis: PairAxis) -> str:
    """Unit of an axis, in one word."""
    span = float(axis.nodes[-1] - axis.nodes[0])
    return {"date": "day", "duration": unit_of(span), "number": ""}[axis.kind]


def scale_pair_places(axis: PairAxis, places: FloatArray) -> Numbers:
    """Places as drawn: levels are numbered, dates are milliseconds, durations have their unit."""
    if axis.is_levels:
        return tuple(np.searchsorted(axis.nodes, places).tolist())
    factor = {"date": MILLISECONDS, "number": 1.0}.get(axis.kind)
    factor = 1.0 / DURATION_UNITS[unit_of_axis(axis)] if factor is None else factor
    span = float(axis.nodes[-1] - axis.nodes[0])
    return round_for_chart(factor * places, factor * span, CHART_DIGITS + 1)


def write_pair_value(axis: PairAxis, value: float) -> str:
    """A place in words; a level by its name."""
    if axis.is_levels:
        label = axis.labels[int(np.searchsorted(axis.nodes, value))]
        return f"“{isolated(clean(label, MAX_PAIR_LEVEL_LETTERS))}”"
    return format_axis_position(float(value), axis.kind, float(axis.nodes[-1] - axis.nodes[0]))


def write_fixed_value(name: str, axis: PairAxis, value: float) -> str:
    """Say where a line is: "income is about 2", "region is “north”"."""
    about = "" if axis.is_levels else "about "
    return (
        f"{isolated(clean(name, MAX_PAIR_NAME_LETTERS))} is {about}{write_pair_value(axis, value)}"
    )


# --- Charts of pairs without data: the map is made here, lines are drawn as regions are


PAIR_LINE_KINDS = {"curve": "regions", "dates": "date regions", "levels": "level regions"}
MAP = "pair map"
MAP_ROOM = 76  # left of it: names of levels


def compile_pair_charts(forms: set[str]) -> dict[str, Spec]:
    """Make the charts that pairs need: those of their kinds of lines, and the map."""
    lines = {PAIR_LINE_KINDS[form]: compile_chart(PAIR_LINE_KINDS[form]) for form in sorted(forms)}
    return lines | {MAP: compile_map()} if forms else {}


@cache
def compile_map() -> Spec:
    """Make the map, ready for Vega."""
    # Cells that hold rows, in the colour of zero, and over it how far the surface is up or down.
    cell = {"x": map_side("x"), "y": map_side("y"), "x2": {"field": "x2"}, "y2": {"field": "y2"}}
    shade = {"fillOpacity": {"field": "o", "type": "quantitative", "scale": None, "legend": None}}
    layers = [draw_marks("zero", "rect", "zero-cell", cell, clip=True)]
    layers += [
        draw_marks(name, "rect", f"{name}-cell", cell | shade, clip=True)
        for name in ("low", "high")
    ]
    looks: Spec = {"strokeWidth": 2 * THIN, "filled": False}
    layers.append(draw_marks("here", "rect", "here-cell", cell, **looks))
    params: list[tuple[str, list[float]]] = [
        (f"{side}_{what}", []) for side in "xy" for what in ("ends", "ticks", "words")
    ]
    return to_vega(layered(layers, CURVE_PANEL_HEIGHT), *params)


def map_side(side: str) -> Spec:
    """One side: its ends, its ticks and what is written at them are values that the page sets."""
    ticks = f"{side}_ticks"
    axis: Spec = {"title": None, "grid": False, "values": {"expr": ticks}, "labelLimit": MAP_ROOM}
    axis |= {"labelExpr": f"{side}_words[indexof({ticks}, datum.value)]", "labelOverlap": True}
    axis |= {"labelFlush": side == "x"}
    axis |= {"minExtent": MAP_ROOM, "maxExtent": MAP_ROOM} if side == "y" else {}
    scale = {"zero": False, "nice": False, "domainRaw": {"expr": f"{side}_ends"}}
    return {"field": side, "type": "quantitative", "axis": axis, "scale": scale}
