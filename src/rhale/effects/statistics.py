"""An effect in a few numbers: the ALE statistics of R's package ale, also without the noise in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from rhale.effects.table import UNDEFINED
from rhale.errors import BadSettingError
from rhale.output.number_format import write_number
from rhale.stats.arrays import FloatArray, same_fields


class Heights(NamedTuple):
    """A curve, zero on average, as it is read for its statistics."""

    # (n_values,): where rows are counted: at their places, in the middle of their bins, at their
    # levels
    values: FloatArray
    weight: FloatArray  # (n_values,): how many rows, by weight
    # low, high: the ends of its range, which need not be among the values
    low: float
    high: float


class Sizes(NamedTuple):
    """Mean distance from zero over the rows, and the root of the mean square."""

    mean_absolute: float
    root_mean_square: float


def size_up(values: FloatArray, weight: FloatArray) -> Sizes:
    """Measure how far values are from zero: ALED, in its two forms.

    `values`, `weight` (n_values,): heights and how many rows have them. Those without rows do not
    count; without any rows both sizes are 0.

    Examples
    --------
    >>> size_up(np.array([-3.0, 1.0]), np.array([1.0, 3.0]))
    Sizes(mean_absolute=1.5, root_mean_square=1.7320508075688772)
    """
    # sum n |m| / sum n, and the root of sum n m² / sum n (`aled_fun = "sd"` of R's package ale).
    some = weight > 0
    if not some.any():
        return Sizes(0.0, 0.0)
    far, share = np.abs(values[some]), weight[some] / weight[some].sum()
    return Sizes(float(share @ far), float(np.sqrt(share @ far**2)))


def summarise_ale_bins(at_edges: FloatArray, weight: FloatArray) -> Heights:
    """Read a curve in the middles of its bins, and its range at their limits, as package ale does.

    `at_edges` (n_bins + 1,): the curve at the limits; `weight` (n_bins,): rows of the bins.

    Examples
    --------
    >>> summarise_ale_bins(np.array([-1.0, 0.0, 4.0]), np.array([2.0, 1.0])).values
    array([-0.5,  2. ])
    """
    middle = at_edges[:-1] / 2 + at_edges[1:] / 2
    return Heights(middle, weight, float(at_edges.min()), float(at_edges.max()))


def read_levels(values: FloatArray, weight: FloatArray) -> Heights:
    """Read a curve at its levels, or its steps: those without rows are not in its range."""
    held = values[weight > 0] if np.any(weight > 0) else values
    return Heights(values, weight, float(held.min()), float(held.max()))


def summarise_ale_steps(heights: FloatArray, shares: FloatArray) -> Heights:
    """Read a staircase: its range is that of all steps between the first and the last row."""
    filled = np.flatnonzero(shares > 0)
    between = heights[filled[0] : filled[-1] + 1] if filled.size else heights
    return Heights(heights, shares, float(between.min()), float(between.max()))


def read_cells(
    surface: FloatArray, weight: FloatArray, is_levels: tuple[bool, bool] = (False, False)
) -> Heights:
    """Read the surface of a pair in its cells, as package ale does; its range is that of these.

    `surface` (n_nodes, n_nodes): at the limits of the cells, or at the levels; `weight` (n_cells,
    n_cells): rows of the cells or levels; `is_levels`: which sides have levels: there the surface
    is read at these.

    Examples
    --------
    >>> read_cells(np.array([[1.0, 9.0], [9.0, 3.0]]), np.ones((1, 1))).values
    array([2.])
    """
    # (A[i, j] + A[i - 1, j - 1]) / 2: the mean of **two** of the four corners. It is neither the
    # mean of the cell nor the value where its rows are, and cells without rows are in the range:
    # take the numbers for what another program says, and the strength for what there is.
    low, high = (
        tuple(slice(None) if levels else ends for levels in is_levels)
        for ends in (slice(None, -1), slice(1, None))
    )
    middle = (surface[low] / 2 + surface[high] / 2).ravel()
    return Heights(middle, weight.ravel(), float(middle.min()), float(middle.max()))


@dataclass(frozen=True, eq=False)
class HalfPercentiles:
    """What an effect amounts to among the observed values of the target: -50 to 50.

    With c = y - median: g(a) = 0 between the largest negative and the smallest positive c, both
    included; else -50 times the share of {c <= 0} that is at or above a < 0, or 50 times the share
    of {c >= 0} that is at or below a > 0. A step function: an effect that moves no prediction past
    the next observed value is 0, and where no value lies on one side of the median, all of that
    side is.

    Examples
    --------
    >>> percentile = HalfPercentiles.of(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    >>> percentile(np.array([-9.0, -1.0, 0.5, 1.5]))
    array([-50.        ,   0.        ,   0.        ,  33.33333333])
    """

    # below, above: distances from the median of the values at or below it, and at or above it,
    # increasing
    below: FloatArray
    above: FloatArray
    # The largest value below the median and the smallest above, less the median; infinite where
    # there is none
    nearest: tuple[float, float]

    @classmethod
    def of(cls, y: FloatArray) -> HalfPercentiles:
        """Sort observed values about their median.

        `y` (n_values,): at least one, all finite.
        """
        off = y - np.median(y)
        nearest = (
            float(off[off < 0].max(initial=-np.inf)),
            float(off[off > 0].min(initial=np.inf)),
        )
        return cls(np.sort(-off[off <= 0]), np.sort(off[off >= 0]), nearest)

    def __call__(self, heights: FloatArray) -> FloatArray:
        """Signed half percentiles of effects."""
        low, high = self.nearest
        down = -_shares_up_to(self.below, -heights)
        up = _shares_up_to(self.above, heights)
        inside = (heights >= low) & (heights <= high)
        return 50.0 * np.where(inside, 0.0, np.where(heights < 0, down, up))


def _shares_up_to(ordered: FloatArray, limits: FloatArray) -> FloatArray:
    """Share of some values at or below each limit; 0 of none."""
    return np.asarray(np.searchsorted(ordered, limits, "right") / max(ordered.size, 1))


# --- Statistics: an effect in a few plain numbers, as R's package ale has them, and without noise


Readings = Literal["rows", "bins", "levels", "points", "cells"]
READING_DESCRIPTIONS = {
    "rows": "read at the rows",
    "bins": "read in the middles of the bins, as R's package ale does",
    "levels": "read at the levels",
    "points": "read at the rows, between points",
    "cells": "read at two corners of the cells, as R's package ale does",
}


class Size(NamedTuple):
    """Deviation of a curve over the rows, as it is and with the noise of its estimate removed."""

    raw: float
    denoised: float


@dataclass(frozen=True, eq=False, repr=False)
class Statistics:
    """What an effect amounts to, in plain numbers.

    Attributes
    ----------
    features : tuple of str
        The feature, or the two of a pair.
    output : str
        The output.
    read : {"rows", "bins", "levels", "points", "cells"}
        Where the curve was read.
    aled, aled_sd : float
        ALE deviation: mean over the rows of the distance of the effect from zero, and the root of
        the mean of its square. In units of the output.
    aler : pair of float
        ALE range: the lowest and the highest effect.
    naled, naled_sd, naler : float, float and pair of float
        The same of effects in percentiles of the observed target about its median, -50 to 50; nan
        where no target was given.
    importance : float
        Standard deviation of the effect over the rows, as `importance` of the effect; of a pair
        the strength with its noise.
    importance_denoised : float
        The same with the noise of its own estimate removed; nan where that is not known.

    Notes
    -----
    `importance` is never zero: an effect that is estimated from rows differs from zero by chance,
    everywhere, and squares add up. On average over such chances its square is too large by the
    mean over the rows of the variance of the centred curve, as far as this comes from the
    estimates (bin means and slopes, jumps, steps, averages at points). That is what is removed
    from the square; below 0 it is cut off. Not removed is what the interval `ci` has besides:
    which rows the curve is centred over, which adds nothing to the deviation, and what a gap may
    hide, which the curve does not show. ALED and ALER have the same noise in them, and keep it.

    The normalised numbers are a rescaling, and no more: they are not additive, an effect that does
    not reach the next observed value of the target is 0, and a target with few values has few
    percentiles.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.linspace(0, 10, 200)
    >>> found = rhale.effect(x, np.full(200, 2.0)).statistics(y=2 * x)
    >>> round(found.aled, 1), [round(end, 1) for end in found.aler]
    (5.0, [-10.0, 10.0])
    """

    features: tuple[str, ...]
    output: str
    read: Readings
    aled: float
    aled_sd: float
    aler: tuple[float, float]
    naled: float
    naled_sd: float
    naler: tuple[float, float]
    importance: float
    importance_denoised: float

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        lines = [
            f"{' x '.join(self.features)} on {self.output}, {READING_DESCRIPTIONS[self.read]}",
            f"  ALED        {write_number(self.aled)} (root mean square {write_number(self.aled_sd)})",
            f"  ALER        {write_number(self.aler[0])} to {write_number(self.aler[1])}",
        ]
        if not np.isnan(self.naled):
            size = (
                f"{write_number(self.naled, 3)} (root mean square {write_number(self.naled_sd, 3)})"
            )
            lines.append(f"  NALED       {size}, in percentiles of the target")
            lines.append(
                f"  NALER       {write_number(self.naler[0], 3)} to {write_number(self.naler[1], 3)}"
            )
        rest = f"{write_number(self.importance)}, {write_number(self.importance_denoised)} without its noise"
        return "\n".join([*lines, f"  importance  {rest}"])

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """One row of a table: names and plain numbers, ranges as two of these.

        Examples
        --------
        >>> found = Statistics(("a",), "y", "rows", 1.0, 2.0, (-3.0, 4.0), *[5.0] * 2, (6.0, 7.0),
        ...                    8.0, 9.0)
        >>> list(found.to_dict())[3:7]
        ['aled', 'aled_sd', 'aler_low', 'aler_high']
        """
        row: dict[str, Any] = {"feature": " x ".join(self.features)}
        for name, value in asdict(self).items():
            if isinstance(value, tuple) and name != "features":
                row |= {f"{name}_low": value[0], f"{name}_high": value[1]}
            elif name != "features":
                row[name] = value
        return row


def gather_statistics(
    features: Sequence[str], output: str, read: Readings, heights: Heights, size: Size, y: Any
) -> Statistics:
    """Work out the statistics of a curve.

    `size`: its deviation over the rows; `y` (n_values,) or None: observed values of the target.
    """
    aled = size_up(heights.values, heights.weight)
    naled, naler = Sizes(UNDEFINED, UNDEFINED), (UNDEFINED, UNDEFINED)
    if y is not None:
        percentile = HalfPercentiles.of(read_target(y))
        naled = size_up(percentile(heights.values), heights.weight)
        low, high = percentile(np.array([heights.low, heights.high])).tolist()
        naler = (low, high)  # percentiles rise with the effect
    return Statistics(
        features=tuple(features),
        output=output,
        read=read,
        aled=aled.mean_absolute,
        aled_sd=aled.root_mean_square,
        aler=(heights.low, heights.high),
        naled=naled.mean_absolute,
        naled_sd=naled.root_mean_square,
        naler=naler,
        importance=size.raw,
        importance_denoised=size.denoised,
    )


def remove_noise(importance: float, noise: float) -> Size:
    """Take out of a deviation what noise adds to its square.

    Examples
    --------
    >>> remove_noise(5.0, 9.0), remove_noise(1.0, 2.0)
    (Size(raw=5.0, denoised=4.0), Size(raw=1.0, denoised=0.0))
    """
    if importance == 0.0:
        return Size(0.0, 0.0)  # whether noise is known or not
    return Size(importance, float(np.sqrt(np.maximum(importance**2 - noise, 0.0))))


def read_target(y: Any) -> FloatArray:
    """Read observed values of a target; refuse what is no column of finite numbers.

    `y` (n_values,): numbers, or truth values; at least one.

    Examples
    --------
    >>> read_target([True, False, 3])
    array([1., 0., 3.])
    """
    given = np.asarray(y)
    if given.ndim != 1 or not given.size:
        msg = (
            f"y has shape {given.shape}; pass the observed values of one target, "
            "a column of at least one number"
        )
        raise BadSettingError(msg)
    if given.dtype.kind not in "biufO":
        raise BadSettingError(_describe_bad_target(given.tolist()[0]))
    if given.dtype.kind != "O":
        numbers = np.asarray(given, dtype=np.float64)
    else:
        numbers = np.array([_as_float(value) for value in given.tolist()])
    n_unknown = int(np.sum(~np.isfinite(numbers)))
    if n_unknown:
        msg = (
            f"{n_unknown:,} of {numbers.size:,} values of y are missing or infinite; leave these "
            "rows out, percentiles are of values that were observed"
        )
        raise BadSettingError(msg)
    return numbers


def _as_float(value: Any) -> float:
    """One number, nan for None, nan and pandas' NA; texts that look like a number are none."""
    try:
        # nan is not even equal to itself, and the truth of NA is not known
        if value is None or not bool(value == value):  # noqa: PLR0124
            return UNDEFINED
    except TypeError:
        return UNDEFINED
    if isinstance(value, str | bytes):
        raise BadSettingError(_describe_bad_target(value))
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise BadSettingError(_describe_bad_target(value)) from error


def _describe_bad_target(value: Any) -> str:
    return (
        f"y holds {value!r:.40}, a {type(value).__name__} and no number; pass the observed values, "
        "of a class whether it was observed, 0 or 1"
    )
