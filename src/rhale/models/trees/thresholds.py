"""Thresholds of trees in the user's own units."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rhale.models.trees.forest import LIGHTGBM_ZERO, NUMBER, ROUNDED_TO_ZERO, Forest
from rhale.stats.arrays import FloatArray

FLOAT32_OVERFLOW = 2.0**128  # where the next float32 would be


def own_cuts(forest: Forest, feature: int) -> FloatArray | None:
    """Where values begin that lie behind each threshold; None for other features than numbers.

    Shapes: result (n_cuts,).
    """
    cuts = forest.cuts[forest.cut_starts[feature] : forest.cut_starts[feature + 1]]
    if cuts.size == 0:
        return cuts
    kind = forest.kinds[feature]
    if kind not in (NUMBER, ROUNDED_TO_ZERO):
        return None
    if kind == ROUNDED_TO_ZERO:  # tiny numbers are zero, whatever their sign
        just_above = np.nextafter(LIGHTGBM_ZERO, np.inf)
        cuts = np.where((cuts > 0) & (cuts <= LIGHTGBM_ZERO), just_above, cuts)
        cuts = np.where((cuts <= 0) & (cuts > -LIGHTGBM_ZERO), -LIGHTGBM_ZERO, cuts)
    return undo_single(cuts) if forest.is_single else cuts


def undo_single(cuts: FloatArray) -> FloatArray:
    """The smallest float64 that becomes at least the given number when rounded to float32."""
    with np.errstate(over="ignore"):
        above = cuts.astype(np.float32)
        above = np.where(above < cuts, np.nextafter(above, np.float32(np.inf)), above)
        below = np.nextafter(above, np.float32(-np.inf))
        middle = (_as_bounded_float64(above) + _as_bounded_float64(below)) / 2
        rounded = middle.astype(np.float32)  # ties go to the even one of the two
    place = np.where(rounded >= cuts, middle, np.nextafter(middle, np.inf))
    return np.where(cuts == -np.inf, -np.inf, place)


def _as_bounded_float64(single: npt.NDArray[np.float32]) -> FloatArray:
    """As float64; infinity is where the next number would be."""
    return np.clip(single.astype(np.float64), -FLOAT32_OVERFLOW, FLOAT32_OVERFLOW)


def interpolate_thresholds(
    cuts: FloatArray, seen: FloatArray, values: FloatArray
) -> FloatArray | None:
    """Where thresholds lie among values that become other numbers on their way to the trees.

    Shapes: cuts (n_cuts,), seen (n_values,), values (n_values,), result (n_cuts,).
    """
    if np.any(~np.isfinite(seen)) or np.any(np.diff(seen) < 0):
        return None
    behind = np.searchsorted(seen, cuts, "left")  # the first value behind each
    padded_seen = np.concatenate([[seen[0]], seen, [seen[-1]]])
    padded = np.concatenate([[-np.inf], values, [np.inf]])
    low, high = padded[behind], padded[behind + 1]
    width = padded_seen[behind + 1] - padded_seen[behind]
    part = (cuts - padded_seen[behind]) / np.where(width > 0, width, 1.0)
    is_between = (behind > 0) & (behind < seen.size)
    start, stop = np.where(is_between, low, 0.0), np.where(is_between, high, 0.0)
    line = np.clip(start + part * (stop - start), np.nextafter(start, np.inf), stop)
    place = np.where(is_between, line, np.where(behind > 0, np.inf, -np.inf))
    return np.maximum.accumulate(place)
