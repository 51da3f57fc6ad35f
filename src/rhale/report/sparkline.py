"""The shape of a curve as a tiny picture: the path of an inline SVG."""

from __future__ import annotations

import math
from typing import Protocol

from rhale.report.chart_numbers import Numbers

SPARKLINE_WIDTH, SPARKLINE_HEIGHT, SPARKLINE_MARGIN = 96.0, 24.0, 2.0


class Curve(Protocol):
    """What a tiny picture needs to know of a shape."""

    @property
    def x(self) -> Numbers:
        """Places."""

    @property
    def y(self) -> Numbers:
        """Heights."""

    @property
    def log(self) -> bool:
        """Whether places are those of a logarithmic axis."""

    @property
    def dots(self) -> bool:
        """Whether the points are all there is."""

    @property
    def shown(self) -> Numbers:
        """Ends of the part of the axis that is shown; nothing where all is."""


def write_sparkline_path(shape: Curve) -> str:
    """Write the curve as the path of a picture of WIDTH by HEIGHT; levels become short strokes.

    Examples
    --------
    >>> from rhale.report.chart_numbers import Shape
    >>> write_sparkline_path(Shape("curve", x=(0.0, 1.0), y=(0.0, 1.0)))
    'M2 22L94 2'
    """
    low, high = shape.shown or (-math.inf, math.inf)
    points = [
        (math.log(x) if shape.log else x, y)
        for x, y in zip(shape.x, shape.y, strict=True)
        if x is not None and y is not None and (low or 0.0) <= x <= (high or 0.0)
    ]
    if not points:
        return ""
    across = scaled([x for x, _ in points], SPARKLINE_MARGIN, SPARKLINE_WIDTH - SPARKLINE_MARGIN)
    up = scaled([-y for _, y in points], SPARKLINE_MARGIN, SPARKLINE_HEIGHT - SPARKLINE_MARGIN)
    if not shape.dots:
        return "M" + "L".join(f"{x:g} {y:g}" for x, y in zip(across, up, strict=True))
    half = max(1.5, 0.35 * (SPARKLINE_WIDTH - 2 * SPARKLINE_MARGIN) / len(points))
    across = scaled(
        [x for x, _ in points], SPARKLINE_MARGIN + half, SPARKLINE_WIDTH - SPARKLINE_MARGIN - half
    )
    return "".join(f"M{x - half:.3g} {y:g}h{2 * half:.3g}" for x, y in zip(across, up, strict=True))


def scaled(values: list[float], low: float, high: float) -> list[float]:
    """Bring values between two limits; values that are all the same to their middle."""
    least, span = min(values), max(values) - min(values)
    if not span > 0:
        return [(low + high) / 2] * len(values)
    return [round(low + (high - low) * (value - least) / span, 1) for value in values]
