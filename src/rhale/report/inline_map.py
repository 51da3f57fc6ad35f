"""The surface of a pair as inline SVG: a map of cells, its sides, and what the colours say."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from rhale.report.inline_svg import LETTER, Scale, picture, rule, words
from rhale.report.pair_numbers import MapShape, MapSide
from rhale.report.wording import number, shortened
from rhale.results import inks

WIDTH, HEIGHT = 480.0, 300.0
RIGHT, TOP, BOTTOM = 74.0, 8.0, 40.0
N_SHADES = 6  # on each side of zero
LONGEST_LABEL, LONGEST_WORD = 50, 14


def map_chart(shape: MapShape, names: tuple[str, str], told: str) -> str:
    """Draw a surface: the first feature across, the second upwards.

    Parameters
    ----------
    shape : MapShape
        What is drawn.
    names : tuple of str
        What people read for the two features.
    told : str
        For those who do not see the picture.
    """
    longest = max((len(shortened(w, LONGEST_WORD)) for w in shape.by.words), default=0)
    left = 34 + LETTER * longest
    across = Scale(*ends(shape.along), left, WIDTH - RIGHT)
    upward = Scale(*ends(shape.by), HEIGHT - BOTTOM, TOP)
    parts = [*draw_cells(shape, across, upward), *draw_sides(shape, across, upward)]
    middle = (left + WIDTH - RIGHT) / 2
    parts.append(words((middle, HEIGHT - 6), shortened(names[0], LONGEST_LABEL)))
    high = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(words((12, high), shortened(names[1], LONGEST_LABEL - 10), turned=True))
    return picture([*parts, *draw_key(shape)], (WIDTH, HEIGHT), told)


def ends(side: MapSide) -> tuple[float, float]:
    """Where a side begins and ends."""
    return float(side.edges[0] or 0.0), float(side.edges[-1] or 0.0)


def shade_of(height: float, reach: float) -> int:
    """Number of a shade, from -N_SHADES to N_SHADES.

    Examples
    --------
    >>> shade_of(0.0, 2.0), shade_of(-9.0, 2.0), shade_of(1.0, 2.0)
    (0, -6, 3)
    """
    share = height / reach if reach > 0 else 0.0
    return round(N_SHADES * min(1.0, max(-1.0, share)))


def colour_of(shade: int) -> str:
    """Colour of a shade: from that of zero to those of both ends.

    Examples
    --------
    >>> colour_of(0), colour_of(N_SHADES) == inks.HIGH.lower()
    ('#f7f7f7', True)
    """
    end = inks.HIGH if shade > 0 else inks.LOW
    share = abs(shade) / N_SHADES
    parts = [
        round(int(inks.ZERO[i : i + 2], 16) * (1 - share) + int(end[i : i + 2], 16) * share)
        for i in (1, 3, 5)
    ]
    return "#" + "".join(f"{part:02x}" for part in parts)


def draw_cells(shape: MapShape, across: Scale, upward: Scale) -> Iterator[str]:
    """One path for all cells of one shade; cells without rows stay empty."""
    columns = [(across(a or 0.0), across(b or 0.0)) for a, b in pairwise(shape.along.edges)]
    lines = [(upward(a or 0.0), upward(b or 0.0)) for a, b in pairwise(shape.by.edges)]
    paths: dict[int, list[str]] = {}
    for place, height in enumerate(shape.heights):
        if height is None:
            continue
        (left, right), (low, high) = columns[place // len(lines)], lines[place % len(lines)]
        # a little larger than the cell, so that no seam shows the ground
        size = f"h{right - left + 0.3:.4g}v{low - high + 0.3:.4g}H{left:.4g}z"
        paths.setdefault(shade_of(height, shape.reach), []).append(f"M{left:.4g} {high:.4g}{size}")
    for shade, found in sorted(paths.items()):
        yield f'<path d="{"".join(found)}" fill="{colour_of(shade)}"/>'


def draw_sides(shape: MapShape, across: Scale, upward: Scale) -> Iterator[str]:
    """What is written along both sides, as much of it as has room."""
    bottom, left = upward.start, across.start
    room = max(1, int((across.stop - left) / (LETTER * (LONGEST_WORD + 1))))
    every = -(-len(shape.along.ticks) // room) if len(shape.along.ticks) > room else 1
    for tick, told in list(zip(shape.along.ticks, shape.along.words, strict=True))[::every]:
        x = across(tick or 0.0)
        yield rule((x, bottom), (x, bottom + 4), 0.6)
        yield words((x, bottom + 15), shortened(told, LONGEST_WORD))
    room = int((bottom - TOP) / 13)
    every = -(-len(shape.by.ticks) // room)
    for tick, told in list(zip(shape.by.ticks, shape.by.words, strict=True))[:: max(1, every)]:
        y = upward(tick or 0.0)
        yield rule((left - 4, y), (left, y), 0.6)
        yield words((left - 7, y + 4), shortened(told, LONGEST_WORD), "end")


def draw_key(shape: MapShape) -> Iterator[str]:
    """Shades from the lowest to the highest, with what they stand for."""
    x, step = WIDTH - RIGHT + 14, (HEIGHT - BOTTOM - TOP - 20) / (2 * N_SHADES + 1)
    for i, shade in enumerate(range(N_SHADES, -N_SHADES - 1, -1)):
        y = TOP + 10 + step * i
        yield f'<rect x="{x:g}" y="{y:.4g}" width="12" height="{step + 0.3:.4g}" fill="{colour_of(shade)}"/>'
    for share, y in (
        (1, TOP + 14),
        (0, (HEIGHT - BOTTOM + TOP) / 2 + 4),
        (-1, HEIGHT - BOTTOM - 8),
    ):
        yield words((x + 16, y), number(share * shape.reach, 2), "start")
