"""Two explanations side by side: how far their curves are apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rhale.kernels import FloatArray
from rhale.results.result import Result, reach
from rhale.results.table_rows import Columns

POINTS = 400


def difference_rows(first: Sequence[Result], second: Sequence[Result]) -> Columns:
    """One row per feature and output that both have, the largest difference first.

    Parameters
    ----------
    first, second : sequence of Effect, LevelEffect or Profile
        The effects of two explanations.

    Returns
    -------
    dict of str to list
        `importance_a`, `importance_b` and `error_a`, `error_b`; `spread_a`, `spread_b`; `apart`:
        the root mean square between the two centred curves, where the rows of the first are, on
        the stretch (or levels) that both have; `apart_share`: the same over the larger of both
        importances.
    """
    theirs = {(e.name, e.output): e for e in second}
    if len({e.output for e in first}) == len({e.output for e in second}) == 1:
        theirs = {
            (e.name, first[0].output): e for e in second
        }  # one output each, whatever its name
    pairs = [(e, theirs[e.name, e.output]) for e in first if (e.name, e.output) in theirs]
    apart = [distance(a, b) for a, b in pairs]
    order = sorted(range(len(pairs)), key=lambda i: -np.nan_to_num(apart[i], nan=-1.0))
    largest = [max(a.importance, b.importance) for a, b in pairs]
    columns: Columns = {
        "feature": [a.name for a, _ in pairs],
        "output": [a.output for a, _ in pairs],
        "importance_a": [a.importance for a, _ in pairs],
        "error_a": [a.importance_error for a, _ in pairs],
        "importance_b": [b.importance for _, b in pairs],
        "error_b": [b.importance_error for _, b in pairs],
        "spread_a": [a.typical_spread for a, _ in pairs],
        "spread_b": [b.typical_spread for _, b in pairs],
        "apart": apart,
        "apart_share": [
            d / size if size > 0 else 0.0 for d, size in zip(apart, largest, strict=True)
        ],
    }
    return {
        name: [float(v) if isinstance(v, float) else v for v in (values[i] for i in order)]
        for name, values in columns.items()
    }


def only_in(first: Sequence[Result], second: Sequence[Result]) -> list[str]:
    """Names of the features that the second explanation does not have."""
    there = {e.name for e in second}
    return list(dict.fromkeys(e.name for e in first if e.name not in there))


def distance(first: Result, second: Result) -> float:
    """Root mean square between two centred curves, over the rows of the first.

    Examples
    --------
    >>> import rhale
    >>> x = np.linspace(0, 1, 500)
    >>> one, two = rhale.effect(x, 0 * x + 1), rhale.effect(x, 0 * x + 3)
    >>> round(distance(one, two), 3)  # curves x and 3 x: twice the deviation of x
    0.577
    """
    if first.parts == second.parts == "levels":
        return _between_levels(first, second)
    if first.labels or second.labels or first.column_kind != second.column_kind:
        return float("nan")
    (start, stop), (other_start, other_stop) = reach(first), reach(second)
    low, high = max(start, other_start), min(stop, other_stop)
    if not low < high:
        return 0.0 if low == high else float("nan")
    x = low + (high - low) * (np.arange(POINTS) + 0.5) / POINTS
    weight = _density(first, x)
    gap = first.height(x) - second.height(x)
    return _root_mean_square(gap, weight)


def offset(first: Result, second: Result) -> float:
    """How far a centred curve lies below another one, on average over the rows of that other one.

    Parameters
    ----------
    first : Result
        Whose rows count, on the stretch or at the levels that both have.
    second : Result
        What is to be moved by the number that is returned; 0 if they have no place in common.

    Examples
    --------
    >>> import rhale
    >>> old, new = (rhale.effect(np.linspace(a, a + 4, 500), np.ones(500)) for a in (0, 1))
    >>> round(offset(old, new), 9)  # curves x - 2 and x - 3
    1.0
    """
    if first.column_kind == second.column_kind == "categories":
        shared = [label for label in first.labels if label in second.labels]
        mine = [first.labels.index(label) for label in shared]
        other = [second.labels.index(label) for label in shared]
        gap = first.trace().curve[mine] - second.trace().curve[other]
        return _weighted_mean(gap, first.level_rows().weight[mine])
    x, weight = _rows_along(first)
    (start, stop), (other_start, other_stop) = reach(first), reach(second)
    both = (x >= max(start, other_start)) & (x <= min(stop, other_stop))
    return _weighted_mean(first.height(x[both]) - second.height(x[both]), weight[both])


def _rows_along(result: Result) -> tuple[FloatArray, FloatArray]:
    """Places along an axis, and the weight of the rows there."""
    if result.labels:
        return result.axis, result.level_rows().weight
    _, limits, density, _ = result.support()
    return limits[:-1] + np.diff(limits) / 2, density * np.diff(limits)


def _weighted_mean(values: FloatArray, weight: FloatArray) -> float:
    """Mean of known values; 0 if there are none."""
    share = np.where(np.isfinite(values), weight, 0.0)
    return float(share @ np.nan_to_num(values) / share.sum()) if share.sum() > 0 else 0.0


def _between_levels(first: Result, second: Result) -> float:
    shared = [label for label in first.labels if label in second.labels]
    if not shared:
        return float("nan")
    mine = [first.labels.index(label) for label in shared]
    other = [second.labels.index(label) for label in shared]
    gap = first.trace().curve[mine] - second.trace().curve[other]
    return _root_mean_square(gap, first.level_rows().weight[mine])


def _root_mean_square(gap: FloatArray, weight: FloatArray) -> float:
    """About the weighted mean: curves are known up to a constant."""
    share = weight / weight.sum() if weight.sum() > 0 else np.full(len(gap), 1 / len(gap))
    return float(np.sqrt(share @ (gap - share @ gap) ** 2))


def _density(effect: Result, x: FloatArray) -> FloatArray:
    """Rows near each place: rows of its bin over the bin's width; even for profiles."""
    if effect.parts == "points":
        return np.ones(len(x))
    place = np.clip(np.searchsorted(effect.axis, x, "right") - 1, 0, effect.n_parts - 1)
    weight = np.array(effect.table()["weight"][: effect.n_parts])
    return np.asarray((weight / np.diff(effect.axis))[place])
