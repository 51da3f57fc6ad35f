"""How far the axis of slopes reaches where a curve jumps: jumps have no slope to compare with."""

from __future__ import annotations

import numpy as np

from rhale.kernels import BoolArray, FloatArray
from rhale.results.result import Result

MAX_SLOPE_RANGE_RATIO = 3.0  # as far as the others: less is shown whole
CUT_SLOPE_MARGIN = 0.5  # of the reach of the others: room in which a cut bar is seen to go on
MIN_CHANGE_OUTSIDE_JUMPS = 0.2  # of the jumps: a curve that moves less elsewhere is all jumps


def reach_slopes(result: Result) -> tuple[float, float] | None:
    """Choose the lowest and the highest slope that is shown; None shows all of them.

    Notes
    -----
    The slope of a bin that holds a jump says how narrow the bin is. Drawn whole, it would leave
    nothing to see of the others, unless the curve hardly moves there.
    """
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
