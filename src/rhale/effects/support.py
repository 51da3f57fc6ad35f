"""Where the rows lie along an axis: quantiles, the part that pictures show, the rows that results share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from rhale.effects.curve import RowPlaces
from rhale.effects.effect import LocalEffects
from rhale.effects.result import Result, find_result_axis_kind, is_constant, reach
from rhale.output.number_format import MINUS_SIGN, AxisKind, format_axis_value, write_number
from rhale.stats.arrays import BoolArray, FloatArray, IntArray, as_frozen

MIDDLE = (0.05, 0.95)  # of the rows
SHOWN_QUANTILES = (0.01, 0.99)  # beyond these a picture may end
SQUEEZED = 1 / 3  # of the axis: less room for most of the rows is little
MORE_ROOM = 1.5  # that a logarithmic axis must give them
SECONDS_PER_UNIT = {"d": 86_400.0, "h": 3_600.0, "min": 60.0, "s": 1.0}


class ShownPart(NamedTuple):
    """The part of an axis that pictures show unless the user chooses another one."""

    low: float  # of all values, or the 1 % quantile of the rows
    high: float  # of all values, or the 99 % quantile
    is_log: bool = False
    beyond: str = ""  # how many rows are not shown, and how far they reach


def row_weights(result: Result) -> tuple[FloatArray, FloatArray]:
    """Values of the rows that are known, increasing, and their weights; both of shape (n_rows,)."""
    # A result knows the weight of the rows between its limits; rows between two limits share it,
    # unless each has kept its own. Without rows the middles of the limits have it.
    values, limits, density, _ = result.support()
    sample = getattr(result, "sample", None)
    if sample is not None and sample.x.size:
        order = np.argsort(sample.x, kind="stable")
        inside = (sample.x[order] >= limits[0]) & (sample.x[order] <= limits[-1])
        return sample.x[order][inside], sample.weight[order][inside]
    weight = density * np.diff(limits)
    if not values.size:
        return limits[:-1] + 0.5 * np.diff(limits), weight
    values = np.sort(values[(values >= limits[0]) & (values <= limits[-1])])
    cell = np.clip(np.searchsorted(limits, values, "right") - 1, 0, density.size - 1)
    return values, weight[cell] / np.bincount(cell, minlength=density.size)[cell]


def row_quantiles(
    result: Result, shares: tuple[float, ...], within: tuple[float, float] = (-np.inf, np.inf)
) -> FloatArray:
    """Weighted quantiles: least values with such shares (0 to 1) of the rows at or below them.

    Only rows `within` these values count; nan where there are none. Shape (n_shares,).
    """
    values, weight = row_weights(result)
    inside = (values >= within[0]) & (values <= within[1]) & (weight > 0)
    values, total = values[inside], np.cumsum(weight[inside])
    if not values.size:
        return np.full(len(shares), np.nan)
    wanted = np.asarray(shares) * total[-1] * (1 - 1e-12)  # rounding of the sum
    return np.asarray(values[np.searchsorted(total, wanted).clip(0, values.size - 1)])


def is_skewed(result: Result, within: tuple[float, float] | None = None) -> bool:
    """Tell whether the values of a feature are better read on a logarithmic axis.

    `within` are the ends of the part of the axis that is shown; all of it by default.
    """
    # They are where all are positive, where the middle 90 % of the rows would have less than a third
    # of a plain axis, and where a logarithmic one gives them half as much room again. So a
    # lognormal tail has such an axis, and an exponential or uniform feature does not: the many
    # small values of these would take the room instead.
    plain, logged = room_of_middle(result, within)
    return plain < SQUEEZED and logged >= MORE_ROOM * plain


def room_of_middle(
    result: Result, within: tuple[float, float] | None = None
) -> tuple[float, float]:
    """Shares of a plain and of a logarithmic axis that the middle 90 % of the rows take.

    All of the first and nothing of the second where there is no logarithmic axis.
    """
    if result.labels or find_result_axis_kind(result) != "number" or is_constant(result):
        return 1.0, 0.0
    low, high = reach(result) if within is None else within
    if not 0 < low < high:
        return 1.0, 0.0
    start, stop = row_quantiles(result, MIDDLE, (low, high))
    if not start < stop:
        return 1.0, 0.0
    return float((stop - start) / (high - low)), float(np.log(stop / start) / np.log(high / low))


def find_shown_part(
    *results: Result, scale: Literal["auto", "linear", "log"] = "auto"
) -> ShownPart:
    """Find the part of the axis that pictures show, and whether it is logarithmic.

    The results are of one feature; all that any of them shows is shown, and so are all levels.
    """
    low, high = min(reach(r)[0] for r in results), max(reach(r)[1] for r in results)
    first = results[0]
    if any(r.labels for r in results) or not low < high:
        return ShownPart(low, high)
    # Of positive numbers a logarithmic axis comes first: where it helps so far that the middle 90 %
    # of the rows have a third of it, and no one row in a hundred takes more of it than the 98 % (a
    # lone far value is far on any axis), all is shown along it.
    if scale == "auto" and is_skewed(first) and room_of_middle(first)[1] >= SQUEEZED:
        _, left, middle, right = rooms_of_tails(first, is_log=True)
        if max(left, right) <= middle:
            return ShownPart(low, high, is_log=True)
    # Few far values would leave no room for the others. An axis is cut at the 1 % or 99 % quantile
    # of the rows where the 98 % between these would have less than a third of it, on each side on
    # which one row in a hundred would take more room than these 98 %. Uniform, normal and
    # exponential features are never cut (from 200,000 rows on an exponential one may be).
    parts = []
    for result in results:
        if is_constant(result):
            continue
        (start, stop), left, middle, right = rooms_of_tails(result, is_log=scale == "log")
        if not middle < SQUEEZED * (left + middle + right):
            parts.append(reach(result))
            continue
        if result.parts == "points":  # a line between points that are known
            grid = result.axis
            start = float(grid[np.searchsorted(grid, start, "right") - 1])
            stop = float(grid[np.searchsorted(grid, stop)])
        ends = reach(result)
        parts.append((start if left > middle else ends[0], stop if right > middle else ends[1]))
    start, stop = min(part[0] for part in parts), max(part[1] for part in parts)
    is_log = scale == "log" or (scale == "auto" and is_skewed(first, (start, stop)))
    return ShownPart(start, stop, is_log, describe_rows_beyond(results, start, stop))


def rooms_of_tails(
    result: Result, *, is_log: bool
) -> tuple[tuple[float, float], float, float, float]:
    """The 1 % and 99 % quantiles, and the room before, between and behind them; nan for none."""
    low, high = reach(result)
    start, stop = map(float, row_quantiles(result, SHOWN_QUANTILES))
    if not low <= start < stop <= high or (is_log and not low > 0):
        return (low, high), np.nan, np.nan, np.nan
    ends = np.array([low, start, stop, high])
    left, middle, right = np.diff(np.log(ends) if is_log else ends).tolist()
    return (start, stop), left, middle, right


def describe_rows_beyond(results: Sequence[Result], low: float, high: float) -> str:
    """Say how many rows are beyond two values, and how far away; "" where none can be."""
    # rows are counted where one result has kept all of its own, without weights; else their share
    # is given
    first, last = min(reach(r)[0] for r in results), max(reach(r)[1] for r in results)
    if first >= low and last <= high:
        return ""
    beyond = total = 0.0
    n_beyond, is_known = 0, len(results) == 1
    for result in results:
        values, weight = row_weights(result)
        far = (values < low) | (values > high)
        beyond, total = beyond + float(weight[far].sum()), total + float(weight.sum())
        n_beyond += int(np.count_nonzero(far))
        is_known &= abs(result.total_rows - result.support().values.size) < 0.5
    count = "1 row" if n_beyond == 1 else f"{n_beyond:,} rows"
    if not (is_known and n_beyond):
        share = beyond / total if total > 0 else 0.0
        count = f"{100 * share:.1g} % of rows" if share >= 0.0005 else "few rows"
    kind = find_result_axis_kind(results[0])
    ends = (write_end(first, kind), write_end(last, kind))
    if first < low and last > high:
        return f"{count} beyond, from {ends[0]} to {ends[1]}"
    return f"{count} beyond, {f'up to {ends[1]}' if last > high else f'down to {ends[0]}'}"


def write_end(value: float, kind: AxisKind) -> str:
    """Write a far value in few letters.

    Examples
    --------
    >>> write_end(58.9, "number"), write_end(7200.0, "duration"), write_end(0.25, "date")
    ('58.9', '2 h', '1970-01-01')
    """
    if kind == "date":
        return format_axis_value(float(np.floor(value)), kind)
    unit = next((u for u, s in SECONDS_PER_UNIT.items() if abs(value) >= s), "s")
    words = f"{write_number(value / SECONDS_PER_UNIT[unit])} {unit}" if kind == "duration" else ""
    return (words or write_number(value)).replace("-", MINUS_SIGN)


def has_free_order(result: Result) -> bool:
    """Tell whether the feature has levels whose order means nothing: `explain` chose it."""
    return bool(result.labels) and any(note.kind == "order" for note in result.notes)


# --- How far the axis of slopes reaches where a curve jumps: jumps have no slope to compare with


MAX_SLOPE_RANGE_RATIO = 3.0  # as far as the others: less is shown whole
CUT_SLOPE_MARGIN = 0.5  # of the reach of the others: room in which a cut bar is seen to go on
MIN_CHANGE_OUTSIDE_JUMPS = 0.2  # of the jumps: a curve that moves less elsewhere is all jumps


def reach_slopes(result: Result) -> tuple[float, float] | None:
    """Choose the lowest and the highest slope that is shown; None shows all of them."""
    # The slope of a bin that holds a jump says how narrow the bin is. Drawn whole, it would leave
    # nothing to see of the others, unless the curve hardly moves there.
    held = hold_jumps(result)
    if not held.any():
        return None
    mean, std = (np.array(result.table()[name][: held.size]) for name in ("mean", "std"))
    rest = ~held & np.isfinite(mean)
    moved = np.abs(mean) * np.diff(result.axis)
    if not moved[rest].sum() > MIN_CHANGE_OUTSIDE_JUMPS * moved[held].sum():
        return None
    low, high = span(mean[rest], std[rest])
    lowest, highest = span(mean, std)
    room = high - low
    if highest - lowest <= MAX_SLOPE_RANGE_RATIO * room:
        return None
    return max(lowest, low - CUT_SLOPE_MARGIN * room), min(highest, high + CUT_SLOPE_MARGIN * room)


def hold_jumps(result: Result) -> BoolArray:
    """Tell which bins hold a jump, shape (n_bins,)."""
    left, right = result.axis[:-1], result.axis[1:]
    held = np.zeros(left.size, dtype=np.bool_)
    for jump in result.jumps:
        held |= (left < jump.start) & (jump.stop <= right)
    return held


def span(mean: FloatArray, std: FloatArray) -> tuple[float, float]:
    """Lowest and highest of no effect and of means with their deviations."""
    std = np.nan_to_num(std)
    return min(0.0, float(np.nanmin(mean - std))), max(0.0, float(np.nanmax(mean + std)))


# --- Rows that all effects of an explanation share: held once, and written once


def share_sample(effect: Any, column: FloatArray, weight: FloatArray) -> LocalEffects | None:
    """The sample of an effect, on these rows instead of its own; None if they differ in a bit.

    `column` holds the values of its feature in the sampled rows, nan where missing; both arrays are
    of shape (n_rows,).
    """
    x, known = effect.locate_sample(column)
    sample, weight = effect.sample, take(weight, known)
    if (x.tobytes(), weight.tobytes()) != (sample.x.tobytes(), sample.weight.tobytes()):
        return None
    return LocalEffects(x, sample.local_effects, weight)


def hold_once(sample_x: FloatArray, sample_weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sampled rows as effects may share them: columns side by side in memory, nothing to change."""
    columns, weight = np.array(sample_x, order="F"), sample_weight.view()
    weight.flags.writeable = False
    return as_frozen(columns), weight


def take(array: FloatArray, rows: IntArray) -> FloatArray:
    """Some rows of an array; the array itself where these are all of them, in order."""
    is_all = rows.size == array.size and bool(np.all(rows == np.arange(rows.size)))
    return array if is_all else array[rows]


def same_places(one: Any, other: Any) -> bool:
    """Whether row places are the same to the bit."""
    if not (isinstance(one, RowPlaces) and isinstance(other, RowPlaces)):
        return False
    return all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))
