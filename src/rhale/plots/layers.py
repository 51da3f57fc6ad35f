"""What all plots are made of: curve, spread, uncertainty, support, gaps. One layer a function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from rhale.kernels import FloatArray
from rhale.kernels.curve import Center
from rhale.kernels.grid import uniform_edges
from rhale.kernels.times import UNITS, AxisKind
from rhale.plots import style
from rhale.plots.text import joined, shown
from rhale.results.effect import Effect, normal_quantile
from rhale.results.level_effect import LevelEffect
from rhale.results.profile import Profile

Result = Effect | LevelEffect | Profile
N_POINTS = 401  # between the limits, besides the limits: a quadratic looks smooth
N_SUPPORT_CELLS = 80
FEW_VALUES = 4
CENTRED = {"mean": "centred", "start": "zero at the start", "uniform": "centred over x"}


class Trace(NamedTuple):
    """A curve to draw, with its band and ribbon; all of shape (n_points,)."""

    x: FloatArray
    curve: FloatArray
    spread: FloatArray
    low: FloatArray
    high: FloatArray


def is_constant(result: Result) -> bool:
    """Tell whether the feature has only one value, so that there is no curve."""
    low, high = reach(result)
    return low == high


def has_levels(result: Result) -> bool:
    """Tell whether the feature has levels, which are drawn as dots."""
    return isinstance(result, LevelEffect) or (isinstance(result, Profile) and bool(result.levels))


def kind_of(result: Result) -> AxisKind:
    """What the values of the feature are."""
    return "number" if isinstance(result, LevelEffect) else result.kind


def reach(result: Result) -> tuple[float, float]:
    """First and last value of the feature."""
    axis = result.grid if isinstance(result, Profile) else result.edges
    return float(axis[0]), float(axis[-1])


def trace(result: Result, center: Center | None, level: float, n_points: int = N_POINTS) -> Trace:
    """Read the curve wherever it bends, or at the levels."""
    if isinstance(result, Profile):
        x = result.grid[np.isfinite(result.mean)]
        low, high = result.ci(x, level=level, center=center)
        spread = result.spread(x, center=center)
        return Trace(x, result.curve(x, center=center), spread, low, high)
    zero: Center = "mean" if center is None else center
    if isinstance(result, LevelEffect):
        low, high = result.ci(level=level, center=zero)
        return Trace(result.edges, result.curve(center=zero), result.spread(), low, high)
    x = np.union1d(result.edges, np.linspace(result.edges[0], result.edges[-1], n_points))
    low, high = result.ci(x, level=level, center=zero)
    return Trace(x, result.curve(x, center=zero), result.spread(x), low, high)


def missing_trace(result: Result, center: Center | None, level: float) -> Trace | None:
    """Read the one point of missing values; None where it was not measured.

    Notes
    -----
    A curve that is zero on average over the rows is zero at their average prediction, so the
    change of that average is a point on the same scale. How rows differ without a value, once
    their own curves are centred, a partial dependence does not tell; its interval is then that
    of the uncentred mean, which is too wide rather than too narrow.
    """
    if (missing := result.missing) is None or not np.isfinite(missing.mean):
        return None
    mean, spread = missing.mean + level_shift(result, center), missing.std
    if isinstance(result, Profile) and center is not None and result.method != "mplot":
        spread = np.nan
    reach = normal_quantile(level) * missing.standard_error
    return Trace(*np.array([[np.nan], [mean], [spread], [mean - reach], [mean + reach]]))


def level_shift(result: Result, center: Center | None) -> float:
    """What to add to a mean of missing values, so that it stands where the curve does."""
    if isinstance(result, Profile):
        return -float(result.centring(center) @ np.nan_to_num(result.mean))
    if center is None or is_constant(result):
        return 0.0
    if isinstance(result, LevelEffect):
        return float((result.curve(center=center) - result.curve())[0])
    return float(result.curve(result.edges[0], center=center) - result.curve(result.edges[0]))


def value_label(
    results: Sequence[Result], center: Center | None, length: int, *, each: bool = False
) -> str:
    """Say what the y axis of a curve shows: the outputs by name, or each of them."""
    profiles = all(isinstance(result, Profile) for result in results)
    kind = "prediction of" if center is None or profiles else "effect on"
    names = joined([result.output for result in results], max(8, length - len(kind)))
    zero = "" if center is None else f"\n({CENTRED[center]})"
    return f"{kind} {'each output' if each else names}{zero}"


def slope_label(result: Result, length: int) -> str:
    """Write the derivative."""
    unit = UNITS[kind_of(result)]
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


def rows_at(result: Result) -> tuple[FloatArray, FloatArray]:
    """Feature values of known rows and their weights; none where no rows were kept."""
    if isinstance(result, Effect):
        return result.sample.x, result.sample.weight
    if isinstance(result, LevelEffect):
        return result.edges, result.level_weight
    return result.curve_x, np.ones(result.curve_x.size)


def support(result: Result) -> tuple[FloatArray, FloatArray]:
    """Where the rows are: limits, shape (n + 1,), and density between them, shape (n,)."""
    low, high = reach(result)
    x, weight = rows_at(result)
    if x.size:
        limits = uniform_edges(low, high, N_SUPPORT_CELLS)
        return limits, np.histogram(x, limits, weights=weight)[0] / np.diff(limits)
    if isinstance(result, Profile):
        middle = result.grid[:-1] + 0.5 * np.diff(result.grid)
        limits = np.concatenate([[low], middle, [high]])
        return limits, result.share / np.diff(limits)
    return result.edges, result.weight / np.diff(result.edges)


def draw_counts(ax: Axes, result: Result) -> list[Artist]:
    """Draw a strip along the x axis that is high where there are many rows."""
    limits, density = support(result)
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
    values = np.unique(rows_at(result)[0])
    if 0 < values.size <= FEW_VALUES:
        ax.set_xticks(values)  # two classes have no tick between them
    return [strip]


def draw_gaps(ax: Axes, effect: Effect) -> list[Artist]:
    """Hatch the bins that have no rows."""
    gaps: list[Artist] = []
    for k in np.flatnonzero(~effect.measured):
        gap = ax.axvspan(effect.edges[k], effect.edges[k + 1], facecolor="none", hatch="////")
        gap.set(edgecolor=style.COUNT, alpha=0.35, linewidth=0, zorder=0.4)
        gap.set(gid="rhale:empty", label="no rows")
        gaps.append(gap)
    return gaps[:1]
