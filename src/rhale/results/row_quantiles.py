"""Where the rows of a result stand along its axis, and whether a few of them stretch it."""

from __future__ import annotations

import numpy as np

from rhale.kernels import FloatArray
from rhale.results.result import Result, axis_kind, is_constant, reach

MIDDLE = (0.05, 0.95)  # of the rows
SQUEEZED = 1 / 3  # of the axis: less room for the middle of the rows is little
MORE_ROOM = 1.5  # that a logarithmic axis must give them


def row_weights(result: Result) -> tuple[FloatArray, FloatArray]:
    """Values of the rows that are known, increasing, and how much each counts; both (n_rows,).

    Notes
    -----
    A result tells the weight of the rows between its limits; rows between two limits share it.
    Where no rows were kept, places in the middle of the limits stand for them.
    """
    values, limits, density, _ = result.support()
    weight = density * np.diff(limits)
    if not values.size:
        return limits[:-1] + 0.5 * np.diff(limits), weight
    values = np.sort(values[(values >= limits[0]) & (values <= limits[-1])])
    cell = np.clip(np.searchsorted(limits, values, "right") - 1, 0, density.size - 1)
    return values, weight[cell] / np.bincount(cell, minlength=density.size)[cell]


def row_quantiles(
    result: Result, shares: tuple[float, ...], within: tuple[float, float] = (-np.inf, np.inf)
) -> FloatArray:
    """Least values that have such shares of the rows at or below them, shape (n_shares,).

    Parameters
    ----------
    result : Result
        Of a feature of numbers, dates or durations.
    shares : tuple of float
        Between 0 and 1.
    within : pair of float
        Only rows between these values count; nan where there are none.
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

    Parameters
    ----------
    result : Result
        Whose feature.
    within : pair of float, optional
        The part of the axis that is shown; all of it if not given.

    Notes
    -----
    They are where all are positive numbers, where the middle 90 % of the rows would stand on less
    than a third of a plain axis, and where a logarithmic one gives them half as much room again.
    So a lognormal tail has such an axis, and an exponential or uniform feature does not: the many
    small values of these would take the room instead.
    """
    if result.labels or axis_kind(result) != "number" or is_constant(result):
        return False
    low, high = reach(result) if within is None else within
    if not 0 < low < high:
        return False
    start, stop = row_quantiles(result, MIDDLE, (low, high))
    if not start < stop:
        return False
    plain = float((stop - start) / (high - low))
    logged = float(np.log(stop / start) / np.log(high / low))
    return plain < SQUEEZED and logged >= MORE_ROOM * plain


def has_free_order(result: Result) -> bool:
    """Tell whether the feature has levels whose order means nothing: `explain` chose it."""
    return bool(result.labels) and any(note.kind == "order" for note in result.notes)
