"""The axis of a feature: plain numbers, dates, durations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.ticker import (
    Formatter,
    Locator,
    MaxNLocator,
)

from rhale.effects.result import Result, find_result_axis_kind, reach
from rhale.output.number_format import MINUS_SIGN
from rhale.output.times import SECONDS_PER_DAY, AxisKind, format_axis_value
from rhale.plots.labels import fit_name, format_rounded_number

CALENDAR = (-719_162.0, 2_932_896.0)  # days from 1970 to the years 1 and 9999
FEWEST_DATES = 5  # ticks: with fewer Matplotlib finds no step for 19 to 23 months, and warns
SECOND, MINUTE, HOUR = 1.0, 60.0, 3_600.0
TICK_UNITS = {"d": SECONDS_PER_DAY, "h": HOUR, "min": MINUTE, "s": SECOND, "ms": 1e-3, "µs": 1e-6}
MAX_TICKS = 8  # ticks of a large panel
LOG_PARTS = ((1.0, 2.0, 3.0, 5.0), (1.0, 2.0, 5.0), (1.0, 3.0))
CLOCK_STEPS = (
    *(n * SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * HOUR for n in (1, 2, 3, 6, 12)),
    SECONDS_PER_DAY,
)


class DurationLocator(Locator):
    """Ticks at whole seconds, minutes, hours or days, whichever fit the range."""

    def __init__(self, most: int) -> None:
        self.most = most

    def __call__(self) -> Any:
        """Ticks of the axis that this belongs to."""
        return self.tick_values(*self.axis.get_view_interval())  # type: ignore[union-attr]

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """Ticks between two numbers of seconds."""
        low, high = min(vmin, vmax), max(vmin, vmax)
        least = (high - low) / self.most
        if not CLOCK_STEPS[0] <= least <= CLOCK_STEPS[-1]:
            unit = SECONDS_PER_DAY if least > SECONDS_PER_DAY else SECOND
            plain = MaxNLocator(self.most, steps=[1, 2, 5, 10])
            return np.asarray(plain.tick_values(low / unit, high / unit)) * unit
        step = next(step for step in CLOCK_STEPS if step >= least)
        first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
        return np.arange(first, last + 1) * step + 0.0  # 0, not -0


class DurationFormatter(Formatter):
    """Seconds in the largest unit in which all ticks are whole: '30 min', '2 h'."""

    def __call__(self, x: float, pos: int | None = None) -> str:  # noqa: ARG002
        """Write one number of seconds by itself."""
        return self.format_ticks([x])[0]

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        """Write all ticks."""
        ticks = np.asarray(values, dtype=np.float64)
        whole = {name: np.allclose(ticks / u, np.rint(ticks / u)) for name, u in TICK_UNITS.items()}
        name = next((name for name in TICK_UNITS if whole[name]), "s")
        return [
            f"{tick / TICK_UNITS[name] + 0.0:.10g} {name}".replace("-", MINUS_SIGN)
            for tick in ticks
        ]


def dress_places(
    ax: Axes,
    kind: AxisKind,
    ends: tuple[float, float],
    *,
    ticks: int = 8,
    along: Literal["x", "y"] = "x",
) -> None:
    """Write the values of a feature that reaches from one end to another, along either axis."""
    axis, set_limits = (ax.xaxis, ax.set_xlim) if along == "x" else (ax.yaxis, ax.set_ylim)
    if kind == "date" and in_calendar(ends):
        low, high = axis.get_view_interval()
        set_limits(max(low, CALENDAR[0]), min(high, CALENDAR[1]), auto=True)
        most = max(FEWEST_DATES, ticks)
        locator = AutoDateLocator(minticks=2, maxticks=most)  # type: ignore[no-untyped-call]
        axis.set_major_locator(locator)
        axis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    elif kind == "duration":
        axis.set_major_locator(DurationLocator(max(3, ticks - 2)))  # '30 min' is wide
        axis.set_major_formatter(DurationFormatter())


def count_log(low: float, high: float, parts: Sequence[float]) -> int:
    """Count such parts of the powers of ten between two numbers.

    Examples
    --------
    >>> count_log(1.0, 100.0, (1.0, 2.0, 5.0))
    7
    """
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    places = np.outer(powers, parts)
    return int(((places >= low) & (places <= high)).sum())


def log_text(value: float, position: int | None) -> str:  # noqa: ARG001
    """Write the number at a tick (a function with a name, so that figures can be pickled)."""
    return format_rounded_number(value, 3)


def in_calendar(ends: tuple[float, float]) -> bool:
    """Tell the same of days since 1970."""
    return CALENDAR[0] <= ends[0] and ends[1] <= CALENDAR[1] + 1


def axis_name(result: Result, length: int) -> str:
    """Name the axis of a feature."""
    words = result.captions.axis(result.name)
    return places_name(words, find_result_axis_kind(result), reach(result), length)


def places_name(name: str, kind: AxisKind, ends: tuple[float, float], length: int) -> str:
    """Name an axis that reaches from one end to another."""
    unit = " (days since 1970)" if kind == "date" and not in_calendar(ends) else ""
    return fit_name(name, length) + unit


def write_only_value(result: Result) -> str:
    """Write the one value of a constant feature."""
    value, kind = reach(result)[0], find_result_axis_kind(result)
    if result.labels:
        return f"one level '{fit_name(result.labels[0], 20)}'"
    return (
        f"one value {value:.6g}"
        if kind == "number"
        else f"one value {format_axis_value(value, kind)}"
    )
