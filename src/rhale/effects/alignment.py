"""Two curves of one feature at their common places and at one zero; the offset of a region's curve."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rhale.effects.result import Result, find_result_axis_kind, is_constant, reach
from rhale.stats.arrays import FloatArray


class SharedPlaces(NamedTuple):
    """Places of rows at which two results can be compared.

    Attributes
    ----------
    x, other_x : ndarray of shape (n_places,)
        The places on the axis of the first result, and on that of the second.
    weight : ndarray of shape (n_places,)
        Shares of the rows there, which add up to one.
    part : float
        Which part of all these rows is at places that both have.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> old = rhale.explain(lambda rows: rows[:, 0], x)
    >>> new = rhale.explain(lambda rows: rows[:, 0] + 2 * rows[:, 1], x)
    >>> cx = rhale.compare({"old": old, "new": new})
    >>> round(float(cx["x1"].against().places.weight.sum()), 6)
    1.0
    """

    x: FloatArray
    other_x: FloatArray
    weight: FloatArray
    part: float


NO_SHARED_PLACES = SharedPlaces(np.empty(0), np.empty(0), np.empty(0), 0.0)


def share_places(first: Result, second: Result, standing: Result | None = None) -> SharedPlaces:
    """Find where two results can be compared: on the stretch, or at the levels, that both have.

    The rows of `standing` count, those of the first if it is not given.
    """
    standing = standing or first
    if can_be_named(first) and can_be_named(second):
        # levels are matched by name, whatever their order
        shared = [label for label in first.labels if label in second.labels]
        mine = first.axis[[first.labels.index(label) for label in shared]]
        other = second.axis[[second.labels.index(label) for label in shared]]
        share = dict(zip(standing.labels, standing.level_rows().share, strict=True))
        weight = np.array([share.get(label, 0.0) for label in shared])
        return _as_shared(mine, other, weight, 1.0)
    if not can_compare(first, second):
        return NO_SHARED_PLACES
    rows, (low, high) = standing.rows_along(), find_shared_axis_range(first, second)
    both = (rows.x >= low) & (rows.x <= high) & (rows.weight > 0)
    return _as_shared(rows.x[both], rows.x[both], rows.weight[both], float(rows.weight.sum()))


def find_shared_axis_range(first: Result, second: Result) -> tuple[float, float]:
    """Ends of the stretch that both results have; the first beyond the second if there is none."""
    (start, stop), (other_start, other_stop) = reach(first), reach(second)
    return max(start, other_start), min(stop, other_stop)


def can_be_named(result: Result) -> bool:
    """Tell whether the places of a result have names alone: categories."""
    return result.column_kind == "categories"


def can_compare(first: Result, second: Result) -> bool:
    """Tell whether two results have one axis: both have categories, or the same kind of numbers."""
    if can_be_named(first) or can_be_named(second):
        return can_be_named(first) and can_be_named(second)
    kinds = {
        find_result_axis_kind(one)
        for one in (first, second)
        if not one.labels and not is_constant(one)
    }
    return len(kinds) < 2


def _as_shared(x: FloatArray, other_x: FloatArray, weight: FloatArray, all_: float) -> SharedPlaces:
    total = float(np.nansum(weight))
    if not total > 0:
        return NO_SHARED_PLACES
    return SharedPlaces(x, other_x, np.nan_to_num(weight) / total, min(total / all_, 1.0))


def offset(first: Result, second: Result, standing: Result | None = None) -> float:
    """What to add to the second centred curve so that it is that of the first on average.

    Over the rows of `standing`, of the first if not given, on what both have; 0 if that is nothing.
    """
    if first is second:
        return 0.0
    places = share_places(first, second, standing)
    gap = first.height(places.x) - second.height(places.other_x)
    share = np.where(np.isfinite(gap), places.weight, 0.0)
    return float(share @ np.nan_to_num(gap) / share.sum()) if share.sum() > 0 else 0.0


def thin_places(places: SharedPlaces, most: int) -> SharedPlaces:
    """At most so many places that represent all: quantiles of the rows at even shares."""
    if places.x.size <= most:
        return places
    order = np.argsort(places.x, kind="stable")
    passed = np.cumsum(places.weight[order])
    asked = (np.arange(most) + 0.5) / most
    found = order[np.minimum(np.searchsorted(passed, asked), order.size - 1)]
    kept, times = np.unique(found, return_counts=True)
    return SharedPlaces(places.x[kept], places.other_x[kept], times / times.sum(), places.part)


def align(region_effect: Result, common: Result) -> float:
    """What to add to a region's curve: its mean difference from the common one is then zero.

    The mean is over the region's rows. A curve is known up to a constant: were each region's curve
    zero over its own rows, two regions with the same effect would show two parallel curves.
    """
    if is_constant(region_effect) and not region_effect.labels:  # one point, at zero
        return 0.0 if is_constant(common) else float(common.height(region_effect.axis[:1])[0])
    return 0.0 - offset(region_effect, common)
