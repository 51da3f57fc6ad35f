"""The numbers of one result that its chart, its sparkline and its table show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, Literal, Protocol, cast

import numpy as np

from rhale.effects.effect import Effect
from rhale.effects.result import Result, Trace, find_result_axis_kind, is_constant, reach
from rhale.effects.staircase import MAX_JUMP_LABELS
from rhale.effects.support import (
    ShownPart,
    find_shown_part,
    has_free_order,
    reach_slopes,
    row_weights,
)
from rhale.report.sentences import DURATION_UNITS, clean, named_output, unit_of
from rhale.stats.arrays import BoolArray, FloatArray, IntArray
from rhale.stats.distributions import CONFIDENCE_LEVEL

Numbers = tuple[float | None, ...]  # None where a number is not known
Form = Literal["curve", "dates", "levels", "constant"]
N_CHART_POINTS = 121
TOLERANCE = 1 / 400  # of the height of a chart: a bend that is smaller is not drawn
MAX_CURVE_POINTS = 160  # of a curve: steps of many trees are too fine to be seen one by one
CHART_DIGITS = 4
MOST_SINGLE_CURVES = 40
MOST_ROW_LINES, ROW_STEPS = 50, 999  # curves of rows beside an effect, and heights told apart
MAX_NUMERIC_LEVELS_AS_NAMES = 3
MAX_CHART_LEVEL_LETTERS = 200
MILLISECONDS = 86_400_000.0
N_PART_CELLS = 80  # of the histogram below a logarithmic axis, or a part of one
LONGEST_TITLE = 80  # letters beside an axis


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
    """Bins, or steps between levels: limits, rows, effect in the middle, its tilt, how sure it is.

    Effects are per `Shape.unit`, and steps between categories are whole steps. `slope` is how they
    change along the axis as drawn (dates: per day and millisecond), so that `slope` times a
    distance on that axis is a difference of effects; bins of a stepped curve are flat.
    """

    left: Numbers = ()
    right: Numbers = ()
    count: tuple[int, ...] = ()
    mean: Numbers = ()
    slope: Numbers = ()
    std: Numbers = ()
    error: Numbers = ()


@dataclass(frozen=True)
class Line:
    """A curve, how rows differ around it, and the interval of the mean; fields as in `Shape`."""

    x: Numbers
    y: Numbers
    spread: Numbers
    low: Numbers
    high: Numbers


@dataclass(frozen=True)
class RowLines:
    """Curves of sampled rows beside that of an effect; places as in `Shape`."""

    x: Numbers  # places; of levels that stand below one another 0, 1, 2,
    low: float  # low, step: what 0 of the rows is, and what 1 is more
    step: float
    # how far each row is off the curve at these places, in whole numbers from 0 to
    # `ROW_STEPS`, so that pages stay small.
    rows: tuple[tuple[int, ...], ...]
    # first, last: the outermost places that each row was moved to: beyond them it is
    # estimated.
    first: tuple[int, ...]
    last: tuple[int, ...]
    told: str  # how many rows they are, of how many


@dataclass(frozen=True)
class Shape:
    """What is drawn of one result."""

    form: Form  # which kind of chart
    # x, y, spread, low, high: the curve, how rows differ, the interval of the mean. Dates are
    # milliseconds since 1970, durations are in `unit`, named levels are 0, 1, 2, ...
    x: Numbers = ()
    y: Numbers = ()
    spread: Numbers = ()
    low: Numbers = ()
    high: Numbers = ()
    # whether the points are all there is: levels, and not points of a smooth curve.
    dots: bool = False
    unit: str = ""  # unit of the axis: of durations, "day" for dates, nothing for numbers.
    bins: Bins = Bins()  # bins or steps; none for profiles
    # limits, rows: where the rows are: limits of a histogram (only the outer two if it has
    # equal steps), and its heights from 0 to 100. For levels: no limits, and the rows of
    # each.
    limits: Numbers = ()
    rows: Numbers = ()
    labels: tuple[str, ...] = ()  # names of levels, where they stand below one another
    missing: MissingPoint | None = None  # the point of missing values
    singles: tuple[Numbers, ...] = ()  # curves of a few single rows, at `x`
    row_lines: RowLines | None = None  # curves of sampled rows, which a reader may ask for
    # the curve with its small steps evened out, where that can be told from the curve.
    smooth: Line | None = None
    # reach, jumps: ends of the axis of slopes where bars of jumps are cut; the place and size
    # of each jump.
    reach: Numbers = ()
    jumps: tuple[Numbers, ...] = ()
    log: bool = False  # whether the axis is logarithmic
    sorted: bool = False  # whether levels, which have no order of their own, stand by their effect.
    # what stands beside the axes: of the effect, of the feature, of slopes.
    titles: tuple[str, ...] = ()
    # ends of the part of the axis that is shown at first; nothing where all of it is.
    shown: Numbers = ()
    beyond: str = ""  # what this leaves out, in words


def shape_of(result: Result, *, sampled: bool = False) -> Shape:
    """Read off a result what is drawn of it; with `sampled`, curves of sampled rows, too."""
    if is_constant(result):
        return Shape("constant")
    form, part = form_of(result), find_shown_part(result)
    path = trace_along(result, part)
    kept = order_chart_levels(result) if result.labels else simplify_parts(path, part)
    limits, rows = count_chart_rows(result, part)
    labels = (
        tuple(clean(result.labels[i], MAX_CHART_LEVEL_LETTERS) for i in kept)
        if result.labels
        else ()
    )
    by_effect = form == "levels" and has_free_order(result)
    # the one step between two levels says the same again, and an order may mean nothing
    has_steps = form != "levels" or not (by_effect or len(result.labels) == 2)
    return Shape(
        form,
        **vars(make_chart_line(result, path, kept, part)),
        dots=bool(result.labels),
        unit=axis_unit(result),
        bins=make_chart_bins(result, part) if has_steps else Bins(),
        limits=limits,
        rows=rows,
        labels=labels if form == "levels" else (),
        missing=missing_point(result),
        singles=single_curves(result, path.x[kept], kept, part),
        row_lines=row_lines(result) if sampled else None,
        smooth=smooth_line(result, path, part),
        **find_slope_reach(result),
        log=part.is_log,
        sorted=by_effect,
        titles=titles_of(result),
        **tell_shown(result, part),
    )


def tell_shown(result: Result, part: ShownPart) -> dict[str, Any]:
    """Which part of the axis is shown, and what that leaves out; nothing where all is shown."""
    if not part.beyond:
        return {}
    return {"shown": places(result, np.array(part[:2]), part), "beyond": part.beyond}


def make_chart_line(result: Result, path: Trace, kept: IntArray, part: ShownPart) -> Line:
    """Some points of what is drawn, with the digits that can be seen."""
    x, *heights = (values[kept] for values in path)
    return Line(places(result, x, part), *on_scale(heights, is_inside(x, part)))


def smooth_line(result: Result, path: Trace, part: ShownPart) -> Line | None:
    """The curve without its small steps; None where the difference could not be seen."""
    if not steps_differ(result, path):
        return None
    even = trace_along(result, part, smooth=True)
    return make_chart_line(result, even, simplify_parts(even, part), part)


def trace_along(result: Result, part: ShownPart, *, smooth: bool = False) -> Trace:
    """What is drawn, at places that are close together on the axis as it is shown."""
    path = result.trace("mean", CONFIDENCE_LEVEL, N_CHART_POINTS, smooth=smooth)
    first, last = reach(result)
    low, high = max(part.low, first), min(part.high, last)
    if result.labels or not low < high:
        return path
    if result.parts == "points" or (result.stairs is not None and not smooth):
        return with_places(path, np.array([low, high]))  # straight from point to point, or flat
    if not (part.is_log or part.beyond):
        return path
    even = (np.geomspace if part.is_log else np.linspace)(low, high, N_CHART_POINTS).clip(low, high)
    x = np.union1d(path.x, np.append(even, [low, high]))
    curve, spread = result.curve(x, smooth=smooth), result.spread(x)
    return Trace(x, curve, spread, *result.ci(x, level=CONFIDENCE_LEVEL, smooth=smooth))


def with_places(path: Trace, x: FloatArray) -> Trace:
    """The same with points at other places, too, which lie between its own; jumps stay."""
    new = x[~np.isin(x, path.x)]
    at = np.searchsorted(path.x, new)
    heights = (np.insert(v, at, np.interp(new, path.x, v)) for v in path[1:])
    return Trace(np.insert(path.x, at, new), *heights) if new.size else path


def is_inside(x: FloatArray, part: ShownPart) -> BoolArray:
    """Tell which places are shown at first."""
    return np.asarray((x >= part.low) & (x <= part.high))


def simplify_parts(path: Trace, part: ShownPart) -> IntArray:
    """Positions of the points that a drawing of all needs, and one of the part that is shown."""
    lines = np.array([path.curve, path.low, path.high, path.curve + path.spread])
    return thin_parts(path.x, lines, part)


def thin_parts(x: FloatArray, lines: FloatArray, part: ShownPart) -> IntArray:
    """The same for any lines over the same places, (n_lines, n_x)."""
    seen, inside = np.log(x) if part.is_log else x, np.flatnonzero(is_inside(x, part))
    kept = thin(seen, lines)
    if not part.beyond or inside.size < 2:
        return kept
    return np.union1d(kept, inside[thin(seen[inside], lines[:, inside])])


def order_chart_levels(result: Result) -> IntArray:
    """Places of the levels as they are drawn: without an order of their own the highest first."""
    if form_of(result) != "levels" or not has_free_order(result):
        return np.arange(len(result.labels))
    heights = result.trace("mean", CONFIDENCE_LEVEL, N_CHART_POINTS).curve
    return np.asarray(np.argsort(-np.nan_to_num(heights, nan=-np.inf), kind="stable"))


def titles_of(result: Result) -> tuple[str, str, str]:
    """What stands beside the axes: of the effect, of the feature, of slopes."""
    captions, kind = result.captions, find_result_axis_kind(result)
    unit = captions.unit(result.name) if kind == "number" else axis_unit(result)
    place = captions.axis(result.name)
    if kind == "duration":
        place = f"{captions.feature(result.name)} ({axis_unit(result)})"
    slope = f"slope: change per {unit or 'unit'}"
    value = f"effect on {named_output(captions, result.output, unit=True)}"
    return tuple(clean(words, LONGEST_TITLE) for words in (value, place, slope))  # type: ignore[return-value]


def steps_differ(result: Result, path: Trace) -> bool:
    """Tell whether the curve without its small steps can be told from the curve."""
    if result.stairs is None:
        return False
    moved = result.curve(path.x, smooth=True) - result.curve(path.x)
    return bool(np.abs(moved).max() > TOLERANCE * np.ptp(path.curve))


def form_of(result: Result) -> Form:
    """Choose the kind of chart: names, and very few numbers, stand below one another."""
    labels = result.labels
    if labels and (
        len(labels) <= MAX_NUMERIC_LEVELS_AS_NAMES or not all(map(is_numeric_label, labels))
    ):
        return "levels"
    return "dates" if find_result_axis_kind(result) == "date" else "curve"


def is_numeric_label(label: str) -> bool:
    """Tell whether the label of a level is a number.

    Examples
    --------
    >>> is_numeric_label("12"), is_numeric_label("False")
    (True, False)
    """
    try:
        return bool(np.isfinite(float(label)))
    except ValueError:
        return False


def axis_unit(result: Result) -> str:
    """Unit of the axis, in one word: of durations one that suits the part that is shown."""
    kind = find_result_axis_kind(result)
    if kind != "duration":
        return {"date": "day", "number": ""}[kind]
    part = find_shown_part(result)
    return unit_of(part.high - part.low)


def factor(result: Result) -> float:
    """What a place on the axis is multiplied by to be drawn."""
    if find_result_axis_kind(result) == "date":
        return MILLISECONDS
    return (
        1.0 / DURATION_UNITS[axis_unit(result)]
        if find_result_axis_kind(result) == "duration"
        else 1.0
    )


def places(result: Result, x: FloatArray, part: ShownPart | None = None) -> Numbers:
    """Places on the axis as drawn, with digits for the part that is shown."""
    if form_of(result) == "levels":
        return tuple(range(x.size))
    low, high = reach(result) if part is None else part[:2]
    seen = min(high - low, 100 * low) if low > 0 else high - low  # on a logarithmic axis, too
    return round_for_chart(factor(result) * x, factor(result) * seen, CHART_DIGITS + 1)


def make_chart_bins(effect: Result, part: ShownPart | None = None) -> Bins:
    """Bins, or steps between levels; nothing for points."""
    if effect.parts == "points":
        return Bins()
    is_named = form_of(effect) == "levels"
    by = np.diff(effect.axis) if is_named else slope_unit(effect)  # whole steps, or per unit
    limits, table = places(effect, effect.axis, part), effect.table()
    n_bins = len(limits) - 1  # without the row of missing values
    names = ("mean", "slope", "std", "standard_error")
    mean, slope, std, error = (by * np.array(table[name][:n_bins]) for name in names)
    tilt = slope / factor(effect) if effect.stairs is None else 0.0 * slope
    shown = [
        round_for_chart(v, float(np.nanmax(np.abs(v), initial=0.0)))
        for v in (mean, tilt, std, error)
    ]
    return Bins(limits[:-1], limits[1:], tuple(table["count"][:n_bins]), *shown)


def find_slope_reach(result: Result) -> dict[str, Any]:
    """Say how far the axis of slopes reaches, and where jumps go on beyond; nothing if none do."""
    found = reach_slopes(result)
    if found is None:
        return {}
    ends = np.array(found) * slope_unit(result)
    largest = sorted(result.jumps, key=lambda jump: -abs(jump.size))[:MAX_JUMP_LABELS]
    sizes = np.array([jump.size for jump in largest])
    middles = np.array([jump.start + (jump.stop - jump.start) / 2 for jump in largest])
    shown_sizes = round_for_chart(sizes, float(np.abs(sizes).max()))
    return {
        "reach": round_for_chart(ends, float(np.ptp(ends))),
        "jumps": tuple(zip(places(result, middles), shown_sizes, strict=True)),
    }


def slope_unit(result: Result) -> float:
    """What slopes are multiplied by to be those per unit of the axis."""
    return DURATION_UNITS[axis_unit(result)] if find_result_axis_kind(result) == "duration" else 1.0


def count_chart_rows(result: Result, part: ShownPart) -> tuple[Numbers, Numbers]:
    """A histogram of the rows, or the rows of each level.

    Its cells are equally wide on the axis; what lies beyond the part that is shown is one cell.
    """
    if result.labels:
        return (), round_for_chart(result.level_rows().rows[order_chart_levels(result)], 1.0, 0)
    limits, density = count_along(result, part)
    top, width = float(density.max()), np.diff(limits)
    if not part.beyond and (part.is_log or np.allclose(width, width.mean())):
        limits = limits[[0, -1]]
    heights = round_for_chart(100 * density / top, 1.0, 0) if top > 0 else ()
    return places(result, limits, part), heights


def count_along(result: Result, part: ShownPart) -> tuple[FloatArray, FloatArray]:
    """Limits of cells along the axis as it is shown, and the weight of rows by their length."""
    _, limits, density, _ = result.support()
    if not (part.is_log or part.beyond) or not part.low < part.high:
        return limits, density
    limits = (np.geomspace if part.is_log else np.linspace)(*part[:2], N_PART_CELLS + 1)
    limits[[0, -1]] = part[:2]
    limits = np.union1d(limits, reach(result))
    values, weight = row_weights(result)
    counted = np.histogram(values, limits, weights=weight)[0]
    return limits, counted / np.diff(np.log(limits) if part.is_log else limits)


def missing_point(result: Result) -> MissingPoint | None:
    """The point of missing values, if it was measured."""
    path = result.missing_trace("mean", CONFIDENCE_LEVEL)
    if path is None or result.missing is None:
        return None
    y, low, high, spread = (finite_or_none(float(v[0])) for v in path[1:2] + path[3:] + path[2:3])
    return MissingPoint(y, low, high, spread, float(result.missing.share))


def single_curves(
    result: Result, x: FloatArray, kept: IntArray, part: ShownPart
) -> tuple[Numbers, ...]:
    """Curves of a few rows, where a line can show them."""
    curves = result.single_curves(MOST_SINGLE_CURVES)
    if result.labels or not curves.size:
        return ()
    curves = curves[:, kept]
    seen = curves[:, is_inside(x, part)]
    span = float(np.ptp(seen if seen.size else curves))
    return tuple(round_for_chart(curve, span, 3) for curve in curves)


def row_lines(result: Result) -> RowLines | None:
    """Curves of sampled rows, evenly chosen along the feature; None where none were kept."""
    spread = getattr(result, "row_spread", None)  # of profiles and refits there is none
    if spread is None:
        return None
    every = cast(Effect, result).row_curves()
    if not every.row.size:
        return None
    curves = every.choose(MOST_ROW_LINES)
    n_kept, n_shown = every.row.size, curves.row.size
    kept = order_chart_levels(result) if result.labels else np.arange(spread.places.size)
    mean = cast(Effect, result).curve(None if result.labels else spread.places)
    off = (curves.heights - mean)[:, kept]
    low, step = float(off.min()), (float(np.ptp(off)) or 1.0) / ROW_STEPS
    steps = np.rint((off - low) / step).astype(np.intp)
    return RowLines(
        x=places(result, spread.places[kept]),
        low=low,
        step=step,
        rows=tuple(map(tuple, steps.tolist())),
        first=tuple(curves.first.tolist()),
        last=tuple(curves.last.tolist()),
        told=f"{n_shown} of {n_kept} rows" if n_shown < n_kept else f"{n_kept} rows",
    )


def simplify(path: Trace, most: int = MAX_CURVE_POINTS, height: float | None = None) -> IntArray:
    """Positions of the points that a drawing of some height needs (Ramer, Douglas and Peucker).

    The point that is farthest off comes first, so that of too many steps the smallest are lost.
    """
    lines = np.array([path.curve, path.low, path.high, path.curve + path.spread])
    return thin(path.x, lines, most, height)


def thin(
    x: FloatArray, lines: FloatArray, most: int = MAX_CURVE_POINTS, height: float | None = None
) -> IntArray:
    """Do the same for any lines over the same places, (n_lines, n_x); unknown ones do not count."""
    lines = lines[np.isfinite(lines).all(axis=1)]
    if not lines.size:
        return np.arange(x.size)
    height = float(np.ptp(lines)) if height is None else height
    least, kept = TOLERANCE * height, [0, x.size - 1]
    todo = [farthest(x, lines, 0, x.size - 1)]
    while todo and len(kept) < most:
        off, first, worst, last = heappop(todo)
        if -off > least:
            kept.append(worst)
            heappush(todo, farthest(x, lines, first, worst))
            heappush(todo, farthest(x, lines, worst, last))
    return np.array(sorted(kept))


def farthest(
    x: FloatArray, lines: FloatArray, first: int, last: int
) -> tuple[float, int, int, int]:
    """The point between two that is farthest off the straight lines from one to the other.

    Return its distance, negative so that the farthest one is the smallest tuple, and the positions
    of the first end, the point and the last end.
    """
    if last - first < 2:
        return 0.0, first, first, last
    span = x[last] - x[first]  # none between two points of a jump
    along = (x[first : last + 1] - x[first]) / (span if span > 0 else 1.0)
    ends = lines[:, [first]] + (lines[:, [last]] - lines[:, [first]]) * along
    off = np.abs(lines[:, first : last + 1] - ends).max(axis=0)
    off[[0, -1]] = 0.0  # of a jump the second end is not on the line through the first
    return -float(off.max()), first, first + int(off.argmax()), last


def on_scale(values: list[FloatArray], inside: BoolArray | None = None) -> list[Numbers]:
    """Round numbers that share an axis, by those inside of what is shown of it."""
    seen = values if inside is None or not inside.any() else [v[inside] for v in values]
    finite = np.concatenate([v[np.isfinite(v)] for v in seen])
    span = float(np.ptp(finite)) if finite.size else 1.0
    return [round_for_chart(v, span) for v in values]


def round_for_chart(values: FloatArray, span: float, digits: int = CHART_DIGITS) -> Numbers:
    """Leave the digits that can be seen on an axis of this length."""
    decimals = 12
    if span > 0 and np.isfinite(span):
        decimals = int(np.clip(digits - np.floor(np.log10(span)), -300, 300))
    return tuple(
        finite_or_none(round(v, decimals)) for v in np.asarray(values, dtype=float).tolist()
    )


def finite_or_none(value: float) -> float | None:
    """A number, or None if it is not finite; whole numbers without a fraction."""
    if not np.isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 1e15 else value


# --- The shape of a curve as a tiny picture: the path of an inline SVG


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


def write_sparkline_path(shape: Curve, reach: float = 0.0) -> str:
    """Write the curve as the path of a picture of WIDTH by HEIGHT; levels become short strokes.

    It is as high as the picture; with a reach it is where it is between -reach and reach.
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
    down = [-y for _, y in points] + [reach, -reach] * (reach > 0)
    up = scaled(down, SPARKLINE_MARGIN, SPARKLINE_HEIGHT - SPARKLINE_MARGIN)[: len(points)]
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
