"""The curve of one result as inline SVG: axes, spread, interval, where the rows are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rhale.report.chart_numbers import MissingPoint, Numbers, Shape, shown_first
from rhale.report.inline_svg import (
    LETTER,
    Scale,
    area,
    box,
    dot,
    known_runs,
    picture,
    rule,
    scale_for,
    stroke,
    ticks_of,
    words,
)
from rhale.report.refit_numbers import RefitShape
from rhale.report.wording import shortened
from rhale.results import inks

WIDTH, HEIGHT = 560.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 66.0, 12.0, 8.0, 36.0
STRIP = 16.0  # height of where the rows are
ASIDE = 54.0  # width of the place for missing values
ROW = 20.0  # height of a level
MOST_LEVELS = 16
LONGEST_LABEL, LONGEST_LEVEL, LONGEST_MISSING = 70, 26, 8
BAND, RIBBON = 0.2, 0.4  # opacity


@dataclass(frozen=True)
class Words:
    """What stands at the axes, and the alternative to the picture."""

    along: str
    upward: str
    told: str


class Band(NamedTuple):
    """What lies between two lines, or from one end of a box to the other."""

    low: Numbers
    high: Numbers
    colour: str
    opacity: float
    half: float = 2.5  # of the width of a box


class Area(NamedTuple):
    """The part of a picture in which curves are drawn."""

    x: Scale
    y: Scale
    right: float
    floor: float


def chart(shape: Shape, text: Words) -> str:
    """Draw one result: nothing where it has no curve."""
    if shape.form == "constant" or not shape.x:
        return ""
    if shape.form == "levels":
        return level_chart(shape, shape.spread, text)
    shape = shown_first(shape)
    bands = [Band(*low_high(shape.y, shape.spread), inks.SPREAD, BAND, 7.0)]
    bands.append(Band(shape.low, shape.high, inks.UNCERTAINTY, RIBBON))
    held = lay_out(shape, [v for band in bands for v in (*band.low, *band.high)])
    draw = draw_dots if shape.dots else draw_lines
    parts = [*draw_frame(held, shape, text), *draw_rows(held, shape)]
    parts += [*draw(held, shape, bands), *draw_missing(held, shape.missing)]
    return picture(parts, (WIDTH, HEIGHT), text.told)


def refit_chart(shape: RefitShape, text: Words) -> str:
    """Draw one feature in several trainings: each of them, their mean and its interval."""
    if shape.form == "constant" or not shape.x:
        return ""
    if shape.form == "levels":
        return level_chart(shape, (), text)
    shape = shown_first(shape)
    low, high = (float(end or 0.0) for end in shape.shown or (-math.inf, math.inf))
    places = [tuple(float(shape.grid[i] or 0.0) for i in one.at) for one in shape.curves]
    curves = [
        [(x, y) for x, y in zip(at, one.y, strict=True) if low <= x <= high]
        for at, one in zip(places, shape.curves, strict=True)
    ]
    held = lay_out(shape, [*shape.low, *shape.high, *(y for one in curves for _, y in one)])
    thin = [
        stroke([(held.x(x), held.y(y)) for x, y in run], inks.BETWEEN, 1.0, 0.55)
        for one in curves
        for run in known_runs([tuple(x for x, _ in one), tuple(y for _, y in one)])
        if not shape.dots
    ]
    bands = [Band(shape.low, shape.high, inks.BETWEEN, BAND)]
    draw = draw_dots if shape.dots else draw_lines
    parts = [*draw_frame(held, shape, text), *draw_rows(held, shape), *thin]
    return picture([*parts, *draw(held, shape, bands)], (WIDTH, HEIGHT), text.told)


def low_high(y: Numbers, half: Numbers) -> tuple[Numbers, Numbers]:
    """Both sides of a band around a curve; not known where it is not."""
    pairs = [
        (a, b) if a is not None and b is not None else None for a, b in zip(y, half, strict=True)
    ]
    low = tuple(None if pair is None else pair[0] - pair[1] for pair in pairs)
    return low, tuple(None if pair is None else pair[0] + pair[1] for pair in pairs)


def lay_out(shape: Shape | RefitShape, drawn: Sequence[float | None]) -> Area:
    """Find the scales on which all that is drawn has room."""
    gone = shape.missing if isinstance(shape, Shape) else None
    heights = [*shape.y, *drawn]
    heights += [] if gone is None else [gone.y, gone.low, gone.high]
    right = WIDTH - RIGHT - (ASIDE if gone is not None else 0.0)
    floor = HEIGHT - BOTTOM - STRIP
    return Area(
        scale_for(shape.x, LEFT, right), scale_for((*heights, 0.0), floor, TOP), right, floor
    )


def draw_frame(held: Area, shape: Shape | RefitShape, text: Words) -> Iterator[str]:
    """Axes with round numbers, what they are, and the line of no effect."""
    for tick, told in ticks_of(held.y, "curve"):
        y = held.y(tick)
        yield rule((LEFT, y), (held.right, y), 0.6 if tick == 0 else 0.15)
        yield words((LEFT - 6, y + 4), told, "end")
    bottom = held.floor + STRIP
    yield rule((LEFT, bottom), (held.right, bottom), 0.6)
    for tick, told in ticks_of(held.x, shape.form):
        x = held.x(tick)
        yield rule((x, bottom), (x, bottom + 4), 0.6)
        yield words((x, bottom + 15), told)
    unit = "" if shape.form == "dates" or not shape.unit else f", {shape.unit}"
    middle = (LEFT + held.right) / 2
    beyond = f" ({shape.beyond})" if shape.beyond else ""
    longest = max(10, LONGEST_LABEL - len(beyond))
    yield words((middle, HEIGHT - 5), shortened(text.along, longest) + unit + beyond)
    longest = int((HEIGHT - 2 * TOP) / LETTER)
    yield words((12, HEIGHT / 2), shortened(text.upward, longest), turned=True)


def draw_lines(held: Area, shape: Shape | RefitShape, bands: Sequence[Band]) -> Iterator[str]:
    """Bands, and the curve above them."""
    for band in bands:
        for run in known_runs([shape.x, band.low, band.high]):
            upper = [(held.x(x), held.y(top)) for x, _, top in run]
            lower = [(held.x(x), held.y(bottom)) for x, bottom, _ in run]
            yield area(upper, lower, band.colour, band.opacity)
    for pairs in known_runs([shape.x, shape.y]):
        yield stroke([(held.x(x), held.y(y)) for x, y in pairs], inks.EFFECT)


def draw_dots(held: Area, shape: Shape | RefitShape, bands: Sequence[Band]) -> Iterator[str]:
    """The same for levels that are numbers: bands become boxes, curves points."""
    for band in bands:
        for run in known_runs([shape.x, band.low, band.high]):
            for x, bottom, top in run:
                corner = (held.x(x) - band.half, held.y(top))
                size = (2 * band.half, held.y(bottom) - held.y(top))
                yield box(corner, size, band.colour, band.opacity)
    for run in known_runs([shape.x, shape.y]):
        yield from (dot((held.x(x), held.y(y)), inks.EFFECT) for x, y in run)


def draw_rows(held: Area, shape: Shape | RefitShape) -> Iterator[str]:
    """Where the rows are, as a strip at the foot."""
    rows, top = [row or 0.0 for row in shape.rows], held.floor + STRIP
    most = max(rows, default=0.0)
    if not most > 0:
        return
    if shape.dots:
        for x, row in zip(shape.x, rows, strict=True):
            height = (STRIP - 2) * row / most
            yield box((held.x(x or 0.0) - 3, top - height), (6, height), inks.COUNT, 0.7)
        return
    limits = [float(limit or 0.0) for limit in shape.limits]
    if len(limits) == 2:
        step = (limits[1] - limits[0]) / len(rows)
        limits = [limits[0] + step * i for i in range(len(rows) + 1)]
    points = [(held.x(limits[0]), top)]
    for left, right, row in zip(limits[:-1], limits[1:], rows, strict=True):
        height = top - (STRIP - 2) * row / most
        points += [(held.x(left), height), (held.x(right), height)]
    yield area(points, [(held.x(limits[-1]), top)], inks.COUNT, 0.6)


def draw_missing(held: Area, gone: MissingPoint | None) -> Iterator[str]:
    """The point of rows without a value, beside the curve."""
    if gone is None or gone.y is None:
        return
    x = held.right + ASIDE / 2 + 4
    if gone.low is not None and gone.high is not None:
        height = held.y(gone.low) - held.y(gone.high)
        yield box((x - 2.5, held.y(gone.high)), (5, height), inks.UNCERTAINTY, RIBBON)
    yield dot((x, held.y(gone.y)), inks.EFFECT)
    yield words((x, held.floor + STRIP + 15), "missing")


def level_chart(shape: Shape | RefitShape, spread: Numbers, text: Words) -> str:
    """Draw levels that have names: one below the other."""
    labels = list(shape.labels[:MOST_LEVELS])
    n, rows = len(labels), list(shape.rows[:MOST_LEVELS])
    y, low, high = shape.y[:n], shape.low[:n], shape.high[:n]
    half: Numbers = spread[:n]
    gone = shape.missing if isinstance(shape, Shape) else None
    if gone is not None:
        labels, rows, y = [*labels, "(missing)"], [*rows, None], (*y, gone.y)
        low, high, half = (*low, gone.low), (*high, gone.high), (*half, gone.spread)
    bands = [Band(*low_high(y, half), inks.SPREAD, BAND, 6.0)] if spread else []
    bands.append(Band(low, high, inks.UNCERTAINTY if spread else inks.BETWEEN, RIBBON))
    left = 20 + LETTER * min(LONGEST_LEVEL, max(map(len, labels)))
    ends = (v for band in bands for v in (*band.low, *band.high))
    across = scale_for((*y, *ends, 0.0), left, WIDTH - RIGHT - ASIDE)
    bottom = TOP + ROW * len(labels)
    parts = [*frame_levels(across, bottom, text), *count_rows(rows)]
    for i, label in enumerate(labels):
        middle = TOP + ROW * (i + 0.5)
        parts.append(words((left - 8, middle + 4), shortened(label, LONGEST_LEVEL), "end"))
        parts += draw_level(
            across,
            middle,
            y[i],
            [b._replace(low=b.low[i : i + 1], high=b.high[i : i + 1]) for b in bands],
        )
    return picture(parts, (WIDTH, bottom + BOTTOM), text.told)


def count_rows(rows: Sequence[float | None]) -> Iterator[str]:
    """How many rows each level has, as bars at the right."""
    most = max((row or 0.0 for row in rows), default=0.0)
    for i, row in enumerate(rows):
        length = (ASIDE - 14) * (row or 0.0) / most if most > 0 else 0.0
        yield box((WIDTH - ASIDE, TOP + ROW * (i + 0.5) - 4), (length, 8), inks.COUNT, 0.6)


def frame_levels(across: Scale, bottom: float, text: Words) -> Iterator[str]:
    """Round numbers below levels, and what they are."""
    for tick, told in ticks_of(across, "curve"):
        x = across(tick)
        yield rule((x, TOP), (x, bottom), 0.6 if tick == 0 else 0.15)
        yield words((x, bottom + 14), told)
    middle = (across.start + across.stop) / 2
    yield words((middle, bottom + 30), shortened(text.upward, LONGEST_LABEL))


def draw_level(
    across: Scale, middle: float, y: float | None, bands: Sequence[Band]
) -> Iterator[str]:
    """One level: its bands, and the point above them."""
    for band in bands:
        for ((low, high),) in known_runs([band.low, band.high]):
            size = (across(high) - across(low), 2 * band.half)
            yield box((across(low), middle - band.half), size, band.colour, band.opacity)
    if y is not None:
        yield dot((across(y), middle), inks.EFFECT)
