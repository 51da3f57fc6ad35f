"""Parts of pictures as inline SVG: no script, no style sheet, text in the colour of the reader."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from rhale.report.chart_numbers import MILLISECONDS, Form, Numbers
from rhale.report.wording import number, place

Point = tuple[float, float]
MOST_TICKS = 5
MOST_DATES = 4
DAYS = (1, 2, 5, 10, 20, 50, 100, 200, 365.25, 730.5, 1826.25, 3652.5, 7305.0, 18262.5)
LETTER = 5.8  # width of a letter of a label


@dataclass(frozen=True)
class Scale:
    """Where values stand in a picture: the lowest at `start`, the highest at `stop`.

    Examples
    --------
    >>> Scale(0.0, 10.0, 100.0, 300.0)(2.5)
    150.0
    """

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        """Place one value; all of them in the middle where they are the same."""
        span = self.high - self.low
        share = (value - self.low) / span if span > 0 else 0.5
        return self.start + (self.stop - self.start) * share


def scale_for(values: Iterable[float | None], start: float, stop: float) -> Scale:
    """Make a scale that has all known values on it, and a little more at both ends."""
    known = [value for value in values if value is not None] or [0.0]
    low, high = min(known), max(known)
    more = 0.04 * (high - low)
    return Scale(low - more, high + more, start, stop)


def round_places(low: float, high: float, most: int = MOST_TICKS) -> list[float]:
    """Few round numbers between two others.

    Examples
    --------
    >>> round_places(0.3, 7.9), round_places(2.0, 2.0)
    ([2.0, 4.0, 6.0], [2.0])
    """
    least = (high - low) / most
    if not least > 0 or not math.isfinite(least):
        return [low]
    power = 10.0 ** math.floor(math.log10(least))
    step = next(power * by for by in (1.0, 2.0, 5.0, 10.0, 20.0) if power * by >= least)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [step * i for i in range(first, last + 1)]


def ticks_of(scale: Scale, form: Form) -> list[tuple[float, str]]:
    """Places to write along an axis, and what is written there."""
    if form != "dates":
        return [(tick, number(tick, 6)) for tick in round_places(scale.low, scale.high)]
    first, last = scale.low / MILLISECONDS, scale.high / MILLISECONDS
    step = next((d for d in DAYS if d >= (last - first) / MOST_DATES), DAYS[-1])
    days = [step * i for i in range(math.ceil(first / step), math.floor(last / step) + 1)]
    return [(day * MILLISECONDS, place(day, "date", last - first)) for day in days]


def stroke(points: Sequence[Point], colour: str, width: float = 2.0, opacity: float = 1.0) -> str:
    """A line through points."""
    path = "L".join(f"{x:.4g} {y:.4g}" for x, y in points)
    seen = f' stroke-opacity="{opacity:g}"' if opacity < 1 else ""
    return f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"{seen}/>'


def area(upper: Sequence[Point], lower: Sequence[Point], colour: str, opacity: float) -> str:
    """What lies between two lines."""
    path = "L".join(f"{x:.4g} {y:.4g}" for x, y in (*upper, *reversed(lower)))
    return f'<path d="M{path}Z" fill="{colour}" fill-opacity="{opacity:g}"/>'


def box(corner: Point, size: Point, colour: str, opacity: float) -> str:
    """A rectangle."""
    (x, y), (width, height) = corner, size
    return (
        f'<rect x="{x:.4g}" y="{y:.4g}" width="{width:.4g}" height="{height:.4g}" '
        f'fill="{colour}" fill-opacity="{opacity:g}"/>'
    )


def dot(at: Point, colour: str) -> str:
    """A point."""
    return f'<circle cx="{at[0]:.4g}" cy="{at[1]:.4g}" r="3.5" fill="{colour}"/>'


def words(at: Point, text: str, anchor: str = "middle", turned: bool = False) -> str:  # noqa: FBT001, FBT002
    """A text, whatever it holds."""
    x, y = at
    turn = f' transform="rotate(-90 {x:.4g} {y:.4g})"' if turned else ""
    return f'<text x="{x:.4g}" y="{y:.4g}" text-anchor="{anchor}"{turn}>{escape(text)}</text>'


def rule(start: Point, stop: Point, opacity: float = 0.3) -> str:
    """A thin line in the colour of the text."""
    return stroke([start, stop], "currentColor", 1.0, opacity)


def known_runs(columns: Sequence[Numbers]) -> list[list[tuple[float, ...]]]:
    """Rows in which all numbers are known, cut where one is not.

    Examples
    --------
    >>> known_runs([(0.0, 1.0, 2.0), (5.0, None, 7.0)])
    [[(0.0, 5.0)], [(2.0, 7.0)]]
    """
    rows = list(zip(*columns, strict=True))
    breaks = [-1, *(i for i, row in enumerate(rows) if None in row), len(rows)]
    runs = [rows[a + 1 : b] for a, b in pairwise(breaks)]
    return [[tuple(float(v) for v in row if v is not None) for row in run] for run in runs if run]


def picture(parts: Iterable[str], size: tuple[float, float], told: str) -> str:
    """Put the parts of a picture together; `told` is for those who do not see it."""
    width, height = size
    return (
        f'<svg width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{escape(told)}" style="max-width:100%;height:auto" '
        f'font-family="system-ui,sans-serif" font-size="11" fill="currentColor">'
        f"{''.join(parts)}</svg>"
    )
