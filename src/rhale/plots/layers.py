"""What all plots are made of: curve, spread, uncertainty, support, gaps. One layer a function."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from rhale.kernels.curve import Center
from rhale.kernels.times import UNITS
from rhale.plots import style
from rhale.plots.lettering import joined, shown
from rhale.results.result import Result, Trace, axis_kind

FEW_VALUES = 4
CENTRED = {"mean": "centred", "start": "zero at the start", "uniform": "centred over x"}


def value_label(
    results: Sequence[Result], center: Center | None, length: int, *, each: bool = False
) -> str:
    """Say what the y axis of a curve shows: the outputs by name, or each of them."""
    profiles = all(result.quantity == "prediction" for result in results)
    kind = "prediction of" if center is None or profiles else "effect on"
    names = joined([result.output for result in results], max(8, length - len(kind)))
    zero = "" if center is None else f"\n({CENTRED[center]})"
    return f"{kind} {'each output' if each else names}{zero}"


def slope_label(result: Result, length: int) -> str:
    """Write the derivative."""
    unit = UNITS[axis_kind(result)]
    words = (result.output, result.name)
    output, name = (shown(word, max(6, length // 2 - 4)) for word in words)
    return f"d {output} / d {name}" + (f", per {unit}" if unit else "")


def interval_name(level: float) -> str:
    """Say what the ribbon is.

    Examples
    --------
    >>> interval_name(0.95)
    '95 % interval of the mean'
    """
    return f"{100 * level:.4g} % interval of the mean"


def draw_zero(ax: Axes) -> None:
    """Draw the line of no effect."""
    ax.axhline(0.0, color=style.ZERO_LINE, linewidth=style.THIN_LINE, zorder=0.5, gid="rhale:zero")


def draw_curve(ax: Axes, path: Trace, label: str, look: style.Look) -> Artist:
    """Draw the mean."""
    (line,) = ax.plot(path.x, path.curve, color=look.colour, linestyle=look.dash, label=label)
    line.set(linewidth=style.LINE_WIDTH, gid="rhale:curve", zorder=4)
    return line


def draw_spread(ax: Axes, path: Trace) -> list[Artist]:
    """Draw the band that says how rows differ; nothing where it is not known."""
    if not np.isfinite(path.spread).any():
        return []
    band = ax.fill_between(path.x, path.curve - path.spread, path.curve + path.spread)
    band.set(color=style.SPREAD, alpha=style.SPREAD_ALPHA, linewidth=0, zorder=1)
    band.set(gid="rhale:spread", label="± spread between rows")
    return [band]


def draw_ci(ax: Axes, path: Trace, level: float, colour: str = style.UNCERTAINTY) -> list[Artist]:
    """Draw the ribbon that says how well the mean is known; nothing where it is not known."""
    if not np.isfinite(path.low).any():
        return []
    ribbon = ax.fill_between(path.x, path.low, path.high)
    ribbon.set(facecolor=colour, edgecolor=colour, alpha=style.UNCERTAINTY_ALPHA, zorder=3)
    ribbon.set(linewidth=style.HAIR_LINE, gid="rhale:ci", label=interval_name(level))
    return [ribbon]


def draw_counts(ax: Axes, result: Result) -> list[Artist]:
    """Draw a strip along the x axis that is high where there are many rows."""
    support = result.support()
    limits, density = support.limits, support.density
    if not density.max() > 0:
        return []
    height = np.where(density > 0, np.maximum(density / density.max(), style.STRIP_FLOOR), 0.0)
    strip = ax.fill_between(
        limits,
        0.0,
        style.STRIP_HEIGHT * np.append(height, height[-1]),
        step="post",
        transform=ax.get_xaxis_transform(),
    )
    strip.set(color=style.COUNT, alpha=style.COUNT_ALPHA, linewidth=0, zorder=2)
    strip.set(gid="rhale:counts", label="where rows are")
    values = np.unique(support.values)
    if 0 < values.size <= FEW_VALUES:
        ax.set_xticks(values)  # two classes have no tick between them
    return [strip]


def draw_gaps(ax: Axes, result: Result) -> list[Artist]:
    """Hatch the bins that have no rows."""
    gaps: list[Artist] = []
    for left, right in result.support().gaps:
        gap = ax.axvspan(left, right, facecolor="none", hatch="////")
        gap.set(edgecolor=style.COUNT, alpha=0.35, linewidth=0, zorder=0.4)
        gap.set(gid="rhale:empty", label="no rows")
        gaps.append(gap)
    return gaps[:1]
