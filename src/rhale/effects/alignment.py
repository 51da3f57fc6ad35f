"""Two results of one feature side by side: the places that both have, and one zero for both."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rhale.effects.result import Result, find_result_axis_kind, is_constant, reach
from rhale.stats.arrays import FloatArray


class SharedPlaces(NamedTuple):
    """Where rows stand that two results can be compared at.

    Attributes
    ----------
    x, other_x : ndarray of shape (n_places,)
        The places on the axis of the first result, and on that of the second.
    weight : ndarray of shape (n_places,)
        Shares of the rows there, which add up to one.
    part : float
        Which part of all these rows stands at places that both have.

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

    Parameters
    ----------
    first, second : Result
        Of one feature.
    standing : Result, optional
        Whose rows count; those of the first if not given.

    Returns
    -------
    SharedPlaces
        None at all where they have no place in common.
    """
    standing = standing or first
    if can_be_named(first) and can_be_named(second):
        return _shared_levels(first, second, standing)
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
    """Tell whether places of a result are told by names alone: categories."""
    return result.column_kind == "categories"


def can_compare(first: Result, second: Result) -> bool:
    """Tell whether two results stand on one axis: both have categories, or the same kind of numbers."""
    if can_be_named(first) or can_be_named(second):
        return can_be_named(first) and can_be_named(second)
    kinds = {
        find_result_axis_kind(one)
        for one in (first, second)
        if not one.labels and not is_constant(one)
    }
    return len(kinds) < 2


def _shared_levels(first: Result, second: Result, standing: Result) -> SharedPlaces:
    """Levels by their names, wherever they stand in the order of either."""
    shared = [label for label in first.labels if label in second.labels]
    mine = first.axis[[first.labels.index(label) for label in shared]]
    other = second.axis[[second.labels.index(label) for label in shared]]
    share = dict(zip(standing.labels, standing.level_rows().share, strict=True))
    weight = np.array([share.get(label, 0.0) for label in shared])
    return _as_shared(mine, other, weight, 1.0)


def _as_shared(x: FloatArray, other_x: FloatArray, weight: FloatArray, all_: float) -> SharedPlaces:
    total = float(np.nansum(weight))
    if not total > 0:
        return NO_SHARED_PLACES
    return SharedPlaces(x, other_x, np.nan_to_num(weight) / total, min(total / all_, 1.0))


def offset(first: Result, second: Result, standing: Result | None = None) -> float:
    """How far a centred curve lies below another one, on average over the rows of that other one.

    Parameters
    ----------
    first : Result
        Whose rows count, on the stretch or at the levels that both have.
    second : Result
        What is to be moved by the number that is returned; 0 if they have no place in common.
    standing : Result, optional
        Whose rows count instead.

    Examples
    --------
    >>> import rhale
    >>> old, new = (rhale.effect(np.linspace(a, a + 4, 500), np.ones(500)) for a in (0, 1))
    >>> round(offset(old, new), 9)  # curves x - 2 and x - 3
    1.0
    """
    if first is second:
        return 0.0
    places = share_places(first, second, standing)
    gap = first.height(places.x) - second.height(places.other_x)
    share = np.where(np.isfinite(gap), places.weight, 0.0)
    return float(share @ np.nan_to_num(gap) / share.sum()) if share.sum() > 0 else 0.0


def thin_places(places: SharedPlaces, most: int) -> SharedPlaces:
    """Few places that stand for all: each for as many rows, none where no row is.

    Parameters
    ----------
    places : SharedPlaces
        In any number.
    most : int
        How many to keep.
    """
    if places.x.size <= most:
        return places
    order = np.argsort(places.x, kind="stable")
    passed = np.cumsum(places.weight[order])
    asked = (np.arange(most) + 0.5) / most
    found = order[np.minimum(np.searchsorted(passed, asked), order.size - 1)]
    kept, times = np.unique(found, return_counts=True)
    return SharedPlaces(places.x[kept], places.other_x[kept], times / times.sum(), places.part)


# --- Where the curve of a region stands beside the curve of all rows


def align(region_effect: Result, common: Result) -> float:
    """How far to move a region's curve, so that it is zero where the common curve is.

    Parameters
    ----------
    region_effect : Effect or LevelEffect
        The effect in the region, zero on average over the region's own rows.
    common : Effect or LevelEffect
        The effect of the same feature in all rows.

    Returns
    -------
    float
        What to add to the region's curve: its mean difference from the common one is then zero,
        over the region's rows.

    Notes
    -----
    A curve is known up to a constant. Each of them zero over its own rows, two regions in which
    the effect is the same would show two parallel curves where their rows lie apart.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.linspace(0, 4, 801)
    >>> some = x > 2
    >>> common, region = rhale.effect(x, 0 * x + 1), rhale.effect(x[some], 0 * x[some] + 1)
    >>> round(align(region, common), 2)  # curves x - 2 and x - 3
    1.0
    """
    if is_constant(region_effect) and not region_effect.labels:  # one point, at zero
        return 0.0 if is_constant(common) else float(common.height(region_effect.axis[:1])[0])
    return 0.0 - offset(region_effect, common)
