"""Interactions of closed-form functions, measured without a model's adapter or a table."""

from dataclasses import replace
from itertools import combinations

import numpy as np

from rhale.interaction.moments import PairAxis, measure_pair
from rhale.interaction.pair_effect import PairEffect
from rhale.interaction.pair_profile import PairProfile
from rhale.interaction.result import Interactions
from rhale.interaction.strength import PairFit, find_squares


def make_axis(x, labels=(), n_cells=4, kind="number"):
    """Cells with as many rows each, or the levels 0, 1, ..."""
    if labels:
        return PairAxis(np.arange(float(len(labels))), tuple(labels))
    shares = np.linspace(0, 1, n_cells + 1)
    return PairAxis(np.unique(np.quantile(x, shares, method="inverted_cdf")), kind=kind)


def steps_of(axis, positions):
    """Ends of the steps that rows count for, and which rows do: one of numbers, two of levels."""
    nodes, stand = axis.nodes, positions.cell
    if not axis.is_levels:
        return [(nodes[stand], nodes[stand + 1], np.ones(stand.size, bool))]
    last = nodes.size - 1
    return [
        (nodes[np.maximum(stand - 1, 0)], nodes[stand], stand > 0),
        (nodes[stand], nodes[np.minimum(stand + 1, last)], stand < last),
    ]


def make_pair(f, rows, sides, axes, weights=None, **fields):
    """The pair of two columns, by the four corners of every row."""
    positions = tuple(axis.locate(rows[:, j]) for j, axis in zip(sides, axes, strict=True))
    known = np.all([s.cell >= 0 for s in positions], axis=0)

    def at(first, second):
        moved = rows.copy()
        moved[:, sides[0]], moved[:, sides[1]] = first, second
        return f(moved)

    both = [steps_of(a, s) for a, s in zip(axes, positions, strict=True)]
    mixed = [
        np.where(own & other, at(h, k) - at(h, m) - at(low, k) + at(low, m), 0.0)
        for low, h, own in both[0]
        for m, k, other in both[1]
    ]
    moments = measure_pair(axes, positions, np.stack(mixed, -1)[None], weights)
    main = tuple(main_effect(f, rows, j, a) for j, a in zip(sides, axes, strict=True))
    square = find_squares([PairFit(axes, moments)])[0]
    told = {"output": "y", "n_left_out": int(np.sum(~known)), "variance": float(f(rows).var())}
    return PairEffect(axes=axes, moments=moments, main=main, square=square, **told | fields)


def main_effect(f, rows, side, axis):
    """Accumulated mean differences, zero on average over the rows."""
    positions, total, count = axis.locate(rows[:, side]), np.zeros(axis.n_steps), 1e-300
    for low, high, own in steps_of(axis, positions):
        ends = [rows.copy(), rows.copy()]
        ends[0][:, side], ends[1][:, side] = low, high
        step = np.searchsorted(axis.nodes, low[own])
        total += np.bincount(step, (f(ends[1]) - f(ends[0]))[own], axis.n_steps)
        count = count + np.bincount(step, minlength=axis.n_steps)
    heights = np.append(0.0, np.cumsum(total / count))[: axis.nodes.size]
    if not len(rows):
        return heights
    above = np.minimum(positions.cell + 1, axis.nodes.size - 1)
    at_rows = heights[positions.cell] * (1 - positions.place) + heights[above] * positions.place
    return heights - at_rows.mean()


def make_interactions(models, rows, names, *, labels=None, kinds=None, n_cells=4):
    """All pairs of all columns on all outputs, which are given by name."""
    labels, kinds = labels or {}, kinds or {}
    axes = [
        make_axis(rows[:, i], labels.get(name, ()), n_cells, kinds.get(name, "number"))
        for i, name in enumerate(names)
    ]
    pairs = tuple(
        make_pair(f, rows, (i, j), (axes[i], axes[j]), names=(names[i], names[j]), output=output)
        for i, j in combinations(range(len(names)), 2)
        for output, f in models.items()
    )
    importance = np.array(
        [
            [main_at_rows(f, rows, i, axes[i]).std() for f in models.values()]
            for i in range(len(names))
        ]
    )
    variance = np.array([f(rows).var() for f in models.values()])
    told = {"model": "function", "method": "ale", "rows": len(rows), "table": "pandas"}
    return Interactions(tuple(names), tuple(models), pairs, importance, variance, told)


def as_profile(pair):
    """A profile on the grid of a pair, whose main effects it has."""
    shape = pair.count.shape
    rows = replace(
        pair.moments, mean=np.zeros((0, *shape, 1)), products=np.zeros((0, *shape, 1, 1))
    )
    first, second = pair.main
    return PairProfile(
        names=pair.names,
        output=pair.output,
        axes=pair.axes,
        moments=rows,
        dependence=pair.fit.surface + first[:, None] + second,
        single=pair.main,
        variance=pair.variance,
        n_left_out=pair.n_left_out,
        notes=pair.notes,
    )


def main_at_rows(f, rows, side, axis):
    """The main effect where the rows stand."""
    return np.interp(rows[:, side], axis.nodes, main_effect(f, rows, side, axis))


def grid(*columns):
    """One row for every combination of values."""
    return np.stack([c.ravel() for c in np.meshgrid(*columns, indexing="ij")], axis=1).astype(float)
