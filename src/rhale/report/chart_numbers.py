"""One result as few plain numbers: what its chart, its sparkline and its table of bins show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.plots.layers import (
    Trace,
    has_levels,
    is_constant,
    kind_of,
    missing_trace,
    reach,
    support,
    trace,
)
from rhale.report.wording import UNITS, clean, unit_of
from rhale.results.effect import Effect
from rhale.results.level_effect import LevelEffect
from rhale.results.profile import Profile

Result = Effect | LevelEffect | Profile
Numbers = tuple[float | None, ...]  # None where a number is not known
Form = Literal["curve", "dates", "levels", "constant"]
LEVEL = 0.95  # of the intervals of the mean
N_POINTS = 121
TOLERANCE = 1 / 400  # of the height of a chart: a bend that is smaller is not drawn
DIGITS = 4
MOST_SINGLE_CURVES = 40
FEW_LEVELS = 3
LONGEST_LEVEL = 200
MILLISECONDS = 86_400_000.0


@dataclass(frozen=True)
class MissingPoint:
    """Where predictions without a value stand on the curve's scale."""

    y: float | None
    low: float | None
    high: float | None
    spread: float | None
    share: float


@dataclass(frozen=True)
class Bins:
    """Bins, or steps between levels: limits, rows, effect at both limits, and how sure it is.

    Numbers are per unit of the axis as drawn; steps between categories are whole steps.
    """

    left: Numbers = ()
    right: Numbers = ()
    count: tuple[int, ...] = ()
    mean: Numbers = ()
    slope: Numbers = ()
    std: Numbers = ()
    error: Numbers = ()


@dataclass(frozen=True)
class Shape:
    """What is drawn of one result.

    Attributes
    ----------
    form : {"curve", "dates", "levels", "constant"}
        Which kind of chart.
    x, y, spread, low, high : tuple of float
        The curve, how rows differ, the interval of the mean. Dates are milliseconds since 1970,
        durations are in `unit`, named levels are 0, 1, 2, ...
    dots : bool
        Whether the points are all there is: levels, and not points of a smooth curve.
    unit : str
        Unit of the axis: of durations, "day" for dates, nothing for numbers.
    bins : Bins
        Bins or steps; none for profiles.
    limits, rows : tuple of float
        Where the rows are: limits of a histogram (only the outer two if it has equal steps), and
        its heights from 0 to 100. For levels: no limits, and the rows of each.
    labels : tuple of str
        Names of levels, where they stand below one another.
    missing : MissingPoint or None
        The point of missing values.
    singles : tuple of tuple of float
        Curves of a few single rows, at `x`.
    """

    form: Form
    x: Numbers = ()
    y: Numbers = ()
    spread: Numbers = ()
    low: Numbers = ()
    high: Numbers = ()
    dots: bool = False
    unit: str = ""
    bins: Bins = Bins()
    limits: Numbers = ()
    rows: Numbers = ()
    labels: tuple[str, ...] = ()
    missing: MissingPoint | None = None
    singles: tuple[Numbers, ...] = ()


def shape_of(result: Result) -> Shape:
    """Read off a result what is drawn of it."""
    if is_constant(result):
        return Shape("constant")
    path = trace(result, "mean", LEVEL, N_POINTS)
    kept = np.arange(path.x.size)
    if not has_levels(result):
        kept = simplify(path)
    path = Trace(*(values[kept] for values in path))
    curve, spread, low, high = on_scale([path.curve, path.spread, path.low, path.high])
    limits, rows = where_rows_are(result)
    labels: tuple[str, ...] = ()
    if form_of(result) == "levels":
        labels = tuple(clean(n, LONGEST_LEVEL) for n in getattr(result, "levels", ()))
    return Shape(
        form_of(result),
        places(result, path.x),
        curve,
        spread,
        low,
        high,
        dots=has_levels(result),
        unit=axis_unit(result),
        bins=Bins() if isinstance(result, Profile) else bins_of(result),
        limits=limits,
        rows=rows,
        labels=labels,
        missing=missing_point(result),
        singles=single_curves(result, kept),
    )


def form_of(result: Result) -> Form:
    """Choose the kind of chart: names, and very few numbers, stand below one another."""
    if has_levels(result):
        levels: tuple[str, ...] = getattr(result, "levels", ())
        if len(levels) <= FEW_LEVELS or not all(map(is_number, levels)):
            return "levels"
    return "dates" if kind_of(result) == "date" else "curve"


def is_number(label: str) -> bool:
    """Tell whether the label of a level is a number.

    Examples
    --------
    >>> is_number("12"), is_number("False")
    (True, False)
    """
    try:
        return bool(np.isfinite(float(label)))
    except ValueError:
        return False


def axis_unit(result: Result) -> str:
    """Unit of the axis, in one word."""
    low, high = reach(result)
    return {"date": "day", "duration": unit_of(high - low), "number": ""}[kind_of(result)]


def factor(result: Result) -> float:
    """What a place on the axis is multiplied by to be drawn."""
    if kind_of(result) == "date":
        return MILLISECONDS
    return 1.0 / UNITS[axis_unit(result)] if kind_of(result) == "duration" else 1.0


def places(result: Result, x: FloatArray) -> Numbers:
    """Places on the axis as drawn."""
    if form_of(result) == "levels":
        return tuple(range(x.size))
    low, high = reach(result)
    return rounded(factor(result) * x, factor(result) * (high - low), DIGITS + 1)


def bins_of(effect: Effect | LevelEffect) -> Bins:
    """Bins, or steps between levels."""
    by: FloatArray | float = 1.0
    if kind_of(effect) == "duration":
        by = UNITS[axis_unit(effect)]
    elif form_of(effect) == "levels":
        by = np.diff(effect.edges)  # whole steps
    values = [by * v for v in (effect.mean, by * effect.slope, effect.std, effect.standard_error)]
    mean, slope, std, error = (rounded(v, float(np.nanmax(np.abs(v), initial=0.0))) for v in values)
    limits = places(effect, effect.edges)
    return Bins(limits[:-1], limits[1:], tuple(effect.count.tolist()), mean, slope, std, error)


def where_rows_are(result: Result) -> tuple[Numbers, Numbers]:
    """A histogram of the rows, or the rows of each level."""
    if isinstance(result, LevelEffect):
        return (), tuple(float(n) for n in result.level_count)
    if isinstance(result, Profile) and result.levels:
        return (), rounded(result.rows, 1.0, 0)
    limits, density = support(result)
    top, width = float(density.max()), np.diff(limits)
    if np.allclose(width, width.mean()):
        limits = limits[[0, -1]]
    return places(result, limits), rounded(100 * density / top, 1.0, 0) if top > 0 else ()


def missing_point(result: Result) -> MissingPoint | None:
    """The point of missing values, if it was measured."""
    path = missing_trace(result, "mean", LEVEL)
    if path is None or result.missing is None:
        return None
    y, low, high, spread = (known(float(v[0])) for v in path[1:2] + path[3:] + path[2:3])
    return MissingPoint(y, low, high, spread, float(result.missing.share))


def single_curves(result: Result, kept: IntArray) -> tuple[Numbers, ...]:
    """Curves of a few rows, evenly chosen by their order, each centred."""
    if not isinstance(result, Profile) or result.curves.size == 0 or has_levels(result):
        return ()
    points = np.flatnonzero(np.isfinite(result.mean))[kept]
    chosen = np.linspace(0, len(result.curves) - 1, MOST_SINGLE_CURVES).astype(int)
    curves = result.ice(center="mean")[np.unique(chosen)][:, points]
    span = float(np.ptp(curves))
    return tuple(rounded(curve, span, 3) for curve in curves)


def simplify(path: Trace) -> IntArray:
    """Positions of the points that a drawing needs (Ramer, Douglas and Peucker)."""
    lines = np.array([path.curve, path.low, path.high, path.curve + path.spread])
    lines = lines[np.isfinite(lines).all(axis=1)]
    if not lines.size:
        return np.arange(path.x.size)
    least, kept = TOLERANCE * float(np.ptp(lines)), {0, path.x.size - 1}
    todo = [(0, path.x.size - 1)]
    while todo:
        first, last = todo.pop()
        if last - first < 2:
            continue
        along = (path.x[first : last + 1] - path.x[first]) / (path.x[last] - path.x[first])
        ends = lines[:, [first]] + (lines[:, [last]] - lines[:, [first]]) * along
        off = np.abs(lines[:, first : last + 1] - ends).max(axis=0)
        worst = first + int(off.argmax())
        if off.max() > least:
            kept.add(worst)
            todo += [(first, worst), (worst, last)]
    return np.array(sorted(kept))


def on_scale(values: list[FloatArray]) -> list[Numbers]:
    """Round numbers that share an axis."""
    finite = np.concatenate([v[np.isfinite(v)] for v in values])
    span = float(np.ptp(finite)) if finite.size else 1.0
    return [rounded(v, span) for v in values]


def rounded(values: FloatArray, span: float, digits: int = DIGITS) -> Numbers:
    """Leave the digits that can be seen on an axis of this length.

    Examples
    --------
    >>> rounded(np.array([0.123456, np.nan]), 1.0)
    (0.1235, None)
    """
    decimals = 12
    if span > 0 and np.isfinite(span):
        decimals = int(np.clip(digits - np.floor(np.log10(span)), -300, 300))
    return tuple(known(round(v, decimals)) for v in np.asarray(values, dtype=float).tolist())


def known(value: float) -> float | None:
    """A number, or None if it is not finite; whole numbers without a fraction."""
    if not np.isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 1e15 else value
